"""radoncdt itself, with one thread."""

from typing import Any

from numpy.typing import NDArray

import radoncdt
from benchmarks.peers import Floats, Form
from benchmarks.peers.forms import N_LEVELS


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], Floats, Floats]:
    masses, edges = radoncdt.radon(image, n_angles=n_angles, n_jobs=1)
    return masses, (edges[:, 1:] + edges[:, :-1]) / 2, radoncdt.equispaced_angles(n_angles)


def make_form(level_grid: str = "midpoint", directions: str = "equispaced") -> Form:
    """Make a form. `directions` only affects the features; R-CDTs along equispaced directions have closed forms."""
    levels = radoncdt.quantile_levels(N_LEVELS, level_grid)

    def rcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = radoncdt.rcdt(images, n_angles=n_angles, level_grid=level_grid, n_jobs=1)
        return values, radoncdt.equispaced_angles(n_angles), levels

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = radoncdt.nrcdt(images, n_angles=n_angles, level_grid=level_grid, n_jobs=1)
        return values, radoncdt.equispaced_angles(n_angles), levels

    def features(images: NDArray[Any], n_angles: int) -> Floats:
        return radoncdt.max_nrcdt(images, n_angles=n_angles, level_grid=level_grid, directions=directions, n_jobs=1)

    return Form(features, rcdt, nrcdt, project)


FORMS = {
    "as shipped": make_form(),  # with the paper's equispaced directions
    "uniform levels": make_form("uniform"),
    "whitened directions": make_form(directions="whitened"),
}

"""radoncdt itself, with one thread."""

from typing import Any

from numpy.typing import NDArray

import radoncdt
from peers import Floats, Form

NAME, PACKAGE = "radoncdt", "radoncdt"


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], Floats, Floats]:
    masses, edges = radoncdt.radon(image, n_angles=n_angles, n_jobs=1)
    return masses, (edges[:, 1:] + edges[:, :-1]) / 2, radoncdt.equispaced_angles(n_angles)


def form(directions: str) -> Form:
    def rcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = radoncdt.rcdt(images, n_angles=n_angles, n_jobs=1)
        return values, radoncdt.equispaced_angles(n_angles), radoncdt.quantile_levels(values.shape[-1])

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = radoncdt.nrcdt(images, n_angles=n_angles, n_jobs=1)
        return values, radoncdt.equispaced_angles(n_angles), radoncdt.quantile_levels(values.shape[-1])

    def features(images: NDArray[Any], n_angles: int) -> Floats:
        return radoncdt.max_nrcdt(images, n_angles=n_angles, directions=directions, n_jobs=1)

    return Form(features, rcdt, nrcdt, project)


FORMS = {"as shipped": form("equispaced"), "whitened directions": form("whitened")}

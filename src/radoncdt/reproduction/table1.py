"""Table 1: how common affine maps change the Radon transform, checked numerically.

Each row of the table says that the projection of the moved measure on θ(ϑ) is the projection of the measure itself on
another direction, stretched and shifted. Both sides are compared by their quantile functions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from radoncdt import datasets
from radoncdt._push_forward import push_forward
from radoncdt._rcdt import rcdt
from radoncdt._typing import Floats
from radoncdt.measures import Measure, PointCloud

__all__ = ["N_ANGLES", "N_LEVELS", "Check", "check_table1"]

N_ANGLES, N_LEVELS = 64, 64  # directions and levels at which both sides are compared
_ROUNDING = 1e-10  # largest error, in pixels, of a row that holds


class _Row(NamedTuple):
    """A row of Table 1: a map, and the direction, stretch and shift that the table states for it."""

    transformation: str
    matrix: Floats
    direction: Callable[[Floats], Floats]
    stretch: Callable[[Floats], Floats] = np.ones_like
    shift: Floats = np.zeros(2)
    offset: Callable[[Floats], Floats] = np.zeros_like


@dataclass(frozen=True)
class Check:
    """The largest difference between the two sides of a row over all angles and levels, in pixels."""

    transformation: str
    matrix: list[list[float]]
    shift: list[float]
    points_error: float  # error for a point cloud, which moves exactly
    image_error: float  # error for an image, which is resampled
    image_root_mean_square: float  # root mean square of the error for the image over angles and levels
    holds: bool  # whether both sides agree for the points, up to rounding


def _make_rows(rng: np.random.Generator) -> list[_Row]:
    """Make the five rows with random parameters.

    The last row is a slip: its right-hand side does not belong to its matrix. It is checked as printed, with the
    right-hand side that belongs to the matrix, and with the matrix (1 c; 0 1) that belongs to the right-hand side.
    """
    y = rng.uniform(-20, 20, 2)
    phi, c = rng.uniform(-np.pi, np.pi), rng.uniform(0.3, 0.8)
    a, b = rng.uniform(0.6, 0.9), rng.uniform(1.1, 1.4)
    cos, sin = np.cos(phi), np.sin(phi)
    vertical, horizontal = np.array([[1, 0], [c, 1]]), np.array([[1, c], [0, 1]])

    def shear(angles: Floats) -> Floats:
        return np.arctan(c + np.tan(angles))

    def shear_stretch(angles: Floats) -> Floats:
        return np.sqrt(1 + c**2 * np.cos(angles) ** 2 + c * np.sin(2 * angles))

    return [
        _Row("translation", np.eye(2), lambda t: t, shift=y, offset=lambda t: y[0] * np.cos(t) + y[1] * np.sin(t)),
        _Row("rotation", np.array([[cos, -sin], [sin, cos]]), lambda t: t - phi),
        _Row("reflection", np.array([[cos, sin], [sin, -cos]]), lambda t: phi - t),
        _Row(
            "anisotropic scaling",
            np.diag([a, b]),
            lambda t: np.arctan(b / a * np.tan(t)),
            lambda t: np.sqrt(a**2 * np.cos(t) ** 2 + b**2 * np.sin(t) ** 2),
        ),
        _Row("vertical shear, as printed", vertical, shear, shear_stretch),
        _Row(
            "vertical shear, other right-hand side",
            vertical,
            lambda t: np.arctan2(np.sin(t), np.cos(t) + c * np.sin(t)),
            lambda t: np.sqrt(1 + c**2 * np.sin(t) ** 2 + c * np.sin(2 * t)),
        ),
        _Row("vertical shear, other matrix", horizontal, shear, shear_stretch),
    ]


def check_table1(seed: int) -> list[Check]:
    """Compare both sides of every row, for random points and for a drawn symbol with soft edges."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng([seed, 1])
    points = PointCloud(rng.normal(size=(50, 2)) * [30, 20] + [5, -3], rng.uniform(0.5, 1.5, 50))
    (drawing,) = datasets.templates(["square-star8"], size=192, line_width=6, canvas=448).values()
    image = gaussian_filter(drawing, 2.0)  # resampling changes the mass of sharp lines along rows or columns
    checks = []
    for row in _make_rows(rng):
        of_points, of_image = (_subtract_sides(row, measure) for measure in (points, image))
        errors = float(np.abs(of_points).max()), float(np.abs(of_image).max()), float(np.sqrt(np.mean(of_image**2)))
        place = row.transformation, row.matrix.tolist(), row.shift.tolist()
        checks.append(Check(*place, *errors, holds=errors[0] < _ROUNDING))
    return checks


def _subtract_sides(row: _Row, measure: Measure) -> Floats:
    angles = (np.arange(N_ANGLES) + 0.5) / N_ANGLES * np.pi - np.pi / 2  # within (−π/2, π/2)
    moved = rcdt(push_forward(measure, row.matrix, row.shift), angles=angles, n_levels=N_LEVELS)
    still = rcdt(measure, angles=row.direction(angles), n_levels=N_LEVELS)
    return moved - (row.stretch(angles)[:, None] * still + row.offset(angles)[:, None])

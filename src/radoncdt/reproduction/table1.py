"""Table 1: what common affine maps do to the Radon transform, checked by numbers.

Each row of the table says that the projection of the moved measure on θ(ϑ) is that of the measure itself on another
direction, stretched and shifted. Both sides are compared by their quantile functions.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from radoncdt import datasets
from radoncdt._geometry import rotation
from radoncdt._push_forward import push_forward
from radoncdt._rcdt import rcdt
from radoncdt._typing import Floats
from radoncdt.measures import Measure, PointCloud

N_ANGLES = 64
N_LEVELS = 64
ROUNDING = 1e-10


@dataclass(frozen=True)
class Row:
    """A row of Table 1: a map, and the direction, the stretch and the shift that it should lead to."""

    transformation: str
    matrix: Floats
    shift: Floats
    direction: Callable[[Floats], Floats]
    stretch: Callable[[Floats], Floats]
    offset: Callable[[Floats], Floats]


@dataclass(frozen=True)
class Check:
    """How far the two sides of a row are apart, in pixels, at most over all angles and levels."""

    transformation: str
    matrix: list[list[float]]
    shift: list[float]
    points_error: float
    """Of a cloud of points, which moves without error."""
    image_error: float
    """Of an image, which is sampled again."""
    image_root_mean_square: float
    """Its root mean square over angles and levels."""
    holds: bool
    """Whether both sides are the same for the points, up to rounding."""

    def record(self) -> dict[str, Any]:
        return asdict(self)


def rows(rng: np.random.Generator) -> list[Row]:
    """The five rows with random parameters.

    The last is a slip: its right-hand side does not belong to its matrix. It is checked as printed, with the right-hand
    side that belongs to the matrix, and with the matrix (1 c; 0 1) that belongs to the right-hand side.
    """
    y = rng.uniform(-20, 20, 2)
    phi, c = rng.uniform(-np.pi, np.pi), rng.uniform(0.3, 0.8)
    a, b = rng.uniform(0.6, 0.9), rng.uniform(1.1, 1.4)
    cos, sin = np.cos(phi), np.sin(phi)
    still, one, none = np.zeros(2), np.ones_like, np.zeros_like

    def sheared(angles: Floats) -> Floats:
        return np.arctan(c + np.tan(angles))

    def shear_stretch(angles: Floats) -> Floats:
        return np.sqrt(1 + c**2 * np.cos(angles) ** 2 + c * np.sin(2 * angles))

    return [
        Row("translation", np.eye(2), y, lambda t: t, one, lambda t: y[0] * np.cos(t) + y[1] * np.sin(t)),
        Row("rotation", rotation(phi), still, lambda t: t - phi, one, none),
        Row("reflection", np.array([[cos, sin], [sin, -cos]]), still, lambda t: phi - t, one, none),
        Row(
            "anisotropic scaling",
            np.diag([a, b]),
            still,
            lambda t: np.arctan(b / a * np.tan(t)),
            lambda t: np.sqrt(a**2 * np.cos(t) ** 2 + b**2 * np.sin(t) ** 2),
            none,
        ),
        Row("vertical shear, as printed", np.array([[1, 0], [c, 1]]), still, sheared, shear_stretch, none),
        Row(
            "vertical shear, other right-hand side",
            np.array([[1, 0], [c, 1]]),
            still,
            lambda t: np.arctan2(np.sin(t), np.cos(t) + c * np.sin(t)),
            lambda t: np.sqrt(1 + c**2 * np.sin(t) ** 2 + c * np.sin(2 * t)),
            none,
        ),
        Row("vertical shear, other matrix", np.array([[1, c], [0, 1]]), still, sheared, shear_stretch, none),
    ]


def check(seed: int) -> list[Check]:
    """Compare both sides of every row, for random points and for a drawn symbol with soft edges."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng([seed, 1])
    points = PointCloud(rng.normal(size=(50, 2)) * [30, 20] + [5, -3], rng.uniform(0.5, 1.5, 50))
    (drawing,) = datasets.templates(["square-star8"], size=192, line_width=6, canvas=448).values()
    image = gaussian_filter(drawing, 2.0)  # sharp lines along rows or columns change their mass when sampled again
    checks = []
    for row in rows(rng):
        of_points, of_image = (_difference(row, measure) for measure in (points, image))
        errors = float(np.abs(of_points).max()), float(np.abs(of_image).max())
        rms = float(np.sqrt(np.mean(of_image**2)))
        checks.append(
            Check(row.transformation, row.matrix.tolist(), row.shift.tolist(), *errors, rms, errors[0] < ROUNDING)
        )
    return checks


def _difference(row: Row, measure: Measure) -> Floats:
    angles = (np.arange(N_ANGLES) + 0.5) / N_ANGLES * np.pi - np.pi / 2  # within (−π/2, π/2)
    moved = rcdt(push_forward(measure, row.matrix, row.shift), angles=angles, n_levels=N_LEVELS)
    still = rcdt(measure, angles=row.direction(angles), n_levels=N_LEVELS)
    return moved - (row.stretch(angles)[:, None] * still + row.offset(angles)[:, None])

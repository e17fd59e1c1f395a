"""Measures whose R-CDT and NR-CDT are known in closed form, as images and as quantile functions."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.images import average_blocks

Array = NDArray[Any]

TURN, LEAN = np.deg2rad(20), np.deg2rad(35)  # rotations of the square and of the Gaussian, in radians


class ClosedForm(NamedTuple):
    """A density on the plane, in units of the side of the image, and its NR-CDT at angles (k,) and levels (l,)."""

    name: str
    density: Callable[[Array, Array], Array]
    nrcdt: Callable[[Array, Array], Array]
    moments: Callable[[Array], tuple[Any, Any]]
    """Takes angles (k,); returns the mean and the standard deviation of the projections."""

    def rcdt(self, angles: Array, levels: Array, side: int) -> Array:
        """Compute the R-CDT, in pixels from the centre of an image with this side."""
        mean, std = (np.broadcast_to(m, angles.shape)[:, None] for m in self.moments(angles))
        return side * (mean + std * self.nrcdt(angles, levels))


def sample(density: Callable[[Array, Array], Array], n: int, factor: int = 16) -> Array:
    """Sample a density: an n × n image whose pixels are means of factor² values."""
    places = ((np.arange(n * factor) + 0.5) / factor - n / 2) / n
    return average_blocks(density(places[None, :], -places[:, None]), factor)


def _along(angle: float, x: Array, y: Array) -> Array:
    return np.cos(angle) * x + np.sin(angle) * y


def _square(x: Array, y: Array) -> Array:
    return np.maximum(abs(_along(TURN, x, y)), abs(_along(TURN + np.pi / 2, x, y))) < 0.2


def _square_quantiles(angles: Array, levels: Array) -> Array:
    rows = []
    for angle in angles:
        short, long = sorted((abs(np.cos(angle - TURN)), abs(np.sin(angle - TURN))))
        width = long + short
        rows.append(stats.trapezoid(short / width, long / width, -width / 2, width).ppf(levels) * np.sqrt(12))
    return np.array(rows)


def _gaussian(x: Array, y: Array) -> Array:
    return np.exp(-((12 * _along(LEAN, x, y)) ** 2 + (24 * _along(LEAN + np.pi / 2, x, y)) ** 2) / 2)


DISCS = ((0.16, 0.12, 0.11), (-0.08, -0.06, 0.15))
"""Centre x, y and radius of each of two discs. No level equals the share of a disc in the area."""


def _two_discs(x: Array, y: Array) -> Array:
    return np.sum([(x - a) ** 2 + (y - b) ** 2 < r**2 for a, b, r in DISCS], axis=0)


def _two_discs_moments(angles: Array) -> tuple[Array, Array]:
    a, b, radii = np.array(DISCS).T
    shares = radii**2 / (radii**2).sum()
    centres = np.cos(angles)[:, None] * a + np.sin(angles)[:, None] * b
    mean = centres @ shares
    return mean, np.sqrt((radii**2 / 4 + (centres - mean[:, None]) ** 2) @ shares)


def _two_discs_quantiles(angles: Array, levels: Array) -> Array:
    """Invert the mixture of two semicircle distributions by bisection."""
    a, b, radii = np.array(DISCS).T
    shares = radii**2 / (radii**2).sum()
    rows = []
    for angle, mean, std in zip(angles, *_two_discs_moments(angles)):
        centres = _along(angle, a, b)
        low, high = np.full(levels.shape, -1.0), np.full(levels.shape, 1.0)
        for _ in range(60):
            middle = (low + high) / 2
            below = sum(w * stats.semicircular.cdf((middle - c) / r) for w, c, r in zip(shares, centres, radii))
            low, high = np.where(below < levels, middle, low), np.where(below < levels, high, middle)
        rows.append(((low + high) / 2 - mean) / std)
    return np.array(rows)


CLOSED_FORMS = (
    ClosedForm(
        "disc",
        lambda x, y: x**2 + y**2 < 1 / 16,
        lambda angles, levels: np.tile(2 * stats.semicircular.ppf(levels), (len(angles), 1)),
        lambda angles: (0.0, 1 / 8),
    ),
    ClosedForm("square rotated by 20°", _square, _square_quantiles, lambda angles: (0.0, 0.2 / np.sqrt(3))),
    ClosedForm(
        "Gaussian rotated by 35°",
        _gaussian,
        lambda angles, levels: np.tile(stats.norm.ppf(levels), (len(angles), 1)),
        lambda angles: (0.0, np.hypot(np.cos(angles - LEAN) / 12, np.sin(angles - LEAN) / 24)),
    ),
    ClosedForm("two discs", _two_discs, _two_discs_quantiles, _two_discs_moments),
)

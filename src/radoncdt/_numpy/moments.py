"""Mean and covariance of pixels and points, plain and robust."""

import numpy as np

from radoncdt._typing import Floats

__all__ = ["MAX_STEPS", "PIXEL_VARIANCE", "TOLERANCE", "collect_ink", "compute_box_moments", "student_moments"]

MAX_STEPS = 1000
"""Number of fixed-point iterations after which robust moments count as unsettled."""

TOLERANCE = 1e-12
"""Robust moments have converged when a step moves them by less than this many standard deviations."""

PIXEL_VARIANCE = 1 / 12
"""Variance of a unit square in x and in y."""


def compute_box_moments(pixels: Floats) -> Floats:
    """Compute mean (x, y) and covariance (xx, xy, yy) of the pixels of a box, relative to its centre: (5,)."""
    height, width = pixels.shape
    rows, columns = np.arange(height), np.arange(width)
    masses = pixels.sum(axis=1)
    leans = np.einsum("ij,j->i", pixels, columns.astype(np.float64))  # first moments of the rows
    column_masses = pixels.sum(axis=0)
    total = masses.sum()
    row, column = (masses * rows).sum() / total, (column_masses * columns).sum() / total
    xx = (column_masses * (columns - column) ** 2).sum() / total + PIXEL_VARIANCE
    xy = -((leans - column * masses) * (rows - row)).sum() / total
    yy = (masses * (rows - row) ** 2).sum() / total + PIXEL_VARIANCE
    return np.array([column - 0.5 * (width - 1), 0.5 * (height - 1) - row, xx, xy, yy])


def collect_ink(pixels: Floats) -> Floats:
    """Collect the pixels with ink: x and y relative to the centre of the box, and the masses, (3, n)."""
    height, width = pixels.shape
    i, j = np.nonzero(pixels)
    return np.stack([j - 0.5 * (width - 1), 0.5 * (height - 1) - i, pixels[i, j]])


def student_moments(points: Floats, nu: float, extent: float, moments: Floats) -> tuple[Floats, bool]:
    """Fit a Student t distribution to points; return its location and scatter (5,), and whether that converged.

    Each step weights a point by (ν + 2)/(ν + q), where q is its expected squared Mahalanobis distance, and computes
    weighted moments. The scatter is divided by the sum of the weights, not by the mass, which leads to the same maximum
    of the likelihood in fewer steps.
    """
    px, py, mass = points
    for _ in range(MAX_STEPS):
        mx, my, xx, xy, yy = moments
        determinant = xx * yy - xy * xy
        if not determinant > 1e-14 * (xx + yy) ** 2:
            return moments, False
        a, b, d = yy / determinant, -xy / determinant, xx / determinant
        x, y = px - mx, py - my
        weights = mass * (nu + 2) / (nu + a * x * x + 2 * b * x * y + d * y * y + extent * (a + d))
        total = weights.sum()
        wx, wy = weights * x, weights * y
        sx, sy = wx.sum() / total, wy.sum() / total
        nxx = (wx * x).sum() / total - sx * sx + extent
        nxy = (wx * y).sum() / total - sx * sy
        nyy = (wy * y).sum() / total - sy * sy + extent
        moments = np.array([mx + sx, my + sy, nxx, nxy, nyy])
        moved = a * sx * sx + 2 * b * sx * sy + d * sy * sy
        # the largest deviation of Σ⁻¹ times the new Σ from the identity matrix
        changed = max(
            abs(a * nxx + b * nxy - 1), abs(b * nxy + d * nyy - 1), abs(a * nxy + b * nyy), abs(b * nxx + d * nxy)
        )
        if moved < TOLERANCE**2 and changed < TOLERANCE:
            return moments, True
    return moments, False

"""Geometry of the plane and of the circle of directions: ideas that several modules share.

Coordinates are those of `radoncdt.measures`: x to the right, y upwards, rows of pixels downwards.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt._typing import Floats

__all__ = [
    "XY_TO_ROW_COLUMN",
    "full_circle",
    "half_circle",
    "ink_box",
    "inverse_square_root",
    "rotation",
    "square_root",
    "whiten_directions",
]

XY_TO_ROW_COLUMN: Floats = np.array([[0.0, -1.0], [1.0, 0.0]])  # turns a vector (x, y) into (row, column)
XY_TO_ROW_COLUMN.setflags(write=False)


# ---------------------------------------------------------------- matrices


def rotation(angle: ArrayLike) -> Floats:
    """Matrix (…, 2, 2) of the counter-clockwise rotation by an angle in radians.

    >>> from radoncdt._geometry import rotation
    >>> rotation(np.pi / 2).round(9) + 0.0
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


def square_root(covariance: Floats) -> Floats:
    """Symmetric square root Σ^{1/2} of covariances (…, 2, 2): (Σ + √det) / √(trace + 2√det).

    >>> from radoncdt._geometry import square_root
    >>> square_root(np.diag([4.0, 9.0]))
    array([[2., 0.],
           [0., 3.]])
    """
    size = np.trace(covariance, axis1=-2, axis2=-1)[..., None, None]  # products of tiny numbers might underflow
    scaled = covariance / size
    xx, xy, yy = scaled[..., :1, :1], scaled[..., :1, 1:], scaled[..., 1:, 1:]
    root = np.sqrt(xx * yy - xy * xy)
    result: Floats = np.sqrt(size / (1 + 2 * root)) * (scaled + root * np.eye(2))
    return result


def inverse_square_root(covariance: Floats) -> Floats:
    """Symmetric inverse square root Σ^{-1/2} of covariances (…, 2, 2), the matrix that whitens a measure.

    >>> from radoncdt._geometry import inverse_square_root
    >>> inverse_square_root(np.diag([4.0, 16.0]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return np.asarray(np.linalg.inv(square_root(covariance)), np.float64)


def whiten_directions(cosines: Floats, sines: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Directions Σ^{-1/2}η / ‖Σ^{-1/2}η‖ for directions η = (cosines, sines).

    Σ^{-1/2} is the adjugate of Σ + √det up to a factor, which does not matter here. Nothing is divided by the
    determinant, so that a nearly singular Σ does no harm.
    """
    (xx, xy), (_, yy) = covariance
    root = np.sqrt(max(xx * yy - xy * xy, 0.0))
    c, s = (yy + root) * cosines - xy * sines, (xx + root) * sines - xy * cosines
    length = np.hypot(c, s)
    return c / length, s / length


# ---------------------------------------------------------------- images


def ink_box(image: NDArray[Any]) -> tuple[slice, slice]:
    """Rows and columns of the bounding box of the non-zero pixels of an image (H, W); empty slices if there are none.

    >>> from radoncdt._geometry import ink_box
    >>> ink_box(np.pad(np.ones((2, 3)), 1))
    (slice(1, 3, None), slice(1, 4, None))
    """
    rows, columns = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
    if not rows.size:
        return slice(0, 0), slice(0, 0)
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


# ---------------------------------------------------------------- the circle


def full_circle(values: NDArray[Any]) -> NDArray[Any]:
    """Extend values (…, n_angles, n_levels) from half of the circle to all of it, (…, 2 n_angles, n_levels).

    Quantile functions, seen from the mean, have N_{−θ}(t) = −N_θ(1 − t). The levels must be symmetric around ½.
    """
    return np.concatenate([values, -values[..., ::-1]], axis=-2)


def half_circle(values: Floats) -> Floats:
    """Reduce values (…, 2 n_angles, n_levels) on the full circle to the half circle; the inverse of `full_circle`.

    Where a level meets a jump of a quantile function, N_{−θ}(t) is not exactly −N_θ(1 − t). The result is the mean of
    the two, the middle of the jump.
    """
    n_angles = values.shape[-2] // 2
    return (values[..., :n_angles, :] - values[..., n_angles:, ::-1]) / 2

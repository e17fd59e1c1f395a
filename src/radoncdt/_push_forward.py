"""Measures moved by affine maps."""

from __future__ import annotations

import warnings
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._geometry import XY_TO_ROW_COLUMN, ink_box
from radoncdt._interface import precision
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.measures import Measure, PointCloud, check_images_shape

__all__ = ["move_picture", "push_forward"]

_MAX_AREA_CHANGE = 1e30  # factor by which a map may change areas; float32 can hold densities changed by less


@overload
def push_forward(
    measure: PointCloud, /, matrix: ArrayLike, shift: ArrayLike = ..., *, shape: None = None
) -> PointCloud: ...
@overload
def push_forward(
    measure: ArrayLike, /, matrix: ArrayLike, shift: ArrayLike = ..., *, shape: tuple[int, int] | None = ...
) -> NDArray[Any]: ...
def push_forward(
    measure: ArrayLike | PointCloud,
    /,
    matrix: ArrayLike,
    shift: ArrayLike = (0, 0),
    *,
    shape: tuple[int, int] | None = None,
) -> Measure:
    """Move a measure by an affine map.

    The map x ↦ Ax + y moves a measure μ to its push-forward ``μ_{A,y} = μ ∘ (A·+y)⁻¹`` (eq. (2) of the paper [1]_). The
    points of a cloud move and keep their weights. An image is resampled by bilinear interpolation of its density. The
    density is divided by the absolute value of det A, so that the mass is kept up to the sampling error. Smooth an
    image before shrinking it by more than a factor of 2.

    Parameters
    ----------
    measure : PointCloud, array (H, W) or array (…, H, W)
        The measure, or a stack of images that are all moved by the same map.
    matrix : array (2, 2)
        The invertible matrix A in x, y coordinates. All images are moved by this one map; a stack of matrices is
        refused.
    shift : array (2,), default (0, 0)
        The vector y in pixels, x to the right and y upwards, which is added after the matrix is applied.
    shape : (int, int), optional
        Shape (H, W) of the result, which has the same centre as the image. By default, it is the shape of the image. A
        PointCloud does not take it.

    Returns
    -------
    PointCloud or float array (…, H, W)
        The moved measure: a PointCloud for a PointCloud, and otherwise float32, or float64 for float64 images.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the matrix has the wrong shape, no inverse, or a condition number of 1e14 or more, if it changes areas by a
        factor that float32 cannot hold, or if the image is not finite or looks like a colour image.

    Warns
    -----
    UserWarning
        If more than a millionth of the mass is moved off the canvas, or if sampling changes the mass by more than a
        tenth.

    See Also
    --------
    register : The affine map from one measure to another.
    radoncdt.datasets.random_affine : Random affine maps of an image.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> image = np.zeros((5, 5)); image[2, 3] = 1
    >>> quarter_turn = [[0, -1], [1, 0]]
    >>> np.argwhere(push_forward(image, quarter_turn) > 0.5)
    array([[1, 2]])
    """
    a = _validation.check_finite_array(matrix, "matrix")
    y = _validation.check_finite_array(shift, "shift")
    if a.shape != (2, 2):
        raise ArgumentValueError("matrix", f"must have shape (2, 2), got {a.shape}")
    if y.shape != (2,):
        raise ArgumentValueError("shift", f"must have shape (2,), got {y.shape}")
    scales = np.linalg.svd(a, compute_uv=False)
    if scales[1] <= 1e-14 * scales[0]:
        raise ArgumentValueError("matrix", f"must have an inverse, and a condition number below 1e14, got {a.tolist()}")
    if isinstance(measure, PointCloud):
        if shape is not None:
            raise ArgumentValueError("shape", f"applies only to images, got {shape!r} for a PointCloud")
        return PointCloud(measure.points @ a.T + y, measure.weights)

    images = _validation.check_array(measure, "measure")
    check_images_shape(images.shape, "measure", None)
    images = images.astype(precision(images.dtype), copy=False)
    if not np.isfinite(images).all():
        raise ArgumentValueError(
            "measure", f"must be finite, got {_validation.show_first(~np.isfinite(images), images)}"
        )
    if not _MAX_AREA_CHANGE > scales.prod() > 1 / _MAX_AREA_CHANGE:
        raise ArgumentValueError(
            "matrix", f"must change areas by less than {_MAX_AREA_CHANGE:g}, got {scales.prod():g}"
        )
    height, width = images.shape[-2:] if shape is None else _validation.check_image_shape(shape, "shape")

    density = images / images.dtype.type(scales.prod())
    back, offset = _pixel_map(a, y, images.shape[-2:], (height, width))
    moved = np.empty((*images.shape[:-2], height, width), images.dtype)
    for where in np.ndindex(images.shape[:-2]):
        _resample(density[where], back, offset, moved[where])
    _warn_about_lost_mass(images, moved, back, offset)
    return moved


def move_picture(image: NDArray[Any], matrix: Floats, shift: Floats, margin: int = 0) -> tuple[NDArray[Any], bool]:
    """Move the grey values of an image: x ↦ image(A⁻¹(x − y)).

    This is `push_forward` times |det A|, without its checks. Only the box that the ink can reach is computed.

    Parameters
    ----------
    image : array (H, W)
    matrix, shift : arrays (2, 2) and (2,)
        The map x ↦ Ax + y.
    margin : int
        Pixels by which the result is larger than the image on each side.

    Returns
    -------
    moved : array (H + 2 margin, W + 2 margin)
    whole : bool
        Whether all ink is inside the result.
    """
    moved = np.zeros((image.shape[0] + 2 * margin, image.shape[1] + 2 * margin), image.dtype)
    rows, columns = ink_box(image)
    if rows.start == rows.stop:
        return moved, True
    back, offset = _pixel_map(matrix, shift, image.shape, moved.shape)
    # bilinear interpolation reaches one pixel beyond the ink
    corners = np.array(
        [(row, column) for row in (rows.start - 1, rows.stop) for column in (columns.start - 1, columns.stop)]
    )
    reached = np.linalg.solve(back, (corners - offset).T)
    low = np.maximum(np.floor(reached.min(axis=1)), 0).astype(int)
    high = np.minimum(np.ceil(reached.max(axis=1)) + 1, moved.shape).astype(int)
    if (low < high).all():
        _resample(image, back, offset + back @ low, moved[low[0] : high[0], low[1] : high[1]])
    return moved, bool((reached.min(axis=1) > -1).all() and (reached.max(axis=1) < moved.shape).all())


def _pixel_map(matrix: Floats, shift: Floats, shape: tuple[int, ...], canvas: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Matrix and offset of the map from (row, column) of the canvas to (row, column) of the image."""
    back: Floats = XY_TO_ROW_COLUMN @ np.linalg.inv(matrix) @ XY_TO_ROW_COLUMN.T
    return back, (np.array(shape) - 1) / 2 - back @ ((np.array(canvas) - 1) / 2 + XY_TO_ROW_COLUMN @ shift)


def _resample(image: NDArray[Any], back: Floats, offset: Floats, out: NDArray[Any]) -> None:
    from scipy.ndimage import affine_transform

    affine_transform(image, back, offset, out.shape, out, order=1, mode="grid-constant")


def _warn_about_lost_mass(images: NDArray[Any], moved: NDArray[Any], back: Floats, offset: Floats) -> None:
    """Compare the mass that the map keeps on the canvas with the whole mass, and with the mass of the result."""
    canvas, forth = np.array(moved.shape[-2:])[:, None], np.linalg.inv(back)
    landed = forth @ (np.indices(images.shape[-2:]).reshape(2, -1) - offset[:, None])
    half = np.abs(forth).sum(axis=1, keepdims=True) / 2  # half the extent of a moved pixel
    inside = np.minimum(landed + half, canvas - 0.5) - np.maximum(landed - half, -0.5)
    share = np.prod(np.clip(inside / (2 * half), 0, 1), axis=0)
    sizes = np.abs(images.reshape(-1, share.size)).astype(float)
    total, landing = sizes.sum(axis=1), sizes @ share
    there = np.abs(moved.reshape(len(total), -1)).astype(float).sum(axis=1)
    ink = total > 0
    lost = (1 - landing[ink] / total[ink]).max(initial=0)
    changed = (np.abs(there - landing)[ink] / total[ink]).max(initial=0)
    stacklevel = _validation.find_stacklevel()
    if lost > 1e-6:
        warnings.warn(
            f"{lost:.2%} of the mass is moved off the canvas of shape {moved.shape[-2:]}", stacklevel=stacklevel
        )
    if changed > 0.1:
        warnings.warn(
            f"sampling changed the mass by {changed:.0%}; smooth the image before shrinking it", stacklevel=stacklevel
        )

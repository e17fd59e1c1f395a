"""What a measure is: an image, whose pixels are unit squares of mass, or a cloud of weighted points.

Coordinates are pixels, with the origin at the centre of the image, x to the right and y up: pixel (i, j) of an (H, W)
image is the unit square centred at (j − (W−1)/2, (H−1)/2 − i), and its value is its mass. Point clouds live in the
same plane.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _validation
from radoncdt._interface import EMPTY, NEGATIVE, NOT_FINITE, UNSETTLED, precision
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError

MOST_PIXELS = 2**26
"""More pixels than this along a side are taken for a mistake."""

MOST_CHANGE = 1e30
"""An image is not stretched or shrunk by more than this."""


class PointCloud:
    """The discrete measure Σ_i w_i δ(x_i) on the plane.

    Parameters
    ----------
    points : array (n, 2)
        The points (x, y).
    weights : array (n,), optional
        Their masses, 1/n each by default. Signed weights are fine for `radon`, `mass` and `push_forward` alone.

    Attributes
    ----------
    points, weights : float64 arrays
        Copies that cannot be written to.

    Examples
    --------
    >>> triangle = PointCloud([(0, 0), (4, 0), (0, 2)], weights=[1, 1, 2])
    >>> triangle
    PointCloud(3 points, mass 4)
    >>> mean(triangle)
    array([1., 1.])
    """

    points: Floats
    weights: Floats

    def __init__(self, points: ArrayLike, weights: ArrayLike | None = None) -> None:
        self.points = _validation.coordinates(points, "points").copy()
        if self.points.ndim != 2 or self.points.shape[1] != 2 or len(self.points) == 0:
            raise ArgumentValueError("points", f"must have shape (n, 2) with n ≥ 1, got {self.points.shape}")
        n = len(self.points)
        self.weights = np.full(n, 1 / n) if weights is None else _validation.finite_array(weights, "weights").copy()
        if self.weights.shape != (n,):
            raise ArgumentValueError("weights", f"must have shape ({n},), one a point, got {self.weights.shape}")
        self.points.setflags(write=False)
        self.weights.setflags(write=False)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"PointCloud({len(self)} points, mass {self.weights.sum():g})"

    def __reduce__(self) -> tuple[type["PointCloud"], tuple[Floats, Floats]]:
        return PointCloud, (self.points, self.weights)


Measure = NDArray[Any] | PointCloud


@dataclass(frozen=True)
class Batch:
    """Measures one after the other, and the leading axes they came with.

    `items` is an array (n, H, W), or a list of images (H, W) and PointClouds.
    """

    items: Any
    lead: tuple[int, ...]
    name: str

    @classmethod
    def read(cls, images: object, name: str = "images") -> "Batch":
        """Understand an image (H, W), a stack (…, H, W), a PointCloud, or a list of images and PointClouds.

        A batch stays what it is, with its own name. An array that looks like an image in colours is refused; a list of
        two-dimensional arrays, however narrow, is not.
        """
        if isinstance(images, Batch):
            return images
        if isinstance(images, PointCloud):
            return cls([images], (), name)
        if isinstance(images, (list, tuple)):
            if not images:
                raise ArgumentValueError(name, "must hold at least one image, got an empty list")
            items = [
                item if isinstance(item, PointCloud) else _validation.real_array(item, f"{name}[{i}]")
                for i, item in enumerate(images)
            ]
            for i, item in enumerate(items):
                if not isinstance(item, PointCloud):
                    _validation.not_in_colours(item.shape, f"{name}[{i}]")
            if any(isinstance(item, PointCloud) or item.ndim == 2 for item in items):
                shapes = {item.shape for item in items if not isinstance(item, PointCloud)}
                if len(shapes) == 1 and all(isinstance(item, (list, tuple)) for item in images):
                    _validation.not_in_colours((len(items), *shapes.pop()), name)  # one array, written as nested lists
                for i, item in enumerate(items):
                    if not isinstance(item, PointCloud):
                        _check_shape(item.shape, f"{name}[{i}]", 2)
                return cls(items, (len(items),), name)
        array = _validation.real_array(images, name, hint="; images of several sizes go in a list")
        _check_shape(array.shape, name, None)
        return cls(array.reshape(-1, *array.shape[-2:]), array.shape[:-2], name)

    @classmethod
    def of_one(cls, measure: object, name: str) -> "Batch":
        """Understand one image (H, W) or PointCloud, without negative mass and not empty."""
        batch = cls.read(measure, name)
        if batch.lead:
            raise ArgumentValueError(name, f"must be one image (H, W) or a PointCloud, got {len(batch)} measures")
        batch.check_measure(0)
        return batch

    def __len__(self) -> int:
        return len(self.items)

    def label(self, i: int) -> str:
        """How to call measure i in a message: images[2, 0]."""
        where = ", ".join(str(k) for k in np.unravel_index(i, self.lead)) if self.lead else ""
        return f"{self.name}[{where}]" if where else self.name

    def work(self) -> int:
        """About what one direction costs, in pixels: an image costs some, however small, and a point is sorted."""
        if isinstance(self.items, np.ndarray):
            return self.items.size + 6000 * len(self)
        return sum(500 * len(item) if isinstance(item, PointCloud) else item.size + 6000 for item in self.items)

    def chunks(self, most: int) -> Iterator[slice]:
        """Runs of at most `most` images of one precision; PointClouds one by one."""
        if isinstance(self.items, np.ndarray):
            yield from (slice(i, min(i + most, len(self))) for i in range(0, len(self), most))
            return
        start = 0
        for i in range(1, len(self) + 1):
            if i == len(self) or i - start == most or not _alike(self.items[start], self.items[i]):
                yield slice(start, i)
                start = i

    def check_masses(self, chunk: slice, statuses: NDArray[np.int64]) -> None:
        """Raise what a kernel found wrong with the first bad image of a chunk."""
        bad = statuses & ~UNSETTLED
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            self.check_mass(chunk.start + first, int(bad[first]))

    def check_measure(self, i: int) -> None:
        """Refuse what is no non-negative measure with mass."""
        values = self.items[i].weights if isinstance(self.items[i], PointCloud) else self.items[i]
        largest, smallest = values.max(), values.min()
        if not (np.isfinite(largest) and np.isfinite(smallest)):  # NaN is the largest and the smallest
            self.check_mass(i, NOT_FINITE)
        self.check_mass(i, (NEGATIVE if smallest < 0 else 0) | (EMPTY if largest == smallest == 0 else 0))

    def check_mass(self, i: int, status: int) -> None:
        """Raise what is wrong with measure i."""
        label, item = self.label(i), self.items[i]
        values = item.weights if isinstance(item, PointCloud) else item
        if status & NOT_FINITE:
            with np.errstate(over="ignore"):  # as the kernels see it
                values = values.astype(precision(values.dtype))
            raise ArgumentValueError(
                label, f"must be finite, got {_validation.first_where(~np.isfinite(values), values)}"
            )
        if status & NEGATIVE:
            raise ArgumentValueError(
                label, f"must not have negative mass, got {_validation.first_where(values < 0, values)}"
            )
        if status & EMPTY:
            raise ArgumentValueError(label, "must have mass, got zeros only")


Measures = ArrayLike | PointCloud | Sequence[Any] | Batch


def _check_shape(shape: tuple[int, ...], name: str, ndim: int | None) -> None:
    expected = "(H, W)" if ndim == 2 else "(H, W) or (…, H, W)"
    if len(shape) < 2 or ndim not in (None, len(shape)):
        raise ArgumentValueError(name, f"must have shape {expected}, got {shape}")
    if 0 in shape:
        raise ArgumentValueError(name, f"must not be empty, got shape {shape}")
    _validation.not_in_colours(shape, name)
    if max(shape[-2:]) > MOST_PIXELS:
        raise ArgumentValueError(name, f"must not have more than {MOST_PIXELS} pixels along a side, got shape {shape}")


def _alike(a: Measure, b: Measure) -> bool:
    """Whether two measures are images of one precision."""
    images = not isinstance(a, PointCloud) and not isinstance(b, PointCloud)
    return images and precision(a.dtype) == precision(b.dtype)  # type: ignore[union-attr]


def rescaled(masses: Floats) -> Floats:
    """Masses (…, n) times a power of two, which is exact, such that their sums neither overflow nor vanish."""
    return np.ldexp(masses, -np.frexp(masses.max(axis=-1, keepdims=True))[1])


def centred(cloud: PointCloud) -> tuple[Floats, Floats, Floats]:
    """Shares of the mass (n,), mean (2,) and the points seen from it (n, 2), of a cloud without negative weights."""
    shares = rescaled(cloud.weights)
    shares = shares / shares.sum()
    middle = cloud.points.mean(axis=0)  # near the mean, so that products of large coordinates do not cancel
    points = cloud.points - middle
    rest = (shares[:, None] * points).sum(axis=0)
    return shares, middle + rest, points - rest


def _moments(batch: Batch) -> tuple[Floats, Floats]:
    """Mean (n, 2) and covariance (n, 2, 2) of non-negative measures."""
    n = len(batch)
    mean_, covariance_ = np.empty((n, 2)), np.empty((n, 2, 2))
    for chunk in batch.chunks(16):
        items = batch.items[chunk]
        if isinstance(items[0], PointCloud):
            batch.check_measure(chunk.start)
            shares, mean_[chunk], points = centred(items[0])
            covariance_[chunk] = np.einsum("n,ni,nj->ij", shares, points, points)
            continue
        moments, status = _kernels.current().image_moments(items)
        batch.check_masses(chunk, status)
        mean_[chunk] = moments[:, :2]
        covariance_[chunk] = moments[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    return mean_, covariance_


def mass(images: Measures) -> Floats:
    """Mass of every measure, μ(R²), in float64. Signed measures are fine.

    >>> mass(np.ones((3, 4, 5)))
    array([20., 20., 20.])
    """
    batch = Batch.read(images)
    totals = np.empty(len(batch))
    for i, item in enumerate(batch.items):
        values = item.weights if isinstance(item, PointCloud) else item
        with np.errstate(over="ignore", invalid="ignore"):
            totals[i] = np.sum(values, dtype=np.float64)
        if not np.isfinite(totals[i]):
            batch.check_mass(i, 0 if np.isfinite(values).all() else NOT_FINITE)
            raise ArgumentValueError(batch.label(i), "must have a mass that float64 can hold, got more")
    return totals.reshape(batch.lead)


def mean(images: Measures) -> Floats:
    """Mean ∫ x dμ / μ(R²) of every measure, shape (…, 2), in float64.

    >>> image = np.zeros((5, 5)); image[0, 4] = 1
    >>> mean(image)
    array([2., 2.])
    """
    batch = Batch.read(images)
    return _moments(batch)[0].reshape(*batch.lead, 2)


def covariance(images: Measures) -> Floats:
    """Covariance Σ of every measure divided by its mass, shape (…, 2, 2), in float64.

    A pixel is a square, not a point, so the Σ of an image contains 1/12 of the unit matrix and is never singular.

    >>> 12 * covariance(np.ones((3, 5)))
    array([[25.,  0.],
           [ 0.,  9.]])
    """
    batch = Batch.read(images)
    return _moments(batch)[1].reshape(*batch.lead, 2, 2)


@overload
def push_forward(
    measure: PointCloud, matrix: ArrayLike, shift: ArrayLike = ..., *, shape: None = None
) -> PointCloud: ...
@overload
def push_forward(
    measure: ArrayLike, matrix: ArrayLike, shift: ArrayLike = ..., *, shape: tuple[int, int] | None = ...
) -> NDArray[Any]: ...
def push_forward(
    measure: ArrayLike | PointCloud,
    matrix: ArrayLike,
    shift: ArrayLike = (0, 0),
    *,
    shape: tuple[int, int] | None = None,
) -> Measure:
    """Move a measure by x ↦ Ax + y: the push-forward μ_{A,y} = μ ∘ (A·+y)⁻¹ of eq. (2) in the paper.

    Points move, weights stay. An image is sampled again by bilinear interpolation of its density, which is divided by
    |det A| so that the mass is kept up to the sampling error; shrinking by more than 2 therefore needs a smooth
    image.

    Parameters
    ----------
    measure : PointCloud, image (H, W) or images (…, H, W)
    matrix : array (2, 2)
        The matrix A in x, y coordinates; it must have an inverse.
    shift : array (2,)
        The vector y in pixels, x to the right and y up.
    shape : (int, int), optional
        Canvas of the result, centred where the image is centred; the shape of the image by default.

    Returns
    -------
    PointCloud, or float array (…, *shape)

    Warns
    -----
    UserWarning
        When more than a millionth of the mass is moved off the canvas, or sampling changes the mass by a tenth.

    Examples
    --------
    >>> image = np.zeros((5, 5)); image[2, 3] = 1
    >>> quarter_turn = [[0, -1], [1, 0]]
    >>> np.argwhere(push_forward(image, quarter_turn) > 0.5)
    array([[1, 2]])
    """
    a = _validation.finite_array(matrix, "matrix")
    y = _validation.finite_array(shift, "shift")
    if a.shape != (2, 2):
        raise ArgumentValueError("matrix", f"must have shape (2, 2), got {a.shape}")
    if y.shape != (2,):
        raise ArgumentValueError("shift", f"must have shape (2,), got {y.shape}")
    scales = np.linalg.svd(a, compute_uv=False)
    if scales[1] <= 1e-14 * scales[0]:
        raise ArgumentValueError("matrix", f"must have an inverse, and a condition number below 1e14, got {a.tolist()}")
    if isinstance(measure, PointCloud):
        if shape is not None:
            raise ArgumentValueError("shape", f"is for images, got {shape!r} for a PointCloud")
        return PointCloud(measure.points @ a.T + y, measure.weights)

    images = _validation.real_array(measure, "measure")
    _check_shape(images.shape, "measure", None)
    images = images.astype(precision(images.dtype), copy=False)
    if not np.isfinite(images).all():
        raise ArgumentValueError(
            "measure", f"must be finite, got {_validation.first_where(~np.isfinite(images), images)}"
        )
    if not MOST_CHANGE > scales.prod() > 1 / MOST_CHANGE:
        raise ArgumentValueError("matrix", f"must change areas by less than {MOST_CHANGE:g}, got {scales.prod():g}")
    height, width = images.shape[-2:] if shape is None else _validation.pair_of_sizes(shape, "shape")

    density = images / images.dtype.type(scales.prod())
    back, offset = _pixel_map(a, y, images.shape[-2:], (height, width))
    moved = np.empty((*images.shape[:-2], height, width), images.dtype)
    for where in np.ndindex(images.shape[:-2]):
        _resample(density[where], back, offset, moved[where])
    _warn_of_lost_mass(images, moved, back, offset)
    return moved


def moved_picture(image: NDArray[Any], matrix: Floats, shift: Floats, margin: int = 0) -> tuple[NDArray[Any], bool]:
    """The picture x ↦ image(A⁻¹(x − y)) on the same canvas and a margin around it, and whether all of its ink is there.

    This is what `push_forward` gives, times |det A|, unchecked, but only the box that the ink can reach is computed.
    """
    moved = np.zeros((image.shape[0] + 2 * margin, image.shape[1] + 2 * margin), image.dtype)
    rows, columns = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
    if not rows.size:
        return moved, True
    back, offset = _pixel_map(matrix, shift, image.shape, moved.shape)
    box = np.array(
        [(row, column) for row in (rows[0] - 1, rows[-1] + 1) for column in (columns[0] - 1, columns[-1] + 1)]
    )
    reached = np.linalg.solve(back, (box - offset).T)  # a pixel beyond its own edges, for interpolation
    low = np.maximum(np.floor(reached.min(axis=1)), 0).astype(int)
    high = np.minimum(np.ceil(reached.max(axis=1)) + 1, moved.shape).astype(int)
    if (low < high).all():
        _resample(image, back, offset + back @ low, moved[low[0] : high[0], low[1] : high[1]])
    return moved, bool((reached.min(axis=1) > -1).all() and (reached.max(axis=1) < moved.shape).all())


def _pixel_map(matrix: Floats, shift: Floats, shape: tuple[int, ...], canvas: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Matrix and offset that lead from (row, column) of the canvas to (row, column) of the image."""
    flip = np.array([[0.0, -1.0], [1.0, 0.0]])  # (x, y) to (row, column), up to the origin
    back: Floats = flip @ np.linalg.inv(matrix) @ flip.T
    return back, (np.array(shape) - 1) / 2 - back @ ((np.array(canvas) - 1) / 2 + flip @ shift)


def _resample(image: NDArray[Any], back: Floats, offset: Floats, out: NDArray[Any]) -> None:
    from scipy.ndimage import affine_transform

    affine_transform(image, back, offset, out.shape, out, order=1, mode="grid-constant")


def _warn_of_lost_mass(images: NDArray[Any], moved: NDArray[Any], back: Floats, offset: Floats) -> None:
    """Compare the mass that should have landed on the canvas with all mass, and with that which is there."""
    canvas, forth = np.array(moved.shape[-2:])[:, None], np.linalg.inv(back)
    landed = forth @ (np.indices(images.shape[-2:]).reshape(2, -1) - offset[:, None])
    half = np.abs(forth).sum(axis=1, keepdims=True) / 2  # of a moved pixel's extent
    inside = np.minimum(landed + half, canvas - 0.5) - np.maximum(landed - half, -0.5)
    share = np.prod(np.clip(inside / (2 * half), 0, 1), axis=0)
    sizes = np.abs(images.reshape(-1, share.size)).astype(float)
    total, landing = sizes.sum(axis=1), sizes @ share
    there = np.abs(moved.reshape(len(total), -1)).astype(float).sum(axis=1)
    ink = total > 0
    lost = (1 - landing[ink] / total[ink]).max(initial=0)
    changed = (np.abs(there - landing)[ink] / total[ink]).max(initial=0)
    if lost > 1e-6:
        warnings.warn(f"{lost:.2%} of the mass is moved off the canvas of shape {moved.shape[-2:]}", stacklevel=3)
    if changed > 0.1:
        warnings.warn(f"sampling changed the mass by {changed:.0%}; smooth the image before shrinking it", stacklevel=3)

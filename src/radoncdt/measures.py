"""Measures: images, whose pixels are unit squares of mass, and clouds of weighted points.

Coordinates are pixels. The origin is the centre of the image, x points to the right and y upwards: pixel (i, j) of an
(H, W) image is the unit square centred at (j − (W−1)/2, (H−1)/2 − i), and its value is its mass. Point clouds lie in
the same plane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _validation
from radoncdt._interface import EMPTY, NEGATIVE, NOT_FINITE, UNSETTLED, precision
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError

__all__ = [
    "Batch",
    "Measure",
    "Measures",
    "PointCloud",
    "centre_cloud",
    "check_images_shape",
    "covariance",
    "mass",
    "mean",
    "rescale",
]

_MAX_INPUT_SIDE = 2**26  # pixels along a side of a given image; longer sides are assumed to be mistakes
_WORK_PER_IMAGE = 6000  # cost of one direction of any image, however small, in pixels
_WORK_PER_POINT = 500  # cost of sorting a point in one direction, in pixels


class PointCloud:
    """A discrete measure on the plane: weighted points.

    It is the measure ``Σ_i w_i δ(x_i)`` with points x_i and weights w_i. All functions that take images also take
    PointClouds; points lie in the coordinates of images: pixels from the centre, x to the right and y upwards.

    Parameters
    ----------
    points : array (n, 2)
        The points (x, y), at least one.
    weights : array (n,), optional
        Their masses, 1/n each by default. Only `radon`, `mass` and `push_forward` accept negative weights.

    Attributes
    ----------
    points : float64 array (n, 2)
        A read-only copy of the points.
    weights : float64 array (n,)
        A read-only copy of the weights.

    Raises
    ------
    TypeError
        If the points or weights are not numbers.
    ValueError
        If the arrays have the wrong shape or values that are not finite.

    See Also
    --------
    push_forward : Moves the points by an affine map.
    rcdt : Quantiles of projections, which are exact for points.

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
        self.points = _validation.check_coordinates(points, "points").copy()
        if self.points.ndim != 2 or self.points.shape[1] != 2 or len(self.points) == 0:
            raise ArgumentValueError("points", f"must have shape (n, 2) with n ≥ 1, got {self.points.shape}")
        n = len(self.points)
        given = np.full(n, 1 / n) if weights is None else weights
        self.weights = _validation.check_finite_array(given, "weights").copy()
        if self.weights.shape != (n,):
            raise ArgumentValueError("weights", f"must have shape ({n},), one per point, got {self.weights.shape}")
        self.points.setflags(write=False)
        self.weights.setflags(write=False)

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"PointCloud({len(self)} points, mass {self.weights.sum():g})"

    def __reduce__(self) -> tuple[type[PointCloud], tuple[Floats, Floats]]:
        return PointCloud, (self.points, self.weights)


Measure = NDArray[Any] | PointCloud


@dataclass(frozen=True)
class Batch:
    """A sequence of measures, with the leading axes that it came with.

    Attributes
    ----------
    items : array (n, H, W), or list of images (H, W) and PointClouds
    lead : tuple of int
        Shape of the leading axes, whose product is n.
    name : str
        Name of the argument, for messages.
    """

    items: Any
    lead: tuple[int, ...]
    name: str

    @classmethod
    def read(cls, images: object, name: str = "images") -> Batch:
        """Read an image (H, W), a stack (…, H, W), a PointCloud, or a list of images and PointClouds.

        A batch is returned unchanged, with its own name. An array that looks like a colour image is refused; a list of
        two-dimensional arrays is not, however narrow they are.
        """
        if isinstance(images, Batch):
            return images
        if isinstance(images, PointCloud):
            return cls([images], (), name)
        if isinstance(images, (list, tuple)):
            items = _read_items(images, name)
            if items is not None:
                return cls(items, (len(items),), name)
        array = _validation.check_array(images, name, hint="; images of several sizes go in a list")
        check_images_shape(array.shape, name, None)
        return cls(array.reshape(-1, *array.shape[-2:]), array.shape[:-2], name)

    @classmethod
    def read_one(cls, measure: object, name: str) -> Batch:
        """Read one image (H, W) or PointCloud that has mass, and no negative mass."""
        batch = cls.read(measure, name)
        if batch.lead:
            raise ArgumentValueError(name, f"must be one image (H, W) or a PointCloud, got {len(batch)} measures")
        batch.check_measure(0)
        return batch

    def __len__(self) -> int:
        return len(self.items)

    def label(self, i: int) -> str:
        """Name of measure i in messages, such as ``images[2, 0]``."""
        where = ", ".join(str(k) for k in np.unravel_index(i, self.lead)) if self.lead else ""
        return f"{self.name}[{where}]" if where else self.name

    def work(self) -> int:
        """Approximate cost of one direction of all measures, in pixels."""
        if isinstance(self.items, np.ndarray):
            return self.items.size + _WORK_PER_IMAGE * len(self)
        return sum(
            _WORK_PER_POINT * len(item) if isinstance(item, PointCloud) else item.size + _WORK_PER_IMAGE
            for item in self.items
        )

    def chunks(self, max_size: int) -> Iterator[slice]:
        """Cut the batch into runs of at most `max_size` images of one precision, and single PointClouds."""
        if isinstance(self.items, np.ndarray):
            yield from (slice(i, min(i + max_size, len(self))) for i in range(0, len(self), max_size))
            return
        start = 0
        for i in range(1, len(self) + 1):
            if i == len(self) or i - start == max_size or not _alike(self.items[start], self.items[i]):
                yield slice(start, i)
                start = i

    def check_masses(self, chunk: slice, statuses: NDArray[np.int64]) -> None:
        """Raise an error about the first bad image of a chunk, as the kernels report it."""
        bad = statuses & ~UNSETTLED
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            self.check_mass(chunk.start + first, int(bad[first]))

    def check_measure(self, i: int) -> None:
        """Refuse measure i if it has negative mass, no mass, or values that are not finite."""
        values = self.items[i].weights if isinstance(self.items[i], PointCloud) else self.items[i]
        largest, smallest = values.max(), values.min()
        if not (np.isfinite(largest) and np.isfinite(smallest)):  # NaN is both the largest and the smallest
            self.check_mass(i, NOT_FINITE)
        self.check_mass(i, (NEGATIVE if smallest < 0 else 0) | (EMPTY if largest == smallest == 0 else 0))

    def check_mass(self, i: int, status: int) -> None:
        """Raise an error about measure i if its status is not 0."""
        label, item = self.label(i), self.items[i]
        values = item.weights if isinstance(item, PointCloud) else item
        if status & NOT_FINITE:
            with np.errstate(over="ignore"):  # the kernels convert the values, too
                values = values.astype(precision(values.dtype))
            raise ArgumentValueError(
                label, f"must be finite, got {_validation.show_first(~np.isfinite(values), values)}"
            )
        if status & NEGATIVE:
            raise ArgumentValueError(
                label, f"must not have negative mass, got {_validation.show_first(values < 0, values)}"
            )
        if status & EMPTY:
            raise ArgumentValueError(label, "must have mass, got zeros only")


Measures = ArrayLike | PointCloud | Sequence[Any] | Batch


def _read_items(images: Sequence[Any], name: str) -> list[Measure] | None:
    """Read a list of images (H, W) and PointClouds; None if it is an array that is written as a nested list."""
    if not images:
        raise ArgumentValueError(name, "must hold at least one image, got an empty list")
    items = [
        item if isinstance(item, PointCloud) else _validation.check_array(item, f"{name}[{i}]")
        for i, item in enumerate(images)
    ]
    shapes = {i: item.shape for i, item in enumerate(items) if not isinstance(item, PointCloud)}
    for i, shape in shapes.items():
        _validation.check_not_colour(shape, f"{name}[{i}]")
    if len(shapes) == len(items) and all(len(shape) != 2 for shape in shapes.values()):
        return None
    if len(set(shapes.values())) == 1 and all(isinstance(item, (list, tuple)) for item in images):
        _validation.check_not_colour((len(items), *shapes[0]), name)  # one array, written as nested lists
    for i, shape in shapes.items():
        check_images_shape(shape, f"{name}[{i}]", 2)
    return items


def check_images_shape(shape: tuple[int, ...], name: str, ndim: int | None) -> None:
    """Check the shape (H, W) or (…, H, W) of given images; `ndim` is 2 if leading axes are not allowed, else None."""
    expected = "(H, W)" if ndim == 2 else "(H, W) or (…, H, W)"
    if len(shape) < 2 or ndim not in (None, len(shape)):
        raise ArgumentValueError(name, f"must have shape {expected}, got {shape}")
    if 0 in shape:
        raise ArgumentValueError(name, f"must not be empty, got shape {shape}")
    _validation.check_not_colour(shape, name)
    if max(shape[-2:]) > _MAX_INPUT_SIDE:
        raise ArgumentValueError(
            name, f"must not have more than {_MAX_INPUT_SIDE} pixels along a side, got shape {shape}"
        )


def _alike(a: Measure, b: Measure) -> bool:
    """Whether two measures are images of one precision."""
    images = not isinstance(a, PointCloud) and not isinstance(b, PointCloud)
    return images and precision(a.dtype) == precision(b.dtype)  # type: ignore[union-attr]


def rescale(masses: Floats) -> Floats:
    """Multiply masses (…, n) by a power of two, which is exact, so that their sums neither overflow nor underflow."""
    return np.ldexp(masses, -np.frexp(masses.max(axis=-1, keepdims=True))[1])


def centre_cloud(cloud: PointCloud) -> tuple[Floats, Floats, Floats]:
    """Return shares of the mass (n,), the mean (2,), and the points relative to it (n, 2).

    The cloud must not have negative weights.
    """
    shares = rescale(cloud.weights)
    shares = shares / shares.sum()
    middle = cloud.points.mean(axis=0)  # near the mean, so that products of large coordinates do not cancel
    points = cloud.points - middle
    rest = (shares[:, None] * points).sum(axis=0)
    return shares, middle + rest, points - rest


def _moments(batch: Batch) -> tuple[Floats, Floats]:
    """Mean (n, 2) and covariance (n, 2, 2) of non-negative measures."""
    n = len(batch)
    means, covariances = np.empty((n, 2)), np.empty((n, 2, 2))
    for chunk in batch.chunks(16):
        items = batch.items[chunk]
        if isinstance(items[0], PointCloud):
            batch.check_measure(chunk.start)
            shares, means[chunk], points = centre_cloud(items[0])
            covariances[chunk] = np.einsum("n,ni,nj->ij", shares, points, points)
            continue
        moments, status = _kernels.current().image_moments(items)
        batch.check_masses(chunk, status)
        means[chunk] = moments[:, :2]
        covariances[chunk] = moments[:, [2, 3, 3, 4]].reshape(-1, 2, 2)
    return means, covariances


def mass(images: Measures, /) -> Floats:
    """Compute the mass μ(R²) of every measure.

    It is the sum of the pixels, or of the weights of the points. The transforms divide measures by their mass (§3.1 of
    the paper [1]_).

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Measures of type bool, integer or float. Masses may be negative. The images of a list may have different sizes.

    Returns
    -------
    float64 array (…)
        The masses; of one measure an array without axes.

    Raises
    ------
    TypeError
        If `images` does not hold measures.
    ValueError
        If values are not finite, a mass is larger than float64 can hold, or an array looks like a colour image.

    See Also
    --------
    mean : The mean of every measure.
    covariance : The covariance of every measure.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
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


def mean(images: Measures, /) -> Floats:
    """Compute the mean of every measure.

    It is ``m = ∫ x dμ(x) / μ(R²)``, in pixels from the centre of the image, x to the right and y upwards. The
    projection on a direction θ has the mean ⟨m, θ⟩, which the NR-CDT subtracts (§3.2 of the paper [1]_).

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays.

    Returns
    -------
    float64 array (…, 2)
        The means (x, y).

    Raises
    ------
    TypeError
        If `images` does not hold measures.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, or if an array looks like a colour image.

    See Also
    --------
    mass : The mass of every measure.
    covariance : The covariance of every measure.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> image = np.zeros((5, 5)); image[0, 4] = 1
    >>> mean(image)
    array([2., 2.])
    """
    batch = Batch.read(images)
    return _moments(batch)[0].reshape(*batch.lead, 2)


def covariance(images: Measures, /) -> Floats:
    """Compute the covariance of every measure.

    It is ``Σ = ∫ (x − m)(x − m)ᵀ dμ(x) / μ(R²)``, where m is the mean. The projection on a direction θ has the standard
    deviation √(θᵀΣθ), by which the NR-CDT is divided (§3.2 of the paper [1]_). A pixel is a square, not a point. The Σ
    of an image therefore contains 1/12 of the unit matrix and is never singular.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays.

    Returns
    -------
    float64 array (…, 2, 2)
        The covariances, in squared pixels; x comes first.

    Raises
    ------
    TypeError
        If `images` does not hold measures.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, or if an array looks like a colour image.

    See Also
    --------
    mass : The mass of every measure.
    mean : The mean of every measure.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> 12 * covariance(np.ones((3, 5)))
    array([[25.,  0.],
           [ 0.,  9.]])
    """
    batch = Batch.read(images)
    return _moments(batch)[1].reshape(*batch.lead, 2, 2)

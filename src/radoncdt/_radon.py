"""The Radon transform of measures, its adjoint and its inverse (§2 of the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _threads, _validation
from radoncdt._interface import NOT_FINITE, precision
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, Measure, Measures, PointCloud

__all__ = ["back_projection", "filtered_back_projection", "radon"]

_MAX_BINS = 2**18  # strips per direction; wider point clouds are assumed to be mistakes
_IMAGES_PER_CHUNK = 4  # images that a thread projects at a time


def radon(
    images: Measures, /, *, n_angles: int = 128, angles: ArrayLike | None = None, n_jobs: int | None = -1
) -> tuple[NDArray[Any], Floats]:
    """Compute the masses of projections in strips: the Radon transform.

    The projection of a measure μ on the direction θ is the measure ``R_θ[μ] = (S_θ)_# μ`` on the line, with
    ``S_θ(x) = ⟨x, θ⟩`` (§2.2 of the paper [1]_). Here, a pixel is a unit square of constant density. The mass of every
    strip is exact up to rounding, whatever the direction: no line is sampled, and nothing is interpolated.

    A strip is as wide as a step from one pixel to the next, ``max(|cos θ|, |sin θ|)``. The grid of strips is aligned
    with the bounding box of the ink, so zero padding does not change any mass. The points of a cloud belong to the
    strips that they lie in.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Measures of type bool, integer or float. Masses may be negative. The images of a list may have different sizes.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    masses : array (…, n_angles, n_bins)
        Masses of the strips: float32, or float64 for float64 images and point clouds. For images, n_bins = H + W + 2,
        of the largest image in a list; strips without ink hold 0.
    edges : float64 array (…, n_angles, n_bins + 1)
        Ends of the strips, ascending, in pixels from the centre of the image.

    Raises
    ------
    TypeError
        If `images` or an option has the wrong type.
    ValueError
        If values are not finite, an array looks like a colour image, a point cloud is too wide, or an option has an
        invalid value.

    See Also
    --------
    back_projection : The adjoint.
    filtered_back_projection : The inverse.
    rcdt : Quantile functions of the projections.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> masses, edges = radon(np.ones((2, 3)), angles=[0])
    >>> masses[0]
    array([0., 0., 2., 2., 2., 0., 0.])
    >>> edges[0]
    array([-3.5, -2.5, -1.5, -0.5,  0.5,  1.5,  2.5,  3.5])
    """
    batch = Batch.read(images)
    directions = Directions.choose(n_angles, angles)
    n_bins = max(_count_bins(batch, i) for i in range(len(batch) if isinstance(batch.items, list) else 1))
    real = np.result_type(*{_precision(item) for item in batch.items}) if isinstance(batch.items, list) else None
    masses = np.zeros((len(batch), len(directions), n_bins), real or _precision(batch.items[0]))
    edges = np.empty((len(batch), len(directions), n_bins + 1))

    def project(chunk: slice) -> None:
        first = batch.items[chunk.start]
        if isinstance(first, PointCloud):
            _project_cloud(first, directions, masses[chunk.start], edges[chunk.start])
        else:
            _project_images(batch, chunk, directions, masses[chunk], edges[chunk])

    workers = _threads.count_workers(n_jobs, batch.work() * len(directions))
    _threads.for_each(project, batch.chunks(_IMAGES_PER_CHUNK), workers)
    shape = *batch.lead, len(directions)
    return masses.reshape(*shape, n_bins), edges.reshape(*shape, n_bins + 1)


def _precision(item: Measure) -> type[np.floating[Any]]:
    return np.float64 if isinstance(item, PointCloud) else precision(item.dtype)


def _count_bins(batch: Batch, i: int) -> int:
    """Return the number of bins that measure i needs in the direction that needs most."""
    item = batch.items[i]
    if not isinstance(item, PointCloud):
        return sum(item.shape) + 2
    extent = np.ptp(item.points, axis=0)
    if extent.sum() > _MAX_BINS:
        raise ArgumentValueError(
            batch.label(i),
            f"must not need more than {_MAX_BINS:,} strips of one pixel per direction, "
            f"got an extent of {extent[0]:g} × {extent[1]:g} pixels",
        )
    return int(np.ceil(extent).sum()) + 2


def _project_images(batch: Batch, chunk: slice, directions: Directions, masses: NDArray[Any], edges: Floats) -> None:
    items = batch.items[chunk]
    exact, origins, status = _kernels.current().image_masses(
        items, directions.cosines, directions.sines, masses.shape[-1]
    )
    batch.check_masses(chunk, status & NOT_FINITE)
    for i in np.flatnonzero(~np.isfinite(exact).all(axis=(1, 2))):
        raise ArgumentValueError(
            batch.label(chunk.start + int(i)),
            f"must have masses that {exact.dtype} can hold, got pixels up to {np.abs(items[i]).max():g}",
        )
    masses[:] = exact
    _set_edges(edges, directions, origins)


def _project_cloud(cloud: PointCloud, directions: Directions, masses: Floats, edges: Floats) -> None:
    n_bins = masses.shape[-1]
    low, high = cloud.points.min(axis=0), cloud.points.max(axis=0)
    middle = low + (high - low) / 2
    _set_edges(edges, directions, n_bins / 2 - directions.project(middle) / directions.widths)
    x, y = (cloud.points - middle).T
    for d in range(len(directions)):
        position = (directions.cosines[d] * x + directions.sines[d] * y) / directions.widths[d] + n_bins / 2
        bins = np.clip(np.floor(position).astype(np.int64), 0, n_bins - 1)
        masses[d] = np.bincount(bins, cloud.weights, n_bins)


def _set_edges(edges: Floats, directions: Directions, origins: Floats) -> None:
    """Fill edges (…, n_angles, n_bins + 1) of bins in which the centre of the image is at `origins` (…, n_angles)."""
    np.subtract(np.arange(edges.shape[-1]), origins[..., None], out=edges)
    edges *= directions.widths[:, None]


def back_projection(
    masses: ArrayLike, edges: ArrayLike, angles: ArrayLike, /, shape: tuple[int, int], *, n_jobs: int | None = -1
) -> NDArray[Any]:
    """Compute the back projection of values on strips: the adjoint of `radon`.

    The back projection of g is ``R*[g](x) = Σ_θ g(⟨x, θ⟩, θ)``, averaged over each pixel (Prop. 2 of the paper [1]_).
    It is exact in the same sense as `radon`. With ``masses, edges = radon(image, angles=angles)`` and any g of the
    shape of `masses`, the sums ``(masses * g).sum()`` and
    ``(image * back_projection(g, edges, angles, image.shape)).sum()`` are equal up to rounding.

    The paper's R* integrates over the circle and its R[μ] averages, so its two sides differ by a factor 2π. Here both
    are plain sums.

    Parameters
    ----------
    masses : array (…, n_angles, n_bins)
        Values on the strips; they may be negative.
    edges : array (n_angles, n_bins + 1) or (…, n_angles, n_bins + 1)
        Ends of the strips, as `radon` returns them, in pixels from the centre of the image.
    angles : array (n_angles,)
        Angles of the directions, in radians.
    shape : (int, int)
        Shape (H, W) of the image.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    array (…, H, W)
        The images: float32, or float64 for float64 masses.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If shapes do not match, values are not finite, or the edges are not those of `radon`.

    See Also
    --------
    radon : The transform.
    filtered_back_projection : The inverse instead of the adjoint.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> image = np.array([[1.0, 2.0], [0.0, 4.0]])
    >>> masses, edges = radon(image, angles=[0.3])
    >>> g = np.arange(6.0)[None]
    >>> inner = (image * back_projection(g, edges, [0.3], image.shape)).sum()
    >>> np.allclose((masses * g).sum(), inner)
    True
    """
    directions = Directions(angles)
    values = _validation.check_array(masses, "masses")
    real = precision(values.dtype)
    n = len(directions)
    values = _check_masses(values, n).astype(real)
    centres = _locate_centres(edges, directions, values.shape)
    height, width = _validation.check_image_shape(shape, "shape")
    values = values.reshape(-1, *values.shape[-2:])
    centres = np.broadcast_to(centres.reshape(-1, n), (len(values), n))
    result = np.empty((len(values), height, width), real)

    def add(i: int) -> None:
        result[i] = _kernels.current().back_project(
            values[i], centres[i], directions.cosines, directions.sines, (height, width)
        )

    _threads.for_each(add, range(len(values)), _threads.count_workers(n_jobs, result.size * n))
    if not np.isfinite(result).all():
        raise ArgumentValueError(
            "masses", f"must have sums that {result.dtype} can hold, got up to {np.abs(values).max():g}"
        )
    return result.reshape(*np.shape(masses)[:-2], height, width)


def _check_masses(masses: ArrayLike, n_angles: int) -> Floats:
    values = _validation.check_finite_array(masses, "masses")
    if values.ndim < 2 or values.shape[-2] != n_angles or values.size == 0:
        raise ArgumentValueError(
            "masses", f"must have shape (…, {n_angles}, n_bins) for {n_angles} angles, got {values.shape}"
        )
    return values


def _locate_centres(edges: ArrayLike, directions: Directions, shape: tuple[int, ...]) -> Floats:
    """Check the edges for masses of a shape; return the positions, in bins, of the centre of the image."""
    grid = _validation.check_finite_array(edges, "edges")
    expected = (*shape[:-1], shape[-1] + 1)
    if grid.ndim < 2 or grid.shape[-2:] != expected[-2:] or grid.shape[:-2] not in ((), expected[:-2]):
        raise ArgumentValueError("edges", f"must have shape {expected}, got {grid.shape}")
    offsets = grid / directions.widths[:, None] - np.arange(grid.shape[-1])
    centres: Floats = -offsets.mean(axis=-1)
    if (np.abs(offsets + centres[..., None]) > 1e-3).any():
        raise ArgumentValueError(
            "edges", "must be as `radon` returns them, max(|cos θ|, |sin θ|) apart, got other distances"
        )
    if (np.abs(centres) > 2**30).any():
        raise ArgumentValueError("edges", f"must be near the image, got some {np.abs(grid).max():g} pixels off")
    return centres


def filtered_back_projection(
    masses: ArrayLike, edges: ArrayLike, angles: ArrayLike, /, shape: tuple[int, int], *, n_jobs: int | None = -1
) -> NDArray[Any]:
    """Compute the image with given projections: the inverse of `radon`.

    It is the inverse up to the finite number of strips and directions: ``f = Σ_θ w_θ R*_θ[h ∗ g_θ]``, where h is the
    ramp filter for strips of this width, ``R*_θ`` is the back projection (§2.1 of the paper [1]_) along θ, and w_θ is
    half the angle between the neighbours of θ.

    Parameters
    ----------
    masses : array (…, n_angles, n_bins)
        Values on the strips; they may be negative.
    edges : array (n_angles, n_bins + 1) or (…, n_angles, n_bins + 1)
        Ends of the strips, as `radon` returns them, in pixels from the centre of the image.
    angles : array (n_angles,)
        Angles of the directions, in radians. They should cover a half circle evenly, in any order.
    shape : (int, int)
        Shape (H, W) of the image.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    array (…, H, W)
        Masses of the pixels: float32, or float64 for float64 masses. Some are negative near edges, and where there are
        few directions.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If shapes do not match, values are not finite, or the edges are not those of `radon`.

    See Also
    --------
    radon : The transform.
    back_projection : The adjoint.
    inverse_rcdt : Images without negative masses from R-CDTs.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> image = np.pad(np.ones((20, 30)), 20)
    >>> angles = equispaced_angles(180)
    >>> again = filtered_back_projection(*radon(image, angles=angles), angles, image.shape)
    >>> bool(np.linalg.norm(again - image) < 0.1 * np.linalg.norm(image))
    True
    """
    from scipy.fft import irfft, next_fast_len, rfft

    directions = Directions(angles)
    values = _check_masses(masses, len(directions))
    n_bins = values.shape[-1]
    n = next_fast_len(2 * n_bins, real=True)  # long enough that the ends do not meet
    k = np.minimum(np.arange(n), n - np.arange(n))
    ramp = np.where(k % 2 == 1, -1 / (np.pi * np.maximum(k, 1)) ** 2, np.where(k == 0, 0.25, 0))
    exponent = np.frexp(np.abs(values).max())[1]  # sums of huge masses must not overflow here
    filtered = np.ldexp(irfft(rfft(np.ldexp(values, -exponent), n) * rfft(ramp).real, n)[..., :n_bins], exponent)
    filtered *= (directions.shares * np.pi / directions.widths**2)[:, None]
    real = precision(np.asarray(masses).dtype)
    return back_projection(filtered.astype(real), edges, angles, shape, n_jobs=n_jobs)

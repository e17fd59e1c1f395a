"""From the R-CDT back to images, and from one image to another by transport (§3.1 of the paper)."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _validation, measures
from radoncdt._cdt import enforce_ascending, inverse_cdt, quantile_levels
from radoncdt._radon import filtered_back_projection
from radoncdt._rcdt import rcdt
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.directions import Directions, equispaced_angles
from radoncdt.measures import Batch, PointCloud

__all__ = ["interpolate", "inverse_rcdt"]

_IMAGES_PER_CHUNK = 16  # images that are reconstructed at a time: enough for all threads, and not too much memory


def inverse_rcdt(
    features: ArrayLike,
    /,
    shape: tuple[int, int],
    *,
    angles: ArrayLike | None = None,
    level_grid: str = "midpoint",
    n_jobs: int | None = -1,
) -> Floats:
    """Reconstruct images from their Radon cumulative distribution transforms.

    This is the inverse of `rcdt` (§3.1 of the paper [1]_), up to the finite number of directions and levels.
    `inverse_cdt` turns the quantiles of each direction into masses of strips, and `filtered_back_projection` turns
    these into an image with ripples, some of which are negative. The result is the image without negative masses that
    is nearest to it, in Euclidean distance, and has the same mass. More angles and levels bring it closer to the
    original; thin lines need many.

    Parameters
    ----------
    features : array (…, n_angles, n_levels)
        R-CDTs as `rcdt` returns them, or averages of them. They must not descend along the levels; n_levels is at least
        2.
    shape : (int, int)
        Shape (H, W) of the images, which have the same centre.
    angles : array (n_angles,), optional
        Angles of the features, in radians. By default, they are the equispaced ones, πk/n_angles.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        Levels of the features: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform".
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (…, H, W)
        Non-negative images. Their mass is 1 if the frame holds the whole measure.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the features have the wrong shape, descend or are not finite, or if the angles, the levels or the shape do
        not fit.

    Warns
    -----
    UserWarning
        If, in some direction, more mass is outside the frame than a hundredth and the blur of the strips.

    See Also
    --------
    rcdt : The transform.
    interpolate : Images between two images.
    filtered_back_projection : Images from masses of strips.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> y, x = np.mgrid[-31.5:32, -31.5:32]
    >>> image = np.exp(-(x**2 + 4 * y**2) / 200)
    >>> image /= image.sum()
    >>> again = inverse_rcdt(rcdt(image, n_angles=180), image.shape)
    >>> bool(np.linalg.norm(again - image) < 0.05 * np.linalg.norm(image))
    True
    """
    values = _validation.check_coordinates(features, "features")
    if values.ndim < 2 or values.size == 0 or values.shape[-1] < 2:
        raise ArgumentValueError(
            "features", f"must have shape (…, n_angles, n_levels) with n_levels ≥ 2, got {values.shape}"
        )
    n_angles, n_levels = values.shape[-2:]
    directions = Directions(equispaced_angles(n_angles) if angles is None else angles)
    if len(directions) != n_angles:
        raise ArgumentValueError(
            "angles", f"must have shape ({n_angles},), one per direction of `features`, got {len(directions)}"
        )
    levels = quantile_levels(n_levels, level_grid)
    height, width = _validation.check_image_shape(shape, "shape")
    n_bins = height + width + 2
    edges = (np.arange(n_bins + 1) - n_bins / 2) * directions.widths[:, None]
    images = np.empty((int(np.prod(values.shape[:-2])), height, width))
    rows = enforce_ascending(values, "features").reshape(-1, n_angles, n_levels)
    half = (width * np.abs(directions.cosines) + height * np.abs(directions.sines)) / 2
    beyond = np.abs(rows) > (half + directions.widths / 2)[:, None]  # half a strip is the blur of the strips
    outside = beyond.mean(axis=-1).max(axis=-1)  # share of the levels in the worst direction
    is_cut = outside > 0.01 + 0.5 / min(height, width)  # the blur counts in small frames
    for start in range(0, len(rows), _IMAGES_PER_CHUNK):
        some = slice(start, start + _IMAGES_PER_CHUNK)
        masses = inverse_cdt(rows[some], np.broadcast_to(edges, (len(rows[some]), *edges.shape)), points=levels)
        rough = filtered_back_projection(masses, edges, directions.angles, (height, width), n_jobs=n_jobs)
        for image, ripples, cut in zip(images[some], rough, is_cut[some]):
            image[:] = _nearest_measure(ripples, float(np.clip(ripples.sum(), 0, 1)) if cut else 1.0)
    if is_cut.any():
        warnings.warn(
            f"in some direction {outside.max():.0%} of the mass is outside the shape {shape}",
            stacklevel=_validation.find_stacklevel(),
        )
    return images.reshape(*values.shape[:-2], height, width)


def _nearest_measure(image: Floats, mass: float) -> Floats:
    """Project an image on the images of a given mass without negative pixels: max(image − τ, 0) for some τ."""
    if mass == 0:
        return np.zeros_like(image)
    descending = np.sort(image, axis=None)[::-1]
    surplus = (np.cumsum(descending) - mass) / np.arange(1, image.size + 1)
    return np.maximum(image - surplus[max(int(np.count_nonzero(descending > surplus)) - 1, 0)], 0)


def interpolate(
    a: ArrayLike | PointCloud,
    b: ArrayLike | PointCloud,
    /,
    t: ArrayLike,
    *,
    shape: tuple[int, int] | None = None,
    n_angles: int = 256,
    n_levels: int = 512,
    n_jobs: int | None = -1,
) -> Floats:
    """Move one image into another by transport.

    At time t, the result is the image whose R-CDT is ``(1 − t) R̂[a] + t R̂[b]``, where R̂ is the R-CDT of §3.1 of the
    paper [1]_. Unlike a cross-fade, this moves mass: halfway between two discs is a disc in between. In each direction
    it is the geodesic of optimal transport on the line. The method is known as sliced (Radon) displacement
    interpolation. The mass changes linearly from that of a to that of b.

    Parameters
    ----------
    a : array (H, W) or PointCloud
        The non-negative measure at t = 0.
    b : array (H, W) or PointCloud
        The non-negative measure at t = 1.
    t : float or array
        Times from 0, which yields a, to 1, which yields b, both as reconstructed by `inverse_rcdt`.
    shape : (int, int), optional
        Shape (H, W) of the result. By default, it is as high as the higher and as wide as the wider image. Two
        PointClouds need it.
    n_angles : int, default 256
        Number of directions on the half circle, from 1 to 65,536. Fewer directions make thin lines wider.
    n_levels : int, default 512
        Number of levels of the quantile functions, at least 2. Fewer levels make thin lines wider.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (…, H, W)
        One image per time; the leading axes are those of `t`.

    Raises
    ------
    TypeError
        If a measure or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, if an array looks like a colour image, or
        if an option has an invalid value. It is also raised if a time is not between 0 and 1, or if two PointClouds
        come without a shape. The message names the argument and the value.

    Warns
    -----
    UserWarning
        If, in some direction, more mass is outside the frame than a hundredth and the blur of the strips.
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.

    See Also
    --------
    inverse_rcdt : Reconstructs the images.
    register : The affine map from one image to another.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> left, right = np.zeros((2, 40, 40))
    >>> left[15:25, 5:15], right[15:25, 25:35] = 1, 1
    >>> np.abs(mean(interpolate(left, right, [0, 0.5, 1])) - [(-10, 0), (0, 0), (10, 0)]).max() < 0.5
    np.True_
    """
    if _validation.check_array(t, "t").dtype == bool:
        raise ArgumentTypeError("t", f"must hold numbers, got {t!r}")
    times = _validation.check_finite_array(t, "t")
    if times.size == 0:
        raise ArgumentValueError("t", f"must not be empty, got shape {times.shape}")
    if (times < 0).any() or (times > 1).any():
        raise ArgumentValueError(
            "t", f"must be between 0 and 1, got {times.min() if times.min() < 0 else times.max():g}"
        )
    pair = Batch.read_one(a, "a"), Batch.read_one(b, "b")
    if shape is None:
        shapes = [measure.items[0].shape for measure in pair if not isinstance(measure.items[0], PointCloud)]
        if not shapes:
            raise ArgumentValueError("shape", "must be given for two PointClouds, which have no frame")
        shape = tuple(np.max(shapes, axis=0).tolist())
    start, end = (rcdt(measure, n_angles=n_angles, n_levels=n_levels, n_jobs=n_jobs) for measure in pair)
    masses = [measures.mass(measure) for measure in pair]
    t_ = times[..., None, None]
    images = inverse_rcdt((1 - t_) * start + t_ * end, shape, n_jobs=n_jobs)
    return images * ((1 - t_) * masses[0] + t_ * masses[1])

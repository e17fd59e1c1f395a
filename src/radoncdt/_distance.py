"""Transport distances: Wasserstein on the line, sliced Wasserstein in the plane, both exact (§3.1 of the paper)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _kernels, _threads, _validation
from radoncdt._bright_paper import read_measures, warn_about_paper
from radoncdt._cdt import check_bins, check_masses
from radoncdt._radon import radon
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, Measures, PointCloud, rescale

__all__ = ["sliced_wasserstein", "sliced_wasserstein_distances", "wasserstein"]

_MAX_POWER = 1e6  # largest finite p; the distances of larger ones are those of p = ∞ up to rounding
_WORK_PER_PIECE = 100  # cost of transporting one piece of mass, in pixels


class _Line(NamedTuple):
    """Measures on the line, one per row: masses (rows, n) on points (rows, n), or on bins with edges (rows, n + 1)."""

    masses: Floats
    places: Floats


def wasserstein(a: ArrayLike | tuple[Any, Any], b: ArrayLike | tuple[Any, Any], /, p: float = 2) -> float:
    """Compute the Wasserstein-p distance of two measures on the line.

    With the quantile functions of the two measures (§3.1 of the paper [1]_), it is ::

        W_p(a, b) = (∫₀¹ |F_a^[-1](t) − F_b^[-1](t)|^p dt)^(1/p)

    The distance is exact: both quantile functions are linear between finitely many levels, where the integral has a
    closed form. Measures are divided by their mass; shares of it below 1e-14 are treated as rounding errors.

    Parameters
    ----------
    a : array (n,), (samples, weights), or (masses, edges)
        A measure: points (n,) with equal weights; a tuple of points (n,) and their weights (n,); or a tuple of masses
        (n,), spread evenly over bins, and the ascending edges (n + 1,) of the bins.
    b : array (m,), (samples, weights), or (masses, edges)
        The other measure, in any of these forms.
    p : float, default 2
        Power of the cost, from 1 to 10⁶. With ``np.inf``, the distance is the largest one over which any mass is moved.

    Returns
    -------
    float
        The distance, in the unit of the points.

    Raises
    ------
    TypeError
        If `p` is not a number, or a measure does not hold numbers.
    ValueError
        If shapes do not match, masses are negative or all 0, edges descend, values are not finite, or `p` is out of
        range.

    See Also
    --------
    sliced_wasserstein : The distance of two measures on the plane.
    cdt : Quantile functions with respect to a reference.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> wasserstein([0, 1, 5], [1, 2, 6])
    1.0

    Two points against the uniform measure on [0, 2]:

    >>> wasserstein(([0, 1], [3, 1]), ([1], [0, 2]), p=1)
    0.75
    """
    power = _check_power(p)
    return float(_kernels.current().transport(*_read_line(a, "a"), *_read_line(b, "b"), power)[0])


def sliced_wasserstein(
    mu: ArrayLike | PointCloud,
    nu: ArrayLike | PointCloud,
    /,
    p: float = 2,
    *,
    n_angles: int = 128,
    angles: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> float:
    """Compute the sliced Wasserstein-p distance of two measures on the plane.

    It is ``SW_p = (mean over θ of W_p(R_θ[μ], R_θ[ν])^p)^(1/p)``, where R_θ is the projection on the direction θ. For p
    = 2, it is the norm distance of the R-CDTs up to their discretisation (§3.1 of the paper [1]_).

    The distance of each projection is exact: for points, and for images with the masses of the strips of `radon` spread
    evenly. The directions are fixed and equispaced, not random. With p = ∞, the distance is the maximum over the
    directions.

    Parameters
    ----------
    mu : array (H, W) or PointCloud
        A non-negative measure, in pixels around the centre of the image. It is divided by its mass.
    nu : array (H, W) or PointCloud
        The other measure, around the same centre. An image can be compared with a PointCloud.
    p : float, default 2
        Power of the cost, from 1 to 10⁶, or ``np.inf``.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float
        The distance, in pixels.

    Raises
    ------
    TypeError
        If a measure or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, if an array looks like a colour image, or
        if an option has an invalid value. The message names the argument and the value.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.

    See Also
    --------
    sliced_wasserstein_distances : The distances of all pairs of measures.
    wasserstein : The distance of two measures on the line.
    affine_distances : A distance that does not depend on affine maps.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    A shift by (3, 4) moves the projection on θ by ⟨(3, 4), θ⟩, whose square is 25/2 on average:

    >>> cloud = PointCloud([(0, 0), (2, 1), (1, 5)])
    >>> round(sliced_wasserstein(cloud, push_forward(cloud, np.eye(2), [3, 4])) ** 2, 12)
    12.5
    """
    pair = Batch.read_one(mu, "mu"), Batch.read_one(nu, "nu")
    for one in pair:
        warn_about_paper(one)
    return float(_distances(*pair, p, Directions.choose(n_angles, angles), n_jobs)[0, 0])


def sliced_wasserstein_distances(
    A: Measures,  # noqa: N803
    B: Measures | None = None,  # noqa: N803
    /,
    p: float = 2,
    *,
    n_angles: int = 128,
    angles: ArrayLike | None = None,
    n_jobs: int | None = -1,
) -> Floats:
    """Compute the sliced Wasserstein-p distances of all pairs of measures.

    The distance is ``SW_p = (mean over θ of W_p(R_θ[μ], R_θ[ν])^p)^(1/p)``, where R_θ is the projection on the
    direction θ (§3.1 of the paper [1]_). It is computed exactly along fixed, equispaced directions.

    The projections of all measures are kept in memory: 16 · n_angles · (H + W) bytes per image. For large sets, compute
    the Euclidean distances of R-CDTs, divided by √(n_angles · n_levels), instead. They equal SW_2 up to the
    discretisation of the levels, and cost only a matrix product.

    Parameters
    ----------
    A : array (n, H, W), or list of images (H, W) and PointClouds
        Non-negative measures, in pixels around a common centre. They are divided by their mass.
    B : array (m, H, W), or list of images (H, W) and PointClouds, optional
        Measures to compare with those of A. By default, the measures of A are compared with each other.
    p : float, default 2
        Power of the cost, from 1 to 10⁶, or ``np.inf``.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (n, m)
        The distances, in pixels. If B is not given, the array is symmetric with zeros on the diagonal.

    Raises
    ------
    TypeError
        If `A`, `B` or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, if an array looks like a colour image, or
        if an option has an invalid value. The message names the argument and the value.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.

    See Also
    --------
    sliced_wasserstein : The distance of one pair.
    rcdt : Features whose Euclidean distances are nearly the same.
    affine_distances : Distances that do not depend on affine maps.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    The projections of a square with sides of 60 pixels have the variance 60²/12 = 300:

    >>> square, point = np.ones((60, 60)), PointCloud([(0, 0)])
    >>> sliced_wasserstein_distances([square, point]).round(2) ** 2
    array([[  0.    , 299.9824],
           [299.9824,   0.    ]])
    """
    first, second = read_measures(A, "A"), None if B is None else read_measures(B, "B")
    for batch in (first, second):
        if batch and len(batch.lead) != 1:
            given = f"measures of shape {batch.lead}" if batch.lead else "one measure"
            raise ArgumentValueError(batch.name, f"must be an array (n, H, W) or a list of measures, got {given}")
    return _distances(first, second, p, Directions.choose(n_angles, angles), n_jobs)


def _distances(first: Batch, second: Batch | None, p: float, directions: Directions, n_jobs: int | None) -> Floats:
    power, kernels = _check_power(p), _kernels.current()
    rows = [_project(first, i, directions, n_jobs) for i in range(len(first))]
    columns = rows if second is None else [_project(second, j, directions, n_jobs) for j in range(len(second))]
    result = np.zeros((len(rows), len(columns)))

    def fill(i: int) -> None:
        for j in range(i + 1 if second is None else 0, len(columns)):
            distances = kernels.transport(*rows[i], *columns[j], power)
            largest = distances.max()
            if power < np.inf and largest > 0:
                largest *= np.mean((distances / largest) ** power) ** (1 / power)
            result[i, j] = largest

    pieces = max(line.masses.shape[1] for line in (*rows, *columns))
    work = _WORK_PER_PIECE * len(rows) * len(columns) * len(directions) * pieces
    _threads.for_each(fill, range(len(rows)), _threads.count_workers(n_jobs, work))
    return result + result.T if second is None else result


def _project(batch: Batch, i: int, directions: Directions, n_jobs: int | None) -> _Line:
    """Project non-negative measure i of a batch; the result has one row per direction."""
    batch.check_measure(i)
    item = batch.items[i]
    if isinstance(item, PointCloud):
        places = directions.cosines[:, None] * item.points[:, 0] + directions.sines[:, None] * item.points[:, 1]
        order = np.argsort(places, axis=-1, kind="stable")
        return _Line(rescale(item.weights)[order], np.take_along_axis(places, order, axis=-1))
    image = rescale(item.astype(np.float64).reshape(-1)).reshape(item.shape)
    masses, edges = radon(image, angles=directions.angles, n_jobs=n_jobs)
    return _Line(np.asarray(masses, np.float64), edges)


def _read_line(measure: Any, name: str) -> _Line:
    """Read one measure on the line, and sort its points."""
    if isinstance(measure, tuple):
        if len(measure) != 2:
            raise ArgumentValueError(name, f"must be (samples, weights) or (masses, edges), got {len(measure)} arrays")
        first, second = (_validation.check_finite_array(measure[k], f"{name}[{k}]") for k in (0, 1))
        if first.ndim == second.ndim == 1 and second.size == first.size + 1:
            masses, edges = check_bins(first, second, f"{name}[0]", f"{name}[1]")
            return _Line(rescale(masses)[None], np.array(edges[None]))
        samples, weights = _validation.check_coordinates(first, f"{name}[0]"), second
    else:
        samples = _validation.check_coordinates(measure, name)
        weights = np.ones(samples.shape)
    if samples.ndim != 1 or samples.size == 0:
        raise ArgumentValueError(
            name,
            f"must hold points of shape (n,) with n ≥ 1, or be a tuple (samples, weights) or (masses, edges), "
            f"got shape {samples.shape}",
        )
    if weights.shape != samples.shape:
        n = samples.size
        raise ArgumentValueError(
            f"{name}[1]", f"must hold {n} weights for {n} points, or {n + 1} edges for {n} masses, got {weights.shape}"
        )
    check_masses(weights, f"{name}[1]")
    order = np.argsort(samples, kind="stable")
    return _Line(rescale(weights)[order][None], samples[order][None])


def _check_power(p: object) -> float:
    if isinstance(p, (bool, np.bool_)) or not isinstance(p, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError("p", f"must be a number, got {p!r}")
    if not (1 <= p <= _MAX_POWER or p == np.inf):
        raise ArgumentValueError("p", f"must be at least 1 and at most {_MAX_POWER:g}, or infinite, got {p}")
    return float(p)

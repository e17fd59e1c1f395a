"""The Radon cumulative distribution transform, plain and normalised (§3.1 and §3.2 of the paper).

R-CDT    R̂_θ[μ](t)  quantile function of the projection R_θ[μ], with respect to the uniform measure on [0, 1]
NR-CDT   N_θ[μ](t)  the same with mean 0 and standard deviation 1 in each direction

Every transform, also those of ``_pooling``, is a `Plan`: directions, levels, a normalisation, and a reduction of the
values. `execute` carries it out for a batch of measures, in chunks and in threads.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _kernels, _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._cdt import quantile_levels, sample_quantiles
from radoncdt._dask import takes_dask_arrays
from radoncdt._geometry import half_circle
from radoncdt._interface import UNSETTLED
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, Measures, PointCloud, centre_cloud

__all__ = [
    "DIRECTIONS",
    "Normalisation",
    "Plan",
    "Scan",
    "choose_levels",
    "execute",
    "nrcdt",
    "rcdt",
    "whitened_nrcdt",
]

DIRECTIONS = ("auto", "equispaced", "whitened")  # values of the argument `directions`

_MOMENTS = ("exact", "levels", "robust")  # values of the argument `moments`
_MAX_VALUES = 2**28  # values in the transform of one measure, 2 GiB; more are assumed to be a mistake
_MIN_WIDTH = 1e-6  # smallest ratio of width to length of a cloud that can be whitened; below it, Σ is too uncertain
_CHUNK_BYTES = 2**21  # memory for the images and the values of a chunk, about the size of a cache
_PLACES_AT_ONCE = 2**17  # projected points of a cloud that are sorted at a time


# ---------------------------------------------------------------- plans


class Normalisation(NamedTuple):
    """Mean and standard deviation of the NR-CDT, and whether its directions are whitened."""

    moments: str = "exact"
    whitened: bool = False
    nu: float = 0.0
    """Degrees of freedom of robust moments; 0 for other moments."""

    @classmethod
    def choose(cls, moments: str, directions: str, nu: float) -> "Normalisation":
        """Check the options of `nrcdt`; "auto" means equispaced directions."""
        whitened = _validation.check_choice(directions, "directions", DIRECTIONS) == "whitened"
        if _validation.check_choice(moments, "moments", _MOMENTS) == "levels" and whitened:
            raise ArgumentValueError("moments", "must be 'exact' or 'robust' with whitened directions, got 'levels'")
        freedom = _validation.check_number(nu, "nu", "a positive number", lambda x: x > 0)
        return cls(moments, whitened, freedom if moments == "robust" else 0.0)


def choose_levels(n_levels: int, level_grid: str, trim: float) -> Floats:
    """Return the levels t with trim ≤ t ≤ 1 − trim."""
    levels = quantile_levels(n_levels, level_grid)
    share = _validation.check_number(trim, "trim", "a number from 0 to below 0.5", lambda x: 0 <= x < 0.5)
    if share == 0:
        return levels
    kept = levels[(levels >= share - 1e-12) & (levels <= 1 - share + 1e-12)]
    if kept.size < 2:
        raise ArgumentValueError(
            "trim", f"must leave two levels at least, and {trim!r} leaves {kept.size} of {n_levels}"
        )
    return kept


def _keep(values: Floats) -> Floats:
    return values


@dataclass(frozen=True)
class Scan:
    """Directions in which quantile functions are computed, and the reduction of their values."""

    directions: Directions
    reduce: Callable[[Floats], Floats] = _keep
    """Function from the values (n, n_angles, n_levels) of n measures to results (n, *shape)."""


@dataclass(frozen=True)
class Plan:
    """A transform: what `execute` computes for every measure of a batch."""

    levels: Floats
    images: Scan
    clouds: Scan
    shape: tuple[int, ...]
    """Shape of the result for one measure."""
    normalisation: Normalisation | None = None
    """The normalisation of the NR-CDT; None for the R-CDT."""
    only_extremes: bool = False
    """Whether `images.reduce` needs only the largest and the smallest values over the directions and their opposites.

    It then gets values (n, 2, n_levels), or several such pairs where threads share the directions.
    """

    def __post_init__(self) -> None:
        n_angles, n_levels = len(self.images.directions), self.levels.size
        if n_angles * n_levels > _MAX_VALUES:
            raise ArgumentValueError(
                "n_angles", f"times `n_levels` must be at most {_MAX_VALUES:,}, got {n_angles:,} × {n_levels:,}"
            )


# ---------------------------------------------------------------- in chunks and threads


def execute(plan: Plan, batch: Batch, n_jobs: int | None) -> tuple[Floats, Floats]:
    """Carry out a plan for every measure of a batch.

    Threads share the measures or, if there are few, the directions of each measure.

    Returns
    -------
    results : float64 array (n, *plan.shape)
    moments : float64 array (n, 5)
        The moments x, y, xx, xy, yy of the normalisation; undefined without one.
    """
    results, moments = np.empty((len(batch), *plan.shape)), np.empty((len(batch), 5))
    workers = _threads.count_workers(n_jobs, batch.work() * len(plan.images.directions))

    def scan_of(chunk: slice) -> Scan:
        return plan.clouds if isinstance(batch.items[chunk.start], PointCloud) else plan.images

    def transform(chunk: slice) -> None:
        scan = scan_of(chunk)
        values, moments[chunk] = _quantiles(batch, chunk, scan.directions, plan)
        results[chunk] = scan.reduce(values)

    if workers > 1 and len(batch) < 2 * workers:
        for chunk in batch.chunks(1):
            scan = scan_of(chunk)
            values, moments[chunk] = _quantiles_in_threads(batch, chunk, scan.directions, plan, workers)
            results[chunk] = scan.reduce(values)
    else:
        _threads.for_each(transform, batch.chunks(_chunk_size(plan, batch, workers)), workers)
    return results, moments


def _chunk_size(plan: Plan, batch: Batch, workers: int) -> int:
    """Number of images in a chunk: they fit into `_CHUNK_BYTES`, and every worker gets eight chunks or more."""
    bytes_each = 8 * len(plan.images.directions) * plan.levels.size + 4 * batch.work() // len(batch)
    return min(max(1, _CHUNK_BYTES // bytes_each), -(-len(batch) // (8 * workers)))


def _quantiles_in_threads(
    batch: Batch, chunk: slice, directions: Directions, plan: Plan, workers: int
) -> tuple[Floats, Floats]:
    """Compute `_quantiles` of one measure in threads that share the directions."""
    n_parts = min(workers, len(directions))
    parts: dict[int, tuple[Floats, Floats]] = {}

    def compute(first: int) -> None:
        some = directions.take_every(n_parts, first)  # a stride, so that each thread has rows and columns to project
        parts[first] = _quantiles(batch, chunk, some, plan)

    _threads.for_each(compute, range(n_parts), workers)
    values = np.empty((1, sum(part.shape[1] for part, _ in parts.values()), plan.levels.size))
    for first, (part, _) in parts.items():
        values[:, first::n_parts] = part
    return values, parts[0][1]


# ---------------------------------------------------------------- quantiles of a chunk


def _quantiles(batch: Batch, chunk: slice, directions: Directions, plan: Plan) -> tuple[Floats, Floats]:
    """Values (n, n_angles, n_levels) of the R-CDT or NR-CDT of a chunk, and the moments (n, 5) of `execute`."""
    compute = _quantiles_of_cloud if isinstance(batch.items[chunk.start], PointCloud) else _quantiles_of_images
    values, moments, settled = compute(batch, chunk, directions, plan)
    if not settled:
        warnings.warn(
            f"robust moments of `{batch.label(chunk.start)}`, or of one of the {chunk.stop - chunk.start} measures "
            "from there on, did not converge: most of the mass is on one line or at one point, or `nu` is small",
            stacklevel=_validation.find_stacklevel(),
        )
    if plan.normalisation is not None and plan.normalisation.moments == "levels":
        _normalise_by_levels(values, batch, chunk)
    return values, moments


def _quantiles_of_images(batch: Batch, chunk: slice, directions: Directions, plan: Plan) -> tuple[Floats, Floats, bool]:
    """Values and moments of images, and whether robust moments converged."""
    normalisation = plan.normalisation
    values, moments, status = _kernels.current().image_quantiles(
        batch.items[chunk],
        directions.cosines,
        directions.sines,
        plan.levels,
        normalise=normalisation is not None,
        whiten=normalisation is not None and normalisation.whitened,
        nu=normalisation.nu if normalisation else 0.0,
        extremes=plan.only_extremes,
    )
    if status.any():
        batch.check_masses(chunk, status)
    return values, moments, not (status & UNSETTLED).any()


def _quantiles_of_cloud(batch: Batch, chunk: slice, directions: Directions, plan: Plan) -> tuple[Floats, Floats, bool]:
    """Values and moments of one cloud, and whether robust moments converged."""
    cloud, normalisation = batch.items[chunk.start], plan.normalisation
    batch.check_measure(chunk.start)
    shares, mean, points = centre_cloud(cloud)
    moments, settled = np.full((1, 5), np.nan), True
    if normalisation is None:
        values = _project_and_sort(points, shares, directions, plan.levels) + directions.project(mean)[:, None]
        return values[None], moments, settled

    _check_spread(batch, chunk.start, normalisation.whitened)
    # a power of two, which normalisation removes again, keeps squares of tiny distances above 0
    exponent = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, -exponent)
    covariance, middle = np.einsum("n,ni,nj->ij", shares, points, points), np.zeros(2)
    if normalisation.nu:
        start = np.array([0.0, 0.0, covariance[0, 0], covariance[0, 1], covariance[1, 1]])
        ink = np.concatenate([points.T, shares[None]])
        fitted, settled = _kernels.current().student_moments(ink, normalisation.nu, 0.0, start)
        middle, covariance = fitted[:2], fitted[[2, 3, 3, 4]].reshape(2, 2)
        points = points - middle
    moments[0, :2] = mean + np.ldexp(middle, exponent)
    moments[0, 2:] = np.ldexp(covariance[[0, 0, 1], [0, 1, 1]], 2 * exponent)
    if normalisation.whitened:
        directions = directions.whiten(covariance)
    values = _project_and_sort(points, shares, directions, plan.levels)
    c, s, ((xx, xy), (_, yy)) = directions.cosines[:, None], directions.sines[:, None], covariance
    values /= np.sqrt(c**2 * xx + 2 * c * s * xy + s**2 * yy)
    return values[None], moments, settled


def _project_and_sort(points: Floats, shares: Floats, directions: Directions, levels: Floats) -> Floats:
    """Quantiles (n_angles, n_levels) of the projections of weighted points (n, 2)."""
    values = np.empty((len(directions), levels.size))
    at_once = max(1, _PLACES_AT_ONCE // len(points))
    for some in (slice(d, d + at_once) for d in range(0, len(directions), at_once)):
        c, s = directions.cosines[some, None], directions.sines[some, None]
        values[some] = sample_quantiles(c * points[:, 0] + s * points[:, 1], shares, levels)
    return values


def _normalise_by_levels(values: Floats, batch: Batch, chunk: slice) -> None:
    """Set the mean over the levels to 0 and the sample standard deviation to 1, in place."""
    values -= values.mean(axis=-1, keepdims=True)
    std = values.std(axis=-1, ddof=1, keepdims=True)
    for i in np.flatnonzero(~std.all(axis=(1, 2))):
        raise ArgumentValueError(
            "moments",
            f"must be 'exact' for `{batch.label(chunk.start + int(i))}`: in some direction all levels fall "
            "on one point, so that 'levels' finds the standard deviation 0",
        )
    values /= std


def _check_spread(batch: Batch, i: int, whitened: bool) -> None:
    """Refuse points on one line, where a projection is a single point with the standard deviation 0."""
    cloud = batch.items[i]
    shares, _, points = centre_cloud(cloud)
    sizes = np.linalg.svd(np.sqrt(shares)[:, None] * points, compute_uv=False)
    width = sizes[-1] if len(points) > 1 else 0.0
    if width <= 64 * np.finfo(float).eps * np.abs(cloud.points).max():
        raise ArgumentValueError(
            batch.label(i),
            "must not lie on one line: its projection along the line is a single point, "
            "which cannot be scaled to standard deviation 1, so the NR-CDT is undefined",
        )
    if whitened and width < _MIN_WIDTH * sizes[0]:
        raise ArgumentValueError(
            batch.label(i),
            f"must not be so close to one line: for whitened directions it must be at least "
            f"{_MIN_WIDTH:g} times as wide as it is long, got {width / sizes[0]:.2g}; equispaced directions have no "
            "such limit",
        )


# ---------------------------------------------------------------- the transforms


@takes_dask_arrays
def rcdt(
    images: Measures,
    /,
    *,
    n_angles: int = 128,
    angles: ArrayLike | None = None,
    n_levels: int = 64,
    level_grid: str = "midpoint",
    n_jobs: int | None = -1,
) -> Floats:
    """Radon cumulative distribution transform R̂_θ[μ] = F_{R_θ[μ]}^[-1] of non-negative measures (§3.1 of the paper).

    This is the quantile function of every projection, in pixels from the centre of the image. The measure is divided by
    its mass. The Euclidean distance of two R-CDTs, divided by √(n_angles · n_levels), is their sliced Wasserstein-2
    distance up to discretisation.

    Images are projected exactly (see `radon`), and the cumulative function is linear between the ends of a strip. Point
    clouds have no strips: their projections are sorted, and the quantiles are exact.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Bool, integer or float; no mass may be negative. For a Dask array, the result is a Dask array, too, and is
        computed lazily. A stack of images 3 or 4 pixels wide must be a list of two-dimensional arrays.
    n_angles : int
        Number of directions πk/n on the half circle. The other half is −R̂_θ(1 − t), except at levels that meet a jump.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones.
    n_levels : int
        Number of levels t in (0, 1) of the quantile functions.
    level_grid : {"midpoint", "uniform"}
        t = (k + ½)/n or t = (k + 1)/(n + 1), k = 0, …, n − 1. The paper's authors use the latter.
    n_jobs : int or None
        Number of threads, as in scikit-learn; −1 means all cores. The result does not depend on it, bit for bit.

    Returns
    -------
    float64 array (…, n_angles, n_levels)

    Raises
    ------
    TypeError, ValueError
        For input that is not a measure, or has negative mass, no mass or NaN; the message names the measure and the
        value. For an array that looks like a colour image, such as (H, W, 3).

    Warns
    -----
    UserWarning
        When most of the mass of an image is bright paper around dark ink: see `radoncdt.ink.find_ink`.

    Examples
    --------
    >>> rcdt(np.ones((4, 8)), angles=[0], n_levels=4)
    array([[-3., -1.,  1.,  3.]])
    """
    scan, levels = Scan(Directions.choose(n_angles, angles)), quantile_levels(n_levels, level_grid)
    plan, batch = Plan(levels, scan, scan, (len(scan.directions), levels.size)), read_measures(images)
    return execute(plan, batch, n_jobs)[0].reshape(*batch.lead, *plan.shape)


@takes_dask_arrays
def nrcdt(
    images: Measures,
    /,
    *,
    n_angles: int = 128,
    angles: ArrayLike | None = None,
    n_levels: int = 64,
    level_grid: str = "midpoint",
    directions: str = "auto",
    moments: str = "exact",
    nu: float = 3.0,
    trim: float = 0.0,
    n_jobs: int | None = -1,
) -> Floats:
    """Normalised R-CDT N_θ[μ] = (R̂_θ[μ] − mean) / std in each direction (§3.2 of the paper).

    An affine map x ↦ Ax + y of the measure turns N_θ into N_η with η = Aᵀθ/‖Aᵀθ‖ and changes nothing else (Prop. 5).

    Parameters
    ----------
    images, n_angles, angles, n_levels, level_grid, n_jobs
        As in `rcdt`. Points on one line have no NR-CDT.
    directions : {"auto", "equispaced", "whitened"}
        Whether the angles are those of directions θ, or of directions η of the whitened measure, which are
        θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖ in the plane of the image. If two measures differ by an affine map, the whitened
        measures differ by a rotation or a reflection, and so do their NR-CDTs, along the angles. "auto" means
        equispaced directions for `nrcdt`; the table in ``docs/method.md`` and `pooled_nrcdt` say what it means for each
        pool.
    moments : {"exact", "levels", "robust"}
        "exact": mean and standard deviation of the measure itself, ⟨m, θ⟩ and √(θᵀΣθ). "levels": mean and sample
        standard deviation of the values at the levels, as the paper's authors compute them; not with whitened
        directions. "robust": m and Σ are location and scatter of a Student t distribution fitted to the measure. Specks
        far from the shape hardly change them, and they are affine equivariant, so that the invariance is kept.
    nu : float
        Degrees of freedom of that distribution; the fewer there are, the less distant mass counts.
    trim : float
        Omit the levels t < trim and t > 1 − trim, to which specks far from the shape belong. The result then has fewer
        levels.

    Returns
    -------
    float64 array (…, n_angles, n_levels)
        Independent, bit for bit, of zeros around the image, of the rest of the batch and of the number of threads.

    Raises
    ------
    TypeError, ValueError
        As in `rcdt`, and for points that lie on one line.

    Examples
    --------
    The uniform measure on an interval, normalised, is uniform on [−√3, √3]:

    >>> nrcdt(np.ones((4, 8)), angles=[0], n_levels=4) / np.sqrt(3)
    array([[-0.75, -0.25,  0.25,  0.75]])
    """
    normalisation = Normalisation.choose(moments, directions, nu)
    scan, levels = Scan(Directions.choose(n_angles, angles)), choose_levels(n_levels, level_grid, trim)
    plan = Plan(levels, scan, scan, (len(scan.directions), levels.size), normalisation)
    batch = read_measures(images)
    return execute(plan, batch, n_jobs)[0].reshape(*batch.lead, *plan.shape)


def whitened_nrcdt(
    batch: Batch, n_angles: int, levels: Floats, normalisation: Normalisation, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """NR-CDTs along whitened directions of the half circle, (n, n_angles, n_levels), and their moments (n, 5).

    They satisfy N_{−η}(t) = −N_η(1 − t) exactly: where a level meets a jump of a cloud, the value is the middle of the
    jump.
    """
    half = Directions.choose(n_angles, None)
    images, clouds = Scan(half), Scan(half.with_opposites, half_circle)
    return execute(Plan(levels, images, clouds, (n_angles, levels.size), normalisation), batch, n_jobs)

"""The engine of the transforms: plans, and their execution in chunks and threads.

Every transform of ``_rcdt`` and ``_pooling`` is a `Plan`: directions, levels, a normalisation, and a reduction of the
values. `execute` carries it out for a batch of measures. Threads share the measures or the directions, and `_quantiles`
computes the R-CDT or NR-CDT of a chunk: by the kernels for images, by sorting for point clouds.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from radoncdt import _kernels, _threads, _validation
from radoncdt._cdt import sample_quantiles
from radoncdt._interface import UNSETTLED
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, PointCloud, centre_cloud

__all__ = ["DIRECTIONS", "Normalisation", "Plan", "Scan", "execute"]

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
            f"must not be too close to one line: for whitened directions it must be at least "
            f"{_MIN_WIDTH:g} times as wide as it is long, got {width / sizes[0]:.2g}; equispaced directions have no "
            "such limit",
        )

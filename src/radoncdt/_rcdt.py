"""The Radon cumulative distribution transform, normalised and pooled over the circle (§3 of the paper).

R-CDT    R̂_θ[μ](t)  the quantile function of the projection R_θ[μ], with respect to the uniform measure on [0, 1]
NR-CDT   N_θ[μ](t)  the same with mean 0 and standard deviation 1 in each direction
mNR-CDT  sup_θ N_θ[μ](t), and other functionals of θ ↦ N_θ[μ](t) that do not see how the circle is parametrised
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _kernels, _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._cdt import quantile_levels, sample_quantiles
from radoncdt._dask import takes_dask_arrays
from radoncdt._interface import UNSETTLED
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, Measures, PointCloud, centred

MOST_VALUES = 2**28
"""More values than this in the transform of one measure are taken for a mistake: 2 GiB."""

MOMENTS = ("exact", "levels", "robust")
DIRECTIONS = ("auto", "equispaced", "whitened")


class Normalisation(NamedTuple):
    """How the NR-CDT takes mean and standard deviation, and which directions it looks along."""

    moments: str = "exact"
    whitened: bool = False
    nu: float = 0.0
    """Degrees of freedom of robust moments; 0 for none."""

    @classmethod
    def choose(cls, moments: str, directions: str, nu: float) -> "Normalisation":
        """Check the options; "auto" must have been resolved by `choose_directions`."""
        whitened = directions == "whitened"
        if _validation.choice(moments, "moments", MOMENTS) == "levels" and whitened:
            raise ArgumentValueError("moments", "must be 'exact' or 'robust' with whitened directions, got 'levels'")
        freedom = _validation.number(nu, "nu", "a positive number", lambda x: x > 0)
        return cls(moments, whitened, freedom if moments == "robust" else 0.0)


def _quantiles(
    batch: Batch,
    chunk: slice,
    directions: Directions,
    levels: Floats,
    normalisation: Normalisation | None,
    extremes: bool = False,
) -> tuple[Floats, Floats]:
    """R-CDT of a chunk of a batch, or NR-CDT where a normalisation is given: (n, n_angles, n_levels).

    With `extremes`, images may give but the largest and the smallest values over the directions and their opposites:
    (n, 2, n_levels). The second array (n, 5) has the moments x, y, xx, xy, yy that it was normalised by.
    """
    items = batch.items[chunk]
    if isinstance(items[0], PointCloud):
        moments = np.empty((len(items), 5))
        batch.check_measure(chunk.start)
        if normalisation:
            _check_spread(batch, chunk.start, normalisation.whitened)
        values, settled = _cloud_quantiles(items[0], directions, levels, normalisation, moments[0])
        values = values[None]
    else:
        by_levels = normalisation is not None and normalisation.moments == "levels"
        values, moments, status = _kernels.current().image_quantiles(
            items,
            directions.cosines,
            directions.sines,
            levels,
            normalise=normalisation is not None,
            whiten=normalisation is not None and normalisation.whitened,
            nu=normalisation.nu if normalisation else 0.0,
            extremes=extremes and not by_levels,
        )
        settled = True
        if status.any():
            batch.check_masses(chunk, status)
            settled = not (status & UNSETTLED).any()
    if not settled:
        warnings.warn(
            f"robust moments of `{batch.label(chunk.start)}`, or of one of the {len(items)} measures from there on, "
            "did not converge: most of the mass is on one line or at one point, or `nu` is small",
            stacklevel=2,
        )
    if normalisation is not None and normalisation.moments == "levels":
        _normalise_by_levels(values, batch, chunk)
    return values, moments


def _cloud_quantiles(
    cloud: PointCloud, directions: Directions, levels: Floats, normalisation: Normalisation | None, moments: Floats
) -> tuple[Floats, bool]:
    """Quantiles of one cloud, and whether its robust moments converged; `moments` gets those it was normalised by."""
    shares, mean, points = centred(cloud)
    settled = True
    if normalisation is not None:  # a power of two that the scale does not see keeps squares of tiny distances above 0
        exponent = int(np.frexp(np.abs(points).max())[1])
        points = np.ldexp(points, -exponent)
        covariance = np.einsum("n,ni,nj->ij", shares, points, points)
        middle = np.zeros(2)
        if normalisation.nu:
            start = np.array([0.0, 0.0, covariance[0, 0], covariance[0, 1], covariance[1, 1]])
            ink = np.concatenate([points.T, shares[None]])
            fitted, settled = _kernels.current().student_moments(ink, normalisation.nu, 0.0, start)
            middle, covariance = fitted[:2], fitted[[2, 3, 3, 4]].reshape(2, 2)
            points = points - middle
        moments[:2] = mean + np.ldexp(middle, exponent)
        moments[2:] = np.ldexp(covariance[[0, 0, 1], [0, 1, 1]], 2 * exponent)
        if normalisation.whitened:
            directions = directions.whitened_by(covariance)
    values = np.empty((len(directions), levels.size))
    at_once = max(1, 2**17 // len(cloud))
    for some in (slice(d, d + at_once) for d in range(0, len(directions), at_once)):
        c, s = directions.cosines[some, None], directions.sines[some, None]
        places = c * points[:, 0] + s * points[:, 1]
        values[some] = sample_quantiles(places, shares, levels)
        if normalisation is not None:
            (xx, xy), (_, yy) = covariance
            values[some] /= np.sqrt(c**2 * xx + 2 * c * s * xy + s**2 * yy)
    return (values if normalisation is not None else values + directions.of(mean)[:, None]), settled


def _normalise_by_levels(values: Floats, batch: Batch, chunk: slice) -> None:
    """Mean 0 and sample standard deviation 1 over the levels, in place."""
    values -= values.mean(axis=-1, keepdims=True)
    std = values.std(axis=-1, ddof=1, keepdims=True)
    for i in np.flatnonzero(~std.all(axis=(1, 2))):
        raise ArgumentValueError(
            "moments",
            f"must be 'exact' for `{batch.label(chunk.start + int(i))}`: in some direction all levels fall "
            "on one point, so that 'levels' finds the standard deviation 0",
        )
    values /= std


THINNEST = 1e-6
"""The width of a cloud of points, relative to its length, below which its Σ is too uncertain to whiten it."""


def _check_spread(batch: Batch, i: int, whitened: bool) -> None:
    """Refuse points on one line: there the projection is a single point, and its standard deviation 0."""
    cloud = batch.items[i]
    shares, _, points = centred(cloud)
    sizes = np.linalg.svd(np.sqrt(shares)[:, None] * points, compute_uv=False)
    thinnest = sizes[-1] if len(points) > 1 else 0.0
    if thinnest <= 64 * np.finfo(float).eps * np.abs(cloud.points).max():
        raise ArgumentValueError(
            batch.label(i),
            "must not lie on one line: its projection along the line is a single point, "
            "which cannot be scaled to standard deviation 1, so the NR-CDT is undefined",
        )
    if whitened and thinnest < THINNEST * sizes[0]:
        raise ArgumentValueError(
            batch.label(i),
            f"must not be so close to one line: for whitened directions it must be at least "
            f"{THINNEST:g} times as wide as it is long, got {thinnest / sizes[0]:.2g}; equispaced directions have no "
            "such limit",
        )


def _map(
    batch: Batch,
    directions: Directions,
    levels: Floats,
    normalisation: Normalisation | None,
    n_jobs: int | None,
    shape: tuple[int, ...],
    finish: Callable[[Floats, Directions], Floats] = lambda values, _: values,
    cloud_directions: Directions | None = None,
    extremes: bool = False,
    moments: Floats | None = None,
) -> Floats:
    """`finish` of the quantiles of every measure, in threads: of images, or of directions where the images are few.

    `finish` is given the directions too. `extremes` says that extreme quantiles are enough for it, see `_quantiles`.
    `moments` (n, 5), if given, gets what the measures were normalised by.
    """
    if len(directions) * levels.size > MOST_VALUES:
        given = f"{len(directions):,} × {levels.size:,}"
        raise ArgumentValueError("n_angles", f"times `n_levels` must be at most {MOST_VALUES:,}, got {given}")
    result = np.empty((len(batch), *shape))
    workers = _threads.n_workers(n_jobs, batch.work() * len(directions))

    def directions_for(chunk: slice) -> Directions:
        return cloud_directions or directions if isinstance(batch.items[chunk.start], PointCloud) else directions

    if workers > 1 and len(batch) < 2 * workers:
        for chunk in batch.chunks(1):
            every = directions_for(chunk)
            parts: dict[int, Floats] = {}

            n_parts = min(workers, len(every))

            def share(
                first: int, chunk: slice = chunk, every: Directions = every, n_parts: int = n_parts, parts: Any = parts
            ) -> None:
                some = every.every(n_parts, first)  # a stride, so that all threads have rows and columns to do
                parts[first], used = _quantiles(batch, chunk, some, levels, normalisation, extremes)
                if moments is not None:
                    moments[chunk] = used

            _threads.for_each(share, range(n_parts), workers)
            values = np.empty((1, sum(part.shape[1] for part in parts.values()), levels.size))
            for first, part in parts.items():
                values[:, first::n_parts] = part
            result[chunk] = finish(values, every)
    else:
        bytes_each = 8 * len(directions) * levels.size + 4 * batch.work() // len(batch)
        most = min(max(1, 2**21 // bytes_each), -(-len(batch) // (8 * workers)))

        def transform(chunk: slice) -> None:
            every = directions_for(chunk)
            values, used = _quantiles(batch, chunk, every, levels, normalisation, extremes)
            result[chunk] = finish(values, every)
            if moments is not None:
                moments[chunk] = used

        _threads.for_each(transform, batch.chunks(most), workers)
    return result.reshape(*batch.lead, *shape)


@takes_dask_arrays
def rcdt(
    images: Measures,
    *,
    n_angles: int = 128,
    angles: ArrayLike | None = None,
    n_levels: int = 64,
    level_grid: str = "midpoint",
    n_jobs: int | None = -1,
) -> Floats:
    """Radon cumulative distribution transform R̂_θ[μ] = F_{R_θ[μ]}^[-1] of non-negative measures (§3.1 of the paper).

    The quantile function of every projection, in pixels from the centre of the image. The measure is divided by its
    mass. The Euclidean distance of two R-CDTs, divided by √(n_angles · n_levels), is their sliced Wasserstein-2
    distance up to discretisation.

    Images are projected exactly (see `radon`); between the ends of a strip the cumulative function is linear. Point
    clouds have no strips: their projections are sorted, and the quantiles are exact.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Bool, integer or float; no mass may be negative. Of a Dask array the result is one, too, and is computed when
        that is asked for. A stack of images 3 or 4 pixels wide must be a list of two-dimensional arrays.
    n_angles : int
        Directions πk/n on the half circle. The other half is −R̂_θ(1 − t), but for levels that meet a jump.
    angles : array (n_angles,), optional
        Any angles, in radians, instead.
    n_levels : int
        Levels t in (0, 1) of the quantile functions.
    level_grid : {"midpoint", "uniform"}
        t = (k + ½)/n or t = (k + 1)/(n + 1), k = 0, …, n − 1. The paper's authors use the latter.
    n_jobs : int or None
        Threads, as in scikit-learn; −1 is all cores. The result does not depend on it, bit for bit.

    Returns
    -------
    float64 array (…, n_angles, n_levels)

    Raises
    ------
    TypeError, ValueError
        For input that is no measure, or has negative mass, no mass or NaN; the message names the measure and the value.
        For an array that looks like an image in colours, such as (H, W, 3).

    Warns
    -----
    UserWarning
        When most of the mass of an image is bright paper around dark ink: see `radoncdt.ink.find_ink`.

    Examples
    --------
    >>> rcdt(np.ones((4, 8)), angles=[0], n_levels=4)
    array([[-3., -1.,  1.,  3.]])
    """
    directions, levels = Directions.choose(n_angles, angles), quantile_levels(n_levels, level_grid)
    shape = len(directions), levels.size
    return _map(read_measures(images), directions, levels, None, n_jobs, shape)


def trimmed_levels(n_levels: int, level_grid: str, trim: float) -> Floats:
    """The levels t with trim ≤ t ≤ 1 − trim."""
    levels = quantile_levels(n_levels, level_grid)
    share = _validation.number(trim, "trim", "a number from 0 to below 0.5", lambda x: 0 <= x < 0.5)
    if share == 0:
        return levels
    kept = levels[(levels >= share - 1e-12) & (levels <= 1 - share + 1e-12)]
    if kept.size < 2:
        raise ArgumentValueError(
            "trim", f"must leave two levels at least, and {trim!r} leaves {kept.size} of {n_levels}"
        )
    return kept


@takes_dask_arrays
def nrcdt(
    images: Measures,
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
        What the angles are the angles of: directions θ, or directions η of the measure after whitening, each of which
        is θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖ in the plane of the image. Whitened measures differ by a rotation, or a reflection,
        where the measures differ by an affine map; so then do their NR-CDTs, along the angles. "auto" is equispaced
        for `nrcdt`; what it is for each pool is in the table of ``docs/method.md`` and in `pooled_nrcdt`.
    moments : {"exact", "levels", "robust"}
        "exact": mean and standard deviation of the measure itself, ⟨m, θ⟩ and √(θᵀΣθ). "levels": mean and sample
        standard deviation of the values at the levels, as the paper's authors compute them; not with whitened
        directions. "robust": m and Σ are location and scatter of a Student t distribution fitted to the measure, which
        specks far from the shape hardly move; affine equivariant, so nothing is lost of the invariance.
    nu : float
        Degrees of freedom of that distribution: the fewer, the less far mass counts.
    trim : float
        Leave out the levels t < trim and t > 1 − trim, where specks far from the shape are; there are fewer then.

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
    normalisation = Normalisation.choose(moments, choose_directions(directions, None, angles, moments), nu)
    chosen, levels = Directions.choose(n_angles, angles), trimmed_levels(n_levels, level_grid, trim)
    return _map(read_measures(images), chosen, levels, normalisation, n_jobs, (len(chosen), levels.size))


def whitened_nrcdt(
    batch: Batch, n_angles: int, levels: Floats, moments: str, nu: float, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """NR-CDTs along whitened directions of the half circle, (n, n_angles, n_levels), and their moments (n, 5).

    They have N_{−η}(t) = −N_η(1 − t) exactly: where a level meets a jump of a cloud, the middle of the jump is taken.
    """
    half, used = Directions.choose(n_angles, None), np.empty((len(batch), 5))

    def finish(values: Floats, directions: Directions) -> Floats:
        if directions is half:
            return values
        return (values[:, : len(half)] - values[:, len(half) :, ::-1]) / 2

    normalisation, shape = Normalisation.choose(moments, "whitened", nu), (len(half), levels.size)
    values = _map(batch, half, levels, normalisation, n_jobs, shape, finish, half.with_opposites, moments=used)
    return values.reshape(len(batch), *shape), used


# Functionals of the closed curve θ ↦ N_θ(t), given once around the circle on axis −2.
POOLS: dict[str, Callable[[Floats], Floats]] = {
    "max": lambda n: n.max(axis=-2),
    "min": lambda n: n.min(axis=-2),
    "mean": lambda n: n.mean(axis=-2),
    "median": lambda n: np.asarray(np.median(n, axis=-2)),
    "range": lambda n: np.ptp(n, axis=-2),
    "max_abs": lambda n: np.abs(n).max(axis=-2),
    "min_abs": lambda n: np.abs(n).min(axis=-2),
    "range_abs": lambda n: np.ptp(np.abs(n), axis=-2),
    "total_variation": lambda n: np.abs(np.diff(n, axis=-2, append=n[..., :1, :])).sum(axis=-2),
}

POOLS_OF_EXTREMES = ("max", "min", "range", "max_abs")
"""Those that depend on the largest and the smallest value alone."""


def _order_statistics(n: Floats, n_components: int) -> Floats:
    chosen = np.rint(np.linspace(0, n.shape[-2] - 1, n_components)).astype(int)
    return np.sort(n, axis=-2)[..., chosen, :]


def _magnitudes(n: Floats, n_components: int) -> Floats:
    """Scaled so that all of them together have the Euclidean norm of the values."""
    size = n.shape[-2]
    spectrum = np.abs(np.fft.rfft(n, axis=-2, norm="ortho"))
    spectrum[..., 1 : (size + 1) // 2, :] *= np.sqrt(2)  # frequencies that stand for their negative ones, too
    return spectrum[..., :n_components, :]


# Functionals that ignore where the curve begins and which way it runs, but not how it is parametrised: affine maps turn
# or mirror the curve only where the directions are whitened. Each gives so many components a level.
WHITENED_POOLS: dict[str, Callable[[Floats, int], Floats]] = {"sorted": _order_statistics, "fourier": _magnitudes}


SAMPLED_POOLS = ("mean", "median")
"""Pools whose value depends on how the circle is sampled, also with infinitely many directions."""

N_COMPONENTS = 8
"""Components per level of the pools "sorted" and "fourier", unless told otherwise."""


def check_pool(pool: str, n_components: int | None, n_angles: int) -> int:
    """Refuse what does not go together; return how many components per level the pool has."""
    _validation.choice(pool, "pool", (*POOLS, *WHITENED_POOLS))
    if pool in POOLS:
        if n_components is not None:
            raise ArgumentValueError(
                "n_components", f"is for the pools {' and '.join(WHITENED_POOLS)}, got it with {pool!r}"
            )
        return 1
    most = 2 * n_angles if pool == "sorted" else n_angles + 1
    if n_components is None:
        return min(N_COMPONENTS, most)
    if _validation.count(n_components, "n_components", 1) > most:
        raise ArgumentValueError("n_components", f"must be at most {most} for {n_angles} angles, got {n_components}")
    return n_components


def choose_directions(directions: str, pool: str | None, angles: object, moments: str) -> str:
    """Resolve "auto" as the table in docs/method.md says; `pool` is None for the NR-CDT, else one that was checked."""
    chosen = _validation.choice(directions, "directions", DIRECTIONS)
    if chosen == "auto":
        equispaced = pool is None or pool in SAMPLED_POOLS or angles is not None or moments == "levels"
        chosen = "equispaced" if equispaced else "whitened"
    if pool in WHITENED_POOLS and chosen == "equispaced":
        why = ", which is equispaced with `angles` and with the moments 'levels'" if directions == "auto" else ""
        raise ArgumentValueError("directions", f"must be 'whitened' for the pool {pool!r}, got {directions!r}{why}")
    return chosen


@takes_dask_arrays
def pooled_nrcdt(
    images: Measures,
    *,
    pool: str = "max",
    n_components: int | None = None,
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
    """NR-CDT pooled over the full circle of directions, level by level (§3.3 of the paper and its follow-ups).

    With the maximum this is the mNR-CDT, sup_θ N_θ[μ](t). It does not change when the measure is moved by an affine
    map, up to the error of taking finitely many directions; neither do the minimum, the range, those of the absolute
    values, and the total variation along the circle. The mean and the median keep still under shifts, rotations,
    reflections and isotropic scaling only, unless the directions are whitened.

    Parameters
    ----------
    images, n_angles, angles, n_levels, level_grid, moments, nu, trim, n_jobs
        As in `nrcdt`. The pool covers the directions and their opposites, so `angles` need only cover half the circle.
        For images the opposite is −N_θ(1 − t); for point clouds, whose jumps levels can meet, it is computed.
    directions : {"auto", "equispaced", "whitened"}
        As in `nrcdt`. "auto" is equispaced for the mean and the median, which therefore are as the follow-up paper
        defines them, and wherever `angles` or the moments "levels" are given. For the other pools it is whitened: with
        infinitely many directions their value would be the same, and with finitely many it changes less under
        affine maps. ``docs/method.md`` has the table.
    pool : {"max", "min", "mean", "median", "range", "max_abs", "min_abs", "range_abs", "total_variation"}
        The range is maximum minus minimum; "_abs" takes absolute values first; the total variation is the sum of the
        absolute steps from each direction to the next, once around.
        With whitened directions also "sorted", the order statistics over the circle, and "fourier", the magnitudes of
        the Fourier coefficients along the circle, which keep more than one number per level.
    n_components : int, optional
        How many of these to keep per level: of the 2·n_angles order statistics this many, evenly spaced from the
        smallest to the largest; of the n_angles + 1 magnitudes those of the lowest frequencies. The default is 8, or
        all where there are fewer.

    Returns
    -------
    float64 array (…, n_levels), or (…, n_components · n_levels), one component after the other

    Examples
    --------
    >>> square, turned = np.ones((64, 64)), push_forward(np.ones((64, 64)), [[1, -1], [1, 1]], shape=(130, 130))
    >>> np.allclose(pooled_nrcdt(square), pooled_nrcdt(turned), atol=0.01)
    True
    """
    half, levels = Directions.choose(n_angles, angles), trimmed_levels(n_levels, level_grid, trim)
    n_components = check_pool(pool, n_components, len(half))
    normalisation = Normalisation.choose(moments, choose_directions(directions, pool, angles, moments), nu)
    circle = half.with_opposites
    order = slice(None) if angles is None else np.argsort(np.mod(circle.angles, 2 * np.pi), kind="stable")

    def reduce(values: Floats) -> Floats:
        if pool in POOLS:
            return POOLS[pool](values)
        return WHITENED_POOLS[pool](values, n_components).reshape(len(values), -1)

    def finish(values: Floats, directions: Directions) -> Floats:
        if directions is half and values.shape[1] >= len(half):
            # all directions of images: N_{−θ}(t) = −N_θ(1 − t), for the levels are symmetric
            values = np.concatenate([values, -values[..., ::-1]], axis=1)
        return reduce(values) if extremes else reduce(values[:, order])

    shape, extremes = (n_components * levels.size,), pool in POOLS_OF_EXTREMES
    return _map(read_measures(images), half, levels, normalisation, n_jobs, shape, finish, circle, extremes)


@takes_dask_arrays
def max_nrcdt(
    images: Measures,
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
    """Max-normalised R-CDT, the mNR-CDT sup_θ N_θ[μ](t) of the paper: `pooled_nrcdt` with ``pool="max"``.

    Parameters, result and errors are those of `pooled_nrcdt`.

    >>> max_nrcdt(np.ones((3, 8, 8)), n_angles=4, n_levels=16).shape
    (3, 16)
    """
    return pooled_nrcdt(
        images,
        pool="max",
        n_angles=n_angles,
        angles=angles,
        n_levels=n_levels,
        level_grid=level_grid,
        directions=directions,
        moments=moments,
        nu=nu,
        trim=trim,
        n_jobs=n_jobs,
    )


@takes_dask_arrays
def mean_nrcdt(
    images: Measures,
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
    """Mean-normalised R-CDT, the aNR-CDT of the follow-up paper: `pooled_nrcdt` with ``pool="mean"``.

    Parameters, result and errors are those of `pooled_nrcdt`.

    >>> mean_nrcdt(np.ones((3, 8, 8)), n_angles=4, n_levels=16).shape
    (3, 16)
    """
    return pooled_nrcdt(
        images,
        pool="mean",
        n_angles=n_angles,
        angles=angles,
        n_levels=n_levels,
        level_grid=level_grid,
        directions=directions,
        moments=moments,
        nu=nu,
        trim=trim,
        n_jobs=n_jobs,
    )

"""The NR-CDT pooled over the circle of directions (§3.3 of the paper and its follow-ups).

The mNR-CDT is sup_θ N_θ[μ](t). The other pools are functionals of the closed curve θ ↦ N_θ[μ](t), too. An affine map of
μ only changes the parametrisation of this curve, so that functionals which do not depend on the parametrisation are
invariant. With whitened directions an affine map only rotates or reflects the curve, and more functionals are
invariant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _validation
from radoncdt._bright_paper import read_measures
from radoncdt._dask import takes_dask_arrays
from radoncdt._geometry import full_circle
from radoncdt._plan import DIRECTIONS, Normalisation, Plan, Scan, execute
from radoncdt._rcdt import choose_levels
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Measures

__all__ = [
    "N_COMPONENTS",
    "POOLS",
    "POOLS_OF_EXTREMES",
    "SAMPLED_POOLS",
    "WHITENED_POOLS",
    "check_pool",
    "choose_directions",
    "max_nrcdt",
    "mean_nrcdt",
    "pooled_nrcdt",
]

# Functionals of the curve θ ↦ N_θ(t), given once around the circle on axis −2.
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

POOLS_OF_EXTREMES = ("max", "min", "range", "max_abs")  # pools that depend only on the largest and the smallest value

SAMPLED_POOLS = ("mean", "median")  # pools that depend on how the circle is sampled, even with infinitely many angles

N_COMPONENTS = 8  # default number of components per level of the pools "sorted" and "fourier"


def _order_statistics(n: Floats, n_components: int) -> Floats:
    chosen = np.rint(np.linspace(0, n.shape[-2] - 1, n_components)).astype(int)
    return np.sort(n, axis=-2)[..., chosen, :]


def _magnitudes(n: Floats, n_components: int) -> Floats:
    """Magnitudes of Fourier coefficients, scaled so that all of them have the Euclidean norm of the values."""
    size = n.shape[-2]
    spectrum = np.abs(np.fft.rfft(n, axis=-2, norm="ortho"))
    spectrum[..., 1 : (size + 1) // 2, :] *= np.sqrt(2)  # these frequencies also stand for their negative ones
    return spectrum[..., :n_components, :]


# Functionals that do not depend on where the curve begins and on its orientation, but on its parametrisation. They need
# whitened directions. Each has several components per level.
WHITENED_POOLS: dict[str, Callable[[Floats, int], Floats]] = {"sorted": _order_statistics, "fourier": _magnitudes}


def check_pool(pool: str, n_components: int | None, n_angles: int) -> int:
    """Check a pool and its number of components per level, and return this number."""
    _validation.check_choice(pool, "pool", (*POOLS, *WHITENED_POOLS))
    if pool in POOLS:
        if n_components is not None:
            raise ArgumentValueError(
                "n_components", f"applies only to the pools {' and '.join(WHITENED_POOLS)}, got the pool {pool!r}"
            )
        return 1
    largest = 2 * n_angles if pool == "sorted" else n_angles + 1
    if n_components is None:
        return min(N_COMPONENTS, largest)
    if _validation.check_count(n_components, "n_components", 1) > largest:
        raise ArgumentValueError("n_components", f"must be at most {largest} for {n_angles} angles, got {n_components}")
    return n_components


def choose_directions(directions: str, pool: str | None, angles: object, moments: str) -> str:
    """Resolve "auto" as the documentation of `pooled_nrcdt` says; `pool` is None for the NR-CDT, or a checked pool."""
    chosen = _validation.check_choice(directions, "directions", DIRECTIONS)
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
    /,
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
    map, up to the error of using finitely many directions. The same holds for the minimum, the range, those of the
    absolute values, and the total variation along the circle. The mean and the median are invariant only under shifts,
    rotations, reflections and isotropic scaling, unless the directions are whitened.

    Parameters
    ----------
    images, n_angles, angles, n_levels, level_grid, moments, nu, trim, n_jobs
        As in `nrcdt`. The pool covers the directions and their opposites, so `angles` need only cover half the circle.
        For images the opposite is −N_θ(1 − t); for point clouds, where levels can meet jumps, it is computed.
    directions : {"auto", "equispaced", "whitened"}
        As in `nrcdt`. "auto" means equispaced for the mean and the median, which then are as the follow-up paper
        defines them, and wherever `angles` or the moments "levels" are given. For the other pools it means whitened:
        with infinitely many directions their value would be the same, and with finitely many it changes less under
        affine maps. ``docs/explanation/method.md`` has the table.
    pool : {"max", "min", "mean", "median", "range", "max_abs", "min_abs", "range_abs", "total_variation"}
        The range is maximum minus minimum; "_abs" takes absolute values first; the total variation is the sum of the
        absolute steps from each direction to the next, once around.
        With whitened directions also "sorted", the order statistics over the circle, and "fourier", the magnitudes of
        the Fourier coefficients along the circle, which keep more than one number per level.
    n_components : int, optional
        Number of these to keep per level: of the 2·n_angles order statistics this many, evenly spaced from the
        smallest to the largest; of the n_angles + 1 magnitudes those of the lowest frequencies. The default is 8, or
        all if there are fewer.

    Returns
    -------
    float64 array (…, n_levels), or (…, n_components · n_levels), one component after the other

    Examples
    --------
    >>> square, turned = np.ones((64, 64)), push_forward(np.ones((64, 64)), [[1, -1], [1, 1]], shape=(130, 130))
    >>> np.allclose(pooled_nrcdt(square), pooled_nrcdt(turned), atol=0.01)
    True
    """
    half, levels = Directions.choose(n_angles, angles), choose_levels(n_levels, level_grid, trim)
    n_components = check_pool(pool, n_components, len(half))
    normalisation = Normalisation.choose(moments, choose_directions(directions, pool, angles, moments), nu)
    circle, extremes = half.with_opposites, pool in POOLS_OF_EXTREMES
    in_order = angles is None or extremes  # the order of the directions matters to the other pools
    order = slice(None) if in_order else np.argsort(np.mod(circle.angles, 2 * np.pi), kind="stable")

    def reduce(values: Floats) -> Floats:
        if pool in POOLS:
            return POOLS[pool](values)
        return WHITENED_POOLS[pool](values, n_components).reshape(len(values), -1)

    def reduce_circle(values: Floats) -> Floats:
        return reduce(values[:, order])

    def reduce_half_circle(values: Floats) -> Floats:
        return reduce_circle(full_circle(values))

    only_extremes = extremes and moments != "levels"  # the kernels normalise by exact or robust moments
    plan = Plan(
        levels,
        images=Scan(half, reduce if only_extremes else reduce_half_circle),
        clouds=Scan(circle, reduce_circle),
        shape=(n_components * levels.size,),
        normalisation=normalisation,
        only_extremes=only_extremes,
    )
    batch = read_measures(images)
    return execute(plan, batch, n_jobs)[0].reshape(*batch.lead, *plan.shape)


@takes_dask_arrays
def max_nrcdt(
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

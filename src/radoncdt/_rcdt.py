"""The Radon cumulative distribution transform, plain and normalised (§3.1 and §3.2 of the paper).

R-CDT    R̂_θ[μ](t)  quantile function of the projection R_θ[μ], with respect to the uniform measure on [0, 1]
NR-CDT   N_θ[μ](t)  the same with mean 0 and standard deviation 1 in each direction
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from radoncdt import _validation
from radoncdt._bright_paper import read_measures
from radoncdt._cdt import quantile_levels
from radoncdt._dask import takes_dask_arrays
from radoncdt._geometry import half_circle
from radoncdt._plan import Normalisation, Plan, Scan, execute
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import Directions
from radoncdt.measures import Batch, Measures

__all__ = ["choose_levels", "nrcdt", "rcdt", "whitened_nrcdt"]


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


def choose_levels(n_levels: int, level_grid: str, trim: float) -> Floats:
    """Return the levels t with trim ≤ t ≤ 1 − trim."""
    levels = quantile_levels(n_levels, level_grid)
    share = _validation.check_number(trim, "trim", "a number from 0 to below 0.5", lambda x: 0 <= x < 0.5)
    if share == 0:
        return levels
    kept = levels[(levels >= share - 1e-12) & (levels <= 1 - share + 1e-12)]
    if kept.size < 2:
        raise ArgumentValueError(
            "trim", f"must leave at least two levels, got {trim!r}, which leaves {kept.size} of {n_levels}"
        )
    return kept


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
        equispaced directions for `nrcdt`; `pooled_nrcdt` says what it means for each pool.
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

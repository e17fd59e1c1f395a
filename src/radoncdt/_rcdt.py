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
    """Compute the Radon cumulative distribution transform (R-CDT) of measures.

    The R-CDT ``R̂_θ[μ] = F_{R_θ[μ]}^[-1]`` is the quantile function of the projection of μ on each direction θ (§3.1 of
    the paper [1]_), in pixels from the centre of the image. The reference measure is uniform on [0, 1]. The measure is
    divided by its mass. The Euclidean distance of two R-CDTs, divided by √(n_angles · n_levels), is their sliced
    Wasserstein-2 distance up to discretisation.

    Images are projected exactly, as by `radon`, and the cumulative function is linear between the ends of a strip.
    Point clouds have no strips: their projections are sorted, and the quantiles are exact.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays. For a Dask array, the result is a Dask array, which is
        computed lazily.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536. The other half is −R̂_θ(1 − t),
        except at levels that meet a jump.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (…, n_angles, n_levels)
        Quantiles of the projections, in pixels from the centre of the image.

    Raises
    ------
    TypeError
        If `images` or an option has the wrong type.
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
    nrcdt : The same with mean 0 and standard deviation 1 in each direction.
    inverse_rcdt : Images from the transform.
    sliced_wasserstein : The exact distance.
    RadonCDT : The same as a scikit-learn transformer.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

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
    """Compute the normalised R-CDT (NR-CDT) of measures.

    In each direction θ, the NR-CDT is ``N_θ[μ] = (R̂_θ[μ] − mean) / std``, where ``R̂_θ[μ]`` is the quantile function
    of the projection of μ on θ (§3.2 of the paper [1]_). An affine map x ↦ Ax + y of the measure turns ``N_θ`` into
    ``N_η`` with ``η = Aᵀθ/‖Aᵀθ‖`` and does not change anything else (Prop. 5).

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays. For a Dask array, the result is a Dask array, which is
        computed lazily. Points on one line have no NR-CDT.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    directions : {"auto", "equispaced", "whitened"}, default "auto"
        Whether the angles are those of directions θ in the plane of the image ("equispaced"), or of directions η of the
        whitened measure ("whitened"), which are ``θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖`` in the plane of the image. Whitened
        measures that differ by an affine map differ by a rotation or a reflection, and so do their NR-CDTs along the
        angles. "auto" means equispaced directions, the definition of the paper.
    moments : {"exact", "levels", "robust"}, default "exact"
        Mean and standard deviation of the normalisation. "exact": those of the measure itself, ⟨m, θ⟩ and √(θᵀΣθ),
        where m and Σ are its mean and covariance. "levels": mean and sample standard deviation of the values at the
        levels, as the authors of the paper compute them; not with whitened directions. "robust": m and Σ are location
        and scatter of a Student t distribution fitted to the measure, which specks far from the shape hardly change.
        They are affine equivariant, so the invariance is kept.
    nu : float, default 3.0
        Degrees of freedom of the Student t distribution, above 0, for robust moments only. Smaller values give less
        weight to distant mass.
    trim : float, default 0.0
        Omit the levels t < trim and t > 1 − trim, to which specks far from the shape belong. It is at least 0 and below
        0.5, and at least two levels must remain. The result then has fewer levels.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float64 array (…, n_angles, n_levels)
        Normalised quantiles. They do not depend, bit for bit, on zeros around the image, on the rest of the batch and
        on the number of threads.

    Raises
    ------
    TypeError
        If `images` or an option has the wrong type.
    ValueError
        If a measure has negative mass, no mass or values that are not finite, if an array looks like a colour image, or
        if an option has an invalid value. It is also raised if the points of a cloud lie on one line, because their
        NR-CDT is undefined. The message names the argument and the value.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.
    UserWarning
        If robust moments do not converge.

    See Also
    --------
    rcdt : The transform without the normalisation.
    max_nrcdt : The maximum over the directions.
    pooled_nrcdt : Other functionals of the directions.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

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

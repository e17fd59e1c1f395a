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
    """Compute the NR-CDT pooled over the circle of directions, level by level.

    The NR-CDT ``N_θ[μ](t)`` is the R-CDT with mean 0 and standard deviation 1 in each direction (§3.2 of the paper
    [1]_). A pool reduces the values at each level t along the full circle of directions θ. With the maximum, this is
    the mNR-CDT ``sup_θ N_θ[μ](t)`` (§3.3 of [1]_). It does not change when the measure is moved by an affine map, up to
    the error of using finitely many directions. The same holds for the minimum, the range, those of the absolute
    values, and the total variation along the circle. The mean and the median [2]_ are invariant only under shifts,
    rotations, reflections and isotropic scaling, unless the directions are whitened.

    The pool covers the directions and their opposites. For images, the opposite of ``N_θ(t)`` is ``−N_θ(1 − t)``; for
    point clouds, where levels can meet jumps, it is computed.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays. For a Dask array, the result is a Dask array, which is
        computed lazily.
    pool : str, default "max"
        One of "max", "min", "mean", "median", "range", "max_abs", "min_abs", "range_abs" and "total_variation". The
        range is the maximum minus the minimum; "_abs" takes absolute values first; the total variation is the sum of
        the absolute steps from each direction to the next, once around.

        With whitened directions also "sorted", the order statistics over the circle, and "fourier", the magnitudes of
        the Fourier coefficients along the circle. These keep several components per level.
    n_components : int, optional
        Number of components per level of the pools "sorted" and "fourier": of the 2 · n_angles order statistics this
        many, evenly spaced from the smallest to the largest; of the n_angles + 1 magnitudes those of the lowest
        frequencies. By default it is 8, or all if there are fewer. Other pools refuse it.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`. They need only cover half the
        circle, because the pool also covers the opposite directions.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    directions : {"auto", "equispaced", "whitened"}, default "auto"
        Whether the angles are those of directions θ in the plane of the image ("equispaced"), or of directions η of the
        whitened measure ("whitened"), which are ``θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖`` in the plane of the image. Whitened
        measures that differ by an affine map differ by a rotation or a reflection, and so do their NR-CDTs along the
        angles. "auto" means equispaced directions for the mean and the median, which then are as the second paper
        defines them, and wherever `angles` or the moments "levels" are given. For the other pools it means whitened
        directions: with infinitely many directions their value would be the same, and with finitely many it changes
        less under affine maps.
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
    float64 array (…, n_levels) or (…, n_components · n_levels)
        The pooled values: one component after the other, each with all levels.

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
    max_nrcdt : The mNR-CDT of the paper.
    mean_nrcdt : The mean over the directions.
    nrcdt : The values before pooling.
    NormalizedRadonCDT : The same as a scikit-learn transformer.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.
    .. [2] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
    >>> square, turned = np.ones((64, 64)), push_forward(np.ones((64, 64)), [[1, -1], [1, 1]], shape=(130, 130))
    >>> np.allclose(pooled_nrcdt(square), pooled_nrcdt(turned), atol=0.01)
    True
    >>> pooled_nrcdt(square, pool="fourier", n_components=3).shape
    (192,)
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
    """Compute the max-normalised R-CDT (mNR-CDT) of measures.

    The mNR-CDT of a measure μ is the function ``N_m[μ](t) = sup_θ N_θ[μ](t)`` (§3.3 of the paper [1]_), where
    ``N_θ[μ]`` is the R-CDT in the direction θ, shifted and scaled to mean 0 and standard deviation 1. It does not
    change when μ is shifted, rotated, scaled, sheared or mirrored. Classes of affine copies are therefore linearly
    separable (Theorem 1).

    The supremum is a maximum over the given directions and their opposites, so the invariance holds up to the error of
    using finitely many of them. For images, the opposite of ``N_θ(t)`` is ``−N_θ(1 − t)``; for point clouds it is
    computed.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays. For a Dask array, the result is a Dask array, which is
        computed lazily.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`. They need only cover half the
        circle, because the pool also covers the opposite directions.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    directions : {"auto", "equispaced", "whitened"}, default "auto"
        Whether the angles are those of directions θ in the plane of the image ("equispaced"), or of directions η of the
        whitened measure ("whitened"), which are ``θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖`` in the plane of the image. Whitened
        measures that differ by an affine map differ by a rotation or a reflection, and so do their NR-CDTs along the
        angles. "auto" means whitened directions, along which the maximum over finitely many directions changes less
        under affine maps, or equispaced ones if `angles` or the moments "levels" are given. "equispaced" is the
        definition of the paper.
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
    float64 array (…, n_levels)
        One curve per measure.

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
    pooled_nrcdt : Other functionals of the directions.
    nrcdt : The values before the maximum is taken.
    NormalizedRadonCDT : The same as a scikit-learn transformer.
    affine_distances : A distance that keeps more than the maximum.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> max_nrcdt(np.ones((3, 8, 8)), n_angles=4, n_levels=16).shape
    (3, 16)

    A triangle and a sheared copy of it have nearly the same curve:

    >>> sheared = push_forward(np.tri(60), [[1, 0.5], [0, 1]], shape=(60, 120))
    >>> np.allclose(max_nrcdt(np.tri(60)), max_nrcdt(sheared), atol=0.02)
    True
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
    """Compute the mean-normalised R-CDT (aNR-CDT) of measures.

    The aNR-CDT of a measure μ is the mean over all directions θ of ``N_θ[μ](t)``, the functional of the second paper
    [2]_. ``N_θ[μ]`` is the R-CDT in the direction θ, shifted and scaled to mean 0 and standard deviation 1 (§3.2 of
    [1]_).

    The mean covers the given directions and their opposites. It does not change when μ is shifted, rotated, mirrored or
    scaled by the same factor in x and y. Along whitened directions, it does not change under any affine map. For
    images, the opposite of ``N_θ(t)`` is ``−N_θ(1 − t)``; for point clouds it is computed.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), PointCloud, or list of images and PointClouds
        Non-negative measures of type bool, integer or float: bright ink, and zeros elsewhere. The images of a list may
        have different sizes. Arrays that look like colour images are refused; a stack of images that are 3 or 4 pixels
        wide must therefore be a list of two-dimensional arrays. For a Dask array, the result is a Dask array, which is
        computed lazily.
    n_angles : int, default 128
        Number of directions θ_k = πk/n_angles on the half circle, from 1 to 65,536.
    angles : array (n_angles,), optional
        Any angles, in radians, instead of the equispaced ones. They replace `n_angles`. They need only cover half the
        circle, because the pool also covers the opposite directions.
    n_levels : int, default 64
        Number of levels t in (0, 1) of the quantile functions, at least 2.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        The levels: t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
        n_levels − 1. The authors of the paper use "uniform".
    directions : {"auto", "equispaced", "whitened"}, default "auto"
        Whether the angles are those of directions θ in the plane of the image ("equispaced"), or of directions η of the
        whitened measure ("whitened"), which are ``θ = Σ^{-1/2}η/‖Σ^{-1/2}η‖`` in the plane of the image. Whitened
        measures that differ by an affine map differ by a rotation or a reflection, and so do their NR-CDTs along the
        angles. "auto" means equispaced directions, which is the definition of the second paper. Along whitened
        directions, the mean does not change under any affine map.
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
    float64 array (…, n_levels)
        One curve per measure.

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
    max_nrcdt : The maximum instead of the mean.
    pooled_nrcdt : Other functionals of the directions.
    nrcdt : The values before the mean is taken.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.
    .. [2] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
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

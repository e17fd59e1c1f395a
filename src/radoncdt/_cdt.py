"""The cumulative distribution transform (§3.1 of the paper): quantile functions with respect to a reference measure."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _kernels, _validation
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.measures import rescale

__all__ = [
    "cdt",
    "check_bins",
    "check_masses",
    "enforce_ascending",
    "inverse_cdt",
    "quantile_levels",
    "sample_quantiles",
]

_Reference: TypeAlias = tuple[ArrayLike, ArrayLike] | Any  # (masses, edges), or a frozen scipy.stats distribution

_LEVEL_GRIDS = ("midpoint", "uniform")


def quantile_levels(n_levels: int, level_grid: str = "midpoint") -> Floats:
    """Compute the levels t at which quantile functions are evaluated.

    The levels are t = (k + ½)/n_levels for "midpoint", and t = (k + 1)/(n_levels + 1) for "uniform", with k = 0, …,
    n_levels − 1. Each midpoint level represents an equal share of the mass. The authors of the paper [1]_ use the
    uniform levels.

    Parameters
    ----------
    n_levels : int
        Number of levels, at least 2.
    level_grid : {"midpoint", "uniform"}, default "midpoint"
        Which levels to compute.

    Returns
    -------
    float64 array (n_levels,)
        Levels in (0, 1), ascending.

    Raises
    ------
    TypeError
        If `n_levels` is not an integer.
    ValueError
        If `n_levels` is less than 2 or more than 2²⁰, or if `level_grid` is unknown.

    See Also
    --------
    rcdt : Quantile functions of projections at these levels.
    equispaced_angles : The angles of the directions.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> quantile_levels(4)
    array([0.125, 0.375, 0.625, 0.875])
    >>> quantile_levels(4, "uniform")
    array([0.2, 0.4, 0.6, 0.8])
    """
    n_levels = _validation.check_count(n_levels, "n_levels", 2, _validation.MAX_LEVELS)
    return _level_grid(n_levels, _validation.check_choice(level_grid, "level_grid", _LEVEL_GRIDS)).copy()


@lru_cache(maxsize=8)
def _level_grid(n: int, level_grid: str) -> Floats:
    return (np.arange(n) + 0.5) / n if level_grid == "midpoint" else np.arange(1, n + 1) / (n + 1)


def cdt(
    mass: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    /,
    *,
    samples: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    reference: _Reference | None = None,
    points: ArrayLike | None = None,
) -> Floats:
    """Compute the cumulative distribution transform (CDT) of measures on the line.

    The CDT of a measure μ with respect to a reference measure ρ is the function ``μ̂ = F_μ^[-1] ∘ F_ρ`` (§3.1 of the
    paper [1]_), where F denotes cumulative functions and ``F^[-1](t) = inf{s : F(s) > t}``. It is the optimal map that
    transports ρ to μ, for every convex cost.

    Measures are divided by their mass. They are given either as masses on bins or as points on the line. At t = 1,
    where the paper's generalised inverse is +∞, the value is the end of the support of μ.

    Parameters
    ----------
    mass : array (…, n_bins), optional
        Non-negative masses, spread evenly over bins. Give either `mass` with `edges`, or `samples`.
    edges : array (n_bins + 1,) or (…, n_bins + 1), optional
        Ends of the bins, ascending. A bin of width 0 is an atom.
    samples : array (…, n), optional
        Points on the line.
    weights : array (n,) or (…, n), optional
        Non-negative masses of the samples. By default, all are equal.
    reference : (masses, edges) or frozen scipy.stats distribution, optional
        The reference measure ρ, which must not have atoms. By default, ρ is uniform on [0, 1].
    points : array, optional
        Points at which to evaluate the transform; ±∞ are allowed. By default, they are the 64 quantiles of ρ at the
        levels (k + ½)/64. To the left of the support of ρ, the value is the beginning of the support of μ; to the
        right, it is its end.

    Returns
    -------
    float64 array (…, n_points)
        Values of the transform. The last axes are those of `points`, or one axis of length 64 if it is not given.

    Raises
    ------
    TypeError
        If neither or both of `mass` and `samples` are given, if `edges` or `weights` do not go with them, or if an
        argument does not hold numbers.
    ValueError
        If shapes do not match, masses are negative or all 0, edges descend, values are not finite, or the reference has
        atoms.

    See Also
    --------
    inverse_cdt : Masses on bins from the transform.
    rcdt : The transform of all projections of an image.
    wasserstein : The distance of two measures on the line.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    A block of mass on [2, 4], and half of the mass in each of two atoms:

    >>> cdt([0, 1, 1], [1, 2, 3, 4], points=[0, 0.25, 0.5, 1])
    array([2. , 2.5, 3. , 4. ])
    >>> cdt(samples=[5, 1], points=[0, 0.25, 0.5, 1])
    array([1., 1., 5., 5.])
    """
    if (mass is None) == (samples is None):
        given = "both" if mass is not None else "neither"
        raise TypeError(f"`cdt` takes either `mass` with `edges` or `samples`, got {given}")
    levels, shape = _evaluate_reference(reference, points)
    order = np.argsort(levels, kind="stable")
    if mass is not None:
        if edges is None:
            raise ArgumentTypeError("mass", "needs `edges`, got none")
        if weights is not None:
            raise ArgumentTypeError("weights", "go with `samples`, got `mass`")
        values = _transform_bins(mass, edges, levels[order])
    else:
        if edges is not None:
            raise ArgumentTypeError("edges", "go with `mass`, got `samples`")
        values = _transform_samples(samples, weights, levels[order])
    result = np.empty_like(values)
    result[..., order] = values
    return result.reshape((*values.shape[:-1], *shape))


def inverse_cdt(
    values: ArrayLike,
    edges: ArrayLike,
    /,
    *,
    reference: _Reference | None = None,
    points: ArrayLike | None = None,
) -> Floats:
    """Compute masses on bins from cumulative distribution transforms.

    This is the inverse of `cdt` (§3.1 of the paper [1]_): the cumulative function of μ is the inverse of
    ``μ̂ = F_μ^[-1] ∘ F_ρ``, and its differences at the edges are the masses. It is computed as a monotone cubic through
    the points (value, F_ρ(point)), where equal values are an atom. The transform does not show the mass below its first
    value and above its last one. There, a tail continues the density and its slope. The masses between edges that are
    values of the transform are therefore exact.

    Parameters
    ----------
    values : array (…, n_points)
        Values of transforms, which must not descend; n_points is at least 2.
    edges : array (n_bins + 1,) or (…, n_bins + 1)
        Ends of the bins, ascending. Mass on an edge belongs to the bin to its left.
    reference : (masses, edges) or frozen scipy.stats distribution, optional
        The reference measure ρ, which must not have atoms. By default, ρ is uniform on [0, 1].
    points : array (n_points,), optional
        Points at which the transforms were evaluated, ascending. By default, they are the quantiles of ρ at the levels
        (k + ½)/n_points.

    Returns
    -------
    float64 array (…, n_bins)
        Shares of a total mass of 1. Mass beyond the edges does not belong to any bin.

    Raises
    ------
    TypeError
        If an argument does not hold numbers, or the reference has the wrong type.
    ValueError
        If shapes do not match, values or edges descend or are not finite, points do not ascend, or the reference has
        atoms.

    See Also
    --------
    cdt : The transform.
    inverse_rcdt : Images from the transforms of their projections.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> masses, edges = np.array([0.1, 0.2, 0.4, 0.3]), np.array([0, 2, 3, 4, 8])
    >>> levels = np.cumsum([0, *masses])
    >>> inverse_cdt(cdt(masses, edges, points=levels), edges, points=levels)
    array([0.1, 0.2, 0.4, 0.3])
    """
    places, grid = _validation.check_coordinates(values, "values"), _validation.check_coordinates(edges, "edges")
    if places.ndim < 1 or places.shape[-1] < 2 or places.size == 0:
        raise ArgumentValueError("values", f"must have shape (…, n_points) with n_points ≥ 2, got {places.shape}")
    if points is None:
        _check_reference(reference)
        levels = _level_grid(places.shape[-1], "midpoint")
    else:
        levels, shape = _evaluate_reference(reference, points)
        if shape != places.shape[-1:]:
            raise ArgumentValueError("points", f"must have shape {places.shape[-1:]}, one per value, got {shape}")
    if (np.diff(levels) <= 0).any():
        raise ArgumentValueError(
            "points", f"must ascend, with mass of the reference between them, got {np.diff(levels).min():g}"
        )
    if grid.ndim < 1 or grid.shape[-1] < 2 or grid.shape[:-1] not in ((), places.shape[:-1]):
        lead = "".join(f"{n}, " for n in places.shape[:-1])
        raise ArgumentValueError(
            "edges", f"must have shape (n_bins + 1,) or ({lead}n_bins + 1), n_bins ≥ 1, got {grid.shape}"
        )
    if (np.diff(grid) < 0).any():
        raise ArgumentValueError("edges", f"must ascend, got a step of {np.diff(grid).min():g}")
    rows = enforce_ascending(places, "values").reshape(-1, places.shape[-1])
    ends = np.broadcast_to(grid, (*places.shape[:-1], grid.shape[-1])).reshape(len(rows), -1)
    # the unit is about the width of the measure, so that slopes are neither huge nor tiny
    exponent = -np.frexp(rows[:, -1:] - rows[:, :1])[1]
    with np.errstate(over="ignore"):  # an edge that is far away may as well be at infinity
        middle = rows[:, :1].copy()
        rows, ends = np.ldexp(rows - middle, exponent), np.ldexp(ends - middle, exponent)
    masses = _kernels.current().quantile_masses(rows, levels, ends)
    return masses.reshape(*places.shape[:-1], -1)


def enforce_ascending(values: Floats, name: str) -> Floats:
    """Remove descending steps that are rounding errors from quantile functions, and refuse larger ones."""
    steps = np.diff(values, axis=-1)
    if (steps < -1e-9 * np.abs(values).max(axis=-1, keepdims=True)).any():
        raise ArgumentValueError(
            name,
            f"must not descend along the last axis, because they are quantiles, got a step of {steps.min():g}; "
            f"sorting along that axis yields the nearest quantile functions",
        )
    return np.maximum.accumulate(values, axis=-1)


def _transform_bins(mass: ArrayLike, edges: ArrayLike, levels: Floats) -> Floats:
    masses, grid = check_bins(mass, edges, "mass", "edges")
    rows = rescale(masses.reshape(-1, masses.shape[-1]))
    positions = _kernels.current().bin_quantiles(rows, levels)
    ends = np.broadcast_to(grid, (*masses.shape[:-1], grid.shape[-1])).reshape(len(rows), -1)
    bins = np.minimum(positions.astype(np.int64), rows.shape[1] - 1)
    left, right = np.take_along_axis(ends, bins, 1), np.take_along_axis(ends, bins + 1, 1)
    return (left + (positions - bins) * (right - left)).reshape(*masses.shape[:-1], levels.size)


def _transform_samples(samples: ArrayLike | None, weights: ArrayLike | None, levels: Floats) -> Floats:
    places = _validation.check_coordinates(samples, "samples")
    if places.ndim < 1 or places.size == 0:
        raise ArgumentValueError("samples", f"must have shape (…, n) with n ≥ 1, got {places.shape}")
    shares = np.ones(places.shape[-1]) if weights is None else _validation.check_finite_array(weights, "weights")
    if shares.shape not in (places.shape, places.shape[-1:]):
        expected = " or ".join(sorted({str(places.shape), str(places.shape[-1:])}))
        raise ArgumentValueError("weights", f"must have shape {expected}, got {shares.shape}")
    check_masses(shares, "weights")
    rows = places.reshape(-1, places.shape[-1])
    shares = rescale(np.broadcast_to(shares, places.shape).reshape(rows.shape))
    return sample_quantiles(rows, shares, levels).reshape(*places.shape[:-1], levels.size)


def sample_quantiles(places: Floats, shares: Floats, levels: Floats) -> Floats:
    """Quantiles inf{s : F(s) > t} of Σ_i shares_i δ(places_i), divided by its mass; at t = 1 the last place with mass.

    Places have the shape (m, n), shares (m, n) or (n,), levels (n_levels,), and the result (m, n_levels).
    """
    order = np.argsort(places, axis=-1, kind="stable")
    cumulated = np.cumsum(np.take_along_axis(np.broadcast_to(shares, places.shape), order, axis=-1), axis=-1)
    chosen = np.empty((len(places), levels.size), np.intp)
    for row, sums in zip(chosen, cumulated):
        last = np.searchsorted(sums, sums[-1], side="left")
        np.minimum(np.searchsorted(sums, levels * sums[-1], side="right"), last, out=row)
    return np.take_along_axis(places, np.take_along_axis(order, chosen, axis=-1), axis=-1)


def check_bins(mass: ArrayLike, edges: ArrayLike, mass_name: str, edges_name: str) -> tuple[Floats, Floats]:
    """Check masses (…, n), which must be non-negative and not all 0, and ascending edges (n + 1,) or (…, n + 1)."""
    masses, grid = _validation.check_finite_array(mass, mass_name), _validation.check_coordinates(edges, edges_name)
    if masses.ndim < 1 or masses.size == 0:
        raise ArgumentValueError(mass_name, f"must have shape (…, n_bins) with n_bins ≥ 1, got {masses.shape}")
    if grid.ndim < 1 or grid.shape[-1] != masses.shape[-1] + 1 or grid.shape[:-1] not in ((), masses.shape[:-1]):
        expected = (*masses.shape[:-1], masses.shape[-1] + 1)
        raise ArgumentValueError(edges_name, f"must have shape {expected} for these masses, got {grid.shape}")
    if (np.diff(grid) < 0).any():
        raise ArgumentValueError(edges_name, f"must ascend, got a step of {np.diff(grid).min():g}")
    check_masses(masses, mass_name)
    return masses, grid


def check_masses(masses: Floats, name: str) -> None:
    """Refuse negative masses (…, n), and rows that are all 0."""
    if (masses < 0).any():
        raise ArgumentValueError(name, f"must not be negative, got {_validation.show_first(masses < 0, masses)}")
    empty = np.argwhere(~masses.any(axis=-1))
    if len(empty):
        where = f" in row {empty[0].tolist()}" if masses.ndim > 1 else ""
        raise ArgumentValueError(name, f"must not be all 0, got zeros only{where}")


def _evaluate_reference(reference: _Reference | None, points: ArrayLike | None) -> tuple[Floats, tuple[int, ...]]:
    """Evaluate F_ρ at the points. Return the levels as a flat array, and the shape of the points."""
    if points is None:  # at the quantiles of ρ, which has no atoms
        _check_reference(reference)
        return quantile_levels(64), (64,)
    places = _check_points(points)
    if places.size == 0:
        raise ArgumentValueError("points", "must hold at least one point, got none")
    rho = _check_reference(reference)
    if rho is None:
        levels = np.clip(places, 0, 1)
    elif isinstance(rho, tuple):
        cumulated = np.concatenate([[0], np.cumsum(rescale(rho[0]))])
        levels = np.interp(places, rho[1], cumulated / cumulated[-1])
    else:
        levels = np.asarray(rho.cdf(places), np.float64)
        if np.isnan(levels).any():
            raise ArgumentValueError("reference", "must have a cumulative function, got NaN: are its parameters valid?")
    return levels.ravel(), places.shape


def _check_points(points: ArrayLike) -> Floats:
    """Check points on the line, which may be ±∞ but not NaN."""
    places = _validation.check_array(points, "points").astype(np.float64)
    if np.isnan(places).any():
        raise ArgumentValueError("points", f"must not be NaN, got {_validation.show_first(np.isnan(places), places)}")
    return places


def _check_reference(reference: _Reference | None) -> Any:
    """Check a reference: None, (masses, edges) or a frozen distribution, without atoms."""
    if reference is None:
        return None
    if isinstance(reference, (tuple, list)) and len(reference) == 2:
        masses, edges = check_bins(reference[0], reference[1], "reference masses", "reference edges")
        if masses.ndim != 1 or edges.ndim != 1:
            raise ArgumentValueError("reference", f"must be one measure, got masses of shape {masses.shape}")
        if (masses[np.diff(edges) == 0] > 0).any():
            raise ArgumentValueError("reference", "must have no atoms, got mass on a bin of width 0")
        return masses, edges
    from scipy.stats import rv_continuous, rv_discrete

    kind = getattr(reference, "dist", None)
    if isinstance(kind, rv_discrete):
        raise ArgumentValueError("reference", f"must have no atoms, got the discrete distribution {kind.name!r}")
    if not isinstance(kind, rv_continuous):
        raise ArgumentTypeError(
            "reference",
            "must be (masses, edges) or a frozen scipy.stats distribution such as scipy.stats.norm(), "
            f"got {reference!r}",
        )
    if np.isnan(reference.cdf(0.0)).any():
        raise ArgumentValueError(
            "reference", f"must have valid parameters, got {reference.args} {reference.kwds or ''}"
        )
    if np.ndim(reference.cdf(0.0)) != 0:
        raise ArgumentValueError("reference", f"must be one measure, got {np.size(reference.cdf(0.0))} distributions")
    return reference

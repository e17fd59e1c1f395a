"""The cumulative distribution transform (§3.1 of the paper): quantile functions with respect to a reference measure."""

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from radoncdt import _kernels, _validation
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.measures import rescaled

Reference: TypeAlias = tuple[ArrayLike, ArrayLike] | Any
"""Masses on bins as (masses, edges), or a frozen continuous distribution of scipy.stats."""

LEVEL_GRIDS = ("midpoint", "uniform")


def quantile_levels(n_levels: int, level_grid: str = "midpoint") -> Floats:
    """Levels t in (0, 1): (k + ½)/n for "midpoint", (k + 1)/(n + 1) for "uniform", k = 0, …, n − 1.

    >>> quantile_levels(4)
    array([0.125, 0.375, 0.625, 0.875])
    >>> quantile_levels(4, "uniform")
    array([0.2, 0.4, 0.6, 0.8])
    """
    n_levels = _validation.count(n_levels, "n_levels", 2, _validation.MOST_LEVELS)
    return _level_grid(n_levels, _validation.choice(level_grid, "level_grid", LEVEL_GRIDS)).copy()


@lru_cache(maxsize=8)
def _level_grid(n: int, level_grid: str) -> Floats:
    return (np.arange(n) + 0.5) / n if level_grid == "midpoint" else np.arange(1, n + 1) / (n + 1)


def cdt(
    mass: ArrayLike | None = None,
    edges: ArrayLike | None = None,
    *,
    samples: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    reference: Reference | None = None,
    points: ArrayLike | None = None,
) -> Floats:
    """Cumulative distribution transform μ̂ = F_μ^[-1] ∘ F_ρ of measures on the line (§3.1 of the paper).

    F^[-1](t) = inf{s : F(s) > t} is the paper's generalised inverse, except at t = 1, where that would be +∞: there
    it is the end of the support. The transform is the optimal map that transports ρ to μ, for every convex cost.
    Measures are divided by their mass.

    Parameters
    ----------
    mass : array (…, n_bins), edges : array (…, n_bins + 1) or (n_bins + 1,)
        Masses spread evenly over bins; edges ascend, and a bin of width 0 is an atom.
    samples : array (…, n), weights : array (…, n) or (n,), optional
        Or points on the line with their masses, equal ones by default.
    reference : (masses, edges) or frozen scipy.stats distribution, optional
        ρ, without atoms; uniform on [0, 1] by default.
    points : array, optional
        Where to evaluate; by default the 64 quantiles of ρ at the levels (k + ½)/64. To the left of ρ's support the
        value is the beginning, to the right the end of the support of μ.

    Returns
    -------
    float64 array (…, *points.shape)

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
    levels, shape = _levels(reference, points)
    order = np.argsort(levels, kind="stable")
    if mass is not None:
        if edges is None:
            raise ArgumentTypeError("mass", "needs `edges`, got none")
        if weights is not None:
            raise ArgumentTypeError("weights", "go with `samples`, got `mass`")
        values = _of_bins(mass, edges, levels[order])
    else:
        if edges is not None:
            raise ArgumentTypeError("edges", "go with `mass`, got `samples`")
        values = _of_samples(samples, weights, levels[order])
    result = np.empty_like(values)
    result[..., order] = values
    return result.reshape((*values.shape[:-1], *shape))


def inverse_cdt(
    values: ArrayLike,
    edges: ArrayLike,
    *,
    reference: Reference | None = None,
    points: ArrayLike | None = None,
) -> Floats:
    """Masses on bins of the measures that have the given cumulative distribution transforms (§3.1 of the paper).

    The cumulative function is the inverse of the transform: a monotone cubic through the points (value, F_ρ(point)),
    where equal values are an atom. What a transform does not show, the mass before its first and behind its last
    value, becomes a tail that continues the density and how it bends. So at edges that are values of the
    transform the masses are exact.

    Parameters
    ----------
    values : array (…, n_points)
        Transforms, not descending, with n_points ≥ 2.
    edges : array (n_bins + 1,) or (…, n_bins + 1)
        Ends of the bins, ascending. Mass on an edge is in the bin to its left.
    reference, points
        As in `cdt`: ρ, and the n_points places where the transform was evaluated, ascending; by default the quantiles
        of ρ at the levels (k + ½)/n_points.

    Returns
    -------
    float64 array (…, n_bins)
        Shares of a whole mass of 1. Mass beyond the edges is in no bin.

    Examples
    --------
    >>> masses, edges = np.array([0.1, 0.2, 0.4, 0.3]), np.array([0, 2, 3, 4, 8])
    >>> levels = np.cumsum([0, *masses])
    >>> inverse_cdt(cdt(masses, edges, points=levels), edges, points=levels)
    array([0.1, 0.2, 0.4, 0.3])
    """
    places, grid = _validation.coordinates(values, "values"), _validation.coordinates(edges, "edges")
    if places.ndim < 1 or places.shape[-1] < 2 or places.size == 0:
        raise ArgumentValueError("values", f"must have shape (…, n_points) with n_points ≥ 2, got {places.shape}")
    if points is None:
        _checked_reference(reference)
        levels = _level_grid(places.shape[-1], "midpoint")
    else:
        levels, shape = _levels(reference, points)
        if shape != places.shape[-1:]:
            raise ArgumentValueError("points", f"must have shape {places.shape[-1:]}, one a value, got {shape}")
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
    rows = ascending(places, "values").reshape(-1, places.shape[-1])
    ends = np.broadcast_to(grid, (*places.shape[:-1], grid.shape[-1])).reshape(len(rows), -1)
    # in a unit of about the width of the measure, so that slopes are neither huge nor tiny
    exponent = -np.frexp(rows[:, -1:] - rows[:, :1])[1]
    with np.errstate(over="ignore"):  # an edge that is far away may as well be at infinity
        middle = rows[:, :1].copy()
        rows, ends = np.ldexp(rows - middle, exponent), np.ldexp(ends - middle, exponent)
    masses = _kernels.current().quantile_masses(rows, levels, ends)
    return masses.reshape(*places.shape[:-1], -1)


def ascending(values: Floats, name: str) -> Floats:
    """Quantile functions, without the steps down that are rounding."""
    steps = np.diff(values, axis=-1)
    if (steps < -1e-9 * np.abs(values).max(axis=-1, keepdims=True)).any():
        raise ArgumentValueError(
            name,
            f"must not descend along the last axis, for they are quantiles, got a step of {steps.min():g}; "
            f"sorted along that axis they are the nearest quantile functions",
        )
    return np.maximum.accumulate(values, axis=-1)


def _of_bins(mass: ArrayLike, edges: ArrayLike, levels: Floats) -> Floats:
    masses, grid = checked_bins(mass, edges, "mass", "edges")
    rows = rescaled(masses.reshape(-1, masses.shape[-1]))
    positions = _kernels.current().bin_quantiles(rows, levels)
    ends = np.broadcast_to(grid, (*masses.shape[:-1], grid.shape[-1])).reshape(len(rows), -1)
    bins = np.minimum(positions.astype(np.int64), rows.shape[1] - 1)
    left, right = np.take_along_axis(ends, bins, 1), np.take_along_axis(ends, bins + 1, 1)
    return (left + (positions - bins) * (right - left)).reshape(*masses.shape[:-1], levels.size)


def _of_samples(samples: ArrayLike | None, weights: ArrayLike | None, levels: Floats) -> Floats:
    places = _validation.coordinates(samples, "samples")
    if places.ndim < 1 or places.size == 0:
        raise ArgumentValueError("samples", f"must have shape (…, n) with n ≥ 1, got {places.shape}")
    shares = np.ones(places.shape[-1]) if weights is None else _validation.finite_array(weights, "weights")
    if shares.shape not in (places.shape, places.shape[-1:]):
        expected = " or ".join(sorted({str(places.shape), str(places.shape[-1:])}))
        raise ArgumentValueError("weights", f"must have shape {expected}, got {shares.shape}")
    check_masses(shares, "weights")
    rows = places.reshape(-1, places.shape[-1])
    shares = rescaled(np.broadcast_to(shares, places.shape).reshape(rows.shape))
    return sample_quantiles(rows, shares, levels).reshape(*places.shape[:-1], levels.size)


def sample_quantiles(places: Floats, shares: Floats, levels: Floats) -> Floats:
    """inf{s : F(s) > t} of Σ_i shares_i δ(places_i), divided by its mass; at t = 1 the last place with mass.

    Places (m, n), shares (m, n) or (n,), levels (n_levels,); values (m, n_levels).
    """
    order = np.argsort(places, axis=-1, kind="stable")
    cumulated = np.cumsum(np.take_along_axis(np.broadcast_to(shares, places.shape), order, axis=-1), axis=-1)
    chosen = np.empty((len(places), levels.size), np.intp)
    for row, sums in zip(chosen, cumulated):
        last = np.searchsorted(sums, sums[-1], side="left")
        np.minimum(np.searchsorted(sums, levels * sums[-1], side="right"), last, out=row)
    return np.take_along_axis(places, np.take_along_axis(order, chosen, axis=-1), axis=-1)


def checked_bins(mass: ArrayLike, edges: ArrayLike, mass_name: str, edges_name: str) -> tuple[Floats, Floats]:
    """Masses (…, n) that are none negative and not all 0, and ascending edges (n + 1,) or (…, n + 1)."""
    masses, grid = _validation.finite_array(mass, mass_name), _validation.coordinates(edges, edges_name)
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
    if (masses < 0).any():
        raise ArgumentValueError(name, f"must not be negative, got {_validation.first_where(masses < 0, masses)}")
    empty = np.argwhere(~masses.any(axis=-1))
    if len(empty):
        where = f" in row {empty[0].tolist()}" if masses.ndim > 1 else ""
        raise ArgumentValueError(name, f"must not be all 0, got zeros only{where}")


def _levels(reference: Reference | None, points: ArrayLike | None) -> tuple[Floats, tuple[int, ...]]:
    """F_ρ at the points, flat, and the shape of the points."""
    if points is None:  # F_ρ of the quantiles of ρ, which has no atoms
        _checked_reference(reference)
        return quantile_levels(64), (64,)
    places = real_points(points)
    if places.size == 0:
        raise ArgumentValueError("points", "must hold at least one point, got none")
    rho = _checked_reference(reference)
    if rho is None:
        levels = np.clip(places, 0, 1)
    elif isinstance(rho, tuple):
        cumulated = np.concatenate([[0], np.cumsum(rescaled(rho[0]))])
        levels = np.interp(places, rho[1], cumulated / cumulated[-1])
    else:
        levels = np.asarray(rho.cdf(places), np.float64)
        if np.isnan(levels).any():
            raise ArgumentValueError("reference", "must have a cumulative function, got NaN: are its parameters valid?")
    return levels.ravel(), places.shape


def real_points(points: ArrayLike) -> Floats:
    """Points of the line, which may be ±∞ but not NaN."""
    places = _validation.real_array(points, "points").astype(np.float64)
    if np.isnan(places).any():
        raise ArgumentValueError("points", f"must not be NaN, got {_validation.first_where(np.isnan(places), places)}")
    return places


def _checked_reference(reference: Reference | None) -> Any:
    """None, (masses, edges) or a frozen distribution, without atoms."""
    if reference is None:
        return None
    if isinstance(reference, (tuple, list)) and len(reference) == 2:
        masses, edges = checked_bins(reference[0], reference[1], "reference masses", "reference edges")
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

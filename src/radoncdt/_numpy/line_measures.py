"""Measures on the line: masses from quantiles, and transport."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats

__all__ = ["SAME_LEVEL", "SAME_PLACE", "quantile_masses", "transport"]

SAME_PLACE = 1e-12
"""Places whose distance is below this share of the width of a measure are equal up to rounding."""

SAME_LEVEL = 1e-14
"""Levels that differ by at most this are equal up to rounding."""

AT_ONCE = 2**16
"""Number of edges in one temporary array."""


def quantile_masses(values: Floats, levels: Floats, edges: Floats) -> Floats:
    """Masses (n, n_edges − 1) between ascending edges (n, n_edges) of measures given by quantiles (n, n_levels).

    The cumulative function is the monotone cubic of Fritsch and Butland through the points (value, level); values that
    are equal up to rounding form a jump. Beyond the first and the last value there are tails. Mass on an edge counts to
    its left.
    """
    out = np.empty((len(values), edges.shape[1] - 1))
    step = max(1, AT_ONCE // (edges.shape[1] + levels.size))
    with np.errstate(all="ignore"):  # formulas are evaluated everywhere, and used where they are valid
        for some in (slice(k, k + step) for k in range(0, len(values), step)):
            below = _evaluate_cumulative(values[some], levels, edges[some])
            out[some] = np.maximum(np.diff(below, axis=1), 0.0)
    return out


def _evaluate_cumulative(q: Floats, levels: Floats, edges: Floats) -> Floats:
    """Evaluate the cumulative functions at the edges."""
    n = levels.size
    # width[k] and secant[k] belong to the interval before value k; those at both ends are 0, as at a jump
    steps = np.diff(q, axis=1)
    ascends = steps > SAME_PLACE * (q[:, -1:] - q[:, :1])
    width, secant = np.zeros((len(q), n + 1)), np.zeros((len(q), n + 1))
    width[:, 1:-1] = np.where(ascends, steps, 0.0)
    secant[:, 1:-1] = np.where(ascends, np.diff(levels) / steps, 0.0)

    h0, h1, d0, d1 = width[:, :-1], width[:, 1:], secant[:, :-1], secant[:, 1:]
    before, behind = np.maximum(np.arange(n) - 1, 0), np.minimum(np.arange(n) + 2, n)
    mean = 3 * (h0 + h1) / ((2 * h1 + h0) / d0 + (h1 + 2 * h0) / d1)
    inside = (h0 > 0) & (h1 > 0)
    slope_left = np.where(inside, mean, _end_slope(h0, width[:, before], d0, secant[:, before]))
    slope_right = np.where(inside, mean, _end_slope(h1, width[:, behind], d1, secant[:, behind]))

    k = np.stack([np.searchsorted(row, ends, side="right") for row, ends in zip(q, edges)])  # values up to each edge
    left, right = np.clip(k - 1, 0, n - 1), np.minimum(k, n - 1)
    h = np.take_along_axis(width, k, 1)
    x = (edges - np.take_along_axis(q, left, 1)) / h
    cubic = levels[left] * (1 + 2 * x) * (1 - x) ** 2 + levels[right] * x * x * (3 - 2 * x)
    bend = np.take_along_axis(slope_right, left, 1) * (1 - x) - np.take_along_axis(slope_left, right, 1) * x
    cubic += h * x * (1 - x) * bend

    second, last = min(2, n), max(n - 2, 0)
    start = _tail(levels[0], q[:, :1] - edges, width[:, [1]], width[:, [second]], secant[:, [1]], secant[:, [second]])
    end = _tail(
        1 - levels[-1], edges - q[:, -1:], width[:, [n - 1]], width[:, [last]], secant[:, [n - 1]], secant[:, [last]]
    )
    return np.select([k == 0, k == n, h == 0], [start, 1 - end, levels[left]], cubic)


def _end_slope(h0: Floats, h1: Floats, d0: Floats, d1: Floats) -> Floats:
    """Slope of the parabola through three points at the first of them, between half and twice the first secant.

    `h0` and `h1` are the widths of the two intervals, `d0` and `d1` their secants.
    """
    slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1)
    return np.where(h1 > 0, np.minimum(np.maximum(slope, 0.5 * d0), 2 * d0), d0)


def _tail(mass: float, distance: Floats, h0: Floats, h1: Floats, d0: Floats, d1: Floats) -> Floats:
    """Mass of a tail beyond a distance from its beginning: mass · (1 − distance/L)^k, k and L from F′ and F″ there.

    The exponent is 1 for a uniform measure, 3/2 for a disc, and large for a Gaussian.
    """
    if mass <= 0:
        return np.zeros(distance.shape)
    slope = _end_slope(h0, h1, d0, d1)
    bend = np.where(h1 > 0, 2 * (d1 - d0) / (h0 + h1), 0.0)
    exponent = 1 / (1 - np.clip(bend * mass / slope**2, 0.0, 0.95))
    rest = np.maximum(1 - distance * slope / (exponent * mass), 0.0)
    return np.where(d0 > 0, mass * rest**exponent, 0.0)


def transport(mass_a: Floats, places_a: Floats, mass_b: Floats, places_b: Floats, p: float) -> Floats:
    """Wasserstein-p distances (n,) of measures on the line, row by row.

    Both quantile functions are linear between the levels where pieces end, so the integral of |x − y|^p over the levels
    is exact.
    """
    rows = zip(mass_a, places_a, mass_b, places_b)
    return np.array([_distance(_Pieces.of(a, x), _Pieces.of(b, y), p) for a, x, b, y in rows])


class _Pieces(NamedTuple):
    """The pieces of a measure that have mass, in the order of their places."""

    begins: Floats
    """Places where the pieces begin."""
    ends: Floats
    """Places where the pieces end."""
    levels: Floats
    """Shares of the mass up to the end of each piece."""

    @classmethod
    def of(cls, mass: Floats, places: Floats) -> "_Pieces":
        some = np.flatnonzero(mass)
        mass, wide = mass[some], places.size - mass.size
        # a sum and its rounding errors (Neumaier): running sums of many masses must not drift
        after = np.cumsum(mass)
        before = np.concatenate([[0.0], after[:-1]])
        errors = np.where(before >= mass, (before - after) + mass, (mass - after) + before)
        sums = after + np.cumsum(errors)
        levels = sums / sums[-1]
        levels[-1] = 1.0
        return cls(places[some], places[some + wide], levels)


def _distance(a: _Pieces, b: _Pieces, p: float) -> float:
    begins, ends, shares = _differences(a, b)
    largest = float(max(np.abs(begins).max(), np.abs(ends).max()))
    if p == np.inf or largest == 0:
        return largest
    power = (_mean_power(begins / largest, ends / largest, p) * shares).sum()
    return float(largest * power ** (1 / p))


def _differences(a: _Pieces, b: _Pieces) -> tuple[Floats, Floats, Floats]:
    """Differences of the quantile functions at the beginning and the end of each common piece, and its mass."""
    order, joined = _merge(a.levels, b.levels)
    ended_a = np.cumsum(order < a.levels.size)
    ended_b = np.arange(1, order.size + 1) - ended_a
    new = np.flatnonzero(~joined)
    until = np.concatenate([a.levels, b.levels])[order[new]]
    i, j = (np.concatenate([[0], ended])[new] for ended in (ended_a, ended_b))
    both = (i < a.levels.size) & (j < b.levels.size)  # the rest of the longer one is due to rounding
    until, i, j = until[both], i[both], j[both]
    level = np.concatenate([[0.0], until[:-1]])
    (x0, x1), (y0, y1) = _quantiles(a, i, level, until), _quantiles(b, j, level, until)
    return x0 - y0, x1 - y1, until - level


def _quantiles(pieces: _Pieces, i: NDArray[np.intp], level: Floats, until: Floats) -> tuple[Floats, Floats]:
    """Quantiles at the beginning and the end of parts of the pieces i, which ascend."""
    begin = level[np.searchsorted(i, i)]  # level of the first part of the piece
    whole = pieces.levels[i] - begin
    x0, x1 = pieces.begins[i], pieces.ends[i]
    slope = np.divide(x1 - x0, whole, out=np.zeros(i.size), where=whole > 0)
    ends = np.concatenate([i[1:] != i[:-1], [True]])  # exactly at the end of the piece
    return x0 + slope * (level - begin), np.where(ends, x1, x0 + slope * (until - begin))


def _merge(a: Floats, b: Floats) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Merge levels: their order, with those of b numbered after those of a, and whether each equals the one before.

    Levels that differ by at most SAME_LEVEL count as equal, because rounding must not pair a point with its partner's
    neighbour.
    """
    levels = np.concatenate([a, b])
    order = np.argsort(levels, kind="stable")
    ascending, from_a = levels[order], order < a.size
    close = np.concatenate([[False], ascending[1:] <= ascending[:-1] + SAME_LEVEL])  # to the one before
    joined = close & np.concatenate([[False], from_a[1:] != from_a[:-1]])
    crowded = close & np.concatenate([close[1:], [False]])  # three or more that are nearly equal are merged one by one
    done = 0
    for k in np.flatnonzero(crowded).tolist():
        if k >= done:
            first, done = k - 1, k + 1
            while done < order.size and close[done]:
                done += 1
            order[first:done], joined[first:done] = _merge_one_by_one(order[first:done], levels, a.size)
    return order, joined


def _merge_one_by_one(order: NDArray[np.intp], levels: Floats, size: int) -> tuple[list[int], list[bool]]:
    """Merge ascending levels of which several are nearly equal. Those below `size` belong to a."""
    of_a, of_b = order[order < size].tolist(), order[order >= size].tolist()
    merged: list[int] = []
    joined: list[bool] = []
    i = j = 0
    while i < len(of_a) or j < len(of_b):
        here = of_a[i : i + 1] + of_b[j : j + 1]
        here.sort(key=lambda k: levels[k])
        if len(here) == 2 and levels[here[1]] > levels[here[0]] + SAME_LEVEL:
            del here[1]
        for k in here:
            merged.append(k)
            joined.append(k != here[0])
            i, j = i + (k < size), j + (k >= size)
    return merged, joined


def _mean_power(d0: Floats, d1: Floats, p: float) -> Floats:
    """Mean of |d|^p for d that moves uniformly from d0 to d1, both of absolute value at most 1."""
    if p == 2:
        return (d0 * d0 + d0 * d1 + d1 * d1) / 3
    a, b = np.minimum(np.abs(d0), np.abs(d1)), np.maximum(np.abs(d0), np.abs(d1))
    middle, bend = 0.5 * (a + b), 0.5 * (b - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        across = (a ** (p + 1) + b ** (p + 1)) / ((p + 1) * (a + b))
        near = middle**p * (1 + p * (p - 1) / 6 * (bend / middle) ** 2)
        far = (b ** (p + 1) - a ** (p + 1)) / ((p + 1) * (b - a))
    # if a and b are nearly equal, the difference of powers would suffer from cancellation
    return np.select([b == 0, (d0 < 0) != (d1 < 0), p * bend < 1e-3 * middle], [0.0, across, near], far)

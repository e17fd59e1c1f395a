"""Comparing descriptors: all rotations and reflections of one circle of curves against another.

A descriptor is N_η(t) on the half circle; the other half is −N_η(1 − t). The distance of two, F and G, at a turn is the
root mean square of G_k − F_{k−s} or, if mirrored, of G_k − F_{s−k}; s = 0, …, 2n − 1 counts steps of the circle. The
distance at the best turn is evaluated directly, because ‖F‖² + ‖G‖² − 2⟨F, G⟩ suffers from cancellation. Only few turns
have to be tried: the low frequencies along the circle give the correlations at all turns at once, and the error is at
most the product of the norms of the higher frequencies. The result is the same as if all turns were tried.
"""

from bisect import insort

import numpy as np
from numpy.typing import NDArray

from radoncdt._interface import KEPT, LANES, Maps, Waves
from radoncdt._numpy.penalties import penalise_turns
from radoncdt._numpy.plausibility import find_plausible_angles
from radoncdt._typing import Floats

__all__ = ["GROUPS", "ROUNDING", "least_distances", "nearest", "within"]

GROUPS = KEPT // (2 * LANES)
"""Number of groups of odd frequencies in the waves, and also of even ones."""

ROUNDING = 1e-5
"""Error of correlations, relative to the norms, because the waves are in float32."""

AT_ONCE = 2**16
"""Number of elements of a temporary array."""

MOST_AT_ONCE = 64
"""Entries compared before the bounds of the next are checked again."""


def least_distances(
    x: Waves,
    y: Waves,
    *,
    maps: Maps,
    ascending: bool,
    rows: tuple[int, int],
    columns: tuple[int, int],
    distances: Floats,
    turns: NDArray[np.int64] | None = None,
) -> None:
    """Root mean square distances, at the best turns, of descriptors of x in `rows` to those of y in `columns`."""
    for i in range(*rows):
        some = np.arange(max(columns[0], i + 1) if ascending else columns[0], columns[1])
        distances[i, some], best = _distances(x, i, y, some, maps)
        if turns is not None:
            turns[i, some] = best


def within(
    x: Waves,
    i: int,
    y: Waves,
    *,
    maps: Maps,
    bounds: Floats,
    left_out: int,
    radius: float,
) -> Floats:
    """Distances (len(y),) of descriptor i of x to those of y that may be within a radius; infinite for others."""
    distances = np.full(bounds.size, np.inf)
    some = np.flatnonzero((bounds <= radius) & (np.arange(bounds.size) != left_out))
    distances[some], _ = _distances(x, i, y, some, maps)
    return distances


def nearest(
    x: Waves,
    i: int,
    y: Waves,
    *,
    maps: Maps,
    bounds: Floats,
    order: NDArray[np.intp],
    left_out: int,
    distances: Floats,
    numbers: NDArray[np.intp],
) -> None:
    """Find the descriptors of y nearest to descriptor i of x: their distances and numbers, as many as these hold."""
    found: list[tuple[float, int]] = []
    position, count = 0, distances.size
    while position < order.size and bounds[order[position]] <= _farthest(found, distances.size):
        some = order[position : position + count]
        some = some[(some != left_out) & (bounds[some] <= _farthest(found, distances.size))]
        for distance, j in zip(_distances(x, i, y, some, maps)[0].tolist(), some.tolist()):
            if distance < np.inf and bounds[j] <= _farthest(found, distances.size):
                insort(found, (distance, j))
                del found[distances.size :]
        position, count = position + count, max(count, min(2 * count, MOST_AT_ONCE))
    for place, (distance, j) in enumerate(found):
        distances[place], numbers[place] = distance, j


def _farthest(found: list[tuple[float, int]], room: int) -> float:
    """The largest distance at which another entry is still among the nearest."""
    return found[-1][0] if len(found) == room else np.inf


def _distances(x: Waves, i: int, y: Waves, columns: NDArray[np.intp], maps: Maps) -> tuple[Floats, NDArray[np.int64]]:
    """Distances of descriptor i of x to some of y, and their turns; infinite and −1 if no turn is plausible."""
    half = x.values[i].astype(np.float64)
    circle = np.concatenate([half, -half[:, ::-1]])
    phases = np.pi / len(half) * (_frequencies()[:, None] * np.arange(len(circle)) % len(circle))
    cosines, sines = np.cos(phases), np.sin(phases)
    squares, best_turns = np.empty(columns.size), np.full(columns.size, -1, np.int64)
    step = max(1, AT_ONCE // max(x.waves.shape[1], 6 * len(half)))
    for some in (slice(k, k + step) for k in range(0, columns.size, step)):
        plain, mirrored = _products(x, i, y, columns[some])
        turned = [each.real @ cosines - each.imag @ sines for each in (plain, mirrored)[: 1 + maps.reflections]]
        correlations = np.concatenate(turned, axis=1)  # (n, 2·n_angles), or (n, 4·n_angles) with reflections
        if maps.limits is not None:
            near = find_plausible_angles(x.covariances[i], y.covariances[columns[some]], maps.limits, len(half))
            near = np.tile(near[:, : 1 + maps.reflections], 2)  # the same for the other half of the circle
            correlations[np.isnan(near).reshape(correlations.shape)] = -np.inf
        penalties = np.zeros(correlations.shape)
        if maps.prior is not None:
            both = penalise_turns(x.covariances[i], y.covariances[columns[some]], maps.prior, len(half))
            penalties = both[:, : 1 + maps.reflections].reshape(correlations.shape)
            correlations -= penalties / 2  # the mean square distance is a constant minus twice the correlation
        error = x.norms[i] * y.norms[columns[some]]
        uncertain = error[:, 1] + ROUNDING * (1 + half.shape[1] / 256) * error[:, 0]
        least = correlations.max(axis=1) - 2 * uncertain
        pairs, turns = np.nonzero((correlations >= least[:, None]) & (correlations > -np.inf))
        totals = _square_distances(circle, turns, y.values, columns[some][pairs]) + half.size * penalties[pairs, turns]
        best = np.full(len(least), np.inf)
        np.minimum.at(best, pairs, totals)
        squares[some] = best
        first = np.flatnonzero(totals == best[pairs])[::-1]  # the lowest of equal turns is written last
        best_turns[np.arange(columns.size)[some][pairs[first]]] = turns[first]
    return np.sqrt(squares / half.size), best_turns


def _frequencies() -> NDArray[np.intp]:
    """Frequencies (KEPT,) in the order of the waves: the odd ones, then the even ones."""
    return np.concatenate([np.arange(1, KEPT, 2), np.arange(2, KEPT + 1, 2)])


def _products(
    x: Waves, i: int, y: Waves, columns: NDArray[np.intp]
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Sums over the levels of x̄ · y and of x · y, (n, KEPT) each, of the waves of descriptor i of x and some of y.

    Multiplied by e^{iφ}, where φ is the frequency times the angle of a turn, their real parts add up to the
    correlations at plain and at mirrored turns.
    """
    halves = (x.values.shape[2] + 1) // 2
    own = x.waves[i].reshape(2, GROUPS, halves, 2, LANES).astype(np.float64)
    others = y.waves[columns].reshape(-1, 2, GROUPS, halves, 2, LANES).astype(np.float64)
    # real and imaginary parts of x times those of y
    (rr, ri), (ir, ii) = np.einsum("pghal,cpghbl->abcpgl", own, others).reshape(2, 2, -1, KEPT)
    return (rr + ii) + 1j * (ri - ir), (rr - ii) + 1j * (ri + ir)


def _square_distances(
    circle: Floats, turns: NDArray[np.intp], values: NDArray[np.floating], columns: NDArray[np.intp]
) -> Floats:
    """Σ (values[column] − circle at a turn)² over half the circle, for pairs of turns and columns (n,)."""
    n_rows, n_angles = len(circle), len(circle) // 2
    squares = np.empty(turns.size)
    step = max(1, AT_ONCE // circle[:n_angles].size)
    for some in (slice(k, k + step) for k in range(0, turns.size, step)):
        turn = turns[some, None]
        k = np.arange(n_angles)
        rows = np.where(turn < n_rows, k - turn, turn - n_rows - k) % n_rows
        differences = (values[columns[some]] - circle[rows]).reshape(len(turn), -1)
        differences *= differences
        squares[some] = differences.sum(axis=1)
    return squares

"""Search for the nearest descriptors without comparing all of them, and find exactly what comparing all would find.

The sizes of the Fourier coefficients along the circle do not change when the circle is turned or mirrored, and their
Euclidean distance is never larger than the distance of two descriptors at any turn. Of these sizes an index keeps
the coordinates in which its entries differ most, and the norm of the rest: distances of such summaries are lower
bounds still. Entries are compared in the order of their bounds until no bound is below the distances found.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _parallel
from radoncdt.descriptors import Descriptors, spectrum_of
from radoncdt.registration import WORK_OF_A_PAIR, Plausible

Floats = NDArray[np.float64]

N_COORDINATES = 32
"""Of a summary, beside the norm of the rest; with more, hardly any entry is left out that was not before."""

LOWEST = 12
"""Frequencies among which the coordinates are chosen; those above are in the norm."""

N_LEARNT = 4096
"""Entries from which the coordinates are chosen."""

SLACK = 1e-5
"""Taken off the bounds, for they are kept in float32."""


class _Coordinates(NamedTuple):
    middle: Floats
    axes: Floats

    @classmethod
    def learn(cls, descriptors: Descriptors) -> "_Coordinates":
        """Where the sizes of the lowest frequencies of some entries, evenly chosen, differ most."""
        chosen = np.unique(np.linspace(0, len(descriptors) - 1, min(N_LEARNT, len(descriptors))).astype(int))
        sizes = np.concatenate([_sizes(descriptors.values[some])[0] for some in _chunks(chosen)])
        middle = sizes.mean(axis=0)
        spread = sizes - middle
        _, vectors = np.linalg.eigh(spread.T @ spread)
        return cls(middle, vectors[:, -N_COORDINATES:])

    def summaries(self, descriptors: Descriptors) -> NDArray[np.float32]:
        """(n, N_COORDINATES + 1), or fewer where there are fewer frequencies."""
        parts = []
        for some in _chunks(np.arange(len(descriptors))):
            sizes, rest = _sizes(descriptors.values[some])
            spread = sizes - self.middle
            coordinates = spread @ self.axes
            beside = (spread**2).sum(axis=1) - (coordinates**2).sum(axis=1)
            parts.append(np.column_stack([coordinates, np.sqrt(np.maximum(beside, 0) + rest)]))
        return np.concatenate(parts).astype(np.float32)


def _chunks(indices: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [indices[k : k + 64] for k in range(0, len(indices), 64)]


def _sizes(values: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Sizes of the lowest Fourier coefficients, flattened, and the sum of the squares of all others."""
    sizes = np.abs(spectrum_of(values))
    rest = (sizes[:, LOWEST + 1 :] ** 2).sum(axis=(1, 2))
    return sizes[:, : LOWEST + 1].reshape(len(values), -1), rest


class AffineIndex:
    """Descriptors, ready to be searched.

    Parameters
    ----------
    descriptors : Descriptors
        The entries.
    reflections : bool
        Whether mirror images are the same.
    plausible : Plausible
        Which maps, from a query to an entry, are.
    """

    def __init__(self, descriptors: Descriptors, reflections: bool, plausible: Plausible) -> None:
        self.descriptors, self.reflections, self.plausible = descriptors, reflections, plausible
        self._coordinates = _Coordinates.learn(descriptors)
        self._summaries = np.ascontiguousarray(self._coordinates.summaries(descriptors).T)

    def nearest(
        self, queries: Descriptors, k: int, n_jobs: int | None, *, but_themselves: bool = False
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Distances and numbers of the k nearest entries of every query, (n, k) each, the nearest first.

        Of entries at the same distance the first come first. Entries that no plausible map leads to are infinitely far.
        With `but_themselves` query i is entry i, which is left out.
        """
        n = len(queries)
        distances, numbers = np.full((n, k), np.inf), np.full((n, k), -1, np.intp)
        self._search(queries, np.inf, but_themselves, n_jobs, distances, numbers)
        for row, missing in enumerate((numbers < 0).sum(axis=1)):
            if missing:
                far = np.setdiff1d(np.arange(len(self.descriptors)), [*numbers[row], row if but_themselves else -1])
                numbers[row, k - missing :] = far[:missing]
        return distances, numbers

    def within(
        self, queries: Descriptors, radius: float, n_jobs: int | None, *, but_themselves: bool = False
    ) -> list[tuple[Floats, NDArray[np.intp]]]:
        """Distances and numbers of the entries at most `radius` away from every query, the nearest first."""
        found = []
        for i in range(len(queries)):  # one by one: any number of entries may be within
            distances = np.full((1, len(self.descriptors)), np.inf)
            numbers = np.full(distances.shape, -1, np.intp)
            self._search(queries[i], radius, but_themselves, n_jobs, distances, numbers, first=i)
            there = numbers[0] >= 0
            found.append((distances[0, there], numbers[0, there]))
        return found

    def _search(
        self,
        queries: Descriptors,
        radius: float,
        but_themselves: bool,
        n_jobs: int | None,
        distances: Floats,
        numbers: NDArray[np.intp],
        first: int = 0,
    ) -> None:
        """Fill in the nearest entries within a radius, as many as there is room for."""
        from radoncdt import _match_kernels

        x, y = queries.astype(self.descriptors.values.dtype).waves, self.descriptors.waves
        summaries = self._coordinates.summaries(queries)
        turns, limits = _match_kernels.turns_of(queries.settings.n_angles), self.plausible.limits

        def search(i: int) -> None:
            squares = np.zeros(len(self.descriptors))
            for own, others in zip(summaries[i], self._summaries):
                squares += np.square(others - own)
            bounds = np.sqrt(squares) - SLACK
            order = np.argsort(bounds)
            left_out = first + i if but_themselves else -1
            _match_kernels.nearest(
                x,
                i,
                y,
                turns,
                self.reflections,
                self.plausible.limited,
                limits,
                bounds,
                order,
                left_out,
                radius,
                distances[i],
                numbers[i],
            )

        work = len(queries) * len(self.descriptors) * WORK_OF_A_PAIR * 64 // 20
        _parallel.for_each(search, range(len(queries)), _parallel.n_workers(n_jobs, work))

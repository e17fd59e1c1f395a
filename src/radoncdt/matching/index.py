"""Search for the nearest descriptors without comparing all of them, and find exactly what comparing all would find.

The sizes of the Fourier coefficients along the circle do not change when the circle is turned or mirrored, and their
Euclidean distance is never larger than the distance of two descriptors at any turn. Of these sizes an index keeps
the coordinates in which its entries differ most, and the norm of the rest: distances of such summaries are lower
bounds still. Entries are compared in the order of their bounds until no bound is below the distances found.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels, _threads
from radoncdt._typing import Floats
from radoncdt.matching.descriptors import Descriptors, Settings, spectrum_of
from radoncdt.matching.registration import WORK, Plausible

N_COORDINATES = 32
"""Of a summary, at most, beside the norm of the rest; with more, hardly any entry is left out that was not before."""

LOWEST = 12
"""Frequencies among which the coordinates are chosen; those above are in the norm."""

N_LEARNT = 1024
"""Entries from which the coordinates are chosen."""

SLACK = 3e-7
"""Taken off the bounds, as a share of the norms of both summaries: the norm of the rest is a difference, and summaries
may be in float32."""

ROUNDING = 1e-5
"""Taken off the bounds, as a share of them, for distances of float32 are rounded."""


class Coordinates(NamedTuple):
    """The coordinates of summaries."""

    middle: Floats
    axes: Floats

    @classmethod
    def learn(cls, descriptors: Descriptors) -> "Coordinates":
        """Where the sizes of the lowest frequencies of some entries, evenly chosen, differ most."""
        chosen = np.unique(np.linspace(0, len(descriptors) - 1, min(N_LEARNT, len(descriptors))).astype(int))
        sizes = np.concatenate([_sizes(descriptors.values[some])[0] for some in _chunks(chosen)])
        middle = sizes.mean(axis=0)
        spread = sizes - middle
        if len(spread) < len(middle):  # the smaller of two matrices that have the same eigenvalues
            axes = spread.T @ np.linalg.eigh(spread @ spread.T)[1][:, -N_COORDINATES:]
        else:
            axes = np.linalg.eigh(spread.T @ spread)[1][:, -N_COORDINATES:]
        return cls(middle, np.linalg.qr(axes)[0])  # orthonormal, whatever rounding did

    def summaries(self, descriptors: Descriptors) -> Floats:
        """(n, N_COORDINATES + 1), or fewer."""
        parts = []
        for some in _chunks(np.arange(len(descriptors))):
            sizes, rest = _sizes(descriptors.values[some])
            spread = sizes - self.middle
            coordinates = spread @ self.axes
            beside = (spread**2).sum(axis=1) - (coordinates**2).sum(axis=1)
            parts.append(np.column_stack([coordinates, np.sqrt(np.maximum(beside, 0) + rest)]))
        return np.concatenate(parts)


def lower_bounds(summary: Floats, summaries: NDArray[np.floating], norms: NDArray[np.floating]) -> Floats:
    """Lower bounds of distances: of a query, from its summary, to entries, from theirs (N_COORDINATES + 1, n)."""
    squares = np.zeros(summaries.shape[1])
    for own, others in zip(summary, summaries):
        squares += np.square(others - own)
    bounds: Floats = np.sqrt(squares) * (1 - ROUNDING) - SLACK * (norms + np.linalg.norm(summary))
    return bounds


def _chunks(indices: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [indices[k : k + 64] for k in range(0, len(indices), 64)]


def n_sizes(settings: Settings) -> int:
    """How many sizes of Fourier coefficients summaries are made from."""
    return (min(LOWEST, settings.n_angles) + 1) * ((settings.levels.size + 1) // 2)


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
        self._coordinates = Coordinates.learn(descriptors)
        self._summaries = np.ascontiguousarray(self._coordinates.summaries(descriptors).T)
        self._norms = np.linalg.norm(self._summaries, axis=0)
        self._limits = plausible.limits if plausible.limited else None

    def nearest(
        self, queries: Descriptors, k: int, n_jobs: int | None, *, but_themselves: bool = False
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Distances and numbers of the k nearest entries of every query, (n, k) each, the nearest first.

        Of entries at the same distance the first come first. Entries that no plausible map leads to are infinitely far.
        With `but_themselves` query i is entry i, which is left out.
        """
        n = len(queries)
        distances, numbers = np.full((n, k), np.inf), np.full((n, k), -1, np.intp)
        queries = queries.astype(self.descriptors.values.dtype)
        x, y, kernels = queries.waves, self.descriptors.waves, _kernels.current()
        summaries = self._coordinates.summaries(queries)

        def search(i: int) -> None:
            bounds = self.bounds(summaries[i])
            left_out = i if but_themselves else -1
            kernels.nearest(
                x,
                i,
                y,
                reflections=self.reflections,
                limits=self._limits,
                bounds=bounds,
                order=np.argsort(bounds),
                left_out=left_out,
                distances=distances[i],
                numbers=numbers[i],
            )
            missing = int((numbers[i] < 0).sum())
            if missing:
                far = np.setdiff1d(np.arange(len(self.descriptors)), [*numbers[i], left_out])
                numbers[i, k - missing :] = far[:missing]

        _threads.for_each(search, range(n), self._workers(queries, n_jobs))
        return distances, numbers

    def within(
        self, queries: Descriptors, radius: float, n_jobs: int | None, *, but_themselves: bool = False
    ) -> list[tuple[Floats, NDArray[np.intp]]]:
        """Distances and numbers of the entries at most `radius` away from every query, the nearest first."""
        found: list[Any] = [None] * len(queries)
        queries = queries.astype(self.descriptors.values.dtype)
        x, y, kernels = queries.waves, self.descriptors.waves, _kernels.current()
        summaries = self._coordinates.summaries(queries)

        def search(i: int) -> None:
            distances = kernels.within(
                x,
                i,
                y,
                reflections=self.reflections,
                limits=self._limits,
                bounds=self.bounds(summaries[i]),
                left_out=i if but_themselves else -1,
                radius=radius,
            )
            there = np.flatnonzero(distances <= radius)
            there = there[np.argsort(distances[there], kind="stable")]
            found[i] = distances[there], there

        _threads.for_each(search, range(len(queries)), self._workers(queries, n_jobs))
        return found

    def bounds(self, summary: Floats) -> Floats:
        """Lower bounds of the distances of a query to all entries, from its summary."""
        return lower_bounds(summary, self._summaries, self._norms)

    def _workers(self, queries: Descriptors, n_jobs: int | None) -> int:
        """Threads, one query each; of the entries one in fifty, say, has to be compared."""
        pairs = len(queries) * len(self.descriptors) // 50
        return _threads.count_workers(n_jobs, WORK * pairs * queries.settings.n_angles * queries.settings.n_levels)

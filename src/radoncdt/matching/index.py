"""Exact search for the nearest descriptors without comparing all of them.

The magnitudes of the Fourier coefficients along the circle do not change when the circle is rotated or mirrored, and
their Euclidean distance is never larger than the distance of two descriptors at any rotation. An index summarises the
magnitudes of each entry by the coordinates in which entries differ most and by the norm of the remainder. Distances of
summaries are still lower bounds. Entries are compared in the order of their bounds until no bound is below the
distances found, so the result is the same as if all entries were compared.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels, _threads
from radoncdt._typing import Floats
from radoncdt.matching.affine_distance import PAIR_WORK
from radoncdt.matching.descriptors import Descriptors, compute_spectrum
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior
from radoncdt.matching.settings import DescriptorSettings

__all__ = ["N_SAMPLED", "AffineIndex", "Coordinates", "count_magnitudes", "lower_bounds"]

N_COORDINATES = 32
"""Largest number of coordinates of a summary, beside the norm of the remainder. More would exclude few more entries."""

N_FREQUENCIES = 12
"""Highest frequency from which coordinates are chosen. Higher frequencies are in the norm of the remainder."""

N_SAMPLED = 1024
"""Number of entries from which the coordinates are chosen."""

SLACK = 3e-7
"""Share of the norms of both summaries that is subtracted from a bound. The norm of the remainder is a difference, and
summaries may be in float32."""

ROUNDING = 1e-5
"""Share of a bound that is subtracted from it, because distances in float32 are rounded."""


class Coordinates(NamedTuple):
    """The coordinate system of summaries: an origin and orthonormal axes."""

    middle: Floats
    axes: Floats

    @classmethod
    def choose(cls, descriptors: Descriptors) -> "Coordinates":
        """Choose the axes along which the magnitudes of evenly sampled entries differ most."""
        chosen = np.unique(np.linspace(0, len(descriptors) - 1, min(N_SAMPLED, len(descriptors))).astype(int))
        magnitudes = np.concatenate([_compute_magnitudes(descriptors.values[some])[0] for some in _chunks(chosen)])
        middle = magnitudes.mean(axis=0)
        spread = magnitudes - middle
        if len(spread) < len(middle):  # use the smaller of two matrices with the same eigenvalues
            axes = spread.T @ np.linalg.eigh(spread @ spread.T)[1][:, -N_COORDINATES:]
        else:
            axes = np.linalg.eigh(spread.T @ spread)[1][:, -N_COORDINATES:]
        return cls(middle, np.linalg.qr(axes)[0])  # orthonormal in spite of rounding

    def summarise(self, descriptors: Descriptors) -> Floats:
        """Summaries (n, N_COORDINATES + 1), or fewer columns for few entries: coordinates and norm of the remainder."""
        parts = []
        for some in _chunks(np.arange(len(descriptors))):
            magnitudes, rest = _compute_magnitudes(descriptors.values[some])
            spread = magnitudes - self.middle
            coordinates = spread @ self.axes
            remainder = (spread**2).sum(axis=1) - (coordinates**2).sum(axis=1)
            parts.append(np.column_stack([coordinates, np.sqrt(np.maximum(remainder, 0) + rest)]))
        return np.concatenate(parts)


def lower_bounds(summary: Floats, summaries: NDArray[np.floating], norms: NDArray[np.floating]) -> Floats:
    """Lower bounds of the distances of a query to entries, from its summary and theirs (N_COORDINATES + 1, n)."""
    squares = np.zeros(summaries.shape[1])
    for own, others in zip(summary, summaries):
        squares += np.square(others - own)
    bounds: Floats = np.sqrt(squares) * (1 - ROUNDING) - SLACK * (norms + np.linalg.norm(summary))
    return bounds


def _chunks(indices: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [indices[k : k + 64] for k in range(0, len(indices), 64)]


def count_magnitudes(settings: DescriptorSettings) -> int:
    """The number of magnitudes that summaries are made from."""
    return (min(N_FREQUENCIES, settings.n_angles) + 1) * ((settings.levels.size + 1) // 2)


def _compute_magnitudes(values: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Magnitudes of the lowest Fourier coefficients, flattened, and the sum of the squares of all others."""
    magnitudes = np.abs(compute_spectrum(values))
    rest = (magnitudes[:, N_FREQUENCIES + 1 :] ** 2).sum(axis=(1, 2))
    return magnitudes[:, : N_FREQUENCIES + 1].reshape(len(values), -1), rest


class AffineIndex:
    """A searchable index of descriptors.

    Parameters
    ----------
    descriptors : Descriptors
        The entries.
    limits : Plausible
        Which maps from a query to an entry are plausible.
    prior : MapPrior
        The penalties of maps, which are added to squared distances.
    """

    def __init__(self, descriptors: Descriptors, limits: Plausible, prior: MapPrior = PRIORS["any"]) -> None:
        self.descriptors, self.limits = descriptors, limits
        self._maps = limits.maps._replace(prior=prior.penalties)
        self._coordinates = Coordinates.choose(descriptors)
        self._summaries = np.ascontiguousarray(self._coordinates.summarise(descriptors).T)
        self._norms = np.linalg.norm(self._summaries, axis=0)

    def nearest(
        self, queries: Descriptors, k: int, n_jobs: int | None, *, exclude_self: bool = False
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Distances and numbers of the k nearest entries of every query, (n, k) each, the nearest first.

        Entries at the same distance keep their order. An entry that no plausible map leads to is infinitely far away.
        With `exclude_self`, query i is entry i and is not its own neighbour.
        """
        n = len(queries)
        distances, numbers = np.full((n, k), np.inf), np.full((n, k), -1, np.intp)
        queries = queries.astype(self.descriptors.values.dtype)
        x, y, kernels = queries.waves, self.descriptors.waves, _kernels.current()
        summaries = self._coordinates.summarise(queries)

        def search(i: int) -> None:
            bounds = self.bounds(summaries[i])
            left_out = i if exclude_self else -1
            kernels.nearest(
                x,
                i,
                y,
                maps=self._maps,
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
        self, queries: Descriptors, radius: float, n_jobs: int | None, *, exclude_self: bool = False
    ) -> list[tuple[Floats, NDArray[np.intp]]]:
        """Distances and numbers of the entries within `radius` of every query, the nearest first."""
        found: list[Any] = [None] * len(queries)
        queries = queries.astype(self.descriptors.values.dtype)
        x, y, kernels = queries.waves, self.descriptors.waves, _kernels.current()
        summaries = self._coordinates.summarise(queries)

        def search(i: int) -> None:
            distances = kernels.within(
                x,
                i,
                y,
                maps=self._maps,
                bounds=self.bounds(summaries[i]),
                left_out=i if exclude_self else -1,
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
        """The number of threads. A query is compared with about one entry in fifty."""
        pairs = len(queries) * len(self.descriptors) // 50
        return _threads.count_workers(n_jobs, PAIR_WORK * pairs * queries.settings.n_angles * queries.settings.n_levels)

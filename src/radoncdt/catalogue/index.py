"""What a search reads first: a short summary of every entry, whose distances are lower bounds of the entries' own."""

import io
import zipfile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt.catalogue.store import Store
from radoncdt.descriptors import Descriptors
from radoncdt.registration import Plausible, turned_distances
from radoncdt.search import N_LEARNT, Coordinates, lower_bounds

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

GROWN = 2
"""When there are so many times the entries that coordinates were chosen from, they are chosen anew."""

FIRST, MOST = 64, 1024
"""Entries that are compared before the bounds are looked at again: at first, and at most."""


ALL = Plausible()
"""Every map is plausible."""


class Summaries(NamedTuple):
    """Of all entries, in the order of their numbers."""

    coordinates: Coordinates
    learnt: int
    """How many entries there were when the coordinates were chosen."""
    numbers: Numbers
    values: NDArray[np.float32]
    """(n, coordinates + 1)"""

    def saved(self) -> bytes:
        buffer = io.BytesIO()
        coordinates = self.coordinates._asdict()
        np.savez(buffer, learnt=self.learnt, numbers=self.numbers, values=self.values, **coordinates)
        return buffer.getvalue()


def summaries_of(store: Store) -> Summaries:
    """Those that are stored, brought up to date with the entries."""
    settings, there = store.settings, store.numbers()
    stored = stored_summaries(store)
    if stored is None or len(there) >= GROWN * stored.learnt:
        chosen = there[np.unique(np.linspace(0, len(there) - 1, min(N_LEARNT, len(there))).astype(int))]
        coordinates = Coordinates.learn(store.descriptors(chosen, settings))
        stored = Summaries(coordinates, len(there), there[:0], np.zeros((0, coordinates.axes.shape[1] + 1), np.float32))
    missing = np.setdiff1d(there, stored.numbers)
    parts = [stored.values[np.isin(stored.numbers, there)]]
    for k in range(0, len(missing), MOST):
        some = store.descriptors(missing[k : k + MOST], settings)
        parts.append(stored.coordinates.summaries(some).astype(np.float32))
    numbers = np.concatenate([stored.numbers[np.isin(stored.numbers, there)], missing])
    order = np.argsort(numbers)
    return Summaries(stored.coordinates, stored.learnt, numbers[order], np.concatenate(parts)[order])


def stored_summaries(store: Store) -> Summaries | None:
    rows = store.rows("SELECT arrays FROM summaries")
    if not rows:
        return None
    try:
        with np.load(io.BytesIO(rows[0][0]), allow_pickle=False) as arrays:
            coordinates = Coordinates(arrays["middle"], arrays["axes"])
            found = Summaries(coordinates, int(arrays["learnt"]), arrays["numbers"], arrays["values"])
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        return None  # they follow from the rest
    fits = found.values.shape == (len(found.numbers), coordinates.axes.shape[1] + 1)
    return found if fits else None


def store_summaries(store: Store) -> None:
    """Bring what is stored up to date."""
    data = summaries_of(store).saved() if store.numbers().size else None
    with store.transaction():
        store.db.execute("DELETE FROM summaries")
        if data is not None:
            store.db.execute("INSERT INTO summaries VALUES (1, ?)", [data])


class StoredIndex:
    """Entries of a catalogue, ready to be searched; descriptors are read when they are needed."""

    def __init__(self, store: Store) -> None:
        self.store, self.settings = store, store.settings
        summaries = summaries_of(store)
        self.numbers, self._coordinates = summaries.numbers, summaries.coordinates
        self._summaries = np.ascontiguousarray(summaries.values.T)
        self._norms = np.linalg.norm(self._summaries, axis=0)

    def nearest(
        self,
        query: Descriptors,
        k: int,
        *,
        among: Numbers | None = None,
        reflections: bool = True,
        plausible: Plausible = ALL,
        n_jobs: int | None = -1,
    ) -> tuple[Floats, Numbers]:
        """Distances and numbers of the k entries nearest to a query, or fewer: exactly what comparing all would find.

        Of entries at the same distance those of lower numbers come first. Entries that no plausible map leads to are
        not among them.
        """
        bounds = lower_bounds(self._coordinates.summaries(query)[0], self._summaries, self._norms)
        rows = np.arange(len(self.numbers)) if among is None else np.flatnonzero(np.isin(self.numbers, among))
        rows = rows[np.argsort(bounds[rows], kind="stable")]
        distances, found = np.zeros(0), np.zeros(0, np.int64)
        start, size = 0, FIRST
        self.compared = 0
        while start < len(rows):
            some = rows[start : start + size]
            if len(found) == k:
                some = some[bounds[some] <= distances[-1]]
                if not some.size:
                    break
            start, size = start + size, min(2 * size, MOST)
            numbers = np.sort(self.numbers[some])
            near = turned_distances(
                query.astype(np.float32), self.store.descriptors(numbers, self.settings), reflections, plausible, n_jobs
            )[0]
            self.compared += len(numbers)
            distances, found = np.concatenate([distances, near]), np.concatenate([found, numbers])
            order = np.lexsort([found, distances])[:k]
            distances, found = distances[order], found[order]
        there = np.isfinite(distances)
        return distances[there], found[there]

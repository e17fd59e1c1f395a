"""What a search reads first: a short summary of every entry, whose distances are lower bounds of the entries' own."""

import io
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats
from radoncdt.catalogue import records
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.store import Snapshot, Store
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.index import N_SAMPLED, Coordinates, count_magnitudes, lower_bounds
from radoncdt.matching.plausible import Plausible

Numbers = NDArray[np.int64]

GROWN = 2
"""The coordinates are chosen again when there are this many times the entries that they were chosen from."""

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


class Neighbours(NamedTuple):
    """The entries nearest to a query, the nearest first."""

    distances: Floats
    numbers: Numbers
    compared: int
    """How many entries the query was compared with."""


def summaries_of(snapshot: Snapshot, start: Summaries | None = None) -> Summaries:
    """The summaries of all entries: `start`, or those that are stored, brought up to date."""
    there = snapshot.numbers()
    stored = stored_summaries(snapshot) if start is None else start
    if stored is None or len(there) >= GROWN * stored.learnt:
        chosen = there[np.unique(np.linspace(0, len(there) - 1, min(N_SAMPLED, len(there))).astype(int))]
        coordinates = Coordinates.choose(snapshot.descriptors(chosen))
        stored = Summaries(coordinates, len(there), there[:0], np.zeros((0, coordinates.axes.shape[1] + 1), np.float32))
    missing = np.setdiff1d(there, stored.numbers)
    parts = [stored.values[np.isin(stored.numbers, there)]]
    for k in range(0, len(missing), MOST):
        some = snapshot.descriptors(missing[k : k + MOST])
        parts.append(stored.coordinates.summarise(some).astype(np.float32))
    numbers = np.concatenate([stored.numbers[np.isin(stored.numbers, there)], missing])
    order = np.argsort(numbers)
    return Summaries(stored.coordinates, stored.learnt, numbers[order], np.concatenate(parts)[order])


def stored_summaries(snapshot: Snapshot) -> Summaries | None:
    """The summaries in the file, None if there are none or they cannot be read: they are derived from the rest."""
    try:
        rows = snapshot.stored(records.SUMMARIES)
    except CatalogueError:  # a page of them is damaged
        return None
    for *fields, checksum in rows:
        if not records.problems_of(records.SUMMARIES, fields, checksum, version=snapshot.version):
            found = _loaded(fields[1])
            if found is not None and found.coordinates.middle.size == count_magnitudes(snapshot.settings):
                return found
    return None


def _loaded(data: bytes) -> Summaries | None:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            middle, axes, numbers, values = (arrays[name] for name in ("middle", "axes", "numbers", "values"))
            learnt = int(arrays["learnt"])
    except Exception:  # NumPy raises errors of many kinds for damaged files
        return None
    if axes.ndim != 2 or numbers.ndim != 1 or numbers.dtype != np.int64 or values.dtype != np.float32:
        return None
    size, count = axes.shape
    shapes_fit = middle.shape == (size,) and values.shape == (len(numbers), count + 1)
    numbers_fit = all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (middle, axes, values))
    if not shapes_fit or not numbers_fit or learnt < 1 or (np.diff(numbers) <= 0).any():
        return None
    return Summaries(Coordinates(middle, axes), learnt, numbers, values)


def store_summaries(store: Store) -> None:
    """Bring what is stored up to date. Most of it is computed before other writers have to wait.

    Where that fails, because a page or an entry is damaged, the summaries in the file stay as they are. Searches
    complete them in memory, or say which entry is damaged.
    """
    with suppress(CatalogueError):
        with store.snapshot() as snapshot:
            prepared = summaries_of(snapshot) if snapshot.count() else None
        with store.transaction() as transaction:
            data = summaries_of(transaction, prepared).saved() if transaction.count() else None
            transaction.put_summaries(data)


class StoredIndex:
    """Entries of a catalogue, ready to be searched; descriptors are read when they are needed.

    It belongs to one state of the entries, see `Snapshot.state`, and is never changed, so threads may share it.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.state, self.settings = snapshot.state(), snapshot.settings
        summaries = summaries_of(snapshot)
        self.numbers, self._coordinates = summaries.numbers, summaries.coordinates
        self._summaries = np.ascontiguousarray(summaries.values.T)
        self._norms = np.linalg.norm(self._summaries, axis=0)

    def nearest(
        self,
        snapshot: Snapshot,
        query: Descriptors,
        k: int,
        *,
        among: Numbers | None = None,
        limits: Plausible = ALL,
        n_jobs: int | None = -1,
    ) -> Neighbours:
        """The k entries nearest to a query, or fewer: exactly what comparing all would find.

        Of entries at the same distance those of lower numbers come first. Entries that no plausible map leads to are
        not among them. `snapshot` must show the entries that the index is of.
        """
        bounds = lower_bounds(self._coordinates.summarise(query)[0], self._summaries, self._norms)
        rows = np.arange(len(self.numbers)) if among is None else np.flatnonzero(np.isin(self.numbers, among))
        rows = rows[np.argsort(bounds[rows], kind="stable")]
        distances, found = np.zeros(0), np.zeros(0, np.int64)
        start, size = 0, FIRST
        compared = 0
        while start < len(rows):
            some = rows[start : start + size]
            if len(found) == k:
                some = some[bounds[some] <= distances[-1]]
                if not some.size:
                    break
            start, size = start + size, min(2 * size, MOST)
            numbers = np.sort(self.numbers[some])
            near = compute_distances(query.astype(np.float32), snapshot.descriptors(numbers), limits, n_jobs)[0]
            compared += len(numbers)
            distances, found = np.concatenate([distances, near]), np.concatenate([found, numbers])
            order = np.lexsort([found, distances])[:k]
            distances, found = distances[order], found[order]
        there = np.isfinite(distances)
        return Neighbours(distances[there], found[there], compared)

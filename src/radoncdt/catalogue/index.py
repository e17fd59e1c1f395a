"""The index of a catalogue: a short summary of every entry, whose distances are lower bounds of true distances."""

import io
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._typing import Floats
from radoncdt.catalogue import schema
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.catalogue.store import Store
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.index import N_SAMPLED, Coordinates, count_magnitudes, lower_bounds
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior

__all__ = ["Neighbours", "StoredIndex", "Summaries", "load_summaries", "store_summaries", "update_summaries"]

_Numbers = NDArray[np.int64]

_GROWTH = 2  # the coordinates are chosen again once the number of entries has grown by this factor
_FIRST_BLOCK, _MAX_BLOCK = 64, 1024  # entries that are compared before the bounds are checked again


class Summaries(NamedTuple):
    """Summaries of all entries, ordered by number."""

    coordinates: Coordinates
    n_chosen_from: int  # number of entries when the coordinates were chosen
    numbers: _Numbers
    values: NDArray[np.float32]  # summaries (n, coordinates + 1)

    def to_bytes(self) -> bytes:
        """Return the bytes of an .npz file."""
        buffer, (middle, axes) = io.BytesIO(), self.coordinates
        np.savez(buffer, learnt=self.n_chosen_from, numbers=self.numbers, values=self.values, middle=middle, axes=axes)
        return buffer.getvalue()


def update_summaries(snapshot: Snapshot, start: Summaries | None = None) -> Summaries:
    """Return up-to-date summaries of all entries, based on `start` or on the stored ones."""
    there = snapshot.numbers()
    old = load_summaries(snapshot) if start is None else start
    if old is None or len(there) >= _GROWTH * old.n_chosen_from:
        chosen = there[np.unique(np.linspace(0, len(there) - 1, min(N_SAMPLED, len(there))).astype(int))]
        coordinates = Coordinates.choose(snapshot.descriptors(chosen))
        old = Summaries(coordinates, len(there), there[:0], np.zeros((0, coordinates.axes.shape[1] + 1), np.float32))
    kept, missing = np.isin(old.numbers, there), np.setdiff1d(there, old.numbers)
    parts = [old.values[kept]]
    for k in range(0, len(missing), _MAX_BLOCK):
        descriptors = snapshot.descriptors(missing[k : k + _MAX_BLOCK])
        parts.append(old.coordinates.summarise(descriptors).astype(np.float32))
    numbers = np.concatenate([old.numbers[kept], missing])
    order = np.argsort(numbers)
    return Summaries(old.coordinates, old.n_chosen_from, numbers[order], np.concatenate(parts)[order])


def load_summaries(snapshot: Snapshot) -> Summaries | None:
    """Return the stored summaries, None if there are none or they are damaged."""
    try:
        rows = snapshot.read(schema.SUMMARIES)
    except CatalogueError:  # a row or a page is damaged
        return None
    return _parse_summaries(rows[0][1], count_magnitudes(snapshot.settings)) if rows else None


def _parse_summaries(data: bytes, n_magnitudes: int) -> Summaries | None:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            middle, axes, numbers, values = (arrays[name] for name in ("middle", "axes", "numbers", "values"))
            n_chosen_from = int(arrays["learnt"])
    except Exception:  # NumPy raises errors of many kinds for damaged files
        return None
    are_sound = (
        (middle.shape, axes.shape[:1], axes.ndim) == ((n_magnitudes,), (n_magnitudes,), 2)
        and (numbers.ndim, numbers.dtype, values.dtype) == (1, np.int64, np.float32)
        and values.shape == (len(numbers), axes.shape[1] + 1)
        and all(array.dtype.kind == "f" and np.isfinite(array).all() for array in (middle, axes, values))
        and n_chosen_from >= 1
        and (np.diff(numbers) > 0).all()
    )
    return Summaries(Coordinates(middle, axes), n_chosen_from, numbers, values) if are_sound else None


def store_summaries(store: Store) -> None:
    """Update the stored summaries. Most of the work is done before other writers have to wait.

    If a page or an entry is damaged, the stored summaries stay as they are. A search then updates them in memory, or
    names the damaged entry.
    """
    with suppress(CatalogueError):
        with store.snapshot() as snapshot:
            prepared = update_summaries(snapshot) if snapshot.count() else None
        with store.transaction() as transaction:
            data = update_summaries(transaction, prepared).to_bytes() if transaction.count() else None
            transaction.put_value(schema.SUMMARIES, 1, data)


class Neighbours(NamedTuple):
    """The entries nearest to a query, in ascending order of distance."""

    distances: Floats
    numbers: _Numbers
    n_compared: int  # number of entries that the query was compared with


class StoredIndex:
    """The summaries of a catalogue in memory. Descriptors are read when they are needed.

    An index belongs to one state of the entries, see `Snapshot.state`. It never changes, so threads may share it.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.state, self.settings = snapshot.state(), snapshot.settings
        summaries = update_summaries(snapshot)
        self.numbers, self._coordinates = summaries.numbers, summaries.coordinates
        self._summaries = np.ascontiguousarray(summaries.values.T)
        self._norms = np.linalg.norm(self._summaries, axis=0)

    def find_nearest(
        self,
        snapshot: Snapshot,
        query: Descriptors,
        k: int,
        *,
        among: _Numbers | None = None,
        limits: Plausible = Plausible(),  # noqa: B008
        prior: MapPrior = PRIORS["any"],
        n_jobs: int | None = -1,
    ) -> Neighbours:
        """Return the k entries nearest to a query, or fewer; the result is the same as if all were compared.

        Entries at the same distance are ordered by number. Entries that no plausible map reaches are left out. The
        snapshot must show the state of the entries that the index belongs to. `among` contains the numbers of the
        entries to search; by default all are searched. The penalty of the map is part of the distance. Penalties are
        not negative, so the bounds remain valid.
        """
        bounds = lower_bounds(self._coordinates.summarise(query)[0], self._summaries, self._norms)
        rows = np.arange(len(self.numbers)) if among is None else np.flatnonzero(np.isin(self.numbers, among))
        rows = rows[np.argsort(bounds[rows], kind="stable")]
        distances, found = np.zeros(0), np.zeros(0, np.int64)
        start, size, n_compared = 0, _FIRST_BLOCK, 0
        while start < len(rows):
            block = rows[start : start + size]
            if len(found) == k:
                block = block[bounds[block] <= distances[-1]]
                if not block.size:
                    break
            start, size = start + size, min(2 * size, _MAX_BLOCK)
            numbers = np.sort(self.numbers[block])
            entries = snapshot.descriptors(numbers)
            near = compute_distances(query.astype(np.float32), entries, limits, n_jobs, prior=prior)[0]
            n_compared += len(numbers)
            distances, found = np.concatenate([distances, near]), np.concatenate([found, numbers])
            order = np.lexsort([found, distances])[:k]
            distances, found = distances[order], found[order]
        reachable = np.isfinite(distances)
        return Neighbours(distances[reachable], found[reachable], n_compared)

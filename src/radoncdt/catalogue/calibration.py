"""How much the best entry stands out for marks that a catalogue does not have, learnt from those it has.

A mark of the catalogue is drawn again, its lines bent a little, and searched for among the others. Other drawings of
it, copies, and twins that hardly differ must not count as other marks: entries of the same reference are left out, and
the best entry is as long as it differs from the mark less than the mark differs from itself drawn again. The next
nearest takes its place.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._deformation import bend
from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.catalogue.index import StoredIndex
from radoncdt.catalogue.line_fit import line_points, picture_ink, picture_points
from radoncdt.catalogue.p_values import FITTED, NEAREST, Chances, stand
from radoncdt.catalogue.search import PLAUSIBLE, Limits, Query, compared
from radoncdt.catalogue.store import Snapshot
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.descriptors import describe_batch
from radoncdt.measures import Batch

BEND = 0.02
"""How far a mark is bent, in x and in y, as a share of its size: 4 of 200 pixels at most, half of it at least."""

MARKS = 200
"""That chances are learnt from, if the catalogue has so many."""

FEWEST = 30
"""Entries of a catalogue from which anything can be learnt."""

AT_ONCE = 16
"""Marks searched for before other processes may write."""

MARK_WORK = 200_000_000
"""What searching for a mark costs, in the units of `_threads`."""

LIMITS = Limits(1, None, PLAUSIBLE, None)
"""The default limits of a search."""

DAMAGED = (ValueError, ArithmeticError)
"""Errors of marks that cannot be drawn again, or compared; `Catalogue.check` finds what is wrong with them."""


def calibrate(
    opened: Callable[[], AbstractContextManager[tuple[Snapshot, StoredIndex]]],
    marks: int,
    n_jobs: int | None,
    on_progress: OnProgress | None,
) -> Chances:
    """Search for some marks among the others. `opened` gives a snapshot, and the index that belongs to it."""
    with opened() as (snapshot, index):
        numbers, same = index.numbers, _by_reference(snapshot)
    chosen = np.random.default_rng(0).permutation(numbers)[:marks].tolist()
    workers = _threads.n_workers(n_jobs, MARK_WORK * len(chosen))
    stands = list[float]()
    counter = Counter(on_progress, len(chosen), "calibrating")
    for start in range(0, len(chosen), AT_ONCE):
        with opened() as (snapshot, index):

            def examine(number: int, snapshot: Snapshot = snapshot, index: StoredIndex = index) -> None:
                try:
                    found = _stand(snapshot, index, number, same.get(number, set()))
                except DAMAGED:
                    found = None
                if found is not None:
                    stands.append(found)
                counter.advance()

            _threads.for_each(examine, chosen[start : start + AT_ONCE], workers)
    return Chances(len(numbers), int(numbers.max(initial=0)), tuple(sorted(stands)))


def _stand(snapshot: Snapshot, index: StoredIndex, number: int, same: set[int]) -> float | None:
    """How much the best of the other entries stands out, some of which are known to be the same mark.

    None if the mark is gone, or too few others are left.
    """
    if number not in index.numbers:
        return None
    picture, own = snapshot.pictures([number])[number], snapshot.descriptors([number])
    height, width = own.frames[0].tolist()
    ink = picture_ink(picture)
    drawn = bent(ink, np.random.default_rng(number))
    as_it_is = Query("", None, ink, own, picture_points(picture, (height, width)))
    again = Query("", None, drawn, describe_batch(Batch.read(drawn), index.settings, 1), line_points(drawn))

    def score(query: Query, other: int) -> float:
        descriptors = snapshot.descriptors([other])
        distance = compute_distances(query.descriptor.astype(np.float32), descriptors, LIMITS.maps, 1)[0]
        if not np.isfinite(distance[0]):  # no plausible map leads there
            return np.inf
        return float(compared(snapshot, query, LIMITS, distance, np.array([other]), 1).scores[0])

    def scored() -> Iterator[tuple[int, float]]:
        for other in _nearest(snapshot, index, again):
            if other != number and other not in same:
                with suppress(*DAMAGED):
                    yield other, score(again, other)

    of_itself = score(again, number)
    nearest = scored()
    others = dict(islice(nearest, FITTED))  # the nearest first
    while len(others) >= NEAREST:
        best = min(others, key=others.__getitem__)
        if score(as_it_is, best) > of_itself:
            return stand(others[best], np.array(list(others.values())))
        del others[best]
        others.update(islice(nearest, 1))
    return None


def _nearest(snapshot: Snapshot, index: StoredIndex, query: Query) -> Iterator[int]:
    """Numbers of entries, the nearest first, as many as are asked for."""
    seen, wanted = 0, FITTED + 1
    while True:
        numbers = index.nearest(snapshot, query.descriptor, wanted, limits=LIMITS.maps, n_jobs=1).numbers
        yield from numbers[seen:].tolist()
        if len(numbers) < wanted:
            return
        seen, wanted = wanted, 2 * wanted


def _by_reference(snapshot: Snapshot) -> dict[int, set[int]]:
    """Of entries with a reference, all that have the same: they are known to be the same mark."""
    groups: dict[str, set[int]] = {}
    for number, reference in snapshot.rows("SELECT entry, reference FROM metadata WHERE reference IS NOT NULL"):
        groups.setdefault(str(reference), set()).add(number)
    return {number: group for group in groups.values() for number in group}


def bent(ink: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    """A mark as another hand may have drawn it."""
    rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    part = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    most = BEND * max(part.shape)
    room = int(np.ceil(most)) + 1
    drawn: NDArray[np.float32] = bend(np.pad(part, room), random, amplitude=(most / 2, most))
    return drawn

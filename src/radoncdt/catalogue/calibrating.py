"""How much the best entry stands out for marks that a catalogue does not have, learnt from those it has.

A mark of the catalogue is drawn again, its lines bent a little, and searched for among the others. Copies of it, and
twins that hardly differ, must not count as other marks: entries that differ from it less than it differs from itself
drawn again are left out.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from radoncdt import _parallel
from radoncdt.catalogue.chance import NEAREST, Chances, stand
from radoncdt.catalogue.fitting import line_points, picture_ink, picture_points
from radoncdt.catalogue.index import StoredIndex
from radoncdt.catalogue.searching import MORE, Limits, Query, nearest
from radoncdt.catalogue.store import Store
from radoncdt.datasets.noise import elastic
from radoncdt.descriptors import described
from radoncdt.measures import Batch
from radoncdt.registration import Plausible

BEND = 0.03
"""How far a line is bent, at most, as a share of the size of the mark: 6 of 200 pixels."""

FEWEST = 30
"""Entries of a catalogue from which anything can be learnt."""

AT_ONCE = 32
"""Marks searched for before other processes may write."""

MARK_WORK = 200_000_000
"""What searching for a mark costs, in the units of `_parallel`."""

ALL = Limits(NEAREST + 1 - MORE, None, True, Plausible(), None)
"""A mark is itself the nearest, most often."""


def calibrate(
    store: Store,
    opened: Callable[[], AbstractContextManager[StoredIndex]],
    marks: int,
    n_jobs: int | None,
    progress: bool,
) -> Chances:
    """Search for some marks among the others. `opened` gives the index as it is while nobody writes."""
    from tqdm import tqdm

    numbers = store.numbers()
    random = np.random.default_rng(0)
    chosen = random.choice(numbers, min(marks, len(numbers)), replace=False).tolist()
    stands: list[float] = []
    with tqdm(
        total=len(chosen), desc="learning chances", unit="mark", disable=None if progress else True, delay=2
    ) as bar:
        for start in range(0, len(chosen), AT_ONCE):
            with opened() as index:

                def examine(number: int, index: StoredIndex = index) -> None:
                    found = _stand(store, index, number)
                    if found is not None:
                        stands.append(found)
                    bar.update()

                workers = _parallel.n_workers(n_jobs, MARK_WORK * AT_ONCE)
                _parallel.for_each(examine, chosen[start : start + AT_ONCE], workers)
    return Chances(len(numbers), tuple(sorted(stands)))


def _stand(store: Store, index: StoredIndex, number: int) -> float | None:
    """How much the best of the other entries stands out; None for a mark that is gone, or cannot be drawn again."""
    rows = store.rows("SELECT picture FROM entries WHERE id = ?", [number])
    if not rows:
        return None
    picture, own = rows[0][0], store.descriptors([number], index.settings)
    height, width = own.frames[0].tolist()
    ink = bent(picture_ink(picture), np.random.default_rng(number))
    as_it_is = Query("", None, ink, own, picture_points(picture, (height, width)))
    try:
        again = Query("", None, ink, described(Batch.read(ink), index.settings, 1), line_points(ink))
    except (ValueError, ArithmeticError):
        return None

    def score(query: Query, other: int) -> float:
        found = nearest(store, index, query, ALL, 1, np.array([other])).scores
        return float(found[0]) if found.size else np.inf

    found = nearest(store, index, again, ALL, 1, None)
    of_itself = score(again, number)
    others = {int(n): s for n, s in zip(found.numbers, found.scores) if n != number}
    for other in sorted(others, key=lambda n: others[n]):
        if score(as_it_is, other) > of_itself:
            break
        del others[other]
    scores = np.array(list(others.values()))
    return stand(scores.min(), scores) if len(scores) > NEAREST / 2 else None


def bent(ink: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    """A mark as another hand may have drawn it."""
    rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    part = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    most = BEND * max(part.shape)
    room = int(np.ceil(most)) + 1
    drawn: NDArray[np.float32] = elastic(np.pad(part, room)[None], random, amplitude=(0.0, most))[0]
    return drawn

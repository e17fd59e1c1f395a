"""Calibration of a catalogue: the p-values of matches.

The p-value of a match is the probability that a catalogue *without* this mark would yield a best match at least as
prominent. It is estimated from the catalogue itself: some of its marks, redrawn with slightly bent lines and searched
for among the other entries, have prominences t_1, …, t_m, and

    p_value = (1 + number of t_i ≥ prominence) / (m + 1).

If the prominence of a query without its mark in the catalogue is exchangeable with these, the p-value is uniform on
1/(m + 1), …, 1.

Other drawings of the same mark, copies and near-twins must not count as other marks. Entries with the same reference
are left out. So is the best entry as long as it differs less from the mark than the redrawn mark does.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._deformation import bend
from radoncdt._geometry import ink_box
from radoncdt._progress import Counter
from radoncdt._thumbnails import read_thumbnail
from radoncdt._typing import OnProgress
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.index import StoredIndex
from radoncdt.catalogue.line_fit import find_line_points, find_thumbnail_points
from radoncdt.catalogue.search import DEFAULT_LIMITS, MIN_FITTED, N_NEAREST, Shape, compute_prominence, score_entries
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.catalogue.store import Store
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.descriptors import describe_batch
from radoncdt.measures import Batch

__all__ = [
    "DEFAULT_N_MARKS",
    "MAX_BEND",
    "MIN_ENTRIES",
    "MIN_MARKS",
    "Calibration",
    "calibrate",
    "has_calibration",
    "load_calibration",
    "redraw",
    "store_calibration",
]

DEFAULT_N_MARKS = 200  # marks that are redrawn, if the catalogue has that many
MIN_MARKS = 20  # marks that must be redrawn at least
MIN_ENTRIES = 30  # entries that a catalogue must have to be calibrated
MAX_BEND = 0.02  # largest amplitude of the bending waves, as a share of the size of a mark; the smallest is half of it

_MARKS_PER_SNAPSHOT = 16  # marks that are searched for before other processes may write
_MARK_WORK = 200_000_000  # work of one search, in the units of `_threads`

_DAMAGE_ERRORS = (ValueError, ArithmeticError)  # errors of marks that cannot be compared; `Catalogue.check` names them


class Calibration(NamedTuple):
    """Prominences of the best matches of marks that a catalogue does not contain.

    >>> from radoncdt.catalogue.calibration import Calibration
    >>> calibration = Calibration(100, 100, (1.1, 1.3, 1.5, 2.0))
    >>> calibration.p_value(1.4), calibration.p_value(9.0), calibration.p_value(0.7)
    (0.6, 0.2, 1.0)
    """

    n_entries: int  # number of entries of the catalogue at the time
    last_entry: int  # the highest number of these entries; later entries have higher numbers
    prominences: tuple[float, ...]  # in ascending order; none if all entries are copies of one mark

    def p_value(self, prominence: float) -> float | None:
        """Return the p-value of a match, None if there are no prominences."""
        if not self.prominences:
            return None
        n_smaller = int(np.searchsorted(self.prominences, prominence))
        return (1 + len(self.prominences) - n_smaller) / (len(self.prominences) + 1)

    def is_outdated(self, numbers: NDArray[np.int64]) -> bool:
        """Whether too few entries are left, at least half of them are new, or half of the old ones are gone."""
        n_old = int(np.searchsorted(numbers, self.last_entry, side="right"))
        return len(numbers) < MIN_ENTRIES or 2 * n_old <= max(len(numbers), self.n_entries)


_SETTING = "calibration"
_FORMATS = {_SETTING: Calibration._fields, "chances": ("entries", "last", "stands")}
"""Settings that may contain a calibration, and the names of its fields. Earlier versions wrote the second one."""


def has_calibration(snapshot: Snapshot) -> bool:
    """Whether a calibration is stored, damaged or not."""
    return any(snapshot.rows("SELECT 1 FROM settings WHERE name = ?", [name]) for name in _FORMATS)


def load_calibration(snapshot: Snapshot) -> Calibration | None:
    """Return the stored calibration, None if there is none or it is damaged."""
    for setting, names in _FORMATS.items():
        with suppress(KeyError, TypeError, ValueError, OverflowError):
            found = records.parse_json(snapshot.setting(setting) or "")
            n_entries, last_entry = (int(found[name]) for name in names[:2])
            prominences = np.array(found[names[2]], np.float64)
            if prominences.ndim == 1 and np.isfinite(prominences).all() and 0 < n_entries <= last_entry < 2**63:
                return Calibration(n_entries, last_entry, tuple(np.sort(prominences).tolist()))
    return None


def store_calibration(store: Store, calibration: Calibration) -> None:
    """Store a calibration in place of any earlier one."""
    rounded = calibration._replace(prominences=tuple(round(each, 6) for each in calibration.prominences))
    with store.transaction() as transaction:
        for setting in _FORMATS:
            value = json.dumps(rounded._asdict()) if setting == _SETTING else None
            transaction.put_value(schema.SETTINGS, setting, value)


_OpenIndex = Callable[[], AbstractContextManager[tuple[Snapshot, StoredIndex]]]
"""Opens a snapshot, and the index that belongs to it."""


def calibrate(open_index: _OpenIndex, n_marks: int, n_jobs: int | None, on_progress: OnProgress | None) -> Calibration:
    """Search for some marks of a catalogue among the others."""
    with open_index() as (snapshot, index):
        numbers, same = index.numbers, _group_by_reference(snapshot)
    chosen = np.random.default_rng(0).permutation(numbers)[:n_marks].tolist()
    workers = _threads.count_workers(n_jobs, _MARK_WORK * len(chosen))
    prominences = list[float]()
    counter = Counter(on_progress, len(chosen), "calibrating")

    def measure(snapshot: Snapshot, index: StoredIndex, number: int) -> None:
        with suppress(*_DAMAGE_ERRORS):
            found = _measure_prominence(snapshot, index, number, same.get(number, set()))
            prominences.extend([] if found is None else [found])
        counter.advance()

    for start in range(0, len(chosen), _MARKS_PER_SNAPSHOT):
        with open_index() as opened:
            _threads.for_each(partial(measure, *opened), chosen[start : start + _MARKS_PER_SNAPSHOT], workers)
    return Calibration(len(numbers), int(numbers.max(initial=0)), tuple(sorted(prominences)))


def _measure_prominence(snapshot: Snapshot, index: StoredIndex, number: int, same: set[int]) -> float | None:
    """Return the prominence of the best match of a mark among the entries that do not show it.

    `same` contains entries that are known to show the same mark. The result is None if the mark no longer exists, or
    too few other entries are left.
    """
    if number not in index.numbers:
        return None
    thumbnail, descriptor = snapshot.thumbnails([number])[number], snapshot.descriptors([number])
    height, width = descriptor.frames[0].tolist()
    ink = redraw(read_thumbnail(thumbnail), np.random.default_rng(number))
    original = Shape(descriptor, find_thumbnail_points(thumbnail, (height, width)))
    redrawn = Shape(describe_batch(Batch.read(ink), index.settings, 1), find_line_points(ink))

    def score_others() -> Iterator[tuple[int, float]]:
        for other in _find_nearest(snapshot, index, redrawn):
            if other != number and other not in same:
                with suppress(*_DAMAGE_ERRORS):
                    yield other, _score(snapshot, redrawn, other)

    own_score = _score(snapshot, redrawn, number)
    remaining = score_others()
    scores = dict(islice(remaining, MIN_FITTED))  # in ascending order of distance
    while len(scores) >= N_NEAREST:
        best = min(scores, key=scores.__getitem__)
        if _score(snapshot, original, best) > own_score:
            return compute_prominence(scores[best], np.array(list(scores.values())))
        del scores[best]
        scores.update(islice(remaining, 1))
    return None


def _score(snapshot: Snapshot, shape: Shape, number: int) -> float:
    """Return the score of one entry, which is infinite if no plausible map reaches it."""
    moving, entry = shape.descriptor.astype(np.float32), snapshot.descriptors([number])
    distances = compute_distances(moving, entry, DEFAULT_LIMITS, 1)[0]
    if not np.isfinite(distances[0]):
        return np.inf
    return float(score_entries(snapshot, shape, DEFAULT_LIMITS, distances, np.array([number]), 1)[2][0])


def _find_nearest(snapshot: Snapshot, index: StoredIndex, shape: Shape) -> Iterator[int]:
    """Yield the numbers of entries in ascending order of distance."""
    n_seen, n_wanted = 0, MIN_FITTED + 1
    while True:
        numbers = index.find_nearest(snapshot, shape.descriptor, n_wanted, limits=DEFAULT_LIMITS, n_jobs=1).numbers
        yield from numbers[n_seen:].tolist()
        if len(numbers) < n_wanted:
            return
        n_seen, n_wanted = n_wanted, 2 * n_wanted


def _group_by_reference(snapshot: Snapshot) -> dict[int, set[int]]:
    """Return, for each entry with a reference, all entries with the same reference: they show the same mark."""
    groups: dict[str, set[int]] = {}
    for number, reference in snapshot.rows("SELECT entry, reference FROM metadata WHERE reference IS NOT NULL"):
        groups.setdefault(str(reference), set()).add(number)
    return {number: group for group in groups.values() for number in group}


def redraw(ink: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Bend a mark a little, as if another hand had drawn it."""
    part = ink[ink_box(ink)]
    amplitude = MAX_BEND * max(part.shape)
    padded = np.pad(part, int(np.ceil(amplitude)) + 1)
    return bend(padded, rng, amplitude=(amplitude / 2, amplitude))

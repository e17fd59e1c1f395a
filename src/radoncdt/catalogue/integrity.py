"""Checking the integrity of a catalogue."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from radoncdt._progress import Counter
from radoncdt._text import shorten
from radoncdt._typing import OnProgress
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.calibration import has_calibration, load_calibration
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.index import Summaries, load_summaries
from radoncdt.catalogue.paths import find_file, hash_file
from radoncdt.catalogue.records import Entry, TableSpec
from radoncdt.catalogue.snapshot import Snapshot, select_in
from radoncdt.catalogue.store import Store
from radoncdt.catalogue.thumbnails import read_thumbnail

__all__ = ["Problem", "find_problems"]

_BLOCK = 256  # entries that are checked within one snapshot


class Problem(NamedTuple):
    """Something that is wrong with a catalogue."""

    entry: int | None
    """The number of the entry, None if the problem concerns the whole catalogue."""
    what: str


_Problems = Iterator[Problem]


def find_problems(store: Store, on_progress: OnProgress | None) -> list[Problem]:
    """Check the database, its rows, and the files that the entries were read from.

    Entries are read in blocks, and their files between two snapshots, so that other processes can write meanwhile. Only
    the structure of the database is checked as a whole.
    """
    found: list[Problem] = []
    for check in (_check_database, _check_settings, partial(_check_table, spec=records.FAILURES)):
        found += _collect(store, check)
    numbers: list[int] = []
    found += _collect(store, partial(_list_numbers, numbers=numbers))
    counter = Counter(on_progress, len(numbers), "checking entries")
    for start in range(0, len(numbers), _BLOCK):
        block = numbers[start : start + _BLOCK]
        sound: list[Entry] = []
        found += _collect(store, partial(_check_entries, numbers=block, sound=sound))
        for entry in sound:
            if (what := _check_file(entry, store.path.parent)) is not None:
                found.append(Problem(entry.id, what))
        counter.advance(len(block))
    found += _collect(store, _check_calibration)
    found += _check_summaries(store)
    return list(dict.fromkeys(found))


def _collect(store: Store, check: Callable[[Snapshot], _Problems]) -> list[Problem]:
    """Return the problems that a check yields within one snapshot. An unreadable page is also a problem."""
    found: list[Problem] = []
    try:
        with store.snapshot() as snapshot:
            found.extend(check(snapshot))
    except CatalogueError as error:
        found.append(Problem(None, str(error).removeprefix(f"{store.path}: ")))
    return found


def _check_database(snapshot: Snapshot) -> _Problems:
    for (text,) in snapshot.rows("PRAGMA main.integrity_check"):
        if text != "ok":
            yield Problem(None, str(text))
    for table, number, *_ in snapshot.rows("PRAGMA main.foreign_key_check"):
        yield Problem(number, f"{table} without an entry")
    if snapshot.version > 1 and snapshot.setting("structure") != schema.read_definitions(snapshot.db):
        yield Problem(None, "the definitions of its tables are damaged, or another program changed them")


def _check_table(snapshot: Snapshot, spec: TableSpec) -> _Problems:
    """Check rows that do not belong to an entry."""
    for *fields, checksum in snapshot.read_unverified(spec):
        for what in records.check_row(spec, fields, checksum, version=snapshot.version):
            yield Problem(None, f"{shorten(repr(fields[0]))} in {what}")


def _check_settings(snapshot: Snapshot) -> _Problems:
    yield from _check_table(snapshot, records.SETTINGS)
    _ = snapshot.settings  # raises an error if they are damaged


def _check_calibration(snapshot: Snapshot) -> _Problems:
    if has_calibration(snapshot) and load_calibration(snapshot) is None:
        yield Problem(None, "the calibration is damaged; calibrate the catalogue again")


def _list_numbers(snapshot: Snapshot, numbers: list[int]) -> _Problems:
    """Append the numbers of all entries to the list."""
    numbers += snapshot.numbers().tolist()
    yield from ()


def _check_entries(snapshot: Snapshot, numbers: list[int], sound: list[Entry]) -> _Problems:
    """Check the rows of some entries, and append the entries with valid rows to the list `sound`."""
    try:
        settings = snapshot.settings
    except CatalogueError:  # already reported
        settings = None
    frame = np.ones((1, 2), np.int64)

    def check_descriptor(fields: list[Any]) -> None:
        if settings is not None:
            records.unpack_descriptors([(fields[1], fields[2])], frame, settings)

    removed, found = _check_rows(snapshot, records.ENTRIES, numbers, lambda fields: sound.append(Entry(*fields)))
    yield from found
    left = [number for number in numbers if number not in removed]  # other processes may have removed some
    for spec, check in (
        (records.THUMBNAILS, lambda fields: read_thumbnail(fields[1])),
        (records.DESCRIPTORS, check_descriptor),
        (snapshot.metadata_spec, lambda _: None),
    ):
        missing, found = _check_rows(snapshot, spec, left, check)
        yield from found
        for number in missing:
            yield Problem(number, f"its row is missing from the table {spec.table!r}")


def _check_rows(
    snapshot: Snapshot, spec: TableSpec, numbers: list[int], check: Callable[[list[Any]], object]
) -> tuple[list[int], list[Problem]]:
    """Return the entries without a row in a table, and the problems of the others.

    Valid rows are passed to `check`, which may raise ValueError. If a page cannot be read, the numbers are bisected
    until the entries on that page are known.
    """
    try:
        rows = {row[0]: row for row in snapshot.read_unverified(spec, select_in(spec.key, numbers))}
    except CatalogueError as error:
        if len(numbers) == 1:
            reason = str(error).removeprefix(f"{snapshot.path}: ")
            return [], [Problem(numbers[0], f"its row in the table {spec.table!r} cannot be read: {reason}")]
        middle = len(numbers) // 2
        halves = [_check_rows(snapshot, spec, half, check) for half in (numbers[:middle], numbers[middle:])]
        return [*halves[0][0], *halves[1][0]], [*halves[0][1], *halves[1][1]]
    found: list[Problem] = []
    for number, (*fields, checksum) in rows.items():
        problems = records.check_row(spec, fields, checksum, version=snapshot.version)
        if not problems:
            try:
                check(fields)
            except ValueError as error:
                problems = [str(error)]
        found += [Problem(number, what) for what in problems]
    return [number for number in numbers if number not in rows], found


def _check_file(entry: Entry, folder: Path) -> str | None:
    try:
        path = find_file(entry.file, folder)
        if not path.exists():
            return f"its file no longer exists: {entry.file}"
        return None if hash_file(path) == entry.hash else f"its file has changed: {entry.file}"
    except (OSError, ValueError) as error:
        return f"its file cannot be read: {error}"


_ADVICE = "searches work without them, and the next added or removed entry restores them"


def _check_summaries(store: Store) -> list[Problem]:
    """Check that the stored summaries belong to the entries."""
    try:
        with store.snapshot() as snapshot:
            exist, summaries = bool(snapshot.read_unverified(records.SUMMARIES)), load_summaries(snapshot)
            empty = not snapshot.count()
    except CatalogueError:  # settings or pages that were already reported
        return []
    if summaries is None:
        what = f"the summaries of its entries are damaged; {_ADVICE}"
        return [Problem(None, what)] if exist and not empty else []
    found: list[Problem] = []
    for first in range(0, len(summaries.numbers), _BLOCK):
        found += _collect(store, partial(_compare_summaries, summaries=summaries, rows=slice(first, first + _BLOCK)))
    return found


def _compare_summaries(snapshot: Snapshot, summaries: Summaries, rows: slice) -> _Problems:
    numbers = summaries.numbers[rows]
    there = [row[0] for row in snapshot.rows(f"SELECT id FROM entries {select_in('id', numbers.tolist())}")]
    known = np.isin(numbers, there)
    if known.any():
        try:
            descriptors = snapshot.descriptors(numbers[known])
        except CatalogueError:  # already reported
            return
        expected = summaries.coordinates.summarise(descriptors).astype(np.float32)
        if not np.allclose(expected, summaries.values[rows][known], atol=1e-6):
            yield Problem(None, f"the summaries do not belong to its entries; {_ADVICE}")

"""Whether a catalogue is whole."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from radoncdt._progress import Counter
from radoncdt._text import shortened
from radoncdt._typing import OnProgress
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.importer import hash_of
from radoncdt.catalogue.index import stored_summaries
from radoncdt.catalogue.line_fit import picture_ink
from radoncdt.catalogue.p_values import NAME, stored_chances
from radoncdt.catalogue.records import EntryRow, Kind
from radoncdt.catalogue.store import Snapshot, Store, among, named_file

CHUNK = 256  # entries that are read at a time


class Problem(NamedTuple):
    """Something that is not as it should be."""

    entry: int | None
    """None if it concerns the whole catalogue."""
    what: str


Problems = Iterator[Problem]


def problems(store: Store, on_progress: OnProgress | None) -> list[Problem]:
    """What is wrong with the database, its rows, or the files they were read from.

    Entries are read some at a time, and their files between that, so that other processes can write meanwhile; only
    the structure of the database is examined in one go.
    """
    found: list[Problem] = []
    for part in (_database, _settings, partial(_table, kind=records.FAILURES)):
        found += _collected(store, part)
    numbers: list[int] = []
    found += _collected(store, partial(_numbers, numbers=numbers))
    counter = Counter(on_progress, len(numbers), "checking entries")
    for start in range(0, len(numbers), CHUNK):
        some = numbers[start : start + CHUNK]
        files: list[EntryRow] = []
        found += _collected(store, partial(_entries, numbers=some, files=files))
        for entry in files:
            if (what := _file(entry.file, store.path.parent, entry.hash)) is not None:
                found.append(Problem(entry.id, what))
        counter.advance(len(some))
    found += _collected(store, _chances)
    found += _summaries(store)
    return list(dict.fromkeys(found))


def _collected(store: Store, part: Callable[[Snapshot], Problems]) -> list[Problem]:
    """The problems of a part of a catalogue, of which a page that cannot be read is one."""
    found: list[Problem] = []
    try:
        with store.snapshot() as snapshot:
            found.extend(part(snapshot))
    except CatalogueError as error:
        found.append(Problem(None, str(error).removeprefix(f"{store.path}: ")))
    return found


def _database(snapshot: Snapshot) -> Problems:
    for (text,) in snapshot.rows("PRAGMA main.integrity_check"):
        if text != "ok":
            yield Problem(None, str(text))
    for table, number, *_ in snapshot.rows("PRAGMA main.foreign_key_check"):
        yield Problem(number, f"{table} without an entry")
    if snapshot.version > 1 and snapshot.setting("structure") != schema.fingerprint(snapshot.db):
        yield Problem(None, "the definitions of its tables are damaged, or another program changed them")


def _table(snapshot: Snapshot, kind: Kind) -> Problems:
    """Problems of rows that belong to no entry."""
    for *fields, checksum in snapshot.stored(kind):
        for what in records.problems_of(kind, fields, checksum, version=snapshot.version):
            yield Problem(None, f"{shortened(repr(fields[0]))} in {what}")


def _settings(snapshot: Snapshot) -> Problems:
    yield from _table(snapshot, records.SETTINGS)
    _ = snapshot.settings  # raises where they are damaged


def _numbers(snapshot: Snapshot, numbers: list[int]) -> Problems:
    """The numbers of all entries, in `numbers`."""
    numbers += snapshot.numbers().tolist()
    yield from ()


def _entries(snapshot: Snapshot, numbers: list[int], files: list[EntryRow]) -> Problems:
    """Problems of some entries, and, in `files`, the entries whose files are to be compared."""
    try:
        settings = snapshot.settings
    except CatalogueError:  # which is reported once
        settings = None
    frame = np.ones((1, 2), np.int64)

    def compare_later(fields: list[Any]) -> str | None:
        files.append(EntryRow(*fields))
        return None

    def picture(fields: list[Any]) -> str | None:
        try:
            picture_ink(fields[1])
        except ValueError as error:
            return f"its picture cannot be read: {error}"
        return None

    def descriptor(fields: list[Any]) -> str | None:
        sound = settings is None or records.unpacked([(fields[1], fields[2])], frame, settings) is not None
        return None if sound else records.BAD_DESCRIPTOR

    gone, found = _examined(snapshot, records.ENTRIES, numbers, compare_later)
    yield from found
    left = [number for number in numbers if number not in gone]  # others may have been removed meanwhile
    for kind, inspect in (
        (records.PICTURES, picture),
        (records.DESCRIPTORS, descriptor),
        (snapshot.metadata_kind, lambda _: None),
    ):
        missing, found = _examined(snapshot, kind, left, inspect)
        yield from found
        for number in missing:
            yield Problem(number, f"its row is missing from the table {kind.table!r}")


def _examined(
    snapshot: Snapshot, kind: Kind, numbers: list[int], inspect: Callable[[list[Any]], str | None]
) -> tuple[list[int], list[Problem]]:
    """Entries that have no row of a kind, and problems of those that have. Rows without any are inspected further.

    If a page cannot be read, fewer rows are read at a time, until the entries on that page are known.
    """
    try:
        rows = {row[0]: row for row in snapshot.stored(kind, among(kind.key, numbers))}
    except CatalogueError as error:
        if len(numbers) == 1:
            reason = str(error).removeprefix(f"{snapshot.store.path}: ")
            return [], [Problem(numbers[0], f"its row in the table {kind.table!r} cannot be read: {reason}")]
        middle = len(numbers) // 2
        halves = [_examined(snapshot, kind, half, inspect) for half in (numbers[:middle], numbers[middle:])]
        return [*halves[0][0], *halves[1][0]], [*halves[0][1], *halves[1][1]]
    found: list[Problem] = []
    for number, (*fields, checksum) in rows.items():
        wrong: list[str | None] = [*records.problems_of(kind, fields, checksum, version=snapshot.version)]
        found += [Problem(number, what) for what in wrong or [inspect(fields)] if what]
    return [number for number in numbers if number not in rows], found


def _file(file: str, folder: Path, digest: str) -> str | None:
    try:
        path = named_file(file, folder)
        if not path.exists():
            return f"its file is not there any more: {file}"
        return None if hash_of(path) == digest else f"its file has changed since: {file}"
    except (OSError, ValueError) as error:
        return f"its file cannot be read: {error}"


def _chances(snapshot: Snapshot) -> Problems:
    if snapshot.rows("SELECT 1 FROM settings WHERE name = ?", [NAME]) and stored_chances(snapshot) is None:
        yield Problem(None, "what was learnt of chances is damaged; the next search learns it again")


AGAIN = "the next `add` or `remove` computes them again, and searches do without them"


def _summaries(store: Store) -> list[Problem]:
    """What a search reads first must fit the entries."""
    try:
        with store.snapshot() as snapshot:
            there, stored = bool(snapshot.stored(records.SUMMARIES)), stored_summaries(snapshot)
            empty = not snapshot.count()
    except CatalogueError:  # settings, or pages that are reported already; searches do without them
        return []
    if stored is None:
        what = f"the summaries that a search reads first are damaged; {AGAIN}"
        return [Problem(None, what)] if there and not empty else []

    def compare(snapshot: Snapshot, first: int) -> Problems:
        rows = slice(first, first + CHUNK)
        numbers = stored.numbers[rows]
        there = [row[0] for row in snapshot.rows(f"SELECT id FROM entries {among('id', numbers.tolist())}")]
        known = np.isin(numbers, there)
        if known.any():
            try:
                descriptors = snapshot.descriptors(numbers[known])
            except CatalogueError:  # reported already
                return
            made = stored.coordinates.summarise(descriptors).astype(np.float32)
            if not np.allclose(made, stored.values[rows][known], atol=1e-6):
                yield Problem(None, f"the summaries that a search reads first are not those of the entries; {AGAIN}")

    found: list[Problem] = []
    for first in range(0, len(stored.numbers), CHUNK):
        found += _collected(store, partial(compare, first=first))
    return found

"""Whether a catalogue is whole."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from radoncdt._progress import Progress
from radoncdt._text import shortened
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.adding import hash_of
from radoncdt.catalogue.chance import NAME, stored_chances
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.fitting import picture_ink
from radoncdt.catalogue.index import stored_summaries
from radoncdt.catalogue.records import EntryRow, Kind
from radoncdt.catalogue.store import Snapshot, Store, among, named_file

CHUNK = 256  # entries that are read at a time


class Problem(NamedTuple):
    """Something that is not as it should be."""

    entry: int | None
    """None if it concerns the whole catalogue."""
    what: str


Problems = Iterator[Problem]


def problems(store: Store, progress: bool) -> list[Problem]:
    """What is wrong with the database, its rows, or the files they were read from.

    Entries are read some at a time, and their files between that, so that other processes can write meanwhile.
    """
    found: list[Problem] = []
    for part in (_database, _settings, partial(_table, kind=records.FAILURES)):
        found += _collected(store, part)
    numbers: list[int] = []

    def count(snapshot: Snapshot) -> Problems:
        numbers.extend(snapshot.numbers().tolist())
        yield from ()

    found += _collected(store, count)
    with Progress[int](total=len(numbers), unit="entries", show=progress) as bar:
        for start in range(0, len(numbers), CHUNK):
            some = numbers[start : start + CHUNK]
            files: list[EntryRow] = []
            found += _collected(store, partial(_entries, numbers=some, files=files))
            for entry in files:
                if (what := _file(entry.file, store.path.parent, entry.hash)) is not None:
                    found.append(Problem(entry.id, what))
            bar.update(len(some))
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


def _table(snapshot: Snapshot, kind: Kind, where: str = "") -> Problems:
    for *fields, checksum in snapshot.stored(kind, where):
        number = fields[0] if kind.key in ("id", "entry") and type(fields[0]) is int else None
        prefix = "" if number is not None else f"{shortened(repr(fields[0]))} in "
        for what in records.problems_of(kind, fields, checksum, version=snapshot.version):
            yield Problem(number, prefix + what)


def _settings(snapshot: Snapshot) -> Problems:
    yield from _table(snapshot, records.SETTINGS)
    _ = snapshot.settings  # raises where they are damaged


def _entries(snapshot: Snapshot, numbers: list[int], files: list[EntryRow]) -> Problems:
    """Problems of some entries, and, in `files`, those whose files are to be compared. Some may have been removed."""
    there = {row[0] for row in snapshot.rows(f"SELECT id FROM main.entries {among('id', numbers)}")}
    bad: set[int | None] = set()
    for kind in (records.ENTRIES, records.PICTURES, records.DESCRIPTORS, snapshot.metadata_kind):
        for problem in _table(snapshot, kind, among(kind.key, there)):
            bad.add(problem.entry)
            yield problem
    good = sorted(there - bad)
    try:
        entries, pictures = snapshot.entries(good), snapshot.pictures(good)
        snapshot.metadata(good)
        snapshot.descriptors(good)
    except CatalogueError as error:
        if len(good) == 1:
            prefix = f"{snapshot.store.path}: entry {good[0]} is damaged: "
            yield Problem(good[0], str(error).removeprefix(prefix))
        else:  # one of them is, so they are examined one by one
            for number in good:
                yield from _entries(snapshot, [number], files)
        return
    files += entries
    for number, picture in pictures.items():
        try:
            picture_ink(picture)
        except ValueError as error:
            yield Problem(number, f"its picture cannot be read: {error}")


def _file(file: str, folder: Path, digest: str) -> str | None:
    path = named_file(file, folder)
    try:
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
            stored, there = stored_summaries(snapshot), bool(snapshot.rows("SELECT 1 FROM summaries"))
            empty = not snapshot.count()
    except CatalogueError:  # settings or pages that are reported already
        return []
    if stored is None:
        what = f"the summaries that a search reads first are damaged; {AGAIN}"
        return [Problem(None, what)] if there and not empty else []

    def compare(snapshot: Snapshot, first: int) -> Problems:
        rows = slice(first, first + CHUNK)
        known = np.isin(stored.numbers[rows], snapshot.numbers())
        if known.any():
            made = stored.coordinates.summaries(snapshot.descriptors(stored.numbers[rows][known])).astype(np.float32)
            if not np.allclose(made, stored.values[rows][known], atol=1e-6):
                yield Problem(None, f"the summaries that a search reads first are not those of the entries; {AGAIN}")

    found: list[Problem] = []
    for first in range(0, len(stored.numbers), CHUNK):
        found += _collected(store, partial(compare, first=first))
    return found

"""Whether a catalogue is whole."""

from collections.abc import Callable, Iterator
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
from radoncdt.catalogue.records import Kind
from radoncdt.catalogue.store import Snapshot, Store, named_file

CHUNK = 256  # entries that are read at a time


class Problem(NamedTuple):
    """Something that is not as it should be."""

    entry: int | None
    """None if it concerns the whole catalogue."""
    what: str


Problems = Iterator[Problem]


def problems(store: Store, progress: bool) -> list[Problem]:
    """What is wrong with the database, its rows, or the files they were read from."""
    with store.snapshot() as snapshot:
        found: list[Problem] = []
        parts: tuple[Callable[[], Problems], ...] = (
            lambda: _database(snapshot),
            lambda: _table(snapshot, records.SETTINGS),
            lambda: _settings(snapshot),
            lambda: _table(snapshot, records.FAILURES),
            lambda: _entries(snapshot, progress),
            lambda: _derived(snapshot),
        )
        for part in parts:
            try:
                found += part()
            except CatalogueError as error:  # a page that cannot be read
                found.append(Problem(None, str(error).removeprefix(f"{store.path}: ")))
    return list(dict.fromkeys(found))


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
    try:
        _ = snapshot.settings
    except CatalogueError as error:
        yield Problem(None, str(error).removeprefix(f"{snapshot.store.path}: "))


def _entries(snapshot: Snapshot, progress: bool) -> Problems:
    numbers = snapshot.numbers()
    kinds = records.ENTRIES, records.PICTURES, records.DESCRIPTORS, snapshot.metadata_kind
    with Progress[int](total=len(numbers), unit="entries", show=progress) as bar:
        for start in range(0, len(numbers), CHUNK):
            some = [int(number) for number in numbers[start : start + CHUNK]]
            bad: set[int] = set()
            for kind in kinds:
                where = f"WHERE {kind.key} IN ({','.join(map(str, some))})"
                for problem in _table(snapshot, kind, where):
                    bad.add(problem.entry or 0)
                    yield problem
            for number in some:
                if number not in bad:
                    yield from _entry(snapshot, number)
                bar.update()


def _entry(snapshot: Snapshot, number: int) -> Problems:
    """What is wrong with an entry all of whose fields are as they should be."""
    try:
        (entry,) = snapshot.entries([number])
        if (what := _file(entry.file, snapshot.store.path.parent, entry.hash)) is not None:
            yield Problem(number, what)
        snapshot.metadata([number])
        snapshot.descriptors([number])
        picture_ink(snapshot.pictures([number])[number])
    except CatalogueError as error:
        yield Problem(number, str(error).removeprefix(f"{snapshot.store.path}: entry {number} is damaged: "))
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


def _derived(snapshot: Snapshot) -> Problems:
    """What is derived from the entries must fit them; it is computed again where it does not."""
    if snapshot.rows("SELECT 1 FROM settings WHERE name = ?", [NAME]) and stored_chances(snapshot) is None:
        yield Problem(None, "what was learnt of chances is damaged; the next search learns it again")
    there = snapshot.numbers()
    if not snapshot.rows("SELECT 1 FROM summaries") or not len(there):
        return
    again = "the next `add` or `remove` computes them again, and searches do without them"
    stored = stored_summaries(snapshot)
    if stored is None:
        yield Problem(None, f"the summaries that a search reads first are damaged; {again}")
        return
    for k in range(0, len(stored.numbers), CHUNK):
        numbers = stored.numbers[k : k + CHUNK]
        known = np.isin(numbers, there)
        if not known.any():
            continue
        made = stored.coordinates.summaries(snapshot.descriptors(numbers[known])).astype(np.float32)
        if not np.allclose(made, stored.values[k : k + CHUNK][known], atol=1e-6):
            yield Problem(None, f"the summaries that a search reads first are not those of the entries; {again}")
            return

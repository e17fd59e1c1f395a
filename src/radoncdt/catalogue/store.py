"""The file of a catalogue: an SQLite database, read in snapshots and changed in transactions.

Every change is one transaction, so the file is whole whenever a process ends, however it ends. Several threads may
share a `Store`: each snapshot and each transaction has a connection of its own.
"""

import json
import os
import re
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import shortened
from radoncdt._validation import ArgumentTypeError
from radoncdt.catalogue import connection, migration, records, schema
from radoncdt.catalogue.connection import explaining
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.limits import limit_steps
from radoncdt.catalogue.metadata import MOST_COLUMNS, MetadataError, Value, quoted
from radoncdt.catalogue.records import EntryRow, Kind
from radoncdt.matching.descriptors import Descriptors, DescriptorSettings

READ, WRITE = "BEGIN", "BEGIN IMMEDIATE"
"""The beginning of a snapshot and of a transaction."""

CHUNK = 1024  # entries that one statement names

SIZE = 2**24  # bytes that a statement may return, beside twice the size of the file

SETTINGS = DescriptorSettings(n_angles=64, n_levels=32, moments="robust", nu=10.0, trim=1 / 16)
"""Settings of the descriptors of a new catalogue."""

STEPS, STEPS_PER_BYTE = 20_000_000, 5
"""Steps of SQLite's virtual machine that one statement may take, and further ones for each byte of the file. Reading
everything takes far fewer; a damaged or hostile file could take forever."""


PARTS = ("pictures", "metadata", "descriptors")
"""Tables with one row for each entry."""


class Entry(NamedTuple):
    """What is to be stored of an image."""

    row: EntryRow
    """Its number is given when it is stored."""
    picture: bytes
    curves: bytes
    moments: bytes

    @property
    def file(self) -> str:
        return self.row.file

    @property
    def hash(self) -> str:
        return self.row.hash


class Failure(NamedTuple):
    """An image that could not be read."""

    file: str
    hash: str
    reason: str


def stored_name(path: str | os.PathLike[str], folder: Path) -> str:
    """A file as a catalogue in a folder names it: relative to that if it is below, so that both can be moved together.

    Folders that are symbolic links count as what they lead to. Bytes that are not UTF-8 become \\x escapes, because a
    database holds text.
    """
    whole, root = Path(os.path.abspath(path)), Path(os.path.abspath(folder))
    resolved = Path(os.path.realpath(whole.parent)) / whole.name
    below = next((each.relative_to(root) for each in (whole, resolved) if each.is_relative_to(root)), whole)
    return os.fsencode(below.as_posix()).decode("utf-8", "backslashreplace")


def named_file(name: str, folder: Path) -> Path:
    """The file that has such a name in a catalogue in a folder."""
    path = folder / name
    if "\\x" in name and not path.exists():
        escaped = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes.fromhex(match[1].decode()), name.encode())
        path = folder / os.fsdecode(escaped)
    return path


class Snapshot:
    """What is read through it belongs together, whatever others write meanwhile. Threads may share it."""

    def __init__(self, store: "Store", db: sqlite3.Connection, version: int) -> None:
        self.store, self.db, self.version = store, db, version
        size = store.path.stat().st_size if store.path.exists() else 0
        self._steps, self._size = STEPS + STEPS_PER_BYTE * size, SIZE + 2 * size
        self._lock = threading.Lock()

    def rows(self, statement: str, values: Sequence[Any] = (), *, steps: int | None = None) -> list[tuple[Any, ...]]:
        """The rows that a statement yields. By default it may take as many steps as the size of the file allows."""
        with self._lock, explaining(self.store.path), limit_steps(self.db, steps or self._steps):
            return list(self._limited(self.db.execute(statement, values)))

    def _limited(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Rows that hold no more than a file of this size can. A damaged or hostile file could repeat them forever."""
        size = 0
        for row in rows:
            size += sum(len(value) for value in row if type(value) in (str, bytes))
            if size > self._size:
                raise CatalogueError(f"{self.store.path}: is damaged: it repeats itself")
            yield row

    # ------------------------------------------------------------ rows that are verified

    def stored(self, kind: Kind, where: str = "", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one kind with all their fields and the checksum, by their key, not verified."""
        names = ", ".join(map(quoted, [*kind.fields, schema.CHECKSUM]))
        return self.rows(f"SELECT {names} FROM {kind.table} {where} ORDER BY {quoted(kind.key)}", values)

    def read(self, kind: Kind, where: str = "", values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of one kind, all their fields, by their key.

        Raises
        ------
        CatalogueError
            When a row is damaged; the message names the row and the field.
        """
        found = []
        for *fields, checksum in self.stored(kind, where, values):
            problems = records.problems_of(kind, fields, checksum, version=self.version)
            if problems:
                raise self.damaged(kind, fields[0], problems[0])
            found.append(tuple(fields))
        return found

    def read_some(self, kind: Kind, numbers: Iterable[int] | None) -> list[tuple[Any, ...]]:
        """Rows of some entries, or of all, by their numbers, as `read` returns them."""
        if numbers is None:
            return self.read(kind)
        wanted = sorted(int(number) for number in numbers)
        parts = [self.read(kind, among(kind.key, wanted[k : k + CHUNK])) for k in range(0, len(wanted), CHUNK)]
        return [row for part in parts for row in part]

    def damaged(self, kind: Kind, key: Any, problem: str) -> CatalogueError:
        """The error that names a damaged row."""
        if kind.key in ("id", "entry") and kind is not records.SUMMARIES:
            row = f"entry {shortened(repr(key))}"
            advice = "; remove the entry and add its image again" if type(key) is int else ""
        else:
            row, advice = f"{kind.table} {shortened(repr(key))}", ""
        return CatalogueError(f"{self.store.path}: {row} is damaged: {problem}{advice}")

    # ------------------------------------------------------------ settings

    def setting(self, name: str) -> str | None:
        """The text of a setting, None if there is none."""
        found = self.read(records.SETTINGS, "WHERE name = ?", [name])
        return found[0][1] if found else None

    @cached_property
    def settings(self) -> DescriptorSettings:
        """The settings of the descriptors."""
        text = self.setting("descriptors")
        try:
            return records.settings_of(text or "")
        except ValueError as error:
            raise CatalogueError(f"{self.store.path}: the settings of its descriptors are damaged: {error}") from error

    # ------------------------------------------------------------ entries

    def count(self) -> int:
        """How many entries there are."""
        return int(self._ids("count(id)")[0][0])  # of count(*) SQLite counts no steps

    def state(self) -> tuple[int, int]:
        """Another pair whenever entries were added or removed; numbers are never given twice."""
        last = self.rows("SELECT seq FROM main.sqlite_sequence WHERE name = 'entries'")
        return (last[0][0] if last else 0), self.count()

    def _ids(self, what: str) -> list[tuple[Any, ...]]:
        """Read the numbers of all entries from an index, which is small, or, if that is damaged, from the table."""
        try:
            return self.rows(f"SELECT {what} FROM main.entries")
        except CatalogueError:
            return self.rows(f"SELECT {what} FROM main.entries NOT INDEXED")

    def numbers(self) -> NDArray[np.int64]:
        """The numbers of all entries, ascending."""
        found = [row[0] for row in self._ids("id")]
        if not all(type(number) is int for number in found):
            raise CatalogueError(f"{self.store.path}: is damaged: the numbers of its entries are not whole")
        return np.sort(np.array(found, np.int64))

    def check_entries(self, numbers: Iterable[int], *, parts: bool = False) -> None:
        """Refuse numbers that no entry has, or, with `parts`, of which not even parts of a damaged entry are left."""
        wanted, there = list(numbers), set[int]()
        for number in wanted:
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise ArgumentTypeError("number", f"must be the number of an entry, got {number!r}")
        tables = {"entries": "id", **(dict.fromkeys(PARTS, "entry") if parts else {})}
        for k in range(0, len(wanted), CHUNK):
            for table, key in tables.items():
                rows = self.rows(f"SELECT {key} FROM {table} {among(key, wanted[k : k + CHUNK])}")
                there.update(row[0] for row in rows)
        for number in wanted:
            if number not in there:
                raise CatalogueError(f"{self.store.path}: there is no entry {number}")

    def known(self) -> dict[str, int]:
        """Entries by the hash of their content."""
        return dict(self.rows("SELECT hash, id FROM entries"))

    def entries(self, numbers: Iterable[int] | None = None, *, missing_ok: bool = False) -> list[EntryRow]:
        """All entries, or some, by their numbers."""
        wanted = None if numbers is None else list(numbers)
        found = [EntryRow(*row) for row in self.read_some(records.ENTRIES, wanted)]
        if not missing_ok:
            self._check_all(records.ENTRIES, wanted or [], [entry.id for entry in found])
        return found

    @cached_property
    def columns(self) -> list[str]:
        """The names of the metadata."""
        names = [str(row[1]) for row in self.rows("PRAGMA table_info (metadata)")]
        return [name for name in names[1:] if name != schema.CHECKSUM]

    @cached_property
    def metadata_kind(self) -> Kind:
        return records.metadata_kind(self.columns)

    def metadata(self, numbers: Iterable[int] | None = None) -> dict[int, dict[str, Value]]:
        """The metadata of all entries, or of some, by their numbers."""
        kind, wanted = self.metadata_kind, None if numbers is None else list(numbers)
        found = {number: dict(zip(self.columns, values)) for number, *values in self.read_some(kind, wanted)}
        self._check_all(kind, wanted or [], found)
        return found

    def failures(self) -> list[Failure]:
        """Images that could not be read."""
        return [Failure(*row) for row in self.read(records.FAILURES)]

    def pictures(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """The pictures of some entries."""
        wanted = list(numbers)
        found = dict(self.read_some(records.PICTURES, wanted))
        self._check_all(records.PICTURES, wanted, found.keys())
        return found

    def descriptors(self, numbers: Sequence[int] | NDArray[np.int64]) -> Descriptors:
        """The descriptors of some entries, in their order, which must be ascending."""
        wanted = [int(number) for number in numbers]
        rows = self.read_some(records.DESCRIPTORS, wanted)
        self._check_all(records.DESCRIPTORS, wanted, [row[0] for row in rows])
        frames = np.array([(entry.height, entry.width) for entry in self.entries(wanted)], np.int64).reshape(-1, 2)
        found = records.unpacked([row[1:] for row in rows], frames, self.settings)
        if found is None:
            bad = next(row for row in rows if records.unpacked([row[1:]], frames[:1], self.settings) is None)
            raise self.damaged(records.DESCRIPTORS, bad[0], records.BAD_DESCRIPTOR)
        return found

    def _check_all(self, kind: Kind, wanted: Sequence[int], found: Iterable[int]) -> None:
        """Refuse entries of which a part is missing."""
        missing = sorted(set(wanted).difference(found))
        if missing:
            raise self.damaged(kind, missing[0], f"its row is missing from the table {kind.table!r}")


def among(column: str, numbers: Iterable[int]) -> str:
    """The condition that a column has one of some numbers, of which there are not too many for one statement."""
    return f"WHERE {column} IN ({','.join(str(int(number)) for number in numbers)})"


class Transaction(Snapshot):
    """What is changed through it, is changed as a whole or not at all."""

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        with limit_steps(self.db, self._steps):
            return self.db.execute(statement, values)

    def _write(self, kind: Kind, values: Sequence[Any]) -> None:
        """Store a row with its checksum; a row that has the same key is replaced."""
        names = ", ".join(map(quoted, [*kind.fields, schema.CHECKSUM]))
        marks = ", ".join("?" * (len(values) + 1))
        self._execute(
            f"INSERT OR REPLACE INTO {kind.table} ({names}) VALUES ({marks})", [*values, records.checksum(kind, values)]
        )

    def put_setting(self, name: str, value: str) -> None:
        self._write(records.SETTINGS, [name, value])

    def put_summaries(self, arrays: bytes | None) -> None:
        """Replace what a search reads first, or forget it."""
        self._execute("DELETE FROM summaries")
        if arrays is not None:
            self._write(records.SUMMARIES, [1, arrays])

    def put_structure(self) -> None:
        """Note how the tables are defined, once they have been changed."""
        self.put_setting("structure", schema.fingerprint(self.db))

    def put(self, results: Iterable[tuple[Entry | Failure, dict[str, Value]]]) -> int:
        """Store results, with what is known of them; how many entries are new."""
        new = 0
        for result, metadata in results:
            self._execute("DELETE FROM failures WHERE file = ?", [result.file])
            if isinstance(result, Failure):
                self._write(records.FAILURES, result)
                continue
            found = self._execute("SELECT id FROM entries WHERE hash = ?", [result.hash]).fetchone()
            new += found is None
            number = found[0] if found else self._insert(result)
            self.set_metadata([(number, metadata)])
        return new

    def _insert(self, entry: Entry) -> int:
        names = EntryRow._fields[1:]
        marks = ", ".join("?" * len(names))
        cursor = self._execute(f"INSERT INTO entries ({', '.join(names)}) VALUES ({marks})", entry.row[1:])
        number = int(cursor.lastrowid or 0)
        self._sign_entry(entry.row._replace(id=number))
        self._write(records.PICTURES, [number, entry.picture])
        self._write(records.DESCRIPTORS, [number, entry.curves, entry.moments])
        kind = self.metadata_kind
        self._write(kind, [number, *[None] * (len(kind.fields) - 1)])
        return number

    def _sign_entry(self, row: EntryRow) -> None:
        """Set the checksum of an entry; replacing the row would remove what refers to it."""
        total = records.checksum(records.ENTRIES, row)
        self._execute(f"UPDATE entries SET {quoted(schema.CHECKSUM)} = ? WHERE id = ?", [total, row.id])

    def seen_again(self, files: Iterable[tuple[int, list[str]]]) -> None:
        """Note that the content of entries was met again: a file stands for one that is gone."""
        for number, names in files:
            for name in names:
                self._execute("DELETE FROM failures WHERE file = ?", [name])
            for row in self.entries([number], missing_ok=True):
                if row.file not in names and not named_file(row.file, self.store.path.parent).exists():
                    self._execute("UPDATE entries SET file = ? WHERE id = ?", [names[0], number])
                    self._sign_entry(row._replace(file=names[0]))

    def set_metadata(self, values: Iterable[tuple[int, dict[str, Value]]]) -> int:
        """Set some metadata of some entries; how many changed.

        New columns are added; entries that are gone are passed over.
        """
        changed = 0
        for number, row in values:
            if not row:
                continue
            self._add_columns(row)
            names = {name.lower(): name for name in self.columns}
            kind = self.metadata_kind
            for _, *before in self.read(kind, "WHERE entry = ?", [number]):
                merged = dict(zip(list(kind.fields)[1:], before))
                merged.update({names[name.lower()]: value for name, value in row.items()})
                if list(merged.values()) != before:
                    self._write(kind, [number, *merged.values()])
                    changed += 1
        return changed

    def _add_columns(self, names: Iterable[str]) -> None:
        there = {name.lower() for name in self.columns}
        new = {name.lower(): name for name in names if name.lower() not in there}
        if new and len(there) + len(new) > MOST_COLUMNS:
            raise MetadataError(
                f"{self.store.path}: must not have more than {MOST_COLUMNS} columns of metadata, got {len(there)} and "
                f"{len(new)} new ones"
            )
        for name in new.values():
            self._execute(f"ALTER TABLE metadata ADD COLUMN {quoted(name)} TEXT")
        if new:
            for name in ("columns", "metadata_kind"):
                self.__dict__.pop(name, None)  # they are read again
            self.put_structure()

    def remove(self, numbers: Iterable[int]) -> None:
        """Forget entries, and all that belongs to them, damaged or not."""
        for number in numbers:
            for table in PARTS:
                self._execute(f"DELETE FROM {table} WHERE entry = ?", [number])
            self._execute("DELETE FROM entries WHERE id = ?", [number])


class Store:
    """An open catalogue file. See `radoncdt.catalogue.Catalogue` for what users call.

    A file of an older version is read as it is, and migrated when it is opened to be changed.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False, write: bool = False) -> None:
        self.path = Path(os.path.realpath(path))
        self._create, self._write = create, create or write
        self._idle: list[sqlite3.Connection] = []
        self._lock, self._closed = threading.Lock(), False
        if self.path.exists() and not self.path.is_file():
            raise CatalogueError(f"{path}: is {'a folder' if self.path.is_dir() else 'not a regular file'}")
        new = not self.path.exists()
        if new and not create:
            raise CatalogueError(f"{path}: there is no such catalogue")
        if new and not self.path.parent.is_dir():
            raise CatalogueError(f"{path}: must be in a folder that exists")
        if self._write:
            migration.migrate(self.path)
        with self.snapshot():
            pass  # so that a file that cannot be read is refused here

    def close(self) -> None:
        """Close all connections, now or, if they are in use, as soon as they are not."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    # ------------------------------------------------------------ connections

    def _connect(self, begin: str) -> sqlite3.Connection:
        """A new connection. An empty file becomes a catalogue if it may be changed, or else is shown as one."""
        db = connection.connect(self.path, create=self._create, write=self._write)
        try:
            if any(schema.header(db)):
                return db
            if not self._create and begin == READ:
                db.close()
                db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            create(db)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _connection(self, begin: str) -> Iterator[tuple[sqlite3.Connection, int]]:
        """A connection within a transaction that nobody else uses meanwhile, and the version of the schema."""
        with self._lock:
            if self._closed:
                raise CatalogueError(f"{self.path}: was closed")
            db = self._idle.pop() if self._idle else None
        with explaining(self.path):
            db = self._connect(begin) if db is None else db
        keep = False
        try:
            with explaining(self.path), limit_steps(db, STEPS):
                db.execute(begin)
                version = schema.check_structure(db, self.path)
                for view in schema.VIEWS.get(version, ()):
                    db.execute(view)
                lasting = version == schema.VERSION and _is_file(db)
            yield db, version
            keep = lasting
        finally:
            with self._lock:
                if keep and not db.in_transaction and not self._closed:
                    self._idle.append(db)
                else:
                    db.close()  # rolls back what was not committed

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read: what is read within belongs together, whatever others write meanwhile."""
        with self._connection(READ) as (db, version):
            yield Snapshot(self, db, version)
            with suppress(*connection.ERRORS):  # nothing was changed
                db.execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Change all or nothing; waits for another writer."""
        if not self._write:
            raise CatalogueError(f"{self.path}: was opened to be read only")
        with self._connection(WRITE) as (db, version), explaining(self.path):
            yield Transaction(self, db, version)
            db.execute("COMMIT")


def _is_file(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA database_list").fetchone()[2])


def create(db: sqlite3.Connection) -> None:
    """Make an empty catalogue in an empty database; two processes may both be here."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if not any(schema.header(db)):
            schema.create(db)
            for name, value in (
                ("descriptors", json.dumps(asdict(SETTINGS))),
                ("structure", schema.fingerprint(db)),
            ):
                total = records.checksum(records.SETTINGS, [name, value])
                db.execute("INSERT INTO settings VALUES (?, ?, ?)", [name, value, total])
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise

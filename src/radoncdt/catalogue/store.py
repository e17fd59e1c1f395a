"""The file of a catalogue: an SQLite database that is read in snapshots and changed in transactions.

Each change is one transaction, so the file is valid no matter how a process ends. Several threads may share a `Store`,
because every snapshot and every transaction has its own connection.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from radoncdt.catalogue import migration, schema
from radoncdt.catalogue.connection import CatalogueError, connect, limit_steps, translate_errors
from radoncdt.catalogue.metadata import MAX_COLUMNS, MetadataError, Row, quote_name
from radoncdt.catalogue.records import Entry, Failure, NewEntry, ReadResult, find_file
from radoncdt.catalogue.schema import TableSchema
from radoncdt.catalogue.snapshot import MAX_STEPS, Snapshot
from radoncdt.matching.settings import DescriptorSettings

__all__ = ["DESCRIPTOR_SETTINGS", "Store", "Transaction"]

DESCRIPTOR_SETTINGS = DescriptorSettings(n_angles=64, n_levels=32, moments="robust", nu=10.0, trim=1 / 16)
"""Settings of the descriptors of a new catalogue."""

_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"  # the first statements of a snapshot and of a transaction


class Transaction(Snapshot):
    """A set of changes that are stored all together or not at all. It reads like a snapshot."""

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        with limit_steps(self.db, self._max_steps):
            return self.db.execute(statement, values)

    def _write(self, table: TableSchema, values: Sequence[Any]) -> None:
        """Store a row with its checksum. It replaces a row with the same key."""
        statement = f"INSERT OR REPLACE INTO {table.name} ({table.columns}) VALUES ({table.placeholders})"
        self._execute(statement, table.sign(values))

    def put_value(self, table: TableSchema, key: str | int, value: str | bytes | None) -> None:
        """Store a setting or the summaries, or delete them if the value is None."""
        if table is schema.SUMMARIES:  # there is one row; a damaged file may have others
            self._execute(f"DELETE FROM {table.name}")
        if value is None:
            self._execute(f"DELETE FROM {table.name} WHERE {table.key} = ?", [key])
        else:
            self._write(table, [key, value])

    def put(self, images: Iterable[tuple[ReadResult, Row]]) -> int:
        """Store images that were read, or failures, each with its metadata. Return the number of new entries."""
        n_new = 0
        for image, metadata in images:
            self._execute("DELETE FROM failures WHERE file = ?", [image.file])
            if isinstance(image, Failure):
                self._write(schema.FAILURES, image)
                continue
            found = self._execute("SELECT id FROM entries WHERE hash = ?", [image.entry.hash]).fetchone()
            n_new += found is None
            number = found[0] if found else self._insert(image)
            self.set_metadata([(number, metadata)])
        return n_new

    def _insert(self, new: NewEntry) -> int:
        statement = f"INSERT INTO entries ({schema.ENTRIES.columns}) VALUES ({schema.ENTRIES.placeholders})"
        number = int(self._execute(statement, [None, *new.entry[1:], None]).lastrowid or 0)
        self._sign(new.entry._replace(id=number))
        self._write(schema.THUMBNAILS, [number, new.thumbnail])
        self._write(schema.DESCRIPTORS, [number, new.curves, new.moments])
        self._write(self.metadata_table, [number, *[None] * len(self.columns)])
        return number

    def _sign(self, entry: Entry) -> None:
        """Set the checksum of an entry. Replacing the row would delete the rows that refer to it."""
        checksum = schema.ENTRIES.compute_checksum(entry)
        self._execute(f"UPDATE entries SET {quote_name(schema.CHECKSUM)} = ? WHERE id = ?", [checksum, entry.id])

    def update_files(self, files: Iterable[tuple[int, list[str]]]) -> None:
        """Update the file of entries whose content was found again, if the stored file no longer exists."""
        for number, names in files:
            for name in names:
                self._execute("DELETE FROM failures WHERE file = ?", [name])
            for entry in self.entries([number], missing_ok=True):
                if entry.file not in names and not find_file(entry.file, self.path.parent).exists():
                    self._execute("UPDATE entries SET file = ? WHERE id = ?", [names[0], number])
                    self._sign(entry._replace(file=names[0]))

    def set_metadata(self, values: Iterable[tuple[int, Row]]) -> int:
        """Set metadata of some entries, and return the number of entries that changed.

        New columns are created. Entries that no longer exist are skipped.
        """
        n_changed = 0
        for number, row in values:
            if not row:
                continue
            self._add_columns(row)
            names = {name.lower(): name for name in self.columns}
            for _, *before in self.read(self.metadata_table, "WHERE entry = ?", [number]):
                merged = dict(zip(self.columns, before))
                merged.update({names[name.lower()]: value for name, value in row.items()})
                if list(merged.values()) != before:
                    self._write(self.metadata_table, [number, *merged.values()])
                    n_changed += 1
        return n_changed

    def _add_columns(self, names: Iterable[str]) -> None:
        there = {name.lower() for name in self.columns}
        new = {name.lower(): name for name in names if name.lower() not in there}
        if new and len(there) + len(new) > MAX_COLUMNS:
            raise MetadataError(
                f"{self.path}: must not have more than {MAX_COLUMNS} metadata columns, got {len(there)} and "
                f"{len(new)} new ones"
            )
        for name in new.values():
            self._execute(f"ALTER TABLE metadata ADD COLUMN {quote_name(name)} TEXT")
        if new:
            for cached in ("columns", "metadata_table"):
                self.__dict__.pop(cached, None)
            self.put_value(schema.SETTINGS, "structure", schema.read_definitions(self.db))

    def remove(self, numbers: Iterable[int]) -> None:
        """Delete entries and their rows in all tables, damaged or not."""
        for number in numbers:
            for table in schema.PART_TABLES:
                self._execute(f"DELETE FROM {table} WHERE entry = ?", [number])
            self._execute("DELETE FROM entries WHERE id = ?", [number])


class Store:
    """An open catalogue file.

    A file of an earlier version is read as it is, and migrated if it is opened for writing.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False, write: bool = False) -> None:
        self.path = Path(os.path.realpath(path))
        self.writable = create or write
        self._create, self._closed = create, False
        if self.path.exists() and not self.path.is_file():
            raise CatalogueError(f"{path}: is {'a folder' if self.path.is_dir() else 'not a regular file'}")
        new = not self.path.exists()
        if new and not create:
            raise CatalogueError(f"{path}: there is no such catalogue")
        if new and not self.path.parent.is_dir():
            raise CatalogueError(f"{path}: must be in a folder that exists")
        if self.writable:
            migration.migrate(self.path)
        with self.snapshot():
            pass  # refuses unreadable files now
        self._create = False  # a file that is moved or deleted later is not created again

    def close(self) -> None:
        """Refuse further snapshots and transactions."""
        self._closed = True

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read a consistent view of the catalogue, unaffected by concurrent writers."""
        with self._connection(_READ) as (db, version):
            yield Snapshot(self.path, db, version)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Change the catalogue as a whole or not at all. Wait for other writers first."""
        if not self.writable:
            raise CatalogueError(f"{self.path}: was opened for reading only")
        with self._connection(_WRITE) as (db, version), translate_errors(self.path):
            yield Transaction(self.path, db, version)
            db.execute("COMMIT")

    @contextmanager
    def _connection(self, begin: str) -> Iterator[tuple[sqlite3.Connection, int]]:
        """Yield a connection for exclusive use within a transaction, and the version of the schema."""
        if self._closed:
            raise CatalogueError(f"{self.path}: was closed")
        with translate_errors(self.path):
            db = self._connect(begin)
        with closing(db):  # rolls back uncommitted changes
            with translate_errors(self.path), limit_steps(db, MAX_STEPS):
                db.execute(begin)
                version = schema.check_structure(db, self.path)
                for view in schema.VIEWS.get(version, ()):
                    db.execute(view)
            yield db, version

    def _connect(self, begin: str) -> sqlite3.Connection:
        """Open a connection. An empty file becomes a catalogue, or is shown as one if it is only read."""
        db = connect(self.path, create=self._create, write=self.writable)
        try:
            if any(schema.read_header(db)):
                return db
            if not self._create and begin == _READ:
                db.close()
                db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            _initialise(db)
        except BaseException:
            db.close()  # rolls back uncommitted changes
            raise
        return db


def _initialise(db: sqlite3.Connection) -> None:
    """Make an empty catalogue of an empty database. Two processes may do this at the same time."""
    db.execute(_WRITE)
    if not any(schema.read_header(db)):
        schema.create_tables(db)
        settings = ("descriptors", json.dumps(asdict(DESCRIPTOR_SETTINGS))), ("structure", schema.read_definitions(db))
        db.executemany("INSERT INTO settings VALUES (?, ?, ?)", map(schema.SETTINGS.sign, settings))
    db.execute("COMMIT")

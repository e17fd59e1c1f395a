"""The file of a catalogue: an SQLite database that is read in snapshots and changed in transactions.

Each change is one transaction, so the file is valid no matter how a process ends. Several threads may share a `Store`,
because every snapshot and every transaction has its own connection.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

from radoncdt.catalogue import migration, records, schema
from radoncdt.catalogue.connection import SQLITE_ERRORS, connect, limit_steps, translate_errors
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.snapshot import MAX_STEPS, Snapshot
from radoncdt.catalogue.transaction import Transaction
from radoncdt.matching.descriptors import DescriptorSettings

__all__ = ["DESCRIPTOR_SETTINGS", "Store"]

DESCRIPTOR_SETTINGS = DescriptorSettings(n_angles=64, n_levels=32, moments="robust", nu=10.0, trim=1 / 16)
"""Settings of the descriptors of a new catalogue."""

_READ, _WRITE = "BEGIN", "BEGIN IMMEDIATE"  # the first statements of a snapshot and of a transaction


class Store:
    """An open catalogue file.

    A file of an earlier version is read as it is, and migrated if it is opened for writing.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False, write: bool = False) -> None:
        self.path = Path(os.path.realpath(path))
        self.writable = create or write
        self._create = create
        self._idle: list[sqlite3.Connection] = []
        self._lock, self._closed = threading.Lock(), False
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

    def close(self) -> None:
        """Close all connections; those in use are closed as soon as they are released."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read a consistent view of the catalogue, unaffected by concurrent writers."""
        with self._connection(_READ) as (db, version):
            yield Snapshot(self.path, db, version)
            with suppress(*SQLITE_ERRORS):  # nothing was changed
                db.execute("ROLLBACK")

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
        with self._lock:
            if self._closed:
                raise CatalogueError(f"{self.path}: was closed")
            db = self._idle.pop() if self._idle else None
        with translate_errors(self.path):
            db = self._connect(begin) if db is None else db
        keep = False
        try:
            with translate_errors(self.path), limit_steps(db, MAX_STEPS):
                db.execute(begin)
                version = schema.check_structure(db, self.path)
                for view in schema.VIEWS.get(version, ()):
                    db.execute(view)
                reusable = version == schema.VERSION and _is_file(db)
            yield db, version
            keep = reusable
        finally:
            with self._lock:
                if keep and not db.in_transaction and not self._closed:
                    self._idle.append(db)
                else:
                    db.close()  # rolls back uncommitted changes

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
            db.close()
            raise
        return db


def _is_file(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA database_list").fetchone()[2])


def _initialise(db: sqlite3.Connection) -> None:
    """Make an empty catalogue of an empty database. Two processes may do this at the same time."""
    db.execute(_WRITE)
    try:
        if not any(schema.read_header(db)):
            schema.create_tables(db)
            for row in (
                ("descriptors", json.dumps(asdict(DESCRIPTOR_SETTINGS))),
                ("structure", schema.read_definitions(db)),
            ):
                checksum = records.compute_checksum(records.SETTINGS, row)
                db.execute("INSERT INTO settings VALUES (?, ?, ?)", [*row, checksum])
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise

"""The file of a catalogue: an SQLite database with entries, metadata, settings and descriptors.

Every change is one transaction, so the file is whole whenever a process ends, however it ends.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt.catalogue.metadata import KNOWN, Value, quoted
from radoncdt.descriptors import Descriptors, Settings

APPLICATION = 0x52434454  # "RCDT", in the header of the file
VERSION = 1
"""Of the schema. A file with a higher one was written by a newer radoncdt."""

WAIT = 30.0
"""Seconds to wait for another process that is writing."""

SETTINGS = Settings(n_angles=64, n_levels=32, moments="robust", nu=10.0, trim=1 / 16)
"""Of the descriptors of a new catalogue."""

SCHEMA = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL UNIQUE,
    file TEXT NOT NULL,
    ink TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    ink_width INTEGER NOT NULL,
    ink_height INTEGER NOT NULL,
    note TEXT NOT NULL,
    picture BLOB NOT NULL
);
CREATE INDEX entries_by_file ON entries (file);
CREATE TABLE metadata (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    {", ".join(f"{quoted(name)} {column.type}" for name, column in KNOWN.items())}
);
CREATE TABLE descriptors (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    curves BLOB NOT NULL,
    moments BLOB NOT NULL
);
CREATE TABLE failures (file TEXT PRIMARY KEY, hash TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE summaries (id INTEGER PRIMARY KEY CHECK (id = 1), arrays BLOB NOT NULL);
"""
"""`width` and `height` are those of the image of the ink in pixels, `ink_width` and `ink_height` those of the box
around the ink, `picture` the ink as a PNG file. `curves` are the values of a descriptor in float16, `moments` its mean
and covariance, 6 numbers in float64. `summaries` is what a search reads first; it follows from the rest and is made
again as needed."""


ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Of SQLite; the second where a message has text of a damaged file."""


class CatalogueError(ValueError):
    """A file that is no catalogue, or cannot be used as one; the message names it and says why."""


class Entry(NamedTuple):
    """What is to be stored of an image."""

    hash: str
    file: str
    ink: str
    width: int
    height: int
    ink_width: int
    ink_height: int
    note: str
    picture: bytes
    curves: bytes
    moments: bytes


class Failure(NamedTuple):
    """An image that could not be read."""

    file: str
    hash: str
    reason: str


def stored_name(path: str | os.PathLike[str], folder: Path) -> str:
    """A file as a catalogue in a folder names it: relative to that if it is below, so that both can be moved together.

    Bytes that are no UTF-8 become \\x escapes, for a database holds text.
    """
    whole, root = Path(os.path.abspath(path)), Path(os.path.abspath(folder))
    name = whole.relative_to(root) if whole.is_relative_to(root) else whole
    return os.fsencode(name.as_posix()).decode("utf-8", "backslashreplace")


def named_file(name: str, folder: Path) -> Path:
    """The file that has such a name in a catalogue in a folder."""
    path = folder / name
    if "\\x" in name and not path.exists():
        escaped = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes.fromhex(match[1].decode()), name.encode())
        path = folder / os.fsdecode(escaped)
    return path


def may_write(path: Path) -> bool:
    """Whether a catalogue can be changed; SQLite makes files beside it meanwhile."""
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def connect(path: Path, *, create: bool = False, write: bool = False) -> sqlite3.Connection:
    """Open a file that is there, or is to be made, to be read or written.

    What a killed process left half written is taken back by whoever comes next, who must be able to write, even if it
    is to read.
    """
    mode = "rwc" if create else "rw" if write or may_write(path) else "ro"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)
    if not (create or write):
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        db.execute("PRAGMA query_only = ON")
    return db


class Store:
    """An open catalogue file. See `radoncdt.catalogue.Catalogue` for what users call."""

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False, write: bool = False) -> None:
        self.path = Path(os.path.abspath(path))
        if self.path.exists() and not self.path.is_file():
            raise CatalogueError(f"{path}: is {'a folder' if self.path.is_dir() else 'no file'}, not a catalogue")
        new = not self.path.exists()
        if new and not create:
            raise CatalogueError(f"{path}: there is no such catalogue")
        if new and not self.path.parent.is_dir():
            raise CatalogueError(f"{path}: must be in a folder that exists")
        try:
            self.db = connect(self.path, create=create, write=write)
            self.db.text_factory = lambda text: text.decode("utf-8", "replace")  # of a damaged file
            self.db.execute("PRAGMA foreign_keys = ON")
            self._open(create)
        except ERRORS as error:
            raise self.explained(error) from error

    def _open(self, create: bool) -> None:
        with self.snapshot():
            application, version, tables = self._header()
        if create and not (application or version or tables):
            with self.transaction():  # two processes may both be here
                if not any(self._header()):
                    for statement in SCHEMA.split(";"):
                        self.db.execute(statement)
                    self.db.execute("INSERT INTO settings VALUES ('descriptors', ?)", [json.dumps(SETTINGS._asdict())])
                    self.db.execute(f"PRAGMA application_id = {APPLICATION}")
                    self.db.execute(f"PRAGMA user_version = {VERSION}")
            return
        if application != APPLICATION:
            raise CatalogueError(f"{self.path}: is a database, but no catalogue of radoncdt")
        if version > VERSION:
            raise CatalogueError(
                f"{self.path}: was written by a newer radoncdt (schema {version}, this one knows {VERSION}); update it"
            )

    def _header(self) -> tuple[int, int, int]:
        """Of which application and version a file is, and how many tables it has."""
        asked = "PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master"
        application, version, tables = (int(self.db.execute(statement).fetchone()[0]) for statement in asked)
        return application, version, tables

    def explained(self, error: Exception) -> Exception:
        """An error of SQLite in words of ours."""
        text = "malformed text" if isinstance(error, UnicodeDecodeError) else str(error)
        if "not a database" in text or "malformed" in text:
            return CatalogueError(f"{self.path}: is no catalogue, or is damaged: {text}")
        if "locked" in text or "busy" in text:
            return CatalogueError(
                f"{self.path}: another process has been writing for {WAIT:g} seconds; try again later"
            )
        if "full" in text or "disk I/O" in text:
            return OSError(f"{self.path}: cannot be written ({text}); what was stored before is unharmed")
        if "readonly" in text or "unable to open" in text:
            return CatalogueError(f"{self.path}: cannot be opened, or not be written to: {text}")
        return CatalogueError(f"{self.path}: {text}")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read within belongs together, whatever others write meanwhile."""
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            if self.db.in_transaction:
                self.db.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; waits for another writer."""
        try:
            self.db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
        except ERRORS as error:
            raise self.explained(error) from error

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self.db.execute(statement, values).fetchall()
        except ERRORS as error:
            raise self.explained(error) from error

    def close(self) -> None:
        self.db.close()

    # ------------------------------------------------------------ settings

    @property
    def settings(self) -> Settings:
        """Of the descriptors."""
        stored = self.rows("SELECT value FROM settings WHERE name = 'descriptors'")
        try:
            found = json.loads(stored[0][0])
            return Settings(*(found[name] for name in Settings._fields))
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise CatalogueError(f"{self.path}: the settings of its descriptors are damaged: {error}") from error

    # ------------------------------------------------------------ entries

    def put(self, results: Iterable[tuple[Entry | Failure, dict[str, Value]]]) -> int:
        """Store results, with what is known of them, in one transaction; how many entries are new."""
        new = 0
        with self.transaction():
            for result, metadata in results:
                self.db.execute("DELETE FROM failures WHERE file = ?", [result.file])
                if isinstance(result, Failure):
                    self.db.execute("INSERT INTO failures VALUES (?, ?, ?)", result)
                    continue
                found = self.db.execute("SELECT id FROM entries WHERE hash = ?", [result.hash]).fetchone()
                new += found is None
                self.set_metadata([(found[0] if found else self._insert(result), metadata)])
        return new

    def _insert(self, entry: Entry) -> int:
        cursor = self.db.execute(
            f"INSERT INTO entries ({', '.join(Entry._fields[:9])}) VALUES ({', '.join('?' * 9)})", entry[:9]
        )
        number = int(cursor.lastrowid or 0)
        self.db.execute("INSERT INTO metadata (entry) VALUES (?)", [number])
        self.db.execute("INSERT INTO descriptors VALUES (?, ?, ?)", [number, entry.curves, entry.moments])
        return number

    def numbers(self) -> NDArray[np.int64]:
        """Of all entries, ascending."""
        return np.array([row[0] for row in self.rows("SELECT entry FROM descriptors ORDER BY entry")], np.int64)

    def known(self) -> dict[str, int]:
        """Entries by the hash of their content."""
        return dict(self.rows("SELECT hash, id FROM entries"))

    def columns(self) -> list[str]:
        """Names of the metadata."""
        return [row[1] for row in self.rows("PRAGMA table_info (metadata)")][1:]

    def seen_again(self, files: Iterable[tuple[int, list[str]]]) -> None:
        """Entries whose content was met again: a file stands for one that is gone. To be called in a transaction."""
        for number, names in files:
            self.db.executemany("DELETE FROM failures WHERE file = ?", [(name,) for name in names])
            ((stored,),) = self.db.execute("SELECT file FROM entries WHERE id = ?", [number]).fetchall() or [
                (names[0],)
            ]
            if stored not in names and not named_file(stored, self.path.parent).exists():
                self.db.execute("UPDATE entries SET file = ? WHERE id = ?", [names[0], number])

    def read_otherwise(self, numbers: Sequence[int], ink: str) -> int:
        """How many of some entries were read with other options."""
        other = {row[0] for row in self.rows("SELECT id FROM entries WHERE ink != ?", [ink])}
        return len(other.intersection(numbers))

    def set_metadata(self, values: Iterable[tuple[int, dict[str, Value]]]) -> None:
        """Set some metadata of some entries; unheard-of columns are added. To be called in a transaction."""
        there = {name.lower() for name in self.columns()}
        for number, row in values:
            for name in row:
                if name.lower() not in there:
                    self.db.execute(f"ALTER TABLE metadata ADD COLUMN {quoted(name)} TEXT")
                    there.add(name.lower())
            if row:
                names = ", ".join(f"{quoted(name)} = ?" for name in row)
                self.db.execute(f"UPDATE metadata SET {names} WHERE entry = ?", [*row.values(), number])

    def version(self) -> int:
        """Another number whenever another process has changed the file."""
        return int(self.rows("PRAGMA data_version")[0][0])

    def remove(self, numbers: Sequence[int]) -> None:
        """Forget entries, and all that belongs to them."""
        with self.transaction():
            self.db.executemany("DELETE FROM entries WHERE id = ?", [(number,) for number in numbers])

    # ------------------------------------------------------------ descriptors

    def descriptors(self, numbers: Sequence[int] | NDArray[np.int64], settings: Settings) -> Descriptors:
        """Of some entries, in their order, which must be ascending."""
        wanted = ",".join(map(str, numbers))
        rows = self.rows(
            "SELECT d.curves, d.moments, e.height, e.width FROM descriptors d JOIN entries e ON e.id = d.entry "
            f"WHERE d.entry IN ({wanted}) ORDER BY d.entry"
        )
        shape = settings.n_angles, settings.levels.size
        try:
            values = np.frombuffer(b"".join(row[0] for row in rows), np.float16).reshape(len(rows), *shape)
            moments = np.frombuffer(b"".join(row[1] for row in rows), np.float64).reshape(len(rows), 6)
        except ValueError as error:
            raise CatalogueError(f"{self.path}: some descriptors are damaged: {error}") from error
        frames = np.array([row[2:] for row in rows], np.int64).reshape(len(rows), 2)
        return Descriptors(
            values.astype(np.float32), moments[:, :2].copy(), moments[:, 2:].reshape(-1, 2, 2).copy(), frames, settings
        )


def packed(descriptor: Descriptors) -> tuple[bytes, bytes]:
    """Curves and moments of one descriptor as they are stored."""
    moments = np.concatenate([descriptor.means[0], descriptor.covariances[0].ravel()])
    return descriptor.values[0].astype(np.float16).tobytes(), moments.astype(np.float64).tobytes()

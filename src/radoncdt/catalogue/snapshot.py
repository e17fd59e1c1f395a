"""Reading a catalogue file within one read transaction. Every row is verified."""

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import shorten
from radoncdt._validation import ArgumentTypeError
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.connection import CatalogueError, limit_steps, translate_errors
from radoncdt.catalogue.metadata import Row, quote_name
from radoncdt.catalogue.records import Entry, Failure
from radoncdt.catalogue.schema import TableSchema
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.settings import DescriptorSettings

__all__ = ["Snapshot", "select_in"]

MAX_NUMBERS = 1024  # entries that one statement names

# A damaged or hostile file could make a statement run forever or return rows forever.
MAX_STEPS, MAX_STEPS_PER_BYTE = 20_000_000, 5  # SQLite VM steps per statement, plus steps per byte of the file
MAX_RESULT_SIZE = 2**24  # bytes that a statement may return, plus twice the size of the file

_Rows = list[tuple[Any, ...]]


def select_in(column: str, numbers: Iterable[int]) -> str:
    """Return the WHERE clause that a column has one of at most `MAX_NUMBERS` numbers."""
    return f"WHERE {column} IN ({','.join(str(int(number)) for number in numbers)})"


class Snapshot:
    """A consistent view of a catalogue, unaffected by concurrent writers. Threads may share it."""

    def __init__(self, path: Path, db: sqlite3.Connection, version: int) -> None:
        self.path, self.db, self.version = path, db, version
        size = path.stat().st_size if path.exists() else 0
        self._max_steps, self._max_size = MAX_STEPS + MAX_STEPS_PER_BYTE * size, MAX_RESULT_SIZE + 2 * size
        self._lock = threading.Lock()

    def rows(self, statement: str, values: Sequence[Any] = (), *, max_steps: int | None = None) -> _Rows:
        """Execute a statement and return its rows. The size of the file limits its steps by default."""
        with self._lock, translate_errors(self.path), limit_steps(self.db, max_steps or self._max_steps):
            rows, size = [], 0
            for row in self.db.execute(statement, values):
                rows.append(row)
                size += sum(len(value) for value in row if type(value) in (str, bytes))
                if size > self._max_size:
                    raise CatalogueError(f"{self.path}: is damaged: rows repeat without end")
            return rows

    # ------------------------------------------------------------ verified rows

    def verify(
        self, table: TableSchema, where: str = "", values: Sequence[Any] = ()
    ) -> list[tuple[list[Any], list[str]]]:
        """Return rows of a table by key, each as a list of its fields and a list of its problems."""
        rows = self.rows(f"SELECT {table.columns} FROM {table.name} {where} ORDER BY {quote_name(table.key)}", values)
        return [(fields, table.verify(fields, checksum, self.version)) for *fields, checksum in rows]

    def read(self, table: TableSchema, where: str = "", values: Sequence[Any] = ()) -> _Rows:
        """Return rows of a table by key, with all their fields.

        Raises
        ------
        CatalogueError
            If a row is damaged. The message names the row and the field.
        """
        found = []
        for fields, problems in self.verify(table, where, values):
            if problems:
                raise self.damage_error(table, fields[0], problems[0])
            found.append(tuple(fields))
        return found

    def _read_some(self, table: TableSchema, numbers: Iterable[int] | None, *, missing_ok: bool = False) -> _Rows:
        """Return the rows of some entries by number, or of all entries if `numbers` is None."""
        if numbers is None:
            return self.read(table)
        wanted = sorted(map(int, numbers))
        chunks = [wanted[k : k + MAX_NUMBERS] for k in range(0, len(wanted), MAX_NUMBERS)]
        found = [row for chunk in chunks for row in self.read(table, select_in(table.key, chunk))]
        missing = set(wanted).difference(row[0] for row in found)
        if missing and not missing_ok:
            raise self.damage_error(table, min(missing), f"its row is missing from the table {table.name!r}")
        return found

    def damage_error(self, table: TableSchema, key: Any, problem: str) -> CatalogueError:
        """Return the error that names a damaged row."""
        of_entry = table is schema.ENTRIES or table.key == "entry"
        row = f"{'entry' if of_entry else table.name} {shorten(repr(key))}"
        advice = "; remove the entry and add its image again" if of_entry and type(key) is int else ""
        return CatalogueError(f"{self.path}: {row} is damaged: {problem}{advice}")

    # ------------------------------------------------------------ settings

    def setting(self, name: str) -> str | None:
        """Return the text of a setting, None if it is not set."""
        found = self.read(schema.SETTINGS, "WHERE name = ?", [name])
        return found[0][1] if found else None

    @cached_property
    def settings(self) -> DescriptorSettings:
        """The settings of the descriptors."""
        try:
            return records.parse_settings(self.setting("descriptors") or "")
        except ValueError as error:
            raise CatalogueError(f"{self.path}: the settings of its descriptors are damaged: {error}") from error

    # ------------------------------------------------------------ entries

    def count(self) -> int:
        """Return the number of entries."""
        return int(self._select_ids("count(id)")[0][0])  # SQLite counts no steps for count(*)

    def state(self) -> tuple[int, int]:
        """Return a pair that changes whenever entries are added or removed; numbers are never reused."""
        last = self.rows("SELECT seq FROM main.sqlite_sequence WHERE name = 'entries'")
        return (last[0][0] if last else 0), self.count()

    def _select_ids(self, expression: str) -> _Rows:
        """Select an expression of the entry numbers from the small index, or from the table if that is damaged."""
        try:
            return self.rows(f"SELECT {expression} FROM main.entries")
        except CatalogueError:
            return self.rows(f"SELECT {expression} FROM main.entries NOT INDEXED")

    def numbers(self) -> NDArray[np.int64]:
        """Return the numbers of all entries in ascending order."""
        found = [row[0] for row in self._select_ids("id")]
        if not all(type(number) is int for number in found):
            raise CatalogueError(f"{self.path}: is damaged: entry numbers are not whole numbers")
        return np.sort(np.array(found, np.int64))

    def check_entries(self, numbers: Iterable[int], *, accept_parts: bool = False) -> None:
        """Refuse numbers without an entry; `accept_parts` accepts entries of which only parts are left."""
        wanted, there = list(numbers), set[int]()
        for number in wanted:
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise ArgumentTypeError("number", f"must be the number of an entry, got {number!r}")
        tables = {"entries": "id", **(dict.fromkeys(schema.PART_TABLES, "entry") if accept_parts else {})}
        for k in range(0, len(wanted), MAX_NUMBERS):
            for table, key in tables.items():
                rows = self.rows(f"SELECT {key} FROM {table} {select_in(key, wanted[k : k + MAX_NUMBERS])}")
                there.update(row[0] for row in rows)
        for number in wanted:
            if number not in there:
                raise CatalogueError(f"{self.path}: there is no entry {number}")

    def entries(self, numbers: Iterable[int] | None = None, *, missing_ok: bool = False) -> list[Entry]:
        """Return all entries, or some, by number."""
        return [Entry(*row) for row in self._read_some(schema.ENTRIES, numbers, missing_ok=missing_ok)]

    @cached_property
    def columns(self) -> list[str]:
        """The names of the metadata columns."""
        names = [str(row[1]) for row in self.rows("PRAGMA table_info (metadata)")]
        return [name for name in names[1:] if name != schema.CHECKSUM]

    @cached_property
    def metadata_table(self) -> TableSchema:
        """The table of metadata with all its columns."""
        return schema.make_metadata_table(self.columns)

    def metadata(self, numbers: Iterable[int] | None = None) -> dict[int, Row]:
        """Return the metadata of all entries, or of some, by number."""
        rows = self._read_some(self.metadata_table, numbers)
        return {number: dict(zip(self.columns, values)) for number, *values in rows}

    def failures(self) -> list[Failure]:
        """Return the images that could not be read."""
        return [Failure(*row) for row in self.read(schema.FAILURES)]

    def thumbnails(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """Return the thumbnails of some entries by number."""
        return dict(self._read_some(schema.THUMBNAILS, numbers))

    def descriptors(self, numbers: Sequence[int] | NDArray[np.int64]) -> Descriptors:
        """Return the descriptors of some entries, whose numbers must be in ascending order."""
        rows = self._read_some(schema.DESCRIPTORS, numbers)
        frames = np.array([(entry.height, entry.width) for entry in self.entries(numbers)], np.int64).reshape(-1, 2)
        settings = self.settings
        try:
            return records.unpack_descriptors([row[1:] for row in rows], frames, settings)
        except ValueError as error:
            if len(rows) > 1:
                for row in rows:
                    self.descriptors([row[0]])  # finds the first damaged one
            raise self.damage_error(schema.DESCRIPTORS, rows[0][0], str(error)) from None

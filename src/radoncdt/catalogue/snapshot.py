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
from radoncdt.catalogue.connection import limit_steps, translate_errors
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import Value, quote_name
from radoncdt.catalogue.records import Entry, Failure, TableSpec
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.settings import DescriptorSettings

__all__ = ["PART_TABLES", "Snapshot", "select_in"]

MAX_NUMBERS = 1024  # entries that one statement names

# A damaged or hostile file could make a statement run forever or return rows forever.
MAX_STEPS, MAX_STEPS_PER_BYTE = 20_000_000, 5  # SQLite VM steps per statement, plus steps per byte of the file
MAX_RESULT_SIZE = 2**24  # bytes that a statement may return, plus twice the size of the file

_Rows = list[tuple[Any, ...]]

PART_TABLES = ("pictures", "metadata", "descriptors")
"""Tables with one row per entry."""


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

    def read_unverified(self, spec: TableSpec, where: str = "", values: Sequence[Any] = ()) -> _Rows:
        """Return rows of a table by key, with all their fields and the checksum."""
        names = ", ".join(map(quote_name, [*spec.fields, schema.CHECKSUM]))
        return self.rows(f"SELECT {names} FROM {spec.table} {where} ORDER BY {quote_name(spec.key)}", values)

    def read(self, spec: TableSpec, where: str = "", values: Sequence[Any] = ()) -> _Rows:
        """Return rows of a table by key, with all their fields.

        Raises
        ------
        CatalogueError
            If a row is damaged. The message names the row and the field.
        """
        found = []
        for *fields, checksum in self.read_unverified(spec, where, values):
            problems = records.check_row(spec, fields, checksum, version=self.version)
            if problems:
                raise self.damage_error(spec, fields[0], problems[0])
            found.append(tuple(fields))
        return found

    def _read_some(self, spec: TableSpec, numbers: Iterable[int] | None) -> _Rows:
        """Return the rows of some entries by number, or of all entries if `numbers` is None."""
        if numbers is None:
            return self.read(spec)
        wanted = sorted(int(number) for number in numbers)
        chunks = [wanted[k : k + MAX_NUMBERS] for k in range(0, len(wanted), MAX_NUMBERS)]
        return [row for chunk in chunks for row in self.read(spec, select_in(spec.key, chunk))]

    def damage_error(self, spec: TableSpec, key: Any, problem: str) -> CatalogueError:
        """Return the error that names a damaged row."""
        of_entry = spec is records.ENTRIES or spec.key == "entry"
        row = f"{'entry' if of_entry else spec.table} {shorten(repr(key))}"
        advice = "; remove the entry and add its image again" if of_entry and type(key) is int else ""
        return CatalogueError(f"{self.path}: {row} is damaged: {problem}{advice}")

    def _check_complete(self, spec: TableSpec, wanted: Sequence[int], found: Iterable[int]) -> None:
        """Refuse entries whose row is missing from a table."""
        missing = sorted(set(wanted).difference(found))
        if missing:
            raise self.damage_error(spec, missing[0], f"its row is missing from the table {spec.table!r}")

    # ------------------------------------------------------------ settings

    def setting(self, name: str) -> str | None:
        """Return the text of a setting, None if it is not set."""
        found = self.read(records.SETTINGS, "WHERE name = ?", [name])
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
        tables = {"entries": "id", **(dict.fromkeys(PART_TABLES, "entry") if accept_parts else {})}
        for k in range(0, len(wanted), MAX_NUMBERS):
            for table, key in tables.items():
                rows = self.rows(f"SELECT {key} FROM {table} {select_in(key, wanted[k : k + MAX_NUMBERS])}")
                there.update(row[0] for row in rows)
        for number in wanted:
            if number not in there:
                raise CatalogueError(f"{self.path}: there is no entry {number}")

    def hashes(self) -> dict[str, int]:
        """Return the numbers of all entries by the hash of their content."""
        return dict(self.rows("SELECT hash, id FROM entries"))

    def entries(self, numbers: Iterable[int] | None = None, *, missing_ok: bool = False) -> list[Entry]:
        """Return all entries, or some, by number."""
        wanted = None if numbers is None else list(numbers)
        found = [Entry(*row) for row in self._read_some(records.ENTRIES, wanted)]
        if not missing_ok:
            self._check_complete(records.ENTRIES, wanted or [], [entry.id for entry in found])
        return found

    @cached_property
    def columns(self) -> list[str]:
        """The names of the metadata columns."""
        names = [str(row[1]) for row in self.rows("PRAGMA table_info (metadata)")]
        return [name for name in names[1:] if name != schema.CHECKSUM]

    @cached_property
    def metadata_spec(self) -> TableSpec:
        """The spec of the metadata table."""
        return records.make_metadata_spec(self.columns)

    def metadata(self, numbers: Iterable[int] | None = None) -> dict[int, dict[str, Value]]:
        """Return the metadata of all entries, or of some, by number."""
        spec, wanted = self.metadata_spec, None if numbers is None else list(numbers)
        found = {number: dict(zip(self.columns, values)) for number, *values in self._read_some(spec, wanted)}
        self._check_complete(spec, wanted or [], found)
        return found

    def failures(self) -> list[Failure]:
        """Return the images that could not be read."""
        return [Failure(*row) for row in self.read(records.FAILURES)]

    def thumbnails(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """Return the thumbnails of some entries by number."""
        wanted = list(numbers)
        found: dict[int, bytes] = dict(self._read_some(records.THUMBNAILS, wanted))
        self._check_complete(records.THUMBNAILS, wanted, found.keys())
        return found

    def descriptors(self, numbers: Sequence[int] | NDArray[np.int64]) -> Descriptors:
        """Return the descriptors of some entries, whose numbers must be in ascending order."""
        wanted = [int(number) for number in numbers]
        rows = self._read_some(records.DESCRIPTORS, wanted)
        self._check_complete(records.DESCRIPTORS, wanted, [row[0] for row in rows])
        frames = np.array([(entry.height, entry.width) for entry in self.entries(wanted)], np.int64).reshape(-1, 2)
        settings = self.settings
        try:
            return records.unpack_descriptors([row[1:] for row in rows], frames, settings)
        except ValueError as error:
            if len(rows) > 1:
                for number in wanted:
                    self.descriptors([number])  # finds the first damaged one
            raise self.damage_error(records.DESCRIPTORS, wanted[0], str(error)) from None

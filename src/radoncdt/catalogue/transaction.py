"""Changing a catalogue file within one write transaction."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from radoncdt.catalogue import records, schema
from radoncdt.catalogue.connection import limit_steps
from radoncdt.catalogue.metadata import MAX_COLUMNS, MetadataError, Value, quote_name
from radoncdt.catalogue.paths import find_file
from radoncdt.catalogue.records import Entry, Failure, NewEntry, ReadResult, TableSpec
from radoncdt.catalogue.snapshot import PART_TABLES, Snapshot

__all__ = ["Transaction"]


class Transaction(Snapshot):
    """A set of changes that are stored all together or not at all. It reads like a snapshot."""

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        with limit_steps(self.db, self._max_steps):
            return self.db.execute(statement, values)

    def _write(self, spec: TableSpec, values: Sequence[Any]) -> None:
        """Store a row with its checksum. It replaces a row with the same key."""
        names = ", ".join(map(quote_name, [*spec.fields, schema.CHECKSUM]))
        marks = ", ".join("?" * (len(values) + 1))
        row = [*values, records.compute_checksum(spec, values)]
        self._execute(f"INSERT OR REPLACE INTO {spec.table} ({names}) VALUES ({marks})", row)

    # ------------------------------------------------------------ settings and summaries

    def put_setting(self, name: str, value: str | None) -> None:
        """Store a setting, or delete it if the value is None."""
        if value is None:
            self._execute("DELETE FROM settings WHERE name = ?", [name])
        else:
            self._write(records.SETTINGS, [name, value])

    def put_definitions(self) -> None:
        """Store the definitions of the tables after they have changed."""
        self.put_setting("structure", schema.read_definitions(self.db))

    def put_summaries(self, arrays: bytes | None) -> None:
        """Store the summaries of all entries, or delete them if `arrays` is None."""
        self._execute("DELETE FROM summaries")
        if arrays is not None:
            self._write(records.SUMMARIES, [1, arrays])

    # ------------------------------------------------------------ entries

    def put(self, images: Iterable[tuple[ReadResult, dict[str, Value]]]) -> int:
        """Store images that were read, or failures, each with its metadata. Return the number of new entries."""
        n_new = 0
        for image, metadata in images:
            self._execute("DELETE FROM failures WHERE file = ?", [image.file])
            if isinstance(image, Failure):
                self._write(records.FAILURES, image)
                continue
            found = self._execute("SELECT id FROM entries WHERE hash = ?", [image.entry.hash]).fetchone()
            n_new += found is None
            number = found[0] if found else self._insert(image)
            self.set_metadata([(number, metadata)])
        return n_new

    def _insert(self, new: NewEntry) -> int:
        names = Entry._fields[1:]
        marks = ", ".join("?" * len(names))
        cursor = self._execute(f"INSERT INTO entries ({', '.join(names)}) VALUES ({marks})", new.entry[1:])
        number = int(cursor.lastrowid or 0)
        self._sign(new.entry._replace(id=number))
        self._write(records.THUMBNAILS, [number, new.thumbnail])
        self._write(records.DESCRIPTORS, [number, new.curves, new.moments])
        self._write(self.metadata_spec, [number, *[None] * len(self.columns)])
        return number

    def _sign(self, entry: Entry) -> None:
        """Set the checksum of an entry. Replacing the row would delete the rows that refer to it."""
        checksum = records.compute_checksum(records.ENTRIES, entry)
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

    def set_metadata(self, values: Iterable[tuple[int, dict[str, Value]]]) -> int:
        """Set metadata of some entries, and return the number of entries that changed.

        New columns are created. Entries that no longer exist are skipped.
        """
        n_changed = 0
        for number, row in values:
            if not row:
                continue
            self._add_columns(row)
            names = {name.lower(): name for name in self.columns}
            for _, *before in self.read(self.metadata_spec, "WHERE entry = ?", [number]):
                merged = dict(zip(self.columns, before))
                merged.update({names[name.lower()]: value for name, value in row.items()})
                if list(merged.values()) != before:
                    self._write(self.metadata_spec, [number, *merged.values()])
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
            for cached in ("columns", "metadata_spec"):
                self.__dict__.pop(cached, None)
            self.put_definitions()

    def remove(self, numbers: Iterable[int]) -> None:
        """Delete entries and their rows in all tables, damaged or not."""
        for number in numbers:
            for table in PART_TABLES:
                self._execute(f"DELETE FROM {table} WHERE entry = ?", [number])
            self._execute("DELETE FROM entries WHERE id = ?", [number])

"""Checking the integrity of a catalogue."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from radoncdt._progress import Counter
from radoncdt._text import shorten
from radoncdt._thumbnails import read_thumbnail
from radoncdt._typing import OnProgress
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.calibration import has_calibration, load_calibration
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.index import Summaries, load_summaries
from radoncdt.catalogue.records import Entry, find_file, hash_file
from radoncdt.catalogue.schema import TableSchema
from radoncdt.catalogue.snapshot import Snapshot, select_in
from radoncdt.catalogue.store import Store

__all__ = ["Problem", "find_problems"]

_BLOCK = 256  # entries that are checked within one snapshot
_ADVICE = "searches work without them, and the next added or removed entry restores them"


class Problem(NamedTuple):
    """Something that is wrong with a catalogue, as `Catalogue.check` finds it.

    Parameters
    ----------
    entry : int or None
        The number of the entry, None if the problem concerns the whole catalogue.
    what : str
        The problem in words.

    See Also
    --------
    Catalogue : The catalogue, which can be checked.

    Examples
    --------
    >>> from radoncdt.catalogue import Problem
    >>> problem = Problem(3, "its file no longer exists: crown.png")
    >>> problem.entry, problem.what
    (3, 'its file no longer exists: crown.png')
    """

    entry: int | None
    what: str


def find_problems(store: Store, on_progress: OnProgress | None) -> list[Problem]:
    """Check the database, its rows, and the files that the entries were read from.

    Entries are read in blocks, and their files between two snapshots, so that other processes can write meanwhile. Only
    the structure of the database is checked as a whole.
    """
    inspection = _Inspection(store)
    inspection.run(inspection.check_database)
    inspection.run(inspection.check_settings)
    inspection.run(inspection.check_table, schema.FAILURES)
    numbers: list[int] = []
    inspection.run(lambda snapshot: numbers.extend(snapshot.numbers().tolist()))
    counter = Counter(on_progress, len(numbers), "checking entries")
    for start in range(0, len(numbers), _BLOCK):
        block = numbers[start : start + _BLOCK]
        inspection.check_block(block)
        counter.advance(len(block))
    inspection.run(inspection.check_calibration)
    inspection.check_summaries()
    return list(dict.fromkeys(inspection.found))


class _Inspection:
    """The problems of a catalogue that have been found so far."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.found: list[Problem] = []

    def report(self, what: str, entry: int | None = None) -> None:
        self.found.append(Problem(entry, what))

    def run(self, check: Callable[..., None], *arguments: Any) -> None:
        """Run a check within one snapshot. An unreadable page is also a problem."""
        try:
            with self.store.snapshot() as snapshot:
                check(snapshot, *arguments)
        except CatalogueError as error:
            self.report(str(error).removeprefix(f"{self.store.path}: "))

    def check_database(self, snapshot: Snapshot) -> None:
        """Check the pages, the references between tables, and the definitions of the tables."""
        for (text,) in snapshot.rows("PRAGMA main.integrity_check"):
            if text != "ok":
                self.report(str(text))
        for table, number, *_ in snapshot.rows("PRAGMA main.foreign_key_check"):
            self.report(f"{table} without an entry", number)
        if snapshot.version > 1 and snapshot.setting("structure") != schema.read_definitions(snapshot.db):
            self.report("the definitions of its tables are damaged, or another program changed them")

    def check_table(self, snapshot: Snapshot, table: TableSchema) -> None:
        """Check rows that do not belong to an entry."""
        for fields, problems in snapshot.verify(table):
            for what in problems:
                self.report(f"{shorten(repr(fields[0]))} in {what}")

    def check_settings(self, snapshot: Snapshot) -> None:
        self.check_table(snapshot, schema.SETTINGS)
        _ = snapshot.settings  # raises an error if they are damaged

    def check_calibration(self, snapshot: Snapshot) -> None:
        if has_calibration(snapshot) and load_calibration(snapshot) is None:
            self.report("the calibration is damaged; calibrate the catalogue again")

    def check_block(self, numbers: list[int]) -> None:
        """Check the rows of some entries, and then the files of those with valid rows."""
        sound: list[Entry] = []
        self.run(self._check_parts, numbers, sound)
        for entry in sound:
            if what := _compare_file(entry, self.store.path.parent):
                self.report(what, entry.id)

    def _check_parts(self, snapshot: Snapshot, numbers: list[int], sound: list[Entry]) -> None:
        """Check the rows of some entries in all tables, and append the valid rows of entries to the list `sound`."""
        try:
            settings = snapshot.settings
        except CatalogueError:  # already reported
            settings = None
        frame = np.ones((1, 2), np.int64)

        def check_descriptor(fields: list[Any]) -> None:
            if settings is not None:
                records.unpack_descriptors([(fields[1], fields[2])], frame, settings)

        removed = self._check_rows(snapshot, schema.ENTRIES, numbers, lambda fields: sound.append(Entry(*fields)))
        left = [number for number in numbers if number not in removed]  # other processes may have removed some
        for table, check in (
            (schema.THUMBNAILS, lambda fields: read_thumbnail(fields[1])),
            (schema.DESCRIPTORS, check_descriptor),
            (snapshot.metadata_table, lambda _: None),
        ):
            for number in self._check_rows(snapshot, table, left, check):
                self.report(f"its row is missing from the table {table.name!r}", number)

    def _check_rows(
        self, snapshot: Snapshot, table: TableSchema, numbers: list[int], check: Callable[[list[Any]], object]
    ) -> list[int]:
        """Check the rows of some entries in a table, and return the entries without a row.

        Valid rows are passed to `check`, which may raise ValueError. If a page cannot be read, the numbers are bisected
        until the entries on that page are known.
        """
        try:
            rows = snapshot.verify(table, select_in(table.key, numbers))
        except CatalogueError as error:
            if len(numbers) == 1:
                reason = str(error).removeprefix(f"{snapshot.path}: ")
                self.report(f"its row in the table {table.name!r} cannot be read: {reason}", numbers[0])
                return []
            halves = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
            return [number for half in halves for number in self._check_rows(snapshot, table, half, check)]
        for fields, problems in rows:
            if not problems:
                try:
                    check(fields)
                except ValueError as error:
                    problems = [str(error)]
            for what in problems:
                self.report(what, fields[0])
        return sorted(set(numbers).difference(fields[0] for fields, _ in rows))

    def check_summaries(self) -> None:
        """Check that the stored summaries belong to the entries."""
        try:
            with self.store.snapshot() as snapshot:
                summaries = load_summaries(snapshot)
                if summaries is None and snapshot.count() and snapshot.verify(schema.SUMMARIES):
                    self.report(f"the summaries of its entries are damaged; {_ADVICE}")
        except CatalogueError:  # settings or pages that were already reported
            return
        for first in range(0, 0 if summaries is None else len(summaries.numbers), _BLOCK):
            self.run(self._compare_summaries, summaries, slice(first, first + _BLOCK))

    def _compare_summaries(self, snapshot: Snapshot, summaries: Summaries, rows: slice) -> None:
        numbers = summaries.numbers[rows]
        there = [row[0] for row in snapshot.rows(f"SELECT id FROM entries {select_in('id', numbers.tolist())}")]
        known = np.isin(numbers, there)
        if known.any():
            try:
                descriptors = snapshot.descriptors(numbers[known])
            except CatalogueError:  # already reported
                return
            expected = summaries.coordinates.summarise(descriptors).astype(np.float32)
            if not np.allclose(expected, summaries.values[rows][known], atol=1e-6):
                self.report(f"the summaries do not belong to its entries; {_ADVICE}")


def _compare_file(entry: Entry, folder: Path) -> str | None:
    """Return what is wrong with the file of an entry, None if its content is unchanged."""
    try:
        path = find_file(entry.file, folder)
        if not path.exists():
            return f"its file no longer exists: {entry.file}"
        return None if hash_file(path) == entry.hash else f"its file has changed: {entry.file}"
    except (OSError, ValueError) as error:
        return f"its file cannot be read: {error}"

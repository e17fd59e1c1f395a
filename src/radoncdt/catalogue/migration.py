"""Catalogues of older versions, brought up to date in place.

Every step is one transaction, which also raises the version in the file. A process that is killed leaves the file as it
was before the step, and the next one begins that step again. The file is copied before the first step.
"""

import filecmp
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.catalogue import records, schema
from radoncdt.catalogue.connection import connect, explaining
from radoncdt.catalogue.limits import limit_steps
from radoncdt.catalogue.metadata import quoted
from radoncdt.catalogue.records import Kind

Report = Callable[[int], Any]
"""Called with the number of rows that were written since the last call."""

CHUNK = 1000  # rows that are read at a time
STEPS_PER_BYTE = 1000  # steps of SQLite's virtual machine for each byte of the file; far fewer are needed


def migrate(path: Path, *, on_progress: OnProgress | None = None) -> Path | None:
    """Bring a catalogue file to the newest schema; the copy of the old file, or None if there was nothing to do.

    Other processes wait meanwhile. The file grows by about a third.
    """
    copy: Path | None = None
    if not path.exists() or not path.stat().st_size:
        return None
    with (
        explaining(path),
        closing(connect(path, write=True)) as db,
        limit_steps(db, STEPS_PER_BYTE * path.stat().st_size),
    ):
        db.execute("PRAGMA foreign_keys = OFF")  # a table is replaced
        while any(schema.header(db)) and schema.check_structure(db, path) < schema.VERSION:
            db.execute("BEGIN IMMEDIATE")
            version = schema.check_structure(db, path)
            if version < schema.VERSION:  # no other process was faster
                copy = copy or _back_up(path, version)
                (total,) = db.execute("SELECT 2 * count(id) FROM entries").fetchone()
                STEPS[version](db, path, Counter(on_progress, total, "migrating rows").advance)
                db.execute(f"PRAGMA user_version = {version + 1}")
            db.execute("COMMIT")
    return copy


def _back_up(path: Path, version: int) -> Path:
    """Copy a catalogue that nobody can change meanwhile.

    A copy that is the same, which an interrupted attempt has left, is replaced; no other file is.
    """
    part = path.with_name(f"{path.name}.bak.part")
    try:
        _forget(part)  # which a killed process has left
        with closing(connect(path)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
        names = (f"{path.name}.schema{version}.bak{more}" for more in ("", *range(2, 1000)))
        copies = (path.with_name(name) for name in names)
        copy = next(copy for copy in copies if not copy.exists() or filecmp.cmp(part, copy, shallow=False))
        os.replace(part, copy)
    except BaseException:
        _forget(part)
        raise
    return copy


def _forget(part: Path) -> None:
    """Delete a copy that is not whole, and its journal."""
    for name in (part.name, f"{part.name}-journal"):
        part.with_name(name).unlink(missing_ok=True)


def _to_2(db: sqlite3.Connection, path: Path, report: Report) -> None:
    """Give every row a checksum, and pictures a table of their own."""
    summaries = _readable_summaries(path)
    create = {each.split()[2]: each for each in schema.STATEMENTS if each.startswith("CREATE TABLE ")}
    db.execute(create["pictures"])
    for rows in _chunks(db, records.PICTURES, "(SELECT id AS entry, picture FROM main.entries)"):
        _insert(db, "pictures", records.PICTURES, rows)
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
    db.execute(create["entries"].replace("CREATE TABLE entries ", "CREATE TABLE new_entries ", 1))
    for rows in _chunks(db, records.ENTRIES, "main.entries"):
        report(_insert(db, "new_entries", records.ENTRIES, rows))
    db.execute("DROP TABLE entries")
    db.execute("ALTER TABLE new_entries RENAME TO entries")
    db.execute("CREATE INDEX entries_by_file ON entries (file)")
    if last is not None:  # numbers of entries that were removed are not given again
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'entries'")
        db.execute("INSERT INTO sqlite_sequence VALUES ('entries', ?)", last)
    columns = [row[1] for row in db.execute("PRAGMA table_info (metadata)")][1:]
    for kind in (records.metadata_kind(columns), records.DESCRIPTORS, records.FAILURES, records.SETTINGS):
        db.execute(f"ALTER TABLE {kind.table} ADD COLUMN {quoted(schema.CHECKSUM)} INTEGER")
        for rows in _chunks(db, kind, kind.table):
            _sign(db, kind, rows)
            report(len(rows) if kind is records.DESCRIPTORS else 0)
    db.execute("ALTER TABLE summaries RENAME TO old_summaries")
    db.execute(create["summaries"])
    if summaries is not None:
        _insert(db, "summaries", records.SUMMARIES, summaries)
        db.execute("DROP TABLE old_summaries")
    _insert(db, "settings", records.SETTINGS, [("structure", schema.fingerprint(db))])


def _readable_summaries(path: Path) -> list[tuple[Any, ...]] | None:
    """The summaries, which are derived from the rest; None if a page of them is damaged and cannot even be freed.

    A connection that has met a damaged page cannot write any more, so this is tried with another one.
    """
    with closing(connect(path)) as db, limit_steps(db, STEPS_PER_BYTE * path.stat().st_size):
        try:
            rows = db.execute("SELECT id, arrays FROM main.summaries").fetchall()
        except sqlite3.DatabaseError:
            return None
    return [row for row in rows if not records.problems_of(records.SUMMARIES, row, None, version=1)]


STEPS: dict[int, Callable[[sqlite3.Connection, Path, Report], None]] = {1: _to_2}
"""From each older version to the next."""


def _chunks(db: sqlite3.Connection, kind: Kind, source: str) -> Iterator[list[tuple[Any, ...]]]:
    """The fields of all rows, some at a time, in the order of their keys."""
    key, names = quoted(kind.key), ", ".join(map(quoted, kind.fields))
    rows = db.execute(f"SELECT {names} FROM {source} ORDER BY {key} LIMIT {CHUNK}").fetchall()
    while rows:
        yield rows
        rows = db.execute(
            f"SELECT {names} FROM {source} WHERE {key} > ? ORDER BY {key} LIMIT {CHUNK}", [rows[-1][0]]
        ).fetchall()


def _insert(db: sqlite3.Connection, table: str, kind: Kind, rows: list[tuple[Any, ...]]) -> int:
    names = ", ".join(map(quoted, [*kind.fields, schema.CHECKSUM]))
    marks = ", ".join("?" * (len(kind.fields) + 1))
    signed = [(*row, records.checksum(kind, row)) for row in rows]
    db.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", signed)
    return len(rows)


def _sign(db: sqlite3.Connection, kind: Kind, rows: list[tuple[Any, ...]]) -> None:
    db.executemany(
        f"UPDATE {kind.table} SET {quoted(schema.CHECKSUM)} = ? WHERE {quoted(kind.key)} = ?",
        [(records.checksum(kind, row), row[0]) for row in rows],
    )

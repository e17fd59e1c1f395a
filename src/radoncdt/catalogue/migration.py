"""Migration of catalogue files of the first version, in place.

It is one transaction, which also raises the version in the file. If a process is killed, the file stays as it was, and
the next process starts again. The file is backed up before.
"""

import filecmp
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.catalogue import schema
from radoncdt.catalogue.connection import connect, limit_steps, translate_errors
from radoncdt.catalogue.metadata import quote_name
from radoncdt.catalogue.schema import TableSchema

__all__ = ["migrate"]

CHUNK_ROWS = 1000  # rows that are read at a time
_STEPS_PER_BYTE = 1000  # SQLite VM steps per byte of the file; a migration takes far fewer


def migrate(path: Path, *, on_progress: OnProgress | None = None) -> Path | None:
    """Bring a catalogue file to the current schema, and return its backup, or None if it was up to date.

    Other processes wait meanwhile. The file grows by about a third.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    max_steps = _STEPS_PER_BYTE * path.stat().st_size
    with translate_errors(path), closing(connect(path, write=True)) as db, limit_steps(db, max_steps):
        db.execute("PRAGMA foreign_keys = OFF")  # a table is replaced
        if not any(schema.read_header(db)) or schema.check_structure(db, path) == schema.VERSION:
            return None
        db.execute("BEGIN IMMEDIATE")
        if schema.check_structure(db, path) == schema.VERSION:  # another process was faster
            return None
        backup = _back_up(path)
        (total,) = db.execute("SELECT 2 * count(id) FROM entries").fetchone()
        _migrate_tables(db, path, Counter(on_progress, total, "migrating rows"))
        db.execute("PRAGMA user_version = 2")
        db.execute("COMMIT")
    return backup


def _back_up(path: Path) -> Path:
    """Copy a catalogue that is locked for writing.

    An identical backup from an interrupted attempt is replaced; other files are kept.
    """
    part = path.with_name(f"{path.name}.bak.part")
    try:
        _delete_part(part)  # a killed process may have left it
        with closing(connect(path)) as source, closing(sqlite3.connect(part)) as target:
            source.backup(target)
        names = (f"{path.name}.schema1.bak{more}" for more in ("", *range(2, 1000)))
        backups = (path.with_name(name) for name in names)
        backup = next(each for each in backups if not each.exists() or filecmp.cmp(part, each, shallow=False))
        os.replace(part, backup)
    except BaseException:
        _delete_part(part)
        raise
    return backup


def _delete_part(part: Path) -> None:
    """Delete an incomplete backup and its journal."""
    for name in (part.name, f"{part.name}-journal"):
        part.with_name(name).unlink(missing_ok=True)


def _migrate_tables(db: sqlite3.Connection, path: Path, counter: Counter) -> None:
    """Give every row a checksum, and move the thumbnails into their own table."""
    summaries = _read_summaries(path)
    create = {each.split()[2]: each for each in schema.STATEMENTS if each.startswith("CREATE TABLE ")}
    db.execute(create["pictures"])
    for rows in _read_chunks(db, schema.THUMBNAILS, "(SELECT id AS entry, picture FROM main.entries)"):
        _insert(db, schema.THUMBNAILS, rows)
    last = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
    db.execute(create["entries"].replace("CREATE TABLE entries ", "CREATE TABLE new_entries ", 1))
    for rows in _read_chunks(db, schema.ENTRIES, "main.entries"):
        _insert(db, schema.ENTRIES, rows, "new_entries")
        counter.advance(len(rows))
    db.execute("DROP TABLE entries")
    db.execute("ALTER TABLE new_entries RENAME TO entries")
    db.execute("CREATE INDEX entries_by_file ON entries (file)")
    if last is not None:  # numbers of removed entries are not reused
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'entries'")
        db.execute("INSERT INTO sqlite_sequence VALUES ('entries', ?)", last)
    columns = [row[1] for row in db.execute("PRAGMA table_info (metadata)")][1:]
    for table in (schema.make_metadata_table(columns), schema.DESCRIPTORS, schema.FAILURES, schema.SETTINGS):
        db.execute(f"ALTER TABLE {table.name} ADD COLUMN {quote_name(schema.CHECKSUM)} INTEGER")
        for rows in _read_chunks(db, table, table.name):
            _sign(db, table, rows)
            counter.advance(len(rows) if table is schema.DESCRIPTORS else 0)
    db.execute("ALTER TABLE summaries RENAME TO old_summaries")
    db.execute(create["summaries"])
    if summaries is not None:
        _insert(db, schema.SUMMARIES, summaries)
        db.execute("DROP TABLE old_summaries")
    _insert(db, schema.SETTINGS, [("structure", schema.read_definitions(db))])


def _read_summaries(path: Path) -> list[tuple[Any, ...]] | None:
    """Return the summaries, or None if one of their pages is damaged, so that the table cannot even be dropped.

    A connection that meets a damaged page cannot write any more, so this uses a separate one.
    """
    with closing(connect(path)) as db, limit_steps(db, _STEPS_PER_BYTE * path.stat().st_size):
        try:
            rows = db.execute("SELECT id, arrays FROM main.summaries").fetchall()
        except sqlite3.DatabaseError:
            return None
    return [row for row in rows if not schema.SUMMARIES.verify(row, None, version=1)]


def _read_chunks(db: sqlite3.Connection, table: TableSchema, source: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield all rows in chunks, ordered by their keys."""
    key, names = quote_name(table.key), ", ".join(map(quote_name, table.fields))
    where, values = "", list[Any]()
    while rows := db.execute(
        f"SELECT {names} FROM {source} {where} ORDER BY {key} LIMIT {CHUNK_ROWS}", values
    ).fetchall():
        yield rows
        where, values = f"WHERE {key} > ?", [rows[-1][0]]


def _insert(db: sqlite3.Connection, table: TableSchema, rows: list[tuple[Any, ...]], name: str | None = None) -> None:
    """Insert rows with their checksums into a table, which may have another name for the time being."""
    statement = f"INSERT INTO {name or table.name} ({table.columns}) VALUES ({table.placeholders})"
    db.executemany(statement, map(table.sign, rows))


def _sign(db: sqlite3.Connection, table: TableSchema, rows: list[tuple[Any, ...]]) -> None:
    """Set the checksums of rows."""
    statement = f"UPDATE {table.name} SET {quote_name(schema.CHECKSUM)} = ? WHERE {quote_name(table.key)} = ?"
    db.executemany(statement, [(table.compute_checksum(row), row[0]) for row in rows])

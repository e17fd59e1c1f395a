"""The tables of a catalogue file, and views that show the tables of earlier versions in the current form."""

import sqlite3

from radoncdt.catalogue import records
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import STANDARD_COLUMNS, quote_name

__all__ = ["CHECKSUM", "STATEMENTS", "VERSION", "VIEWS", "check_structure", "create", "read_definitions", "read_header"]

APPLICATION_ID = 0x52434454  # "RCDT", in the header of the file
VERSION = 2  # the current version of the schema; a file with a higher one was written by a newer radoncdt

CHECKSUM = "row checksum"
"""The column of every table that contains the checksum of the row. Metadata columns have no spaces in their names."""

_CHECKSUM = quote_name(CHECKSUM)
_ENTRY = "entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE"

STATEMENTS = tuple(
    statement.strip()
    for statement in f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL, {_CHECKSUM} INTEGER);
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, file TEXT NOT NULL, ink TEXT NOT NULL,
    width INTEGER NOT NULL, height INTEGER NOT NULL, ink_width INTEGER NOT NULL, ink_height INTEGER NOT NULL,
    note TEXT NOT NULL, {_CHECKSUM} INTEGER
);
CREATE INDEX entries_by_file ON entries (file);
CREATE TABLE pictures ({_ENTRY}, picture BLOB NOT NULL, {_CHECKSUM} INTEGER);
CREATE TABLE metadata (
    {_ENTRY},
    {", ".join(f"{quote_name(name)} {column.type}" for name, column in STANDARD_COLUMNS.items())},
    {_CHECKSUM} INTEGER
);
CREATE TABLE descriptors ({_ENTRY}, curves BLOB NOT NULL, moments BLOB NOT NULL, {_CHECKSUM} INTEGER);
CREATE TABLE failures (file TEXT PRIMARY KEY, hash TEXT NOT NULL, reason TEXT NOT NULL, {_CHECKSUM} INTEGER);
CREATE TABLE summaries (id INTEGER PRIMARY KEY CHECK (id = 1), arrays BLOB NOT NULL, {_CHECKSUM} INTEGER)
""".split(";")
)
"""Statements that create the tables and their indexes.

`width` and `height` are the size of the ink image in pixels, `ink_width` and `ink_height` the size of the bounding box
of the ink. `picture` is the thumbnail of the ink, a PNG file. `curves` contains the values of a descriptor in float16,
`moments` its mean and covariance, 6 numbers in float64. `summaries` contains the arrays that a search reads first; they
are derived from the descriptors and recomputed when necessary.
"""

_FIELDS = {spec.table: tuple(spec.fields) for spec in records.TABLES}

_COLUMNS: dict[int, dict[str, tuple[str, ...]]] = {
    1: {table: fields for table, fields in _FIELDS.items() if table != "pictures"}
    | {"entries": (*_FIELDS["entries"], "picture")},
    2: {table: (*fields, CHECKSUM) for table, fields in _FIELDS.items()},
}
"""The columns of every table by version. The table `metadata` may have more."""

_NO_CHECKSUM = f"NULL AS {_CHECKSUM}"

VIEWS: dict[int, tuple[str, ...]] = {
    1: (
        f"CREATE TEMP VIEW pictures AS SELECT id AS entry, picture, {_NO_CHECKSUM} FROM main.entries",
        f"CREATE TEMP VIEW entries AS SELECT {', '.join(_FIELDS['entries'])}, {_NO_CHECKSUM} FROM main.entries",
        *(
            f"CREATE TEMP VIEW {table} AS SELECT *, {_NO_CHECKSUM} FROM main.{table}"
            for table in ("settings", "metadata", "descriptors", "failures", "summaries")
        ),
    )
}
"""Statements that create views, private to a connection, which show the tables of an earlier version."""


def create(db: sqlite3.Connection) -> None:
    """Create the tables of the current version in an empty database, within a transaction."""
    for statement in STATEMENTS:
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def read_header(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the application and the version that are noted in a file, and the number of its tables."""
    statements = "PRAGMA application_id", "PRAGMA user_version", "SELECT count(name) FROM main.sqlite_master"
    application, version, n_tables = (int(db.execute(statement).fetchone()[0]) for statement in statements)
    return application, version, n_tables


def check_structure(db: sqlite3.Connection, path: object) -> int:
    """Return the version of a catalogue file after checking that it has the tables of that version and no code.

    Raises
    ------
    CatalogueError
        If the file belongs to another program or a newer version, or if a table is missing, altered or a view.
    """
    application, version, _ = read_header(db)
    if application != APPLICATION_ID:
        raise CatalogueError(f"{path}: is a database, but not a catalogue of radoncdt")
    if version > VERSION:
        raise CatalogueError(
            f"{path}: was written by a newer radoncdt (schema {version}, this version reads up to {VERSION})"
        )
    if version not in _COLUMNS:
        raise CatalogueError(f"{path}: is damaged: schema {version} does not exist")
    definitions = {str(name): (str(kind), str(sql)) for kind, name, sql in _read_master(db)}
    for name, (kind, sql) in definitions.items():
        if kind not in ("table", "index") or sql.upper().startswith("CREATE VIRTUAL"):
            raise CatalogueError(f"{path}: must consist of tables and indexes, got the {kind} {name!r}")
    for table, expected in _COLUMNS[version].items():
        if definitions.get(table, ("", ""))[0] != "table":
            raise CatalogueError(f"{path}: is damaged: the table {table!r} is missing")
        found = db.execute(f"PRAGMA main.table_xinfo ({table})").fetchall()
        names = [str(row[1]) for row in found]
        fits = set(names) >= set(expected) and names[0] == expected[0] if table == "metadata" else names == [*expected]
        if not fits or any(row[6] for row in found):  # hidden or generated columns
            raise CatalogueError(f"{path}: is damaged: the table {table!r} has the columns {', '.join(names)}")
    return version


def read_definitions(db: sqlite3.Connection) -> str:
    """Return the definitions of all tables and indexes as one text, which is stored to detect alterations."""
    return "\n".join(f"{kind} {name}: {sql}" for kind, name, sql in _read_master(db))


def _read_master(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    return db.execute(
        "SELECT type, name, sql FROM main.sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()

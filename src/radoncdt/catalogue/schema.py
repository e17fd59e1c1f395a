"""The tables of a catalogue file, and how files of older versions are read as if they were of the newest."""

import sqlite3

from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import KNOWN, quoted

APPLICATION = 0x52434454  # "RCDT", in the header of the file

VERSION = 2
"""The newest version of the schema. A file with a higher one was written by a newer radoncdt."""

CHECKSUM = "row checksum"
"""The column of every table that holds the checksum of the row. No column of metadata can have this name, because
theirs have no blanks."""

SCHEMA = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL, {quoted(CHECKSUM)} INTEGER);
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
    {quoted(CHECKSUM)} INTEGER
);
CREATE INDEX entries_by_file ON entries (file);
CREATE TABLE pictures (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    picture BLOB NOT NULL,
    {quoted(CHECKSUM)} INTEGER
);
CREATE TABLE metadata (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    {", ".join(f"{quoted(name)} {column.type}" for name, column in KNOWN.items())},
    {quoted(CHECKSUM)} INTEGER
);
CREATE TABLE descriptors (
    entry INTEGER PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
    curves BLOB NOT NULL,
    moments BLOB NOT NULL,
    {quoted(CHECKSUM)} INTEGER
);
CREATE TABLE failures (
    file TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    {quoted(CHECKSUM)} INTEGER
);
CREATE TABLE summaries (id INTEGER PRIMARY KEY CHECK (id = 1), arrays BLOB NOT NULL, {quoted(CHECKSUM)} INTEGER);
"""
"""`width` and `height` are those of the image of the ink in pixels, `ink_width` and `ink_height` those of the bounding
box of the ink, `picture` is the ink as a PNG file. `curves` are the values of a descriptor in float16, `moments` its
mean and covariance, 6 numbers in float64. `summaries` is what a search reads first; it is derived from the rest and
computed again as needed."""

STATEMENTS = tuple(statement.strip() for statement in SCHEMA.split(";") if statement.strip())

COLUMNS: dict[int, dict[str, tuple[str, ...]]] = {
    1: {
        "settings": ("name", "value"),
        "entries": ("id", "hash", "file", "ink", "width", "height", "ink_width", "ink_height", "note", "picture"),
        "metadata": ("entry", *KNOWN),
        "descriptors": ("entry", "curves", "moments"),
        "failures": ("file", "hash", "reason"),
        "summaries": ("id", "arrays"),
    },
    2: {
        "settings": ("name", "value", CHECKSUM),
        "entries": ("id", "hash", "file", "ink", "width", "height", "ink_width", "ink_height", "note", CHECKSUM),
        "pictures": ("entry", "picture", CHECKSUM),
        "metadata": ("entry", *KNOWN, CHECKSUM),
        "descriptors": ("entry", "curves", "moments", CHECKSUM),
        "failures": ("file", "hash", "reason", CHECKSUM),
        "summaries": ("id", "arrays", CHECKSUM),
    },
}
"""The columns of every table, by version. `metadata` may have more."""

_NO_CHECKSUM = f"NULL AS {quoted(CHECKSUM)}"

VIEWS: dict[int, tuple[str, ...]] = {
    1: (
        f"CREATE TEMP VIEW pictures AS SELECT id AS entry, picture, {_NO_CHECKSUM} FROM main.entries",
        "CREATE TEMP VIEW entries AS SELECT id, hash, file, ink, width, height, ink_width, ink_height, note, "
        f"{_NO_CHECKSUM} FROM main.entries",
        *(
            f"CREATE TEMP VIEW {table} AS SELECT *, {_NO_CHECKSUM} FROM main.{table}"
            for table in ("settings", "metadata", "descriptors", "failures", "summaries")
        ),
    )
}
"""Views, private to a connection, that show the tables of an older version as the newest has them."""


def create(db: sqlite3.Connection) -> None:
    """Make the tables of the newest version in an empty database, within a transaction."""
    for statement in STATEMENTS:
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def header(db: sqlite3.Connection) -> tuple[int, int, int]:
    """The application and the version that a file says it is of, and how many tables it has."""
    asked = "PRAGMA application_id", "PRAGMA user_version", "SELECT count(name) FROM main.sqlite_master"
    application, version, tables = (int(db.execute(statement).fetchone()[0]) for statement in asked)
    return application, version, tables


def check_structure(db: sqlite3.Connection, path: object) -> int:
    """The version of a catalogue file, once it is known to have that version's tables and nothing that runs code.

    Raises
    ------
    CatalogueError
        For files of other programs, of newer versions, and those whose tables are missing, altered or only views.
    """
    application, version, _ = header(db)
    if application != APPLICATION:
        raise CatalogueError(f"{path}: is a database, but not a catalogue of radoncdt")
    if version > VERSION:
        raise CatalogueError(
            f"{path}: was written by a newer radoncdt (schema {version}, this one knows {VERSION}); update it"
        )
    if version not in COLUMNS:
        raise CatalogueError(f"{path}: is damaged: schema {version} does not exist")
    kinds = {str(name): (str(kind), str(sql)) for kind, name, sql in _master(db)}
    strange = sorted(
        name
        for name, (kind, sql) in kinds.items()
        if kind not in ("table", "index") or sql.upper().startswith("CREATE VIRTUAL")
    )
    if strange:
        raise CatalogueError(
            f"{path}: must consist of tables and indexes, got the {kinds[strange[0]][0]} {strange[0]!r}"
        )
    for table, expected in COLUMNS[version].items():
        if kinds.get(table, ("", ""))[0] != "table":
            raise CatalogueError(f"{path}: is damaged: the table {table!r} is missing")
        found = db.execute(f"PRAGMA main.table_xinfo ({table})").fetchall()
        names = [str(row[1]) for row in found]
        fits = set(names) >= set(expected) and names[0] == expected[0] if table == "metadata" else names == [*expected]
        if not fits or any(row[6] for row in found):  # hidden or generated columns
            raise CatalogueError(f"{path}: is damaged: the table {table!r} has the columns {', '.join(names)}")
    return version


def fingerprint(db: sqlite3.Connection) -> str:
    """The definitions of all tables and indexes as one text, kept to detect that they were altered."""
    return "\n".join(f"{kind} {name}: {sql}" for kind, name, sql in _master(db))


def _master(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    return db.execute(
        "SELECT type, name, sql FROM main.sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()

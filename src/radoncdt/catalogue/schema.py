"""The tables of a catalogue file: their columns, the valid values of each field, and the checksum of a row.

A catalogue file may be damaged or hostile. Every row that is read from it passes `TableSchema.verify`, so that the rest
of the package does not have to expect wrong types, sizes or ranges. Views show the tables of earlier versions in the
current form.
"""

import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from radoncdt._text import MAX_LENGTH, shorten
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.metadata import STANDARD_COLUMNS, quote_name
from radoncdt.catalogue.records import MAX_RESOLUTION, MOMENTS_SIZE, Failure, parse_ink_options

__all__ = [
    "CHECKSUM",
    "DESCRIPTORS",
    "ENTRIES",
    "FAILURES",
    "PART_TABLES",
    "SETTINGS",
    "STATEMENTS",
    "SUMMARIES",
    "THUMBNAILS",
    "VERSION",
    "VIEWS",
    "TableSchema",
    "check_structure",
    "create_tables",
    "make_metadata_table",
    "read_definitions",
    "read_header",
]

_APPLICATION_ID = 0x52434454  # "RCDT", in the header of the file
VERSION = 2  # the current version of the schema; a file with a higher one was written by a newer radoncdt

CHECKSUM = "row checksum"
"""The column of every table that contains the checksum of the row. Metadata columns have no spaces in their names."""

_MAX_NAME = 10_000  # characters of a file name
_MAX_TEXT = 2**24  # characters of a note, reason, setting or metadata cell; earlier versions had no limit
_MAX_THUMBNAIL = 2**20  # bytes of the PNG file of a thumbnail
_MAX_SIDE = 2**20  # pixels along one side of an image

# ---------------------------------------------------------------- rows

_Check = Callable[[Any], str | None]
"""Checks the value of a field: None if it is valid, otherwise a description of valid values."""

_TYPE_CODES = {int: b"i", float: b"f", str: b"s", bytes: b"b"}


@dataclass(frozen=True)
class TableSchema:
    """The name of a table and the checks of its fields."""

    name: str
    fields: Mapping[str, _Check]
    """Columns in the order of the table, without the checksum. The first is the key."""

    @cached_property
    def key(self) -> str:
        """The name of the first column."""
        return next(iter(self.fields))

    @cached_property
    def columns(self) -> str:
        """All columns as a list in SQL; the last one is the checksum."""
        return ", ".join(map(quote_name, [*self.fields, CHECKSUM]))

    @cached_property
    def placeholders(self) -> str:
        """One placeholder per column as a list in SQL."""
        return ", ".join("?" * (len(self.fields) + 1))

    @cached_property
    def _sorted_names(self) -> list[tuple[bytes, int]]:
        """The encoded names of the fields in alphabetical order, each with its position."""
        return sorted((f"\0{name}\0".encode(), position) for position, name in enumerate(self.fields))

    def compute_checksum(self, values: Sequence[Any]) -> int:
        """Return the CRC-32 of the table's name and of the name, type, length and content of every field except NULLs.

        Fields are taken in alphabetical order, so that a new metadata column does not change any checksum.
        """
        parts = [self.name.encode()]
        for name, position in self._sorted_names:
            value = values[position]
            if value is not None:
                data = value if type(value) is bytes else str(value).encode("utf-8", "surrogatepass")
                parts += name, _TYPE_CODES.get(type(value), b"?"), b"%d:" % len(data), data
        return zlib.crc32(b"".join(parts))

    def sign(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the fields of a row and their checksum."""
        return (*values, self.compute_checksum(values))

    def verify(self, values: Sequence[Any], checksum: Any, version: int) -> list[str]:
        """Return the problems of a row, given its fields and its stored checksum; none if the row is valid."""
        found = [
            f"{self.name}: {name!r} must be {expected}, got {_quote_value(value)}"
            for (name, check), value in zip(self.fields.items(), values)
            if (expected := check(value)) is not None
        ]
        if version > 1 and checksum != self.compute_checksum(values):
            found.append(f"{self.name}: the checksum does not match")
        return found


def _quote_value(value: Any) -> str:
    return shorten(repr(value[:MAX_LENGTH] if isinstance(value, (str, bytes)) else value))


_WORDS = {int: "a whole number from {} to {}", str: "text of {} to {:,} characters", bytes: "{} to {:,} bytes"}


def _limit(kind: type, low: int, high: int) -> _Check:
    """Return the check of a whole number, or of the length of a text or of bytes."""
    words = _WORDS[kind].format(low, high)
    measure: Callable[[Any], int] = int if kind is int else len
    return lambda value: None if type(value) is kind and low <= measure(value) <= high else words


def _optional(check: _Check, empty: Any) -> _Check:
    return lambda value: None if value == empty else check(value)


def _hash(value: Any) -> str | None:
    is_digest = type(value) is str and re.fullmatch(r"[0-9a-f]{64}", value)
    return None if is_digest else "a SHA-256 digest in hexadecimal"


def _ink(value: Any) -> str | None:
    if type(value) is not str or len(value) > _MAX_TEXT:
        return "ink options as JSON"
    try:
        parse_ink_options(value)
    except ValueError as error:
        return f"ink options as JSON ({error})"
    return None


_NUMBER, _SIDE = _limit(int, 1, 2**63 - 1), _limit(int, 1, _MAX_SIDE)
_NAME, _TEXT = _limit(str, 1, _MAX_NAME), _limit(str, 0, _MAX_TEXT)
_CELLS: dict[str, _Check] = {
    "TEXT": _TEXT,
    "INTEGER": _limit(int, -(2**63), 2**63 - 1),
    "REAL": lambda value: None if type(value) is float and 0 < value < 1e6 else "a positive number",
}


def make_metadata_table(columns: Iterable[str]) -> TableSchema:
    """Return the table of metadata. Columns other than the standard ones contain text."""
    types = {name: STANDARD_COLUMNS[name].type if name in STANDARD_COLUMNS else "TEXT" for name in columns}
    cells = {name: _optional(_CELLS[kind], None) for name, kind in types.items()}
    return TableSchema("metadata", {"entry": _NUMBER, **cells})


SETTINGS = TableSchema("settings", {"name": _limit(str, 1, 100), "value": _TEXT})
ENTRIES = TableSchema(
    "entries",
    {
        "id": _NUMBER,
        "hash": _hash,
        "file": _NAME,
        "ink": _ink,
        **dict.fromkeys(("width", "height", "ink_width", "ink_height"), _SIDE),
        "note": _TEXT,
    },
)
THUMBNAILS = TableSchema("pictures", {"entry": _NUMBER, "picture": _limit(bytes, 1, _MAX_THUMBNAIL)})
_CURVES, _MOMENTS = _limit(bytes, 1, 2 * MAX_RESOLUTION**2), _limit(bytes, 1, MOMENTS_SIZE)
DESCRIPTORS = TableSchema("descriptors", {"entry": _NUMBER, "curves": _CURVES, "moments": _MOMENTS})
FAILURES = TableSchema("failures", dict(zip(Failure._fields, (_NAME, _optional(_hash, ""), _TEXT))))
SUMMARIES = TableSchema("summaries", {"id": _limit(int, 1, 1), "arrays": _limit(bytes, 1, 2**31)})

_TABLES = (SETTINGS, ENTRIES, THUMBNAILS, make_metadata_table(STANDARD_COLUMNS), DESCRIPTORS, FAILURES, SUMMARIES)
"""The tables of a catalogue. The table of metadata may have more columns."""

PART_TABLES = tuple(table.name for table in _TABLES if table.key == "entry")
"""Tables with one row per entry."""

# ---------------------------------------------------------------- definitions in SQL

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

_FIELDS = {table.name: tuple(table.fields) for table in _TABLES}

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


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables of the current version in an empty database, within a transaction."""
    for statement in STATEMENTS:
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
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
    if application != _APPLICATION_ID:
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

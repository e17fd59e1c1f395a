"""Which entries a condition of the user's admits: SQL that can read two tables and do nothing else."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import shorten
from radoncdt._validation import ArgumentTypeError
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import LONGEST_TITLE
from radoncdt.catalogue.store import Snapshot

READABLE = {"entries": frozenset({"id", "file", "note"}), "metadata": None}
"""Tables, and their columns; None stands for all."""

FUNCTIONS = frozenset(
    {
        "abs",
        "coalesce",
        "glob",
        "ifnull",
        "instr",
        "length",
        "like",
        "lower",
        "max",
        "min",
        "nullif",
        "replace",
        "round",
    }
    | {"substr", "substring", "trim", "ltrim", "rtrim", "typeof", "upper", "iif"}
)

LONGEST = 50_000  # bytes of a condition

LONGEST_TEXT = 600_000
"""Bytes of a text that is compared. Older versions read cells of up to 131,072 characters, each of up to 4 bytes."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST_TEXT,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: LONGEST + 1000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
}
"""Limits on texts and patterns, because the work of functions on them is not counted in steps."""

STEPS, STEPS_PER_ENTRY = 20_000_000, 200
"""Steps of SQLite's virtual machine that a condition may take, and further ones for each entry. A condition with six
comparisons takes 20 per entry."""

TOKENS = re.compile(
    r"""
      --[^\n]*                              # comments
    | /\*.*?(?:\*/|\Z)
    | '[^']*(?:''[^']*)*(?:'|\Z)           # a text, in which '' is one apostrophe
    | "(?P<double>[^"]*(?:""[^"]*)*)(?:"|\Z)  # names
    | `(?P<back>[^`]*(?:``[^`]*)*)(?:`|\Z)
    | \[(?P<square>[^]]*)(?:\]|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Comments, texts and quoted names of SQL; everything else is skipped."""

DOT = re.compile(r"\s*\.")
NOT_A_COLUMN = re.compile(r"\b(?:collate|as)\s{0,9}\Z", re.IGNORECASE)
"""What stands before a name that is not a column's."""

FAULTS = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_TOOBIG})
"""Errors of SQLite that a condition is to blame for, and not the file."""


def admitted(snapshot: Snapshot, condition: str) -> NDArray[np.int64]:
    """Numbers of the entries for which a condition holds.

    Raises
    ------
    CatalogueError
        When it is not a condition, names a column that does not exist, or would do anything but compare metadata.
    """
    _check_text(condition)
    columns, refused = snapshot.columns, list[str]()
    steps = STEPS + STEPS_PER_ENTRY * snapshot.count()
    known = ["entry", *columns, "file", "note"]
    for name in _quoted_names(condition):
        if _folded(name) not in map(_folded, known):
            raise _wrong(condition, f"no such column: {name}", columns)
    marks = "SELECT m.*, e.file, e.note FROM main.metadata m JOIN main.entries e ON e.id = m.entry"
    try:
        with _restricted(snapshot.db, refused):
            rows = snapshot.rows(f"SELECT entry FROM ({marks}) WHERE (\n{condition}\n) ORDER BY entry", steps=steps)
    except CatalogueError as error:
        cause = error.__cause__
        if getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in FAULTS:
            raise
        why = f"it may not {refused[0]}" if refused else str(cause)
        if "too big" in why:
            why = f"it cannot compare texts of more than {LONGEST_TEXT:,} bytes"
        raise _wrong(condition, why, columns) from None
    numbers = np.array([row[0] for row in rows], object)
    if not all(isinstance(number, int) for number in numbers):
        raise _wrong(condition, "it does not choose entries", columns)
    return numbers.astype(np.int64)


def _check_text(condition: object) -> None:
    if not isinstance(condition, str):
        raise ArgumentTypeError("where", f"must be a condition in SQL, got {shorten(repr(condition))}")
    try:
        size = len(condition.encode())
    except UnicodeEncodeError:
        raise CatalogueError(f"--where must be a condition in UTF-8, got {shorten(repr(condition))}") from None
    if "\0" in condition:
        raise CatalogueError("--where must be a condition, got one with a NUL character")
    if size > LONGEST:
        raise CatalogueError(f"--where must be a condition of at most {LONGEST:,} bytes, got {size:,}")


@contextmanager
def _restricted(db: sqlite3.Connection, refused: list[str]) -> Iterator[None]:
    """Let a connection compare metadata and do nothing else."""
    before = {limit: db.setlimit(limit, most) for limit, most in LIMITS.items()}
    db.set_authorizer(lambda *action: _judge(refused, *action))
    try:
        yield
    finally:
        db.set_authorizer(None)
        for limit, most in before.items():
            db.setlimit(limit, most)


def _quoted_names(condition: str) -> Iterator[str]:
    """Names of columns in double quotes, backquotes or square brackets. Those of tables are followed by a dot.

    SQLite takes a name in double quotes for a text if there is no such column.
    """
    for token in TOKENS.finditer(condition):
        before = condition[max(0, token.start() - 20) : token.start()]
        if token.lastgroup is not None and not DOT.match(condition, token.end()) and not NOT_A_COLUMN.search(before):
            quote = {"double": '"', "back": "`"}.get(token.lastgroup)
            name = token[token.lastgroup]
            yield name.replace(2 * quote, quote) if quote else name


def _folded(name: str) -> str:
    """A name as SQLite compares it: capital letters do not count, those of ASCII only."""
    return name.encode().lower().decode()


def _wrong(condition: str, why: str, columns: list[str]) -> CatalogueError:
    known = ["file", *columns]
    missing = re.match(r"no such column: (.*)", why, re.DOTALL)
    close = get_close_matches(missing[1].rsplit(".")[-1].lower()[:LONGEST_TITLE], known, 1) if missing else []
    hint = f" (did you mean {close[0]}?)" if close else " (texts are in single quotes)" if missing else ""
    return CatalogueError(
        "--where must be a condition on metadata, such as motif = 'crown' and date < 1500, got "
        f"{shorten(repr(condition))}: {shorten(why)}{hint}; the columns are {shorten(', '.join(known), 1000)}"
    )


def _judge(refused: list[str], action: int, first: str | None, second: str | None, *_: object) -> int:
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        columns = READABLE.get(first or "", frozenset())
        if columns is None or (columns and (second in columns or not second)):
            return sqlite3.SQLITE_OK
        refused.append(f"read {first}.{second}")
    elif action == sqlite3.SQLITE_FUNCTION:
        if (second or "").lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        refused.append(f"call {second}()")
    else:
        refused.append("do more than compare")
    return sqlite3.SQLITE_DENY

"""Which entries a condition of the user's admits: SQL that can read two tables and do nothing else."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import quoted
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

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 50_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 50_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
}
"""Of the length of texts and patterns: what a function does with them is not counted in steps."""

STEPS = 20_000_000
"""Of SQLite's machine, at most: no condition needs so many."""


def admitted(snapshot: Snapshot, condition: str) -> NDArray[np.int64]:
    """Numbers of the entries for which a condition holds.

    Raises
    ------
    CatalogueError
        When it is no condition, or would do anything but compare metadata.
    """
    if not isinstance(condition, str):
        raise TypeError(f"`where` must be a condition in SQL, got {condition!r}")
    try:
        condition.encode()
    except UnicodeEncodeError:
        raise CatalogueError(f"--where must be a condition in UTF-8, got {condition!r}") from None
    if "\0" in condition:
        raise CatalogueError("--where must be a condition, got one with a NUL character")
    columns = ["entry", *snapshot.columns]
    shown = ", ".join([*(f"m.{quoted(name)}" for name in columns), "e.file", "e.note"])
    marks = f"SELECT {shown} FROM main.metadata m JOIN main.entries e ON e.id = m.entry"
    statement = f"SELECT entry FROM ({marks}) WHERE (\n{condition}\n) ORDER BY entry"
    refused: list[str] = []
    try:
        with _restricted(snapshot.db, refused):
            rows = snapshot.rows(statement, steps=STEPS)
    except CatalogueError as error:
        why = f"it may not {refused[0]}" if refused else str(error.__cause__).split("\n")[0]
        raise CatalogueError(
            f"--where must be a condition on metadata, such as motif = 'crown' and date < 1500, got {condition!r}: "
            f"{why}; the columns are file, {', '.join(columns[1:])}"
        ) from None
    numbers = np.array([row[0] for row in rows], object)
    if not all(isinstance(number, int) for number in numbers):
        raise CatalogueError(f"--where must be a condition on metadata, got {condition!r}")
    return numbers.astype(np.int64)


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

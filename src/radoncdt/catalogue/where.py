"""Which entries a condition of the user's admits: SQL that can read two tables and do nothing else."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from radoncdt.catalogue.store import CatalogueError, connect

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


def admitted(path: Path, condition: str) -> NDArray[np.int64]:
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
    with closing(connect(path)) as db:
        db.execute("PRAGMA trusted_schema = OFF")
        for limit, most in LIMITS.items():
            db.setlimit(limit, most)
        refused: list[str] = []
        db.set_authorizer(lambda *action: _judge(refused, *action))
        left = [STEPS // 1000]

        def tick() -> int:
            left[0] -= 1
            return left[0] < 0

        db.set_progress_handler(tick, 1000)
        marks = "SELECT m.*, e.file, e.note FROM metadata m JOIN entries e ON e.id = m.entry"
        statement = f"SELECT entry FROM ({marks}) WHERE (\n{condition}\n) ORDER BY entry"
        try:
            rows = db.execute(statement).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            columns = [str(row[1]) for row in _columns(path)][1:]
            why = f"it may not {refused[0]}" if refused else str(error).split("\n")[0]
            raise CatalogueError(
                f"--where must be a condition on metadata, such as motif = 'crown' and date < 1500, got {condition!r}: "
                f"{why}; the columns are file, {', '.join(columns)}"
            ) from None
    numbers = np.array([row[0] for row in rows], object)
    if not all(isinstance(number, int) for number in numbers):
        raise CatalogueError(f"--where must be a condition on metadata, got {condition!r}")
    return numbers.astype(np.int64)


def _columns(path: Path) -> list[tuple[object, ...]]:
    with closing(connect(path)) as db:
        return db.execute("PRAGMA table_info (metadata)").fetchall()


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

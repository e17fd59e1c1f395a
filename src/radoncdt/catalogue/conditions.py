"""Conditions on metadata: SQL expressions of the user that may read two tables and do nothing else."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import shorten, suggest
from radoncdt._validation import ArgumentTypeError, ArgumentValueError
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.metadata import MAX_TITLE_LENGTH
from radoncdt.catalogue.snapshot import Snapshot

__all__ = ["ConditionError", "select_entries"]


class ConditionError(ArgumentValueError, CatalogueError):
    """The argument `where` is not a valid condition on the metadata.

    The message names the reason and the columns. It is raised if the text is not a condition in SQL, names an unknown
    column, or does anything but compare metadata.

    Parameters
    ----------
    argument : str
        The name of the argument, "where".
    problem : str
        The rest of the message.

    See Also
    --------
    Catalogue : The catalogue, whose entries can be selected by conditions.

    Examples
    --------
    With the catalogue in the example of `Catalogue`:

    >>> from radoncdt.catalogue import ConditionError
    >>> try:
    ...     catalogue.entries("motive = 'crown'")
    ... except ConditionError as error:
    ...     print(error.argument)
    where
    """


_READABLE = {"entries": frozenset({"id", "file", "note"}), "metadata": None}
"""The readable columns of each readable table; None means all."""

_FUNCTIONS = frozenset(
    {"abs", "coalesce", "glob", "ifnull", "iif", "instr", "length", "like", "lower", "ltrim", "max", "min", "nullif"}
    | {"replace", "round", "rtrim", "substr", "substring", "trim", "typeof", "upper"}
)

MAX_CONDITION_SIZE = 50_000  # bytes of a condition
_MAX_COMPARED_SIZE = 600_000  # bytes of a compared text; earlier versions stored cells of 131,072 characters

_SQLITE_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_COMPARED_SIZE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_CONDITION_SIZE + 1000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
}
"""Limits on texts and patterns, because the step limit does not cover the work of functions on them."""

# SQLite VM steps per condition, plus steps per entry; a condition with six comparisons takes 20 steps per entry.
_MAX_STEPS, _MAX_STEPS_PER_ENTRY = 20_000_000, 200

_TOKENS = re.compile(
    r"""
      --[^\n]*                              # comments
    | /\*.*?(?:\*/|\Z)
    | '[^']*(?:''[^']*)*(?:'|\Z)           # a text, in which '' is one apostrophe
    | "(?P<name>[^"]*(?:""[^"]*)*)(?:"|\Z)    # names
    | `[^`]*(?:``[^`]*)*(?:`|\Z)
    | \[[^]]*(?:\]|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Matches comments, texts and quoted names of SQL."""

_DOT = re.compile(r"\s*\.")
_NOT_A_COLUMN = re.compile(r"\b(?:collate|as)\s{0,9}\Z", re.IGNORECASE)
"""Matches keywords that precede a name other than a column's."""

_CONDITION_FAULTS = sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_TOOBIG
"""SQLite error codes that are caused by the condition, not by the file."""


def select_entries(snapshot: Snapshot, condition: str) -> NDArray[np.int64]:
    """Return the numbers of the entries that satisfy a condition.

    Raises
    ------
    ConditionError
        If the text is not a condition, names an unknown column, or does anything but compare metadata.
    """
    _check_text(condition)
    columns, refused = snapshot.columns, list[str]()
    known = {name.encode().lower() for name in ("entry", *columns, "file", "note")}  # SQLite folds ASCII letters only
    for name in _find_quoted_names(condition):
        if name.encode().lower() not in known:
            raise _make_error(condition, f"no such column: {name}", columns)
    source = "SELECT m.*, e.file, e.note FROM main.metadata m JOIN main.entries e ON e.id = m.entry"
    statement = f"SELECT entry FROM ({source}) WHERE (\n{condition}\n) ORDER BY entry"
    max_steps = _MAX_STEPS + _MAX_STEPS_PER_ENTRY * snapshot.count()
    try:
        with _restrict(snapshot.db, refused):
            rows = snapshot.rows(statement, max_steps=max_steps)
    except CatalogueError as error:
        cause = error.__cause__
        if getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _CONDITION_FAULTS:
            raise
        reason = f"it may not {refused[0]}" if refused else str(cause)
        if "too big" in reason:
            reason = f"it cannot compare texts of more than {_MAX_COMPARED_SIZE:,} bytes"
        raise _make_error(condition, reason, columns) from None
    numbers = np.array([row[0] for row in rows], object)
    if not all(isinstance(number, int) for number in numbers):
        raise _make_error(condition, "it does not select entries", columns)
    return numbers.astype(np.int64)


def _check_text(condition: object) -> None:
    if not isinstance(condition, str):
        raise ArgumentTypeError("where", f"must be a condition in SQL, got {shorten(repr(condition))}")
    try:
        size = len(condition.encode())
    except UnicodeEncodeError:
        raise ConditionError("where", f"must be a condition in UTF-8, got {shorten(repr(condition))}") from None
    if "\0" in condition:
        raise ConditionError("where", "must be a condition without NUL characters")
    if size > MAX_CONDITION_SIZE:
        raise ConditionError("where", f"must be a condition of at most {MAX_CONDITION_SIZE:,} bytes, got {size:,}")


@contextmanager
def _restrict(db: sqlite3.Connection, refused: list[str]) -> Iterator[None]:
    """Allow a connection to compare metadata and nothing else. Refused actions are appended to the list."""
    before = {limit: db.setlimit(limit, high) for limit, high in _SQLITE_LIMITS.items()}
    db.set_authorizer(lambda *action: _authorize(refused, *action))
    try:
        yield
    finally:
        db.set_authorizer(None)
        for limit, high in before.items():
            db.setlimit(limit, high)


def _authorize(refused: list[str], action: int, first: str | None, second: str | None, *_: object) -> int:
    if action == sqlite3.SQLITE_SELECT:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ:
        columns = _READABLE.get(first or "", frozenset())
        if columns is None or (columns and (second in columns or not second)):
            return sqlite3.SQLITE_OK
        refused.append(f"read {first}.{second}")
    elif action == sqlite3.SQLITE_FUNCTION:
        if (second or "").lower() in _FUNCTIONS:
            return sqlite3.SQLITE_OK
        refused.append(f"call {second}()")
    else:
        refused.append("do anything but compare")
    return sqlite3.SQLITE_DENY


def _find_quoted_names(condition: str) -> Iterator[str]:
    """Yield the names in double quotes, except table names, which precede a dot.

    SQLite takes such a name for a text if there is no such column. It refuses other unknown names itself.
    """
    for token in _TOKENS.finditer(condition):
        name, before = token["name"], condition[max(0, token.start() - 20) : token.start()]
        if name is not None and not _DOT.match(condition, token.end()) and not _NOT_A_COLUMN.search(before):
            yield name.replace('""', '"')


def _make_error(condition: str, reason: str, columns: list[str]) -> ConditionError:
    known = ["file", *columns]
    missing = re.match(r"no such column: (.*)", reason, re.DOTALL)
    wrong = missing[1].rsplit(".")[-1].lower()[:MAX_TITLE_LENGTH] if missing else ""
    hint = suggest(wrong, known) or (" (texts are in single quotes)" if missing else "")
    return ConditionError(
        "where",
        "must be a condition on metadata, such as motif = 'crown' and date < 1500, got "
        f"{shorten(repr(condition))}: {shorten(reason)}{hint} (columns: {shorten(', '.join(known), 1000)})",
    )

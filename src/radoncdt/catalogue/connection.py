"""Connections to the SQLite database of a catalogue: opening, limits on their work, and readable errors."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

__all__ = ["CatalogueError", "connect", "limit_steps", "translate_errors"]

BUSY_TIMEOUT = 30.0  # seconds to wait for another process that is writing
TICK = 1000  # SQLite VM steps between two checks of a step limit


class CatalogueError(ValueError):
    """A catalogue cannot be read or changed. The message names the file and gives the reason.

    See Also
    --------
    Catalogue : The catalogue, whose methods raise this error.

    Examples
    --------
    >>> from radoncdt.catalogue import Catalogue, CatalogueError
    >>> try:
    ...     Catalogue("missing.db")
    ... except CatalogueError as error:
    ...     print(error)
    missing.db: there is no such catalogue
    """


def connect(path: Path, *, create: bool = False, write: bool = False) -> sqlite3.Connection:
    """Open a database file that exists, or create it.

    If a killed process left a transaction unfinished, the next process rolls it back. That requires write access, so
    a writable file is opened for writing even if it is only read.
    """
    mode = "rwc" if create else "rw" if write or _is_writable(path) else "ro"
    address = f"{_make_uri(path.absolute())}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        db.text_factory = lambda text: text.decode("utf-8", "replace")  # a damaged file may contain any bytes
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def _is_writable(path: Path) -> bool:
    """Whether the file and its folder are writable; SQLite creates a journal beside the file."""
    real = Path(os.path.realpath(path))
    return os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)


def _make_uri(path: PurePath) -> str:
    """Write a path as a URI for SQLite, which expects four slashes before a Windows network share."""
    return re.sub("^file://(?!/)", "file:////", path.as_uri())


@contextmanager
def limit_steps(db: sqlite3.Connection, max_steps: int) -> Iterator[None]:
    """Limit the SQLite VM steps of all statements within the block together.

    A statement that exceeds the limit raises `sqlite3.OperationalError` with the text "interrupted". Fetch the rows
    within the block, because SQLite does its work while rows are fetched.
    """
    left = max_steps // TICK

    def tick() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(tick, TICK)
    try:
        yield
    finally:
        db.set_progress_handler(None, TICK)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as errors that name the file and the problem."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the second if a message quotes malformed text
        raise _translate(error, path) from error


_MESSAGES = {
    "interrupted": "is damaged: reading it takes more steps than its size allows",
    "locked": "another process has been using it for {timeout:g} seconds; try again later",
    "busy": "another process has been using it for {timeout:g} seconds; try again later",
    "readonly": "cannot be opened for writing: {text}",
    "unable to open": "cannot be opened: {text}",
    "not a database": "is not a catalogue, or is damaged: {text}",
    "": "is damaged: {text}",
}
"""Messages for errors of SQLite whose text contains the key."""


def _translate(error: Exception, path: Path) -> Exception:
    text = str(error) if isinstance(error, sqlite3.Error) else "it contains malformed text"
    if "full" in text or "disk I/O" in text:
        return OSError(f"{path}: cannot be written ({text}); previously stored entries are unharmed")
    message = next(message for key, message in _MESSAGES.items() if key in text)
    return CatalogueError(f"{path}: {message.format(text=text, timeout=BUSY_TIMEOUT)}")

"""Connections to the SQLite database that a catalogue is, and their errors in plain words."""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from radoncdt.catalogue.errors import CatalogueError

WAIT = 30.0  # seconds to wait for another process that is writing

ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What sqlite3 raises; the second where a message has text of a damaged file."""


def may_write(path: Path) -> bool:
    """Whether a catalogue can be changed; SQLite makes files beside it meanwhile."""
    real = Path(os.path.realpath(path))
    return os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)


def connect(path: Path, *, create: bool = False, write: bool = False) -> sqlite3.Connection:
    """Open a database file that is there, or is to be made.

    What a killed process left half written is taken back by whoever comes next, who must be able to write, even if only
    to read.
    """
    mode = "rwc" if create else "rw" if write or may_write(path) else "ro"
    address = f"{uri_of(path.absolute())}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        db.text_factory = lambda text: text.decode("utf-8", "replace")  # a damaged file may hold anything
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def uri_of(path: PurePath) -> str:
    """A path as SQLite takes it: shares of Windows have no host, but four slashes."""
    return re.sub("^file://(?!/)", "file:////", path.as_uri())


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ours."""
    try:
        yield
    except ERRORS as error:
        raise explained(error, path) from error


def explained(error: Exception, path: Path) -> Exception:
    """An error of SQLite in plain words."""
    text = str(error) if isinstance(error, sqlite3.Error) else "it holds malformed text"
    if "interrupted" in text:
        return CatalogueError(f"{path}: is damaged: reading it takes more steps than its size allows")
    if "locked" in text or "busy" in text:
        return CatalogueError(f"{path}: another process has been using it for {WAIT:g} seconds; try again later")
    if "full" in text or "disk I/O" in text:
        return OSError(f"{path}: cannot be written ({text}); what was stored before is unharmed")
    if "readonly" in text or "unable to open" in text:
        return CatalogueError(f"{path}: cannot be opened, or is not writable: {text}")
    if "not a database" in text:
        return CatalogueError(f"{path}: is not a catalogue, or is damaged: {text}")
    return CatalogueError(f"{path}: is damaged: {text}")

"""Image files of entries: the names that a catalogue stores for them, and hashes of their content."""

import hashlib
import os
import re
from pathlib import Path

__all__ = ["find_file", "hash_file", "make_stored_name"]


def make_stored_name(path: str | os.PathLike[str], folder: Path) -> str:
    """Return the name under which a catalogue in `folder` stores an image file.

    Files below the folder get a relative name, so that images and catalogue can be moved together. Symbolic links to
    folders are followed. Bytes that are not UTF-8 become \\x escapes, because a database stores text.
    """
    whole, root = Path(os.path.abspath(path)), Path(os.path.abspath(folder))
    resolved = Path(os.path.realpath(whole.parent)) / whole.name
    below = next((each.relative_to(root) for each in (whole, resolved) if each.is_relative_to(root)), whole)
    return os.fsencode(below.as_posix()).decode("utf-8", "backslashreplace")


def find_file(name: str, folder: Path) -> Path:
    """Return the path of an image file from its stored name; the inverse of `make_stored_name`."""
    path = folder / name
    if "\\x" in name and not path.exists():
        escaped = re.sub(rb"\\x([0-9a-f]{2})", lambda match: bytes.fromhex(match[1].decode()), name.encode())
        path = folder / os.fsdecode(escaped)
    return path


def hash_file(path: Path) -> str:
    """Return the SHA-256 digest of a file's content, "" if the file cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""

"""Records: what the rows of a catalogue mean, and how files, ink options and descriptors are stored in them."""

import hashlib
import json
import os
import re
from dataclasses import asdict, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import shorten
from radoncdt.ink import InkOptions
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.settings import DescriptorSettings

__all__ = [
    "MAX_RESOLUTION",
    "MOMENTS_SIZE",
    "Entry",
    "Failure",
    "NewEntry",
    "ReadResult",
    "find_file",
    "format_ink_options",
    "hash_file",
    "make_stored_name",
    "pack_descriptor",
    "parse_ink_options",
    "parse_json",
    "parse_settings",
    "unpack_descriptors",
]

MAX_RESOLUTION = 4096  # directions, and levels, of the descriptors
MOMENTS_SIZE = 48  # bytes of mean and covariance: 6 numbers in float64


class Entry(NamedTuple):
    """A row of the table of entries."""

    id: int
    hash: str
    file: str
    ink: str
    width: int
    height: int
    ink_width: int
    ink_height: int
    note: str


class Failure(NamedTuple):
    """An image that could not be read. This is a row of the table of failures."""

    file: str
    hash: str
    reason: str


class NewEntry(NamedTuple):
    """An image that was read and is about to be stored."""

    entry: Entry  # its number is assigned when it is stored
    thumbnail: bytes
    curves: bytes
    moments: bytes

    @property
    def file(self) -> str:
        return self.entry.file


ReadResult = NewEntry | Failure  # the result of reading one image


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


def parse_json(text: str) -> Any:
    """Read untrusted JSON. Raises ValueError for any fault."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None


@lru_cache(maxsize=64)
def parse_ink_options(text: str) -> InkOptions:
    """Read stored ink options. Raises ValueError.

    Earlier versions stored the kind "watermark" as "photo".
    """
    found = parse_json(text)
    if not isinstance(found, dict):
        raise ValueError(f"must be an object, got {type(found).__name__}")
    if found.get("kind") == "photo":
        found["kind"] = "watermark"
    if not isinstance(found.get("mask"), str | None):
        raise ValueError(f"mask must be a path, got {type(found['mask']).__name__}")
    try:
        return InkOptions(**found)
    except TypeError as error:
        raise ValueError(str(error)) from None


def format_ink_options(ink: InkOptions) -> str:
    """Write ink options as they are stored; the inverse of `parse_ink_options`."""
    return json.dumps({name: value for name, value in asdict(ink).items() if value is not None})


def parse_settings(text: str) -> DescriptorSettings:
    """Read stored settings of descriptors. Raises ValueError."""
    found, names = parse_json(text), [field.name for field in fields(DescriptorSettings)]
    if not isinstance(found, dict) or found.keys() != set(names):
        raise ValueError(f"must have {', '.join(names)}, got {shorten(repr(found))}")
    for name in ("n_angles", "n_levels"):
        if type(found[name]) is not int or not 1 <= found[name] <= MAX_RESOLUTION:
            raise ValueError(f"{name} must be from 1 to {MAX_RESOLUTION}, got {shorten(repr(found[name]))}")
    if type(found["nu"]) not in (int, float):
        raise ValueError(f"nu must be a number, got {shorten(repr(found['nu']))}")
    try:
        return DescriptorSettings.from_record(found)
    except TypeError as error:
        raise ValueError(str(error)) from None


def pack_descriptor(descriptor: Descriptors) -> tuple[bytes, bytes]:
    """Return the stored curves and moments of one descriptor."""
    moments = np.concatenate([descriptor.means[0], descriptor.covariances[0].ravel()])
    return descriptor.values[0].astype(np.float16).tobytes(), moments.astype(np.float64).tobytes()


def unpack_descriptors(
    rows: list[tuple[bytes, bytes]], frames: NDArray[np.int64], settings: DescriptorSettings
) -> Descriptors:
    """Return descriptors from their stored curves and moments. Raises ValueError if any of them is damaged."""
    shape, is_sound = (len(rows), settings.n_angles, settings.levels.size), False
    if all(len(curves) == 2 * shape[1] * shape[2] and len(moments) == MOMENTS_SIZE for curves, moments in rows):
        values = np.frombuffer(b"".join(row[0] for row in rows), np.float16).reshape(shape)
        moments = np.frombuffer(b"".join(row[1] for row in rows), np.float64).reshape(len(rows), 6)
        covariances = moments[:, 2:].reshape(-1, 2, 2).copy()
        is_sound = bool(np.isfinite(values).all() and (np.abs(moments) < 1e150).all())
        is_sound = is_sound and bool((np.linalg.eigvalsh(covariances) > 0).all())
    if not is_sound:
        raise ValueError("descriptors: the numbers must be finite and complete, and the covariance positive definite")
    return Descriptors(values.astype(np.float32), moments[:, :2].copy(), covariances, frames, settings)

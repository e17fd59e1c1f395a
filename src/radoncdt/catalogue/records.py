"""Rows of a catalogue file: what every field must be, and the checksum of a row.

A catalogue is one file, which may be damaged or come from somebody else. Whatever is read from it passes through
`problems_of`, so that nothing behind this module has to expect wrong types, sizes or ranges.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import LONGEST, shortened
from radoncdt.catalogue.metadata import KNOWN
from radoncdt.ink import InkOptions
from radoncdt.matching.descriptors import Descriptors, DescriptorSettings

Expected = str | None
"""What a field must be, in words, if it is something else; None if all is well."""
Check = Callable[[Any], Expected]

SETTINGS_FIELDS = {field.name for field in fields(DescriptorSettings)}

MAX_NAME = 10_000  # characters of a file name
MAX_NOTE = 2**24  # characters of a note, a reason or a cell of metadata; older versions had no limit
MAX_SETTING = 2**24  # characters of a setting
MAX_PICTURE = 2**20  # bytes of the PNG file of a picture
MAX_SIDE = 2**20  # pixels of a side of an image
MAX_ANGLES = 4096  # directions, and levels, of the descriptors of a catalogue


def _whole(least: int, most: int) -> Check:
    words = f"a whole number from {least} to {most}"
    return lambda value: None if type(value) is int and least <= value <= most else words


def _text(most: int, *, least: int = 0) -> Check:
    words = f"text of {least} to {most:,} characters"
    return lambda value: None if type(value) is str and least <= len(value) <= most else words


def _bytes(most: int) -> Check:
    words = f"1 to {most:,} bytes"
    return lambda value: None if type(value) is bytes and 0 < len(value) <= most else words


_HASH = re.compile(r"[0-9a-f]{64}")


def _hash(value: Any) -> Expected:
    return None if type(value) is str and _HASH.fullmatch(value) else "a SHA-256 digest in hexadecimal"


def _hash_or_nothing(value: Any) -> Expected:
    return None if value == "" else _hash(value)


def _ink(value: Any) -> Expected:
    if type(value) is not str or len(value) > MAX_NOTE:
        return "options of ink as JSON"
    try:
        ink_options(value)
    except ValueError as error:
        return f"options of ink as JSON ({error})"
    return None


@lru_cache(maxsize=64)
def ink_options(text: str) -> InkOptions:
    """Options of ink as they are stored. Raises ValueError."""
    found = read_json(text)
    if not isinstance(found, dict):
        raise ValueError(f"must be an object, got {type(found).__name__}")
    try:
        return InkOptions(**found)
    except TypeError as error:
        raise ValueError(str(error)) from None


def read_json(text: str) -> Any:
    """JSON from a file that is not trusted. Raises ValueError, whatever is wrong with it."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None


@dataclass(frozen=True)
class Kind:
    """The rows of one table."""

    table: str
    fields: Mapping[str, Check]
    """Columns except the checksum, in the order of the table; the first is the key."""

    @cached_property
    def key(self) -> str:
        return next(iter(self.fields))

    @cached_property
    def by_name(self) -> list[tuple[bytes, int]]:
        """The fields in the order of their names, encoded, with their positions."""
        return sorted((f"\0{name}\0".encode(), position) for position, name in enumerate(self.fields))


_ENTRY_NUMBER = _whole(1, 2**63 - 1)
_SIDE = _whole(1, MAX_SIDE)

SETTINGS = Kind("settings", {"name": _text(100, least=1), "value": _text(MAX_SETTING)})
ENTRIES = Kind(
    "entries",
    {
        "id": _ENTRY_NUMBER,
        "hash": _hash,
        "file": _text(MAX_NAME, least=1),
        "ink": _ink,
        "width": _SIDE,
        "height": _SIDE,
        "ink_width": _SIDE,
        "ink_height": _SIDE,
        "note": _text(MAX_NOTE),
    },
)
PICTURES = Kind("pictures", {"entry": _ENTRY_NUMBER, "picture": _bytes(MAX_PICTURE)})
DESCRIPTORS = Kind(
    "descriptors",
    {"entry": _ENTRY_NUMBER, "curves": _bytes(2 * MAX_ANGLES**2), "moments": _bytes(48)},
)
FAILURES = Kind("failures", {"file": _text(MAX_NAME, least=1), "hash": _hash_or_nothing, "reason": _text(MAX_NOTE)})
SUMMARIES = Kind("summaries", {"id": _whole(1, 1), "arrays": _bytes(2**31)})

_CELLS: dict[str, Check] = {
    "TEXT": _text(MAX_NOTE),
    "INTEGER": _whole(-(2**63), 2**63 - 1),
    "REAL": lambda value: None if type(value) is float and 0 < value < 1e6 else "a positive number",
}


def metadata_kind(columns: Iterable[str]) -> Kind:
    """The rows of the table of metadata, which has further columns of text."""

    def check(name: str) -> Check:
        inner = _CELLS[KNOWN[name].type if name in KNOWN else "TEXT"]
        return lambda value: None if value is None else inner(value)

    return Kind("metadata", {"entry": _ENTRY_NUMBER, **{name: check(name) for name in columns}})


class EntryRow(NamedTuple):
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


_TYPES = {int: b"i", float: b"f", str: b"s", bytes: b"b"}


def checksum(kind: Kind, values: Sequence[Any]) -> int:
    """CRC-32 of a row: the name of its table, and name, type, length and content of every field that is not NULL.

    Fields are taken in the order of their names, so that a new column of metadata changes nothing.
    """
    parts = [kind.table.encode()]
    for name, position in kind.by_name:
        value = values[position]
        if value is not None:
            data = value if type(value) is bytes else str(value).encode("utf-8", "surrogatepass")
            parts += name, _TYPES.get(type(value), b"?"), b"%d:" % len(data), data
    return zlib.crc32(b"".join(parts))


def problems_of(kind: Kind, values: Sequence[Any], stored: Any, *, version: int) -> list[str]:
    """What is wrong with a row, given its fields and the checksum stored beside them; nothing if all is well."""
    found = [
        f"{kind.table}: {name!r} must be {expected}, got {_given(value)}"
        for (name, check), value in zip(kind.fields.items(), values)
        if (expected := check(value)) is not None
    ]
    if version > 1 and stored != checksum(kind, values):
        found.append(f"{kind.table}: the checksum does not fit")
    return found


def _given(value: Any) -> str:
    """A value as a message shows it, whatever it is and however long."""
    return shortened(repr(value[:LONGEST] if isinstance(value, (str, bytes)) else value))


# ---------------------------------------------------------------- values within fields


def settings_of(text: str) -> DescriptorSettings:
    """Settings of descriptors as they are stored. Raises ValueError."""
    found = read_json(text)
    if not isinstance(found, dict) or found.keys() != SETTINGS_FIELDS:
        raise ValueError(f"must have {', '.join(sorted(SETTINGS_FIELDS))}, got {_given(found)}")
    for name in ("n_angles", "n_levels"):
        if type(found[name]) is not int or not 1 <= found[name] <= MAX_ANGLES:
            raise ValueError(f"{name} must be from 1 to {MAX_ANGLES}, got {_given(found[name])}")
    if type(found["nu"]) not in (int, float):
        raise ValueError(f"nu must be a number, got {_given(found['nu'])}")
    try:
        return DescriptorSettings.from_record(found)
    except TypeError as error:
        raise ValueError(str(error)) from None


def packed(descriptor: Descriptors) -> tuple[bytes, bytes]:
    """Curves and moments of one descriptor as they are stored."""
    moments = np.concatenate([descriptor.means[0], descriptor.covariances[0].ravel()])
    return descriptor.values[0].astype(np.float16).tobytes(), moments.astype(np.float64).tobytes()


BAD_DESCRIPTOR = "descriptors: the numbers must be finite, as many as expected, and the covariance positive definite"


def unpacked(
    rows: Sequence[tuple[bytes, bytes]], frames: NDArray[np.int64], settings: DescriptorSettings
) -> Descriptors | None:
    """Descriptors from their stored curves and moments; None if any of them is damaged."""
    size = settings.n_angles * settings.levels.size
    if any(len(curves) != 2 * size or len(moments) != 48 for curves, moments in rows):
        return None
    values = np.frombuffer(b"".join(row[0] for row in rows), np.float16)
    moments = np.frombuffer(b"".join(row[1] for row in rows), np.float64).reshape(len(rows), 6)
    if not np.isfinite(values).all() or not (np.abs(moments) < 1e150).all():
        return None
    covariances = moments[:, 2:].reshape(-1, 2, 2).copy()
    if not (np.linalg.eigvalsh(covariances) > 0).all():
        return None
    curves = values.astype(np.float32).reshape(len(rows), settings.n_angles, settings.levels.size)
    return Descriptors(curves, moments[:, :2].copy(), covariances, frames, settings)

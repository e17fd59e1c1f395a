"""Rows of a catalogue file: the values that each field may have, and the checksum of a row.

A catalogue file may be damaged or hostile. Every row that is read from it passes `check_row`, so that the rest of the
package does not have to expect wrong types, sizes or ranges.
"""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import MAX_LENGTH, shorten
from radoncdt.catalogue.metadata import STANDARD_COLUMNS
from radoncdt.ink import InkOptions
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.settings import DescriptorSettings

__all__ = [
    "DESCRIPTORS", "ENTRIES", "FAILURES", "SETTINGS", "SUMMARIES", "TABLES", "THUMBNAILS", "Entry",
    "Failure", "NewEntry", "ReadResult", "TableSpec", "check_row", "compute_checksum", "format_ink_options",
    "make_metadata_spec", "pack_descriptor", "parse_ink_options", "parse_json", "parse_settings",
    "unpack_descriptors",
]  # fmt: skip

_Check = Callable[[Any], str | None]
"""Checks the value of a field: None if it is valid, otherwise a description of valid values."""

_MAX_NAME = 10_000  # characters of a file name
_MAX_TEXT = 2**24  # characters of a note, reason, setting or metadata cell; earlier versions had no limit
_MAX_THUMBNAIL = 2**20  # bytes of the PNG file of a thumbnail
_MAX_SIDE = 2**20  # pixels along one side of an image
_MAX_ANGLES = 4096  # directions, and levels, of the descriptors
_MOMENTS_SIZE = 48  # bytes of mean and covariance: 6 numbers in float64


def _integer(low: int, high: int) -> _Check:
    words = f"a whole number from {low} to {high}"
    return lambda value: None if type(value) is int and low <= value <= high else words


def _text(high: int, *, low: int = 0) -> _Check:
    words = f"text of {low} to {high:,} characters"
    return lambda value: None if type(value) is str and low <= len(value) <= high else words


def _bytes(high: int) -> _Check:
    words = f"1 to {high:,} bytes"
    return lambda value: None if type(value) is bytes and 0 < len(value) <= high else words


def _optional(check: _Check, empty: Any) -> _Check:
    return lambda value: None if value == empty else check(value)


_DIGEST = re.compile(r"[0-9a-f]{64}")


def _hash(value: Any) -> str | None:
    return None if type(value) is str and _DIGEST.fullmatch(value) else "a SHA-256 digest in hexadecimal"


def _ink(value: Any) -> str | None:
    if type(value) is not str or len(value) > _MAX_TEXT:
        return "ink options as JSON"
    try:
        parse_ink_options(value)
    except ValueError as error:
        return f"ink options as JSON ({error})"
    return None


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


def parse_json(text: str) -> Any:
    """Read untrusted JSON. Raises ValueError for any fault."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None


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

    entry: Entry
    """Its number is assigned when it is stored."""
    thumbnail: bytes
    curves: bytes
    moments: bytes

    @property
    def file(self) -> str:
        return self.entry.file


ReadResult = NewEntry | Failure
"""The result of reading one image."""


@dataclass(frozen=True)
class TableSpec:
    """The name of a table and the checks of its fields."""

    table: str
    fields: Mapping[str, _Check]
    """Columns in the order of the table, without the checksum. The first is the key."""

    @cached_property
    def key(self) -> str:
        return next(iter(self.fields))

    @cached_property
    def by_name(self) -> list[tuple[bytes, int]]:
        """The encoded names of the fields in alphabetical order, each with its position."""
        return sorted((f"\0{name}\0".encode(), position) for position, name in enumerate(self.fields))


_NUMBER = _integer(1, 2**63 - 1)
_SIDE = _integer(1, _MAX_SIDE)

SETTINGS = TableSpec("settings", {"name": _text(100, low=1), "value": _text(_MAX_TEXT)})
ENTRIES = TableSpec(
    "entries",
    dict(zip(Entry._fields, (_NUMBER, _hash, _text(_MAX_NAME, low=1), _ink, *[_SIDE] * 4, _text(_MAX_TEXT)))),
)
THUMBNAILS = TableSpec("pictures", {"entry": _NUMBER, "picture": _bytes(_MAX_THUMBNAIL)})
DESCRIPTORS = TableSpec(
    "descriptors", {"entry": _NUMBER, "curves": _bytes(2 * _MAX_ANGLES**2), "moments": _bytes(_MOMENTS_SIZE)}
)
FAILURES = TableSpec(
    "failures", dict(zip(Failure._fields, (_text(_MAX_NAME, low=1), _optional(_hash, ""), _text(_MAX_TEXT))))
)
SUMMARIES = TableSpec("summaries", {"id": _integer(1, 1), "arrays": _bytes(2**31)})

_CELLS: dict[str, _Check] = {
    "TEXT": _text(_MAX_TEXT),
    "INTEGER": _integer(-(2**63), 2**63 - 1),
    "REAL": lambda value: None if type(value) is float and 0 < value < 1e6 else "a positive number",
}


def make_metadata_spec(columns: Iterable[str]) -> TableSpec:
    """Return the spec of the metadata table. Columns other than the standard ones contain text."""
    types = {name: STANDARD_COLUMNS[name].type if name in STANDARD_COLUMNS else "TEXT" for name in columns}
    return TableSpec(
        "metadata", {"entry": _NUMBER, **{name: _optional(_CELLS[kind], None) for name, kind in types.items()}}
    )


TABLES = (SETTINGS, ENTRIES, THUMBNAILS, make_metadata_spec(STANDARD_COLUMNS), DESCRIPTORS, FAILURES, SUMMARIES)
"""The tables of a catalogue. The table of metadata may have more columns."""


_TYPES = {int: b"i", float: b"f", str: b"s", bytes: b"b"}


def compute_checksum(spec: TableSpec, values: Sequence[Any]) -> int:
    """Return the CRC-32 of the table's name and of the name, type, length and content of every field except NULLs.

    Fields are taken in alphabetical order, so that a new metadata column does not change any checksum.
    """
    parts = [spec.table.encode()]
    for name, position in spec.by_name:
        value = values[position]
        if value is not None:
            data = value if type(value) is bytes else str(value).encode("utf-8", "surrogatepass")
            parts += name, _TYPES.get(type(value), b"?"), b"%d:" % len(data), data
    return zlib.crc32(b"".join(parts))


def check_row(spec: TableSpec, values: Sequence[Any], checksum: Any, *, version: int) -> list[str]:
    """Return the problems of a row, given its fields and its stored checksum; none if the row is valid."""
    found = [
        f"{spec.table}: {name!r} must be {expected}, got {_quote_value(value)}"
        for (name, check), value in zip(spec.fields.items(), values)
        if (expected := check(value)) is not None
    ]
    if version > 1 and checksum != compute_checksum(spec, values):
        found.append(f"{spec.table}: the checksum does not match")
    return found


def _quote_value(value: Any) -> str:
    return shorten(repr(value[:MAX_LENGTH] if isinstance(value, (str, bytes)) else value))


def parse_settings(text: str) -> DescriptorSettings:
    """Read stored settings of descriptors. Raises ValueError."""
    found, names = parse_json(text), [field.name for field in fields(DescriptorSettings)]
    if not isinstance(found, dict) or found.keys() != set(names):
        raise ValueError(f"must have {', '.join(names)}, got {_quote_value(found)}")
    for name in ("n_angles", "n_levels"):
        if type(found[name]) is not int or not 1 <= found[name] <= _MAX_ANGLES:
            raise ValueError(f"{name} must be from 1 to {_MAX_ANGLES}, got {_quote_value(found[name])}")
    if type(found["nu"]) not in (int, float):
        raise ValueError(f"nu must be a number, got {_quote_value(found['nu'])}")
    try:
        return DescriptorSettings.from_record(found)
    except TypeError as error:
        raise ValueError(str(error)) from None


def pack_descriptor(descriptor: Descriptors) -> tuple[bytes, bytes]:
    """Return the stored curves and moments of one descriptor."""
    moments = np.concatenate([descriptor.means[0], descriptor.covariances[0].ravel()])
    return descriptor.values[0].astype(np.float16).tobytes(), moments.astype(np.float64).tobytes()


_BAD_DESCRIPTOR = "descriptors: the numbers must be finite and complete, and the covariance positive definite"


def unpack_descriptors(
    rows: Sequence[tuple[bytes, bytes]], frames: NDArray[np.int64], settings: DescriptorSettings
) -> Descriptors:
    """Return descriptors from their stored curves and moments. Raises ValueError if any of them is damaged."""
    size = settings.n_angles * settings.levels.size
    if any(len(curves) != 2 * size or len(moments) != _MOMENTS_SIZE for curves, moments in rows):
        raise ValueError(_BAD_DESCRIPTOR)
    values = np.frombuffer(b"".join(row[0] for row in rows), np.float16)
    moments = np.frombuffer(b"".join(row[1] for row in rows), np.float64).reshape(len(rows), 6)
    if not np.isfinite(values).all() or not (np.abs(moments) < 1e150).all():
        raise ValueError(_BAD_DESCRIPTOR)
    covariances = moments[:, 2:].reshape(-1, 2, 2).copy()
    if not (np.linalg.eigvalsh(covariances) > 0).all():
        raise ValueError(_BAD_DESCRIPTOR)
    curves = values.astype(np.float32).reshape(len(rows), settings.n_angles, settings.levels.size)
    return Descriptors(curves, moments[:, :2].copy(), covariances, frames, settings)

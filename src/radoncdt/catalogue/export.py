"""Exporting a catalogue to files that other programs read."""

import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from radoncdt._csv import encode_table
from radoncdt._files import write_atomically
from radoncdt._validation import find_stacklevel
from radoncdt.catalogue.connection import CatalogueError
from radoncdt.catalogue.metadata import ENTRY_COLUMNS
from radoncdt.catalogue.snapshot import Snapshot

__all__ = ["DamagedEntryWarning", "export", "format_csv", "list_entries"]


class DamagedEntryWarning(UserWarning):
    """A damaged entry was skipped. The message names the entry and gives the reason.

    See Also
    --------
    Catalogue : The catalogue, which skips damaged entries in an export on request.

    Examples
    --------
    Turn the warning into an error:

    >>> import warnings
    >>> from radoncdt.catalogue import DamagedEntryWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", DamagedEntryWarning)
    """


def list_entries(snapshot: Snapshot, numbers: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """Return all entries, or some, with their number, file, size and metadata."""
    entries = snapshot.entries(numbers)
    metadata = snapshot.metadata([entry.id for entry in entries])
    own = [(entry.id, entry.file, entry.width, entry.height, entry.note) for entry in entries]
    return [dict(zip(ENTRY_COLUMNS, values)) | metadata[values[0]] for values in own]


def _list_sound_entries(snapshot: Snapshot, *, with_descriptors: bool) -> list[dict[str, Any]]:
    """Return the entries that are not damaged, with a warning for each of the others."""
    found = []
    for number in snapshot.numbers().tolist():
        try:
            if with_descriptors:
                snapshot.descriptors([number])
            found += list_entries(snapshot, [number])
        except CatalogueError as error:
            warnings.warn(f"skipped: {error}", DamagedEntryWarning, stacklevel=find_stacklevel())
    return found


def export(snapshot: Snapshot, path: Path, *, skip_damaged: bool) -> int:
    """Write all entries to a file whose suffix determines the format, and return their number."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".json", ".npz"):
        raise CatalogueError(f"{path}: must end in .csv, .json or .npz")
    if not path.parent.is_dir():
        raise CatalogueError(f"{path}: must be in a folder that exists")
    if skip_damaged:
        entries = _list_sound_entries(snapshot, with_descriptors=suffix == ".npz")
    else:
        entries = list_entries(snapshot)

    def save(file: IO[bytes]) -> None:
        if suffix == ".json":
            file.write(json.dumps(entries, indent=1, ensure_ascii=False).encode())
        elif suffix == ".csv":
            file.write(format_csv(entries, [*ENTRY_COLUMNS, *snapshot.columns]))
        else:
            _save_descriptors(snapshot, entries, file)

    write_atomically(path, save)
    return len(entries)


def format_csv(rows: list[dict[str, Any]], columns: list[str]) -> bytes:
    """Return a CSV file with some columns. Cells are empty if a row has no such value."""
    return encode_table(columns, ([row.get(name) for name in columns] for row in rows))


def _save_descriptors(snapshot: Snapshot, entries: list[dict[str, Any]], file: IO[bytes]) -> None:
    """Write a file for `Descriptors.load`, which also contains numbers, files and metadata."""
    numbers = [entry["entry"] for entry in entries]
    metadata = np.array(json.dumps(entries, ensure_ascii=False))
    snapshot.descriptors(numbers).save(file, dtype=np.float16, numbers=np.array(numbers, np.int64), entries=metadata)

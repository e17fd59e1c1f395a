"""Exporting a catalogue to files that other programs read."""

import json
from pathlib import Path
from typing import IO, Any

import numpy as np

from radoncdt._csv import encode_table
from radoncdt._files import write_atomically
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import ENTRY_COLUMNS
from radoncdt.catalogue.snapshot import Snapshot

__all__ = ["export", "format_csv"]

_SUFFIXES = (".csv", ".json", ".npz")


def export(snapshot: Snapshot, entries: list[dict[str, Any]], path: Path) -> int:
    """Write entries to a file whose suffix determines the format, and return their number."""
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise CatalogueError(f"{path}: must end in {', '.join(_SUFFIXES)}")
    if not path.parent.is_dir():
        raise CatalogueError(f"{path}: must be in a folder that exists")

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

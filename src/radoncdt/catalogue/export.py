"""Catalogues as files that other programs read."""

import json
from pathlib import Path
from typing import IO, Any

import numpy as np

from radoncdt._csv import encode_table
from radoncdt._files import write_atomically
from radoncdt.catalogue.errors import CatalogueError
from radoncdt.catalogue.metadata import OWN
from radoncdt.catalogue.store import Snapshot

FORMATS = (".csv", ".json", ".npz")


def export(snapshot: Snapshot, entries: list[dict[str, Any]], path: Path) -> int:
    """Write entries as a table, as a list, or with their descriptors; the ending of the file says which."""
    form = path.suffix.lower()
    if form not in FORMATS:
        raise CatalogueError(f"{path}: must end in {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise CatalogueError(f"{path}: must be in a folder that exists")

    def save(file: IO[bytes]) -> None:
        if form == ".json":
            file.write(json.dumps(entries, indent=1, ensure_ascii=False).encode())
        elif form == ".csv":
            file.write(table(entries, [*OWN, *snapshot.columns]))
        else:
            _save_descriptors(snapshot, entries, file)

    write_atomically(path, save)
    return len(entries)


def table(rows: list[dict[str, Any]], columns: list[str]) -> bytes:
    """A CSV file of some columns, empty where a row has no such value."""
    return encode_table(columns, ([row.get(name) for name in columns] for row in rows))


def _save_descriptors(snapshot: Snapshot, entries: list[dict[str, Any]], file: IO[bytes]) -> None:
    """What `Descriptors.load` reads, with numbers, files and metadata beside."""
    numbers = [entry["entry"] for entry in entries]
    metadata = np.array(json.dumps(entries, ensure_ascii=False))
    snapshot.descriptors(numbers).save(file, dtype=np.float16, numbers=np.array(numbers, np.int64), entries=metadata)

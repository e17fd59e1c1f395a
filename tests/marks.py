"""Image files of marks, and contents of catalogues, for tests."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
from PIL import Image

from radoncdt import datasets
from radoncdt.catalogue import Catalogue

MARKS = datasets.watermarks(24)
SCHEMA1 = Path(__file__).parent / "data" / "schema1"  # a catalogue of the first schema, with its images


def save(path, ink):
    """Write an image of dark ink on white paper."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.uint8(np.rint(255 * (1 - ink)))).save(path)
    return Path(path)


def save_marks(folder, n=12):
    """Write the first n marks as PNG files, and a table of their motifs."""
    files = [save(Path(folder) / f"{i:03}.png", MARKS[i].image()) for i in range(n)]
    lines = [f"{i:03}.png,{MARKS[i].motif},{1400 + 10 * i}" for i in range(n)]
    table = Path(folder).with_suffix(".csv")
    table.write_text("\n".join(["file,motif,date", *lines]) + "\n", encoding="utf-8")
    return files, table


def content(path):
    """Return all rows of a catalogue, except those that are derived from others."""
    with closing(sqlite3.connect(path)) as db:
        tables = "entries", "pictures", "metadata", "descriptors", "failures"
        return [db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]


def checked_content(path):
    """Check that a catalogue has no problems, and return its content."""
    with Catalogue(path) as catalogue:
        assert catalogue.check() == []
    return content(path)


def change(path, statement, values=()):
    """Change the database of a catalogue directly."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)

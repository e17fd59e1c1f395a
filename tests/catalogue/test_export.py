"""Exporting a catalogue."""

import csv
import json

import numpy as np
import pytest
from files import run
from marks import MARKS, change
from numpy.testing import assert_array_equal

import radoncdt
from radoncdt.catalogue import Catalogue, CatalogueError, connection


def test_catalogues_are_exported(made, folder, capsys):
    made.close()
    for name in ("out.csv", "out.json", "out.npz"):
        assert run("catalogue", "export", "marks.db", name) == 0
    with open("out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["motif"] for row in rows] == [mark.motif for mark in MARKS[:12]]
    assert json.loads((folder / "out.json").read_text(encoding="utf-8"))[3]["date"] == 1430
    descriptors = radoncdt.Descriptors.load("out.npz")
    assert len(descriptors) == 12
    with np.load("out.npz") as arrays:
        assert_array_equal(arrays["numbers"], np.arange(1, 13))
    assert run("catalogue", "export", "marks.db", "out.csv") == 2
    assert "must not exist yet" in capsys.readouterr().err
    assert run("catalogue", "export", "marks.db", "out.csv", "--force") == 0
    assert run("catalogue", "export", "marks.db", "out.txt") == 2
    assert "must end in .csv, .json or .npz" in capsys.readouterr().err


def test_damaged_entries_can_be_left_out_of_an_export(made, folder, capsys):
    made.close()
    change("marks.db", "UPDATE metadata SET motif = 'damaged' WHERE entry = 4")
    assert run("catalogue", "export", "marks.db", "out.npz") == 2
    assert run("catalogue", "export", "marks.db", "out.npz", "--skip-damaged") == 1
    out, err = capsys.readouterr()
    assert "out.npz: 11 entries" in out
    assert "skipped: " in err
    assert "entry 4 is damaged" in err
    assert len(radoncdt.Descriptors.load("out.npz")) == 11
    change("marks.db", "UPDATE descriptors SET curves = x'00' WHERE entry = 5")
    assert run("catalogue", "export", "marks.db", "out.csv", "--skip-damaged") == 1
    assert "out.csv: 11 entries" in capsys.readouterr().out  # a table has no descriptors


def test_exports_hold_what_belongs_together(stored, monkeypatch):
    """An entry that is removed while entries are exported is there as a whole or not at all."""
    from radoncdt.catalogue import export

    save_descriptors, other = export._save_descriptors, Catalogue("marks.db", write=True)

    def interrupted(*arguments):
        with pytest.raises(CatalogueError, match="another process"):
            other.remove([3])
        return save_descriptors(*arguments)

    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.01)
    other.close()
    other = Catalogue("marks.db", write=True)
    monkeypatch.setattr(export, "_save_descriptors", interrupted)
    with Catalogue("marks.db") as catalogue:
        assert catalogue.export("out.npz") == 12
    other.close()
    with np.load("out.npz") as arrays:
        assert len(arrays["numbers"]) == len(arrays["values"]) == 12

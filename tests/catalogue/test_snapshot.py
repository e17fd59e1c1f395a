"""Snapshots: consistency, and limits on the work of a statement."""

from pathlib import Path

import pytest

from radoncdt.catalogue import Catalogue, CatalogueError, connection, snapshot


def test_what_is_read_together_belongs_together(stored):
    """Another process removes an entry while a snapshot is open."""
    other = Catalogue("marks.db", write=True)
    with Catalogue("marks.db") as catalogue, catalogue._store.snapshot() as snapshot:
        numbers = snapshot.numbers()
        with other._store._connection("BEGIN IMMEDIATE") as (db, _):
            db.execute("DELETE FROM entries WHERE id = 3")  # is not committed before the reader is done
            assert len(snapshot.descriptors(numbers)) == len(snapshot.entries()) == 12
    other.close()


def test_statements_have_a_limit(stored, monkeypatch):
    """Whatever a file makes of a statement, it ends."""
    with Catalogue("marks.db") as catalogue:
        monkeypatch.setattr(connection, "TICK", 1)
        monkeypatch.setattr(snapshot, "MAX_STEPS", 100)
        monkeypatch.setattr(snapshot, "MAX_STEPS_PER_BYTE", 0)
        for method in (catalogue.entries, lambda: catalogue.search("marks/000.png"), lambda: catalogue.export("x.csv")):
            with pytest.raises(CatalogueError, match="takes more steps than its size"):
                method()


def test_rows_that_repeat_themselves_are_refused(stored, monkeypatch):
    with Catalogue("marks.db") as catalogue:
        monkeypatch.setattr(snapshot, "MAX_RESULT_SIZE", -2 * Path("marks.db").stat().st_size + 100)
        with pytest.raises(CatalogueError, match="is damaged: rows repeat without end"):
            catalogue.entries()

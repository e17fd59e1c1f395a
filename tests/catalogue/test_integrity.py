"""Checking a catalogue: damaged rows and pages, missing files."""

import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from files import run
from marks import MARKS, SCHEMA1, change, save

from radoncdt.catalogue import Catalogue, CatalogueError, connection, integrity, schema
from radoncdt.catalogue.index import update_summaries


def test_a_whole_catalogue_has_no_problems(made, folder, capsys):
    made.close()
    assert run("catalogue", "check", "marks.db") == 0
    assert "12 entries, 0 problems" in capsys.readouterr().out


def test_files_that_changed_or_are_gone_are_found(made, folder, capsys):
    save("marks/002.png", MARKS[20].image())
    (folder / "marks" / "004.png").unlink()
    made.close()
    assert run("catalogue", "check", "marks.db") == 1
    out = capsys.readouterr().out
    assert "entry 3: its file has changed" in out
    assert "entry 5: its file no longer exists" in out


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE descriptors SET curves = x'00' WHERE entry = 2", "entry 2: descriptors: the checksum does not match"),
        ("DELETE FROM descriptors WHERE entry = 2", "entry 2: its row is missing from the table 'descriptors'"),
        ("UPDATE descriptors SET curves = 'text' WHERE entry = 2", "entry 2: descriptors: 'curves' must be 1 to"),
        ("UPDATE pictures SET picture = x'1234' WHERE entry = 2", "entry 2: pictures: the checksum does not match"),
        ("UPDATE entries SET ink = '{}}' WHERE id = 2", "entry 2: entries: 'ink' must be ink options as JSON"),
        ("UPDATE entries SET width = 0 WHERE id = 2", "entry 2: entries: 'width' must be a whole number from 1"),
        ("UPDATE entries SET file = x'00' WHERE id = 2", "entry 2: entries: 'file' must be text"),
        ("UPDATE metadata SET motif = 'cross' WHERE entry = 2", "entry 2: metadata: the checksum does not match"),
        ("DELETE FROM metadata WHERE entry = 2", "entry 2: its row is missing from the table 'metadata'"),
        ("UPDATE settings SET value = '{}'", "catalogue: .*settings"),
        ("UPDATE entries SET id = 77 WHERE id = 12", "entry 12: descriptors without an entry"),
        ("ALTER TABLE metadata ADD COLUMN more", "catalogue: the definitions of its tables are damaged"),
    ],
)
def test_damaged_rows_are_found(made, folder, capsys, statement, message):
    made.close()
    change("marks.db", statement)
    assert run("catalogue", "check", "marks.db") == 1
    assert re.search(message, capsys.readouterr().out)


def test_summaries_are_checked_and_computed_again(made, folder):
    with made._store.transaction() as transaction:
        wrong = update_summaries(transaction)
        wrong.values[3] += 1
        transaction.put_value(schema.SUMMARIES, 1, wrong.to_bytes())
    assert "do not belong to its entries" in made.check()[0].what
    (folder / "marks" / "000.png").rename(folder / "moved.png")
    assert len(made.check()) == 2  # a file that is missing hides nothing
    (folder / "moved.png").rename(folder / "marks" / "000.png")
    change("marks.db", "UPDATE summaries SET arrays = x'00'")
    assert "are damaged" in made.check()[0].what
    assert made.search("marks/003.png").matches[0].entry == 4
    made.add("marks/003.png")
    assert made.check() == []


def zero_page_of_summaries(path):
    """Damage the last page that holds nothing but summaries."""
    with closing(sqlite3.connect(path)) as db:
        (size,), (data,) = (
            db.execute("PRAGMA page_size").fetchone(),
            db.execute("SELECT arrays FROM summaries").fetchone(),
        )
    content = bytearray(Path(path).read_bytes())
    place = content.find(data[len(data) // 2 : len(data) // 2 + 64]) // size * size
    assert place > 0
    content[place : place + size] = bytes(size)
    Path(path).write_bytes(content)


@pytest.mark.parametrize("version", [1, 2])
def test_summaries_on_a_damaged_page_are_computed_again(stored, tmp_path, version):
    """Whatever is derived from the entries is never needed to read or to change them."""
    shutil.copytree(SCHEMA1, tmp_path / "old")
    path = tmp_path / "old" / "catalogue.db"
    if version == 2:
        Catalogue.migrate(path)
    with Catalogue(path) as catalogue:
        expected = [(m.entry, m.score) for m in catalogue.search("marks/003.png").matches]
    zero_page_of_summaries(path)
    with Catalogue(path) as catalogue:
        assert catalogue.check()
        assert [(m.entry, m.score) for m in catalogue.search("marks/003.png").matches] == expected
    with Catalogue(path, write=True) as catalogue:
        assert catalogue.add("marks/003.png").added == 1
        assert catalogue.search("marks/003.png").matches[0].file == str(stored / "marks" / "003.png")
        catalogue.remove([1])


def test_parts_of_an_entry_that_is_gone_can_be_removed(stored):
    change("marks.db", "DELETE FROM entries WHERE id = 3")
    with Catalogue("marks.db", write=True) as catalogue:
        assert {problem.entry for problem in catalogue.check()} >= {3}
        catalogue.remove([3])
        assert catalogue.check() == []
        with pytest.raises(CatalogueError, match="there is no entry 3"):
            catalogue.remove([3])


def zero_page(path, table):
    """Damage the root page of a table or an index."""
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    content = bytearray(Path(path).read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    Path(path).write_bytes(content)


def test_a_damaged_index_is_not_needed(stored):
    with Catalogue("marks.db") as catalogue:
        before = catalogue.entries(), catalogue.search("marks/003.png").matches[0].score
    zero_page("marks.db", "entries_by_file")
    Path("marks/005.png").unlink()
    with Catalogue("marks.db") as catalogue:
        assert (catalogue.entries(), catalogue.search("marks/003.png").matches[0].score) == before
        assert len(catalogue) == 12
        assert 6 in {problem.entry for problem in catalogue.check()}


def test_check_goes_on_after_every_problem(stored):
    """A missing row, a page that cannot be read and damaged settings hide nothing else."""
    change("marks.db", "DELETE FROM pictures WHERE entry = 5")
    change("marks.db", "UPDATE metadata SET motif = 'other' WHERE entry = 7")
    change("marks.db", "UPDATE settings SET value = '{}' WHERE name = 'descriptors'")
    zero_page("marks.db", "descriptors")
    for name in ("004", "010"):
        Path(f"marks/{name}.png").unlink()
    with Catalogue("marks.db") as catalogue:
        found = catalogue.check()
    said = {(problem.entry, problem.what.split(":")[0]) for problem in found}
    assert (5, "its row is missing from the table 'pictures'") in said
    assert {(5, "its file no longer exists"), (11, "its file no longer exists")} <= said
    assert (7, "metadata") in said
    assert sum("settings" in problem.what for problem in found) <= 3
    assert len(found) < 40


def test_others_may_write_while_a_catalogue_is_checked(stored, monkeypatch):
    """The files are compared between snapshots."""
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.1)
    with Catalogue("marks.db") as catalogue, Catalogue("marks.db", write=True) as other:
        compared = integrity.hash_file

        def changed_meanwhile(path):
            other.set(1, place=path.name)
            return compared(path)

        monkeypatch.setattr(integrity, "hash_file", changed_meanwhile)
        assert catalogue.check() == []

"""Catalogues of older schemas: they stay readable, and are migrated when they are changed."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import SCHEMA1, change

from radoncdt.catalogue import Catalogue, CatalogueError, migration, schema
from radoncdt.catalogue.calibration import load_calibration


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of a catalogue of the first schema, with its images."""
    shutil.copytree(SCHEMA1, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers(path):
    """What users can ask of a catalogue."""
    with Catalogue(path) as catalogue:
        numbers = [entry["entry"] for entry in catalogue.entries()]
        found = catalogue.search("marks/00.png", top=5).matches
        return (
            catalogue.entries(),
            catalogue.entries("motif = 'crown' or date > 1450"),
            catalogue.failures(),
            [catalogue.thumbnail(number) for number in numbers],
            [catalogue.ink_options(number) for number in numbers],
            [(match.entry, match.score, match.metadata, match.registration.matrix.tolist()) for match in found],
            catalogue.check(),
        )


def calibration_of(path):
    with Catalogue(path) as catalogue, catalogue._store.snapshot() as snapshot:
        return load_calibration(snapshot)


def test_old_catalogues_are_read_as_they_are(folder):
    before = Path("catalogue.db").read_bytes()
    entries, _, failures, _, options, found, problems = answers("catalogue.db")
    assert len(entries) == 22
    assert [option["kind"] for option in options] == ["drawing"] * 18 + ["watermark"] * 4
    assert [name for name, _ in failures] == ["marks/broken.png"]
    assert found[0][0] == 1
    assert problems == []
    assert calibration_of("catalogue.db") is not None
    assert entries[16]["file"] == "marks/Ochsenkopf – Briquet 15,062.png"
    assert entries[0]["colour_of_the_ink"] == "=sepia"
    assert Path("catalogue.db").read_bytes() == before
    with Catalogue("catalogue.db") as catalogue:
        assert catalogue.schema == 1


def test_migration_changes_no_answer_and_keeps_a_copy(folder):
    before, content = answers("catalogue.db"), Path("catalogue.db").read_bytes()
    known = calibration_of("catalogue.db")
    copy = Catalogue.migrate("catalogue.db")
    assert copy == folder / "catalogue.db.schema1.bak"
    assert answers("catalogue.db") == before
    assert calibration_of("catalogue.db") == known
    assert answers(copy) == before
    with Catalogue("catalogue.db") as catalogue:
        assert catalogue.schema == schema.VERSION
    assert Catalogue.migrate("catalogue.db") is None
    shutil.copy(copy, "again.db")
    assert Path("again.db").stat().st_size == len(content)


def test_migrated_files_have_the_structure_of_new_ones(folder):
    Catalogue.migrate("catalogue.db")
    Catalogue("new.db", create=True).close()

    def structure(path):
        with closing(sqlite3.connect(path)) as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
            described = {table: db.execute(f"PRAGMA table_info ({table})").fetchall() for table in tables}
            indexes = db.execute("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name").fetchall()
            references = {table: db.execute(f"PRAGMA foreign_key_list ({table})").fetchall() for table in tables}
            return {t: {row[1:] for row in rows} for t, rows in described.items()}, indexes, references

    (tables, *rest), (new_tables, *new_rest) = structure("catalogue.db"), structure("new.db")
    tables["metadata"] = {row for row in tables["metadata"] if row[0] != "colour_of_the_ink"}
    assert tables == new_tables
    assert rest == new_rest


@pytest.mark.parametrize(
    "write",
    [
        lambda catalogue: catalogue.add("marks/00.png"),
        lambda catalogue: catalogue.remove([3]),
        lambda catalogue: catalogue.update("marks.csv"),
        lambda catalogue: catalogue.set(3, motif="ox"),
    ],
    ids=["add", "remove", "update", "set"],
)
def test_whoever_writes_migrates(folder, write):
    with Catalogue("catalogue.db", write=True) as catalogue:
        write(catalogue)
        assert catalogue.schema == schema.VERSION
        assert catalogue.check() == []
    assert Path("catalogue.db.schema1.bak").exists()


def test_numbers_of_removed_entries_are_not_given_again(folder):
    """The fixture once had entries up to 32, and a migration must not forget that."""
    change("catalogue.db", "DELETE FROM entries WHERE id = 32")
    change("catalogue.db", "DELETE FROM metadata WHERE entry = 32")
    change("catalogue.db", "DELETE FROM descriptors WHERE entry = 32")
    with Catalogue("catalogue.db", write=True) as catalogue:
        catalogue.add("photographs/3.png", kind="watermark")
        assert max(entry["entry"] for entry in catalogue.entries()) == 33


def test_the_old_name_of_a_kind_means_the_same(folder):
    """Entries that were read with the kind "photo" count as read with "watermark"."""
    with Catalogue("catalogue.db", write=True) as catalogue:
        assert catalogue.add("photographs", kind="watermark").different_options == 0
        assert catalogue.add("photographs", kind="drawing").different_options == 4


def test_a_step_that_fails_changes_nothing(folder, monkeypatch):
    content = Path("catalogue.db").read_bytes()
    step, done = migration._sign, []

    def failing(db, table, rows):
        step(db, table, rows)
        done.append(table.name)
        if table is schema.SETTINGS:
            raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(migration, "_sign", failing)
        with pytest.raises(OSError, match="disk is full"):
            Catalogue.migrate("catalogue.db")
    assert done[-1] == "settings"
    assert Path("catalogue.db").read_bytes() == content
    assert Catalogue.migrate("catalogue.db") == folder / "catalogue.db.schema1.bak"


def test_a_copy_that_cannot_be_made_leaves_nothing_behind(folder, monkeypatch):
    content = Path("catalogue.db").read_bytes()

    def full(*_):
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(migration.os, "replace", full)
        with pytest.raises(OSError, match="no space left"):
            Catalogue.migrate("catalogue.db")
    assert Path("catalogue.db").read_bytes() == content
    assert not [path for path in folder.iterdir() if "bak" in path.name or path.name.startswith(".")]


def test_other_copies_are_not_overwritten(folder):
    """Copies of the same file are replaced, and what a killed process left is deleted."""
    original = Path("catalogue.db").read_bytes()
    Path("catalogue.db.bak.part").write_text("a copy that is not whole", encoding="utf-8")
    Path("catalogue.db.bak.part-journal").write_text("its journal", encoding="utf-8")
    first = Catalogue.migrate("catalogue.db")
    Path("catalogue.db").write_bytes(original)
    assert Catalogue.migrate("catalogue.db") == first
    Path("catalogue.db").write_bytes(original)
    change("catalogue.db", "DELETE FROM failures")
    assert Catalogue.migrate("catalogue.db") == folder / "catalogue.db.schema1.bak2"
    assert sorted(path.name for path in folder.glob("catalogue.db*")) == [
        "catalogue.db",
        "catalogue.db.schema1.bak",
        "catalogue.db.schema1.bak2",
    ]


@pytest.mark.parametrize("statement", ["UPDATE summaries SET id = 2", "UPDATE summaries SET arrays = 'text'"])
def test_wrong_summaries_do_not_stop_a_migration(folder, statement):
    with closing(sqlite3.connect("catalogue.db")) as db, db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute(statement)
    Catalogue.migrate("catalogue.db")
    with Catalogue("catalogue.db", write=True) as catalogue:
        assert catalogue.search("marks/00.png").matches[0].entry == 1
        catalogue.add("marks/00.png")
        assert catalogue.check() == []


def test_large_tables_are_migrated_in_chunks(folder, monkeypatch):
    before = answers("catalogue.db")
    monkeypatch.setattr(migration, "CHUNK_ROWS", 3)
    Catalogue.migrate("catalogue.db")
    assert answers("catalogue.db") == before


def test_readers_go_on_while_another_process_migrates(folder):
    with Catalogue("catalogue.db") as reader:
        before = reader.entries()
        with reader._store.snapshot() as snapshot:
            assert snapshot.version == 1
        Catalogue.migrate("catalogue.db")
        assert reader.entries() == before
        assert reader.schema == schema.VERSION


def test_damaged_rows_of_old_files_are_refused(folder):
    change("catalogue.db", "UPDATE entries SET width = -3 WHERE id = 2")
    with Catalogue("catalogue.db") as catalogue:
        with pytest.raises(CatalogueError, match=r"entry 2 is damaged: entries: 'width' must be .* got -3"):
            catalogue.entries()
        assert next(problem.entry for problem in catalogue.check()) == 2
        assert catalogue.entry(3)["entry"] == 3


def test_what_cannot_be_migrated_is_refused(tmp_path):
    with pytest.raises(CatalogueError, match="there is no such catalogue"):
        Catalogue.migrate(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("not a database, " * 100, encoding="utf-8")
    with pytest.raises(CatalogueError, match="is not a catalogue"):
        Catalogue.migrate(tmp_path / "text.db")


def test_update_summaries_old_files_are_used(folder):
    from radoncdt.catalogue.index import load_summaries

    with Catalogue("catalogue.db") as catalogue, catalogue._store.snapshot() as snapshot:
        found = load_summaries(snapshot)
        assert found is not None
        np.testing.assert_array_equal(found.numbers, snapshot.numbers())


def test_the_command_migrates_once(folder, capsys):
    assert run("catalogue", "migrate", "catalogue.db") == 0
    assert capsys.readouterr().out == (
        f"catalogue.db: migrated to schema 2; the old file is kept as {folder}/catalogue.db.schema1.bak\n"
    )
    assert run("catalogue", "migrate", "catalogue.db") == 0
    assert capsys.readouterr().out == "catalogue.db: already has the newest schema\n"
    assert run("catalogue", "migrate", "none.db") == 2
    assert "there is no such catalogue" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ("add", "catalogue.db", "marks/00.png"),
        ("remove", "catalogue.db", 3),
        ("update", "catalogue.db", "--metadata", "marks.csv"),
    ],
    ids=lambda command: command[0],
)
def test_commands_that_write_say_that_they_migrate(folder, command, capsys):
    assert run("catalogue", *command) == 0
    assert "migrated to schema 2; the old file is kept as" in capsys.readouterr().err
    assert run("catalogue", "check", "catalogue.db") == 0


def test_searches_do_not_migrate(folder, capsys):
    before = Path("catalogue.db").read_bytes()
    assert run("search", "catalogue.db", "marks/00.png", "--report", "found.html") == 0
    assert capsys.readouterr().out.splitlines()[0].split()[:3] == ["1", "entry", "1"]
    assert Path("catalogue.db").read_bytes() == before
    assert not Path("catalogue.db.schema1.bak").exists()

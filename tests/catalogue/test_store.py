"""The file of a catalogue: concurrent processes, full disks, links, empty files, files that are not catalogues."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import MARKS, SCHEMA1, change, checked_content, content, save, save_marks

from radoncdt.catalogue import Catalogue, CatalogueError


def test_two_writers_lose_nothing(many, tmp_path):
    path = tmp_path / "two.db"
    save_marks(tmp_path / "others", 12)
    for k in range(12):
        save(tmp_path / "others" / f"{k:03}.png", MARKS[k].image()[::-1])
    code = "import sys; from radoncdt.catalogue import Catalogue, importer; importer.BATCH_SIZE = 2\n" + (
        "with Catalogue(sys.argv[1], create=True) as c: c.add(sys.argv[2], n_jobs=1)"
    )
    folders = (many / "marks", tmp_path / "others")
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path), str(folder)]) for folder in folders]
    assert [process.wait() for process in processes] == [0, 0]
    with Catalogue(path) as catalogue:
        assert catalogue.check() == []
        assert len(catalogue) == 36


def test_a_full_disk_harms_nothing(many, tmp_path, capsys, monkeypatch):
    """As many pages as the file may have, which SQLite reports as it does a full disk."""
    path = tmp_path / "m.db"
    with Catalogue(path, create=True) as catalogue:
        catalogue.add([many / "marks" / f"{k:03}.png" for k in range(6)], metadata=many / "marks.csv")
    before = checked_content(path)
    connect = sqlite3.connect

    def full(*arguments, **options):
        db = connect(*arguments, **options)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}")
        return db

    monkeypatch.setattr(sqlite3, "connect", full)
    assert run("catalogue", "add", path, many / "marks") == 2
    assert "(database or disk is full); previously stored entries are unharmed" in capsys.readouterr().err
    monkeypatch.undo()
    assert checked_content(path) == before
    with Catalogue(path, write=True) as catalogue:
        catalogue.add(many / "marks", metadata=many / "marks.csv")
    assert checked_content(path) == checked_content(many / "reference" / "whole.db")


def test_databases_of_other_programs_are_refused(tmp_path, many, capsys):
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE holiday (photo)")
    db.close()
    before = (tmp_path / "other.db").read_bytes()
    assert run("catalogue", "add", tmp_path / "other.db", many / "marks") == 2
    assert "is a database, but not a catalogue of radoncdt" in capsys.readouterr().err
    assert (tmp_path / "other.db").read_bytes() == before


def test_newer_catalogues_are_refused(tmp_path, many, capsys):
    path = tmp_path / "new.db"
    Catalogue(path, create=True).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    for command in (("catalogue", "add", path, many / "marks"), ("catalogue", "list", path), ("search", path, "x.png")):
        assert run(*command) == 2
        assert "was written by a newer radoncdt (schema 99" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_files_that_are_not_databases_are_refused(tmp_path, many, capsys):
    (tmp_path / "text.db").write_text("this is not a database, " * 100, encoding="utf-8")
    (tmp_path / "cut.db").write_bytes((many / "reference" / "whole.db").read_bytes()[:5000])
    (tmp_path / "folder.db").mkdir()
    for name in ("text.db", "folder.db"):
        assert run("catalogue", "add", tmp_path / name, many / "marks") == 2
    assert run("catalogue", "check", tmp_path / "cut.db") in (1, 2)
    assert (tmp_path / "text.db").read_text(encoding="utf-8").startswith("this is not a database")
    with pytest.raises(CatalogueError, match="there is no such catalogue"):
        Catalogue(tmp_path / "missing.db")


@pytest.mark.parametrize("version", [1, 2])
def test_bytes_that_changed_are_found_or_do_not_matter(tmp_path, version):
    """A damaged file never raises anything but errors of ours. The file is the same in every run."""
    path = tmp_path / "damaged.db"
    shutil.copy(SCHEMA1 / "catalogue.db", path)
    if version == 2:
        Catalogue.migrate(path)
    data, rng = path.read_bytes(), np.random.default_rng(version)
    for _ in range(60):
        changed = bytearray(data)
        for place in rng.integers(len(data), size=20):
            changed[place] = int(rng.integers(256))
        path.write_bytes(bytes(changed))
        with suppress(CatalogueError, OSError), Catalogue(path) as catalogue:
            catalogue.check()
            for method in (catalogue.entries, catalogue.failures, catalogue.open):
                with suppress(CatalogueError, OSError):
                    method()


def test_a_closed_catalogue_says_so(stored):
    catalogue = Catalogue("marks.db")
    catalogue.close()
    with pytest.raises(CatalogueError, match="was closed"):
        catalogue.entries()


def test_a_catalogue_that_is_read_is_not_changed(stored):
    with Catalogue("marks.db") as catalogue, pytest.raises(CatalogueError, match="opened for reading only"):
        catalogue.remove([1])


def test_refused_files_are_closed(stored, monkeypatch):
    opened = []
    connect = sqlite3.connect

    def noted(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    change("marks.db", "PRAGMA user_version = 99")
    with pytest.raises(CatalogueError, match="newer"):
        Catalogue("marks.db")
    for db in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")


def test_a_link_to_a_catalogue_is_the_catalogue(stored, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = elsewhere / "link.db"
    link.symlink_to(stored / "marks.db")
    before = content("marks.db")
    with Catalogue(link, write=True) as catalogue:
        assert catalogue.check() == []
        assert catalogue.add(stored / "marks")[:2] == (0, 12)
        assert catalogue.path == stored / "marks.db"
    assert content("marks.db") == before
    assert [path.name for path in elsewhere.iterdir()] == ["link.db"]


def test_folders_that_are_links_are_what_they_lead_to(stored, tmp_path_factory):
    linked = tmp_path_factory.mktemp("elsewhere") / "linked"
    linked.symlink_to(stored, target_is_directory=True)
    save(stored / "marks" / "new.png", MARKS[20].image())
    with Catalogue(linked / "marks.db", write=True) as catalogue:
        catalogue.add(linked / "marks")
        assert catalogue.entry(13)["file"] == "marks/new.png"


@pytest.mark.parametrize("command", ["list", "check", "export", "search", "remove", "update", "add"])
def test_an_empty_file_is_an_empty_catalogue(stored, command, capsys):
    """Such as a process leaves that is killed before its first commit."""
    Path("empty.db").touch()
    more = {"export": ["out.csv"], "search": ["marks/000.png"], "remove": [1], "update": ["--metadata", "marks.csv"]}
    name = ["search"] if command == "search" else ["catalogue", command]
    status = run(*name, "empty.db", *more.get(command, ["marks"] if command == "add" else []))
    out, err = capsys.readouterr()
    expected = {"search": (2, "has no entries"), "remove": (2, "there is no entry 1"), "update": (1, "")}
    assert (status, expected.get(command, (0, ""))[1] in err) == (expected.get(command, (0, ""))[0], True)
    if command == "add":
        assert "12 added" in out


def test_an_empty_file_that_is_opened_for_changes_keeps_them(stored):
    Path("empty.db").touch()
    with Catalogue("empty.db", write=True) as catalogue:
        assert catalogue.add("marks").added == len(catalogue) == 12
    with Catalogue("empty.db") as catalogue:
        assert len(catalogue) == 12
        assert catalogue.check() == []


def test_a_search_leaves_an_empty_file_as_it_is(stored):
    Path("empty.db").touch()
    assert run("search", "empty.db", "marks/000.png") == 2
    assert Path("empty.db").stat().st_size == 0


def test_an_empty_file_may_be_filled_meanwhile(stored):
    Path("empty.db").touch()
    with Catalogue("empty.db") as reader:
        assert len(reader) == 0
        with Catalogue("empty.db", create=True) as writer:
            writer.add("marks/000.png")
        assert len(reader) == 1


@pytest.mark.parametrize("lose", [lambda path: path.rename(path.with_suffix(".moved")), Path.unlink])
def test_a_file_that_disappears_is_not_created_again(tmp_path, lose):
    save_marks(tmp_path / "marks", 3)
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks" / "00.png")
        lose(tmp_path / "m.db")
        with pytest.raises(CatalogueError, match=r"m\.db"):
            catalogue.add(tmp_path / "marks")
    assert not (tmp_path / "m.db").exists()

"""Whatever happens, a catalogue stays whole: killed processes, two writers, full disks, hostile files."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import MARKS, content, save, save_marks
from PIL import Image

from radoncdt.catalogue import Catalogue, CatalogueError, connection
from radoncdt.catalogue.importer import Processes, Task
from radoncdt.catalogue.store import SETTINGS, Failure
from radoncdt.ink import InkOptions

OLD = Path(__file__).parent / "data" / "schema1" / "catalogue.db"


def checked_content(path):
    with Catalogue(path) as catalogue:
        assert catalogue.check() == []
    return content(path)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder of marks, and what a catalogue of it has."""
    folder = tmp_path_factory.mktemp("many")
    save_marks(folder / "marks", 24)
    (folder / "marks" / "bad.png").write_text("no image")
    (folder / "reference").mkdir()
    with Catalogue(folder / "reference" / "whole.db", create=True) as catalogue:
        catalogue.add(folder / "marks", metadata=folder / "marks.csv")
    return folder


class Deadly(str):
    """A name that ends the process that is given it."""

    def __reduce__(self):
        return os._exit, (9,)


def examined(folder, names, deadly, chunk):
    """Files whose reading ends a process, among others, given to processes some at a time."""
    chosen = [Deadly(name) if k in deadly else name for k, name in enumerate(names)]
    parts = [chosen[k : k + chunk] for k in range(0, len(chosen), chunk)]
    tasks = [Task(tuple((name, "hash") for name in part), InkOptions(), SETTINGS, folder) for part in parts]
    return [result for results in Processes(2).examine(tasks) for result in results]


@pytest.mark.parametrize(("chunk", "deadly"), [(1, [5]), (8, [0, 9, 10, 23])])
def test_images_that_end_a_process_are_refused_and_the_rest_goes_on(many, chunk, deadly):
    files = sorted((many / "marks").glob("0*.png"))
    results = examined(many, [str(file) for file in files], deadly, chunk)
    assert [result.file for result in results] == [f"marks/{file.name}" for file in files]
    assert [k for k, result in enumerate(results) if isinstance(result, Failure)] == deadly
    assert results[deadly[0]].reason == "reading it ended the process, most likely for want of memory"


def test_processes_that_always_end_are_given_up(many):
    names = [str(file) for file in sorted((many / "marks").glob("0*.png"))]
    with pytest.raises(MemoryError, match="ended again and again, most likely for want of memory"):
        examined(many, names, range(24), 8)


def test_an_interrupt_keeps_what_was_done(many, tmp_path, monkeypatch):
    from radoncdt.catalogue import importer

    examine, done = importer.examine, []

    def interrupted(task):
        if len(done) == 10:
            raise KeyboardInterrupt
        done.append(task)
        return examine(task)

    monkeypatch.setattr(importer, "examine", interrupted)
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        with pytest.raises(KeyboardInterrupt):
            catalogue.add(many / "marks", n_jobs=1)
        assert len(catalogue) == 10
    monkeypatch.undo()
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        assert catalogue.add(many / "marks", metadata=many / "marks.csv")[:2] == (14, 10)
    assert checked_content(tmp_path / "m.db") == checked_content(many / "reference" / "whole.db")


def test_two_writers_lose_nothing(many, tmp_path):
    path = tmp_path / "two.db"
    save_marks(tmp_path / "others", 12)
    for k in range(12):
        save(tmp_path / "others" / f"{k:03}.png", MARKS[k].image()[::-1])
    code = "import sys; from radoncdt.catalogue import Catalogue, importer; importer.BATCH = 2\n" + (
        "with Catalogue(sys.argv[1], create=True) as c: c.add(sys.argv[2], n_jobs=1)"
    )
    folders = (many / "marks", tmp_path / "others")
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path), str(folder)]) for folder in folders]
    assert [process.wait() for process in processes] == [0, 0]
    with Catalogue(path) as catalogue:
        assert catalogue.check() == []
        assert len(catalogue) == 36


def test_a_writer_that_waits_too_long_says_so(many, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(connection, "WAIT", 0.05)
    path = tmp_path / "m.db"
    Catalogue(path, create=True).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert run("catalogue", "add", path, many / "marks") == 2
    assert "another process has been using it for 0.05 seconds; try again later" in capsys.readouterr().err
    other.execute("ROLLBACK")
    other.close()
    assert run("catalogue", "add", path, many / "marks", "--metadata", many / "marks.csv") == 1
    assert checked_content(path) == checked_content(many / "reference" / "whole.db")


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
    assert "cannot be written (database or disk is full); what was stored before is unharmed" in capsys.readouterr().err
    monkeypatch.undo()
    assert checked_content(path) == before
    with Catalogue(path, write=True) as catalogue:
        catalogue.add(many / "marks", metadata=many / "marks.csv")
    assert checked_content(path) == checked_content(many / "reference" / "whole.db")


# ---------------------------------------------------------------- files that are no catalogues


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


def test_files_that_are_no_databases_are_refused(tmp_path, many, capsys):
    (tmp_path / "text.db").write_text("this is no database, " * 100)
    (tmp_path / "cut.db").write_bytes((many / "reference" / "whole.db").read_bytes()[:5000])
    (tmp_path / "folder.db").mkdir()
    for name in ("text.db", "folder.db"):
        assert run("catalogue", "add", tmp_path / name, many / "marks") == 2
    assert run("catalogue", "check", tmp_path / "cut.db") in (1, 2)
    assert (tmp_path / "text.db").read_text().startswith("this is no database")
    with pytest.raises(CatalogueError, match="there is no such catalogue"):
        Catalogue(tmp_path / "missing.db")


@pytest.mark.parametrize("version", [1, 2])
def test_bytes_that_changed_are_found_or_do_not_matter(tmp_path, version):
    """A damaged file never raises anything but errors of ours. The file is the same in every run."""
    path = tmp_path / "damaged.db"
    shutil.copy(OLD, path)
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


# ---------------------------------------------------------------- hostile images


def test_hostile_files_are_refused_one_by_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ['"quoted".png', "it's.png", "two\nlines.png", "водяной знак.png", "透かし.png", "; DROP TABLE entries.png"]
    for k, name in enumerate(names):
        save(Path("marks") / name, MARKS[k].image())
    os.rename(save("marks/latin.png", MARKS[len(names)].image()), b"marks/caf\xe9.png")
    whole = Path("marks", names[0]).read_bytes()
    Path("marks/truncated.png").write_bytes(whole[: len(whole) // 2])
    Path("marks/text.png").write_text("no image")
    Path("marks/empty.png").touch()
    Path("marks/folder.png").mkdir()
    Path("marks/link.png").symlink_to("gone.png")
    Path("marks/loop.png").symlink_to("loop.png")
    os.mkfifo("marks/pipe.png")
    Image.fromarray(np.zeros((1, 100_000), np.uint8)).save("marks/line.png")
    Image.new("1", (30_000, 30_000)).save("marks/bomb.png")  # 100 kB, 900 million pixels
    secret = save("marks/secret.png", MARKS[20].image())
    secret.chmod(0)
    refused = ["truncated", "text", "empty", "link", "loop", "pipe", "line", "bomb"] + ["secret"] * (os.geteuid() != 0)
    good = len(names) + 1 + (os.geteuid() == 0)
    assert run("catalogue", "add", "marks.db", "marks") == 1
    out, err = capsys.readouterr()
    assert f"{good} added, 0 there already, {len(refused)} refused; {good} entries" in out
    for name in refused:
        assert f"marks/{name}.png: " in err
    assert "\n" not in next(line for line in err.splitlines() if "bomb" in line)
    secret.chmod(0o600)
    with Catalogue("marks.db") as catalogue:
        assert len(catalogue.failures()) == len(refused)
        files = {entry["file"] for entry in catalogue.entries()}
        assert {f"marks/{name}" for name in names} <= files
        for k, name in enumerate(names):
            assert catalogue.search(Path("marks") / name, top=1).matches[0].file == f"marks/{name}", k
    for action in (("list", "marks.db"), ("export", "marks.db", "out.csv"), ("export", "marks.db", "out.json")):
        assert run("catalogue", *action) == 0
    assert run("search", "marks.db", "marks", "--report", "r.html", "--csv", "r.csv") == 1

"""Adding images to a catalogue."""

import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import MARKS, checked_content, content, save, save_marks
from numpy.testing import assert_array_equal
from PIL import Image

import radoncdt
from radoncdt.catalogue import Catalogue, workers


def test_images_are_added_once(folder):
    with Catalogue("marks.db", create=True) as catalogue:
        assert catalogue.add("marks")[:2] == (12, 0)
        assert catalogue.add("marks")[:2] == (0, 12)
        (folder / "copies").mkdir()
        (folder / "copies" / "other.png").write_bytes((folder / "marks" / "003.png").read_bytes())
        assert catalogue.add("copies")[:2] == (0, 1)  # content counts, not names
        assert len(catalogue) == 12
        assert [entry["entry"] for entry in catalogue.entries()] == list(range(1, 13))


def test_a_catalogue_does_not_depend_on_how_it_was_made(folder):
    def made(path, *calls, **options):
        with Catalogue(path, create=True) as catalogue:
            for images in calls:
                catalogue.add(images, metadata="marks.csv", **options)
        return content(path)

    files = sorted((folder / "marks").iterdir())
    relative = [file.relative_to(folder) for file in files]
    whole = made("a.db", "marks", n_jobs=1)
    assert made("b.db", "marks", n_jobs=2) == whole
    assert made("c.db", relative[:5], "marks") == whole
    assert made("d.db", relative[:5], relative[5:8], relative[3:9], "marks", n_jobs=3) == whole


def test_no_processes_are_refused(tmp_path):
    files, _ = save_marks(tmp_path / "marks", 2)
    with (
        Catalogue(tmp_path / "m.db", create=True) as catalogue,
        pytest.raises(ValueError, match="`n_jobs` must not be"),
    ):
        catalogue.add(files, n_jobs=0)


def test_descriptors_are_those_of_the_ink(made):
    ink = radoncdt.ink.read_ink("marks/004.png", kind="drawing")
    with made._store.snapshot() as snapshot:
        settings, stored = snapshot.settings, snapshot.descriptors([5])
    expected = radoncdt.describe(ink, **asdict(settings))
    assert_array_equal(stored.values, expected.values.astype(np.float16).astype(np.float32))
    assert_array_equal(stored.covariances, expected.covariances)
    assert_array_equal(stored.frames, expected.frames)


def test_a_bad_file_is_noted_and_the_rest_goes_on(folder, capsys):
    (folder / "marks" / "bad.png").write_text("no image", encoding="utf-8")
    assert run("catalogue", "add", "marks.db", "marks") == 1
    out, err = capsys.readouterr()
    assert "marks.db: 12 added, 0 already present, 1 refused; 12 entries" in out
    assert "marks/bad.png: unrecognised image format" in err
    assert run("catalogue", "list", "marks.db", "--failures") == 0
    assert "marks/bad.png: unrecognised image format" in capsys.readouterr().out
    save("marks/bad.png", MARKS[20].image())
    assert run("catalogue", "add", "marks.db", "marks") == 0
    assert "1 added, 12 already present, 0 refused; 13 entries" in capsys.readouterr().out
    with Catalogue("marks.db") as catalogue:
        assert catalogue.failures() == []


def test_nothing_to_add_is_refused(folder, capsys):
    (folder / "empty").mkdir()
    assert run("catalogue", "add", "marks.db", "empty") == 2
    assert "DIR must be image files, or folders that contain some, got empty" in capsys.readouterr().err
    assert run("catalogue", "add", "marks.db", "missing") == 2
    assert run("catalogue", "add", "marks.db", "marks", "--metadata", "missing.csv") == 2
    assert not (folder / "marks.db").exists()
    assert run("catalogue", "add", "nowhere/marks.db", "marks") == 2
    assert "must be in a folder that exists" in capsys.readouterr().err
    assert run("catalogue", "add", "marks.db", "marks", "--jobs", 0) == 2


def test_pages_that_were_left_out_are_noted(folder):
    pages = [Image.fromarray(np.uint8(255 - 255 * MARKS[k].image())) for k in (20, 21)]
    pages[0].save("marks/pages.tif", save_all=True, append_images=pages[1:])
    with Catalogue("marks.db", create=True) as catalogue:
        catalogue.add("marks/pages.tif")
        assert catalogue.entries()[0]["note"] == "only the first of 2 pages is read"


def test_of_copies_the_first_line_counts_always(folder):
    (folder / "marks" / "copy.png").write_bytes((folder / "marks" / "001.png").read_bytes())
    (folder / "t.csv").write_text("file,motif\n001,first\ncopy,second\n", encoding="utf-8")
    with Catalogue("marks.db", create=True) as catalogue:
        for _ in range(2):
            assert sum(catalogue.add("marks", metadata="t.csv")[:2]) == 13
            assert catalogue.entry(2)["motif"] == "first"


def test_copies_of_bad_files_are_refused_each(folder):
    for name in ("x.png", "y.png"):
        (folder / "marks" / name).write_text("no image", encoding="utf-8")
    with Catalogue("marks.db", create=True) as catalogue:
        assert len(catalogue.add("marks").failures) == 2
        assert [file for file, _ in catalogue.failures()] == ["marks/x.png", "marks/y.png"]
        (folder / "marks" / "x.png").write_bytes((folder / "marks" / "001.png").read_bytes())
        assert len(catalogue.add("marks").failures) == 1
        assert [file for file, _ in catalogue.failures()] == ["marks/y.png"]


def test_entries_follow_their_files(folder):
    with Catalogue("marks.db", create=True) as catalogue:
        catalogue.add("marks")
        (folder / "marks").rename(folder / "drawings")
        assert len(catalogue.check()) == 12
        assert catalogue.add("drawings")[:2] == (0, 12)
        assert catalogue.check() == []
        assert catalogue.entry(1)["file"] == "drawings/000.png"


def test_other_options_for_what_is_there_are_noticed(folder, capsys):
    assert run("catalogue", "add", "marks.db", "marks") == 0
    assert run("catalogue", "add", "marks.db", "marks", "--threshold", 0.8) == 0
    assert "12 existing entries were read with different options" in capsys.readouterr().err


def test_adding_again_changes_metadata_only(folder, capsys):
    assert run("catalogue", "add", "marks.db", "marks") == 0
    assert run("catalogue", "add", "marks.db", "marks", "--metadata", "marks.csv") == 0
    assert "0 added, 12 already present" in capsys.readouterr().out
    with Catalogue("marks.db") as catalogue:
        assert catalogue.entry(12)["motif"] == MARKS[11].motif


def test_an_interrupt_keeps_what_was_done(many, tmp_path, monkeypatch):
    read_images, done = workers.read_images, []

    def interrupted(task):
        if len(done) == 10:
            raise KeyboardInterrupt
        done.append(task)
        return read_images(task)

    monkeypatch.setattr(workers, "read_images", interrupted)
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        with pytest.raises(KeyboardInterrupt):
            catalogue.add(many / "marks", n_jobs=1)
        assert len(catalogue) == 10
    monkeypatch.undo()
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        assert catalogue.add(many / "marks", metadata=many / "marks.csv")[:2] == (14, 10)
    assert checked_content(tmp_path / "m.db") == checked_content(many / "reference" / "whole.db")


def test_hostile_files_are_refused_one_by_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = ['"quoted".png', "it's.png", "two\nlines.png", "водяной знак.png", "透かし.png", "; DROP TABLE entries.png"]
    for k, name in enumerate(names):
        save(Path("marks") / name, MARKS[k].image())
    os.rename(save("marks/latin.png", MARKS[len(names)].image()), b"marks/caf\xe9.png")
    whole = Path("marks", names[0]).read_bytes()
    Path("marks/truncated.png").write_bytes(whole[: len(whole) // 2])
    Path("marks/text.png").write_text("no image", encoding="utf-8")
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
    assert f"{good} added, 0 already present, {len(refused)} refused; {good} entries" in out
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

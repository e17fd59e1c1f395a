"""The command catalogue: calibration at the end of add, regions, opening, and wrong calls."""

import re
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import MARKS, save, save_marks

from radoncdt import datasets
from radoncdt.catalogue import Catalogue

NOTE = (
    "The catalogue is not calibrated, or its calibration is outdated, so there are no p-values; "
    "run `radoncdt catalogue calibrate m.db`."
)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A folder of 31 marks."""
    folder = tmp_path_factory.mktemp("marks")
    marks = datasets.watermarks(31, seed=3)
    for i in range(31):
        save(folder / f"{i:03}.png", marks[i].image())
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def calibrations(monkeypatch):
    """The numbers of threads of calibrations, which use fewer marks here than otherwise."""
    calibrate, calls = Catalogue.calibrate, []

    def calibrate_with_few(self, *, n_jobs, on_progress):
        calls.append(n_jobs)
        return calibrate(self, n_marks=20, n_jobs=n_jobs, on_progress=on_progress)

    monkeypatch.setattr(Catalogue, "calibrate", calibrate_with_few)
    return calls


def is_calibrated(path="m.db"):
    with Catalogue(path) as catalogue:
        return catalogue.calibrated


# ---------------------------------------------------------------- calibration


def test_add_calibrates_once(folder, images, calibrations, capsys):
    assert run("catalogue", "add", "m.db", images, "--jobs", 2) == 0
    assert capsys.readouterr().out.splitlines() == [
        "m.db: 31 added, 0 already present, 0 refused; 31 entries",
        "m.db: calibrated with 20 marks",
    ]
    assert calibrations == [2]
    assert is_calibrated()
    assert run("catalogue", "add", "m.db", images) == 0
    assert capsys.readouterr().out == "m.db: 0 added, 31 already present, 0 refused; 31 entries\n"
    assert calibrations == [2]


def test_add_does_not_calibrate_on_request(folder, images, calibrations, capsys):
    assert run("catalogue", "add", "m.db", images, "--no-calibrate") == 0
    assert capsys.readouterr().err == f"radoncdt: {NOTE}\n"
    assert calibrations == []
    assert not is_calibrated()
    assert run("catalogue", "add", "m.db", images) == 0  # nothing is added, and the calibration is missing
    assert is_calibrated()


def test_add_recalibrates_an_outdated_catalogue(folder, images, calibrations, capsys):
    assert run("catalogue", "add", "m.db", images) == 0
    save_marks("more", 24)
    with Catalogue("m.db", write=True) as catalogue:
        catalogue.remove(range(1, 21))
    assert not is_calibrated()
    assert run("catalogue", "add", "m.db", "more") == 0
    assert "calibrated with" in capsys.readouterr().out
    assert len(calibrations) == 2
    assert is_calibrated()


def test_small_catalogues_are_not_calibrated(folder, calibrations, capsys):
    save_marks("marks", 3)
    for more in ([], ["--no-calibrate"]):
        assert run("catalogue", "add", "m.db", "marks", *more) == 0
        assert capsys.readouterr().err == ""
    assert calibrations == []


def test_an_interrupted_calibration_loses_no_image(folder, images, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Catalogue, "calibrate", interrupt)
    assert run("catalogue", "add", "m.db", images) == 130
    out, err = capsys.readouterr()
    assert out == "m.db: 31 added, 0 already present, 0 refused; 31 entries\n"
    assert err == f"radoncdt: interrupted; the images are stored. {NOTE}\n"
    with Catalogue("m.db") as catalogue:
        assert len(catalogue) == 31
        assert catalogue.check() == []


def test_a_refused_image_does_not_stop_the_calibration(folder, images, calibrations):
    (folder / "bad.png").write_text("no image", encoding="utf-8")
    assert run("catalogue", "add", "m.db", images, "bad.png") == 1
    assert is_calibrated()


# ---------------------------------------------------------------- regions


def test_add_reads_a_region_and_stores_it(folder, capsys):
    left, right = MARKS[0].image(), MARKS[1].image()
    save("alone/a.png", left)
    save("both/a.png", np.hstack([left, right]))
    height, width = left.shape
    save("mask.png", 1 - np.hstack([np.ones_like(left), np.zeros_like(right)]))
    assert run("catalogue", "add", "alone.db", "alone") == 0
    assert run("catalogue", "add", "roi.db", "both", "--roi", f"0,0,{width},{height}") == 0
    assert run("catalogue", "add", "mask.db", "both", "--mask", "mask.png") == 0
    capsys.readouterr()
    pictures = []
    for name in ("alone.db", "roi.db", "mask.db"):
        with Catalogue(name) as catalogue:
            pictures.append(catalogue.thumbnail(1))
    assert pictures == [pictures[0]] * 3
    assert run("catalogue", "show", "roi.db", 1) == 0
    assert f"ink options        kind drawing, ink auto, roi (0, 0, {width}, {height})\n" in capsys.readouterr().out
    assert run("catalogue", "show", "mask.db", 1) == 0
    assert f"mask {folder / 'mask.png'}\n" in capsys.readouterr().out
    assert run("catalogue", "add", "roi.db", "both") == 0
    assert "1 existing entries were read with different options" in capsys.readouterr().err
    assert run("catalogue", "add", "roi.db", "both", "--roi", f"0,0,{width},{height}") == 0
    assert capsys.readouterr().err == ""


def test_a_region_beyond_an_image_is_noted(folder, capsys):
    save("marks/a.png", MARKS[0].image())
    assert run("catalogue", "add", "m.db", "marks", "--roi", "5000,0,9,9") == 1
    assert "marks/a.png: the region 5000,0,9,9 contains no pixel" in capsys.readouterr().err


# ---------------------------------------------------------------- wrong calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "new.db", "missing"], "DIR must be a folder or a file, got missing, which does not exist"),
        (["add", "new.db", "empty"], "DIR must be image files, or folders that contain some, got empty"),
        (["add", "new.db", "marks", "--jobs", "0"], "--jobs must not be 0"),
        (["add", "new.db", "marks", "--metadata", "missing.csv"], "missing.csv"),
        (["list", "none.db"], "none.db: there is no such catalogue"),
        (["list", "m.db", "--where", "mtoif = 'crown'"], "--where must be a condition on metadata"),
        (["show", "m.db", "9"], "m.db: there is no entry 9"),
        (["show", "m.db", "x"], "ENTRY must be a whole number, got 'x'"),
        (["show", "m.db", "1", "--picture", "p.jpg"], "--picture must end in .png, got p.jpg"),
        (["remove", "m.db", "9"], "m.db: there is no entry 9"),
        (["remove", "m.db"], "the following arguments are required: ENTRY"),
        (["update", "m.db"], "the following arguments are required: --metadata"),
        (["export", "m.db", "out.txt"], "out.txt: must end in .csv, .json or .npz"),
        (["export", "m.db", "m.db"], "FILE must not replace a file that the command reads, got m.db"),
        (["check", "marks/000.png"], "marks/000.png: is not a catalogue"),
        (["calibrate", "m.db"], "m.db: must have at least 30 entries to be calibrated, got 3"),
        (["calibrate", "m.db", "--marks", "3"], "--marks must be at least 20, got 3"),
        (["migrate", "none.db"], "none.db: there is no such catalogue"),
    ],
)
def test_wrong_calls_are_refused(folder, capsys, arguments, message):
    save_marks("marks", 3)
    (folder / "empty").mkdir()
    with Catalogue("m.db", create=True) as catalogue:
        catalogue.add("marks")
    before = (folder / "m.db").read_bytes()
    assert run("catalogue", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "new.db").exists()
    assert (folder / "m.db").read_bytes() == before


def test_the_commands_that_only_read_do_not_write(folder, capsys):
    save_marks("marks", 3)
    with Catalogue("m.db", create=True) as catalogue:
        catalogue.add("marks")
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.glob("m.db*")}
    for action in (["list", "m.db"], ["show", "m.db", "1"], ["export", "m.db", "out.csv"], ["check", "m.db"]):
        assert run("catalogue", *action) == 0
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.glob("m.db*")} == before


def test_metadata_with_the_name_of_an_option_are_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save("marks/a.png", MARKS[0].image())
    Path("t.csv").write_text("file,ink,picture\na.png,iron gall,yes\n", encoding="utf-8")
    assert run("catalogue", "add", "m.db", "marks", "--metadata", "t.csv") == 0
    assert run("catalogue", "show", "m.db", 1, "--picture", "p.png") == 0
    out = capsys.readouterr().out
    assert re.search("^ink +iron gall$", out, re.M)
    assert re.search("^picture +yes$", out, re.M)
    assert re.search("^ink options +kind drawing, ink auto$", out, re.M)
    assert re.search("^written picture +p.png$", out, re.M)

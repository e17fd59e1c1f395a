"""The command ``classify``."""

import csv

import pytest
from files import run
from marks import MARKS, save
from PIL import Image

CHOSEN = [1, 2, 4]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """One example of three classes, and four queries of each."""
    monkeypatch.chdir(tmp_path)
    for k in CHOSEN:
        save(f"train/class {k}/a.png", MARKS[k].image())
    queries = MARKS.queries(240, rng=3)
    for k in CHOSEN:
        for number, image in enumerate(queries.images[queries.marks == k][:4]):
            save(f"test/class {k}/{number}.png", image)
    return tmp_path


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_example_is_enough(folder, capsys):
    assert run("classify", "train", "test", "--out", "p.csv", "--confusion", "c.png") == 0
    out = capsys.readouterr().out
    assert "12 of    12 right, 1.000" in out
    rows = rows_of("p.csv")
    assert len(rows) == 12
    assert all(row["class"] == row["predicted"] for row in rows)
    assert all(float(row["margin"]) > 1 for row in rows)
    with Image.open("c.png") as picture:
        assert picture.size[0] > 300


def test_unknown_images_get_a_class_and_no_accuracy(folder, capsys):
    save("unknown/x.png", MARKS[2].image()[::-1])
    (folder / "unknown" / "bad.png").write_text("no image")
    assert run("classify", "train", "unknown", "--confusion", "c.png") == 1
    out, err = capsys.readouterr()
    assert "right" not in out
    assert "unrecognised image format" in err
    assert "--confusion draws nothing" in err
    assert [row["predicted"] for row in rows_of("predictions.csv")] == ["class 2"]
    assert not (folder / "c.png").exists()


def test_single_files_are_classified(folder, capsys):
    files = ["test/class 2/0.png", "test/class 4/1.png"]
    assert run("classify", "train", *files, "--out", "p.csv") == 0
    assert capsys.readouterr().out == "p.csv: 2 images, 3 classes\n"
    assert [(row["file"], row["predicted"]) for row in rows_of("p.csv")] == list(zip(files, ["class 2", "class 4"]))


def test_several_neighbours_vote(folder, capsys):
    for k in (2, 4):
        save(f"train/class 1/{k}.png", MARKS[k].image())
        save(f"train/class 1/{k} again.png", MARKS[k].image()[::-1])
    assert run("classify", "train", "test/class 2/0.png", "--out", "p.csv", "--neighbors", 3) == 0
    assert rows_of("p.csv")[0]["predicted"] == "class 1"  # by two votes of three
    assert run("classify", "train", "test", "--neighbors", 8) == 2
    assert "--neighbors must be at most 7, the number of examples, got 8" in capsys.readouterr().err


def test_files_are_copied_to_folders_of_classes(folder, capsys):
    assert run("classify", "train", "test", "--copy-to", "sorted") == 0
    assert "sorted: 12 files copied\n" in capsys.readouterr().out
    for row in rows_of("predictions.csv"):
        copy = folder / "sorted" / row["predicted"] / (folder / row["file"]).name
        assert copy.read_bytes() == (folder / row["file"]).read_bytes()


def test_limits_of_maps_are_obeyed(folder, capsys):
    save("train/mirrored 2/a.png", MARKS[2].image()[:, ::-1])
    save("unknown/x.png", MARKS[2].image()[:, ::-1])
    assert run("classify", "train", "unknown", "--no-mirror") == 0
    assert rows_of("predictions.csv")[0]["predicted"] == "mirrored 2"
    save("train/class 2/a.png", MARKS[2].image()[:, ::2])
    assert run("classify", "train", "unknown", "--max-aspect", 1, "--max-shear", 0) == 0
    assert rows_of("predictions.csv")[0]["predicted"] != "class 2"


def test_images_without_a_plausible_map_have_no_class(folder, capsys):
    save("wide.png", MARKS[2].image()[::4])
    assert run("classify", "train", "wide.png", "--max-aspect", 1, "--copy-to", "sorted") == 0
    assert "predictions.csv: 1 image, 3 classes, 1 without a class\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing", "test"], "TRAIN_DIR must be a folder, got missing"),
        (["empty", "test"], "TRAIN_DIR must have folders with readable images, got empty"),
        (["flat", "test"], "TRAIN_DIR must have folders with readable images, got flat"),
        (["train", "empty"], "TEST must have readable images, got empty"),
        (["train", "missing"], "TEST must be image files or folders that exist, got missing"),
        (["train", "test", "--neighbors", "0"], "--neighbors must be at least 1, got 0"),
        (["train", "test", "--angles", "0"], "--angles must be at least 1, got 0"),
        (["train", "test", "--jobs", "0"], "--jobs must not be 0"),
        (["train", "test", "--threshold", "7"], "--threshold must be a number between 0 and 1"),
        (["train", "test", "--max-shear", "-3"], "--max-shear must be a number from 0 to 90, got -3"),
        (["train", "test", "--copy-to", "flat/a.png"], "--copy-to must be a folder, got the file flat/a.png"),
        (["train", "test", "--confusion", "c.txt"], "--confusion must end in .png, .pdf or .svg, got c.txt"),
        (["train", "test", "--out", "c.png", "--confusion", "c.png"], "--out and --confusion must be two files"),
    ],
)
def test_wrong_calls_are_refused(folder, capsys, arguments, message):
    (folder / "empty").mkdir()
    save("flat/a.png", MARKS[0].image())
    assert run("classify", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "predictions.csv").exists()


@pytest.mark.parametrize("target", ["train", "train/class 1", "test/sorted"])
def test_copies_do_not_go_into_the_folders_that_are_read(folder, capsys, target):
    assert run("classify", "train", "test", "--copy-to", target) == 2
    assert f"--copy-to must not be inside a folder of images, got {target}" in capsys.readouterr().err
    assert not (folder / "predictions.csv").exists()

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


def test_one_example_is_enough(folder, capsys):
    assert run("classify", "train", "test", "--out", "p.csv", "--confusion", "c.png") == 0
    out = capsys.readouterr().out
    assert "12 of    12 right, 1.000" in out
    with open("p.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
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
    with open("predictions.csv", encoding="utf-8", newline="") as file:
        assert [row["predicted"] for row in csv.DictReader(file)] == ["class 2"]
    assert not (folder / "c.png").exists()


def test_invalid_folders_are_refused(folder, capsys):
    (folder / "empty").mkdir()
    save("flat/a.png", MARKS[0].image())
    for wrong in (("missing", "test"), ("empty", "test"), ("flat", "test"), ("train", "empty"), ("train", "missing")):
        assert run("classify", *wrong) == 2, wrong
    assert run("classify", "train", "test", "--confusion", "c.txt") == 2
    assert run("classify", "train", "test", "--threshold", 7) == 2
    assert "--threshold must be a number between 0 and 1" in capsys.readouterr().err
    assert not (folder / "predictions.csv").exists()

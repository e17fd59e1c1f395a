"""The command ``classify``."""

import csv
import re

import numpy as np
import pytest
from files import run
from marks import MARKS, save
from PIL import Image

import radoncdt
from radoncdt.matching.prior import PRIORS

CHOSEN = [1, 2, 4]
NEIGHBORS = "--method", "neighbors"


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
    files = ("--out", "p.csv", "--confusion", "c.png", "--report", "r.html")
    assert run("classify", "train", "test", "--prior", "photograph", *files) == 0
    out = capsys.readouterr().out
    assert "3 examples; classifier: FewShotClassifier; prior: aspect=0.006, bent_aspect=0.3; mirror images:" in out
    assert "too few examples per class to choose from; --prior and --mirror say what you know\n" in out
    assert "12 of    12 right, 1.000" in out
    rows = rows_of("p.csv")
    assert len(rows) == 12
    assert all(row["class"] == row["predicted"] for row in rows)
    assert all(float(row["p"]) > float(row["second_p"]) for row in rows)
    assert "the 10 least certain of 12 predictions:\n" in out
    pattern = r"^(test/.*\.png): (class .), p (0\.\d+); second class ., p 0\.\d+; like (train/.*\.png)$"
    shown = re.findall(pattern, out, re.MULTILINE)
    assert [p for _, _, p, _ in shown] == sorted(f"{float(row['p']):.3f}" for row in rows)[:10]
    table = {row["file"]: (row["predicted"], row["example"]) for row in rows}
    assert all(table[file] == (name, example) for file, name, _, example in shown)
    page = (folder / "r.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert page.count("data:image/png;base64,") == 3 * 12
    with Image.open("c.png") as picture:
        assert picture.size[0] > 300


def test_folders_whose_name_is_not_a_class_are_named(folder, capsys):
    save("test/other/x.png", MARKS[0].image())
    assert run("classify", "train", "test", "--out", "p.csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "1 image not counted, because no class has the name of the folder: other" in lines
    assert any(line.startswith("all") and "of    12 right" in line for line in lines)


def test_what_was_chosen_is_printed(folder, capsys):
    for k in CHOSEN:
        for turn in (1, 2):
            save(f"train/class {k}/{turn}.png", np.rot90(MARKS[k].image(), turn))
    files = ["test/class 2/0.png", "test/class 4/1.png"]
    assert run("classify", "train", *files, "--out", "p.csv", "--moments", "auto") == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert re.fullmatch(
        r"9 examples; classifier: FewShotClassifier; prior: .* \(chosen\); mirror images: .* \(chosen\); "
        r"moments: (exact|robust) \(chosen\)",
        first,
    )
    assert len(rest) == 3  # the predictions, and the table
    assert rest[-1] == "p.csv: 2 images, 3 classes"
    assert [(row["file"], row["predicted"]) for row in rows_of("p.csv")] == list(zip(files, ["class 2", "class 4"]))


def test_neighbours_vote_on_request(folder, capsys):
    assert run("classify", "train", "test", "--method", "neighbors", "--report", "r.html", "--out", "p.csv") == 0
    out = capsys.readouterr().out
    assert "classifier: AffineNeighborsClassifier; neighbours: 1; prior: any map; mirror images: the same" in out
    assert re.search(r"^test/class ./.\.png: class .; margin [\d.]+; second class .; like train/", out, re.MULTILINE)
    for row in rows_of("p.csv"):
        assert row["class"] == row["predicted"]
        assert row["p"] == ""
        assert float(row["margin"]) > 1
    assert "margin" in (folder / "r.html").read_text("utf-8")


def test_the_classifier_gets_all_options(folder, monkeypatch):
    made = []

    def keep(*_, classifier, **__):
        made.append(classifier)
        raise ValueError("enough")

    monkeypatch.setattr("radoncdt.cli.classify.classify_folders", keep)
    for options in (
        (),
        ("--prior", "auto", "--mirror", "auto", "--no-mirror", "--mirror", "no"),
        ("--prior", "0.1,0.2", "--mirror", "yes", "--moments", "exact", "--frame-size", 56, "--angles", 32),
        ("--method", "neighbors"),
        ("--method", "neighbors", "--neighbors", 3, "--prior", "upright", "--max-aspect", 2, "--max-shear", 9),
        ("--method", "neighbors", "--no-mirror", "--moments", "exact", "--levels", 32, "--jobs", 1),
    ):
        with pytest.raises(ValueError, match="enough"):
            run("classify", "train", "test", *options)
    few, neighbours = radoncdt.FewShotClassifier, radoncdt.AffineNeighborsClassifier
    robust = {"moments": "robust", "trim": 1 / 16, "n_jobs": -1}
    prior = radoncdt.MapPrior(aspect=0.1, rotation=0.2, bent_aspect=10, bent_rotation=20)
    for found, expected in zip(
        made,
        [
            few(moments="robust"),
            few(moments="robust", reflections=False),
            few(prior=prior, reflections=True, moments="exact", frame_size=56, n_angles=32),
            neighbours(1, prior=PRIORS["any"], **robust),
            neighbours(3, prior=PRIORS["upright"], max_aspect=2, max_shear=9, **robust),
            neighbours(1, prior=PRIORS["any"], reflections=False, n_levels=32, n_jobs=1),
        ],
        strict=True,
    ):
        assert type(found) is type(expected)
        assert found.get_params() == expected.get_params()


def test_unknown_images_get_a_class_and_no_accuracy(folder, capsys):
    save("unknown/x.png", MARKS[2].image()[::-1])
    (folder / "unknown" / "bad.png").write_text("no image", encoding="utf-8")
    assert run("classify", "train", "unknown", "--confusion", "c.png") == 1
    out, err = capsys.readouterr()
    assert "right" not in out
    assert "unrecognised image format" in err
    assert "--confusion draws nothing" in err
    assert [row["predicted"] for row in rows_of("predictions.csv")] == ["class 2"]
    assert not (folder / "c.png").exists()


def test_several_neighbours_vote(folder, capsys):
    for k in (2, 4):
        save(f"train/class 1/{k}.png", MARKS[k].image())
        save(f"train/class 1/{k} again.png", MARKS[k].image()[::-1])
    voting = ("--method", "neighbors", "--neighbors")
    assert run("classify", "train", "test/class 2/0.png", "--out", "p.csv", *voting, 3) == 0
    row = rows_of("p.csv")[0]
    assert (row["predicted"], row["p"]) == ("class 1", "0.666667")  # by two votes of three
    assert run("classify", "train", "test", *voting, 8) == 2
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
    for options in (("--no-mirror",), ("--mirror", "no"), ("--method", "neighbors", "--no-mirror")):
        assert run("classify", "train", "unknown", *options) == 0
        assert rows_of("predictions.csv")[0]["predicted"] == "mirrored 2"
    save("train/class 2/a.png", MARKS[2].image()[:, ::2])
    options = ("--method", "neighbors", "--max-aspect", 1, "--max-shear", 0)
    assert run("classify", "train", "unknown", *options) == 0
    assert rows_of("predictions.csv")[0]["predicted"] != "class 2"


def test_images_without_a_plausible_map_have_no_class(folder, capsys):
    save("wide.png", MARKS[2].image()[::4])
    options = ("--method", "neighbors", "--max-aspect", 1, "--copy-to", "sorted", "--report", "r.html")
    assert run("classify", "train", "wide.png", *options) == 0
    out = capsys.readouterr().out
    assert "wide.png: no plausible map reaches an example\n" in out
    assert "predictions.csv: 1 image, 3 classes, 1 without a class\n" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing", "test"], "TRAIN_DIR must be a folder, got missing"),
        (["empty", "test"], "TRAIN_DIR must have folders with readable images, got empty"),
        (["flat", "test"], "TRAIN_DIR must have folders with readable images, got flat"),
        (["train", "empty"], "TEST must have readable images, got empty"),
        (["train", "missing"], "TEST must be image files or folders that exist, got missing"),
        (["one", "test"], "TRAIN_DIR must have at least two folders of examples, got one, one/class 1"),
        (["gap", "test"], "TRAIN_DIR must have a readable image in each of its folders, got none in gap/nothing"),
        (["train", "blank.png"], "TEST must have readable images, got blank.png (blank.png: no pixel is darker than"),
        (["train", "test", "--method", "forest"], "--method must be one of few-shot, neighbors, got 'forest'"),
        (["train", "test", *NEIGHBORS, "--neighbors", "0"], "--neighbors must be at least 1, got 0"),
        (
            ["train", "test", "--neighbors", "2"],
            "--neighbors applies only to the method 'neighbors', got the method 'few-shot'",
        ),
        (["train", "test", "--max-aspect", "2"], "--max-aspect applies only to the method 'neighbors'"),
        (["train", "test", "--max-shear", "9"], "--max-shear applies only to the method 'neighbors'"),
        (["train", "test", *NEIGHBORS, "--frame-size", "56"], "--frame-size applies only to the method 'few-shot'"),
        (["train", "test", *NEIGHBORS, "--prior", "auto"], "--prior must not be auto with the method 'neighbors'"),
        (["train", "test", *NEIGHBORS, "--mirror", "auto"], "--mirror must not be auto with the method 'neighbors'"),
        (["train", "test", *NEIGHBORS, "--moments", "auto"], "--moments must not be auto with the method"),
        (["train", "test", "--no-mirror", "--mirror", "yes"], "--mirror must be no with --no-mirror, got yes"),
        (["train", "test", "--prior", "level"], "--prior must be auto, any, upright, photograph, or two penalties"),
        (["train", "test", "--frame-size", "3"], "--frame-size must be at least 8, got 3"),
        (["train", "test", "--report", "r.txt"], "--report must end in .html or .htm, got r.txt"),
        (["train", "test", "--report", "none/r.html"], "--report must be in a folder that exists"),
        (["train", "test", "--angles", "0"], "--angles must be at least 1, got 0"),
        (["train", "test", "--jobs", "0"], "--jobs must not be 0"),
        (["train", "test", "--threshold", "7"], "--threshold must be a number between 0 and 1"),
        (["train", "test", *NEIGHBORS, "--max-shear", "-3"], "--max-shear must be a number from 0 to 90, got -3"),
        (["train", "test", "--copy-to", "flat/a.png"], "--copy-to must be a folder, got the file flat/a.png"),
        (["train", "test", "--confusion", "c.txt"], "--confusion must end in .png, .pdf or .svg, got c.txt"),
        (["train", "test", "--out", "c.png", "--confusion", "c.png"], "--out and --confusion must be two files"),
    ],
)
def test_wrong_calls_are_refused(folder, capsys, arguments, message):
    (folder / "empty").mkdir()
    save("flat/a.png", MARKS[0].image())
    save("one/class 1/a.png", MARKS[0].image())
    save("gap/class 1/a.png", MARKS[0].image())
    save("blank.png", np.zeros((30, 30)))
    (folder / "gap" / "nothing").mkdir()
    assert run("classify", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "predictions.csv").exists()


@pytest.mark.parametrize("target", ["train", "train/class 1", "test/sorted"])
def test_copies_do_not_go_into_the_folders_that_are_read(folder, capsys, target):
    assert run("classify", "train", "test", "--copy-to", target) == 2
    assert f"--copy-to must not be inside a folder of images, got {target}" in capsys.readouterr().err
    assert not (folder / "predictions.csv").exists()

"""Classification of image files by folders of examples, and copies of them in folders of classes."""

import csv
import io
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from marks import MARKS, save

import radoncdt
from radoncdt import _extras, folders
from radoncdt.folders import Prediction, Predictions, classify_folders, copy_to_classes
from radoncdt.ink import read_ink

CHOSEN = [1, 2, 4]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Files of three classes with one to three examples each, and four queries per class."""
    root = tmp_path_factory.mktemp("images")
    for n_examples, k in enumerate(CHOSEN, 1):
        for number in range(n_examples):
            save(root / f"train/class {k}/{number}.png", np.rot90(MARKS[k].image(), number))
    queries = MARKS.queries(240, rng=3)
    for k in CHOSEN:
        for number, image in enumerate(queries.images[queries.marks == k][:4]):
            save(root / f"test/class {k}/{number}.png", image)
    return root


@pytest.fixture
def folder(images, tmp_path, monkeypatch):
    """A copy of the images in the working folder."""
    shutil.copytree(images, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(predictions):
    return list(csv.DictReader(io.StringIO(predictions.table().decode())))


# ---------------------------------------------------------------- predictions


def test_one_neighbour_decides(folder):
    found = classify_folders("train", "test")
    assert found.classes == ("class 1", "class 2", "class 4")
    assert found.accuracies == dict.fromkeys(found.classes, (4, 4))
    assert found.confusion().tolist() == [[4, 0, 0], [0, 4, 0], [0, 0, 4]]
    assert found.refused == ()
    for row, cells in zip(found.rows, table(found), strict=True):
        assert row.label == row.predicted == row.file.parent.name == row.nearest.parent.name
        assert row.margin > 1
        assert cells["file"] == str(row.file)
        assert cells["class"] == cells["predicted"] == row.label
        assert float(cells["distance"]) == pytest.approx(row.distance, abs=1e-6)
        assert float(cells["margin"]) == pytest.approx(row.margin, rel=1e-3)
        assert cells["nearest"] == str(row.nearest)


@pytest.mark.parametrize("n_neighbors", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("limits", [None, radoncdt.Plausible(max_aspect=1.2, reflections=False)], ids=["all", "few"])
def test_the_nearest_examples_vote(folder, n_neighbors, limits):
    """The predictions are those of a slow vote over all distances."""
    found = classify_folders("train", "test", n_neighbors=n_neighbors, limits=limits)
    files = sorted(Path("train").rglob("*.png"))
    settings = radoncdt.DescriptorSettings(moments="robust", trim=1 / 16)
    distances = radoncdt.affine_distances(
        [read_ink(row.file) for row in found.rows],
        [read_ink(file) for file in files],
        settings=settings,
        limits=limits or radoncdt.Plausible(),
    )
    for row, near in zip(found.rows, distances, strict=True):
        order = [k for k in np.argsort(near, kind="stable") if np.isfinite(near[k])]
        if not order:
            assert row == Prediction(row.file, row.label, None, np.inf, 1.0, None)
            continue
        votes = Counter(files[k].parent.name for k in order[:n_neighbors])
        tied = [name for name, count in votes.items() if count == max(votes.values())]
        best = next(k for k in order if files[k].parent.name in tied)
        assert (row.predicted, row.nearest) == (files[best].parent.name, files[best])
        assert row.distance == pytest.approx(near[best], rel=1e-9)
        others = [near[k] for k in order if files[k].parent.name != row.predicted]
        assert row.margin == pytest.approx(others[0] / near[best] if others else np.inf, rel=1e-9)


def test_a_majority_may_outvote_the_nearest_example(folder):
    """The majority has more examples; the distance and the margin are those of the class that wins."""
    query = Path("test/class 1/0.png")
    for k in range(3):
        save(f"few/b/{k}.png", np.rot90(MARKS[2].image(), k))
    shutil.copytree("train/class 1", "few/a")
    one, three = (classify_folders("few", query, n_neighbors=n).rows[0] for n in (1, 3))
    assert (one.predicted, three.predicted) == ("a", "b")
    assert one.margin == pytest.approx(three.distance / one.distance)
    assert three.margin == pytest.approx(one.distance / three.distance)
    assert three.margin < 1
    assert three.nearest.parent.name == "b"


def test_single_files_and_sequences_are_classified(folder):
    alone = classify_folders("train", "test/class 2/1.png")
    assert [(row.file, row.label, row.predicted) for row in alone.rows] == [
        (Path("test/class 2/1.png"), None, "class 2")
    ]
    assert alone.accuracies == {}
    several = classify_folders("train", [Path("test/class 4/0.png"), "test", "test/class 1/../class 1/0.png"])
    assert len(several.rows) == 12  # every file once
    assert (several.rows[0].file, several.rows[0].label) == (Path("test/class 4/0.png"), None)
    assert several.accuracies == {"class 1": (4, 4), "class 2": (4, 4), "class 4": (3, 3)}


def test_mirror_images_can_be_told_apart(folder):
    save("train/mirrored 2/a.png", MARKS[2].image()[:, ::-1])
    found = classify_folders("train", "test", limits=radoncdt.Plausible(reflections=False))
    assert found.accuracies["class 2"] == (4, 4)
    assert found.confusion().sum() == 12


def test_an_image_without_a_plausible_map_gets_no_class(folder):
    tall = np.zeros((240, 60))
    tall[10:230, 10:50] = 1
    save("odd/class 1/tall.png", tall)
    shutil.copytree("train/class 1", "few/class 1")
    found = classify_folders("few", "odd", limits=radoncdt.Plausible(max_aspect=1.0))
    assert found.rows == (Prediction(Path("odd/class 1/tall.png"), "class 1", None, np.inf, 1.0, None),)
    assert found.accuracies == {"class 1": (0, 1)}
    assert found.confusion().tolist() == [[0]]
    assert list(table(found)[0].values()) == ["odd/class 1/tall.png", "class 1", "", "", "", ""]
    assert copy_to_classes(found, "sorted") == []
    assert not Path("sorted").exists()


def test_the_same_image_in_two_classes_has_the_margin_one(folder):
    shutil.copytree("train/class 1", "train/copy of class 1")
    (row,) = classify_folders("train", "train/class 1").rows
    assert (row.distance, row.margin, row.predicted) == (0, 1, "class 1")


def test_files_that_cannot_be_read_are_named(folder):
    (folder / "train/class 1/bad.png").write_text("no image")
    (folder / "test/bad.png").touch()
    calls = []
    found = classify_folders("train", "test", on_progress=lambda *call: calls.append(call))
    assert found.refused == ("train/class 1/bad.png: unrecognised image format", "test/bad.png: empty file")
    assert len(found.rows) == 12
    assert calls[0] == (0, 7, "reading images")
    assert calls[-1] == (13, 13, "reading images")


def test_options_of_ink_are_passed_on(folder):
    with pytest.raises(ValueError, match="`threshold` must be a number between 0 and 1, got 7"):
        classify_folders("train", "test", threshold=7)
    with pytest.raises(
        ValueError, match=r"`train` must have folders with readable images, got train .*contains no pixel"
    ):
        classify_folders("train", "test", roi=(999, 0, 9, 9))


@pytest.mark.parametrize(
    ("train", "test", "options", "message"),
    [
        ("missing", "test", {}, "`train` must be a folder, got missing$"),
        ("train/class 1/0.png", "test", {}, r"`train` must be a folder, got train/class 1/0\.png$"),
        ("empty", "test", {}, "`train` must have folders with readable images, got empty$"),
        ("test/class 1", "test", {}, "`train` must have folders with readable images, got test/class 1$"),
        ("train", "missing", {}, "`test` must be image files or folders that exist, got missing$"),
        ("train", ["test", "missing.png"], {}, r"`test` must be .* exist, got missing\.png$"),
        ("train", "empty", {}, "`test` must have readable images, got empty$"),
        (
            "train",
            ["bad.png", "empty"],
            {},
            r"`test` must .*, got bad\.png, empty \(bad\.png: unrecognised image format\)",
        ),
        ("train", [], {}, "`test` must not be empty"),
        ("train", "test", {"n_neighbors": 7}, "`n_neighbors` must be at most 6, the number of examples, got 7"),
        ("train", "test", {"n_neighbors": 0}, "`n_neighbors` must be at least 1, got 0"),
        ("train", "test", {"kind": "photo"}, "'photo' is now called 'watermark'"),
    ],
)
def test_invalid_arguments_are_refused(folder, train, test, options, message):
    (folder / "empty").mkdir()
    (folder / "bad.png").write_text("no image")
    with pytest.raises(ValueError, match=message):
        classify_folders(train, test, **options)


def test_limits_have_their_type(folder):
    with pytest.raises(TypeError, match="`limits` must be of the type Plausible, got False"):
        classify_folders("train", "test", limits=False)


# ---------------------------------------------------------------- copies


def predictions_of(*rows):
    """Predictions as they are after a classification, of files and classes."""
    found = [Prediction(Path(file), None, name, 0.1, 2.0, None) for file, name in rows]
    return Predictions(tuple(found), tuple(sorted({name for _, name in rows})), ())


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_images_are_copied_to_their_classes(folder):
    found = classify_folders("train", "test")
    calls = []
    copies = copy_to_classes(found, "new/sorted", on_progress=lambda *call: calls.append(call))
    assert calls[-1] == (12, 12, "copying images")
    assert copies == [Path("new/sorted") / row.predicted / row.file.name for row in found.rows]
    assert contents("new/sorted") == contents("test")
    assert copies[0].stat().st_mtime == found.rows[0].file.stat().st_mtime


def test_copying_again_changes_nothing(folder):
    found = classify_folders("train", "test")
    first = copy_to_classes(found, "sorted")
    before = contents("sorted")
    assert copy_to_classes(found, "sorted") == first
    assert contents("sorted") == before


@pytest.mark.parametrize("links", [True, False], ids=["hard links", "no hard links"])
def test_nothing_is_overwritten(tmp_path, monkeypatch, links):
    def refuse(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    monkeypatch.chdir(tmp_path)
    for name in ("a/1.png", "b/1.png", "c/1.png", "sorted/crown/1.png"):
        Path(name).parent.mkdir(parents=True)
        Path(name).write_text(name)
    (tmp_path / "sorted/crown/1_3.png").symlink_to("gone.png")
    found = predictions_of(("a/1.png", "crown"), ("b/1.png", "crown"), ("c/1.png", "bear"))
    assert copy_to_classes(found, "sorted") == [
        Path("sorted/crown/1_2.png"),
        Path("sorted/crown/1_4.png"),
        Path("sorted/bear/1.png"),
    ]
    assert {name: text.decode() for name, text in contents("sorted").items()} == {
        "crown/1.png": "sorted/crown/1.png",
        "crown/1_2.png": "a/1.png",
        "crown/1_4.png": "b/1.png",
        "bear/1.png": "c/1.png",
    }


def test_an_interrupted_copy_leaves_nothing_incomplete(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("1.png", "2.png"):
        Path(name).write_bytes(bytes(1000))
    copy2 = shutil.copy2

    def interrupt(source, target):
        copy2(source, target)
        if Path(source).name == "2.png":
            os.truncate(target, 10)
            raise KeyboardInterrupt

    monkeypatch.setattr(folders.shutil, "copy2", interrupt)
    with pytest.raises(KeyboardInterrupt):
        copy_to_classes(predictions_of(("1.png", "a"), ("2.png", "a")), "sorted")
    assert contents("sorted") == {"a/1.png": bytes(1000)}


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "a/b", "/a", "a\0b", "a/"])
def test_classes_that_are_not_names_of_folders_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("1.png").touch()
    with pytest.raises(ValueError, match="`predictions` must have classes that can be names of folders, got"):
        copy_to_classes(predictions_of(("1.png", "good"), ("1.png", name)), "sorted")
    assert [path.name for path in tmp_path.iterdir()] == ["1.png"]


@pytest.mark.parametrize("taken", ["sorted", "sorted/b"])
def test_files_in_the_place_of_folders_are_refused(tmp_path, monkeypatch, taken):
    monkeypatch.chdir(tmp_path)
    Path("1.png").touch()
    Path(taken).parent.mkdir(exist_ok=True)
    Path(taken).touch()
    with pytest.raises(ValueError, match=f"`folder` must be a folder of folders, got the file {taken}$"):
        copy_to_classes(predictions_of(("1.png", "a"), ("1.png", "b")), "sorted")
    assert not Path("sorted/a").exists()


def test_a_missing_extra_is_not_a_refused_image(folder, monkeypatch):
    """Otherwise every image would be refused, for a reason that has nothing to do with it."""

    def missing(*_, **__):
        raise _extras.MissingExtraError("reading image files needs the package PIL")

    monkeypatch.setattr("radoncdt.ink.files.require", missing)
    with pytest.raises(_extras.MissingExtraError):
        classify_folders("train", "test")

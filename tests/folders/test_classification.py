"""Classification of image files by folders of examples."""

import csv
import io
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from marks import MARKS, save
from numpy.testing import assert_allclose

import radoncdt
from radoncdt import AffineNeighborsClassifier, FewShotClassifier, _extras
from radoncdt._geometry import ink_box
from radoncdt.folders import Prediction, classification, classify_folders
from radoncdt.ink import read_ink
from radoncdt.matching.prior import PRIORS

COLUMNS = ["file", "class", "predicted", "p", "second", "second_p", "example", "share", "distance", "margin"]


def neighbours(n_neighbors=1, **options):
    return AffineNeighborsClassifier(n_neighbors, moments="robust", trim=1 / 16, **options)


def table(predictions):
    return list(csv.DictReader(io.StringIO(predictions.table().decode())))


# ---------------------------------------------------------------- a few examples


def test_examples_vote(folder):
    """The predictions are those of the classifier itself, with the examples that it names."""
    found = classify_folders("train", "test")
    assert found.classes == ("class 1", "class 2", "class 4")
    assert found.n_examples == {"class 1": 1, "class 2": 2, "class 4": 3}
    assert found.accuracies == dict.fromkeys(found.classes, (4, 4))
    assert found.confusion().tolist() == [[4, 0, 0], [0, 4, 0], [0, 0, 4]]
    assert found.refused == ()
    files = sorted(Path("train").rglob("*.png"))
    model = FewShotClassifier(moments="robust").fit(
        [read_ink(file) for file in files], [file.parent.name for file in files]
    )
    assert found.settings["prior"] == f"{model.prior_} (chosen)"
    assert found.settings["moments"] == "robust"
    for row, cells in zip(found.rows, table(found), strict=True):
        image = read_ink(row.file)
        (shares,) = model.predict_proba([image])
        order = np.argsort(-shares)
        assert (row.predicted, row.second) == tuple(model.classes_[order[:2]])
        assert (row.p, row.second_p) == tuple(shares[order[:2]])
        decisive = next(each for each in model.explain(image) if each.label == row.predicted)
        assert (row.example, row.share) == (files[decisive.example], decisive.share)
        assert row.distance == decisive.distance
        assert_allclose(row.registration.matrix, decisive.registration.matrix, atol=1e-9)
        assert row.margin is None
        assert list(cells) == COLUMNS
        texts = [row.file, row.label, row.predicted, row.second, row.example]
        assert [cells[name] for name in ("file", "class", "predicted", "second", "example")] == list(map(str, texts))
        for name in ("p", "second_p", "share", "distance"):
            assert float(cells[name]) == pytest.approx(getattr(row, name), abs=1e-6)
        assert cells["margin"] == ""


def test_the_map_leads_to_the_ink_of_the_example(folder):
    save("test/class 2/copy.png", np.pad(np.rot90(MARKS[2].image()), 17))
    row = next(row for row in classify_folders("train", "test").rows if row.file.name == "copy.png")
    image, example = (read_ink(file) for file in (row.file, row.example))
    image, example = (ink[ink_box(ink)] for ink in (image, example))
    assert row.registration.frames == (image.shape, example.shape)
    moved = row.registration.apply(image)
    assert np.abs(moved - example).mean() < 0.1 * example.mean()


@pytest.mark.parametrize("classifier", [FewShotClassifier(), neighbours()], ids=["few-shot", "neighbours"])
def test_parts_of_the_images_do_not_matter(folder, monkeypatch, classifier):
    expected = classify_folders("train", "test", classifier=classifier).table()
    monkeypatch.setattr(classification, "_PER_CHUNK", 5)
    assert classify_folders("train", "test", classifier=classifier).table() == expected


def test_one_example_per_class_is_enough(folder):
    for file in ("class 2/1", "class 4/1", "class 4/2"):
        Path(f"train/{file}.png").unlink()
    found = classify_folders("train", "test")
    assert sum(right for right, _ in found.accuracies.values()) >= 11
    assert found.settings["prior"] == "any map (default)"


def test_a_given_classifier_is_not_changed(folder):
    model = FewShotClassifier(prior="upright", reflections=True, moments="exact")
    found = classify_folders("train", "test/class 1", classifier=model)
    assert dict(found.settings) == {
        "classifier": "FewShotClassifier",
        "prior": str(PRIORS["upright"]),
        "mirror images": "the same",
        "moments": "exact",
    }
    assert not hasattr(model, "classes_")


def test_names_of_classes_may_be_strange(folder):
    """Spaces, markup, control characters and bytes that are not UTF-8 stay as they are."""
    names = ["<b>&amp;", "a\nb\x1b[31m", "\udcff", "é 文", "0", "00"]
    for k, name in enumerate(names):
        save(f"odd/{name}/{name}.png", MARKS[k].image())
    found = classify_folders("odd", "odd")
    assert found.classes == tuple(sorted(names))
    assert [row.predicted for row in found.rows] == [row.file.parent.name for row in found.rows]
    assert found.accuracies == dict.fromkeys(sorted(names), (1, 1))


def test_predictions_are_sorted_by_certainty():
    rows = [
        Prediction(Path("a"), None, "x", p=0.9),
        Prediction(Path("b"), None, "x", margin=1.2),
        Prediction(Path("c"), None, "x", p=0.2),
        Prediction(Path("d"), None, None),
        Prediction(Path("e"), None, "x", margin=1.1),
        Prediction(Path("f"), None, "x", p=0.9, margin=0.5),
    ]
    found = radoncdt.folders.Predictions(tuple(rows), ("x",), ())
    assert "".join(row.file.name for row in found.sort_by_certainty()) == "dcfaeb"


# ---------------------------------------------------------------- neighbours


def test_one_neighbour_decides(folder):
    found = classify_folders("train", "test", classifier=neighbours())
    assert found.classes == ("class 1", "class 2", "class 4")
    assert found.accuracies == dict.fromkeys(found.classes, (4, 4))
    assert found.confusion().tolist() == [[4, 0, 0], [0, 4, 0], [0, 0, 4]]
    assert found.refused == ()
    for row, cells in zip(found.rows, table(found), strict=True):
        assert row.label == row.predicted == row.file.parent.name == row.example.parent.name
        assert row.margin > 1
        assert cells["file"] == str(row.file)
        assert cells["class"] == cells["predicted"] == row.label
        assert float(cells["distance"]) == pytest.approx(row.distance, abs=1e-6)
        assert float(cells["margin"]) == pytest.approx(row.margin, rel=1e-3)
        assert cells["example"] == str(row.example)
        assert [cells[name] for name in ("p", "second_p", "share")] == ["", "", ""]
        assert row.registration.distance < 0.1


@pytest.mark.parametrize("n_neighbors", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("limits", [None, radoncdt.Plausible(max_aspect=1.2, reflections=False)], ids=["all", "few"])
def test_the_nearest_examples_vote(folder, n_neighbors, limits):
    """The predictions are those of a slow vote over all distances."""
    options = {"max_aspect": limits.max_aspect, "reflections": False} if limits else {}
    found = classify_folders("train", "test", classifier=neighbours(n_neighbors, **options))
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
            assert row == Prediction(row.file, row.label, None)
            continue
        votes = Counter(files[k].parent.name for k in order[:n_neighbors])
        tied = [name for name, count in votes.items() if count == max(votes.values())]
        best = next(k for k in order if files[k].parent.name in tied)
        assert (row.predicted, row.example) == (files[best].parent.name, files[best])
        assert row.p == (None if n_neighbors == 1 else votes[row.predicted] / sum(votes.values()))
        assert row.distance == pytest.approx(near[best], rel=1e-9)
        others = [k for k in order if files[k].parent.name != row.predicted]
        assert row.margin == pytest.approx(near[others[0]] / near[best] if others else np.inf, rel=1e-9)
        assert row.second == (files[others[0]].parent.name if others else None)


def test_a_majority_may_outvote_the_nearest_example(folder):
    """The majority has more examples; the distance and the margin are those of the class that wins."""
    query = Path("test/class 1/0.png")
    for k in range(3):
        save(f"few/b/{k}.png", np.rot90(MARKS[2].image(), k))
    shutil.copytree("train/class 1", "few/a")
    one, three = (classify_folders("few", query, classifier=neighbours(n)).rows[0] for n in (1, 3))
    assert (one.predicted, three.predicted) == ("a", "b")
    assert one.margin == pytest.approx(three.distance / one.distance)
    assert three.margin == pytest.approx(one.distance / three.distance)
    assert three.margin < 1
    assert three.example.parent.name == "b"


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


@pytest.mark.parametrize(("options", "n"), [({"weights": "distance"}, 3), ({"refine": 4}, 1), ({"refine": 4}, 3)])
def test_options_of_the_classifier_are_obeyed(folder, options, n):
    files = sorted(Path("train").rglob("*.png"))
    model = neighbours(n, **options)
    found = classify_folders("train", "test", classifier=model)
    model.fit([read_ink(file) for file in files], [file.parent.name for file in files])
    images = [read_ink(row.file) for row in found.rows]
    shares = model.predict_proba(images)
    distances, _ = model.kneighbors(images, 1)
    for row, votes, nearest in zip(found.rows, shares, distances[:, 0], strict=True):
        assert votes[found.classes.index(row.predicted)] == votes.max()
        assert row.p == (None if n == 1 else votes.max())
        assert row.distance >= nearest


def test_mirror_images_can_be_told_apart(folder):
    save("train/mirrored 2/a.png", MARKS[2].image()[:, ::-1])
    found = classify_folders("train", "test", classifier=neighbours(reflections=False))
    assert found.accuracies["class 2"] == (4, 4)
    assert found.confusion().sum() == 12


def test_an_image_without_a_plausible_map_gets_no_class(folder):
    tall = np.zeros((240, 60))
    tall[10:230, 10:50] = 1
    save("odd/class 1/tall.png", tall)
    shutil.copytree("train/class 1", "few/class 1")
    found = classify_folders("few", "odd", classifier=neighbours(max_aspect=1.0))
    assert found.rows == (Prediction(Path("odd/class 1/tall.png"), "class 1", None),)
    assert found.accuracies == {"class 1": (0, 1)}
    assert found.confusion().tolist() == [[0]]
    assert list(table(found)[0].values()) == ["odd/class 1/tall.png", "class 1", *[""] * 8]


def test_the_same_image_in_two_classes_has_the_margin_one(folder):
    shutil.copytree("train/class 1", "train/copy of class 1")
    (row,) = classify_folders("train", "train/class 1", classifier=neighbours()).rows
    assert (row.distance, row.margin, row.predicted) == (0, 1, "class 1")


def test_files_that_cannot_be_read_are_named(folder):
    (folder / "train/class 1/bad.png").write_text("no image", encoding="utf-8")
    (folder / "test/bad.png").touch()
    calls = []
    found = classify_folders("train", "test", on_progress=lambda *call: calls.append(call))
    assert found.refused == ("train/class 1/bad.png: unrecognised image format", "test/bad.png: empty file")
    assert len(found.rows) == 12
    assert calls[0] == (0, 7, "reading examples")
    assert {(7, 7, "reading examples"), (0, 1, "comparing the examples"), (1, 1, "comparing the examples")} < set(calls)
    assert calls[-1] == (13, 13, "classifying images")


def test_options_of_ink_are_passed_on(folder):
    with pytest.raises(ValueError, match="`threshold` must be a number between 0 and 1, got 7"):
        classify_folders("train", "test", threshold=7)
    with pytest.raises(
        ValueError, match=r"`train` must have folders with readable images, got train .*contains no pixel"
    ):
        classify_folders("train", "test", roi=(999, 0, 9, 9))


def test_examples_may_be_of_another_kind(folder):
    """Dark tracings beside photographs in which the mark is bright."""
    queries = MARKS.queries(120, kind="photograph", rng=3)
    for k in (1, 2, 4):
        for number, image in enumerate(queries.images[queries.marks == k][:4]):
            save(f"photographs/class {k}/{number}.png", 1 - image)
    found = classify_folders("train", "photographs", kind="watermark", threshold=4, example_kind="drawing")
    assert sum(right for right, _ in found.accuracies.values()) >= 11
    alike = classify_folders("train", "photographs", kind="watermark")
    assert sum(right for right, _ in alike.accuracies.values()) < 9


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
        ("few", "test", {}, "`train` must have at least two folders of examples, got one, few/class 1$"),
        ("some", "test", {}, "`train` must have a readable image in each of its folders, got none in some/none$"),
        ("bad", "test", {}, r"each of its folders, got none in bad/a and 1 more \(bad/a/a.png: unrecognised image"),
        ("train", "blank", {}, r"`test` must .* \(blank/a.png: no pixel is darker than the paper"),
        (
            "train",
            "test",
            {"classifier": neighbours(7)},
            "`n_neighbors` must be at most 6, the number of examples, got 7",
        ),
        ("train", "test", {"classifier": neighbours(refine=9)}, "`refine` must be at most 6, the number of examples"),
        ("train", "test", {"classifier": neighbours(0)}, "`n_neighbors` must be at least 1, got 0"),
        ("train", "test", {"classifier": FewShotClassifier(frame_size=3)}, "`frame_size` must be at least 8"),
        ("train", "test", {"example_kind": "photo"}, "`example_kind` must be one of 'drawing', 'watermark', 'grey'"),
        ("train", "test", {"kind": "photo"}, "'photo' is now called 'watermark'"),
    ],
)
def test_invalid_arguments_are_refused(folder, train, test, options, message):
    (folder / "empty").mkdir()
    (folder / "bad.png").write_text("no image", encoding="utf-8")
    save("blank/a.png", np.zeros((30, 30)))
    for name in ("few", "some", "bad"):
        shutil.copytree("train/class 1", f"{name}/class 1")
    (folder / "some/none").mkdir()
    (folder / "some/.hidden").mkdir()
    shutil.copytree("train/class 2", "some/class 2")
    for name in "ab":
        (folder / "bad" / name).mkdir()
        (folder / "bad" / name / "a.png").write_text("no image", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        classify_folders(train, test, **options)


@pytest.mark.parametrize("classifier", [False, FewShotClassifier, radoncdt.NearestSubspaceClassifier()])
def test_other_classifiers_are_refused(folder, classifier):
    with pytest.raises(TypeError, match="`classifier` must be a FewShotClassifier or an AffineNeighborsClassifier"):
        classify_folders("train", "test", classifier=classifier)


def test_a_missing_extra_is_not_a_refused_image(folder, monkeypatch):
    """Otherwise every image would be refused, for a reason that has nothing to do with it."""

    def missing(*_, **__):
        raise _extras.MissingExtraError("reading image files needs the package PIL")

    monkeypatch.setattr("radoncdt.ink.files.require", missing)
    with pytest.raises(_extras.MissingExtraError):
        classify_folders("train", "test")

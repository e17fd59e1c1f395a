"""Copies of classified images in folders of classes."""

import os
import shutil
from pathlib import Path

import pytest

from radoncdt.folders import Prediction, Predictions, classify_folders, copies, copy_to_classes


def predictions_of(*rows):
    """Predictions as they are after a classification, of files and classes."""
    found = [Prediction(Path(file), None, name) for file, name in rows]
    return Predictions(tuple(found), tuple(sorted({name for _, name in rows})), ())


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_images_are_copied_to_their_classes(folder):
    found = classify_folders("train", "test")
    calls = []
    made = copy_to_classes(found, "new/sorted", on_progress=lambda *call: calls.append(call))
    assert calls[-1] == (12, 12, "copying images")
    assert made == [Path("new/sorted") / row.predicted / row.file.name for row in found.rows]
    assert contents("new/sorted") == contents("test")
    assert made[0].stat().st_mtime == found.rows[0].file.stat().st_mtime


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
        Path(name).write_text(name, encoding="utf-8")
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

    monkeypatch.setattr(copies.shutil, "copy2", interrupt)
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

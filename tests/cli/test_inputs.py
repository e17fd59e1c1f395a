"""Image files that commands read."""

from pathlib import Path

import numpy as np
import pytest
from files import BAD, GOOD

from radoncdt._validation import ArgumentValueError
from radoncdt.cli.inputs import list_files, read_images
from radoncdt.ink import read_ink


def test_folders_are_searched_and_files_are_taken_as_they_are(folder):
    (folder / "notes.txt").touch()
    assert list_files("files", [Path("notes.txt")]) == [Path("notes.txt")]
    assert list_files("files", [folder]) == sorted(folder.glob("*.png"))


def test_folders_without_images_are_refused(folder):
    (folder / "empty").mkdir()
    with pytest.raises(ArgumentValueError, match="`files` must be image files, or folders that contain some, got emp"):
        list_files("files", [Path("empty")])


def test_images_are_read_and_bad_files_are_named(folder, capsys):
    paths = [Path(name) for name in (*BAD, *GOOD)]
    calls = []
    found = dict(read_images(paths, {"max_side": 16}, lambda *call: calls.append(call), "drawing figures"))
    assert list(found) == [Path(name) for name in GOOD]
    for path, image in found.items():
        np.testing.assert_array_equal(image, read_ink(path, max_side=16))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[1] for line in lines] == list(BAD)
    assert calls[-1] == (7, 7, "drawing figures")

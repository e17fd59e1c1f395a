"""The command ``ink``."""

import numpy as np
import pytest
from files import run
from marks import MARKS, save
from PIL import Image


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("mark.png", MARKS.queries(1, rng=3).images[0])
    return tmp_path


def test_ink_is_shown_step_by_step(folder, capsys):
    assert run("ink", "mark.png", "--show", "steps.png", "--out", "ink.png") == 0
    assert "of them ink" in capsys.readouterr().out
    with Image.open("steps.png") as picture:
        assert picture.size[0] > 3 * picture.size[1]
    with Image.open("ink.png") as picture:
        assert np.asarray(picture).min() == 0


def test_wrong_calls_of_ink_are_refused(folder, capsys):
    assert run("ink", "mark.png") == 2
    assert run("ink", "missing.png", "--out", "ink.png") == 1
    assert "no such file" in capsys.readouterr().err
    for wrong in (("--roi", "a,b,c,d"), ("--roi", "1,2,3,4", "--mask", "m.png"), ("--low", 1), ("--show", "s.txt")):
        assert run("ink", "mark.png", "--out", "ink.png", *wrong) == 2, wrong
    assert not (folder / "ink.png").exists()

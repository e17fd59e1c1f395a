"""The command ink."""

import numpy as np
from files import run
from PIL import Image


def test_ink_is_shown_step_by_step(folder, capsys):
    assert run("ink", "test/class 1/0.png", "--show", "steps.png", "--out", "ink.png") == 0
    assert "of them ink" in capsys.readouterr().out
    with Image.open("steps.png") as picture:
        assert picture.size[0] > 3 * picture.size[1]
    with Image.open("ink.png") as picture:
        assert np.asarray(picture).min() == 0


def test_wrong_calls_of_ink_are_refused(folder, capsys):
    assert run("ink", "test/class 1/0.png") == 2
    assert run("ink", "missing.png", "--out", "ink.png") == 1
    assert "there is no such file" in capsys.readouterr().err
    for wrong in (("--roi", "a,b,c,d"), ("--roi", "1,2,3,4", "--mask", "m.png"), ("--low", 1), ("--show", "s.txt")):
        assert run("ink", "test/class 1/0.png", "--out", "ink.png", *wrong) == 2, wrong
    assert not (folder / "ink.png").exists()

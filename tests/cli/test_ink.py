"""The command ink."""

import numpy as np
import pytest
from files import run, save
from PIL import Image

FLAG = np.zeros((80, 90))
FLAG[15:65, 30:34] = FLAG[15:35, 34:60] = 255


@pytest.fixture
def image(folder):
    save("flag.png", 255 - FLAG)
    return "flag.png"


def test_ink_is_shown_step_by_step(image, capsys):
    assert run("ink", image, "--show", "steps.png", "--out", "ink.png") == 0
    assert capsys.readouterr().out == "flag.png: 90 × 80 pixels, of which 10.0% are ink\n"
    with Image.open("steps.png") as picture:
        assert picture.size[0] > 3 * picture.size[1]
    with Image.open("ink.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), 255 - FLAG)


def test_a_region_is_read_alone(image):
    assert run("ink", image, "--roi", "20,10,20,40", "--out", "roi.png") == 0
    save("mask.png", np.pad(np.full((40, 20), 255), ((10, 30), (20, 50))))
    assert run("ink", image, "--mask", "mask.png", "--out", "masked.png") == 0
    for name in ("roi.png", "masked.png"):
        with Image.open(name) as picture:
            assert picture.size == (20, 40)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["flag.png"], 2, "--show or --out must be given"),
        (["missing.png", "--out", "ink.png"], 1, "missing.png: no such file"),
        (["flag.png", "--out", "ink.txt"], 2, "--out must end in .png, got ink.txt"),
        (["flag.png", "--out", "flag.png"], 2, "--out must not replace a file that the command reads, got flag.png"),
        (["flag.png", "--show", "s.txt"], 2, "--show must end in .png, .pdf or .svg, got s.txt"),
        (["flag.png", "--show", "a.png", "--out", "a.png"], 2, "--out and --show must be two files, got a.png twice"),
        (["flag.png", "--out", "ink.png", "--roi", "a,b"], 2, "--roi must be four whole numbers x,y,w,h, got 'a,b'"),
        (["flag.png", "--out", "ink.png", "--roi=-1,0,9,9"], 2, "--roi must be four integers x, y, width and height"),
        (["flag.png", "--out", "ink.png", "--roi", "99,0,9,9"], 1, "flag.png: the region 99,0,9,9 contains no pixel"),
        (["flag.png", "--out", "ink.png", "--roi", "1,2,3,4", "--mask", "m.png"], 2, "--mask: not allowed with"),
        (["flag.png", "--out", "ink.png", "--mask", "m.png"], 2, "--mask must be an image file; m.png: no such file"),
        (["flag.png", "--out", "ink.png", "--mask", "blank.png"], 1, "the mask must be as large as the image"),
        (["flag.png", "--out", "ink.png", "--low", "1"], 2, "--low applies only to the kind 'watermark'"),
        (["flag.png", "--out", "ink.png", "--threshold", "x"], 2, "--threshold must be a number, got 'x'"),
        (["flag.png", "--out", "ink.png", "--max-side", "4"], 2, "--max-side must be at least 8, got 4"),
    ],
)
def test_wrong_calls_are_refused(image, folder, capsys, arguments, status, message):
    assert run("ink", *arguments) == status
    assert message in capsys.readouterr().err
    assert not (folder / "ink.png").exists()

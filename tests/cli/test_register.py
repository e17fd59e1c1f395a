"""The command register."""

import json

import numpy as np
import pytest
from files import run, save
from numpy.testing import assert_allclose
from PIL import Image

import radoncdt
from radoncdt.cli import register

FLAG = np.zeros((80, 90))
FLAG[15:65, 30:34] = FLAG[15:35, 34:60] = 255


@pytest.fixture
def pair(folder):
    save("moving.png", 255 - FLAG)
    save("fixed.png", 255 - np.rot90(FLAG))
    return "moving.png", "fixed.png"


def test_register_prints_the_map_and_writes_files(pair, folder, capsys):
    assert run("register", *pair, "--out", "overlay.png", "--json", "map.json") == 0
    printed = capsys.readouterr().out
    assert "scaled by 1.00 in x and 1.00 in y, sheared by 0.0°, rotated by 90.0°" in printed
    with Image.open("overlay.png") as picture:
        assert picture.size[0] > 300
    found = json.loads((folder / "map.json").read_text(encoding="utf-8"))
    expected = radoncdt.register(FLAG, np.rot90(FLAG))
    assert found["moving"] == "moving.png"
    assert_allclose(found["maps"][0]["matrix"], expected.matrix, atol=1e-6)
    assert_allclose(found["maps"][0]["pixel_matrix"], expected.pixel_matrix, atol=1e-6)
    column, row, _ = expected.pixel_matrix @ [31, 20, 1]  # in the pole of the flag
    assert np.rot90(FLAG)[round(row), round(column)] == 255


def test_register_obeys_its_options(folder, capsys):
    save("moving.png", 255 - FLAG)
    save("fixed.png", 255 - np.fliplr(FLAG).repeat(2, axis=1))
    assert run("register", "moving.png", "fixed.png", "--robust") == 0
    assert "mirrored, scaled by 2" in capsys.readouterr().out
    assert run("register", "moving.png", "fixed.png", "--no-mirror", "--json", "map.json") == 3
    printed = capsys.readouterr()
    assert "mirrored" not in printed.out
    assert "; not credible: the distance is above 0.1, as between unrelated shapes" in printed.out
    assert "radoncdt: the map is not credible; the images may show different shapes" in printed.err
    assert not json.loads((folder / "map.json").read_text(encoding="utf-8"))["maps"][0]["credible"]
    assert run("register", "moving.png", "fixed.png", "--similarity") == 1
    assert "no map from `moving` to `fixed` is plausible: none within similarity=True" in capsys.readouterr().err
    assert run("register", "moving.png", "fixed.png", "--max-scale", "1.2") == 1
    assert "none within max_scale=1.2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["moving.png", "missing.png"], 1, "missing.png: no such file"),
        (["blank.png", "moving.png"], 1, "no pixel is darker than the paper"),
        (
            ["moving.png", "fixed.png", "--max-aspect", "0.5"],
            2,
            "--max-aspect must be a number of at least 1, got 0.5",
        ),
        (
            ["moving.png", "fixed.png", "--out", "picture.txt"],
            2,
            "--out must end in .png, .pdf or .svg, got picture.txt",
        ),
        (["moving.png", "fixed.png", "--json", "no/map.json"], 2, "--json must be in a folder that exists"),
        (["moving.png", "fixed.png", "--out", "a.png", "--json", "a.png"], 2, "must be two files, got a.png twice"),
        (["moving.png", "fixed.png", "--angles", "0"], 2, "--angles must be at least 1, got 0"),
        (["moving.png"], 2, "the following arguments are required: FIXED"),
    ],
)
def test_wrong_calls_are_refused(pair, capsys, arguments, status, message):
    assert run("register", *arguments) == status
    assert message in capsys.readouterr().err


def test_refine_is_passed_on(pair, monkeypatch, capsys):
    seen, find = [], register.find_registration
    monkeypatch.setattr(register, "find_registration", lambda *a, **how: seen.append(how["refine"]) or find(*a, **how))
    assert run("register", *pair) == 0
    assert run("register", *pair, "--refine") == 0
    assert seen == [False, True]
    first, second = np.array_split(capsys.readouterr().out.splitlines(), 2)
    assert first.tolist() == second.tolist()  # the flag has one map only


def test_prior_decides_between_maps(folder, capsys):
    cross = np.zeros((80, 80))
    cross[10:70, 38:42] = cross[38:42, 10:70] = 255
    cross[10:20, 30:50] = 200  # one arm is thicker
    save("moving.png", 255 - np.rot90(cross))
    save("fixed.png", 255 - cross)
    for prior, status, turned in (("any", 0, "by -90.0°"), ("photograph", 0, "by -90.0°"), ("0,5", 3, "by 0.0°")):
        assert run("register", "moving.png", "fixed.png", "--prior", prior) == status  # 3: the map is not credible
        assert f"rotated {turned}" in capsys.readouterr().out
    assert run("register", "moving.png", "fixed.png", "--prior", "sideways") == 2
    assert "any, upright, photograph, or two penalties" in capsys.readouterr().err
    assert run("register", "moving.png", "fixed.png", "--prior=-1,0") == 2

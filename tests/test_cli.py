"""The commands show, transform and register."""

import csv
import json
import os

import numpy as np
import pytest
from files import BAD, GOOD, SHAPE, run, save, save_files
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

import radoncdt
from radoncdt import cli


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Drawings and files that are none; the working folder."""
    monkeypatch.chdir(tmp_path)
    save_files(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- transform


def test_transform_writes_npz(folder, capsys):
    assert run("transform", *GOOD, "--out", "f.npz", "--angles", 16, "--levels", 8) == 0
    with np.load("f.npz") as data:
        assert list(data["paths"]) == GOOD
        expected = radoncdt.max_nrcdt([SHAPE, SHAPE], n_angles=16, n_levels=8, directions="whitened")
        assert_allclose(data["features"], expected, atol=1e-6)
        assert_array_equal(data["levels"], radoncdt.quantile_levels(8))
        assert_array_equal(data["angles"], radoncdt.equispaced_angles(16))
        assert data["pool"] == "max"
        assert data["directions"] == "whitened"
    out, err = capsys.readouterr()
    assert out == "f.npz: 8 features of 2 images\n"
    assert err == ""  # no progress bar where there is no terminal


def test_transform_writes_csv_with_names(folder):
    assert run("transform", *GOOD, "--out", "f.csv", "--pool", "none", "--angles", 2, "--levels", 2) == 0
    with open("f.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header[:2] == ["file", "angle0_0deg_level0_t0.25"]
    expected = radoncdt.nrcdt([SHAPE, SHAPE], n_angles=2, n_levels=2).reshape(2, -1)
    assert_allclose(np.array([row[1:] for row in rows], float), expected, atol=1e-6)


def test_transform_takes_the_papers_directions(folder):
    assert run("transform", *GOOD, "--out", "f.npz", "--angles", 4, "--directions", "equispaced") == 0
    expected = radoncdt.max_nrcdt([SHAPE, SHAPE], n_angles=4, directions="equispaced")
    assert_allclose(np.load("f.npz")["features"], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("pool", "directions", "n_features"),
    [("max", "whitened", 4), ("mean", "equispaced", 4), ("sorted", "whitened", 32)],
)
def test_transform_has_the_defaults_of_the_functions(folder, pool, directions, n_features):
    assert run("transform", *GOOD, "--out", "f.npz", "--levels", 4, "--pool", pool) == 0
    found, expected = np.load("f.npz"), radoncdt.pooled_nrcdt([SHAPE, SHAPE], n_levels=4, pool=pool)
    assert str(found["directions"]) == directions
    assert found["features"].shape == (2, n_features)
    assert_allclose(found["features"], expected, atol=1e-6)


def test_transform_keeps_so_many_components(folder):
    arguments = ("--out", "f.npz", "--angles", 4, "--levels", 8, "--pool", "fourier")
    assert run("transform", *GOOD, *arguments, "--components", 3) == 0
    assert np.load("f.npz")["features"].shape == (2, 24)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pool", "sorted", "--directions", "equispaced"], "--directions must be 'whitened' for the pool 'sorted'"),
        (["--components", 3], "--components is for the pools sorted and fourier, got it with 'max'"),
        (["--pool", "none", "--components", 3], "--components is for the pools sorted and fourier, got it with 'none'"),
        (["--pool", "fourier", "--angles", 4, "--components", 6], "--components must be at most 5 for 4 angles, got 6"),
    ],
)
def test_transform_refuses_pools_that_cannot_be(folder, options, message, capsys):
    assert run("transform", *GOOD, "--out", "f.npz", *options) == 2
    assert message in capsys.readouterr().err


def test_transform_of_all_directions_keeps_their_axis(folder):
    assert run("transform", "dark.png", "--out", "f.npz", "--pool", "none", "--angles", 4, "--levels", 8) == 0
    assert np.load("f.npz")["features"].shape == (1, 4, 8)


def test_transform_names_what_it_refuses_and_goes_on(folder, capsys):
    assert run("transform", *BAD, *GOOD, "--out", "f.npz") == 1
    out, err = capsys.readouterr()
    for name, reason in BAD.items():
        assert f"radoncdt: {name}: {reason}" in err
    assert list(np.load("f.npz")["paths"]) == GOOD
    assert out == "f.npz: 64 features of 2 images, 5 refused\n"


def test_transform_of_many_files_goes_in_batches(folder, monkeypatch):
    monkeypatch.setattr(cli.transform, "BATCH", 2)
    names = [str(save(f"{k}.png", 255 - 255 * SHAPE)) for k in range(5)]
    assert run("transform", *names, "--out", "f.npz") == 0
    assert list(np.load("f.npz")["paths"]) == names


def test_file_names_may_be_any_bytes(folder):
    name = os.fsdecode(b"caf\xe9.png")
    try:
        save(name, 255 - 255 * SHAPE)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    assert run("transform", name, "--out", "f.csv") == 0
    assert b"caf\xe9.png" in (folder / "f.csv").read_bytes()
    assert run("show", name, "--out", ".", "--angles", 8) == 0


def test_a_file_that_cannot_be_written_is_said_in_a_line(folder, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    assert run("transform", "dark.png", "--out", "f.npz") == 2
    assert "radoncdt: cannot write: [Errno 28] No space left" in capsys.readouterr().err


def test_nothing_is_written_where_nothing_can_be_read(folder, capsys):
    (folder / "f.npz").write_text("old")
    assert run("transform", *BAD, "--out", "f.npz") == 1
    assert (folder / "f.npz").read_text() == "old"
    assert "none of 5 files could be read; f.npz is not written" in capsys.readouterr().err


def test_an_interrupted_run_leaves_the_old_file(folder, monkeypatch, capsys):
    (folder / "f.npz").write_text("old")
    before = sorted(os.listdir())

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupt)
    assert run("transform", *GOOD, "--out", "f.npz") == 130
    assert (folder / "f.npz").read_text() == "old"
    assert sorted(os.listdir()) == before
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transform", "dark.png", "--out", "f.txt"], "--out must end in .npz or .csv, got f.txt"),
        (["transform", "dark.png", "--out", "no/f.npz"], "--out must be in a folder that exists, got no/f.npz"),
        (["transform", "dark.png"], "--out"),
        (["transform", "dark.png", "--out", "f.npz", "--angles", "0"], "--angles must be at least 1, got 0"),
        (["transform", "dark.png", "--out", "f.npz", "--levels", "1"], "--levels must be at least 2, got 1"),
        (["transform", "dark.png", "--out", "f.npz", "--levels", "10000000000"], "--levels must be at most 1,048,576"),
        (["transform", "dark.png", "--out", "f.npz", "--angles", "10000000000"], "--angles must be at most 65,536"),
        (["transform", "dark.png", "--out", "f.npz", "--jobs", "0"], "--jobs must not be 0"),
        (["transform", "dark.png", "--out", "f.npz", "--pool", "sum"], "invalid choice: 'sum'"),
        (["transform", "empty", "--out", "f.npz"], "no image files in empty"),
        (["show", "dark.png", "--out", "f.xyz"], "or a file that ends in .png, .pdf or .svg, got f.xyz"),
        (["show", "dark.png", "--out", "no/f.png"], "--out must be in a folder that exists"),
        (["transform", "dark.png", "--out", "empty.csv"], "--out must be a file, got the folder empty.csv"),
        (["show", "dark.png", "bright.png", "--out", "f.png"], "--out must be a folder that exists, for 2 images"),
        ([], "COMMAND"),
    ],
)
def test_wrong_calls_are_refused(folder, capsys, arguments, message):
    (folder / "empty").mkdir()
    (folder / "empty.csv").mkdir()
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "f.npz").exists()


# ---------------------------------------------------------------- show


def test_show_writes_the_picture(folder, capsys):
    assert run("show", "dark.png", "--out", "picture.png", "--angles", 16) == 0
    assert capsys.readouterr().out == "picture.png\n"
    with Image.open("picture.png") as picture:
        assert picture.size[0] > 800


def test_show_names_the_picture_where_no_window_can_open(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli.show, "_has_window", lambda: False)
    assert run("show", "dark.png", "text.png", "bright.png", "--angles", 8) == 1
    out, err = capsys.readouterr()
    assert out.split() == ["dark_pipeline.png", "bright_pipeline.png"]
    assert "text.png: is not an image" in err


def test_show_writes_several_pictures_into_a_folder(folder):
    (folder / "out").mkdir()
    assert run("show", *GOOD, "--out", "out", "--angles", 8) == 0
    assert sorted(os.listdir("out")) == ["bright_pipeline.png", "dark_pipeline.png"]


def test_show_does_not_write_over_its_own_pictures(folder):
    (folder / "sub").mkdir()
    save("sub/dark.png", 255 - 255 * SHAPE)
    assert run("show", "dark.png", "sub/dark.png", "--out", ".", "--angles", 8) == 0
    assert {"dark_pipeline.png", "dark_pipeline_2.png"} <= set(os.listdir())


def test_show_says_what_it_needs(folder, monkeypatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("show", "dark.png") == 2
    assert "pip install 'radoncdt[plot]'" in capsys.readouterr().err


def test_help_teaches(capsys):
    for arguments in (["--help"], ["show", "--help"], ["transform", "--help"]):
        assert run(*arguments) == 0
    out = capsys.readouterr().out
    assert "radoncdt transform catalogue/*.png --out features.npz" in out
    assert "total_variation" in out
    assert run("--version") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"radoncdt {radoncdt.__version__}"
    assert [line.split()[0] for line in lines[1:]] == ["kernels", "threads", "Python", "NumPy"]


# ---------------------------------------------------------------- register

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
    found = json.loads((folder / "map.json").read_text())
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
    assert run("register", "moving.png", "fixed.png", "--no-reflections", "--json", "map.json") == 3
    printed = capsys.readouterr()
    assert "mirrored" not in printed.out
    assert "; not credible: the distance is above 0.1, as between unrelated shapes" in printed.out
    assert "radoncdt: the map is not credible; the images may show different shapes" in printed.err
    assert not json.loads((folder / "map.json").read_text())["maps"][0]["credible"]
    assert run("register", "moving.png", "fixed.png", "--similarity") == 1
    assert "no map from MOVING to FIXED is plausible: none within similarity=True" in capsys.readouterr().err
    assert run("register", "moving.png", "fixed.png", "--max-scale", "1.2") == 1
    assert "none within max_scale=1.2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["moving.png", "missing.png"], 1, "missing.png: there is no such file"),
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
def test_register_refuses(pair, capsys, arguments, status, message):
    assert run("register", *arguments) == status
    assert message in capsys.readouterr().err


def test_transform_can_be_robust(folder):
    assert run("transform", "dark.png", "--robust", "--out", "f.npz") == 0
    with np.load("f.npz") as file:
        expected = radoncdt.max_nrcdt(SHAPE, directions="whitened", moments="robust", trim=1 / 16)
        assert_array_equal(file["features"], [expected])
        assert str(file["moments"]) == "robust"
    assert run("transform", "dark.png", "--robust", "--pool", "none", "--out", "g.npz") == 0
    with np.load("g.npz") as file:
        assert file["features"].shape == (1, 128, 56)

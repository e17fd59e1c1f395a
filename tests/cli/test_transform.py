"""The command transform."""

import csv
import os

import numpy as np
import pytest
from files import BAD, GOOD, SHAPE, run, save
from numpy.testing import assert_allclose, assert_array_equal

import radoncdt
from radoncdt import cli


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


def test_transform_can_use_the_directions_of_the_paper(folder):
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


def test_transform_keeps_the_requested_number_of_components(folder):
    arguments = ("--out", "f.npz", "--angles", 4, "--levels", 8, "--pool", "fourier")
    assert run("transform", *GOOD, *arguments, "--components", 3) == 0
    assert np.load("f.npz")["features"].shape == (2, 24)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pool", "sorted", "--directions", "equispaced"], "--directions must be 'whitened' for the pool 'sorted'"),
        (["--components", 3], "--components applies only to the pools sorted and fourier, got the pool 'max'"),
        (
            ["--pool", "none", "--components", 3],
            "--components applies only to the pools sorted and fourier, got the pool 'none'",
        ),
        (["--pool", "fourier", "--angles", 4, "--components", 6], "--components must be at most 5 for 4 angles, got 6"),
    ],
)
def test_transform_refuses_impossible_pools(folder, options, message, capsys):
    assert run("transform", *GOOD, "--out", "f.npz", *options) == 2
    assert message in capsys.readouterr().err


def test_transform_of_all_directions_keeps_their_axis(folder):
    assert run("transform", "dark.png", "--out", "f.npz", "--pool", "none", "--angles", 4, "--levels", 8) == 0
    assert np.load("f.npz")["features"].shape == (1, 4, 8)


def test_transform_names_refused_files_and_continues(folder, capsys):
    assert run("transform", *BAD, *GOOD, "--out", "f.npz") == 1
    out, err = capsys.readouterr()
    for name, reason in BAD.items():
        assert f"radoncdt: {name}: {reason}" in err
    assert list(np.load("f.npz")["paths"]) == GOOD
    assert out == "f.npz: 64 features of 2 images, 5 refused\n"


def test_transform_of_many_files_goes_in_batches(folder, monkeypatch):
    monkeypatch.setattr(cli.transform, "_BATCH", 2)
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


def test_a_file_that_cannot_be_written_is_reported_in_one_line(folder, monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    assert run("transform", "dark.png", "--out", "f.npz") == 2
    assert "radoncdt: cannot write: [Errno 28] No space left" in capsys.readouterr().err


def test_nothing_is_written_if_nothing_can_be_read(folder, capsys):
    (folder / "f.npz").write_text("old", encoding="utf-8")
    assert run("transform", *BAD, "--out", "f.npz") == 1
    assert (folder / "f.npz").read_text(encoding="utf-8") == "old"
    assert "none of 5 files could be read; f.npz is not written" in capsys.readouterr().err


def test_an_interrupted_run_leaves_the_old_file(folder, monkeypatch, capsys):
    (folder / "f.npz").write_text("old", encoding="utf-8")
    before = sorted(os.listdir())

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupt)
    assert run("transform", *GOOD, "--out", "f.npz") == 130
    assert (folder / "f.npz").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == before
    assert "interrupted" in capsys.readouterr().err


def test_transform_can_be_robust(folder):
    assert run("transform", "dark.png", "--robust", "--out", "f.npz") == 0
    with np.load("f.npz") as file:
        expected = radoncdt.max_nrcdt(SHAPE, directions="whitened", moments="robust", trim=1 / 16)
        assert_array_equal(file["features"], [expected])
        assert str(file["moments"]) == "robust"
    assert run("transform", "dark.png", "--robust", "--pool", "none", "--out", "g.npz") == 0
    with np.load("g.npz") as file:
        assert file["features"].shape == (1, 128, 56)

"""Checks of the files that commands write."""

import os
from argparse import Namespace
from pathlib import Path

import pytest

from radoncdt._validation import ArgumentValueError
from radoncdt.catalogue import Catalogue
from radoncdt.cli.outputs import ANY, FIGURE, check_outputs, write_bytes


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_output_and_new_files_are_good():
    check_outputs(Namespace(out=None, show=None), [], out=[".png"], show=FIGURE)
    check_outputs(Namespace(out=Path("new.png"), mask=None), [Path("missing.png")], out=[".png"])
    check_outputs(Namespace(out=Path("a.anything"), show=Path("new.SVG")), [], out=ANY, show=FIGURE)
    check_outputs(Namespace(out=Path("a.png"), show=Path("b.png")), [], out=FIGURE, show=FIGURE)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("a.txt", "must end in .png or .pdf, got a.txt"),
        ("no/a.png", "must be in a folder that exists, got no/a.png"),
        ("folder.png", "must be a file and not a folder, got folder.png"),
        ("input.png", "must not replace a file that the command reads, got input.png"),
        ("mask.png", "must not replace a file that the command reads, got mask.png"),
        ("link.png", "must not replace a file that the command reads, got link.png"),
        ("m.png", "must not replace a catalogue or another database, got m.png"),
    ],
)
def test_bad_outputs_are_refused(folder, name, problem):
    (folder / "folder.png").mkdir()
    (folder / "input.png").touch()
    (folder / "mask.png").touch()
    os.link("input.png", "link.png")
    with Catalogue("m.png", create=True):
        pass
    with pytest.raises(ArgumentValueError) as caught:
        check_outputs(Namespace(out=Path(name), mask=Path("mask.png")), [Path("input.png")], out=[".png", ".pdf"])
    assert (caught.value.argument, caught.value.problem) == ("out", problem)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_folders_that_are_not_writable_are_refused(folder):
    (folder / "closed").mkdir(mode=0o555)
    with pytest.raises(ArgumentValueError, match="must be in a folder that is writable"):
        check_outputs(Namespace(out=Path("closed/a.png")), [], out=ANY)


def test_figures_have_formats():
    with pytest.raises(ArgumentValueError, match=r"`show` must end in .png, .pdf or .svg, got a.npz"):
        check_outputs(Namespace(show=Path("a.npz")), [], show=FIGURE)


def test_two_outputs_are_two_files():
    with pytest.raises(ArgumentValueError, match=r"`out` and --show must be two files, got a\.png twice"):
        check_outputs(Namespace(out=Path("a.png"), show=Path("a.png")), [], out=[".png"], show=FIGURE)


def test_texts_are_written_in_utf8():
    write_bytes(Path("a.txt"), "±")
    write_bytes(Path("b.txt"), b"\xb1")
    assert (Path("a.txt").read_bytes(), Path("b.txt").read_bytes()) == (b"\xc2\xb1", b"\xb1")

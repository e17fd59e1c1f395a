"""The command show."""

import os

from files import GOOD, SHAPE, run, save
from matplotlib.figure import Figure
from PIL import Image

from radoncdt import cli


def test_show_writes_the_picture(folder, capsys):
    assert run("show", "dark.png", "--out", "picture.png", "--angles", 16) == 0
    assert capsys.readouterr().out == "picture.png\n"
    with Image.open("picture.png") as picture:
        assert picture.size[0] > 800


def test_show_takes_a_number_of_threads(folder, capsys):
    for jobs in (1, 2):
        assert run("show", "dark.png", "--out", f"{jobs}.png", "--angles", 8, "--jobs", jobs) == 0
    assert (folder / "1.png").read_bytes() == (folder / "2.png").read_bytes()
    assert run("show", "dark.png", "--jobs", 0) == 2
    assert "--jobs must not be 0" in capsys.readouterr().err


def test_show_names_the_picture_where_no_window_can_open(folder, capsys, monkeypatch):
    monkeypatch.setattr(cli.show, "_find_pyplot", lambda: None)
    assert run("show", "dark.png", "text.png", "bright.png", "--angles", 8) == 1
    out, err = capsys.readouterr()
    assert out.split() == ["dark_pipeline.png", "bright_pipeline.png"]
    assert "text.png: unrecognised image format" in err


def test_show_opens_one_window_per_picture(folder, monkeypatch):
    class Pyplot:
        figures, shown = [], []

        def figure(self, **settings):
            self.figures.append(Figure(**settings))
            return self.figures[-1]

        def show(self):
            self.shown.append(len(self.figures))

    monkeypatch.setattr(cli.show, "_find_pyplot", Pyplot)
    before = os.listdir()
    assert run("show", *GOOD, "--angles", 8) == 0
    assert [figure.get_suptitle() for figure in Pyplot.figures] == GOOD
    assert Pyplot.shown == [2]
    assert run("show", "text.png") == 1
    assert Pyplot.shown == [2]  # there is nothing to show
    assert os.listdir() == before


def test_show_writes_several_pictures_into_a_folder(folder):
    (folder / "out").mkdir()
    assert run("show", *GOOD, "--out", "out", "--angles", 8) == 0
    assert sorted(os.listdir("out")) == ["bright_pipeline.png", "dark_pipeline.png"]


def test_show_does_not_overwrite_its_own_pictures(folder):
    (folder / "sub").mkdir()
    save("sub/dark.png", 255 - 255 * SHAPE)
    assert run("show", "dark.png", "sub/dark.png", "--out", ".", "--angles", 8) == 0
    assert {"dark_pipeline.png", "dark_pipeline_2.png"} <= set(os.listdir())


def test_show_names_the_missing_package(folder, monkeypatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("show", "dark.png") == 2
    assert "pip install 'radoncdt[plot]'" in capsys.readouterr().err


def test_show_creates_the_folder_of_pictures(folder, capsys):
    assert run("show", "dark.png", "bright.png", "--out", "figures", "--angles", 8) == 0
    assert capsys.readouterr().out.split() == ["figures/dark_pipeline.png", "figures/bright_pipeline.png"]

"""The command search: the score it sorts by, and which maps it admits."""

import re
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import MARKS, save, save_marks

import radoncdt
from radoncdt.catalogue import Catalogue


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a catalogue of twelve marks, one of them drawn again, and one drawn six times as wide."""
    folder = tmp_path_factory.mktemp("command")
    save_marks(folder / "marks")
    with Catalogue(folder / "m.db", create=True) as catalogue:
        catalogue.add(folder / "marks")
    save(folder / "query.png", MARKS.queries(1, rng=4).images[0])
    save(folder / "wide.png", np.repeat(MARKS[1].image()[::2, ::2], 6, axis=1))
    return folder


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def test_the_score_is_printed_and_sorts(folder, capsys):
    assert run("search", "m.db", "query.png", "--report", "r.html") == 0
    scores = re.findall(r"entry \d+ +score (\d\.\d{3})  misfit", capsys.readouterr().out)
    with Catalogue("m.db") as catalogue:
        matches = catalogue.search("query.png", limits=radoncdt.Plausible(max_aspect=4.0, max_shear=60.0)).matches
    assert scores == [f"{match.score:.3f}" for match in matches] == sorted(scores)
    for match in matches:
        assert match.score == pytest.approx(match.misfit + match.distance / 4, rel=1e-12)
    report = Path("r.html").read_text("utf-8")
    assert re.findall(r"score (\d\.\d{3})<br>misfit", report) == scores


@pytest.mark.parametrize(
    ("options", "limits"),
    [
        ([], (4.0, 60.0)),
        (["--max-aspect", "none"], (None, 60.0)),
        (["--max-aspect", "NONE", "--max-shear", "none"], (None, None)),
        (["--max-aspect", "1.2", "--max-shear", "5"], (1.2, 5.0)),
    ],
)
def test_limits_of_maps_have_defaults_and_can_be_lifted(folder, monkeypatch, options, limits):
    search, seen = Catalogue.search, []

    def spied(self, image, **how):
        seen.append((how["limits"].max_aspect, how["limits"].max_shear))
        return search(self, image, **how)

    monkeypatch.setattr(Catalogue, "search", spied)
    assert run("search", "m.db", "query.png", *options) == 0
    assert seen == [limits]


def test_maps_that_distort_a_lot_are_only_admitted_on_request(folder, capsys):
    assert run("search", "m.db", "wide.png", "--top", "1", "--max-aspect", "none", "--max-shear", "none") == 0
    assert "entry 2 " in capsys.readouterr().out
    assert run("search", "m.db", "wide.png", "--top", "12") == 0
    scales = re.findall(r"scaled by ([\d.]+) in x and ([\d.]+) in y", capsys.readouterr().out)
    assert scales
    assert max(max(map(float, pair)) / min(map(float, pair)) for pair in scales) < 4.2


def test_limits_that_are_not_numbers_are_refused(folder, capsys):
    assert run("search", "m.db", "query.png", "--max-aspect", "much") == 2
    assert "--max-aspect: must be a number or none, got 'much'" in capsys.readouterr().err
    assert run("search", "m.db", "query.png", "--max-shear", "-3") == 2

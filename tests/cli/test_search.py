"""The command search: scores, p-values, and the maps that it admits."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from files import run
from marks import MARKS, save, save_marks

import radoncdt
from radoncdt import datasets
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
    assert re.findall(r">score (\d\.\d{3})<", report) == scores


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
    assert "--max-aspect must be a number or none, got 'much'" in capsys.readouterr().err
    assert run("search", "m.db", "query.png", "--max-shear", "-3") == 2


# ---------------------------------------------------------------- p-values


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A folder with a catalogue of 30 marks that is not calibrated, a copy of it that is, and two queries."""
    folder = tmp_path_factory.mktemp("p-values")
    marks = datasets.watermarks(30, seed=3)
    for i in range(30):
        save(folder / "marks" / f"{i:03}.png", marks[i].image())
    queries = marks.queries(2, rng=4)
    for i in range(2):
        save(folder / "queries" / f"{i}.png", queries.images[i])
    with Catalogue(folder / "m.db", create=True) as catalogue:
        catalogue.add(folder / "marks")
    shutil.copy(folder / "m.db", folder / "calibrated.db")
    with Catalogue(folder / "calibrated.db", write=True) as catalogue:
        catalogue.calibrate(n_marks=20)
    return folder


@pytest.fixture
def in_many(many, monkeypatch):
    monkeypatch.chdir(many)


def test_p_values_are_shown(in_many, capsys):
    assert run("search", "calibrated.db", "queries/0.png", "--csv", "found.csv", "--report", "found.html") == 0
    out, err = capsys.readouterr()
    assert err == ""
    shown = re.findall(r"distance \d\.\d{3}  p-value ([\d.]+)", out)
    with Catalogue("calibrated.db") as catalogue:
        matches = catalogue.search("queries/0.png").matches
    assert shown == [f"{match.p_value:.2g}" for match in matches]
    with open("found.csv", encoding="utf-8", newline="") as file:
        assert [float(row["p_value"]) for row in csv.DictReader(file)] == pytest.approx([m.p_value for m in matches])
    assert "not calibrated" not in Path("found.html").read_text("utf-8")


def test_an_uncalibrated_catalogue_yields_no_p_values_and_says_so_once(in_many, capsys):
    assert run("search", "m.db", "queries", "--top", 2, "--report", "found.html") == 0
    out, err = capsys.readouterr()
    note = "The catalogue is not calibrated, or its calibration is outdated, so there are no p-values; "
    note += "run `radoncdt catalogue calibrate m.db`."
    assert err == f"radoncdt: {note}\n"
    assert "p-value" not in out
    assert out.count("misfit") == 4
    assert note in Path("found.html").read_text("utf-8").replace("&#39;", "'")


def test_a_small_catalogue_yields_no_p_values_and_says_why(folder, capsys):
    assert run("search", "m.db", "query.png") == 0
    out, err = capsys.readouterr()
    assert err == "radoncdt: The catalogue has fewer than 30 entries, too few for p-values.\n"
    assert "p-value" not in out


def test_a_prior_is_passed_on_and_its_missing_p_values_are_explained(in_many, capsys):
    assert run("search", "calibrated.db", "queries", "--prior", "upright", "--report", "found.html", "--top", 3) == 0
    out, err = capsys.readouterr()
    note = "Maps have the penalties aspect=0.006, rotation=0.03, mirror=0.06. "
    note += "Searches with a prior have no p-values, because catalogues are calibrated without priors."
    assert err == f"radoncdt: {note}\n"
    assert "p-value" not in out
    assert note in Path("found.html").read_text("utf-8")
    with Catalogue("calibrated.db") as catalogue:
        expected = [catalogue.search(f"queries/{k}.png", prior="upright", top=3).matches for k in range(2)]
    scores = re.findall(r"entry \d+ +score (\d\.\d{3})  misfit", out)
    assert scores == [f"{match.score:.3f}" for matches in expected for match in matches]


def test_penalties_of_zero_are_no_prior(in_many, capsys):
    outs = []
    for options in ([], ["--prior", "any"], ["--prior", "0,0"]):
        assert run("search", "calibrated.db", "queries", *options) == 0
        outs.append(capsys.readouterr())
    assert outs[0] == outs[1] == outs[2]
    assert outs[0].err == ""
    assert "p-value" in outs[0].out


@pytest.mark.parametrize("name", ["m.db", "calibrated.db"])
def test_a_search_never_writes(in_many, many, name):
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in many.glob("*.db*")}
    assert run("search", name, "queries") == 0
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in many.glob("*.db*")} == before


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["none.db", "query.png"], 2, "none.db: there is no such catalogue"),
        (["query.png", "query.png"], 2, "query.png: is not a catalogue"),
        (["m.db", "none.png"], 1, "none.png: no such file"),
        (["m.db", "empty"], 2, "IMAGE must be image files, or folders that contain some, got empty"),
        (["m.db", "query.png", "--top", "0"], 2, "--top must be at least 1, got 0"),
        (["m.db", "query.png", "--jobs", "0"], 2, "--jobs must not be 0"),
        (["m.db", "query.png", "--where", "mtoif = 'x'"], 2, "--where "),
        (["m.db", "query.png", "--size-mm", "3"], 2, "--size-mm must be width and height such as 35x42.5, got '3'"),
        (["m.db", "query.png", "--size-mm", "3x0"], 2, "--size-mm must be width and height in millimetres"),
        (["m.db", "query.png", "--report", "r.txt"], 2, "--report must end in .html or .htm, got r.txt"),
        (["m.db", "query.png", "--csv", "m.db"], 2, "--csv must end in .csv, got m.db"),
        (["m.db", "query.png", "--prior", "sideways"], 2, "--prior must be any, upright, photograph, or two penalties"),
        (["m.db", "query.png", "--prior=0.1,-1"], 2, "--prior must be any, upright, photograph, or two penalties"),
        (["m.db", "query.png", "--quiet"], 2, "--quiet needs --report or --csv"),
        (["m.db", "query.png", "--no-chances"], 2, "--no-chances is not an option of `radoncdt search`"),
    ],
)
def test_wrong_calls_are_refused(folder, capsys, arguments, status, message):
    Path("empty").mkdir(exist_ok=True)
    assert run("search", *arguments) == status
    assert message in capsys.readouterr().err


def test_several_images_are_named(folder, capsys):
    assert run("search", "m.db", "query.png", "wide.png", "--top", 1) == 0
    names = [line for line in capsys.readouterr().out.splitlines() if line.endswith(".png") and " " not in line]
    assert names == ["query.png", "wide.png"]


def test_entries_that_no_map_leads_to_are_counted(folder, capsys):
    assert run("search", "m.db", "query.png", "--top", 20, "--max-aspect", "1.05", "--max-shear", "1") == 0
    *lines, last = capsys.readouterr().out.splitlines()
    n_found = sum(line.lstrip().startswith(tuple("123456789")) for line in lines)
    assert 0 < n_found < 11
    assert last == f"no plausible map reaches the other {12 - n_found} entries"

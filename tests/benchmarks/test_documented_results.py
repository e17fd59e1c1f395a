"""Sentences of the guides that state measured results: the numbers are those of the stored results, rounded."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import comparison, priors, registration_page
from benchmarks.comparison_tables import compare_speed, select
from radoncdt.matching.registration import CREDIBLE_DISTANCE

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def find_gains():
    """Accuracies without a prior and with "upright", for digits and capitals that are hardly rotated."""
    (upright,) = (each for each in load(priors.RESULTS)["priors"] if each["prior"] == "upright")
    sets = [upright["sets"][name] for name in ("digits, ±15°", "capitals, ±15°")]
    return [found[key] for found in sets for key in ("any", "current")]


def find_moments():
    """Accuracies of PyTransKit on symbols, normalised over the levels and by the moments of the image."""
    records = select(load(comparison.RESULTS)["records"], part="recognition", peer="PyTransKit")
    symbols = [r["accuracy"] for r in records if "symbols" in r["case"]]
    return [min(symbols), max(symbols)]


def find_times():
    records = load(comparison.RESULTS)["records"]
    return [compare_speed(records, kind=kind)[0] for kind in ("dense", "drawing")]


def find_distances(*names):
    figures = registration_page.load_figures()
    return [figures[f"{name}: distance, median"] for name in names]


def find_shares(*names):
    figures = registration_page.load_figures()
    return [figures[f"{name}: share beyond {CREDIBLE_DISTANCE}"] for name in names]


CLAIMS = {
    "upright": ("few-examples.md", r"from # to # on digits and from # to # on capitals", find_gains),
    "moments": ("migrate.md", r"the accuracy on symbols from # to #", find_moments),
    "times": ("choose-features.md", r"a dense image takes # ms and a line drawing takes # ms", find_times),
    "unrelated": ("register.md", r"a share of # for two symbols", lambda: find_shares("two symbols")),
    "specks": ("register.md", r"a share of # with specks", lambda: find_shares("a mark and its specks, robust")),
    "medians": (
        "judge-a-distance.md",
        r"two digits, median \| # .*motifs of two kinds, median \| # .*two symbols, median \| # ",
        lambda: find_distances("two digits", "motifs of two kinds", "two symbols"),
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_the_guides_state_stored_results(name):
    page, sentence, find = CLAIMS[name]
    text = " ".join((HOWTO / page).read_text(encoding="utf-8").split())
    found = re.search(sentence.replace("#", r"(\d+\.\d+)"), text, re.IGNORECASE)
    assert found, sentence
    stated, stored = found.groups(), find()
    assert list(stated) == [
        f"{value:.{len(shown.partition('.')[2])}f}" for shown, value in zip(stated, stored, strict=True)
    ]

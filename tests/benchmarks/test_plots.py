"""The pictures of the page of benchmarks."""

import json

import pytest

from benchmarks import page, plots
from benchmarks.comparison import RESULTS
from radoncdt import plot

RECORDS = json.loads(RESULTS.read_text(encoding="utf-8"))["records"]


@pytest.mark.parametrize("make", plots.PICTURES)
def test_pictures_are_drawn(make):
    _, figure = make(RECORDS)
    assert all(ax.lines for ax in figure().axes)


@pytest.mark.parametrize("make", plots.PICTURES)
def test_the_pictures_show_the_results(make):
    facts, _ = make(RECORDS)
    shown = plot.read_facts(page.PAGE.with_name(f"benchmarks_{make.__name__}.png"))
    assert json.dumps(shown) == json.dumps(facts)

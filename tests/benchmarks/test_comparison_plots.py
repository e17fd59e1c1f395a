"""The pictures of the page of benchmarks."""

import json

import pytest

from benchmarks import comparison_page as page
from benchmarks import comparison_plots as plots
from benchmarks.comparison import RESULTS
from radoncdt import plot

RECORDS = json.loads(RESULTS.read_text(encoding="utf-8"))["records"]


@pytest.mark.parametrize("name", plots.PICTURES)
def test_pictures_are_drawn(name):
    _, draw_figure = plots.PICTURES[name](RECORDS)
    assert all(ax.lines for ax in draw_figure().axes)


@pytest.mark.parametrize("name", plots.PICTURES)
def test_the_pictures_show_the_results(name):
    facts, _ = plots.PICTURES[name](RECORDS)
    shown = plot.read_facts(page.PAGE.parents[1] / "pictures" / f"benchmarks_{name}.png")
    assert json.dumps(shown) == json.dumps(facts)

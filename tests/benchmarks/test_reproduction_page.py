"""The tables of the documents about the paper's experiments, and their results measured again."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks import reproduction_page
from benchmarks.report import END
from radoncdt import datasets
from radoncdt.reproduction import robustness
from radoncdt.reproduction.measurement import summarise
from radoncdt.reproduction.protocol import Draw, measure_cells
from radoncdt.reproduction.tables import find_printed, list_variants


@pytest.mark.parametrize("name", reproduction_page.PAGES)
def test_the_tables_show_the_results(name):
    stored = reproduction_page.load_stored()
    text = (reproduction_page.DOCS / name).read_text(encoding="utf-8")
    assert reproduction_page.insert_tables(name, text, stored) == text
    with pytest.raises(ValueError, match="there must be one place between"):
        reproduction_page.insert_tables(name, text.replace(END, ""), stored)


SHOWN = 0.0005  # half of the last digit that the page shows


def measure(cells):
    """Measure cells in ten draws of seed 0."""
    mnist, draws = datasets.load_mnist(), {}
    with threadpool_limits(1):
        for protocol in ("published", "independent"):
            some = [cell for cell in cells if cell.protocol == protocol]
            for draw in range(10 if some else 0):
                for cell, measurement in measure_cells(some, Draw(0, draw, mnist)):
                    draws.setdefault(cell, {})[draw] = measurement
    return {cell: summarise(cell, find_printed(cell), draws[cell]) for cell in cells}


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table2", "table3", "table4"])
def test_the_cells_are_measured_again(table):
    """All cells that the page shows have the stored accuracies, also in both columns of the variants."""
    stored = reproduction_page.load_stored()
    summaries = reproduction_page.load_cells(stored["cells"])
    chosen = [c for c in summaries if c.table == table and (c.protocol == "published" or c.feature == "euclidean")]
    pairs = {}
    for variant in list_variants(None, None, datasets.load_mnist()):
        shown = [r for r in stored["variants"] if r["variant"] == variant.title and r["table"] == table]
        for published, otherwise in variant.pairs:
            names = ("table", "dataset", "feature", "norm", "n_angles", "class_size")
            for record in shown if published.table == table else ():
                if all(record[name] == getattr(published, name) for name in names):
                    pairs[published, otherwise] = record
    found = measure(list(dict.fromkeys([*chosen, *(cell for pair in pairs for cell in pair)])))
    for cell in chosen:
        for name in ("mean", "fold_maximum", "ties", "flag"):
            measured, expected = (getattr(summary, name) for summary in (found[cell], summaries[cell]))
            assert measured == (None if expected is None else pytest.approx(expected, abs=SHOWN)), (cell, name)
    assert len(pairs) == sum(record["table"] == table for record in stored["variants"])
    for (published, otherwise), record in pairs.items():
        means = found[published].mean, found[otherwise].mean
        assert means == pytest.approx((record["published_mean"], record["otherwise_mean"]), abs=SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elastic", "salt"])
def test_the_study_of_robustness_is_measured_again(name):
    """Only registration on two of the sets is measured; the other results are measured in the same way."""
    stored = {
        (r["dataset"], r["method"], r["n_train"], r["k"]): r for r in reproduction_page.load_stored()["robustness"]
    }
    trials = [
        trial
        for trial in robustness.list_trials(20)
        if trial.dataset == name and trial.method in ("registered", "robust") and trial.k == 1 and not trial.varied
    ]
    measured = dict(robustness.measure_trials(trials, 0, None, -1))
    for trial in trials:
        expected = stored[name, trial.method, trial.n_train, 1]["mean"]
        assert np.mean(measured[trial].accuracies) == pytest.approx(expected, abs=SHOWN)

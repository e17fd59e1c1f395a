"""The few-shot study of robustness: the vote of neighbours, methods, the report, resuming."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from radoncdt import datasets, reproduction
from radoncdt.reproduction import baselines, labels, robustness

# ---------------------------------------------------------------- neighbours


@pytest.mark.parametrize("k", [1, 2, 3, 5, 11])
def test_the_vote_is_that_of_scikit_learn(k):
    rng = np.random.default_rng(k)
    points, others = rng.normal(size=(60, 3)), rng.normal(size=(200, 3))
    labels = np.array(["c", "a", "d", "b"])[rng.integers(4, size=60)]
    distances = np.linalg.norm(others[:, None] - points, axis=-1)
    model = KNeighborsClassifier(k, metric="precomputed").fit(np.zeros((60, 60)), labels)
    found = robustness.vote(distances, labels, [1, k])
    np.testing.assert_array_equal(found[1], model.predict(distances))
    np.testing.assert_array_equal(found[0], labels[distances.argmin(axis=1)])


def test_ties_go_to_the_first_label_and_the_first_neighbour():
    labels = np.array([2, 1, 2, 1])
    (found,) = robustness.vote(np.array([[0.1, 0.2, 9.0, 9.0]]), labels, [2])
    assert found.tolist() == [1]
    (found,) = robustness.vote(np.array([[3.0, 3.0, 3.0, 3.0]]), labels, [1])
    assert found.tolist() == [2]


def test_splits_train_on_some_of_each_class_and_test_on_the_rest():
    labels = np.repeat([0, 1, 2], 10)
    few, more = (list(robustness.split_images(labels, n, 3, seed=0)) for n in (2, 4))
    assert len({tuple(train) for train, _ in few}) == 3
    for (train, test), (larger, _) in zip(few, more):
        assert np.bincount(labels[train]).tolist() == [2, 2, 2]
        assert sorted([*train, *test]) == list(range(30))
        assert set(train) <= set(larger)
    (first, *_), *_ = robustness.split_images(labels, 2, 1, seed=0)
    np.testing.assert_array_equal(first, few[0][0])


def test_distances_of_features_are_euclidean():
    features = np.random.default_rng(0).normal(size=(30, 700))
    expected = np.linalg.norm(features[:, None] - features, axis=-1)
    np.testing.assert_allclose(robustness.euclidean_distances(features), expected, atol=1e-5)


def test_standardised_features_have_the_scale_of_the_training_images():
    rng = np.random.default_rng(0)
    features, train, test = rng.normal(size=(20, 3)) * [1, 100, 0], np.arange(8), np.arange(8, 20)
    scaled = features[:, :2] / features[train, :2].std(axis=0)
    expected = np.linalg.norm(scaled[test, None] - scaled[train], axis=-1)
    np.testing.assert_allclose(robustness._compare_standardised(features, test, train), expected)


@pytest.mark.parametrize("method", [m for m in labels.METHODS if m not in ("pixels", "rcdt", "anrcdt", "hu", "hog")])
def test_methods_see_through_affine_maps(method):
    """The nearest of a copy of each symbol is another copy of it; HOG sees rotations, Hu moments see shear."""
    classes = ("circle-star1", "square-star8", "shield-triangle")
    images, labels = datasets.few_shot("aff", 3, rng=2, classes=classes)
    compare = robustness.make_comparison(method, images, 1)
    every = np.arange(len(images))
    distances = np.array(compare(every, every), np.float64)
    np.fill_diagonal(distances, np.inf)
    assert (labels[distances.argmin(axis=1)] == labels).all()


# ---------------------------------------------------------------- the whole

CHOICE = reproduction.Choice("robustness", repetitions=2)


@pytest.fixture(scope="module", autouse=True)
def few_images():
    """The same study with few images."""
    with pytest.MonkeyPatch.context() as patch:
        study = robustness.Study(5, (2, 3), (1, 3))
        patch.setattr(robustness, "STUDIES", dict.fromkeys(datasets.FEW_SHOT, study))
        curves = (
            robustness.Curve("salt", "dots", (0, 20), 4, 2),
            robustness.Curve("elastic", "amplitude", (0, 10), 4, 2),
        )
        patch.setattr(robustness, "CURVES", curves)
        yield


@pytest.fixture(scope="module")
def report(tmp_path_factory, digits):
    """The folder and the outcome of the study."""
    folder = tmp_path_factory.mktemp("robustness")
    return folder, reproduction.reproduce(folder, CHOICE, mnist=digits, n_jobs=1)


def test_there_is_a_record_for_each_figure(report, read_records):
    folder, outcome = report
    assert outcome.missing == 0
    found = read_records(folder, "robustness")
    places = {(r["dataset"], r["n_train"], r["method"], r["k"]) for r in found}
    assert len(places) == len(found) == 5 * 2 * len(labels.METHODS) * 2
    for record in found:
        assert record["repetitions"] == 2
        assert 0 <= record["mean"] <= 1
        assert record["authors"] is None  # whose training sets are larger
    curves = read_records(folder, "robustness_curves")
    assert {(r["varied"], r["level"]) for r in curves} == {
        ("dots", 0),
        ("dots", 20),
        ("amplitude", 0),
        ("amplitude", 10),
    }
    for name in ("robustness", "robustness_curves"):
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert [line["mean"] for line in lines] == [str(r["mean"]) for r in read_records(folder, name)]


def test_invariant_methods_recognise_the_symbols_and_pixels_do_not(report, read_records):
    means = {
        (r["dataset"], r["method"]): r["mean"]
        for r in read_records(report[0], "robustness")
        if (r["n_train"], r["k"]) == (3, 1)
    }
    assert means["aff", "registered"] == 1
    assert means["aff", "pixels"] < 0.5
    assert means["all", "robust"] > 0.9
    assert means["all", "registered"] < 0.8


def test_the_report_has_tables_figures_and_settings(report):
    folder, outcome = report
    for name in ("report.md", "report.html"):
        text = (folder / name).read_text(encoding="utf-8")
        for word in ("2506.08761", "LinMNIST-10", "Zernike", "2 repetitions", "mahotas", "robust, registered"):
            assert word in text
        for summary in outcome.trials:
            if not summary.measurand.varied:
                assert f"{summary.mean:.3f}" in text
    pictures = {path.name for path in (folder / "figures").iterdir()}
    assert pictures == {f"robustness_{n}.{s}" for n in ("images", "curves") for s in ("png", "svg")}
    setup = json.loads((folder / "setup.json").read_text(encoding="utf-8"))
    assert setup["repetitions"] == 2
    assert setup["mahotas"] == baselines.find_versions()["mahotas"]
    assert setup["seconds"]["robustness, aff"] > 0


def test_figures_do_not_depend_on_threads(report, tmp_path, digits, monkeypatch, read_records):
    monkeypatch.setattr(robustness, "STUDIES", {"all": robustness.STUDIES["all"]})
    monkeypatch.setattr(robustness, "CURVES", robustness.CURVES[:1])
    reproduction.reproduce(tmp_path, CHOICE, mnist=digits, n_jobs=3)
    assert read_records(tmp_path, "robustness") == [
        record for record in read_records(report[0], "robustness") if record["dataset"] == "all"
    ]


def test_a_second_run_measures_nothing_again(report, digits, monkeypatch, read_records):
    folder, _ = report
    before = read_records(folder, "robustness")
    monkeypatch.setattr(robustness, "make_comparison", lambda *_: pytest.fail("measured again"))
    run = reproduction.prepare(folder, CHOICE, digits)
    assert run.done == run.total == len(before) + len(read_records(folder, "robustness_curves"))
    run.measure()
    reproduction.write_report(run)
    assert read_records(folder, "robustness") == before
    assert reproduction.prepare(folder, replace(CHOICE, repetitions=3), digits).done == 0
    assert reproduction.prepare(folder, replace(CHOICE, seed=1), digits).done == 0


def test_an_interrupt_leaves_a_partial_report_that_is_completed_later(
    report, tmp_path, digits, monkeypatch, read_records, interrupt_after
):
    monkeypatch.setattr(robustness, "STUDIES", {"salt": robustness.STUDIES["salt"]})
    monkeypatch.setattr(robustness, "CURVES", robustness.CURVES[:1])
    with interrupt_after(10):
        reproduction.reproduce(tmp_path, CHOICE, mnist=digits, n_jobs=1)
    assert len(read_records(tmp_path, "robustness")) == 10
    assert "This report is partial: " in (tmp_path / "report.md").read_text(encoding="utf-8")
    run = reproduction.prepare(tmp_path, CHOICE, digits)
    assert run.done == 10
    run.measure(n_jobs=1)
    reproduction.write_report(run)
    assert read_records(tmp_path, "robustness") == [
        record for record in read_records(report[0], "robustness") if record["dataset"] == "salt"
    ]


def test_missing_baselines_are_named_and_the_rest_is_measured(tmp_path, digits, monkeypatch, read_records):
    monkeypatch.setattr(robustness, "STUDIES", {"aff": robustness.Study(3, (1,), (1,))})
    monkeypatch.setattr(robustness, "CURVES", ())
    choice = replace(CHOICE, repetitions=1)
    with monkeypatch.context() as patch:
        patch.setattr(baselines, "find_spec", lambda name: None if name == "mahotas" else True)
        reproduction.reproduce(tmp_path, choice, mnist=digits, n_jobs=1)
    assert {r["method"] for r in read_records(tmp_path, "robustness")} == set(labels.METHODS) - {"zernike"}
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert (
        "Omitted: Zernike moments, whitened image. mahotas is not installed: pip install 'radoncdt[reproduce]'" in text
    )
    assert "| mahotas | not installed |" in text
    run = reproduction.prepare(tmp_path, choice, digits)
    assert (run.done, run.total) == (len(labels.METHODS) - 1, len(labels.METHODS))  # once it is installed


def test_the_summary_compares_with_the_authors(tmp_path, monkeypatch, digits):
    monkeypatch.setattr(robustness, "STUDIES", {"aff": robustness.Study(12, (5,), (1,))})
    monkeypatch.setattr(robustness, "CURVES", ())
    outcome = reproduction.reproduce(tmp_path, CHOICE, mnist=digits, n_jobs=1)
    differences = [abs(s.difference) for s in outcome.trials if s.paper]
    text = (tmp_path / "report.md").read_text(encoding="utf-8").split("## Set-up")[0]
    assert "Robustness: 3 results can be compared with the authors'." in text
    assert f"The mean absolute difference is {np.mean(differences):.3f}." in text
    worst = max((s for s in outcome.trials if s.paper), key=lambda s: abs(s.difference))
    assert f"ours {worst.mean:.3f}, theirs {worst.paper.mean:.3f}." in text

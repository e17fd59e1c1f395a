"""Nearest neighbours: results of the full search, scikit-learn's conventions, plausibility, invalid input."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rows import OfRows, list_checks
from shapes import moved_symbols
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from radoncdt import (
    AffineNeighbors,
    AffineNeighborsClassifier,
    PointCloud,
    affine_distances,
    describe,
    push_forward,
)


@pytest.fixture(scope="module")
def drawn():
    return moved_symbols()


def test_more_levels_than_entries_can_be_fitted():
    model = AffineNeighbors(1, n_angles=4, n_levels=1500).fit(np.random.default_rng(0).random((3, 9, 9)))
    assert_array_equal(model.kneighbors(model.descriptors_, return_distance=False), [[0], [1], [2]])


def test_fitting_on_descriptors_removes_the_number_of_features():
    stack = np.random.default_rng(0).random((3, 9, 7))
    model = AffineNeighbors(1, image_shape=(9, 7)).fit(stack.reshape(3, -1))
    assert not hasattr(model.fit(describe(stack)), "n_features_in_")


def test_images_clouds_and_tables_are_read():
    rng = np.random.default_rng(0)
    stack = rng.random((8, 9, 7))
    clouds = [PointCloud(rng.normal(size=(9, 2))) for _ in range(3)]
    model = AffineNeighbors(1, n_angles=16).fit([*stack, *clouds])
    assert_array_equal(model.kneighbors([clouds[1], stack[4]], return_distance=False), [[9], [4]])
    table = AffineNeighbors(1, n_angles=16, image_shape=(9, 7)).fit(stack.reshape(8, -1))
    assert table.n_features_in_ == 63
    assert_array_equal(table.kneighbors(stack[2:4].reshape(2, -1), return_distance=False), [[2], [3]])
    with pytest.raises(ValueError, match="flattened images need `image_shape"):
        AffineNeighbors().fit(stack.reshape(8, -1))


def test_copies_are_classified_from_one_symbol_per_class(drawn):
    copies, symbols, labels, names = drawn
    model = AffineNeighborsClassifier().fit(symbols, names)
    assert_array_equal(model.classes_, np.unique(names))
    assert model.score(copies, labels) == 1
    assert_array_equal(model.predict_proba(copies).sum(axis=1), 1)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 5, 12])
def test_votes_are_those_of_scikit_learn(drawn, weights, k):
    copies, _, labels, _ = drawn
    train, test = copies[::2], copies[1::2]
    model = AffineNeighborsClassifier(k, weights).fit(train, labels[::2])
    peer = KNeighborsClassifier(k, weights=weights, metric="precomputed").fit(affine_distances(train), labels[::2])
    distances = affine_distances(test, train)
    assert_allclose(model.predict_proba(test), peer.predict_proba(distances))
    assert_array_equal(model.predict(test), peer.predict(distances))
    assert_allclose(model.predict_proba(train), peer.predict_proba(affine_distances(train)), atol=1e-12)


def test_images_without_a_plausible_neighbour_get_the_class_frequencies():
    y, x = np.indices((61, 61)) - 30
    disc, ring = (x**2 + y**2 < 600).astype(float), ((x**2 + y**2 < 600) & (x**2 + y**2 > 300)).astype(float)
    ellipse = push_forward(disc, [[1.2, 0], [0, 0.5]])
    model = AffineNeighborsClassifier(2, max_aspect=1.5).fit([disc, ring, ring[:, ::-1]], ["disc", "ring", "ring"])
    with pytest.warns(UserWarning, match=r"1 of 2 images have no neighbour within max_aspect=1\.5.*`X\[0\]`"):
        shares = model.predict_proba([ellipse, disc])
    assert_allclose(shares, [[1 / 3, 2 / 3], [0.5, 0.5]])
    distances, indices = model.kneighbors([ellipse])
    assert_array_equal(distances, np.inf)
    assert_array_equal(indices, [[0, 1]])
    mixed = AffineNeighborsClassifier(3, max_aspect=1.5).fit([disc, ellipse, ellipse], ["disc", "other", "other"])
    assert_array_equal(mixed.predict([disc]), ["disc"])  # implausible neighbours have no vote


def test_the_classifier_can_be_cross_validated_searched_pickled_and_cloned(drawn):
    copies, _, labels, _ = drawn
    model = AffineNeighborsClassifier(3)
    assert cross_val_score(model, copies, labels, cv=3).min() > 0.9
    search = GridSearchCV(model, {"n_neighbors": [1, 3], "weights": ["uniform", "distance"]}, cv=2).fit(copies, labels)
    assert search.best_score_ > 0.9
    fitted = model.fit(copies, labels)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(copies), fitted.predict(copies))
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "classes_")


class NeighborsOfRows(OfRows, AffineNeighbors):
    pass


class ClassifierOfRows(OfRows, AffineNeighborsClassifier):
    pass


@pytest.mark.parametrize(
    ("estimator", "check"),
    [*list_checks(NeighborsOfRows(1, n_angles=4, n_levels=5), ClassifierOfRows(n_angles=4, n_levels=5))],
)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "`n_neighbors` must be at least 1, got 0"),
        ({"radius": -1}, ValueError, "`radius` must be a number that is not negative, got -1"),
        ({"max_aspect": 0}, ValueError, "`max_aspect` must be a number of at least 1"),
        ({"similarity": "yes"}, TypeError, "`similarity` must be of the type bool, got 'yes'"),
        ({"reflections": None}, TypeError, "`reflections` must be of the type bool, got None"),
        ({"n_levels": 1}, ValueError, "`n_levels` must be at least 2, got 1"),
        ({"moments": "levels"}, ValueError, "`moments` must be one of 'exact', 'robust', got 'levels'"),
        ({"n_jobs": 0}, ValueError, "`n_jobs` must not be 0"),
    ],
)
def test_invalid_parameters_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        AffineNeighbors(**options).fit(np.ones((2, 3, 4)))


def test_invalid_calls_are_refused(drawn):
    entries, queries, labels, _ = drawn
    with pytest.raises(NotFittedError):
        AffineNeighbors().kneighbors(queries)
    with pytest.raises(NotFittedError):
        AffineNeighborsClassifier().predict(queries)
    model = AffineNeighbors().fit(entries)
    with pytest.raises(ValueError, match="`n_neighbors` must be at most 60, the number of entries, got 61"):
        model.kneighbors(queries, 61)
    with pytest.raises(ValueError, match="`n_neighbors` must be at most 59, the number of other entries, got 60"):
        model.kneighbors(n_neighbors=60)
    with pytest.raises(
        ValueError, match=r"`X` must have the settings of this estimator, .*n_angles=64.*, got .*n_angles=8"
    ):
        model.kneighbors(describe(np.ones((1, 3, 4)), n_angles=8))
    with pytest.raises(
        ValueError, match=r"`X` must have the settings of this estimator, .*n_angles=32.*, got .*n_angles=64"
    ):
        AffineNeighbors(n_angles=32).fit(entries)
    with pytest.raises(ValueError, match="`X` must hold at least one image, got an empty list"):
        AffineNeighbors().fit([])
    with pytest.raises(ValueError, match="`X` must hold at least one descriptor, got none"):
        AffineNeighbors().fit(entries[:0])
    with pytest.raises(ValueError, match="`y` must have a class for each of 60 images, got 59"):
        AffineNeighborsClassifier().fit(entries, labels[1:])
    with pytest.raises(ValueError, match="`weights` must be one of 'uniform', 'distance', got 'none'"):
        AffineNeighborsClassifier(weights="none").fit(entries, labels)
    with pytest.raises(ValueError, match=r"`X\[0\]` must have mass"):
        model.kneighbors(np.zeros((1, 3, 4)))


def test_refinement_that_is_set_later_takes_effect_at_the_next_fit():
    images = list(np.random.default_rng(0).random((8, 12, 12)))
    model = AffineNeighbors(2).fit(images)
    expected = model.kneighbors(images)
    for found, before in zip(model.set_params(refine=6).kneighbors(images), expected):
        assert_array_equal(found, before)
    refined = model.fit(images).kneighbors(images)
    for found, before in zip(model.set_params(refine=None).kneighbors(images), refined):
        assert_array_equal(found, before)

"""Neighbours: exactly what the full search finds, scikit-learn's habits, plausibility, bad input."""

import pickle

import numpy as np
import pytest
import reference
from drawn import clouds
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from rows import OfRows, checks
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from radoncdt import (
    AffineNeighbors,
    AffineNeighborsClassifier,
    Descriptors,
    PointCloud,
    _kernels,
    affine_distances,
    datasets,
    describe,
    pooled_nrcdt,
    push_forward,
)
from radoncdt.matching.index import AffineIndex
from radoncdt.matching.plausible import Plausible

each_implementation = pytest.mark.usefixtures("each_implementation")

TURNED = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=10, mirror=True)


@pytest.fixture(scope="module")
def drawn():
    """Sixty copies of six symbols, described; then one of each symbol."""
    names = ["circle-star1", "circle-star4", "square-star1", "square-star4", "triangle-star1", "shield-triangle"]
    symbols = np.stack(list(datasets.templates(names, canvas=128, size=64).values()))
    copies, _ = datasets.random_affine(np.repeat(symbols, 10, axis=0), TURNED, 0)
    return describe(copies), describe(symbols), np.repeat(names, 10), np.array(names)


def full_search(queries, entries, **limits):
    """Distances and numbers of all entries, the nearest first; equal distances keep the order of the entries."""
    distances = affine_distances(queries, entries, limits=Plausible(**limits))
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), order


# ---------------------------------------------------------------- the search


@each_implementation
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reflections": False},
        {"max_aspect": 1.6},
        {"similarity": True, "max_aspect": 1.3},
        {"max_shear": 15, "max_scale": 1.1},
    ],
    ids=str,
)
@pytest.mark.parametrize("k", [1, 7, 60])
def test_finds_exactly_what_the_full_search_finds(drawn, options, k):
    entries, queries, _, _ = drawn
    model = AffineNeighbors(k, **options).fit(entries)
    distances, indices = model.kneighbors(queries)
    expected_distances, expected_indices = full_search(queries, entries, **options)
    assert_array_equal(indices, expected_indices[:, :k])
    assert_array_equal(distances, expected_distances[:, :k])
    assert_array_equal(model.kneighbors(queries, return_distance=False), indices)


@each_implementation
def test_equal_distances_are_in_the_order_of_the_entries(drawn):
    entries, queries, _, _ = drawn
    twice = Descriptors.concatenate([entries, entries])
    _, indices = AffineNeighbors(6).fit(twice).kneighbors(queries)
    assert_array_equal(indices[:, ::2] + 60, indices[:, 1::2])


@each_implementation
def test_an_entry_is_no_neighbour_of_its_own(drawn):
    entries, _, _, _ = drawn
    model = AffineNeighbors(3, radius=0.1).fit(entries)
    distances, indices = model.kneighbors()
    square = affine_distances(entries, entries)
    np.fill_diagonal(square, np.inf)
    assert_array_equal(indices, np.argsort(square, axis=1, kind="stable")[:, :3])
    assert_array_equal(distances, np.sort(square, axis=1)[:, :3])
    distances, indices = model.radius_neighbors()
    for row, (some, numbers) in enumerate(zip(distances, indices)):
        expected = np.argsort(square[row], kind="stable")[: (square[row] <= 0.1).sum()]
        assert_array_equal(numbers, expected)
        assert_array_equal(some, square[row, expected])


@each_implementation
@pytest.mark.parametrize("radius", [0, 0.03, 0.2, 5])
def test_all_within_a_radius_are_found(drawn, radius):
    entries, queries, _, _ = drawn
    for options in ({}, {"max_aspect": 1.6}):
        model = AffineNeighbors(radius=radius, **options).fit(entries)
        distances, indices = model.radius_neighbors(queries)
        every = affine_distances(queries, entries, limits=Plausible(**options))
        for row in range(len(queries)):
            expected = np.flatnonzero(every[row] <= radius)
            assert_array_equal(np.sort(indices[row]), expected)
            assert_array_equal(distances[row], every[row, indices[row]])
            assert (np.diff(distances[row]) >= 0).all()
        assert_array_equal(model.radius_neighbors(queries, return_distance=False)[0], indices[0])
    assert indices.dtype == object


@given(st.lists(clouds(least=4), min_size=2, max_size=8), clouds(least=4), st.sampled_from([1, 3, 8, 20]))
def test_bounds_are_lower_bounds(entries, query, n_angles):
    """The summaries that the index compares, and all magnitudes and all order statistics, of which they are made."""
    options = {"n_angles": n_angles, "n_levels": 9}
    described, asked = describe(entries, **options), describe(query, **options)
    distances = affine_distances(asked, described)[0]
    index = AffineIndex(described, Plausible())
    assert (index.bounds(index._coordinates.summarise(asked)[0]) <= distances).all()
    for pool in ("fourier", "sorted"):
        pooled = pooled_nrcdt([query, *entries], pool=pool, directions="whitened", **options)
        bounds = np.linalg.norm(pooled[1:] - pooled[0], axis=1) / np.sqrt(2 * n_angles * 9)
        assert (bounds <= distances + 1e-7).all()


@each_implementation
def test_values_far_from_1_do_not_mislead_the_search():
    """Robust moments do not see far specks, so that their values are large, and rounding of the bounds with them."""
    rng = np.random.default_rng(0)
    shapes = rng.normal(size=(40, 60, 2))
    shapes[:, :2] = rng.normal(size=(40, 2, 2)) * 1e4
    near = [PointCloud(shape + rng.normal(size=shape.shape) * 1e-6) for shape in np.repeat(shapes, 3, axis=0)]
    options = {"n_angles": 16, "n_levels": 60, "moments": "robust"}
    entries, queries = describe(near, **options), describe([PointCloud(shape) for shape in shapes], **options)
    assert np.abs(entries.values).max() > 1000
    for precision in (np.float32, np.float64):
        some = entries.astype(precision)
        model = AffineNeighbors(2, **options).fit(some)
        distances, indices = model.kneighbors(queries)
        expected_distances, expected_indices = full_search(queries, some)
        assert_array_equal(indices, expected_indices[:, :2])
        assert_array_equal(distances, expected_distances[:, :2])
        found, _ = model.radius_neighbors(queries, float(distances.max()))
        assert [len(f) for f in found] == (expected_distances <= distances.max()).sum(axis=1).tolist()


def test_many_levels_and_few_entries_are_fitted_at_once():
    model = AffineNeighbors(1, n_angles=4, n_levels=1500).fit(np.random.default_rng(0).random((3, 9, 9)))
    assert_array_equal(model.kneighbors(model.descriptors_, return_distance=False), [[0], [1], [2]])


def test_a_fit_on_descriptors_forgets_the_columns_of_a_table():
    stack = np.random.default_rng(0).random((3, 9, 7))
    model = AffineNeighbors(1, image_shape=(9, 7)).fit(stack.reshape(3, -1))
    assert not hasattr(model.fit(describe(stack)), "n_features_in_")


@each_implementation
def test_the_search_leaves_entries_out(drawn, monkeypatch):
    """Otherwise it would be no better than the full search: of copies of six symbols it compares one symbol's."""
    entries, queries, _, _ = drawn
    model = AffineNeighbors(5).fit(entries)
    compared = []
    kernels = _kernels.current()
    real = kernels.nearest

    def spy(x, i, y, *, bounds, distances, **options):
        real(x, i, y, bounds=bounds, distances=distances, **options)
        compared.append(int((bounds <= distances[-1]).sum()))

    monkeypatch.setattr(kernels, "nearest", spy)
    model.kneighbors(queries)
    assert np.mean(compared) < 20


@each_implementation
def test_threads_and_precision_do_not_matter(drawn):
    entries, queries, _, _ = drawn
    one, two = (AffineNeighbors(4, n_jobs=n).fit(entries).kneighbors(queries) for n in (1, 2))
    assert_array_equal(one, two)
    single = AffineNeighbors(4).fit(entries.astype(np.float32)).kneighbors(queries)
    assert_array_equal(single[1], one[1])
    assert_allclose(single[0], one[0], atol=1e-6)


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


# ---------------------------------------------------------------- the classifier


def test_classifies_copies_from_one_symbol_each(drawn):
    copies, symbols, labels, names = drawn
    model = AffineNeighborsClassifier().fit(symbols, names)
    assert_array_equal(model.classes_, np.unique(names))
    assert model.score(copies, labels) == 1
    assert_array_equal(model.predict_proba(copies).sum(axis=1), 1)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 5, 12])
def test_votes_as_scikit_learn_votes(drawn, weights, k):
    copies, _, labels, _ = drawn
    train, test = copies[::2], copies[1::2]
    model = AffineNeighborsClassifier(k, weights).fit(train, labels[::2])
    peer = KNeighborsClassifier(k, weights=weights, metric="precomputed").fit(affine_distances(train), labels[::2])
    distances = affine_distances(test, train)
    assert_allclose(model.predict_proba(test), peer.predict_proba(distances))
    assert_array_equal(model.predict(test), peer.predict(distances))
    assert_allclose(model.predict_proba(train), peer.predict_proba(affine_distances(train)), atol=1e-12)


def test_images_without_a_plausible_neighbour_get_the_shares_of_the_classes():
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
    assert_array_equal(mixed.predict([disc]), ["disc"])  # who is not plausible has no vote


def test_goes_with_scikit_learn(drawn):
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
    [*checks(NeighborsOfRows(1, n_angles=4, n_levels=5), ClassifierOfRows(n_angles=4, n_levels=5))],
)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- bad input


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
def test_bad_parameters_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        AffineNeighbors(**options).fit(np.ones((2, 3, 4)))


def test_bad_calls_are_refused(drawn):
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


@each_implementation
def test_the_twin_agrees_with_the_search(drawn):
    """The distances themselves, from the slow definition, of a few pairs."""
    entries, queries, _, _ = drawn
    distances, indices = AffineNeighbors(2).fit(entries).kneighbors(queries[:2])
    for row, numbers in enumerate(indices):
        for distance, number in zip(distances[row], numbers):
            every = reference.distances_at_all_turns(queries.values[row], entries.values[number])
            assert distance == pytest.approx(every.min(), rel=1e-12)

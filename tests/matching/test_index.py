"""The exact search of an index without comparing all entries."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from shapes import moved_symbols
from strategies import clouds

from radoncdt import (
    AffineNeighbors,
    Descriptors,
    PointCloud,
    _kernels,
    affine_distances,
    describe,
    pooled_nrcdt,
)
from radoncdt.matching.index import AffineIndex
from radoncdt.matching.plausible import Plausible

each_implementation = pytest.mark.usefixtures("each_implementation")


@pytest.fixture(scope="module")
def drawn():
    return moved_symbols()


def full_search(queries, entries, **limits):
    """Return distances and numbers of all entries, the nearest first; equal distances keep the order of entries."""
    distances = affine_distances(queries, entries, limits=Plausible(**limits))
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), order


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
def test_the_search_finds_exactly_what_the_full_search_finds(drawn, options, k):
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
def test_an_entry_is_not_its_own_neighbour(drawn):
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
def test_all_entries_within_a_radius_are_found(drawn, radius):
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
def test_bounds_from_summaries_are_lower_bounds(entries, query, n_angles):
    """So are those of all magnitudes and of all order statistics, from which the summaries are made."""
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
    """Robust moments ignore distant specks, so values there are large, and so are rounding errors of the bounds."""
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


@each_implementation
def test_the_search_skips_entries(drawn, monkeypatch):
    """Otherwise it would be no better than the full search. Of six symbols, it compares the copies of one."""
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


@each_implementation
def test_the_slow_reference_agrees_with_the_search(drawn):
    """The distances of a few pairs follow the slow definition."""
    entries, queries, _, _ = drawn
    distances, indices = AffineNeighbors(2).fit(entries).kneighbors(queries[:2])
    for row, numbers in enumerate(indices):
        for distance, number in zip(distances[row], numbers):
            every = reference.distances_at_all_turns(queries.values[row], entries.values[number])
            assert distance == pytest.approx(every.min(), rel=1e-12)

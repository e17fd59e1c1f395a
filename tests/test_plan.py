"""Plans and their execution: images and clouds, chunks and threads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import radoncdt
from radoncdt import PointCloud, _threads
from radoncdt._geometry import full_circle
from radoncdt._plan import Normalisation, Plan, Scan, execute
from radoncdt.directions import Directions
from radoncdt.measures import Batch

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)
LEVELS = radoncdt.quantile_levels(6)
HALF = Directions.choose(5, None)
IMAGES = RNG.random((7, 9, 12)) * (RNG.random((7, 9, 12)) < 0.5)
CLOUD = PointCloud(RNG.normal(size=(20, 2)) * [5, 1], RNG.random(20) + 0.1)
MIXED = [IMAGES[0], CLOUD, IMAGES[1].astype(np.float32), *IMAGES[2:]]


def test_images_and_clouds_have_their_own_directions_and_reductions():
    images = Scan(HALF, lambda values: values.max(axis=1))
    clouds = Scan(Directions([0.3]), lambda values: values[:, 0] + 1000)
    results, _ = execute(Plan(LEVELS, images, clouds, (6,)), Batch.read(MIXED), 1)
    assert_array_equal(results[0], radoncdt.rcdt(IMAGES[0], n_angles=5, n_levels=6).max(axis=0))
    assert_array_equal(results[1], radoncdt.rcdt(CLOUD, angles=[0.3], n_levels=6)[0] + 1000)


@pytest.mark.parametrize("measures", [MIXED, [IMAGES[0]], [CLOUD], IMAGES], ids=["mixed", "image", "cloud", "stack"])
@pytest.mark.parametrize("whitened", [False, True])
def test_results_do_not_depend_on_threads_and_chunks(monkeypatch, measures, whitened):
    """Eight workers share the directions of few measures, and two share the measures."""
    monkeypatch.setattr(_threads, "count_workers", lambda n_jobs, _: n_jobs)
    plan = Plan(LEVELS, Scan(HALF), Scan(HALF), (5, 6), Normalisation("exact", whitened))
    expected = execute(plan, Batch.read(measures), 1)
    for workers in (2, 8):
        for found, array in zip(execute(plan, Batch.read(measures), workers), expected):
            assert_array_equal(found, array)


@pytest.mark.parametrize("workers", [1, 3])
def test_extremes_are_those_over_directions_and_opposites(monkeypatch, workers):
    monkeypatch.setattr(_threads, "count_workers", lambda n_jobs, _: n_jobs)
    plan = Plan(
        LEVELS,
        images=Scan(HALF, lambda values: np.stack([values.max(axis=1), values.min(axis=1)], axis=1)),
        clouds=Scan(HALF),
        shape=(2, 6),
        normalisation=Normalisation(),
        only_extremes=True,
    )
    results, _ = execute(plan, Batch.read(IMAGES[0]), workers)
    circle = full_circle(radoncdt.nrcdt(IMAGES[0], n_angles=5, n_levels=6, n_jobs=1))
    assert_array_equal(results[0], [circle.max(axis=0), circle.min(axis=0)])


def test_the_moments_of_the_normalisation_are_returned():
    plan = Plan(LEVELS, Scan(HALF), Scan(HALF), (5, 6), Normalisation())
    _, moments = execute(plan, Batch.read(MIXED), 1)
    assert_allclose(moments[:, :2], radoncdt.mean(MIXED), atol=1e-12)
    assert_allclose(moments[:, [2, 3, 3, 4]].reshape(-1, 2, 2), radoncdt.covariance(MIXED), rtol=1e-12, atol=1e-12)


def test_a_plan_with_too_many_values_is_refused():
    many = Scan(Directions.choose(2**16, None))
    with pytest.raises(ValueError, match="`n_angles` times `n_levels` must be at most 268,435,456, got 65,536 × 4,097"):
        Plan(radoncdt.quantile_levels(4097), many, many, (2**16, 4097))

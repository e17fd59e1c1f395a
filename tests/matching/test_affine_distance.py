"""Affine-invariant distances."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from shapes import FLAG, random_descriptors
from strategies import clouds, matrices, rotation, shifts

import radoncdt
from radoncdt import (
    DescriptorSettings,
    Plausible,
    PointCloud,
    affine_distances,
    describe,
    push_forward,
    register,
)
from radoncdt.matching.affine_distance import compute_distances

pytestmark = pytest.mark.usefixtures("each_implementation")


@given(clouds(least=16, most=16, equal_weights=True), matrices(condition=20), shifts(), st.sampled_from([2, 5, 12]))
def test_turns_between_the_steps_leave_an_error_of_half_a_step_at_most(cloud, matrix, shift, n_angles):
    """With sixteen levels of sixteen equal points, the levels cause no error."""
    moved = push_forward(cloud, matrix, shift)
    bound = 2 * np.sin(np.pi / (4 * n_angles))
    assert (
        affine_distances([cloud], [moved], settings=DescriptorSettings(n_angles=n_angles, n_levels=16))[0, 0]
        <= bound + 1e-9
    )
    assert DescriptorSettings(n_angles=n_angles).grid_distance == pytest.approx(bound)


@given(clouds(least=6), matrices(condition=20), shifts(), st.sampled_from([4, 12]))
def test_with_arbitrary_weights_the_levels_cause_an_additional_error(cloud, matrix, shift, n_angles):
    """It is the difference of the mean over the levels and the transport distance of the turned whitened clouds."""
    moved = push_forward(cloud, matrix, shift)
    white = [
        PointCloud((c.points - radoncdt.mean(c)) @ reference.root(radoncdt.covariance(c), -0.5), c.weights)
        for c in (cloud, moved)
    ]
    turn, *_ = np.linalg.lstsq(white[0].points, white[1].points, rcond=None)  # the true turn, between the steps
    circle = np.pi * np.arange(2 * n_angles) / n_angles
    angle = np.arctan2(turn[0, 1], turn[0, 0])
    step = np.pi / n_angles
    nearest = rotation(step * np.round(angle / step)) @ np.diag([1, np.sign(np.linalg.det(turn))])
    turned = PointCloud(white[0].points @ nearest.T, cloud.weights)
    options = {"angles": circle, "n_levels": 16}
    at_levels = np.sqrt(np.mean((radoncdt.rcdt(turned, **options) - radoncdt.rcdt(white[1], **options)) ** 2))
    exact = radoncdt.sliced_wasserstein(turned, white[1], angles=circle)
    assert exact <= 2 * np.sin(np.pi / (4 * n_angles)) + 1e-7
    distance = affine_distances([cloud], [moved], settings=DescriptorSettings(n_angles=n_angles, n_levels=16))[0, 0]
    assert distance <= 2 * np.sin(np.pi / (4 * n_angles)) + abs(at_levels - exact) + 1e-7


@given(st.lists(clouds(least=4), min_size=3, max_size=3), st.booleans())
def test_the_distance_is_a_metric(three, reflections):
    d = np.array(
        [
            [
                affine_distances(
                    [a],
                    [b],
                    limits=Plausible(reflections=reflections),
                    settings=DescriptorSettings(n_angles=8, n_levels=16),
                )[0, 0]
                for b in three
            ]
            for a in three
        ]
    )
    assert_allclose(d, d.T, atol=1e-12)
    assert_array_equal(np.diag(d), 0)
    assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 2), (2, 5), (3, 8), (7, 3), (16, 9), (33, 4), (64, 6), (70, 5)])
def test_distances_are_the_smallest_of_all_turns(shape, dtype):
    rng = np.random.default_rng(shape)
    first, second = (random_descriptors(n, *shape, rng, dtype) for n in (3, 4))
    for reflections in (True, False):
        found = compute_distances(first, second, Plausible(reflections=reflections), 1)
        for i, j in np.ndindex(found.shape):
            every = reference.distances_at_all_turns(first.values[i], second.values[j])
            least = every.min() if reflections else every[: 2 * shape[0]].min()
            assert found[i, j] == pytest.approx(least, rel=1e-6 if dtype == np.float32 else 1e-12)


def test_distances_do_not_depend_on_the_batch_or_threads():
    rng = np.random.default_rng(0)
    first, second = (random_descriptors(n, 16, 5, rng) for n in (70, 50))
    every = compute_distances(first, second, Plausible(), 1)
    assert_array_equal(compute_distances(first, second, Plausible(), 2), every)
    assert_array_equal(compute_distances(first[5:8], second[41:], Plausible(), 1), every[5:8, 41:])
    square = affine_distances(first)
    assert_array_equal(square, square.T)
    assert_array_equal(np.diag(square), 0)
    assert_array_equal(np.triu(square, 1), np.triu(compute_distances(first, first, Plausible(), 1), 1))


def test_empty_descriptors_have_no_distances():
    described = describe(FLAG)
    assert affine_distances(described[:0], described).shape == (0, 1)
    assert affine_distances(described, described[:0]).shape == (1, 0)
    assert affine_distances(described[:0]).shape == (0, 0)


def test_a_list_of_descriptors_is_descriptors():
    described = describe([FLAG, np.tri(40)])
    assert_array_equal(affine_distances([described[0], described[1]]), affine_distances(described))
    with pytest.raises(TypeError, match="Descriptors are not images"):
        affine_distances([FLAG, described[0]])


def test_descriptors_that_cannot_be_compared_are_refused():
    described = describe(FLAG)
    other = describe(FLAG, n_angles=32)
    with pytest.raises(ValueError, match=r"`fixed` must have the settings of `moving` .* n_angles=64, got n_angles=32"):
        register(described, other)
    with pytest.raises(ValueError, match="`B` must have the settings of `A`"):
        affine_distances(described, other)
    robust = describe(FLAG, moments="robust"), describe(FLAG, moments="robust", nu=2)
    with pytest.raises(ValueError, match=r"nu=3\.0, got nu=2"):
        affine_distances(*robust)
    with pytest.raises(ValueError, match="`moving` must be one measure, got 2; `affine_distances` compares many"):
        register([FLAG, FLAG], FLAG)
    with pytest.raises(ValueError, match=r"`fixed` must have mass"):
        register(FLAG, np.zeros((4, 4)))
    with pytest.raises(TypeError, match="`reflections` must be of the type bool, got 'no'"):
        register(FLAG, FLAG, limits=Plausible(reflections="no"))
    with pytest.raises(TypeError, match="`similarity` must be of the type bool, got 1"):
        affine_distances([FLAG], limits=Plausible(similarity=1))

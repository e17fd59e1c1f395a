"""Best turns between descriptors, and the features of their maps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from radoncdt import MapPrior, Plausible, PointCloud, _numpy, affine_distances, describe
from radoncdt._geometry import rotation
from radoncdt._interface import Maps
from radoncdt.matching.turns import compute_map_features, find_turns, turn_matrices

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)
CLOUDS = [PointCloud(RNG.normal(size=(12, 2)) @ RNG.normal(size=(2, 2))) for _ in range(40)]


def test_distances_are_those_of_all_pairs_whatever_the_number_of_threads():
    described = describe(CLOUDS, n_angles=16, n_levels=16).astype(np.float32)
    prior = MapPrior(aspect=0.01, rotation=0.02)
    found = [find_turns(described, described, limits=Plausible(), prior=prior, n_jobs=jobs) for jobs in (1, 2)]
    for one, two in zip(*found):
        assert_array_equal(one, two)
    assert_allclose(found[0][0], affine_distances(described, described, prior=prior), rtol=1e-12)
    assert_array_equal(np.diagonal(found[0][1]), 0)


def test_features_of_maps_explain_the_penalties():
    described = describe(CLOUDS[:8], n_angles=16, n_levels=16)
    free, _ = find_turns(described, described, limits=Plausible(), prior=MapPrior(), n_jobs=1)
    prior = MapPrior(aspect=1e-9, rotation=2e-9, mirror=3e-9)  # too small to change the best turn
    penalised, turns = find_turns(described, described, limits=Plausible(), prior=prior, n_jobs=1)
    pairs = np.argwhere(np.ones(free.shape, bool))
    features = compute_map_features(described, described, pairs, turns.ravel())
    expected = np.array([prior.aspect, prior.rotation, prior.mirror]) @ np.array(features)
    assert_allclose((penalised**2 - free**2).ravel(), expected, atol=1e-15)
    assert set(features.mirror) == {0.0, 1.0}


def test_turns_are_those_of_the_slow_kernel():
    described = describe(CLOUDS, n_angles=16, n_levels=16)
    prior = MapPrior(aspect=0.01, rotation=0.02, mirror=0.01)
    _, found = find_turns(described, described, limits=Plausible(), prior=prior, n_jobs=1)
    slow = np.empty_like(found)
    _numpy.least_distances(
        described.waves,
        described.waves,
        maps=Maps(True, None, prior.penalties),
        ascending=False,
        rows=(0, 40),
        columns=(0, 40),
        distances=np.empty(found.shape),
        turns=slow,
    )
    assert_array_equal(found, slow)


def test_turns_are_rotations_after_a_reflection():
    matrices = turn_matrices(np.array([0, 2, 8, 10]), 4)
    assert_allclose(matrices[:3], [np.eye(2), [[0, -1], [1, 0]], [[1, 0], [0, -1]]], atol=1e-15)
    assert_allclose(matrices[3], rotation(np.pi / 2) @ np.diag([1, -1]), atol=1e-15)

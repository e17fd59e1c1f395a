"""Priors of maps: their penalties, and distances with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import polar

import radoncdt
from radoncdt import AffineNeighbors, MapPrior, PointCloud, affine_distances, describe
from radoncdt._geometry import inverse_square_root, rotation, square_root
from radoncdt._numpy.penalties import penalise_turns
from radoncdt.matching.prior import PRIORS, read_prior

pytestmark = pytest.mark.usefixtures("each_implementation")

N_ANGLES = 16


def make_clouds(n, seed):
    rng = np.random.default_rng(seed)
    return [PointCloud(rng.normal(size=(9, 2)) @ rng.normal(size=(2, 2))) for _ in range(n)]


def penalty(matrix, prior):
    """Return the penalty of a map by its definition."""
    mirrored = np.linalg.det(matrix) < 0
    scales = np.linalg.svd(matrix, compute_uv=False)
    orthogonal, _ = polar(matrix @ np.diag([-1.0, 1.0]) if mirrored else matrix)
    cosine = np.trace(orthogonal) / 2
    return prior.aspect * np.log(scales[0] / scales[1]) ** 2 + prior.rotation * (1 - cosine) + prior.mirror * mirrored


def slow_distances(first, second, prior):
    """Return the distances of all pairs, by trying all turns."""
    found = np.empty((len(first), len(second)))
    for i, j in np.ndindex(found.shape):
        a, b = first.values[i], second.values[j]
        circle = np.concatenate([a, -a[:, ::-1]])
        root, inverse = square_root(second.covariances[j]), inverse_square_root(first.covariances[i])
        steps = np.arange(N_ANGLES)
        squares = []
        for turn in range(2 * N_ANGLES):
            for mirror in ([1.0, 1.0], [1.0, -1.0]):
                turned = circle[(steps - turn if mirror[1] > 0 else turn - steps) % (2 * N_ANGLES)]
                matrix = root @ (rotation(np.pi * turn / N_ANGLES) * mirror) @ inverse
                squares.append(np.mean((b - turned) ** 2) + penalty(matrix, prior))
        found[i, j] = np.sqrt(min(squares))
    return found


@pytest.mark.parametrize(
    "prior", [*PRIORS.values(), MapPrior(mirror=0.01), MapPrior(aspect=0.1, rotation=0.2, mirror=0.3)], ids=str
)
def test_distances_with_a_prior_equal_the_slow_ones(prior):
    first, second = (describe(make_clouds(5, seed), n_angles=N_ANGLES, n_levels=16) for seed in (0, 1))
    found = affine_distances(first, second, prior=prior)
    assert_allclose(found, slow_distances(first, second, prior), rtol=1e-9)
    assert_allclose(affine_distances(second, first, prior=prior), found.T, rtol=1e-9)


def test_penalties_of_turns_are_those_of_their_maps():
    rng = np.random.default_rng(0)
    covariances = [np.cov(rng.normal(size=(2, 5))) for _ in range(4)]
    fixed = np.array([each[[0, 0, 1], [0, 1, 1]] for each in covariances[1:]])
    prior = MapPrior(aspect=0.5, rotation=0.3, mirror=0.1)
    found = penalise_turns(covariances[0][[0, 0, 1], [0, 1, 1]], fixed, prior.penalties, 8)
    for k, mirrored, turn in np.ndindex(found.shape):
        turned = rotation(np.pi * turn / 8) * [1.0, -1.0 if mirrored else 1.0]
        matrix = square_root(covariances[1 + k]) @ turned @ inverse_square_root(covariances[0])
        assert found[k, mirrored, turn] == pytest.approx(penalty(matrix, prior), abs=1e-12)


def test_the_search_with_a_prior_is_exact():
    entries, queries = make_clouds(60, 2), make_clouds(6, 3)
    prior = MapPrior(aspect=0.02, rotation=0.05)
    model = AffineNeighbors(5, n_angles=N_ANGLES, n_levels=16, prior=prior).fit(entries)
    distances, indices = model.kneighbors(queries)
    expected = affine_distances(describe(queries, n_angles=N_ANGLES, n_levels=16), model.descriptors_, prior=prior)
    assert_allclose(distances, np.sort(expected, axis=1)[:, :5], rtol=1e-12)
    assert_array_equal(indices, np.argsort(expected, axis=1, kind="stable")[:, :5])


def test_rotated_copies_are_far_for_an_upright_prior():
    flag = np.zeros((60, 60))
    flag[10:50, 20:24] = flag[10:30, 24:45] = 1
    turned = radoncdt.push_forward(flag, rotation(np.pi / 2), shape=(60, 60))
    near = affine_distances([flag], [flag, turned], prior="upright")[0]
    assert near[0] == pytest.approx(0, abs=1e-4)
    assert 0.1 < near[1] <= np.sqrt(PRIORS["upright"].rotation) + 1e-4  # a smaller rotation may be cheaper
    assert affine_distances([flag], [turned], prior="photograph")[0, 0] == pytest.approx(0, abs=1e-3)


def test_priors_are_read_from_names_and_numbers():
    assert read_prior("any") == MapPrior()
    assert read_prior((0.1, 0.2)) == MapPrior(aspect=0.1, rotation=0.2, bent_aspect=10, bent_rotation=20)
    assert read_prior(PRIORS["upright"]) is PRIORS["upright"]
    assert MapPrior(bent_rotation=2).penalties is None


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("uprigth", "`prior` must be one of 'any', 'upright', 'photograph', got 'uprigth'; did you mean 'upright'"),
        (3, "`prior` must be one of 'any', 'upright', 'photograph', a MapPrior or two numbers"),
        ((1, 2, 3), "`prior` must be one of 'any', .* got \\(1, 2, 3\\)"),
        ((0, -1), "`rotation` must be a number that is not negative, got -1"),
    ],
)
def test_wrong_priors_are_refused(prior, message):
    with pytest.raises((TypeError, ValueError), match=message):
        affine_distances(np.ones((2, 4, 4)), prior=prior)

"""Distances of registered images, and the second look at the nearest entries."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from radoncdt import AffineNeighbors, MapPrior, Plausible, affine_distances, datasets, describe, distortion_distances
from radoncdt.matching.framed import Frame, Framed
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.measures import Batch

pytestmark = pytest.mark.usefixtures("each_implementation")

SYMBOLS = np.array(list(datasets.templates(size=40, line_width=2, canvas=64).values()))[::2]
MAPS = datasets.AffineDistribution(scale=(0.8, 1.2), rotation=180, shear=15)
MOVED, _ = datasets.random_affine(SYMBOLS, MAPS, rng=1)


def test_copies_are_nearest():
    distances = distortion_distances(MOVED, SYMBOLS)
    assert_array_equal(distances.argmin(axis=1), np.arange(len(SYMBOLS)))
    own = distances.diagonal()
    others = distances[~np.eye(len(SYMBOLS), dtype=bool)]
    assert own.max() < others.min()


def test_distances_do_not_depend_on_threads_or_company():
    together = distortion_distances(MOVED, SYMBOLS, n_jobs=2)
    assert_array_equal(together, distortion_distances(MOVED, SYMBOLS, n_jobs=1))
    assert_allclose(together[2:3, 1:3], distortion_distances(MOVED[2:3], SYMBOLS[1:3]), rtol=1e-5)
    assert_array_equal(distortion_distances(SYMBOLS), distortion_distances(SYMBOLS, SYMBOLS))


def test_penalties_are_added_for_the_map_that_was_found():
    prior = MapPrior(bent_rotation=2.0)
    turned = np.rot90(SYMBOLS[0])[None]
    free, penalised = (distortion_distances(turned, SYMBOLS[:1], prior=each)[0, 0] for each in ("any", prior))
    assert_allclose(penalised - free, 2.0, atol=0.01)  # 1 − cos 90° = 1


def test_no_plausible_map_means_an_infinite_distance():
    narrow = np.zeros((40, 60))
    narrow[18:22, 5:55] = 1
    square = np.pad(np.ones((20, 20)), 10)
    limits = Plausible(max_aspect=1.5)
    assert np.isinf(distortion_distances([narrow], [square], limits=limits)).all()
    assert np.isinf(affine_distances([narrow], [square], limits=limits)).all()
    neighbors = AffineNeighbors(2, max_aspect=1.5, refine=2).fit([square, narrow])
    distances, indices = neighbors.kneighbors([narrow])
    assert indices[0, 0] == 1
    assert np.isinf(distances[0, 1])


def test_descriptors_and_bad_frames_are_refused():
    with pytest.raises(TypeError, match="`A` must be images or PointClouds, because descriptors have no pixels"):
        distortion_distances(describe(SYMBOLS))
    with pytest.raises(ValueError, match="`frame_size` must be"):
        distortion_distances(SYMBOLS, frame_size=4)
    with pytest.raises(ValueError, match="`window` must be"):
        distortion_distances(SYMBOLS, window=9)
    with pytest.raises(ValueError, match="`prior` must be"):
        distortion_distances(SYMBOLS, prior="sideways")


def test_neighbours_are_ordered_by_the_second_look():
    neighbors = AffineNeighbors(3, refine=4, n_angles=32, n_levels=32).fit(SYMBOLS)
    distances, indices = neighbors.kneighbors(MOVED)
    settings = DescriptorSettings(32, 32)
    every = distortion_distances(MOVED, SYMBOLS, settings=settings)
    assert_allclose(distances, np.take_along_axis(every, indices, axis=1), rtol=1e-5)
    _, first = AffineNeighbors(4, n_angles=32, n_levels=32).fit(SYMBOLS).kneighbors(MOVED)
    for row, kept, found in zip(every, indices, first):
        assert_array_equal(kept, sorted(found, key=lambda k, row=row: row[k])[:3])


def test_an_entry_is_not_its_own_refined_neighbour():
    neighbors = AffineNeighbors(2, refine=3).fit(SYMBOLS)
    assert not (neighbors.kneighbors(return_distance=False) == np.arange(len(SYMBOLS))[:, None]).any()


def test_refinement_needs_images_and_enough_entries():
    with pytest.raises(TypeError, match="`X` must be images if `refine` is given"):
        AffineNeighbors(refine=2).fit(describe(SYMBOLS))
    neighbors = AffineNeighbors(1, refine=2).fit(SYMBOLS)
    with pytest.raises(TypeError, match="`X` must be images"):
        neighbors.kneighbors(describe(MOVED))
    with pytest.raises(ValueError, match="`n_neighbors` must be at most `refine`, 2, got 3"):
        neighbors.kneighbors(MOVED, 3)
    with pytest.raises(ValueError, match="`refine` must be"):
        AffineNeighbors(refine=0).fit(SYMBOLS)


def test_radius_neighbours_are_not_refined():
    plain, refined = (AffineNeighbors(1, refine=k).fit(SYMBOLS) for k in (None, 2))
    for one, other in zip(plain.radius_neighbors(MOVED, 0.1)[0], refined.radius_neighbors(MOVED, 0.1)[0]):
        assert_allclose(one, other, atol=1e-4)


def test_registration_of_a_comparison_leads_to_the_fixed_image():
    settings, frame = DescriptorSettings(), Frame.read(28, None)
    moved, fixed = (Framed.describe(Batch.read(some), settings, frame, 1) for some in (MOVED[:2], SYMBOLS[:2]))
    turns = np.array([0, 5])
    pairs = np.array([[0, 0], [1, 1]])
    bent = moved.compare(fixed, pairs, turns, 1)
    found = moved.make_registration(fixed, (1, 1), bent.maps[1], 0.25)
    assert found.distance == 0.25
    shifted = found.matrix @ moved.descriptors.means[1] + found.shift
    assert_allclose(shifted, fixed.descriptors.means[1], atol=6)

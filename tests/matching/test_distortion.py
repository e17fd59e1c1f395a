"""Distortion distances of registered images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

from radoncdt import _kernels, _numpy, describe, push_forward
from radoncdt._geometry import rotation
from radoncdt._interface import Bending
from radoncdt.matching.distortion import compare_bent
from radoncdt.matching.frames import make_canvases
from radoncdt.measures import Batch

pytestmark = pytest.mark.usefixtures("each_implementation")


DEFAULT = Bending()


def make_images(n, seed=0):
    rng = np.random.default_rng(seed)
    shapes = rng.integers(12, 40, (n, 2))
    images = [gaussian_filter(rng.random(shape), 2) ** 8 for shape in shapes]
    return [(image / image.max()).astype(np.float32) for image in images]


def make_maps(n, seed=0):
    rng = np.random.default_rng(seed)
    turns = rotation(rng.uniform(0, 2 * np.pi, n))
    return np.concatenate([rng.uniform(3, 8, (n, 1, 1)) * turns, rng.normal(size=(n, 2, 1))], axis=-1)


def check_against_the_slow_one(n_moving, n_fixed, **settings):
    moving, fixed = make_images(n_moving, 0), make_images(n_fixed, 1)
    pairs = np.array([(i, j) for j in range(n_fixed) for i in range(n_moving)])
    arguments = moving, fixed, pairs, make_maps(len(pairs)), make_maps(n_fixed, 1)
    distances, maps = _kernels.current().distortions(*arguments, **settings)
    expected, expected_maps = _numpy.distortions(*arguments, **settings)
    assert_allclose(distances, expected, rtol=1e-5)
    assert_allclose(maps, expected_maps, atol=2e-5)


@pytest.mark.parametrize("side", [8, 9, 28, 31])
@pytest.mark.parametrize("window", [0, 1, 3])
@pytest.mark.parametrize("polish", [False, True])
def test_distances_equal_the_slow_ones(side, window, polish):
    bending = Bending(window, 3e-4, 0.02, polish)
    check_against_the_slow_one(4, 3, side=side, reach=2.6, bending=bending)


@pytest.mark.parametrize(("side", "window"), [(8, 8), (47, 8), (64, 5), (79, 6), (80, 8), (256, 2)])
def test_distances_on_large_frames_and_in_large_windows_equal_the_slow_ones(side, window):
    check_against_the_slow_one(2, 1, side=side, reach=2.6, bending=Bending(window))


def test_an_image_has_no_distance_from_itself():
    images, pairs = make_images(3), np.array([(0, 0), (1, 1), (2, 2)])
    maps = make_maps(3)
    distances, found = _kernels.current().distortions(
        images, images, pairs, maps, maps, side=28, reach=2.6, bending=Bending()
    )
    assert_array_equal(distances, 0)
    assert_array_equal(found, maps)


def test_displacements_within_the_window_are_free():
    """A blob that is shifted by two points of the frame is found within two points, but not within one."""
    y, x = np.mgrid[-20:21, -20:21]
    blob = np.exp(-(x**2 + y**2) / 18).astype(np.float32)
    step = 2 * 2.6 / 28
    scale = 1 / step  # pixels per unit of the frame: one pixel per point
    maps = np.array([[[scale, 0, 2.0], [0, scale, 0]]])
    distances = [
        _kernels.current().distortions(
            [blob],
            [blob],
            np.array([(0, 0)]),
            maps,
            np.array([[[scale, 0, 0], [0, scale, 0]]]),
            side=28,
            reach=2.6,
            bending=Bending(window, 0.0, 0.02, False),
        )[0][0]
        for window in (0, 1, 2)
    ]
    assert distances[0] > distances[1] > 0.1
    assert distances[2] == pytest.approx(0, abs=1e-4)  # the ends of the blob are beyond the frame


def test_copies_are_near_at_their_turn():
    flag = np.zeros((80, 80))
    flag[20:60, 30:36] = flag[20:40, 36:56] = 1
    copy = push_forward(flag, [[0.3, -1.1], [0.9, 0.5]], shape=(140, 140))
    other = np.zeros((80, 80))
    other[20:60, 30:36] = other[54:60, 36:70] = 1
    batch = Batch.read([flag, copy, other])
    descriptors = describe(batch)
    canvases = make_canvases(batch, descriptors, 28, 1)
    values = [np.concatenate([each, -each[:, ::-1]]) for each in descriptors.values.astype(float)]

    def find_turn(i, j):
        squares = [((values[j][:64] - np.roll(values[i], turn, axis=0)[:64]) ** 2).sum() for turn in range(128)]
        return int(np.argmin(squares))

    pairs = np.array([(1, 0), (1, 2)])
    turns = np.array([find_turn(*pair) for pair in pairs])
    found = compare_bent(canvases, canvases, pairs, turns, 64, side=28, bending=Bending(), n_jobs=1)
    assert found.distances[0] < 0.5
    assert found.distances[1] > 4 * found.distances[0]
    again = compare_bent(canvases, canvases, pairs[::-1], turns[::-1], 64, side=28, bending=Bending(), n_jobs=2)
    assert_array_equal(again.distances[::-1], found.distances)
    assert_array_equal(again.maps[::-1], found.maps)


def test_images_without_gradients_are_far_from_everything():
    images = [np.zeros((4, 4), np.float32), *make_images(1)]
    inside = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.0]])
    pairs = np.array([(0, 0), (1, 0), (0, 1), (1, 1)])
    maps = np.array([inside, make_maps(1)[0]])
    distances, _ = _kernels.current().distortions(
        images, images, pairs, maps[pairs[:, 0]], maps, side=28, reach=2.6, bending=Bending()
    )
    assert_array_equal(distances, [18, 18, 18, 0])


def make_comparison(bending=DEFAULT):
    """Return the canvases of two images, and a function that compares the first of some with the second of others."""
    batch = Batch.read(make_images(2))
    canvases = make_canvases(batch, describe(batch), 28, 1)
    return canvases, lambda some, other: compare_bent(
        some, other, np.array([(0, 1)]), np.array([0]), 64, side=28, bending=bending, n_jobs=1
    )


@pytest.mark.parametrize("ridge", [0.0, -1.0, np.nan])
def test_a_ridge_must_be_positive(ridge):
    canvases, compare = make_comparison(Bending(ridge=ridge))
    with pytest.raises(ValueError, match=r"`bending\.ridge` must be a positive number, got"):
        compare(canvases, canvases)


def test_maps_must_be_finite():
    canvases, compare = make_comparison()
    broken = canvases[np.arange(2)]
    broken.means[:] = np.nan
    with pytest.raises(ValueError, match="`moving` must be finite, got nan"):
        compare(broken, canvases)
    with pytest.raises(ValueError, match="`fixed` must be finite, got nan"):
        compare(canvases, broken)

"""Refinement of maps by pixels and by quantiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from shapes import FLAG
from strategies import rotation

from benchmarks.images import draw_stretched
from radoncdt import (
    DescriptorSettings,
    Plausible,
    PointCloud,
    datasets,
    describe,
    push_forward,
    register,
)
from radoncdt.matching.alignment import find_registration

pytestmark = pytest.mark.usefixtures("each_implementation")


def worst_error(found, image, matrix, shift):
    """Return the largest error of a map at a pixel with ink."""
    rows, columns = np.nonzero(image)
    points = np.stack([columns - (image.shape[1] - 1) / 2, (image.shape[0] - 1) / 2 - rows], axis=-1)
    return np.linalg.norm(points @ (found.matrix - matrix).T + found.shift - shift, axis=1).max()


def test_refinement_keeps_the_good_maps_of_drawings_with_stretched_strokes():
    """Up to the pixels, these are moved measures: moments find their maps within some hundredths of a pixel."""
    rng = np.random.default_rng(8)
    maps = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20)
    errors = []
    for matrix, shift in zip(*maps.maps(12, 5)):
        corners = rng.uniform(-92, 92, (7, 2))
        drawing, copy = (
            draw_stretched([corners], np.eye(2), np.zeros(2), 200),
            draw_stretched([corners], matrix, shift, 440),
        )
        rough = register(describe(drawing), describe(copy), limits=Plausible(reflections=False))
        found = register(drawing, copy, limits=Plausible(reflections=False))
        errors.append([worst_error(some, drawing, matrix, shift) for some in (rough, found)])
    before, after = np.array(errors).T
    assert after.max() < 0.1
    assert (after < before + 0.02).all()
    assert np.median(after) < 0.02


def test_drawings_are_registered_to_a_tenth_of_a_pixel():
    """Pictures of 200 pixels are moved as a whole. Without reflections, each has one map."""
    drawings = [*datasets.templates(size=200).values(), *(mark.image() for mark in datasets.watermarks(12))]
    maps = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20)
    for drawing, matrix, shift in zip(drawings, *maps.maps(len(drawings), 0)):
        copy = push_forward(np.pad(drawing, 150), matrix, shift)
        assert worst_error(register(drawing, copy, limits=Plausible(reflections=False)), drawing, matrix, shift) < 0.1


@pytest.mark.parametrize(("maps", "most"), [((0.8, 1.2, 10), 0.4), ((0.6, 1.3, 30), 1.0)], ids=["moderate", "wide"])
def test_lines_drawn_again_with_the_same_pen_are_registered(maps, most):
    """Their mass is distributed differently, so the map is wrong by pixels before it is refined."""
    low, high, shear = maps
    moves = datasets.AffineDistribution(scale=(low, high), isotropic=False, rotation=180, shear=shear, shift=20)
    errors = []
    for mark, matrix, shift in zip(datasets.watermarks(16), *moves.maps(16, 1)):
        copy = datasets.draw([(128 * line @ matrix.T + shift) / 280 for line in mark.lines], size=560)
        pair = mark.image(), copy
        rough = register(*map(describe, pair), limits=Plausible(reflections=False))
        found = register(*pair, limits=Plausible(reflections=False))
        errors.append([worst_error(some, mark.image(), matrix, shift) for some in (rough, found)])
    before, after = np.array(errors).T
    assert after.max() < most
    assert np.median(after) < 0.2 < 1 < np.median(before)


@pytest.mark.parametrize("n", [8, 40, 400])
def test_copies_of_clouds_are_found_between_the_steps(n):
    rng = np.random.default_rng(n)
    cloud = PointCloud(rng.normal(size=(n, 2)) * [30, 20], rng.uniform(1, 2, n))
    matrix, shift = np.array([[0.7, -0.9], [0.8, 0.3]]), np.array([5, -7])
    moved = push_forward(cloud, matrix, shift)
    found = register(cloud, moved)
    assert_allclose(found.apply(cloud).points, moved.points, atol=1e-4)
    similar = push_forward(cloud, 1.3 * rotation(0.3), shift)
    found = register(cloud, similar, limits=Plausible(similarity=True))
    assert found.aspect == pytest.approx(1)
    assert_allclose(found.apply(cloud).points, similar.points, atol=1e-4)


def test_robust_maps_of_clouds_are_not_refined():
    """The quantiles of all levels would include the outliers that robust moments ignore."""
    rng = np.random.default_rng(0)
    cloud = PointCloud(rng.normal(size=(50, 2)) * [30, 20])
    moved = push_forward(cloud, [[0.7, -0.9], [0.8, 0.3]])
    options = {"moments": "robust", "trim": 1 / 16}
    expected = register(describe(cloud, **options), describe(moved, **options))
    assert_array_equal(register(cloud, moved, settings=DescriptorSettings(**options)).matrix, expected.matrix)


def test_refined_maps_obey_the_limits():
    """The copy is sheared and stretched slightly beyond them."""
    moved = push_forward(FLAG, [[1.06, 0.1], [0, 1]], [3, 2], shape=(90, 90))
    for limits in ({"max_aspect": 1.1}, {"max_shear": 4}, {"max_scale": 1.035}):
        found = register(FLAG, moved, limits=Plausible(**limits))
        assert Plausible(**limits).admits(found)
        assert found.distance < 0.1
    found = register(FLAG, moved, limits=Plausible(similarity=True, max_aspect=1.2))
    assert found.aspect == pytest.approx(1)


def test_shapes_that_cannot_be_compared_pixel_by_pixel_keep_their_map():
    dot, large = np.zeros((3, 3)), np.ones((4, 4))
    dot[1, 1] = 1
    expected = find_registration(describe(dot), describe(large), Plausible())
    assert_allclose(find_registration(dot, large, Plausible()).matrix, expected.matrix, atol=0.3)
    cloud = PointCloud([(0, 0), (3, 0), (0, 1), (5, 5)])
    mixed = find_registration(FLAG, cloud, Plausible())
    assert_array_equal(mixed.matrix, find_registration(describe(FLAG), describe(cloud), Plausible()).matrix)


@pytest.mark.parametrize("units", [(1e80, 1e-80), (1e-80, 1e80), (1e-80, 1e-80)], ids=str)
def test_refinement_does_not_depend_on_units_of_length(units):
    rng = np.random.default_rng(0)
    cloud = PointCloud(rng.normal(size=(40, 2)) * [3, 2], rng.uniform(1, 2, 40))
    matrix = 1.3 * rotation(0.7)
    moved = push_forward(cloud, matrix, [5, -7])
    small, large = (PointCloud(some.points * unit, some.weights) for some, unit in zip((cloud, moved), units))
    for options in ({}, {"similarity": True}):
        found = register(small, large, limits=Plausible(**options))
        assert_allclose(found.apply(small).points / units[1], moved.points, rtol=0, atol=1e-9)
        assert found.scale == pytest.approx(1.3 * units[1] / units[0])
        assert found.shear == pytest.approx(0, abs=1e-6)


def test_maps_are_unchanged_if_linear_algebra_fails(monkeypatch):
    def fail(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    expected = register(describe(FLAG), describe(moved))
    monkeypatch.setattr(np.linalg, "lstsq", fail)
    assert_array_equal(register(FLAG, moved).matrix, expected.matrix)


def test_refinement_does_not_depend_on_units_of_brightness():
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    expected = register(FLAG, moved)
    found = register((200 * FLAG).astype(np.uint8), 1e-3 * moved)
    assert_allclose(found.matrix, expected.matrix, atol=1e-6)

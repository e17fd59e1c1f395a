"""Random affine maps, by their effect on images and by their distribution."""

import warnings

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.datasets import WIDE, AffineDistribution


def draw(name, **options):
    return datasets.templates([name], **options)[name].astype(np.float64)


ANY = AffineDistribution(scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=20, shift=7.5)


@pytest.fixture(scope="module")
def moved():
    image = draw("shield-circle", size=128, line_width=5, canvas=256)
    images, maps = datasets.random_affine(np.stack([image] * 24), ANY, rng=5)
    return image, images, maps


def test_the_returned_maps_moved_the_images(moved):
    image, images, (matrices, shifts) = moved
    m, cov = radoncdt.mean(image), radoncdt.covariance(image)
    np.testing.assert_allclose(radoncdt.mean(images), m @ matrices.transpose(0, 2, 1) + shifts, atol=0.15)
    expected = matrices @ cov @ matrices.transpose(0, 2, 1)
    np.testing.assert_allclose(radoncdt.covariance(images), expected, atol=0.015 * np.trace(cov))


def test_grey_values_are_preserved(moved):
    image, images, (matrices, _) = moved
    assert images.max() <= 1
    np.testing.assert_allclose(radoncdt.mass(images), image.sum() * np.abs(np.linalg.det(matrices)), rtol=0.01)


def test_moved_images_are_push_forwards_up_to_a_factor(moved):
    image, images, maps = moved
    for found, matrix, shift in zip(images, *maps):
        expected = radoncdt.push_forward(image, matrix, shift) * abs(np.linalg.det(matrix))
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_half_of_the_maps_mirror():
    determinants = np.linalg.det(ANY.maps(400, 0).matrices)
    assert 160 < np.sum(determinants < 0) < 240
    assert (np.linalg.det(WIDE.maps(400, 0).matrices) > 0).all()


def one_step(**step):
    """Draw the matrices of a distribution with a single step, from the same random numbers."""
    return AffineDistribution(**step).maps(50, 3).matrices


def test_the_steps_are_composed_in_the_order_given():
    parts = {"scale": (0.5, 2.0), "isotropic": False, "rotation": 90, "shear": 30}
    scale, turn = one_step(scale=(0.5, 2.0), isotropic=False), one_step(rotation=90)
    shears = one_step(shear=30)  # the shear of y follows that of x
    expected = shears @ turn @ scale
    np.testing.assert_allclose(AffineDistribution(**parts).maps(50, 3).matrices, expected, atol=1e-12)
    order = ("shear_x", "shear_y", "rotate", "scale")
    expected = scale @ turn @ shears
    np.testing.assert_allclose(AffineDistribution(**parts, order=order).maps(50, 3).matrices, expected, atol=1e-12)


def test_maps_that_fit_the_canvas_keep_its_corners_on_it():
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]).T
    parts = {"rotation": 90, "shear": 30}
    for part in parts:
        plain, fitted = (
            AffineDistribution(**{part: parts[part]}, fit_canvas=fit).maps(50, 3).matrices for fit in (False, True)
        )
        assert np.abs(plain @ corners).max() > 1.3
        reached = np.abs(fitted @ corners).max(axis=-1)
        assert reached.max() == pytest.approx(1)
        if part == "rotation":  # a rotated square touches all sides and keeps its angles
            np.testing.assert_allclose(reached, 1)
            np.testing.assert_allclose(fitted[:, 0, 0], fitted[:, 1, 1])
    scaled = AffineDistribution(scale=(0.5, 2), fit_canvas=True).maps(50, 3).matrices
    np.testing.assert_array_equal(scaled, one_step(scale=(0.5, 2)))


def test_scales_of_x_and_y_are_independent_unless_isotropic():
    scales = AffineDistribution(scale=(0.5, 2), isotropic=False).maps(5000, 3).matrices[:, [0, 1], [0, 1]]
    assert abs(np.corrcoef(scales.T)[0, 1]) < 0.05
    for values in scales.T:
        counts = np.histogram(values, bins=5, range=(0.5, 2))[0]
        assert counts.sum() == 5000
        assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)
    same = AffineDistribution(scale=(0.5, 2)).maps(50, 3).matrices
    np.testing.assert_array_equal(same[:, 0, 0], same[:, 1, 1])


def test_a_shear_is_the_tangent_of_its_angle():
    (a, b), (c, d) = one_step(shear=30, order=("shear_y", "shear_x", "scale", "rotate")).transpose(1, 2, 0)
    np.testing.assert_allclose(d, 1)  # x ↦ x + y·tan α after y ↦ y + x·tan β
    np.testing.assert_allclose(a, 1 + b * c)
    angles = np.rad2deg(np.arctan([b, c]))
    assert 25 < np.abs(angles).max() <= 30


def test_the_maps_are_uniform_between_their_bounds():
    n = 20_000
    maps = AffineDistribution(scale=(0.5, 2.0), rotation=40, shift=3).maps(n, 1)
    scales = np.sqrt(np.linalg.det(maps.matrices))
    angles = np.rad2deg(np.arctan2(maps.matrices[:, 1, 0], maps.matrices[:, 0, 0]))
    for values, low, high in ((scales, 0.5, 2), (angles, -40, 40), *((maps.shifts[:, k], -3, 3) for k in (0, 1))):
        assert low <= values.min()
        assert values.max() <= high
        counts = np.histogram(values, bins=10, range=(low, high))[0]
        assert np.abs(counts - n / 10).max() < 5 * np.sqrt(n / 10)


def test_whole_degrees_and_pixels_are_all_equally_likely():
    maps = WIDE.maps(20_000, 2)
    values, counts = np.unique(maps.shifts, return_counts=True)
    np.testing.assert_array_equal(values, np.arange(-15, 16))
    assert np.abs(counts - 40_000 / 31).max() < 5 * np.sqrt(40_000 / 31)
    tangents = AffineDistribution(shear=5, whole_degrees=True).maps(20_000, 2).matrices[:, 0, 1]
    degrees, counts = np.unique(np.rad2deg(np.arctan(tangents)).round(9), return_counts=True)
    np.testing.assert_array_equal(degrees, np.arange(-5, 6))
    assert np.abs(counts - 20_000 / 11).max() < 5 * np.sqrt(20_000 / 11)


def test_the_first_maps_do_not_depend_on_how_many_are_drawn():
    few, many = WIDE.maps(3, 7), WIDE.maps(11, 7)
    np.testing.assert_array_equal(few.matrices, many.matrices[:3])
    np.testing.assert_array_equal(few.shifts, many.shifts[:3])


def test_the_state_of_a_generator_advances():
    rng = np.random.default_rng(4)
    first, second = WIDE.maps(2, rng), WIDE.maps(2, rng)
    both = WIDE.maps(4, 4)
    np.testing.assert_array_equal(np.concatenate([first.shifts, second.shifts]), both.shifts)


def test_circular_whole_shifts_are_rolls_without_interpolation():
    image = np.random.default_rng(0).random((1, 20, 31))
    distribution = AffineDistribution(shift=15, whole_pixels=True, circular=True)
    found, maps = datasets.random_affine(image, distribution, 8)
    x, y = maps.shifts[0].astype(int)
    np.testing.assert_array_equal(found[0], np.roll(image[0], (-y, x), axis=(0, 1)))


def test_circular_shifts_by_fractions_of_pixels_keep_the_ink():
    image = draw("circle", size=64, line_width=3, canvas=96)[None]
    distribution = AffineDistribution(shift=48, circular=True)
    found, maps = datasets.random_affine(np.repeat(image, 20, axis=0), distribution, 8)
    assert np.abs(maps.shifts).max() > 40
    np.testing.assert_allclose(found.sum(axis=(1, 2)), image.sum(), rtol=1e-6)
    np.testing.assert_allclose(datasets.random_affine(np.ones((5, 9, 12)), distribution, 8)[0], 1, atol=1e-12)


def test_lost_ink_causes_a_warning():
    image = np.ones((4, 20, 20))
    with pytest.warns(UserWarning, match="of 4 images lost more than 1 % of their ink beyond the canvas"):
        datasets.random_affine(image, AffineDistribution(scale=(1.5, 2)), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        datasets.random_affine(np.zeros((2, 8, 8)), AffineDistribution(scale=(1.5, 2)), 0)
        datasets.random_affine(np.pad(image, ((0, 0), (30, 30), (30, 30))), AffineDistribution(scale=(1.5, 2)), 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": (0, 1)}, r"`scale` must be a pair 0 < low ≤ high, got \(0, 1\)"),
        ({"scale": 2.0}, "`scale` must be a pair"),
        ({"rotation": -1}, "`rotation` must be a number from 0 to 360, got -1"),
        ({"shear": 90}, "`shear` must be a number from 0 to 89, got 90"),
        ({"shift": np.nan}, "`shift` must be a number from 0 to 1048576, got nan"),
        ({"shift": 1.5, "whole_pixels": True}, "`shift` must be a whole number if its values are, got 1.5"),
        ({"mirror": "no"}, "`mirror` must be of the type bool, got 'no'"),
        ({"order": 3}, "`order` must be a sequence, got 3"),
        ({"order": (1, 2, 3, "a")}, "`order` must contain each of"),
        ({"order": ("scale", "rotate")}, "`order` must contain each of scale, rotate, shear_x, shear_y once"),
    ],
)
def test_invalid_distributions_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        AffineDistribution(**options)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.ones((4, 4)), r"`images` must have shape \(n, H, W\), got \(4, 4\)"),
        (np.full((1, 2, 2), np.nan), r"`images` must be finite, got nan at \[0, 0, 0\]"),
    ],
)
def test_invalid_images_are_refused(images, message):
    for call in (lambda i: datasets.random_affine(i, WIDE, 0), lambda i: datasets.salt(i, 0)):
        with pytest.raises(ValueError, match=message):
            call(images)


def test_invalid_seeds_are_refused():
    for rng in (None, np.random.RandomState(0), "seed"):
        with pytest.raises(TypeError, match="`rng` must be a numpy Generator or an integer seed, got"):
            WIDE.maps(1, rng)
    with pytest.raises(ValueError, match="`rng` must be at least 0, got -1"):
        WIDE.maps(1, -1)
    with pytest.raises(TypeError, match="`distribution` must be of the type AffineDistribution, got None"):
        datasets.random_affine(np.ones((1, 4, 4)), None, 0)

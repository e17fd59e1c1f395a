"""Drawings by their areas, moments and symmetries; random maps by their truth and their distribution; noise."""

import warnings

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.datasets import NARROW, SHAPES, TEMPLATES, WIDE, AffineDistribution, AffineMaps

# ---------------------------------------------------------------- drawings


def drawn(name, size=256, width=6.0, **options):
    return datasets.templates([name], size=size, line_width=width, **options)[name].astype(np.float64)


R, W = 0.75 * 128, 6.0
ROUND = np.pi * W**2 / 4  # two round ends, or the outside of all corners of a closed line


def shield_area():
    """Length times width, and at each corner the round outside gained and the overlap inside lost."""
    t = np.linspace(0, 1, 10_001)[:, None]
    a, b, c = np.array([(-0.75, 0.5), (-0.75, -0.5), (0, -0.75)]) * 128
    curve = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + (3 * (1 - t) * t**2 + t**3) * c
    length = 1.5 * 128 + 2 * 0.25 * 128 + 2 * np.linalg.norm(np.diff(curve, axis=0), axis=1).sum()
    turns = np.array([np.pi / 2, np.pi / 2, 2 * np.arctan(1 / 3)])
    return length * W + (W**2 / 4 * (turns / 2 - np.tan(turns / 2))).sum()


AREAS = {
    "shield": shield_area(),
    "circle": 2 * np.pi * R * W,
    "square": 4 * np.sqrt(2) * R * W + ROUND - W**2,
    "triangle": 3 * np.sqrt(3) * R * W + ROUND - 3 * np.sqrt(3) * W**2 / 4,
    "star1": R * W + ROUND,
    "star4": 2 * (2 * R * W + ROUND) - W**2,
    "stick": 128 * W + ROUND,
}


@pytest.mark.parametrize("name", AREAS)
def test_shapes_have_the_area_of_their_lines(name):
    assert drawn(name).sum() == pytest.approx(AREAS[name], rel=2e-3)


def test_moments_of_the_circle_are_those_of_a_ring():
    circle = drawn("circle")
    np.testing.assert_allclose(radoncdt.mean(circle), [0, 0], atol=1e-6)
    np.testing.assert_allclose(radoncdt.covariance(circle), (R**2 + W**2 / 4) / 2 * np.eye(2), rtol=1e-3, atol=1e-3)


def test_moments_of_a_ray_are_those_of_a_segment():
    ray = drawn("star1")
    np.testing.assert_allclose(radoncdt.mean(ray), [0, R / 2], atol=0.02)
    np.testing.assert_allclose(radoncdt.covariance(ray)[1, 1], (R + 0.8 * W) ** 2 / 12, rtol=0.02)


@pytest.mark.parametrize("name", [*TEMPLATES, *SHAPES])
def test_symbols_are_mirror_images_of_themselves(name):
    image = drawn(name, size=90, width=3)
    np.testing.assert_allclose(image, image[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("name", ["circle", "square", "star4", "star8"])
def test_shapes_do_not_change_by_a_quarter_turn(name):
    image = drawn(name, size=90, width=3)
    np.testing.assert_allclose(image, np.rot90(image), atol=1e-5)


def test_there_are_twelve_different_templates():
    images = datasets.templates()
    assert tuple(images) == TEMPLATES
    assert len(TEMPLATES) == len({image.tobytes() for image in images.values()}) == 12
    assert all(image.shape == (128, 128) and image.dtype == np.float32 for image in images.values())
    assert all(image.min() == 0 and image.max() == 1 for image in images.values())


def test_symbols_stand_where_the_paper_has_them():
    image = drawn("circle-star1", size=128, width=4)
    x, y = np.arange(128) - 63.5, 63.5 - np.arange(128)[:, None]
    ring = np.abs(np.hypot(x, y + 32) - 24) < 1  # the orb: radius 0.75/2 of 64 pixels, half of them below the middle
    stroke = (np.abs(x) < 1) & (y > -7) & (y < 55)  # the stick from the orb up, and the ray above it
    assert image[ring].min() == 1
    assert image[stroke].min() == 1
    assert image[(np.hypot(x, y + 32) > 27) & ((np.abs(x) > 3) | (y > 60))].max() == 0


@pytest.mark.parametrize("name", [name for name in TEMPLATES if not name.startswith("shield")])
def test_an_orb_hides_the_end_of_the_stick(name):
    image = drawn(name, size=128, width=4)
    assert image[92:100, 60:68].max() == 0  # around (0, −0.5)


def test_a_triangle_points_up_and_a_square_stands_on_its_side():
    triangle = drawn("triangle") > 0.5  # from row 32 down to row 176
    assert np.ptp(np.flatnonzero(triangle[50])) < 30 < 120 < np.ptp(np.flatnonzero(triangle[160]))
    rows, columns = np.nonzero(drawn("square") > 0.5)
    assert np.ptp(rows) + 1 == pytest.approx(np.sqrt(2) * R + W, abs=1.5)
    assert np.ptp(columns) + 1 == pytest.approx(np.sqrt(2) * R + W, abs=1.5)


@pytest.mark.parametrize("emblem", ["circle", "square", "triangle"])
def test_an_emblem_is_half_as_large_an_eighth_above_the_middle(emblem):
    both, shield = (drawn(name, size=256, width=4) for name in (f"shield-{emblem}", "shield"))
    inside = both.copy()
    inside[shield > 0] = 0
    half = drawn(emblem, size=128, width=4)
    expected = np.pad(half, ((48, 80), (64, 64)))  # an eighth of 128 pixels up
    np.testing.assert_allclose(inside, expected, atol=0.05)


def test_the_shield_is_closed_and_as_wide_as_high():
    assert (drawn("shield")[32, 40:216] > 0.9).all()  # the upper edge
    rows, columns = np.nonzero(drawn("shield") > 0.5)
    assert np.ptp(rows) + 1 == pytest.approx(2 * R + W, abs=1.5)
    assert np.ptp(columns) + 1 == pytest.approx(2 * R + W, abs=1.5)


def test_drawings_of_other_sizes_are_the_same_picture():
    large = drawn("triangle-star8", size=256, width=8).reshape(128, 2, 128, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(large, drawn("triangle-star8", size=128, width=4), atol=0.13)
    assert np.abs(large - drawn("triangle-star8", size=128, width=4)).mean() < 2e-3


def test_a_canvas_surrounds_the_drawing():
    small, large = drawn("star8", size=64), drawn("star8", size=64, canvas=100)
    np.testing.assert_array_equal(large[18:-18, 18:-18], small)
    assert large.sum() == small.sum()


@pytest.mark.parametrize("width", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 4, 1.3])
def test_lines_have_their_width_in_any_direction(width, angle):
    end = 0.8 * np.array([np.cos(angle), np.sin(angle)])
    image = datasets.draw([[-end, end]], size=128, line_width=width)
    assert image.sum() == pytest.approx(0.8 * 128 * width + np.pi * width**2 / 4, rel=0.01)


def test_crossing_lines_are_not_brighter_than_one():
    assert datasets.draw([[(-1, 0), (1, 0)], [(0, -1), (0, 1)]], size=21, line_width=3).max() == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: datasets.templates(["hexagon"]), ValueError, "`names` must be one of 'circle-star1'.*got 'hexagon'"),
        (
            lambda: datasets.templates("circle"),
            TypeError,
            "`names` must be a sequence, got the string 'circle'",
        ),
        (lambda: datasets.templates(size=0), ValueError, "`size` must be at least 1, got 0"),
        (lambda: datasets.templates(canvas=100), ValueError, "`canvas` must be at least 128, got 100"),
        (lambda: datasets.templates(canvas=129), ValueError, "`canvas` must differ from `size` by an even number"),
        (lambda: datasets.templates(line_width=-1), ValueError, "`line_width` must be a positive number, got -1"),
        (lambda: datasets.templates(line_width=[1, 2]), TypeError, "`line_width` must be a positive number"),
        (lambda: datasets.templates(3), TypeError, "`names` must be a sequence, got 3"),
        (lambda: datasets.draw(None), TypeError, "`lines` must be a sequence, got None"),
        (lambda: datasets.draw([]), ValueError, "`lines` must not be empty"),
        (lambda: datasets.draw([[(0, 0), (1e200, 0)]]), ValueError, r"`lines\[0\]` must not be beyond"),
        (lambda: datasets.draw([[(0, 0)]]), ValueError, r"`lines\[0\]` must have shape \(n, 2\) with n ≥ 2"),
        (lambda: datasets.draw([[(0, 0), (np.nan, 0)]]), ValueError, r"`lines\[0\]` must be finite"),
    ],
)
def test_refuses_drawings_that_cannot_be(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---------------------------------------------------------------- random maps

ANY = AffineDistribution(scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=20, shift=7.5)


@pytest.fixture(scope="module")
def moved():
    image = drawn("shield-circle", size=128, width=5, canvas=256)
    images, maps = datasets.random_affine(np.stack([image] * 24), ANY, rng=5)
    return image, images, maps


def test_the_maps_are_those_that_moved_the_images(moved):
    image, images, (matrices, shifts) = moved
    m, cov = radoncdt.mean(image), radoncdt.covariance(image)
    np.testing.assert_allclose(radoncdt.mean(images), m @ matrices.transpose(0, 2, 1) + shifts, atol=0.15)
    expected = matrices @ cov @ matrices.transpose(0, 2, 1)
    np.testing.assert_allclose(radoncdt.covariance(images), expected, atol=0.015 * np.trace(cov))


def test_grey_values_are_kept(moved):
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
    """The matrices of a distribution with but one step, drawn from the same random numbers."""
    return AffineDistribution(**step).maps(50, 3).matrices


def test_the_steps_are_composed_in_the_order_given():
    parts = {"scale": (0.5, 2.0), "isotropic": False, "rotation": 90, "shear": 30}
    scale, turn = one_step(scale=(0.5, 2.0), isotropic=False), one_step(rotation=90)
    shears = one_step(shear=30)  # the shear of y after that of x
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
        if part == "rotation":  # a turned square touches all sides, and keeps its angles
            np.testing.assert_allclose(reached, 1)
            np.testing.assert_allclose(fitted[:, 0, 0], fitted[:, 1, 1])
    scaled = AffineDistribution(scale=(0.5, 2), fit_canvas=True).maps(50, 3).matrices
    np.testing.assert_array_equal(scaled, one_step(scale=(0.5, 2)))


def test_scales_of_x_and_y_are_their_own_unless_isotropic():
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


def test_a_generator_goes_on_where_it_stands():
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


def test_circular_shifts_of_parts_of_pixels_keep_the_ink():
    image = drawn("circle", size=64, width=3, canvas=96)[None]
    distribution = AffineDistribution(shift=48, circular=True)
    found, maps = datasets.random_affine(np.repeat(image, 20, axis=0), distribution, 8)
    assert np.abs(maps.shifts).max() > 40
    np.testing.assert_allclose(found.sum(axis=(1, 2)), image.sum(), rtol=1e-6)
    np.testing.assert_allclose(datasets.random_affine(np.ones((5, 9, 12)), distribution, 8)[0], 1, atol=1e-12)


def test_lost_ink_is_told():
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
        ({"shift": 1.5, "whole_pixels": True}, "`shift` must be a whole number, as its values are, got 1.5"),
        ({"mirror": "no"}, "`mirror` must be of the type bool, got 'no'"),
        ({"order": 3}, "`order` must be a sequence, got 3"),
        ({"order": (1, 2, 3, "a")}, "`order` must hold each of"),
        ({"order": ("scale", "rotate")}, "`order` must hold each of scale, rotate, shear_x, shear_y once"),
    ],
)
def test_refuses_distributions_that_cannot_be(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        AffineDistribution(**options)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.ones((4, 4)), r"`images` must have shape \(n, H, W\), got \(4, 4\)"),
        (np.full((1, 2, 2), np.nan), r"`images` must be finite, got nan at \[0, 0, 0\]"),
    ],
)
def test_refuses_images_that_are_none(images, message):
    for call in (lambda i: datasets.random_affine(i, WIDE, 0), lambda i: datasets.salt(i, 0)):
        with pytest.raises(ValueError, match=message):
            call(images)


def test_refuses_seeds_that_are_none():
    for rng in (None, np.random.RandomState(0), "seed"):
        with pytest.raises(TypeError, match="`rng` must be a numpy Generator, or a seed, an integer, got"):
            WIDE.maps(1, rng)
    with pytest.raises(ValueError, match="`rng` must be at least 0, got -1"):
        WIDE.maps(1, -1)
    with pytest.raises(TypeError, match="`distribution` must be of the type AffineDistribution, got None"):
        datasets.random_affine(np.ones((1, 4, 4)), None, 0)


# ---------------------------------------------------------------- noise


def test_elastic_is_the_formula():
    image = np.random.default_rng(0).random((12, 17))
    found = datasets.elastic(image[None], 3, amplitude=(1, 2), frequency=(0.5, 1))[0]
    rng = np.random.default_rng(3)
    (a_x, a_y), (f_x, f_y) = rng.uniform(1, 2, 2), rng.uniform(0.5, 1, 2)
    for j in range(1, 13):
        for k in range(1, 18):
            y = j + a_y * np.cos(2 * np.pi * f_y * k / 17) - 1
            x = k + a_x * np.sin(2 * np.pi * f_x * j / 12) - 1
            j0, k0 = int(np.floor(y)), int(np.floor(x))
            v, u = y - j0, x - k0
            corners = [[image[(j0 + a) % 12, (k0 + b) % 17] for b in (0, 1)] for a in (0, 1)]
            expected = np.array([1 - v, v]) @ corners @ np.array([1 - u, u])
            assert found[j - 1, k - 1] == pytest.approx(expected, abs=1e-12)


def test_salt_is_so_many_discs():
    found = datasets.salt(np.zeros((200, 96, 96)), 0, dots=(4, 7), diameter=(5, 5))
    dots = found.sum(axis=(1, 2)) / (np.pi * 2.5**2)
    assert set(np.rint(dots)) <= {3, 4, 5, 6, 7}  # fewer where they overlap
    assert {4, 5, 6, 7} <= set(np.rint(dots))
    assert found.max() == 1
    one = datasets.salt(np.zeros((200, 20, 30)), 0, dots=(1, 1), diameter=(5, 5))
    np.testing.assert_allclose(one.sum(axis=(1, 2)), np.pi * 2.5**2, rtol=0.02)  # none is cut off by the edge


def test_bars_are_black_columns():
    found = datasets.bars(np.ones((100, 8, 64)), 0, bars=(2, 5), width=(3, 3))
    np.testing.assert_allclose(found, found[:, :1] + np.zeros((1, 8, 1)))
    missing = (1 - found[:, 0]).sum(axis=1) / 3
    assert missing.max() <= 5 + 1e-9
    assert missing.min() > 1 - 1e-9  # two bars may coincide
    assert np.isclose(missing, 5).any()


def test_sticks_have_their_length_and_width():
    found = datasets.sticks(np.zeros((40, 128, 128)), 1, sticks=(1, 1), length=(30, 30), width=(3, 3))
    np.testing.assert_allclose(found.sum(axis=(1, 2)), 30 * 3 + np.pi * 9 / 4, rtol=0.01)
    cov = radoncdt.covariance(found)
    angles = np.rad2deg(np.arctan2(2 * cov[:, 0, 1], cov[:, 0, 0] - cov[:, 1, 1]) / 2).round() % 180
    assert set(angles) == {0, 45, 90, 135}


@pytest.mark.parametrize("noise", [datasets.elastic, datasets.salt, datasets.bars, datasets.sticks])
def test_white_is_the_largest_value(noise):
    images = np.random.default_rng(0).random((2, 40, 50))
    np.testing.assert_allclose(noise(200 * images, 1), 200 * noise(images, 1))


@pytest.mark.parametrize("noise", [datasets.elastic, datasets.salt, datasets.bars, datasets.sticks])
def test_noise_is_seeded_and_leaves_the_images_alone(noise):
    images = np.random.default_rng(0).random((3, 40, 50)).astype(np.float32)
    before = images.copy()
    found = noise(images, 1)
    assert found.dtype == np.float32
    assert found.shape == images.shape
    np.testing.assert_array_equal(images, before)
    np.testing.assert_array_equal(found, noise(images, np.random.default_rng(1)))
    assert (found != noise(images, 2)).any()
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda i: datasets.salt(i, 0, dots=(3, 1)), r"`dots` must be a pair 0 ≤ low ≤ high, got \(3, 1\)"),
        (lambda i: datasets.salt(i, 0, dots=(0.5, 1)), "`dots` must be a pair of whole numbers"),
        (lambda i: datasets.elastic(i, 0, amplitude=(-1, 1)), "`amplitude` must be a pair"),
        (lambda i: datasets.sticks(i, 0, length=3), "`length` must be a pair"),
        (lambda i: datasets.bars(i, 0, width=(np.inf, np.inf)), "`width` must be finite"),
    ],
)
def test_refuses_noise_that_cannot_be(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.zeros((1, 8, 8)))


# ---------------------------------------------------------------- the two datasets


@pytest.fixture(scope="module")
def digits():
    """A stand-in for MNIST: blots of different places and sizes."""
    rng = np.random.default_rng(0)
    images = np.zeros((90, 28, 28), np.uint8)
    for image in images:
        i, j = rng.integers(6, 16, 2)
        image[i : i + rng.integers(3, 7), j : j + rng.integers(3, 7)] = rng.integers(100, 256)
    return datasets.Mnist(images, np.tile([1, 7, 5], 30).astype(np.uint8), "blots")


def test_academic_images_are_moved_templates():
    images, labels, maps = datasets.academic(4, rng=0, size=64, canvas=128, line_width=3)
    assert images.shape == (12, 128, 128)
    assert isinstance(maps, AffineMaps)
    assert list(dict.fromkeys(labels)) == ["circle-star1", "square-star4", "shield-triangle"]
    drawings = datasets.templates(labels[::4], size=64, canvas=128, line_width=3)
    for image, label, matrix, shift in zip(images, labels, *maps):
        expected = radoncdt.mean(drawings[label]) @ matrix.T + shift
        np.testing.assert_allclose(radoncdt.mean(image), expected, atol=0.2)


@pytest.mark.parametrize("n_maps", [None, 10])
def test_the_first_images_do_not_depend_on_the_class_size(digits, n_maps):
    options = {"rng": 3, "n_maps": n_maps}
    few, many = (datasets.lin_mnist([1, 7], n, mnist=digits, **options)[0] for n in (3, 12))
    np.testing.assert_array_equal(few, many[[0, 1, 2, 12, 13, 14]])
    few, many = (datasets.academic(n, size=32, canvas=64, **options)[0] for n in (2, 4))
    np.testing.assert_array_equal(few, many[[0, 1, 4, 5, 8, 9]])


def test_a_generator_is_used_as_it_stands(digits):
    """Neither before nor after it was used is the state of the generator ignored."""
    for n_maps in (None, 3):
        rng = np.random.default_rng(5)
        state = rng.bit_generator.state
        first, second = (datasets.lin_mnist([1, 5], 3, rng=rng, mnist=digits, n_maps=n_maps)[2] for _ in range(2))
        assert (first.matrices != second.matrices).any()
        rng.bit_generator.state = state
        again = datasets.lin_mnist([1, 5], 3, rng=rng, mnist=digits, n_maps=n_maps)[2]
        np.testing.assert_array_equal(first.matrices, again.matrices)


def test_shared_maps_are_shared(digits):
    _, labels, maps = datasets.lin_mnist([1, 5], 25, rng=3, mnist=digits, n_maps=10)
    assert len(np.unique(maps.matrices.reshape(50, 4), axis=0)) == 10
    for k in range(25):
        np.testing.assert_array_equal(maps.matrices[k], maps.matrices[k % 10])
        np.testing.assert_array_equal(maps.matrices[25 + k], maps.matrices[k])
    _, _, own = datasets.lin_mnist([1, 5], 25, rng=3, mnist=digits)
    assert len(np.unique(own.matrices.reshape(50, 4), axis=0)) == 50
    np.testing.assert_array_equal(labels, np.repeat([1, 5], 25))


def test_digits_are_the_first_in_order_padded_and_at_most_one(digits):
    images, _, _ = datasets.lin_mnist([7], 5, rng=0, mnist=digits, distribution=AffineDistribution())
    expected = digits.images[digits.labels == 7][:5].astype(float)
    np.testing.assert_allclose(images[:, 14:42, 14:42], expected / expected.max(axis=(1, 2), keepdims=True), atol=1e-6)
    assert images.shape == (5, 56, 56)
    moved = datasets.lin_mnist([7], 5, rng=0, mnist=digits)[0]
    np.testing.assert_array_equal(moved.max(axis=(1, 2)), 1)


def test_the_maps_of_the_paper_are_those_of_its_tables():
    assert (NARROW.scale, WIDE.scale) == ((0.75, 1.0), (0.75, 1.25))
    assert np.deg2rad([NARROW.rotation, WIDE.rotation]) == pytest.approx([0.5, 1.0])
    assert (NARROW.shift, WIDE.shift) == (5, 15)
    for maps in (NARROW, WIDE):
        assert (maps.isotropic, maps.shear, maps.whole_degrees, maps.whole_pixels, maps.circular) == (
            True,
            5,
            *[True] * 3,
        )


def test_refuses_more_digits_than_there_are(digits):
    with pytest.raises(ValueError, match="`n` must be at most 30, the images of digit 5 in blots, got 31"):
        datasets.lin_mnist([5], 31, rng=0, mnist=digits)
    with pytest.raises(ValueError, match="`n` must be at most 0, the images of digit 2 in blots, got 1"):
        datasets.lin_mnist([2], 1, rng=0, mnist=digits)
    with pytest.raises(ValueError, match="`canvas` must be at least 28, got 20"):
        datasets.lin_mnist([5], 1, rng=0, mnist=digits, canvas=20)
    with pytest.raises(ValueError, match="`digits` must be digits, got 10"):
        datasets.lin_mnist([10], 1, rng=0, mnist=digits)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.academic(2, rng=0, classes=[]), "`classes` must not be empty"),
        (lambda: datasets.academic(2, rng=0, classes=["a"]), "`classes` must be one of 'circle-star1'"),
        (
            lambda: datasets.academic(2, rng=0, distribution=None),
            "`distribution` must be of the type AffineDistribution",
        ),
        (lambda: datasets.lin_mnist(1, 2, rng=0), "`digits` must be a sequence, got 1"),
        (lambda: datasets.lin_mnist([1], 2, rng=0, mnist=3), "`mnist` must be of the type Mnist, got 3"),
    ],
)
def test_refuses_sets_that_cannot_be(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_warning_of_lost_ink_points_to_the_caller():
    with pytest.warns(UserWarning, match="lost more than") as warned:
        datasets.academic(2, rng=0, canvas=128, distribution=AffineDistribution(scale=(2, 3)))
    assert warned[0].filename == __file__

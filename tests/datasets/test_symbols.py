"""Symbols, by their areas, moments and symmetries."""

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.datasets import SHAPES, TEMPLATES


def draw(name, size=256, width=6.0, **options):
    return datasets.templates([name], size=size, line_width=width, **options)[name].astype(np.float64)


R, W = 0.75 * 128, 6.0
ROUND = np.pi * W**2 / 4  # two round ends, or the outside of all corners of a closed line


def shield_area():
    """Compute length times width, plus the round outside of each corner, minus the overlap inside."""
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
    assert draw(name).sum() == pytest.approx(AREAS[name], rel=2e-3)


def test_moments_of_the_circle_are_those_of_a_ring():
    circle = draw("circle")
    np.testing.assert_allclose(radoncdt.mean(circle), [0, 0], atol=1e-6)
    np.testing.assert_allclose(radoncdt.covariance(circle), (R**2 + W**2 / 4) / 2 * np.eye(2), rtol=1e-3, atol=1e-3)


def test_moments_of_a_ray_are_those_of_a_segment():
    ray = draw("star1")
    np.testing.assert_allclose(radoncdt.mean(ray), [0, R / 2], atol=0.02)
    np.testing.assert_allclose(radoncdt.covariance(ray)[1, 1], (R + 0.8 * W) ** 2 / 12, rtol=0.02)


@pytest.mark.parametrize("name", [*TEMPLATES, *SHAPES])
def test_symbols_are_mirror_images_of_themselves(name):
    image = draw(name, size=90, width=3)
    np.testing.assert_allclose(image, image[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("name", ["circle", "square", "star4", "star8"])
def test_shapes_are_invariant_under_a_quarter_turn(name):
    image = draw(name, size=90, width=3)
    np.testing.assert_allclose(image, np.rot90(image), atol=1e-5)


def test_there_are_twelve_different_templates():
    images = datasets.templates()
    assert tuple(images) == TEMPLATES
    assert len(TEMPLATES) == len({image.tobytes() for image in images.values()}) == 12
    assert all(image.shape == (128, 128) and image.dtype == np.float32 for image in images.values())
    assert all(image.min() == 0 and image.max() == 1 for image in images.values())


def test_symbols_are_placed_as_in_the_paper():
    image = draw("circle-star1", size=128, width=4)
    x, y = np.arange(128) - 63.5, 63.5 - np.arange(128)[:, None]
    ring = np.abs(np.hypot(x, y + 32) - 24) < 1  # the orb: radius 0.75/2 of 64 pixels, half of them below the middle
    stroke = (np.abs(x) < 1) & (y > -7) & (y < 55)  # the stick from the orb up, and the ray above it
    assert image[ring].min() == 1
    assert image[stroke].min() == 1
    assert image[(np.hypot(x, y + 32) > 27) & ((np.abs(x) > 3) | (y > 60))].max() == 0


@pytest.mark.parametrize("name", [name for name in TEMPLATES if not name.startswith("shield")])
def test_an_orb_hides_the_end_of_the_stick(name):
    image = draw(name, size=128, width=4)
    assert image[92:100, 60:68].max() == 0  # around (0, −0.5)


def test_a_triangle_points_up_and_a_square_stands_on_its_side():
    triangle = draw("triangle") > 0.5  # from row 32 down to row 176
    assert np.ptp(np.flatnonzero(triangle[50])) < 30 < 120 < np.ptp(np.flatnonzero(triangle[160]))
    rows, columns = np.nonzero(draw("square") > 0.5)
    assert np.ptp(rows) + 1 == pytest.approx(np.sqrt(2) * R + W, abs=1.5)
    assert np.ptp(columns) + 1 == pytest.approx(np.sqrt(2) * R + W, abs=1.5)


@pytest.mark.parametrize("emblem", ["circle", "square", "triangle"])
def test_an_emblem_is_half_as_large_and_an_eighth_above_the_middle(emblem):
    both, shield = (draw(name, size=256, width=4) for name in (f"shield-{emblem}", "shield"))
    inside = both.copy()
    inside[shield > 0] = 0
    half = draw(emblem, size=128, width=4)
    expected = np.pad(half, ((48, 80), (64, 64)))  # an eighth of 128 pixels up
    np.testing.assert_allclose(inside, expected, atol=0.05)


def test_the_shield_is_closed_and_as_wide_as_it_is_high():
    assert (draw("shield")[32, 40:216] > 0.9).all()  # the upper edge
    rows, columns = np.nonzero(draw("shield") > 0.5)
    assert np.ptp(rows) + 1 == pytest.approx(2 * R + W, abs=1.5)
    assert np.ptp(columns) + 1 == pytest.approx(2 * R + W, abs=1.5)


def test_drawings_of_different_sizes_show_the_same_picture():
    large = draw("triangle-star8", size=256, width=8).reshape(128, 2, 128, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(large, draw("triangle-star8", size=128, width=4), atol=0.13)
    assert np.abs(large - draw("triangle-star8", size=128, width=4)).mean() < 2e-3


def test_a_canvas_surrounds_the_drawing():
    small, large = draw("star8", size=64), draw("star8", size=64, canvas=100)
    np.testing.assert_array_equal(large[18:-18, 18:-18], small)
    assert large.sum() == small.sum()


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
    ],
)
def test_invalid_templates_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()

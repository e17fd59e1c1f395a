"""Drawings with even ink."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import radoncdt
from radoncdt import PointCloud, affine_distances, datasets
from radoncdt.matching import even_ink


def draw_character(strokes, thin, thick):
    """Draw horizontal strokes `thin` pixels wide and vertical ones `thick` pixels wide."""
    image = np.zeros((100, 100), np.float32)
    for is_level, place, start, length in strokes:
        low = place - (thin if is_level else thick) // 2
        across, along = slice(low, low + (thin if is_level else thick)), slice(start, start + length)
        image[(across, along) if is_level else (along, across)] = 1
    return image


@pytest.fixture(scope="module")
def characters():
    """Return characters of ten strokes of one thickness, and with thin horizontal strokes."""
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(40):
        strokes = [
            (k % 2 == 0, *(int(x) for x in (rng.integers(10, 90), rng.integers(5, 50), rng.integers(15, 50))))
            for k in range(10)
        ]
        drawn.append([draw_character(strokes, thin, 6) for thin in (6, 2)])
    return [list(each) for each in zip(*drawn)]


def test_strokes_of_different_thickness_become_equally_heavy():
    image = np.zeros((80, 120))
    image[10:70, 20:32] = image[10:70, 90:94] = 1
    even = even_ink(image)
    before, after = (image[:, 20:32].sum() / image[:, 90:94].sum() for image in (image, even))
    assert before == pytest.approx(3)
    assert after < 1.5
    assert_array_equal(even > 0, image > 0)


def test_typefaces_come_closer(characters):
    before, after = affine_distances(*characters), affine_distances(*map(even_ink, characters))
    right = np.arange(len(before))
    assert (before.argmin(axis=1) == right).mean() < 0.7
    assert (after.argmin(axis=1) == right).mean() > 0.9
    assert np.median(after[right, right]) < 0.5 * np.median(before[right, right])


def test_capitals_are_recognised_less_well():
    """The documents say so. Serifs, which only one of the typefaces has, become heavier."""
    fonts = {font.name: font for font in datasets.list_fonts(system=False)}
    capitals = [
        datasets.glyphs(fonts[name], map(chr, range(65, 91)), size=90)
        for name in ("DejaVu Sans Book", "STIXGeneral Regular")
    ]
    limits = radoncdt.Plausible(reflections=False)
    before, after = (
        affine_distances(*drawn, limits=limits).argmin(axis=1) == np.arange(26)
        for drawn in (capitals, [even_ink(each) for each in capitals])
    )
    assert (
        after.sum() + 2 < before.sum()
    )  # 15 and 20 in the versions of the document; they depend on how fonts are drawn


def test_affine_maps_of_an_image_are_maps_of_the_result(characters):
    for image in characters[0][:3]:
        moved = radoncdt.push_forward(image, [[0.9, -0.6], [0.5, 0.8]], shape=(220, 220))
        even, evened_after = even_ink(image), even_ink(moved)
        assert affine_distances([even], [evened_after])[0, 0] < 0.02
        assert affine_distances([even], [image])[0, 0] > 0.02


def test_margins_and_units_change_nothing(characters):
    image = characters[1][3]
    even = even_ink(image)
    assert even.max() == 1
    assert_array_equal(even_ink(np.pad(image, ((3, 9), (20, 0)))), np.pad(even, ((3, 9), (20, 0))))
    assert_allclose(even_ink(700.0 * image), even, atol=1e-6)


def test_arrays_remain_arrays_and_lists_lists(characters):
    stack = np.stack([np.tri(30), np.eye(30), np.ones((30, 30)), np.tri(30).T]).reshape(2, 2, 30, 30)
    before = stack.copy()
    even = even_ink(stack, rounds=1)
    assert_array_equal(stack, before)
    assert even.dtype == np.float32
    assert even.shape == stack.shape
    assert_array_equal(even[1, 0], even_ink(stack[1, 0], rounds=1))
    several = even_ink(characters[0], n_jobs=2)
    assert isinstance(several, list)
    for image, each in zip(characters[0], several):
        assert_array_equal(each, even_ink(image))


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        (np.ones((9, 9)), {"width": 0}, "`width` must be a number above 0 and at most 3, got 0"),
        (np.ones((9, 9)), {"rounds": 0}, "`rounds` must be at least 1, got 0"),
        (np.ones((9, 9)), {"n_jobs": 0}, "`n_jobs` must not be 0"),
        ([np.ones((9, 9)), np.zeros((9, 9))], {}, r"images\[1\]"),
        ([np.ones((9, 9)), PointCloud([(0, 0), (1, 2), (3, 1)])], {}, r"`images\[1\]` must be an image, got a Point"),
        (np.full((9, 9), np.nan), {}, "images"),
        (-np.ones((9, 9)), {}, "images"),
    ],
)
def test_wrong_arguments_are_refused(images, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        even_ink(images, **options)

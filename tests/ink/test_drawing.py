"""Ink of the kind "drawing"."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import radoncdt
from radoncdt import datasets
from radoncdt.ink import InkError, find_ink

MARK = datasets.watermarks(3)[2].image()


def distance(a, b):
    settings = radoncdt.DescriptorSettings(moments="robust", trim=1 / 16)
    return float(radoncdt.affine_distances([a], [b], settings=settings)[0, 0])


def test_a_clean_drawing_is_its_own_ink():
    ink = find_ink(np.rint(255 - 255 * MARK).astype(np.uint8), kind="drawing")
    assert distance(ink, MARK) < 0.01
    assert_allclose(find_ink(np.rint(255 * MARK).astype(np.uint8), kind="drawing"), ink, atol=0.03)  # either polarity


@pytest.mark.parametrize(("grey", "noise"), [(0, 0), (30, 0), (30, 10), (100, 10)])
def test_ink_of_one_kind_is_full(grey, noise):
    """Paper without noise and lines without soft edges, as drawn by a program."""
    page = np.full((200, 200), 250.0)
    page[30:36, 20:180] = page[30:180, 90:98] = page[100:180, 20:60] = grey
    drawn = page < 200
    page[drawn] += np.random.default_rng(0).normal(0, noise, drawn.sum())
    ink = find_ink(np.clip(page, 0, 255))
    assert ink[drawn].mean() > 0.85
    assert ink[drawn].min() > 0.3
    assert not ink[~drawn].any()


def test_drawings_are_the_default():
    page = np.rint(255 - 255 * MARK).astype(np.uint8)
    assert_array_equal(find_ink(page), find_ink(page, kind="drawing"))


def test_tracings_in_uneven_light_and_noise_are_found():
    random = np.random.default_rng(0)
    light = np.linspace(0.55, 1, 256) * np.linspace(1, 0.8, 256)[:, None]
    pencil = 1 - 0.4 * MARK * random.uniform(0.7, 1, MARK.shape)
    page = np.uint8(np.clip(255 * light * pencil + random.normal(0, 4, MARK.shape), 0, 255))
    assert distance(find_ink(page, kind="drawing"), MARK) < 0.03
    assert distance(find_ink(page, kind="grey"), MARK) > 0.1  # the border alone does not show the light


def test_solid_areas_stay_solid():
    seal = np.zeros((200, 200))
    seal[50:150, 60:140] = 1
    ink = find_ink(np.uint8(230 - 200 * seal), kind="drawing")
    assert_array_equal(ink > 0.5, seal > 0)


def test_specks_are_removed_unless_asked_for():
    salted = datasets.salt(MARK[None], rng=0, dots=(10, 10))[0]
    page = np.uint8(255 - 255 * salted)
    clean = find_ink(np.uint8(255 - 255 * MARK), kind="drawing")
    apart = datasets.salt(0 * MARK[None], rng=0, dots=(10, 10))[0] * (MARK == 0) > 0.5
    assert (find_ink(page, kind="drawing")[apart] > 0).mean() < 0.3  # specks that touch the mark stay
    assert (find_ink(page, kind="drawing", specks=0)[apart] > 0).mean() > 0.9
    assert distance(find_ink(page, kind="drawing"), clean) < 0.02


def test_thresholds_are_options():
    wedge = np.uint8(255 - 200 * np.pad(np.linspace(0, 1, 100)[:, None] * np.ones(20), 40))
    areas = [find_ink(wedge, kind="drawing", threshold=t).sum() for t in (0.2, 0.5, 0.8)]
    assert areas[0] > areas[1] > areas[2] > 0


def test_large_images_are_reduced():
    big = np.uint8(255 - 255 * np.kron(MARK, np.ones((8, 8))))
    ink = find_ink(big, kind="drawing")
    assert ink.shape == (1024, 1024)
    assert distance(ink, MARK) < 0.01
    assert find_ink(big, kind="drawing", max_side=300).shape == (293, 293)
    assert find_ink(big, kind="grey").shape == big.shape


@pytest.mark.parametrize(("ink", "word"), [("auto", "darker"), ("dark", "darker"), ("bright", "brighter")])
def test_a_blank_page_has_no_ink(ink, word):
    with pytest.raises(InkError, match=f"^`image`: no pixel is {word} than the paper"):
        find_ink(np.full((40, 40), 200, np.uint8), kind="drawing", ink=ink)


def test_lines_of_pixels_are_not_drawings():
    with pytest.raises(InkError, match="must be at least 8 pixels wide and high, got 100000 × 1"):
        find_ink(np.zeros((1, 100_000), np.uint8), kind="drawing")

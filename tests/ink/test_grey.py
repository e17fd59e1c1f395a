"""Ink of the kind "grey"."""

from functools import partial

import numpy as np
import pytest
from files import SHAPE, save
from numpy.testing import assert_allclose, assert_array_equal

import radoncdt
from radoncdt.ink import InkError, find_ink, read_ink

read_grey = partial(read_ink, kind="grey")


def test_ink_is_mass_whether_it_is_darker_or_brighter_than_the_paper(folder):
    assert_array_equal(read_grey("dark.png"), SHAPE)
    assert_array_equal(read_grey("bright.png"), SHAPE)
    assert_array_equal(read_grey("dark.png", ink="dark"), SHAPE)


def test_grey_paper_has_no_mass(folder):
    save("grey.png", 180 - 150 * SHAPE)
    assert_allclose(read_grey("grey.png"), SHAPE, atol=1e-6)


def test_noise_and_uneven_light_are_paper(folder):
    """Features stay near those of the clean drawing; without care they would be nearer to those of a square."""
    rng = np.random.default_rng(0)
    clean = radoncdt.max_nrcdt(np.pad(SHAPE, 40).repeat(2, 0).repeat(2, 1))
    square = np.linalg.norm(radoncdt.max_nrcdt(np.ones((9, 9))) - clean)
    grey = 230 - 180 * np.pad(SHAPE, 40).repeat(2, 0).repeat(2, 1)
    light = 1 - 0.1 * np.linspace(0, 1, grey.shape[1])
    for disturbed in (grey + rng.normal(0, 2, grey.shape), grey * light, grey * light + rng.normal(0, 2, grey.shape)):
        save("disturbed.png", np.clip(disturbed, 0, 255).round())
        assert np.linalg.norm(radoncdt.max_nrcdt(read_grey("disturbed.png")) - clean) < square / 4


def test_drawings_on_transparent_ground(folder):
    """A white square with a black outline: the outline is dark ink, the inside is bright ink."""
    rgba = np.zeros((20, 20, 4))
    rgba[5:15, 5:15, 3] = 255
    rgba[6:14, 6:14, :3] = 255
    save("both.png", rgba)
    inside = np.pad(np.ones((8, 8)), 6)
    outline = np.pad(np.ones((10, 10)), 5) - inside
    assert_array_equal(read_grey("both.png"), outline)
    assert_array_equal(read_grey("both.png", ink="dark"), outline)
    assert_array_equal(read_grey("both.png", ink="bright"), inside)


def test_large_images_are_reduced_only_on_demand():
    big = np.uint8(255 - 255 * np.kron(SHAPE, np.ones((40, 40))))
    assert find_ink(big, kind="grey").shape == big.shape
    assert find_ink(big, kind="grey", max_side=300).shape == (256, 256)


@pytest.mark.parametrize("ink", ["dark", "bright"])
def test_a_blank_page_has_no_ink(ink):
    word = {"dark": "darker", "bright": "brighter"}[ink]
    with pytest.raises(InkError, match=f"^`image`: no pixel is {word} than the paper"):
        find_ink(np.full((9, 9), 200, np.uint8), kind="grey", ink=ink)

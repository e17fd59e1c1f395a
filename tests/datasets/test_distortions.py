"""Distortions: bent images, specks, gaps and stray lines."""

import numpy as np
import pytest
import reference

import radoncdt
from radoncdt import datasets


def test_elastic_bends_each_image_by_waves_of_its_own():
    images = np.random.default_rng(0).random((3, 12, 17))
    found = datasets.elastic(images, 3, amplitude=(1, 2), frequency=(0.5, 1))
    random = np.random.default_rng(3)
    for image, bent in zip(images, found):
        (a_x, a_y), (f_x, f_y) = random.uniform(1, 2, 2), random.uniform(0.5, 1, 2)
        np.testing.assert_allclose(bent, reference.bend(image, a_x, a_y, f_x, f_y), atol=1e-12)


def test_salt_has_the_given_number_of_discs():
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
def test_noise_is_seeded_and_does_not_modify_the_input(noise):
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
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.zeros((1, 8, 8)))

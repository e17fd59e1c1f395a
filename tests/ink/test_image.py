"""Grey images: values, transparency and reduction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from radoncdt.ink import InkError
from radoncdt.ink.image import GreyImage, reduce_image


def test_arrays_are_scaled_to_their_range():
    ramp = np.linspace(-3, 5, 20).reshape(4, 5)
    assert_allclose(GreyImage.from_array(ramp, "x").grey, (ramp + 3) / 8, rtol=1e-6)
    assert_array_equal(GreyImage.from_array(np.full((2, 3), 51, np.uint8), "x").grey, np.float32(0.2))
    assert_array_equal(GreyImage.from_array(np.full((2, 3), 7.0), "x").grey, np.float32(1))


def test_colours_are_weighted_and_the_last_plane_is_the_opacity():
    planes = np.zeros((2, 3, 4), np.uint8)
    planes[..., 1], planes[..., 3] = 255, 51
    image = GreyImage.from_array(planes, "x")
    assert_allclose(image.grey, 0.587, rtol=1e-6)
    assert_allclose(image.opacity, 0.2, rtol=1e-6)


@pytest.mark.parametrize("shape", [(4,), (0, 4), (4, 4, 5), (2, 4, 4, 3)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(InkError, match=r"^x: must have the shape \(H, W\) or \(H, W, 1 to 4\), got "):
        GreyImage.from_array(np.ones(shape), "x")


def test_transparent_pixels_are_paper():
    image = GreyImage(np.array([[0.2, 0.6]], np.float32), np.array([[1, 0]], np.float32), "x")
    assert_allclose(image.fill_transparent("auto"), [[0.2, 1]])
    assert_allclose(image.fill_transparent("bright"), [[0.2, 0]])


@pytest.mark.parametrize("shape", [(40, 30), (41, 7), (3, 100)])
def test_reduced_images_keep_means_and_at_least_one_pixel(shape):
    grey, keep = np.full(shape, 0.5, np.float32), np.zeros(shape, bool)
    keep[0, 0] = True
    small, small_keep = reduce_image(grey, keep, 10)
    assert max(small.shape) <= 10
    assert_allclose(small, 0.5)
    assert small_keep.sum() == 1
    assert reduce_image(grey, ~keep, 10)[1].any()
    assert reduce_image(grey, keep, 100) == (grey, keep)

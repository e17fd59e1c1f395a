"""Elastic deformation: the formula, its periodic continuation, and its random numbers."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal

from radoncdt._deformation import bend

IMAGE = np.random.default_rng(0).random((12, 17))


@pytest.mark.parametrize("shape", [(12, 17), (17, 12), (1, 9), (9, 1), (1, 1)])
@pytest.mark.parametrize("amplitude", [(0.2, 0.9), (1, 2), (20, 60)])
def test_the_formula_holds_at_every_pixel(shape, amplitude):
    """The largest amplitudes reach beyond several copies of the image."""
    image = np.random.default_rng(1).random(shape)
    random = np.random.default_rng(3)
    (a_x, a_y), (f_x, f_y) = random.uniform(*amplitude, 2), random.uniform(0.5, 1.5, 2)
    found = bend(image, np.random.default_rng(3), amplitude=amplitude, frequency=(0.5, 1.5))
    assert_allclose(found, reference.bend(image, a_x, a_y, f_x, f_y), atol=1e-12)


@pytest.mark.parametrize("shift", [0, 1, 5, 12, 17, 29])
def test_the_image_is_continued_periodically(shift):
    """A wave of frequency 0 has the same cosine, 1, and the same sine, 0, everywhere, so it only shifts the rows."""
    found = bend(IMAGE, np.random.default_rng(0), amplitude=(shift, shift), frequency=(0, 0))
    assert_allclose(found, np.roll(IMAGE, -shift, axis=0), atol=1e-12)


def test_values_between_pixels_are_interpolated_linearly():
    found = bend(IMAGE, np.random.default_rng(0), amplitude=(0.25, 0.25), frequency=(0, 0))
    assert_allclose(found, 0.75 * IMAGE + 0.25 * np.roll(IMAGE, -1, axis=0), atol=1e-12)


def test_the_seed_determines_the_result():
    random, same = (np.random.default_rng(5) for _ in range(2))
    first = bend(IMAGE, random, amplitude=(1, 4))
    assert_array_equal(bend(IMAGE, same, amplitude=(1, 4)), first)
    second = bend(IMAGE, random, amplitude=(1, 4))
    assert np.abs(second - first).max() > 0.1  # the generator has advanced
    assert_array_equal(bend(IMAGE, same, amplitude=(1, 4)), second)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_and_the_input_are_preserved(dtype):
    image = IMAGE.astype(dtype)
    image.flags.writeable = False
    assert bend(image, np.random.default_rng(0), amplitude=(1, 2)).dtype == dtype
    assert_array_equal(image, IMAGE.astype(dtype))

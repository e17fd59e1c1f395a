"""Closed forms, compared with sums over the pixels of fine images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.closed_forms import CLOSED_FORMS, sample

LEVELS = np.array([0.02, 0.2, 0.5, 0.8, 0.98])


@pytest.mark.parametrize("closed", CLOSED_FORMS, ids=lambda closed: closed.name)
def test_closed_forms_are_quantile_functions_of_the_images(closed):
    """The reference is a sum over the pixels of a fine image."""
    image = sample(closed.density, 400, factor=2)
    i, j = np.nonzero(image)
    points = np.stack([j - 199.5, 199.5 - i])
    weights = image[i, j] / image.sum()
    for angle in (0.0, 0.7, 2.5):
        places = np.cos(angle) * points[0] + np.sin(angle) * points[1]
        order = np.argsort(places)
        mean = weights @ places
        std = np.sqrt(weights @ (places - mean) ** 2)
        quantiles = np.interp(LEVELS, np.cumsum(weights[order]), places[order])
        angles = np.array([angle])
        assert_allclose(closed.nrcdt(angles, LEVELS)[0], (quantiles - mean) / std, atol=0.02)
        assert_allclose(closed.rcdt(angles, LEVELS, 400)[0], quantiles, atol=0.02 * std)

"""The NumPy kernels as a whole. Their results are tested in test_kernels.py."""

import tracemalloc

import numpy as np
import pytest

import radoncdt
from radoncdt import _native, _numpy
from radoncdt._interface import Kernels
from radoncdt.directions import Directions


def test_both_implementations_have_every_kernel():
    kernels = [name for name in vars(Kernels) if not name.startswith("_")]
    assert sorted(kernels) == sorted(_numpy.__all__)
    assert all(callable(getattr(_native.Library, name)) for name in kernels)


@pytest.mark.parametrize("shape", [(256, 256), (1024, 64), (32, 2048)])
def test_temporary_arrays_are_not_many_times_the_image(shape):
    """All arrays that exist at the same time use less memory than sixteen images."""
    image = np.random.default_rng(0).random((1, *shape))
    directions = Directions.choose(128, None)
    arguments = image, directions.cosines, directions.sines, radoncdt.quantile_levels(64)
    tracemalloc.start()
    try:
        _numpy.image_quantiles(*arguments, normalise=True, extremes=True)
        assert tracemalloc.get_traced_memory()[1] < 16 * image.nbytes
    finally:
        tracemalloc.stop()

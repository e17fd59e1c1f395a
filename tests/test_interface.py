"""The interface of the kernels: precisions and bits of the status. (test_numpy: both implementations provide it.)"""

import numpy as np
import pytest

from radoncdt import _interface


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float32, "<f4", ">f4"])
def test_types_up_to_float32_and_integers_are_computed_in_float32(dtype):
    assert _interface.precision(dtype) is np.float32


@pytest.mark.parametrize("dtype", [float, np.float64, np.longdouble, "<f8", ">f8"])
def test_float64_and_wider_types_are_computed_in_float64(dtype):
    assert _interface.precision(dtype) is np.float64


def test_bits_of_the_status_can_be_combined():
    bits = [_interface.NOT_FINITE, _interface.NEGATIVE, _interface.EMPTY, _interface.UNSETTLED]
    assert bits == [1 << k for k in range(4)]

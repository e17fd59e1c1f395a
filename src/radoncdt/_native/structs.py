"""The structs of kernels.h, and how they are filled."""

import ctypes
from ctypes import POINTER, Structure, c_double, c_int, c_int64, c_void_p
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._interface import KEPT, LANES, Maps, Waves

__all__ = ["BendingStruct", "LimitsStruct", "address", "make_matching", "make_waves"]

_NOTHING = ctypes.c_char * 0


def address(array: NDArray[Any]) -> int:
    """The address of the first element of an array."""
    try:  # three times as fast as the array interface
        return ctypes.addressof(_NOTHING.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # the array is read-only or not contiguous
        return int(array.__array_interface__["data"][0])


class LimitsStruct(Structure):
    _fields_ = (("aspect", c_double), ("shear", c_double), ("scale", c_double))


class PriorStruct(Structure):
    _fields_ = (("aspect", c_double), ("rotation", c_double), ("mirror", c_double))


class BendingStruct(Structure):
    _fields_ = (("window", c_int64), ("penalty", c_double), ("ridge", c_double), ("polish", c_int))


class WavesStruct(Structure):
    _fields_ = (("values", c_void_p), ("waves", c_void_p), ("norms", c_void_p), ("covariances", c_void_p))


class TurnsStruct(Structure):
    _fields_ = (("table", c_void_p), ("codes", c_void_p))


class MatchingStruct(Structure):
    _fields_ = (
        ("n_angles", c_int64),
        ("n_levels", c_int64),
        ("turns", TurnsStruct),
        ("reflections", c_int),
        ("limits", POINTER(LimitsStruct)),
        ("prior", POINTER(PriorStruct)),
    )


def make_waves(waves: Waves) -> WavesStruct:
    return WavesStruct(*(address(array) for array in waves))


def make_matching(y: Waves, maps: Maps) -> MatchingStruct:
    """Make the struct `Matching`. It keeps the turns alive, because the cache may drop them during a call."""
    _, n_angles, n_levels = y.values.shape
    table, codes = _make_turns(n_angles)
    turns = TurnsStruct(address(table), address(codes))
    limits = ctypes.pointer(LimitsStruct(*maps.limits)) if maps.limits else None
    prior = ctypes.pointer(PriorStruct(*maps.prior)) if maps.prior else None
    matching = MatchingStruct(n_angles, n_levels, turns, maps.reflections, limits, prior)
    matching.arrays = table, codes
    return matching


@lru_cache(maxsize=8)
def _make_turns(n_angles: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Make the arrays of the struct `Turns`, which matching.cpp describes."""
    half = n_angles // 2 + 1
    steps = np.minimum(np.arange(-(-half // LANES) * LANES), half - 1)
    frequencies = np.concatenate([np.arange(1, KEPT, 2), np.arange(2, KEPT + 1, 2)])
    phases = np.pi / n_angles * (frequencies[:, None] * steps.reshape(-1, 1, LANES) % (2 * n_angles))
    table = np.stack([np.cos(phases), np.sin(phases)], axis=-2).astype(np.float32)
    rows = np.stack([steps, n_angles + steps, n_angles - steps, 2 * n_angles - steps]) % (2 * n_angles)
    codes = np.concatenate([rows.reshape(-1), rows.reshape(-1) + 2 * n_angles])
    once = np.full(codes.size, -1, np.int64)
    first = np.unique(codes, return_index=True)[1]
    once[first] = codes[first]
    return table.reshape(-1), once

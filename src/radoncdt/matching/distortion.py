"""Distances of registered images that may be slightly bent: the image distortion model on whitened frames."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels, _threads, _validation
from radoncdt._interface import Bending
from radoncdt._typing import Floats
from radoncdt.matching.frames import REACH, Canvases
from radoncdt.matching.turns import turn_matrices

__all__ = ["BentPairs", "compare_bent"]

_PAIRS_PER_CHUNK = 64  # pairs that a thread compares before it takes more
_WORK_PER_POINT = 400  # cost of comparing a point of the frame, in the units of `_threads`


class BentPairs(NamedTuple):
    """Distances of pairs of images."""

    distances: Floats
    """(n,): sums over the points of the frame."""
    maps: Floats
    """(n, 2, 3): the maps from the frames of the fixed images to the pixels of the moving canvases."""


def compare_bent(
    moving: Canvases,
    fixed: Canvases,
    pairs: NDArray[np.intp],
    turns: NDArray[np.int64],
    n_angles: int,
    *,
    side: int,
    bending: Bending,
    n_jobs: int | None,
) -> BentPairs:
    """Compare pairs (n, 2) of a moving and a fixed image, registered by the given turns (n,) of the whitened plane.

    The fit of the polish has no solution without a ridge, and the maps must be finite; the kernels check neither.
    """
    _validation.check_number(bending.ridge, "bending.ridge", "a positive number", lambda x: x > 0)
    order = np.lexsort([pairs[:, 0], pairs[:, 1]])  # the kernel samples a fixed image once for consecutive pairs
    pairs = np.ascontiguousarray(pairs[order], np.int64)
    matrices = turn_matrices(turns[order], n_angles)
    moving_maps = moving.maps(pairs[:, 0], np.swapaxes(matrices, 1, 2))  # the inverse of a turn is its transpose
    _validation.check_finite_array(moving_maps, "moving")
    distances, maps = np.empty(len(pairs)), np.empty((len(pairs), 2, 3))
    kernels, moving_pixels, fixed_pixels = _kernels.current(), moving.pixels, fixed.pixels

    def compare(start: int) -> None:
        some = slice(start, start + _PAIRS_PER_CHUNK)
        (movers, mover), (targets, target) = (np.unique(pairs[some, k], return_inverse=True) for k in (0, 1))
        distances[some], maps[some] = kernels.distortions(
            [moving_pixels[i] for i in movers],
            [fixed_pixels[j] for j in targets],
            np.stack([mover, target], axis=1),
            moving_maps[some],
            _validation.check_finite_array(fixed.maps(targets), "fixed"),
            side=side,
            reach=REACH,
            bending=bending,
        )

    work = _WORK_PER_POINT * side * side * len(pairs)
    _threads.for_each(compare, range(0, len(pairs), _PAIRS_PER_CHUNK), _threads.count_workers(n_jobs, work))
    result = BentPairs(np.empty(len(pairs)), np.empty((len(pairs), 2, 3)))
    result.distances[order], result.maps[order] = distances, maps
    return result

"""adrt: the approximate discrete Radon transform of square images whose side is a power of two, at fixed angles.

Of its angles those nearest to equispaced ones are taken; all of them are computed anyway.
"""

from functools import lru_cache
from typing import Any

import adrt
import numpy as np
from numpy.typing import NDArray

from peers.glue import as_shipped, tuned


@lru_cache(maxsize=8)
def _places(side: int, n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Quadrants and columns of the angles chosen, the offsets of their bins in pixels, ascending, and the angles."""
    offsets, angles = adrt.utils.coord_adrt(side)
    directions = angles[:, 0].reshape(-1) + np.pi / 2  # its angles are those of the lines; from 0 to π, both included
    wanted = np.pi * np.arange(n_angles) / n_angles
    chosen = np.abs(directions - wanted[:, None]).argmin(axis=1)
    quadrants, columns = np.unravel_index(chosen, (4, side))
    return quadrants, columns, offsets[quadrants, :, columns] * side, directions[chosen]


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    side = image.shape[0]
    quadrants, columns, places, angles = _places(side, n_angles)
    sums = adrt.adrt(np.ascontiguousarray(image))[quadrants, :, columns]
    backward = places[:, 0] > places[:, -1]
    sums[backward], places = sums[backward, ::-1], np.where(backward[:, None], places[:, ::-1], places)
    return sums, places, angles


FORMS = {"as shipped": as_shipped(project), "tuned": tuned(project)}

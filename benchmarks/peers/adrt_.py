"""adrt: the approximate discrete Radon transform of square images whose side is a power of two, at fixed angles.

It computes all of its angles. Those nearest to equispaced ones are used.
"""

from functools import lru_cache
from typing import Any

import adrt
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.forms import make_shipped_form, make_tuned_form


@lru_cache(maxsize=8)
def _find_places(side: int, n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Find quadrants and columns of the chosen angles, the offsets of their bins in pixels, and the angles."""
    offsets, angles = adrt.utils.coord_adrt(side)
    directions = angles[:, 0].reshape(-1) + np.pi / 2  # adrt uses the angles of the lines, from 0 to π inclusive
    wanted = np.pi * np.arange(n_angles) / n_angles
    chosen = np.abs(directions - wanted[:, None]).argmin(axis=1)
    quadrants, columns = np.unravel_index(chosen, (4, side))
    return quadrants, columns, offsets[quadrants, :, columns] * side, directions[chosen]


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    side = image.shape[0]
    quadrants, columns, places, angles = _find_places(side, n_angles)
    sums = adrt.adrt(np.ascontiguousarray(image))[quadrants, :, columns]
    backward = places[:, 0] > places[:, -1]
    sums[backward], places = sums[backward, ::-1], np.where(backward[:, None], places[:, ::-1], places)
    return sums, places, angles


FORMS = {"as shipped": make_shipped_form(project), "tuned": make_tuned_form(project)}

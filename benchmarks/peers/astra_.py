"""ASTRA: parallel beams and exact strips, on the CPU. The sparse matrix is computed once per size and set of angles.

This is the fastest way, but the matrix takes about 100 bytes per pixel and angle.
"""

from functools import lru_cache
from typing import Any

import astra
import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.forms import make_shipped_form, make_tuned_form

MAX_SIZE = 2**26  # pixels times angles of the largest matrix


@lru_cache(maxsize=4)
def _make_matrix(height: int, width: int, n_angles: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    """Make the sparse matrix of all projections; also return the middles of the bins, and the angles."""
    if height * width * n_angles > MAX_SIZE:
        raise MemoryError(f"the matrix would take about {1e-7 * height * width * n_angles:.0f} GB")
    n_bins = int(np.ceil(np.hypot(height, width))) + 2
    angles = np.pi * np.arange(n_angles) / n_angles
    volume = astra.create_vol_geom(height, width)
    beams = astra.create_proj_geom("parallel", 1.0, n_bins, angles)
    projector = astra.create_projector("strip", beams, volume)
    handle = astra.projector.matrix(projector)
    matrix = astra.matrix.get(handle)
    astra.matrix.delete(handle)
    astra.projector.delete(projector)
    return matrix, np.arange(n_bins) - (n_bins - 1) / 2, angles


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    matrix, middles, angles = _make_matrix(*image.shape, n_angles)
    sums = matrix @ image.ravel().astype(matrix.dtype, copy=False)  # otherwise every call would convert the matrix
    return sums.reshape(n_angles, -1), middles, angles


FORMS = {"as shipped": make_shipped_form(project), "tuned": make_tuned_form(project)}

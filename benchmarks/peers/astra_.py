"""ASTRA: parallel beams, exact strips on the processor; the sparse matrix is made once for a size and angles.

That is how it is fastest, but the matrix has about a hundred bytes for each pixel and angle.
"""

from functools import lru_cache
from typing import Any

import astra
import numpy as np
from numpy.typing import NDArray

from peers.glue import as_shipped, tuned

MOST = 2**26  # pixels times angles


@lru_cache(maxsize=4)
def _matrix(height: int, width: int, n_angles: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
    if height * width * n_angles > MOST:
        raise MemoryError(f"a matrix of about {1e-7 * height * width * n_angles:.0f} GB")
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
    matrix, middles, angles = _matrix(*image.shape, n_angles)
    sums = matrix @ image.ravel().astype(matrix.dtype, copy=False)  # else the matrix would be converted at each call
    return sums.reshape(n_angles, -1), middles, angles


FORMS = {"as shipped": as_shipped(project), "tuned": tuned(project)}

"""ASTRA: parallel beams, exact strips on the processor; the sparse matrix is made once for a size and angles."""

from functools import lru_cache
from typing import Any

import astra
import numpy as np
from numpy.typing import NDArray

from peers import Form
from peers.glue import as_shipped, tuned

NAME, PACKAGE = "ASTRA", "astra-toolbox"


@lru_cache(maxsize=4)
def _matrix(height: int, width: int, n_angles: int) -> tuple[Any, NDArray[Any], NDArray[Any]]:
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
    return (matrix @ image.ravel()).reshape(n_angles, -1), middles, angles


FORMS = {"as shipped": Form(*as_shipped(project)), "tuned": Form(*tuned(project))}

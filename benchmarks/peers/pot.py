"""POT: pixels with ink become points, which are projected and sorted; then `quantile_function` is used."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from ot.lp.solver_1d import quantile_function

from benchmarks.peers.forms import MIDPOINT, normalise_by_levels, normalise_exactly


def rcdt(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    angles = np.pi * np.arange(n_angles) / n_angles
    directions = np.stack([np.cos(angles), np.sin(angles)])
    found = []
    for image in images.astype(np.float64):
        rows, columns = np.nonzero(image)
        weights = image[rows, columns] / image.sum()
        points = np.column_stack([columns - (image.shape[1] - 1) / 2, (image.shape[0] - 1) / 2 - rows])
        places = points @ directions
        order = np.argsort(places, axis=0)
        sums = np.cumsum(weights[order], axis=0)
        places = np.take_along_axis(places, order, axis=0)
        found.append(quantile_function(MIDPOINT[:, None].repeat(n_angles, 1), sums, places).T)
    return np.array(found), angles, MIDPOINT


FORMS = {"as shipped": normalise_by_levels(rcdt), "tuned": normalise_exactly(rcdt)}

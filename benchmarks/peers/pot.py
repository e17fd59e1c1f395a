"""POT has no images: pixels with ink are points; they are projected, sorted, and `quantile_function` does the rest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from ot.lp.solver_1d import quantile_function

from peers import Form
from peers.glue import N_LEVELS, full_circle

NAME, PACKAGE = "POT", "POT"

LEVELS = (np.arange(N_LEVELS) + 0.5) / N_LEVELS


def _nrcdt(images: NDArray[Any], n_angles: int, exact: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
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
        values = quantile_function(
            LEVELS[:, None].repeat(n_angles, 1), sums, np.take_along_axis(places, order, axis=0)
        ).T
        if exact:
            mean = weights @ places
            scales = np.sqrt(weights @ (places - mean) ** 2)
        else:
            mean, scales = values.mean(axis=1), values.std(axis=1, ddof=1)
        found.append((values - mean[:, None]) / scales[:, None])
    return np.array(found), angles, LEVELS


FORMS = {
    "as shipped": Form(lambda i, n: _nrcdt(i, n, False), lambda i, n: _nrcdt(i, n, False)[0].max(axis=1)),
    "tuned": Form(lambda i, n: _nrcdt(i, n, True), lambda i, n: full_circle(_nrcdt(i, n, True)[0])),
}

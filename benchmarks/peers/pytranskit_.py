"""PyTransKit: `RadonCDT` on top of scikit-image, with as many levels as bins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytranskit.optrans.continuous.radoncdt import RadonCDT

from benchmarks.peers.forms import compute_pivots, normalise_by_levels, normalise_exactly


def rcdt(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    angles = np.pi * np.arange(n_angles) / n_angles
    transform = RadonCDT(np.rad2deg(angles))
    uniform = np.ones(images.shape[1:])
    n_bins = int(np.ceil(np.sqrt(2) * max(uniform.shape)))
    ends = -(n_bins // 2), n_bins - 1 - n_bins // 2
    found = [transform.forward(ends, uniform, ends, image, rm_edge=True).T for image in images.astype(np.float64)]
    values = np.array(found) + compute_pivots(uniform.shape, angles)[:, None]
    return values, angles, np.linspace(0, 1, values.shape[2] + 2)[1:-1]


def tuned_rcdt(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Correct the places: PyTransKit's sums belong to the upper ends of the bins."""
    values, angles, levels = rcdt(images, n_angles)
    return values + 0.5, angles, levels


FORMS = {"as shipped": normalise_by_levels(rcdt), "tuned": normalise_exactly(tuned_rcdt)}

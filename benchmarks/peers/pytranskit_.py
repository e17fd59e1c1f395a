"""PyTransKit: `RadonCDT` on top of scikit-image, with as many levels as bins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pytranskit.optrans.continuous.radoncdt import RadonCDT

from peers import Form
from peers.glue import exactly_normalised, full_circle, pivot

NAME, PACKAGE = "PyTransKit", "pytranskit"


def _transport(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Quantiles (n, angles, levels) in pixels, the ends left out, the angles, and the levels."""
    angles = np.pi * np.arange(n_angles) / n_angles
    transform = RadonCDT(np.rad2deg(angles))
    found = []
    for image in images.astype(np.float64):
        uniform = np.ones(image.shape)
        n_bins = int(np.ceil(np.sqrt(2) * max(image.shape)))
        ends = -(n_bins // 2), n_bins - 1 - n_bins // 2
        found.append(transform.forward(ends, uniform, ends, image, rm_edge=True).T)
    return np.array(found), angles, np.linspace(0, 1, found[0].shape[1] + 2)[1:-1]


def _as_shipped(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    values, angles, levels = _transport(images, n_angles)
    values = values - values.mean(axis=2, keepdims=True)
    return values / values.std(axis=2, ddof=1, keepdims=True), angles, levels


def _tuned(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    values, angles, levels = _transport(images, n_angles)
    values += 0.5  # its sums are those at the upper ends of the bins
    exact = [exactly_normalised(v, image, angles, pivot(image)) for v, image in zip(values, images)]
    return np.array(exact), angles, levels


FORMS = {
    "as shipped": Form(_as_shipped, lambda images, n: _as_shipped(images, n)[0].max(axis=1)),
    "tuned": Form(_tuned, lambda images, n: full_circle(_tuned(images, n)[0])),
}

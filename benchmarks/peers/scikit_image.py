"""scikit-image: `skimage.transform.radon` sums rows of the rotated image."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.transform import radon

from benchmarks.peers.forms import compute_pivots, make_shipped_form, make_tuned_form


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    angles = np.pi * np.arange(n_angles) / n_angles
    sinogram = radon(image, np.rad2deg(angles), circle=False, preserve_range=True).T
    n_bins = sinogram.shape[1]
    return sinogram, np.arange(n_bins) - n_bins // 2 + compute_pivots(image.shape, angles)[:, None], angles


FORMS = {"as shipped": make_shipped_form(project), "tuned": make_tuned_form(project)}

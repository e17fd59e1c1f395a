"""scikit-image: `skimage.transform.radon` sums rows of the rotated image."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from skimage.transform import radon

from peers import Form
from peers.glue import as_shipped, tuned

NAME, PACKAGE = "scikit-image", "scikit-image"


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    angles = np.pi * np.arange(n_angles) / n_angles
    sinogram = radon(image, np.rad2deg(angles), circle=False, preserve_range=True).T
    n_bins = sinogram.shape[1]
    # it rotates about pixel (H // 2, W // 2) of the padded image, which is half a pixel off where sides are even
    middles = np.arange(n_bins) - n_bins // 2.0
    shift = np.array([0.5 * (1 - image.shape[1] % 2), -0.5 * (1 - image.shape[0] % 2)])
    return sinogram, middles + (np.cos(angles) * shift[0] + np.sin(angles) * shift[1])[:, None], angles


FORMS = {"as shipped": Form(*as_shipped(project)), "tuned": Form(*tuned(project))}

"""What else one would try, from other libraries: Hu moments, Zernike moments and HOG. Needs ``radoncdt[rivals]``."""

from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt.measures import covariance, mean

Features = NDArray[np.float64]

LIBRARIES = {"hu": "scikit-image", "zernike": "mahotas", "hog": "scikit-image"}
"""What each rival needs."""

INSTALL = "pip install 'radoncdt[rivals]'"

SIDE = 128
"""Of whitened images, in pixels."""
SPREAD = SIDE / 6
"""Their standard deviation in every direction, in pixels: three of it reach from the middle to the border."""
RADIUS = SIDE / 2
"""Of the disc of the Zernike moments, about the middle."""
DEGREE = 8
"""The largest degree of the Zernike moments."""


def installed(library: str) -> bool:
    """Whether a library of `LIBRARIES` is there."""
    return find_spec({"scikit-image": "skimage"}.get(library, library)) is not None


def versions() -> dict[str, str | None]:
    """Of all of `LIBRARIES`; None of those that are not there."""
    return {library: version(library) if installed(library) else None for library in dict.fromkeys(LIBRARIES.values())}


def hu_moments(images: NDArray[Any]) -> Features:
    """The seven Hu moments h, as sign(h)·log₁₀|h|: (n, 7). Invariant under similarities."""
    from skimage.measure import moments_central, moments_hu, moments_normalized

    moments = np.array([moments_hu(moments_normalized(moments_central(image, order=3))) for image in images])
    return np.sign(moments) * np.log10(np.maximum(np.abs(moments), np.finfo(float).tiny))


def zernike_moments(images: NDArray[Any]) -> Features:
    """Magnitudes of the Zernike moments of whitened images up to degree 8: (n, 25)."""
    from mahotas.features import zernike_moments as moments

    middle = ((SIDE - 1) / 2, (SIDE - 1) / 2)
    return np.array([moments(whitened(image), RADIUS, degree=DEGREE, cm=middle) for image in images])


def hog(images: NDArray[Any]) -> Features:
    """Histograms of oriented gradients of whitened images, cells of 16 pixels in blocks of 2 × 2: (n, 1764)."""
    from skimage.feature import hog as histograms

    options = {"orientations": 9, "pixels_per_cell": (16, 16), "cells_per_block": (2, 2)}
    return np.array([histograms(whitened(image), **options) for image in images])


RIVALS: dict[str, Callable[[NDArray[Any]], Features]] = {"hu": hu_moments, "zernike": zernike_moments, "hog": hog}


def whitened(image: NDArray[Any]) -> NDArray[np.float64]:
    """An image of `SIDE` pixels with its mean in the middle and the covariance `SPREAD`² times the unit matrix.

    Affine maps of the image do no more to it than rotations and reflections. What is beyond the border is lost.
    """
    from scipy.ndimage import affine_transform

    values, vectors = np.linalg.eigh(covariance(image))
    back = (vectors * np.sqrt(values)) @ vectors.T / SPREAD  # from whitened places (x, y) to those of the image
    flip = np.array([[0.0, -1.0], [1.0, 0.0]])  # of (x, y) to (row, column), y up and rows down
    matrix = flip @ back @ flip.T
    height, width = image.shape
    x, y = mean(image)
    centre = (height - 1) / 2 - y, (width - 1) / 2 + x
    offset = centre - matrix @ np.full(2, (SIDE - 1) / 2)
    return np.asarray(affine_transform(image.astype(np.float64), matrix, offset, (SIDE, SIDE), order=1))

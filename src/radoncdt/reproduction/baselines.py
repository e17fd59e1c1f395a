"""Baselines of the robustness study from other libraries: Hu moments, Zernike moments and HOG."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require
from radoncdt._geometry import XY_TO_ROW_COLUMN
from radoncdt._threads import count_threads
from radoncdt._typing import Floats
from radoncdt.measures import covariance, mean

__all__ = ["BASELINES", "LIBRARIES", "MAX_DEGREE", "SIDE", "find_versions", "is_installed"]

LIBRARIES = {"hu": "scikit-image", "zernike": "mahotas", "hog": "scikit-image"}  # the library of each baseline
_PACKAGES = {"scikit-image": "skimage", "mahotas": "mahotas"}  # the name under which each library is imported

SIDE = 128  # side of whitened images, in pixels
SPREAD = SIDE / 6  # standard deviation of whitened images in every direction, in pixels: 3 reach the border
MAX_DEGREE = 8  # largest degree of the Zernike moments
_RADIUS = SIDE / 2  # radius of the disc of the Zernike moments, in pixels


def is_installed(library: str) -> bool:
    """Return whether one of `LIBRARIES` can be imported."""
    return find_spec(_PACKAGES[library]) is not None


def find_versions() -> dict[str, str | None]:
    """Return the versions of all `LIBRARIES`; None for those that are not installed."""
    return {library: version(library) if is_installed(library) else None for library in _PACKAGES}


def compute_hu_moments(images: NDArray[Any], n_jobs: int | None = 1) -> Floats:
    """Compute the seven Hu moments h, which similarities keep, as sign(h)·log₁₀|h|: (n, 7)."""
    measure = require("skimage.measure", "computing Hu moments", extra="reproduce")

    def compute(image: NDArray[Any]) -> Any:
        return measure.moments_hu(measure.moments_normalized(measure.moments_central(image, order=3)))

    moments = _map_images(compute, images.astype(float), n_jobs)
    return np.sign(moments) * np.log10(np.maximum(np.abs(moments), np.finfo(float).tiny))


def compute_zernike_moments(images: NDArray[Any], n_jobs: int | None = 1) -> Floats:
    """Compute the magnitudes of the Zernike moments of whitened images up to degree 8: (n, 25)."""
    moments = require("mahotas.features", "computing Zernike moments").zernike_moments
    middle = ((SIDE - 1) / 2, (SIDE - 1) / 2)
    return _map_images(lambda image: moments(whiten(image), _RADIUS, degree=MAX_DEGREE, cm=middle), images, n_jobs)


def compute_hog(images: NDArray[Any], n_jobs: int | None = 1) -> Floats:
    """Compute histograms of oriented gradients of whitened images, cells of 16 pixels in blocks of 2 × 2: (n, 1764)."""
    hog = require("skimage.feature", "computing histograms of oriented gradients", extra="reproduce").hog
    options: dict[str, Any] = {"orientations": 9, "pixels_per_cell": (16, 16), "cells_per_block": (2, 2)}
    return _map_images(lambda image: hog(whiten(image), **options), images, n_jobs)


BASELINES: dict[str, Callable[[NDArray[Any], int | None], Floats]] = {
    "hu": compute_hu_moments,
    "zernike": compute_zernike_moments,
    "hog": compute_hog,
}  # functions that map images and a number of threads to features, one row per image


def _map_images(function: Callable[[NDArray[Any]], Any], images: NDArray[Any], n_jobs: int | None) -> Floats:
    """Call a function on every image, in threads; one row per image."""
    with ThreadPoolExecutor(count_threads(n_jobs)) as pool:
        return np.array(list(pool.map(function, images)), np.float64)


def whiten(image: NDArray[Any]) -> Floats:
    """Move an image to the middle of `SIDE` pixels, with `SPREAD`² times the unit matrix as its covariance.

    An affine map of the image only rotates or reflects the result. Mass beyond the border is lost. A pixel is the mean
    of 2 × 2 samples, so that thin lines do not fall between them.
    """
    from scipy.ndimage import affine_transform

    values, vectors = np.linalg.eigh(covariance(image))
    back = (vectors * np.sqrt(values)) @ vectors.T / (2 * SPREAD)  # from samples (x, y) to points of the image
    matrix = XY_TO_ROW_COLUMN @ back @ XY_TO_ROW_COLUMN.T
    height, width = image.shape
    x, y = mean(image)
    centre = (height - 1) / 2 - y, (width - 1) / 2 + x
    offset = centre - matrix @ np.full(2, SIDE - 0.5)
    samples = affine_transform(image.astype(np.float64), matrix, offset, (2 * SIDE, 2 * SIDE), order=1)
    return np.asarray(samples.reshape(SIDE, 2, SIDE, 2).mean(axis=(1, 3)))

"""What else one would try, from other libraries: Hu moments, Zernike moments and HOG. Needs ``radoncdt[rivals]``."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._geometry import XY_TO_ROW_COLUMN
from radoncdt.measures import covariance, mean
from radoncdt.reproduction.names import METHODS

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


def missing(versions: Mapping[str, Any]) -> str:
    """Which rivals are missing for want of a library, and how to install it; nothing if none is."""
    absent = [name for name, library in LIBRARIES.items() if versions.get(library, "") is None]
    if not absent:
        return ""
    methods = "; ".join(METHODS[name] for name in absent)
    libraries = " and ".join(dict.fromkeys(LIBRARIES[name] for name in absent))
    return f"Left out, for {libraries} cannot be imported: {methods}. To have them: {INSTALL}"


def hu_moments(images: NDArray[Any], n_jobs: int | None = 1) -> Features:
    """The seven Hu moments h, as sign(h)·log₁₀|h|: (n, 7). Invariant under similarities that keep grey values."""
    from skimage.measure import moments_central, moments_hu, moments_normalized

    moments = _of_each(
        lambda image: moments_hu(moments_normalized(moments_central(image, order=3))), images.astype(float), n_jobs
    )
    return np.sign(moments) * np.log10(np.maximum(np.abs(moments), np.finfo(float).tiny))


def zernike_moments(images: NDArray[Any], n_jobs: int | None = 1) -> Features:
    """Magnitudes of the Zernike moments of whitened images up to degree 8: (n, 25)."""
    from mahotas.features import zernike_moments as moments

    middle = ((SIDE - 1) / 2, (SIDE - 1) / 2)
    return _of_each(lambda image: moments(whitened(image), RADIUS, degree=DEGREE, cm=middle), images, n_jobs)


def hog(images: NDArray[Any], n_jobs: int | None = 1) -> Features:
    """Histograms of oriented gradients of whitened images, cells of 16 pixels in blocks of 2 × 2: (n, 1764)."""
    from skimage.feature import hog as histograms

    options: dict[str, Any] = {"orientations": 9, "pixels_per_cell": (16, 16), "cells_per_block": (2, 2)}
    return _of_each(lambda image: histograms(whitened(image), **options), images, n_jobs)


RIVALS: dict[str, Callable[[NDArray[Any], int | None], Features]] = {
    "hu": hu_moments,
    "zernike": zernike_moments,
    "hog": hog,
}


def _of_each(function: Callable[[NDArray[Any]], Any], images: NDArray[Any], n_jobs: int | None) -> Features:
    """A row for each image, in threads."""
    rows: list[Any] = [None] * len(images)

    def fill(i: int) -> None:
        rows[i] = function(images[i])

    _threads.for_each(fill, range(len(images)), _threads.count_workers(n_jobs, len(images) * _threads.WORK_PER_THREAD))
    return np.array(rows, np.float64)


def whitened(image: NDArray[Any]) -> NDArray[np.float64]:
    """An image of `SIDE` pixels with its mean in the middle and the covariance `SPREAD`² times the unit matrix.

    Affine maps of the image do no more to it than rotations and reflections. What is beyond the border is lost. A pixel
    is the mean of 2 × 2 samples, lest thin lines fall between them.
    """
    from scipy.ndimage import affine_transform

    # Not `_geometry.square_root`, which differs by rounding: HOG has ties that would change the published figures.
    values, vectors = np.linalg.eigh(covariance(image))
    back = (vectors * np.sqrt(values)) @ vectors.T / (2 * SPREAD)  # from samples (x, y) to places in the image
    matrix = XY_TO_ROW_COLUMN @ back @ XY_TO_ROW_COLUMN.T
    height, width = image.shape
    x, y = mean(image)
    centre = (height - 1) / 2 - y, (width - 1) / 2 + x
    offset = centre - matrix @ np.full(2, SIDE - 0.5)
    samples = affine_transform(image.astype(np.float64), matrix, offset, (2 * SIDE, 2 * SIDE), order=1)
    return np.asarray(samples.reshape(SIDE, 2, SIDE, 2).mean(axis=(1, 3)))

"""What a user has to add to a library that gives projections, and nothing more: quantiles, normalisation, maximum."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt

Floats = NDArray[np.float64]
Projections = Callable[[NDArray[Any], int], tuple[NDArray[Any], Floats, Floats]]
"""From an image and a number of angles to densities (angles, bins), the middles of the bins, and the angles.

Middles have the shape (bins,), or (angles, bins), in pixels from the centre of the image.
"""

N_LEVELS = 64


def as_shipped(project: Projections) -> Any:
    """Sums at the middles of the bins, moments over the levels, half the circle: what one writes first."""
    levels = np.arange(1, N_LEVELS + 1) / (N_LEVELS + 1)

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = []
        for image in images:
            densities, middles, angles = project(image, n_angles)
            places = np.broadcast_to(middles, densities.shape)
            quantiles = np.empty((len(densities), N_LEVELS))
            for k, (density, place) in enumerate(zip(densities, places)):
                sums = np.cumsum(density, dtype=np.float64)
                quantiles[k] = np.interp(levels, sums / sums[-1], place)
            quantiles -= quantiles.mean(axis=1, keepdims=True)
            values.append(quantiles / quantiles.std(axis=1, ddof=1, keepdims=True))
        return np.array(values), angles, levels

    return nrcdt, lambda images, n_angles: nrcdt(images, n_angles)[0].max(axis=1)


def tuned(project: Projections) -> Any:
    """Sums at the edges of the bins, exact moments, the full circle."""
    levels = (np.arange(N_LEVELS) + 0.5) / N_LEVELS

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = []
        for image in images:
            densities, middles, angles = project(image, n_angles)
            densities = np.maximum(densities, 0)
            places = np.broadcast_to(middles, densities.shape)
            quantiles = np.empty((len(densities), N_LEVELS))
            for k, (density, place) in enumerate(zip(densities, places)):
                sums = np.concatenate([[0.0], np.cumsum(density, dtype=np.float64)])
                half = (place[1] - place[0]) / 2
                edges = np.concatenate([place - half, place[-1:] + half])
                quantiles[k] = np.interp(levels, sums / sums[-1], edges)
            values.append(exactly_normalised(quantiles, image, angles))
        return np.array(values), angles, levels

    return nrcdt, lambda images, n_angles: full_circle(nrcdt(images, n_angles)[0])


def exactly_normalised(quantiles: Floats, image: NDArray[Any], angles: Floats, origin: Any = (0, 0)) -> Floats:
    """Quantiles (angles, levels), in pixels from an origin, by mean and standard deviation of the image itself."""
    directions = np.stack([np.cos(angles), np.sin(angles)])
    mean, covariance = radoncdt.mean(image) - origin, radoncdt.covariance(image)
    scales = np.sqrt(np.einsum("ik,ij,jk->k", directions, covariance, directions))
    return (quantiles - (mean @ directions)[:, None]) / scales[:, None]


def pivot(image: NDArray[Any]) -> Floats:
    """Pixel (H // 2, W // 2), about which scikit-image and its followers rotate: not the centre, if a side is even."""
    height, width = image.shape
    return np.array([0.5 * (1 - width % 2), -0.5 * (1 - height % 2)])


def full_circle(values: Floats) -> Floats:
    """The maximum over the directions and their opposites, N_{−θ}(t) = −N_θ(1 − t); levels must be symmetric."""
    return np.maximum(values.max(axis=1), -values.min(axis=1)[:, ::-1])

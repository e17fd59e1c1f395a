"""What a user has to add to a library that gives projections or R-CDTs, and nothing more."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from peers import Floats, Form, Projections, Transform

N_LEVELS = 64
UNIFORM, MIDPOINT = (radoncdt.quantile_levels(N_LEVELS, grid) for grid in ("uniform", "midpoint"))


def as_shipped(project: Projections) -> Form:
    """Sums at the middles of the bins, moments over the levels, half the circle: what one writes first."""

    def rcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = np.empty((len(images), n_angles, N_LEVELS))
        for n, image in enumerate(images):
            masses, middles, angles = project(image, n_angles)
            sums = np.cumsum(masses, axis=1, dtype=np.float64)
            for k, (sums_of_one, places) in enumerate(zip(sums, np.broadcast_to(middles, masses.shape))):
                values[n, k] = np.interp(UNIFORM * sums_of_one[-1], sums_of_one, places)
        return values, angles, UNIFORM

    return by_levels(rcdt)._replace(project=project)


def tuned(project: Projections) -> Form:
    """Sums at the edges of the bins, exact moments, the full circle."""

    def rcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = np.empty((len(images), n_angles, N_LEVELS))
        for n, image in enumerate(images):
            masses, middles, angles = project(image, n_angles)
            middles = np.broadcast_to(middles, masses.shape)
            sums, edges = (np.empty((n_angles, masses.shape[1] + 1)) for _ in range(2))
            sums[:, 0] = 0
            np.cumsum(np.maximum(masses, 0), axis=1, dtype=np.float64, out=sums[:, 1:])
            half = (middles[:, 1:2] - middles[:, :1]) / 2
            edges[:, :-1], edges[:, -1:] = middles - half, middles[:, -1:] + half
            for k in range(n_angles):
                values[n, k] = np.interp(MIDPOINT * sums[k, -1], sums[k], edges[k])
        return values, angles, MIDPOINT

    return exactly(rcdt)._replace(project=project)


def by_levels(rcdt: Transform) -> Form:
    """R-CDTs normalised by mean and standard deviation over the levels; the maximum over half the circle."""

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values, angles, levels = rcdt(images, n_angles)
        values = values - values.mean(axis=2, keepdims=True)
        return values / values.std(axis=2, ddof=1, keepdims=True), angles, levels

    return Form(lambda images, n_angles: nrcdt(images, n_angles)[0].max(axis=1), rcdt, nrcdt)


def exactly(rcdt: Transform) -> Form:
    """R-CDTs normalised by mean and standard deviation of the images themselves; the maximum over the full circle."""

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values, angles, levels = rcdt(images, n_angles)
        directions = np.stack([np.cos(angles), np.sin(angles)])
        means, covariances = radoncdt.mean(images), radoncdt.covariance(images)
        scales = np.sqrt(np.einsum("ik,nij,jk->nk", directions, covariances, directions))
        return (values - (means @ directions)[:, :, None]) / scales[:, :, None], angles, levels

    def features(images: NDArray[Any], n_angles: int) -> Floats:
        """N_{−θ}(t) = −N_θ(1 − t), for the levels are symmetric."""
        values = nrcdt(images, n_angles)[0]
        return np.maximum(values.max(axis=1), -values.min(axis=1)[:, ::-1])

    return Form(features, rcdt, nrcdt)


def pivots(shape: tuple[int, ...], angles: Floats) -> Floats:
    """⟨p, θ⟩ of the middle p of pixel (H // 2, W // 2), about which scikit-image and its followers rotate.

    It is not the centre, if a side is even.
    """
    height, width = shape[-2:]
    return 0.5 * (1 - width % 2) * np.cos(angles) - 0.5 * (1 - height % 2) * np.sin(angles)

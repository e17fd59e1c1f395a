"""Code that a user has to add to a library that computes only projections or R-CDTs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from benchmarks.peers import Floats, Form, Projections, Transform

N_LEVELS = 64  # levels of the libraries that leave the choice to the user
UNIFORM, MIDPOINT = (radoncdt.quantile_levels(N_LEVELS, grid) for grid in ("uniform", "midpoint"))


def make_shipped_form(project: Projections) -> Form:
    """Use sums at the middles of the bins, moments over the levels and half the circle, as in a first attempt."""

    def rcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values = np.empty((len(images), n_angles, N_LEVELS))
        for n, image in enumerate(images):
            masses, middles, angles = project(image, n_angles)
            sums = np.cumsum(masses, axis=1, dtype=np.float64)
            for k, (row, places) in enumerate(zip(sums, np.broadcast_to(middles, masses.shape))):
                values[n, k] = np.interp(UNIFORM * row[-1], row, places)
        return values, angles, UNIFORM

    return normalise_by_levels(rcdt)._replace(project=project)


def make_tuned_form(project: Projections) -> Form:
    """Use sums at the edges of the bins, exact moments and the full circle."""

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

    return normalise_exactly(rcdt)._replace(project=project)


def normalise_by_levels(rcdt: Transform) -> Form:
    """Normalise R-CDTs by mean and standard deviation over the levels; take the maximum over half the circle."""

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values, angles, levels = rcdt(images, n_angles)
        values = values - values.mean(axis=2, keepdims=True)
        return values / values.std(axis=2, ddof=1, keepdims=True), angles, levels

    return Form(lambda images, n_angles: nrcdt(images, n_angles)[0].max(axis=1), rcdt, nrcdt)


def normalise_exactly(rcdt: Transform) -> Form:
    """Normalise R-CDTs by mean and standard deviation of the images; take the maximum over the full circle."""

    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[Floats, Floats, Floats]:
        values, angles, levels = rcdt(images, n_angles)
        directions = np.stack([np.cos(angles), np.sin(angles)])
        means, covariances = radoncdt.mean(images), radoncdt.covariance(images)
        scales = np.sqrt(np.einsum("ik,nij,jk->nk", directions, covariances, directions))
        return (values - (means @ directions)[:, :, None]) / scales[:, :, None], angles, levels

    def features(images: NDArray[Any], n_angles: int) -> Floats:
        """Use N_{−θ}(t) = −N_θ(1 − t), which the levels allow because they are symmetric."""
        values = nrcdt(images, n_angles)[0]
        return np.maximum(values.max(axis=1), -values.min(axis=1)[:, ::-1])

    return Form(features, rcdt, nrcdt)


def compute_pivots(shape: tuple[int, ...], angles: Floats) -> Floats:
    """Compute ⟨p, θ⟩ of the middle p of pixel (H // 2, W // 2), about which scikit-image rotates.

    If a side is even, this is not the centre of the image. Libraries based on scikit-image use the same point.
    """
    height, width = shape[-2:]
    return 0.5 * (1 - width % 2) * np.cos(angles) - 0.5 * (1 - height % 2) * np.sin(angles)

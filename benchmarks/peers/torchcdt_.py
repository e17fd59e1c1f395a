"""torchcdt, with torchskradon: `rcdt` of tensors, as many levels as bins; its normalization "max" is the mNR-CDT."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torchcdt.functional import rcdt as their_rcdt
from torchskradon.functional import skradon

from benchmarks.peers.forms import compute_pivots, normalise_by_levels, normalise_exactly

torch.set_num_threads(1)


def _make_tensor(images: NDArray[Any]) -> Any:
    return torch.from_numpy(np.array(images))[:, None]


def _list_degrees(n_angles: int) -> Any:
    return torch.arange(n_angles) * (180 / n_angles)


def _compute_shares(images: NDArray[Any], n_angles: int, **options: Any) -> NDArray[Any]:
    """Compute R-CDTs (n, angles, levels), as shares of the length of the projection."""
    found = their_rcdt(
        _make_tensor(images), theta=_list_degrees(n_angles), circle=False, preserve_range=True, **options
    )
    return found[:, 0].transpose(-2, -1).numpy().astype(np.float64)


def project(image: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    angles = np.pi * np.arange(n_angles) / n_angles
    found = skradon(_make_tensor(image[None]), theta=_list_degrees(n_angles), circle=False, preserve_range=True)
    masses = found[0, 0].numpy().T
    n_bins = masses.shape[1]
    return masses, np.arange(n_bins) - n_bins // 2 + compute_pivots(image.shape, angles)[:, None], angles


def rcdt(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    values, angles = _compute_shares(images, n_angles), np.pi * np.arange(n_angles) / n_angles
    n_bins = values.shape[2]
    values = values * (n_bins - 1) - n_bins // 2 + compute_pivots(images.shape, angles)[:, None]
    return values, angles, np.linspace(0, 1, n_bins)


def tuned_rcdt(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Correct the places and the scale, and leave out the ends.

    torchcdt's sums belong to the upper ends of the bins. Its first and last levels are the ends of the projection. It
    adds a small constant to the image, which must be small relative to the image.
    """
    values, angles, levels = rcdt(images / images.max(axis=(1, 2), keepdims=True), n_angles)
    return values[:, :, 1:-1] + 0.5, angles, levels[1:-1]


FORMS = {
    "as shipped": normalise_by_levels(rcdt)._replace(
        features=lambda images, n_angles: _compute_shares(images, n_angles, normalization="max")[:, 0], project=project
    ),
    "tuned": normalise_exactly(tuned_rcdt)._replace(project=project),
}

"""torchcdt, with torchskradon: `rcdt` of tensors, as many levels as bins; its normalization "max" is the mNR-CDT."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torchcdt.functional import rcdt

from peers import Form
from peers.glue import exactly_normalised, full_circle, pivot

NAME, PACKAGE = "torchcdt", "torchcdt"

torch.set_num_threads(1)


def _quantiles(images: NDArray[Any], n_angles: int, **options: Any) -> NDArray[Any]:
    """(n, angles, levels), in shares of the projection's length."""
    theta = torch.arange(n_angles) * (180 / n_angles)
    tensor = torch.from_numpy(np.ascontiguousarray(images, np.float32))[:, None]
    found = rcdt(tensor, theta=theta, circle=False, preserve_range=True, **options)
    return found[:, 0].transpose(-2, -1).numpy().astype(np.float64)


def _as_shipped(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    values = _quantiles(images, n_angles)
    values = values - values.mean(axis=2, keepdims=True)
    values /= values.std(axis=2, ddof=1, keepdims=True)
    return values, np.pi * np.arange(n_angles) / n_angles, np.linspace(0, 1, values.shape[2])


def _tuned(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    values = _quantiles(images, n_angles)
    n_bins = values.shape[2]
    angles, levels = np.pi * np.arange(n_angles) / n_angles, np.linspace(0, 1, n_bins)[1:-1]
    values = values[:, :, 1:-1] * (n_bins - 1) - n_bins // 2 + 0.5  # sums are those at the upper ends of the bins
    exact = [exactly_normalised(v, image, angles, pivot(image)) for v, image in zip(values, images)]
    return np.array(exact), angles, levels


def _features(images: NDArray[Any], n_angles: int) -> NDArray[Any]:
    return _quantiles(images, n_angles, normalization="max")[:, 0]


FORMS = {
    "as shipped": Form(_as_shipped, _features),
    "tuned": Form(_tuned, lambda images, n: full_circle(_tuned(images, n)[0])),
}

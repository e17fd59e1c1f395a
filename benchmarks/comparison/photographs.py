"""Affine copies of symbols as a camera would see them: the value of a pixel is the mean over its area.

Symbols are drawn and moved with `FINER` times as many pixels per side. A map then changes the shape but not the
sharpness, as it would if pixels were interpolated.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.images import average_blocks
from radoncdt import datasets

Array = NDArray[Any]

FINER = 4
"""Number of fine pixels per side of a pixel."""


def draw_symbols(side: int) -> Array:
    """Draw the twelve symbols with fine pixels. Their size is 1/2 and their line width is 1/32 of the side.

    Each symbol is rotated, because edges along rows of pixels, or along one of the directions, are a special case.
    """
    n = FINER * side
    upright = np.stack(list(datasets.templates(canvas=n, size=n // 2, line_width=n // 32).values()))
    return datasets.random_affine(upright, datasets.AffineDistribution(rotation=180), 1)[0]


def photograph(fine: Array) -> Array:
    """Average fine pixels."""
    return average_blocks(fine, FINER).astype(np.float32)


def photograph_moved(fine: Array, *, shift: float = 0.0, **options: Any) -> Array:
    """Photograph random affine copies, none of which may leave the image. The shift is in pixels."""
    maps = datasets.AffineDistribution(shift=FINER * shift, **options)
    with warnings.catch_warnings(action="error"):
        return photograph(datasets.random_affine(fine, maps, 0)[0])

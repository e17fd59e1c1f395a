"""The bounding boxes of the ink of images."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._geometry import ink_box
from radoncdt._interface import EMPTY, NEGATIVE, NOT_FINITE, Images, precision
from radoncdt._typing import Floats

__all__ = ["Box", "find_boxes", "precision_of"]

WIDE_EXPONENT = 64
"""Pixels are rescaled only if the binary exponent of the largest is at least this, in absolute value."""


class Box(NamedTuple):
    """The bounding box of the ink of an image, copied, so that results do not depend on the pixels around it."""

    pixels: Floats
    """(height, width), in units of 2**exponent. The whole image if it is EMPTY, and no pixels if it is NOT_FINITE."""
    x: float
    """The centre of the box, in pixels from the centre of the image."""
    y: float
    exponent: int
    """Binary exponent taken out of the pixels; 0 unless their sums could overflow or underflow."""
    status: int


def find_boxes(images: Images) -> Iterator[Box]:
    """Find the box of every image. Pixels are first rounded to the precision of the images."""
    real = precision_of(images)
    for image in images:
        with np.errstate(over="ignore"):  # long doubles may become infinite, which the status reports
            yield _find_box(image.astype(real, copy=False))


def precision_of(images: Images) -> type[np.float32] | type[np.float64]:
    """The dtype of the masses of images."""
    return precision(images.dtype if isinstance(images, np.ndarray) else images[0].dtype)


def _find_box(image: NDArray[Any]) -> Box:
    ink = image != 0
    status = NEGATIVE if (np.signbit(image) & ink).any() else 0
    size = np.maximum(image.max(), -image.min())
    if not np.isfinite(size):
        return Box(np.zeros((0, 0)), 0.0, 0.0, 0, status | NOT_FINITE)
    if size == 0:
        return Box(np.zeros(image.shape), 0.0, 0.0, 0, status | EMPTY)
    rows, columns = ink_box(image)
    pixels = image[rows, columns].astype(np.float64, order="C")
    exponent = int(np.frexp(size)[1])
    if abs(exponent) < WIDE_EXPONENT:
        exponent = 0
    else:
        pixels = np.ldexp(pixels, -exponent)
    height, width = image.shape
    x, y = 0.5 * (columns.start + columns.stop - width), 0.5 * (height - rows.start - rows.stop)
    return Box(pixels, x, y, exponent, status)

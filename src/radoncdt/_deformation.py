"""Elastic deformation of images by waves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bend"]


def bend(
    image: NDArray[Any],
    random: np.random.Generator,
    *,
    amplitude: tuple[float, float],
    frequency: tuple[float, float] = (0.5, 2.0),
) -> NDArray[Any]:
    """Bend an image (H, W) by waves of random amplitude and frequency.

    I'(j, k) = I(j + a_y cos(2π f_y k/W), k + a_x sin(2π f_x j/H)), where rows j and columns k count from 1. The image
    is continued periodically and interpolated bilinearly.

    Parameters
    ----------
    image : array (H, W)
    random : numpy Generator
    amplitude : (low, high)
        Bounds of a_x and a_y, in pixels.
    frequency : (low, high)
        Bounds of f_x and f_y, in waves per image.
    """
    from scipy.ndimage import map_coordinates

    height, width = image.shape
    rows, columns = np.arange(1.0, height + 1)[:, None], np.arange(1.0, width + 1)
    a_x, a_y = random.uniform(*amplitude, 2)
    f_x, f_y = random.uniform(*frequency, 2)
    y = rows + a_y * np.cos(2 * np.pi * f_y * columns / width) - 1
    x = columns + a_x * np.sin(2 * np.pi * f_x * rows / height) - 1
    bent = np.empty_like(image)
    map_coordinates(image, np.broadcast_arrays(y, x), bent, order=1, mode="grid-wrap")
    return bent

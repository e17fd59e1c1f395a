"""Lines drawn as images.

Lines are given in the frame [−1, 1]², x to the right and y up, which fills the image.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _validation
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError

__all__ = ["Image", "Line", "bezier", "draw", "stroke", "to_pixels"]

Image = NDArray[np.float32]
"""An image (H, W), or a stack of images (n, H, W)."""

Line = Floats
"""The corners (n, 2) of a polyline."""


def draw(lines: Sequence[ArrayLike], *, size: int = 128, line_width: float = 4.0) -> Image:
    """Draw polylines, white on black.

    The value of a pixel is the part of it that a line covers. This is exact except at ends and corners, which are
    round.

    Parameters
    ----------
    lines : sequence of arrays (n, 2)
        Corners (x, y) in the frame [−1, 1]², y up. Lines are clipped at the frame.
    size : int, default 128
        Side of the image in pixels.
    line_width : float, default 4.0
        Width of the lines in pixels.

    Returns
    -------
    float32 array (size, size)
        The image, with values from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        If a line does not have the shape (n, 2) with n ≥ 2, or a number is out of its range.

    See Also
    --------
    templates : Draw the paper's symbols.
    glyphs : Draw characters of a font.

    Examples
    --------
    >>> datasets.draw([[(-2, 0), (2, 0)]], size=4, line_width=3)
    array([[0.5, 0.5, 0.5, 0.5],
           [1. , 1. , 1. , 1. ],
           [1. , 1. , 1. , 1. ],
           [0.5, 0.5, 0.5, 0.5]], dtype=float32)
    """
    size = _validation.check_count(size, "size", 1, _validation.MAX_SIDE)
    width = _validation.check_number(line_width, "line_width", "a positive number", lambda x: x > 0)
    image = np.zeros((size, size))
    for i, line in enumerate(_validation.check_sequence(lines, "lines")):
        corners = _validation.check_coordinates(line, f"lines[{i}]")
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2:
            raise ArgumentValueError(f"lines[{i}]", f"must have shape (n, 2) with n ≥ 2, got {corners.shape}")
        stroke(image, to_pixels(corners, size), width)
    return image.astype(np.float32)


def stroke(image: Floats, corners: Line, width: float) -> None:
    """Brighten pixels to the part of them that a line through places (column, row) covers; its ends are round."""
    _kernels.current().strokes(image, corners, float(width))


def to_pixels(corners: Line, size: int) -> Line:
    """Convert places (x, y) in the frame to (column, row)."""
    return corners * [size / 2, -size / 2] + (size - 1) / 2


def bezier(*controls: ArrayLike, n: int = 65) -> Line:
    """Evaluate the cubic Bézier curve of four control points at n places."""
    a, b, c, d = np.array(controls, float)
    t = np.linspace(0, 1, n)[:, None]
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d

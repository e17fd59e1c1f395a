"""Drawing lines."""

import math
from itertools import pairwise

import numpy as np

from radoncdt._typing import Floats

__all__ = ["strokes"]


def strokes(image: Floats, corners: Floats, width: float) -> None:
    """Brighten pixels to the part of them that the line through corners (n, 2), (column, row), covers.

    A pixel is a unit square, so its projection on the normal (c, s) of the line is the sum of two intervals of lengths
    |c| and |s|. Beyond the ends of a segment, the normal is the direction from the end.
    """
    for start, end in pairwise(corners):
        _stroke(image, start, end, width)


def _stroke(image: Floats, start: Floats, end: Floats, width: float) -> None:
    reach, most = width / 2 + 1, np.array(image.shape[::-1])
    left, top = np.clip(np.ceil(np.minimum(start, end) - reach), 0, most).astype(int)
    right, bottom = np.clip(np.floor(np.maximum(start, end) + reach) + 1, 0, most).astype(int)
    box = image[top:bottom, left:right]
    if box.size == 0:
        return
    x, y = np.arange(left, right) - start[0], np.arange(top, bottom)[:, None] - start[1]
    dx, dy = end - start
    length = math.hypot(dx, dy)
    along = np.clip((x * dx + y * dy) / max(length * length, 1e-300), 0.0, 1.0)
    across_x, across_y = x - along * dx, y - along * dy
    distance = np.hypot(across_x, across_y)
    on_it = distance < 1e-9  # there, the normal is that of the line
    c = np.where(on_it, dy / max(length, 1e-300), across_x / np.maximum(distance, 1e-9))
    s = np.where(on_it, dx / max(length, 1e-300), across_y / np.maximum(distance, 1e-9))
    covered = _part_below(width / 2 - distance, c, s) - _part_below(-width / 2 - distance, c, s)
    np.maximum(box, covered, out=box, where=distance <= reach)


def _part_below(place: Floats, c: Floats, s: Floats) -> Floats:
    """The part of a unit square around 0 whose projection on the axis (c, s) is below a place."""
    a, b = np.maximum(np.abs(c), 1e-6), np.maximum(np.abs(s), 1e-6)
    outer, inner = (a + b) / 2, (a - b) / 2
    total = np.maximum(place + outer, 0.0) ** 2 - np.maximum(place + inner, 0.0) ** 2
    total -= np.maximum(place - inner, 0.0) ** 2
    total += np.maximum(place - outer, 0.0) ** 2
    part: Floats = np.clip(total / (2 * a * b), 0.0, 1.0)
    return part

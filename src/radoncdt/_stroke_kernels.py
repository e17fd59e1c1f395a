"""The numba loop that draws lines. As in ``_kernels.py``, it has a slow, obvious twin in ``tests/reference.py``."""

import math

from radoncdt._kernels import kernel, part


@part
def _part_below(place, c, s):
    """The part of a unit square around 0 that is below a place on the axis (c, s)."""
    a, b = max(abs(c), 1e-6), max(abs(s), 1e-6)
    outer, inner = (a + b) / 2, (a - b) / 2
    total = 0.0
    for shift, sign in ((outer, 1), (inner, -1), (-inner, -1), (-outer, 1)):
        above = max(place + shift, 0.0)
        total += sign * above * above
    return min(max(total / (2 * a * b), 0.0), 1.0)


@kernel
def strokes(image, corners, width):
    """Brighten pixels to the part of them that the line through some corners (column, row) covers; ends are round.

    A pixel is a unit square, so its extent along the normal (c, s) of the line is that of two intervals of lengths |c|
    and |s| together. From a place on to an end, the normal is the direction from the end.
    """
    reach = width / 2 + 1
    for k in range(len(corners) - 1):
        x0, y0 = corners[k]
        dx, dy = corners[k + 1, 0] - x0, corners[k + 1, 1] - y0
        length = math.hypot(dx, dy)
        square = max(length * length, 1e-300)
        first = max(math.ceil(min(y0, y0 + dy) - reach), 0)
        last = min(math.floor(max(y0, y0 + dy) + reach), image.shape[0] - 1)
        left = max(math.ceil(min(x0, x0 + dx) - reach), 0)
        right = min(math.floor(max(x0, x0 + dx) + reach), image.shape[1] - 1)
        for row in range(first, last + 1):
            for column in range(left, right + 1):
                x, y = column - x0, row - y0
                along = min(max((x * dx + y * dy) / square, 0.0), 1.0)
                across_x, across_y = x - along * dx, y - along * dy
                distance = math.hypot(across_x, across_y)
                if distance > reach:
                    continue
                if distance < 1e-9:  # where the normal is that of the line
                    c, s = dy / max(length, 1e-300), dx / max(length, 1e-300)
                else:
                    c, s = across_x / distance, across_y / distance
                covered = _part_below(width / 2 - distance, c, s) - _part_below(-width / 2 - distance, c, s)
                if covered > image[row, column]:
                    image[row, column] = covered

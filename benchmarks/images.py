"""Images for measurements."""

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def average_blocks(images: Array, factor: int) -> Array:
    """Average every block of factor × factor pixels of images (…, H, W), in float64."""
    *lead, height, width = images.shape
    shape = *lead, height // factor, factor, width // factor, factor
    return images.reshape(shape).mean(axis=(-3, -1), dtype=np.float64)


def dense(n: int, dtype: type = np.float32) -> Array:
    """Draw an image of random pixels, all of them positive."""
    return (np.random.default_rng(0).random((n, n)) + 0.01).astype(dtype)


def drawing(n: int) -> Array:
    """Draw a circle, a cross and four lines from edge to edge, 2 pixels wide."""
    y, x = np.mgrid[:n, :n] - (n - 1) / 2
    lines = [
        x - 0.2 * n,
        y + 0.3 * n,
        (x + 0.35 * y + 0.1 * n) / np.hypot(1, 0.35),
        (0.25 * x - y + 0.2 * n) / np.hypot(0.25, 1),
    ]
    ink = np.abs(np.hypot(x, y) - n / 16) < 1
    ink |= (np.minimum(abs(x), abs(y)) < 1) & (np.maximum(abs(x), abs(y)) < n / 20)
    for distance in lines:
        ink |= np.abs(distance) < 1
    return ink.astype(np.float32)


KINDS = {"dense": dense, "drawing": drawing}
"""The functions that draw the images of most measurements, by the kind of the image."""


def silhouette(n: int) -> Array:
    """Draw three filled shapes, each of a constant grey value."""
    y, x = np.mgrid[:n, :n] - (n - 1) / 2
    image = np.where(np.hypot(x, y) < 0.37 * n, 0.9, 0)
    image[n // 8 : n // 4, n // 7 : -n // 8] = 0.2
    image[-n // 4 : -n // 7, n // 4 :] = 0.55
    return image.astype(np.float32)


def scribble(n: int, n_lines: int) -> Array:
    """Draw random straight lines from edge to edge, 2 pixels wide."""
    y, x = np.mgrid[:n, :n] - (n - 1) / 2
    rng = np.random.default_rng(0)
    ink = np.zeros((n, n), bool)
    for angle, offset in zip(rng.uniform(0, np.pi, n_lines), rng.uniform(-n / 3, n / 3, n_lines)):
        ink |= np.abs(np.cos(angle) * x + np.sin(angle) * y - offset) < 1
    return ink.astype(np.float32)


def count_lines_and_runs(image: Array) -> int:
    """Count the rows and columns of an image, and the runs of ink in them. Projections have to visit all of them."""
    ink = image > 0
    counts = (
        len(lines) + np.count_nonzero(lines[:, 0]) + np.count_nonzero(lines[:, 1:] & ~lines[:, :-1])
        for lines in (ink, ink.T)
    )
    return int(sum(counts))


def draw_stretched(
    lines: Iterable[Array], matrix: Array, shift: Array, size: int, *, pen: float = 4.0, parts: int = 8
) -> Array:
    """Draw polylines that a map moves, with a pen that the map stretches.

    Corners are in pixels from the centre. The value of a pixel is the covered share of its parts × parts points.
    """
    fine = np.zeros((size * parts, size * parts), bool)
    middles = (np.arange(size * parts) + 0.5) / parts - size / 2
    reach = pen / 2 * np.linalg.norm(matrix, axis=1)
    for begin, end in chain.from_iterable(map(pairwise, lines)):
        ends = np.stack([begin, end]) @ matrix.T + shift
        (left, low), (right, high) = ends.min(axis=0) - reach, ends.max(axis=0) + reach
        columns, rows = (slice(*np.searchsorted(middles, some)) for some in ((left, right), (-high, -low)))
        moved = np.stack(np.meshgrid(middles[columns], -middles[rows]), axis=-1)
        points, step = (moved - shift) @ np.linalg.inv(matrix).T - begin, end - begin
        along = np.clip(points @ step / max(step @ step, 1e-300), 0, 1)
        fine[rows, columns] |= np.linalg.norm(points - along[..., None] * step, axis=-1) <= pen / 2
    return fine.reshape(size, parts, size, parts).mean(axis=(1, 3))

"""Line drawings: the twelve symbols of the paper's academic dataset, and the shapes they are made of.

Lines are drawn in a frame [−1, 1]², x to the right and y up, that fills the image.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _kernels, _validation
from radoncdt._validation import ArgumentValueError

Image = NDArray[np.float32]
Line = NDArray[np.float64]

RADIUS = 0.75
"""Of circles, of the corners of squares and triangles, and of the rays of stars, before they are put into a symbol."""

SHAPES = ("circle", "square", "triangle", "shield", "star1", "star4", "star8", "stick")
"""The plain shapes: outlines, stars of 1, 4 and 8 rays, and the stick that joins an orb and its star."""

TEMPLATES = (
    *(f"{orb}-{star}" for orb, star in product(("circle", "square", "triangle"), ("star1", "star4", "star8"))),
    *(f"shield-{emblem}" for emblem in ("circle", "square", "triangle")),
)
"""The twelve symbols: an orb below a star, or a shield around an emblem."""


def _polygon(n: int, first: float) -> list[Line]:
    angles = first + 2 * np.pi * np.arange(n + 1) / n
    return [RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=-1)]


def _star(rays: int) -> list[Line]:
    angles = 2 * np.pi * np.arange(rays) / rays
    return [np.array([(0, 0), (RADIUS * np.sin(a), RADIUS * np.cos(a))]) for a in angles]


def bezier(*controls: ArrayLike, n: int = 65) -> Line:
    """So many places of the curve that four controls define."""
    a, b, c, d = np.array(controls, float)
    t = np.linspace(0, 1, n)[:, None]
    return (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def _shield() -> list[Line]:
    left = bezier((-0.75, 0.5), (-0.75, -0.5), (0, -0.75), (0, -0.75))
    right = left[::-1] * [-1, 1]
    return [np.concatenate([[(-0.75, 0.75)], left, right, [(0.75, 0.75), (-0.75, 0.75)]])]


def _lines(shape: str) -> list[Line]:
    match shape:
        case "circle":
            return _polygon(256, 0)
        case "square":
            return _polygon(4, np.pi / 4)
        case "triangle":
            return _polygon(3, np.pi / 2)
        case "shield":
            return _shield()
        case "stick":
            return [np.array([(0, -0.5), (0, 0.5)])]
        case _:
            return _star(int(shape.removeprefix("star")))


def _parts(name: str) -> list[tuple[str, float, float]]:
    """The shapes of a symbol, from the back to the front, each with its scale and its height."""
    if "-" not in name:
        return [(name, 1, 0)]
    first, second = name.split("-")
    if first == "shield":
        return [("shield", 1, 0), (second, 0.5, 0.125)]
    return [("stick", 1, 0), (first, 0.5, -0.5), (second, 0.5, 0.5)]


def templates(
    names: Iterable[str] | None = None, *, size: int = 128, line_width: float = 4.0, canvas: int | None = None
) -> dict[str, Image]:
    """Symbols by name: white lines on black, with soft edges.

    An orb (circle, square or triangle) hides the end of the stick that joins it to its star. The paper's experiments
    draw symbols of 128 pixels with lines of 4 pixels and put them on a canvas of 256.

    Parameters
    ----------
    names : sequence of str, optional
        Of `TEMPLATES` or `SHAPES`; all twelve `TEMPLATES` by default.
    size : int
        Side of the frame that is drawn into, in pixels.
    line_width : float
        Width of the lines, in pixels.
    canvas : int, optional
        Side of the images, the frame being in their middle; `size` by default.

    Returns
    -------
    dict from name to float32 array (canvas, canvas), values 0 to 1

    Examples
    --------
    >>> images = datasets.templates(["circle-star1", "shield-triangle"], size=64, line_width=2)
    >>> {name: image.shape for name, image in images.items()}
    {'circle-star1': (64, 64), 'shield-triangle': (64, 64)}
    """
    size = _validation.check_count(size, "size", 1, _validation.MAX_SIDE)
    canvas = size if canvas is None else _validation.check_count(canvas, "canvas", size, _validation.MAX_SIDE)
    if (canvas - size) % 2:
        raise ArgumentValueError("canvas", f"must differ from `size` by an even number, got {canvas} and {size}")
    chosen = TEMPLATES if names is None else _validation.check_sequence(names, "names")
    images = {}
    for name in chosen:
        _validation.check_choice(name, "names", (*TEMPLATES, *SHAPES))
        image = np.zeros((size, size), np.float32)
        for shape, scale, height in _parts(name):
            lines = [scale * line + [0, height] for line in _lines(shape)]
            if shape in ("circle", "square", "triangle"):
                image[_inside(lines[0], size)] = 0
            image = np.maximum(image, draw(lines, size=size, line_width=line_width))
        images[name] = np.pad(image, (canvas - size) // 2)
    return images


def draw(lines: Sequence[ArrayLike], *, size: int = 128, line_width: float = 4.0) -> Image:
    """Polylines as an image, white on black: each pixel is as bright as the part of it that a line covers.

    This is exact but for ends and corners, which are round.

    Parameters
    ----------
    lines : sequence of arrays (n, 2)
        Corners (x, y) in the frame [−1, 1]², y up; what is outside is cut off.
    size : int
        Side of the image in pixels.
    line_width : float
        In pixels.

    Returns
    -------
    float32 array (size, size), values 0 to 1

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
        stroke(image, _pixels(corners, size), width)
    return image.astype(np.float32)


def _pixels(corners: Line, size: int) -> Line:
    """From the frame to (column, row)."""
    return corners * [size / 2, -size / 2] + (size - 1) / 2


def stroke(image: NDArray[np.float64], corners: Line, width: float) -> None:
    """Brighten pixels to the part of them that the line through some places (column, row) covers; ends are round."""
    _kernels.current().strokes(image, corners, float(width))


def _inside(line: Line, size: int) -> NDArray[np.bool_]:
    """Pixels with their middle inside a closed line: a ray to the right crosses it an odd number of times."""
    x, y = np.arange(size), np.arange(size)[:, None]
    odd = np.zeros((size, size), bool)
    for (ax, ay), (bx, by) in pairwise(_pixels(line, size)):
        if ay != by:
            odd ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return odd

"""The twelve symbols of the paper's academic data set, and the shapes of which they are composed."""

from collections.abc import Iterable
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.lines import Image, Line, bezier, draw, to_pixels

__all__ = ["SHAPES", "TEMPLATES", "check_names", "templates"]

RADIUS = 0.75
"""Radius of circles, of the corners of squares and triangles, and of the rays of stars, before they are scaled."""

SHAPES = ("circle", "square", "triangle", "shield", "star1", "star4", "star8", "stick")
"""Names of the plain shapes: outlines, stars of 1, 4 and 8 rays, and the stick that joins an orb and its star."""

TEMPLATES = (
    *(f"{orb}-{star}" for orb, star in product(("circle", "square", "triangle"), ("star1", "star4", "star8"))),
    *(f"shield-{emblem}" for emblem in ("circle", "square", "triangle")),
)
"""Names of the paper's twelve symbols: an orb below a star, or a shield around an emblem."""


def templates(
    names: Iterable[str] | None = None, *, size: int = 128, line_width: float = 4.0, canvas: int | None = None
) -> dict[str, Image]:
    """Draw symbols: white lines on black, with soft edges.

    An orb (circle, square or triangle) hides the end of the stick that joins it to its star. The paper's experiments
    draw symbols of 128 pixels with lines of 4 pixels and put them on a canvas of 256 (Fig. 2 of [1]_).

    Parameters
    ----------
    names : sequence of str, optional
        Symbols: "circle", "square" or "triangle" followed by "-star1", "-star4" or "-star8", or "shield-circle",
        "shield-square" or "shield-triangle". Plain shapes: "circle", "square", "triangle", "shield", "star1", "star4",
        "star8" or "stick". The default is all twelve symbols.
    size : int, default 128
        Side of the frame in which a symbol is drawn, in pixels.
    line_width : float, default 4.0
        Width of the lines, in pixels.
    canvas : int, optional
        Side of the images, in pixels, with the frame in the middle. The default is `size`.

    Returns
    -------
    dict of str to float32 array (canvas, canvas)
        The images by name, with values from 0 to 1.

    Raises
    ------
    TypeError, ValueError
        If a name is unknown, a number is out of its range, or `canvas` differs from `size` by an odd number.

    See Also
    --------
    academic : Random affine copies of the symbols.
    draw : Draw your own lines.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

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
    images = {}
    for name in TEMPLATES if names is None else check_names(names, "names"):
        image = np.zeros((size, size), np.float32)
        for shape, scale, height in _parts(name):
            lines = [scale * line + [0, height] for line in _lines(shape)]
            if shape in ("circle", "square", "triangle"):
                image[_inside(lines[0], size)] = 0
            image = np.maximum(image, draw(lines, size=size, line_width=line_width))
        images[name] = np.pad(image, (canvas - size) // 2)
    return images


def check_names(names: Any, argument: str) -> tuple[str, ...]:
    """Return the names as a tuple if all are names of symbols or shapes, or raise an error about the argument."""
    return tuple(
        _validation.check_choice(name, argument, (*TEMPLATES, *SHAPES))
        for name in _validation.check_sequence(names, argument)
    )


def _parts(name: str) -> list[tuple[str, float, float]]:
    """The shapes of a symbol, from the back to the front, each with its scale and its height."""
    if "-" not in name:
        return [(name, 1, 0)]
    first, second = name.split("-")
    if first == "shield":
        return [("shield", 1, 0), (second, 0.5, 0.125)]
    return [("stick", 1, 0), (first, 0.5, -0.5), (second, 0.5, 0.5)]


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


def _polygon(n: int, first: float) -> list[Line]:
    angles = first + 2 * np.pi * np.arange(n + 1) / n
    return [RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=-1)]


def _star(rays: int) -> list[Line]:
    angles = 2 * np.pi * np.arange(rays) / rays
    return [np.array([(0, 0), (RADIUS * np.sin(a), RADIUS * np.cos(a))]) for a in angles]


def _shield() -> list[Line]:
    left = bezier((-0.75, 0.5), (-0.75, -0.5), (0, -0.75), (0, -0.75))
    right = left[::-1] * [-1, 1]
    return [np.concatenate([[(-0.75, 0.75)], left, right, [(0.75, 0.75), (-0.75, 0.75)]])]


def _inside(line: Line, size: int) -> NDArray[np.bool_]:
    """Pixels whose centre is inside a closed line: a ray to the right crosses the line an odd number of times."""
    x, y = np.arange(size), np.arange(size)[:, None]
    odd = np.zeros((size, size), bool)
    for (ax, ay), (bx, by) in pairwise(to_pixels(line, size)):
        if ay != by:
            odd ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return odd

"""What else happens to a drawing: bent paper, specks, gaps and stray lines (the authors' follow-up, arXiv 2506.08761).

Every function takes images (n, H, W), white on black, and returns new ones; each image gets noise of its own. White is
the largest value of an image, 1 where it has none.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._deformation import bend
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.affine import Seed, generator, pictures
from radoncdt.datasets.drawing import stroke

Pair = tuple[float, float]


def elastic(
    images: ArrayLike, rng: Seed, *, amplitude: Pair = (2.5, 7.5), frequency: Pair = (0.5, 2.0)
) -> NDArray[Any]:
    """Bend images by waves: I'(j, k) = I(j + a_y cos(2π f_y k/W), k + a_x sin(2π f_x j/H)).

    Rows j and columns k count from 1 as the authors' do; the image is continued periodically and interpolated
    bilinearly.

    Parameters
    ----------
    images : array (n, H, W)
    rng : numpy Generator, or int
    amplitude : (low, high)
        Of a_x and a_y, in pixels.
    frequency : (low, high)
        Of f_x and f_y, waves an image; no whole number of waves tears the image at its border.

    Examples
    --------
    >>> bool(np.allclose(datasets.elastic(np.ones((2, 8, 8)), rng=0), 1))
    True
    """
    stack, random = pictures(images), generator(rng)
    amplitudes, frequencies = _pair(amplitude, "amplitude"), _pair(frequency, "frequency")
    bent = np.empty_like(stack)
    for i, image in enumerate(stack):
        bent[i] = bend(image, random, amplitude=amplitudes, frequency=frequencies)
    return bent


def salt(images: ArrayLike, rng: Seed, *, dots: tuple[int, int] = (4, 7), diameter: Pair = (3.0, 3.0)) -> NDArray[Any]:
    """Scatter white discs.

    Parameters
    ----------
    images : array (n, H, W)
    rng : numpy Generator, or int
    dots : (least, most)
        Number of discs in an image, all equally likely.
    diameter : (low, high)
        In pixels. Discs lie within the image.

    Examples
    --------
    >>> image = datasets.salt(np.zeros((1, 32, 32)), rng=0, dots=(1, 1))
    >>> bool(np.isclose(image.sum(), np.pi * 1.5**2, rtol=0.05))
    True
    """
    least, most = _pair(diameter, "diameter")

    def cover(random: np.random.Generator, layer: NDArray[Any]) -> None:
        width = random.uniform(least, most)
        middle = _within(random, layer, width)
        stroke(layer, np.stack([middle, middle]), width)

    return _covered(images, rng, dots, "dots", cover, _lighten)


def bars(images: ArrayLike, rng: Seed, *, bars: tuple[int, int] = (2, 5), width: Pair = (2.0, 2.0)) -> NDArray[Any]:
    """Cut vertical black bars through the whole height.

    Parameters
    ----------
    images : array (n, H, W)
    rng : numpy Generator, or int
    bars : (least, most)
        Number of bars in an image, all equally likely.
    width : (low, high)
        In pixels. Bars lie within the image.

    Examples
    --------
    >>> image = datasets.bars(np.ones((1, 5, 9)), rng=0, bars=(1, 1))
    >>> bool(np.isclose(image.sum(), 5 * (9 - 2)))
    True
    """
    least, most = _pair(width, "width")

    def cover(random: np.random.Generator, layer: NDArray[Any]) -> None:
        across = random.uniform(least, most)
        left, x = _within(random, layer, across)[0] - across / 2, np.arange(layer.shape[1])
        layer[:] = np.clip(np.minimum(x + 0.5, left + across) - np.maximum(x - 0.5, left), 0, 1)

    return _covered(images, rng, bars, "bars", cover, lambda image, bar, _: image * (1 - bar))


def sticks(
    images: ArrayLike,
    rng: Seed,
    *,
    sticks: tuple[int, int] = (10, 15),
    length: Pair = (16.0, 32.0),
    width: Pair = (2.0, 2.0),
) -> NDArray[Any]:
    """Scatter white sticks: vertical, horizontal, and along both diagonals.

    Parameters
    ----------
    images : array (n, H, W)
    rng : numpy Generator, or int
    sticks : (least, most)
        Number of sticks in an image, all equally likely.
    length, width : (low, high)
        In pixels. The authors' lengths are an eighth to a quarter of half the side, 16 to 32 pixels of 256. Sticks lie
        within the image; their ends are round.

    Examples
    --------
    >>> datasets.sticks(np.zeros((2, 64, 64)), rng=0).shape
    (2, 64, 64)
    """
    (short, long), (least, most) = _pair(length, "length"), _pair(width, "width")

    def cover(random: np.random.Generator, layer: NDArray[Any]) -> None:
        angle = random.integers(4) * np.pi / 4
        reach, across = random.uniform(short, long), random.uniform(least, most)
        middle, half = _within(random, layer, reach + across), reach / 2 * np.array([np.cos(angle), np.sin(angle)])
        stroke(layer, np.stack([middle - half, middle + half]), across)

    return _covered(images, rng, sticks, "sticks", cover, _lighten)


def _covered(
    images: ArrayLike,
    rng: Seed,
    number: tuple[int, int],
    name: str,
    cover: Callable[[np.random.Generator, NDArray[Any]], None],
    combine: Callable[[NDArray[Any], NDArray[Any], float], NDArray[Any]],
) -> NDArray[Any]:
    """Cover every image several times. `cover` writes into zeros the part of each pixel that something covers."""
    stack, random = pictures(images).copy(), generator(rng)
    least, most = _pair(number, name)
    if least != int(least) or most != int(most):
        raise ArgumentValueError(name, f"must be a pair of whole numbers, got {number!r}")
    for i in range(len(stack)):
        white = stack[i].max() if stack[i].any() else 1
        for _ in range(random.integers(int(least), int(most), endpoint=True)):
            layer = np.zeros(stack.shape[1:])
            cover(random, layer)
            stack[i] = combine(stack[i], layer, white)
    return stack


def _lighten(image: NDArray[Any], part: NDArray[Any], white: float) -> NDArray[Any]:
    return np.maximum(image, white * part)


def _within(random: np.random.Generator, layer: NDArray[Any], extent: float) -> NDArray[np.float64]:
    """A place (column, row) for the middle of something, for all of it to lie within the image, if it can."""
    sides = np.array(layer.shape[::-1])
    return (sides - 1) / 2 + np.maximum(sides - extent, 0) * random.uniform(-0.5, 0.5, 2)


def _pair(values: Pair, name: str) -> tuple[float, float]:
    pair = _validation.check_finite_array(values, name)
    if pair.shape != (2,) or not 0 <= pair[0] <= pair[1]:
        raise ArgumentValueError(name, f"must be a pair 0 ≤ low ≤ high, got {values!r}")
    return float(pair[0]), float(pair[1])

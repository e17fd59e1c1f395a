"""Distortions of drawings: bent paper, specks, gaps and stray lines (the authors' follow-up, arXiv 2506.08761).

Every function takes images (n, H, W), white on black, and returns new ones. The noise of each image is independent.
White is the largest value of the image, or 1 if the image is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _validation
from radoncdt._deformation import bend
from radoncdt._typing import Floats, Seed
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.affine import check_images, make_generator
from radoncdt.datasets.lines import stroke

__all__ = ["Pair", "bars", "elastic", "salt", "sticks"]

Pair = tuple[float, float]
"""The bounds (low, high) of a random number."""


def elastic(
    images: ArrayLike, rng: Seed, *, amplitude: Pair = (2.5, 7.5), frequency: Pair = (0.5, 2.0)
) -> NDArray[Any]:
    """Bend images by waves: I'(j, k) = I(j + a_y cos(2π f_y k/W), k + a_x sin(2π f_x j/H)).

    Rows j and columns k count from 1, as in the code of the authors' study of robustness [1]_. The image is continued
    periodically and interpolated bilinearly. The amplitudes and frequencies of each image are drawn uniformly.

    Parameters
    ----------
    images : array (n, H, W)
        The images.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    amplitude : (low, high), default (2.5, 7.5)
        Bounds of a_x and a_y, in pixels.
    frequency : (low, high), default (0.5, 2.0)
        Bounds of f_x and f_y, in waves per image. Unless the number of waves is an integer, the bent image is
        discontinuous at its border.

    Returns
    -------
    float array (n, H, W)
        The bent images: float64 if the images are float64, and float32 otherwise.

    Raises
    ------
    TypeError, ValueError
        If `images` is not a stack of finite numbers, or a pair is not 0 ≤ low ≤ high.

    See Also
    --------
    random_affine : Move images by random affine maps.
    few_shot : The data sets of the study.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
    >>> bool(np.allclose(datasets.elastic(np.ones((2, 8, 8)), rng=0), 1))
    True
    """
    stack, random = check_images(images), make_generator(rng)
    amplitudes, frequencies = _pair(amplitude, "amplitude"), _pair(frequency, "frequency")
    bent = np.empty_like(stack)
    for i, image in enumerate(stack):
        bent[i] = bend(image, random, amplitude=amplitudes, frequency=frequencies)
    return bent


def salt(images: ArrayLike, rng: Seed, *, dots: tuple[int, int] = (4, 7), diameter: Pair = (3.0, 3.0)) -> NDArray[Any]:
    """Scatter white discs over images.

    This is a distortion of the authors' study of robustness [1]_. White is the largest value of the image, or 1 if the
    image is empty. The discs lie within the image and may overlap.

    Parameters
    ----------
    images : array (n, H, W)
        The images, white on black.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    dots : (least, most), default (4, 7)
        Number of discs per image. All numbers from least to most are equally likely.
    diameter : (low, high), default (3.0, 3.0)
        Bounds of the diameter, in pixels.

    Returns
    -------
    float array (n, H, W)
        The salted images: float64 if the images are float64, and float32 otherwise.

    Raises
    ------
    TypeError, ValueError
        If `images` is not a stack of finite numbers, or a pair is not 0 ≤ low ≤ high.

    See Also
    --------
    sticks : Scatter white sticks.
    bars : Cut black bars.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
    >>> image = datasets.salt(np.zeros((1, 32, 32)), rng=0, dots=(1, 1))
    >>> bool(np.isclose(image.sum(), np.pi * 1.5**2, rtol=0.05))
    True
    """
    least, most = _pair(diameter, "diameter")

    def cover(layer: Floats, random: np.random.Generator) -> None:
        width = random.uniform(least, most)
        middle = _place_within(layer, random, width)
        stroke(layer, np.stack([middle, middle]), width)

    return _cover(images, rng, _whole_pair(dots, "dots"), cover, _lighten)


def bars(images: ArrayLike, rng: Seed, *, bars: tuple[int, int] = (2, 5), width: Pair = (2.0, 2.0)) -> NDArray[Any]:
    """Cut vertical black bars through the whole height of images.

    This is a distortion of the authors' study of robustness [1]_. Bars lie within the image and may overlap.

    Parameters
    ----------
    images : array (n, H, W)
        The images, white on black.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    bars : (least, most), default (2, 5)
        Number of bars per image. All numbers from least to most are equally likely.
    width : (low, high), default (2.0, 2.0)
        Bounds of the width of a bar, in pixels.

    Returns
    -------
    float array (n, H, W)
        The cut images: float64 if the images are float64, and float32 otherwise.

    Raises
    ------
    TypeError, ValueError
        If `images` is not a stack of finite numbers, or a pair is not 0 ≤ low ≤ high.

    See Also
    --------
    salt : Scatter white discs.
    sticks : Scatter white sticks.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
    >>> image = datasets.bars(np.ones((1, 5, 9)), rng=0, bars=(1, 1))
    >>> bool(np.isclose(image.sum(), 5 * (9 - 2)))
    True
    """
    least, most = _pair(width, "width")

    def cover(layer: Floats, random: np.random.Generator) -> None:
        across = random.uniform(least, most)
        left, x = _place_within(layer, random, across)[0] - across / 2, np.arange(layer.shape[1])
        layer[:] = np.clip(np.minimum(x + 0.5, left + across) - np.maximum(x - 0.5, left), 0, 1)

    return _cover(images, rng, _whole_pair(bars, "bars"), cover, _darken)


def sticks(
    images: ArrayLike,
    rng: Seed,
    *,
    sticks: tuple[int, int] = (10, 15),
    length: Pair = (16.0, 32.0),
    width: Pair = (2.0, 2.0),
) -> NDArray[Any]:
    """Scatter white sticks over images, each vertical, horizontal or along one of the diagonals.

    This is a distortion of the authors' study of robustness [1]_. White is the largest value of the image, or 1 if the
    image is empty. Sticks lie within the image and may overlap. Their ends are round.

    Parameters
    ----------
    images : array (n, H, W)
        The images, white on black.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    sticks : (least, most), default (10, 15)
        Number of sticks per image. All numbers from least to most are equally likely.
    length : (low, high), default (16.0, 32.0)
        Bounds of the length, in pixels. The authors' lengths are 1/8 to 1/4 of half the side: 16 to 32 pixels for
        images of 256 pixels.
    width : (low, high), default (2.0, 2.0)
        Bounds of the width, in pixels.

    Returns
    -------
    float array (n, H, W)
        The images with sticks: float64 if the images are float64, and float32 otherwise.

    Raises
    ------
    TypeError, ValueError
        If `images` is not a stack of finite numbers, or a pair is not 0 ≤ low ≤ high.

    See Also
    --------
    salt : Scatter white discs.
    bars : Cut black bars.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
    >>> datasets.sticks(np.zeros((2, 64, 64)), rng=0).shape
    (2, 64, 64)
    """
    (short, long), (least, most) = _pair(length, "length"), _pair(width, "width")

    def cover(layer: Floats, random: np.random.Generator) -> None:
        angle = random.integers(4) * np.pi / 4
        reach, across = random.uniform(short, long), random.uniform(least, most)
        middle, half = (
            _place_within(layer, random, reach + across),
            reach / 2 * np.array([np.cos(angle), np.sin(angle)]),
        )
        stroke(layer, np.stack([middle - half, middle + half]), across)

    return _cover(images, rng, _whole_pair(sticks, "sticks"), cover, _lighten)


def _cover(
    images: ArrayLike,
    rng: Seed,
    number: tuple[int, int],
    cover: Callable[[Floats, np.random.Generator], None],
    combine: Callable[[NDArray[Any], Floats, float], NDArray[Any]],
) -> NDArray[Any]:
    """Cover every image with a random number of objects.

    `cover` writes into a layer of zeros the part of each pixel that an object covers. `combine` puts a layer on an
    image, given the value of white.
    """
    stack, random = check_images(images).copy(), make_generator(rng)
    for i in range(len(stack)):
        white = stack[i].max() if stack[i].any() else 1
        for _ in range(random.integers(*number, endpoint=True)):
            layer = np.zeros(stack.shape[1:])
            cover(layer, random)
            stack[i] = combine(stack[i], layer, white)
    return stack


def _lighten(image: NDArray[Any], part: Floats, white: float) -> NDArray[Any]:
    return np.maximum(image, white * part)


def _darken(image: NDArray[Any], part: Floats, _white: float) -> NDArray[Any]:
    return image * (1 - part)


def _place_within(layer: Floats, random: np.random.Generator, extent: float) -> Floats:
    """Draw a centre (column, row) such that an object of this extent lies within the image if it is small enough."""
    sides = np.array(layer.shape[::-1])
    return (sides - 1) / 2 + np.maximum(sides - extent, 0) * random.uniform(-0.5, 0.5, 2)


def _pair(values: Pair, name: str) -> Pair:
    pair = _validation.check_finite_array(values, name)
    if pair.shape != (2,) or not 0 <= pair[0] <= pair[1]:
        raise ArgumentValueError(name, f"must be a pair 0 ≤ low ≤ high, got {values!r}")
    return float(pair[0]), float(pair[1])


def _whole_pair(values: tuple[int, int], name: str) -> tuple[int, int]:
    low, high = _pair(values, name)
    if low != int(low) or high != int(high):
        raise ArgumentValueError(name, f"must be a pair of whole numbers, got {values!r}")
    return int(low), int(high)

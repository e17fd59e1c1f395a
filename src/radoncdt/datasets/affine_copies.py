"""The two data sets of the paper: affine copies of drawn symbols and of digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._typing import Seed
from radoncdt.datasets.affine import AffineDistribution, AffineMaps, make_generator, move
from radoncdt.datasets.lines import Image
from radoncdt.datasets.mnist import SIDE, Mnist, check_digits, choose_mnist
from radoncdt.datasets.symbols import check_names, templates

__all__ = ["NARROW", "WIDE", "academic", "lin_mnist"]

NARROW = AffineDistribution(
    scale=(0.75, 1.0),
    rotation=float(np.rad2deg(0.5)),
    shear=5,
    whole_degrees=True,
    shift=5,
    whole_pixels=True,
    circular=True,
)
"""The distribution of the maps of the paper's Table 2."""

WIDE = replace(NARROW, scale=(0.75, 1.25), rotation=float(np.rad2deg(1.0)), shift=15)
"""The distribution of the maps of the paper's Tables 3 and 4."""


def academic(
    n: int,
    *,
    rng: Seed,
    classes: Sequence[str] = ("circle-star1", "square-star4", "shield-triangle"),
    distribution: AffineDistribution = WIDE,
    n_maps: int | None = None,
    size: int = 128,
    line_width: float = 4.0,
    canvas: int = 256,
) -> tuple[Image, NDArray[np.str_], AffineMaps]:
    """Make random affine copies of drawn symbols, n per class, class after class.

    The default symbols and maps are those of the paper's academic data set (Fig. 2 of [1]_).

    Parameters
    ----------
    n : int
        Number of images per class.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    classes : sequence of str, default ("circle-star1", "square-star4", "shield-triangle")
        Symbols: "circle", "square" or "triangle" followed by "-star1", "-star4" or "-star8", or "shield-circle",
        "shield-square" or "shield-triangle". Plain shapes: "circle", "square", "triangle", "shield", "star1", "star4",
        "star8" or "stick". The default is the three of the paper.
    distribution : AffineDistribution, default WIDE
        The distribution of the maps: `NARROW` for Table 2, `WIDE` for Tables 3 and 4, or your own.
    n_maps : int, optional
        Number of maps to draw; image i of every class is moved by map i mod n_maps. By default every image has its own
        map.
    size : int, default 128
        Side of the frame in which a symbol is drawn, in pixels.
    line_width : float, default 4.0
        Width of the lines, in pixels.
    canvas : int, default 256
        Side of the images, in pixels, with the frame in the middle.

    Returns
    -------
    images : float32 array (len(classes)·n, canvas, canvas)
        The images. The first k images of a class are the same for every n ≥ k.
    labels : array of str (len(classes)·n,)
        The name of the symbol in each image.
    maps : AffineMaps
        One map per image.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a name is unknown, or a number is out of its range.

    Warns
    -----
    UserWarning
        If an image loses more than 1 % of its ink beyond the canvas.

    See Also
    --------
    templates : Draw the symbols themselves.
    lin_mnist : Random affine copies of digits.
    few_shot : Copies that are also bent and salted.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    >>> images, labels, maps = datasets.academic(2, rng=0, classes=["square", "star8"], size=64, canvas=96)
    >>> labels
    array(['square', 'square', 'star8', 'star8'], dtype='<U6')
    """
    names = check_names(classes, "classes")
    drawn = templates(names, size=size, line_width=line_width, canvas=canvas)
    n = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES)
    sources = [np.broadcast_to(drawn[name], (n, canvas, canvas)) for name in names]
    return _make_copies(sources, np.array(names), rng, distribution, n_maps)


def lin_mnist(
    digits: Sequence[int],
    n: int,
    *,
    rng: Seed,
    distribution: AffineDistribution = WIDE,
    n_maps: int | None = None,
    canvas: int = 56,
    mnist: Mnist | None = None,
) -> tuple[Image, NDArray[np.int64], AffineMaps]:
    """Make random affine copies of the first n images of each digit in MNIST's order.

    This is the paper's data set LinMNIST (Fig. 3 of [1]_).

    Parameters
    ----------
    digits : sequence of int
        The classes.
    n : int
        Number of images per class.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    distribution : AffineDistribution, default WIDE
        The distribution of the maps: `NARROW` for Table 2, `WIDE` for Table 4, or your own.
    n_maps : int, optional
        Number of maps to draw; image i of every class is moved by map i mod n_maps. By default every image has its own
        map. The paper's experiments use 10 maps for all images.
    canvas : int, default 56
        Side of the images, in pixels, with the digit of 28 × 28 pixels in the middle.
    mnist : Mnist, optional
        The digits. The default is the result of `load_mnist`.

    Returns
    -------
    images : float32 array (len(digits)·n, canvas, canvas)
        The images, each divided by its largest value. The first k images of a class are the same for every n ≥ k.
    labels : array of int (len(digits)·n,)
        The digit in each image.
    maps : AffineMaps
        One map per image.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is out of its range, or if there are fewer than n images of a digit.

    Warns
    -----
    UserWarning
        If an image loses more than 1 % of its ink beyond the canvas.

    See Also
    --------
    load_mnist : Load the digits.
    academic : Random affine copies of drawn symbols.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    The class `Mnist` also holds other images of 28 × 28 pixels:

    >>> ones = np.zeros((4, 28, 28), np.uint8)
    >>> ones[:, 4:24, 12:16] = 255
    >>> mnist = datasets.Mnist(ones, np.ones(4, np.uint8), "drawn here")
    >>> images, labels, maps = datasets.lin_mnist([1], 4, rng=0, n_maps=2, mnist=mnist)
    >>> images.shape, labels.tolist()
    ((4, 56, 56), [1, 1, 1, 1])
    >>> bool((maps.matrices[0] == maps.matrices[2]).all())
    True
    """
    mnist = choose_mnist(mnist)
    n = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES)
    canvas = _validation.check_count(canvas, "canvas", SIDE, _validation.MAX_SIDE)
    classes = check_digits(digits, "digits")
    before, after = (canvas - SIDE) // 2, (canvas - SIDE + 1) // 2
    padding = (0, 0), (before, after), (before, after)
    sources = [np.pad(mnist.first(digit, n) / np.float32(255), padding) for digit in classes]
    images, labels, maps = _make_copies(sources, np.array(classes), rng, distribution, n_maps)
    images /= np.maximum(images.max(axis=(1, 2), keepdims=True), np.finfo(np.float32).tiny)
    return images, labels, maps


def _make_copies(
    sources: Sequence[NDArray[Any]],
    classes: NDArray[Any],
    rng: Seed,
    distribution: AffineDistribution,
    n_maps: int | None,
) -> tuple[Image, NDArray[Any], AffineMaps]:
    """Move the images (n, H, W) of every class; return the copies, their labels and the maps."""
    n, random = len(sources[0]), make_generator(rng)
    _validation.check_instance(distribution, "distribution", AffineDistribution)
    if n_maps is None:  # one seed per class, so that the first maps of a class do not depend on n
        drawn = [distribution.maps(n, int(seed)) for seed in random.integers(2**63, size=len(sources))]
    else:
        few = distribution.maps(_validation.check_count(n_maps, "n_maps", 1, _validation.MAX_IMAGES), random)
        drawn = [AffineMaps(*(part[np.arange(n) % n_maps] for part in few))] * len(sources)
    maps = AffineMaps(*(np.concatenate(part) for part in zip(*drawn)))
    images = move(np.concatenate(sources), maps, circular=distribution.circular, stacklevel=4)
    return images, np.repeat(classes, n), maps

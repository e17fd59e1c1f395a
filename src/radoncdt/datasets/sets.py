"""The two datasets of the paper: affine copies of drawn symbols, and of digits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.affine import AffineDistribution, AffineMaps, Seed, generator, move
from radoncdt.datasets.drawing import SHAPES, TEMPLATES, templates
from radoncdt.datasets.mnist import Mnist, load_mnist

Image = NDArray[np.float32]

NARROW = AffineDistribution(
    scale=(0.75, 1.0),
    rotation=float(np.rad2deg(0.5)),
    shear=5,
    whole_degrees=True,
    shift=5,
    whole_pixels=True,
    circular=True,
)
"""The maps of the paper's Table 2."""

WIDE = AffineDistribution(
    scale=(0.75, 1.25),
    rotation=float(np.rad2deg(1.0)),
    shear=5,
    whole_degrees=True,
    shift=15,
    whole_pixels=True,
    circular=True,
)
"""The maps of the paper's Tables 3 and 4."""


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
    """Random affine copies of drawn symbols, n of each class, class after class (Fig. 2 of the paper).

    Parameters
    ----------
    n : int
        Images of each class.
    rng : numpy Generator, or int
    classes : sequence of str
        Names of `templates`; the paper's three by default.
    distribution : AffineDistribution
        Of the maps: `NARROW`, those of Table 2, `WIDE`, those of Tables 3 and 4, or your own.
    n_maps : int, optional
        Draw but this many maps, and give image i of every class the map i mod n_maps. By default every image has a
        map of its own.
    size, line_width, canvas
        As in `templates`.

    Returns
    -------
    images : float32 array (len(classes)·n, canvas, canvas)
        The first k images of a class are the same for every n ≥ k.
    labels : array of str
    maps : AffineMaps
        The maps that made them.

    Examples
    --------
    >>> images, labels, maps = datasets.academic(2, rng=0, classes=["square", "star8"], size=64, canvas=96)
    >>> labels
    array(['square', 'square', 'star8', 'star8'], dtype='<U6')
    """
    names = _validation.check_sequence(classes, "classes")
    for name in names:
        _validation.check_choice(name, "classes", (*TEMPLATES, *SHAPES))
    drawn = templates(names, size=size, line_width=line_width, canvas=canvas)
    n = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES)
    sources = [np.broadcast_to(drawn[name], (n, canvas, canvas)) for name in names]
    return _copies(sources, np.array(names), rng, distribution, n_maps)


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
    """Random affine copies of digits, the first n of each in MNIST's order (LinMNIST, Fig. 3 of the paper).

    Parameters
    ----------
    digits : sequence of int
        The classes.
    n : int
        Images of each class.
    rng, distribution, n_maps
        As in `academic`. The paper's experiments use 10 maps for all images.
    canvas : int
        Side of the images; the digits of 28 pixels are put in their middle.
    mnist : Mnist, optional
        What `load_mnist` gave; by default it is called.

    Returns
    -------
    images : float32 array (len(digits)·n, canvas, canvas)
        Each divided by its largest value. The first k images of a class are the same for every n ≥ k.
    labels : array of int
    maps : AffineMaps
        The maps that made them.

    Examples
    --------
    >>> images, labels, maps = datasets.lin_mnist([1, 5, 7], 50, rng=0, n_maps=10)  # doctest: +SKIP
    """
    mnist = load_mnist() if mnist is None else mnist
    _validation.check_instance(mnist, "mnist", Mnist)
    n = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES)
    canvas = _validation.check_count(canvas, "canvas", 28, _validation.MAX_SIDE)
    classes = [
        _validation.check_count(digit, f"digits[{i}]", 0)
        for i, digit in enumerate(_validation.check_sequence(digits, "digits"))
    ]
    if max(classes) > 9:
        raise ArgumentValueError("digits", f"must be digits, got {max(classes)}")
    before, after = (canvas - 28) // 2, (canvas - 28 + 1) // 2
    padding = (0, 0), (before, after), (before, after)
    sources = [np.pad(mnist.first(digit, n) / np.float32(255), padding) for digit in classes]
    images, labels, maps = _copies(sources, np.array(classes), rng, distribution, n_maps)
    images /= np.maximum(images.max(axis=(1, 2), keepdims=True), np.finfo(np.float32).tiny)
    return images, labels, maps


def _copies(
    sources: Sequence[NDArray[Any]],
    names: NDArray[Any],
    rng: Seed,
    distribution: AffineDistribution,
    n_maps: int | None,
) -> tuple[Image, NDArray[Any], AffineMaps]:
    """Copies of the images of every class, its labels, and the maps."""
    n, random = len(sources[0]), generator(rng)
    _validation.check_instance(distribution, "distribution", AffineDistribution)
    if n_maps is None:  # a seed a class, so that the first maps of a class do not depend on n
        drawn = [distribution.maps(n, int(seed)) for seed in random.integers(2**63, size=len(sources))]
    else:
        few = distribution.maps(_validation.check_count(n_maps, "n_maps", 1, _validation.MAX_IMAGES), random)
        drawn = [AffineMaps(*(part[np.arange(n) % n_maps] for part in few))] * len(sources)
    maps = AffineMaps(*(np.concatenate(part) for part in zip(*drawn)))
    images = move(np.concatenate(sources), maps, circular=distribution.circular, stacklevel=4)
    return images, np.repeat(names, n), maps

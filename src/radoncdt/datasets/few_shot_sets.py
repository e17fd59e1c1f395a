"""The data sets of the authors' few-shot study of robustness (arXiv 2506.08761): distorted symbols and digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._typing import Seed
from radoncdt.datasets.affine import AffineDistribution, make_generator, move
from radoncdt.datasets.distortions import Pair, elastic, salt
from radoncdt.datasets.lines import Image
from radoncdt.datasets.mnist import Mnist, check_digits, choose_mnist
from radoncdt.datasets.symbols import TEMPLATES, check_names, templates

__all__ = ["FEW_SHOT", "SYMBOL_CANVAS", "Distortion", "few_shot"]

THRESHOLD = 0.666
"""Share of the largest grey value of a digit; darker pixels are set to 0."""

SYMBOL_CANVAS, DIGIT_CANVAS = 256, 128
"""Sides of the images of symbols and of digits, in pixels."""


class Distortion(NamedTuple):
    """How the images of a data set are distorted: they are bent, then moved, then salted."""

    maps: AffineDistribution
    """The distribution of the affine maps."""
    amplitude: Pair | None = None
    """The amplitudes of `elastic`, in pixels; None if images are not bent."""
    dots: tuple[int, int] | None = None
    """The numbers of dots of `salt`; None if images are not salted."""


_STRONG = AffineDistribution(
    scale=(0.5, 1.25), isotropic=False, rotation=180, shear=45, shift=20, whole_pixels=True, circular=True
)
_GENTLE = replace(_STRONG, scale=(0.75, 1.0), shear=5)

FEW_SHOT = {
    "aff": Distortion(_STRONG),
    "elastic": Distortion(_STRONG, amplitude=(2.5, 7.5)),
    "salt": Distortion(_GENTLE, dots=(4, 7)),
    "all": Distortion(_GENTLE, amplitude=(2.5, 7.5), dots=(4, 7)),
    "linmnist10": Distortion(replace(_GENTLE, shear=0)),
}
"""How the images of each data set of `few_shot` are distorted, by its name.

Four data sets consist of the twelve symbols, and one of the ten digits. Each value holds the distribution `maps` of the
affine maps, the bounds of the `amplitude` of `elastic`, and those of the number of `dots` of `salt`; the last two are
None if images are not bent or not salted.
"""


def few_shot(
    name: str,
    n: int,
    *,
    rng: Seed,
    classes: Sequence[Any] | None = None,
    amplitude: Pair | None = None,
    dots: tuple[int, int] | None = None,
    mnist: Mnist | None = None,
) -> tuple[Image, NDArray[Any]]:
    """Make a data set of the authors' study of robustness: n images per class, class after class.

    The study is described in [1]_. "aff", "elastic", "salt" and "all" consist of the twelve symbols of `templates` on a
    canvas of 256 pixels.
    "linmnist10" consists of the first n images of each digit in MNIST's order. Pixels of a digit below 0.666 of its
    largest value are set to 0. Then it is enlarged bilinearly to 56 pixels and put on a canvas of 128. Every image is
    bent, then moved, then salted, with its own random parameters. Shifts are circular. Pixels that a matrix moves off
    the canvas are lost. `FEW_SHOT` holds the distributions.

    ============ ========================================================= ================ ==================
    name         scale of x and of y, rotation, shear, shift               amplitude        dots, 3 pixels wide
    ============ ========================================================= ================ ==================
    "aff"        0.5 to 1.25, ±180°, ±45°, ±20 pixels                      –                –
    "elastic"    as "aff"                                                  2.5 to 7.5       –
    "salt"       0.75 to 1, ±180°, ±5°, ±20 pixels                         –                4 to 7
    "all"        as "salt"                                                 2.5 to 7.5       4 to 7
    "linmnist10" 0.75 to 1, ±180°, none, ±20 pixels                        –                –
    ============ ========================================================= ================ ==================

    Parameters
    ----------
    name : {"aff", "elastic", "salt", "all", "linmnist10"}
        The data set.
    n : int
        Number of images per class. The authors use 100 per symbol and 500 per digit.
    rng : numpy Generator or int
        The random generator, or the seed of a new one.
    classes : sequence of str or int, optional
        Names of symbols, such as "circle-star1", or digits. The default is all twelve symbols or all ten digits.
    amplitude : (low, high), optional
        Amplitudes of `elastic`, in pixels. The default is given in the table.
    dots : (least, most), optional
        Numbers of dots of `salt`. The default is given in the table.
    mnist : Mnist, optional
        The digits. The default is the result of `load_mnist`.

    Returns
    -------
    images : float32 array (len(classes)·n, H, W)
        The images. The first k images of a class are the same for every n ≥ k. The maps do not depend on `amplitude`
        and `dots`.
    labels : array of str or int (len(classes)·n,)
        The class of each image.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a name is unknown, a number is out of its range, or there are fewer than n
        images of a digit.

    See Also
    --------
    academic : Affine copies without other distortions.
    elastic : Bend images by waves.
    salt : Scatter white discs.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Normalized Radon cumulative distribution transforms for invariance and
           robustness in optimal transport based image classification", 2025. arXiv:2506.08761.

    Examples
    --------
    >>> images, labels = datasets.few_shot("all", 2, rng=0, classes=["circle-star1", "shield-square"])
    >>> images.shape, labels.tolist()
    ((4, 256, 256), ['circle-star1', 'circle-star1', 'shield-square', 'shield-square'])
    """
    distortion = FEW_SHOT[_validation.check_choice(name, "name", tuple(FEW_SHOT))]
    n, random = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES), make_generator(rng)
    amplitude = distortion.amplitude if amplitude is None else amplitude
    dots = distortion.dots if dots is None else dots
    sources = _digits(classes, n, mnist) if name == "linmnist10" else _symbols(classes, n)
    parts = []
    for source in sources.values():
        bend, turn, scatter = (int(seed) for seed in random.integers(2**63, size=3))
        images = source if amplitude is None else elastic(source, bend, amplitude=amplitude)
        maps = distortion.maps.maps(n, turn)
        images = move(images, maps, circular=distortion.maps.circular, stacklevel=None)
        parts.append(images if dots is None else salt(images, scatter, dots=dots))
    return np.concatenate(parts), np.repeat(list(sources), n)


def _symbols(classes: Sequence[Any] | None, n: int) -> dict[str, Image]:
    names = TEMPLATES if classes is None else check_names(classes, "classes")
    drawn = templates(names, canvas=SYMBOL_CANVAS)
    return {name: np.broadcast_to(image, (n, *image.shape)) for name, image in drawn.items()}


def _digits(classes: Sequence[Any] | None, n: int, mnist: Mnist | None) -> dict[int, Image]:
    from scipy.ndimage import zoom

    names = range(10) if classes is None else check_digits(classes, "classes")
    mnist = choose_mnist(mnist)
    sources = {}
    for digit in names:
        images = mnist.first(digit, n).astype(np.float32)
        images /= np.maximum(images.max(axis=(1, 2), keepdims=True), 1)
        images[images < THRESHOLD] = 0
        large = zoom(images, (1, 2, 2), order=1, mode="grid-constant", grid_mode=True)
        margin = (DIGIT_CANVAS - large.shape[1]) // 2
        sources[digit] = np.pad(large, ((0, 0), (margin, margin), (margin, margin)))
    return sources

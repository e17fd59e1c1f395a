"""The sets of the authors' few-shot study of robustness (arXiv 2506.08761): symbols and digits, bent, moved, salted."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.affine import AffineDistribution, Seed, generator, move
from radoncdt.datasets.drawing import SHAPES, TEMPLATES, templates
from radoncdt.datasets.mnist import Mnist, load_mnist
from radoncdt.datasets.noise import Pair, elastic, salt

Image = NDArray[np.float32]

THRESHOLD = 0.666
"""Of the largest grey value of a digit; what is darker becomes black."""

SYMBOL_CANVAS, DIGIT_CANVAS = 256, 128


class Distortion(NamedTuple):
    """What happens to the images of a set: they are bent, then moved, then salted."""

    maps: AffineDistribution
    amplitude: Pair | None = None
    """Of `elastic`, in pixels; None bends nothing."""
    dots: tuple[int, int] | None = None
    """Of `salt`; None scatters nothing."""


_STRONG = AffineDistribution(
    scale=(0.5, 1.25), isotropic=False, rotation=180, shear=45, shift=20, whole_pixels=True, circular=True
)
_GENTLE = AffineDistribution(
    scale=(0.75, 1.0), isotropic=False, rotation=180, shear=5, shift=20, whole_pixels=True, circular=True
)
_TURNS = AffineDistribution(
    scale=(0.75, 1.0), isotropic=False, rotation=180, shift=20, whole_pixels=True, circular=True
)

FEW_SHOT = {
    "aff": Distortion(_STRONG),
    "elastic": Distortion(_STRONG, amplitude=(2.5, 7.5)),
    "salt": Distortion(_GENTLE, dots=(4, 7)),
    "all": Distortion(_GENTLE, amplitude=(2.5, 7.5), dots=(4, 7)),
    "linmnist10": Distortion(_TURNS),
}
"""The sets of `few_shot`: four of the twelve symbols, and the ten digits."""


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
    """A set of the authors' study of robustness, n images of each class, class after class.

    "aff", "elastic", "salt" and "all" have the twelve symbols of `templates` on a canvas of 256 pixels, "linmnist10"
    the ten digits, the first n of each in MNIST's order. Digits lose what is darker than 0.666 of their largest value,
    are enlarged to 56 pixels, bilinearly, and put on a canvas of 128. Images are bent, then moved, then
    salted, each in its own way; what a map takes off the canvas is lost, but shifts are circular.

    ============ ========================================================= ================ ==================
    set          scale of x and of y, rotation, shear, shift               amplitude        dots, 3 pixels wide
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
    n : int
        Images of each class; the authors have 100 of each symbol and 500 of each digit.
    rng : numpy Generator, or int
    classes : sequence, optional
        Names of `templates`, or digits, instead of all.
    amplitude : (low, high), optional
        Of `elastic`, instead of the set's own.
    dots : (least, most), optional
        Of `salt`, instead of the set's own.
    mnist : Mnist, optional
        What `load_mnist` gave; by default it is called.

    Returns
    -------
    images : float32 array (len(classes)·n, H, W)
        The first k images of a class are the same for every n ≥ k. Maps do not depend on `amplitude` and `dots`.
    labels : array of str or int

    Examples
    --------
    >>> images, labels = datasets.few_shot("all", 2, rng=0, classes=["circle-star1", "shield-square"])
    >>> images.shape, labels.tolist()
    ((4, 256, 256), ['circle-star1', 'circle-star1', 'shield-square', 'shield-square'])
    """
    distortion = FEW_SHOT[_validation.check_choice(name, "name", tuple(FEW_SHOT))]
    n, random = _validation.check_count(n, "n", 1, _validation.MAX_IMAGES), generator(rng)
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
    names = TEMPLATES if classes is None else _validation.check_sequence(classes, "classes")
    for name in names:
        _validation.check_choice(name, "classes", (*TEMPLATES, *SHAPES))
    drawn = templates(names, canvas=SYMBOL_CANVAS)
    return {name: np.broadcast_to(image, (n, *image.shape)) for name, image in drawn.items()}


def _digits(classes: Sequence[Any] | None, n: int, mnist: Mnist | None) -> dict[int, Image]:
    from scipy.ndimage import zoom

    names = range(10) if classes is None else _validation.check_sequence(classes, "classes")
    mnist = load_mnist() if mnist is None else mnist
    _validation.check_instance(mnist, "mnist", Mnist)
    sources = {}
    for i, digit in enumerate(names):
        if _validation.check_count(digit, f"classes[{i}]", 0) > 9:
            raise ArgumentValueError("classes", f"must be digits, got {digit}")
        images = mnist.first(digit, n).astype(np.float32)
        images /= np.maximum(images.max(axis=(1, 2), keepdims=True), 1)
        images[images < THRESHOLD] = 0
        large = zoom(images, (1, 2, 2), order=1, mode="grid-constant", grid_mode=True)
        margin = (DIGIT_CANVAS - large.shape[1]) // 2
        sources[int(digit)] = np.pad(large, ((0, 0), (margin, margin), (margin, margin)))
    return sources

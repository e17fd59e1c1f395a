"""The sets of the few-shot study: digits under two sets of maps, capitals of unseen fonts, and symbols with noise.

A draw consists of training images, the first n of each class for every n, and of test images. All of them are moved.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._validation import ArgumentValueError
from radoncdt.datasets.affine import move
from radoncdt.datasets.fonts import Font, glyphs
from radoncdt.datasets.mnist import choose_mnist
from radoncdt.matching import Plausible, affine_distances

__all__ = ["MAPS", "SETS", "Draw", "draw_set"]

_NUMBER = 6  # part of the seed of the images; those of the other experiments have smaller numbers
MAX_TRAIN = 50  # training images per class
N_TEST = 50  # test images per class; of the capitals, half as many
DIGIT_CANVAS = 48  # pixels; a digit of 28 pixels stays inside
CAPITAL_SIZE, CAPITAL_CANVAS = 44, 80  # pixels
_ALIKE = 0.015  # median distance of the capitals of two fonts that count as one family, such as a narrow one
SYMBOL_SIZE = 128  # pixels, half of the canvas on which the symbols are distorted

_NEAR = datasets.AffineDistribution(scale=(0.75, 1.25), rotation=float(np.degrees(1)), shear=5, shift=2)
_ANY = datasets.AffineDistribution(scale=(0.6, 1.0), isotropic=False, rotation=180, shear=20, shift=2)
MAPS = {"near": _NEAR, "any": _ANY}


class Draw(NamedTuple):
    """A random draw of a set."""

    train: NDArray[np.float32]  # (classes, n, H, W)
    test: NDArray[np.float32]  # (classes, m, H, W)

    def choose(self, n: int) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Return n training images per class and their labels."""
        return _flatten(self.train[:, :n])

    @property
    def tested(self) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """The test images and their labels."""
        return _flatten(self.test)


def _flatten(images: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    n_classes, n, *shape = images.shape
    return images.reshape(n_classes * n, *shape), np.repeat(np.arange(n_classes), n)


def draw_set(name: str, seed: int, draw: int, mnist: datasets.Mnist | None, fonts: list[Font]) -> Draw:
    """Draw a set; the draws of different seeds, sets and numbers are independent."""
    rng = np.random.default_rng([seed, _NUMBER, list(SETS).index(name), draw])
    return SETS[name](rng, mnist, fonts)


def _draw_digits(maps: str, rng: np.random.Generator, mnist: datasets.Mnist | None, _: list[Font]) -> Draw:
    """Draw digits. No digit is both a training and a test image."""
    mnist, margin, parts = choose_mnist(mnist), (DIGIT_CANVAS - 28) // 2, []
    for digit in range(10):
        chosen = rng.permutation(np.flatnonzero(mnist.labels == digit))[: MAX_TRAIN + N_TEST]
        images = np.pad(mnist.images[chosen].astype(np.float32) / 255, ((0, 0), (margin, margin), (margin, margin)))
        parts.append(_move(images, maps, rng))
    return _split(np.array(parts), MAX_TRAIN)


def _draw_capitals(rng: np.random.Generator, _: datasets.Mnist | None, fonts: list[Font]) -> Draw:
    """Draw capitals. The fonts of training images are of other groups of families than those of test images."""
    drawn = [_draw_alphabet(font) for font in fonts]
    groups = group_fonts(fonts, drawn)
    if groups.max(initial=0) < 1:
        raise ArgumentValueError("fonts", f"must have fonts of at least two different families, got {len(fonts)} fonts")
    order = rng.permutation(groups.max() + 1)
    seen = np.isin(groups, order[: len(order) // 2])
    parts: list[list[NDArray[np.float32]]] = [[], []]
    for letter in range(26):
        for part, some, n in zip(parts, (np.flatnonzero(seen), np.flatnonzero(~seen)), (MAX_TRAIN, N_TEST // 2)):
            chosen = some[_shuffle(len(some), n, rng)]
            part.append(_move(np.stack([drawn[k][letter] for k in chosen]), "any", rng))
    return Draw(np.array(parts[0]), np.array(parts[1]))


def group_fonts(fonts: list[Font], drawn: list[list[NDArray[np.float32]]]) -> NDArray[np.intp]:
    """Return the group of each font: those of one family, or of families whose capitals are nearly affine copies."""
    from scipy.sparse.csgraph import connected_components

    families = np.array([font.family for font in fonts])
    letters = [[alphabet[k] for alphabet in drawn] for k in range(26)]
    limits = Plausible(reflections=False)
    distances = np.median([affine_distances(same, limits=limits) for same in letters], axis=0)
    near = (families[:, None] == families) | (distances < _ALIKE)
    return np.asarray(connected_components(near, directed=False)[1], np.intp)


def _shuffle(n: int, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return `count` of the numbers below n: all of them in a random order, then all again."""
    return np.concatenate([rng.permutation(n) for _ in range(-(-count // n))])[:count]


def _draw_alphabet(font: Font) -> list[NDArray[np.float32]]:
    """Draw all capitals of a font in the middle of a canvas."""
    letters = []
    for glyph in glyphs(font, [chr(ord("A") + k) for k in range(26)], size=CAPITAL_SIZE):
        canvas = np.zeros((CAPITAL_CANVAS, CAPITAL_CANVAS), np.float32)
        top, left = ((CAPITAL_CANVAS - length) // 2 for length in glyph.shape)
        canvas[top : top + glyph.shape[0], left : left + glyph.shape[1]] = glyph
        letters.append(canvas)
    return letters


def _draw_symbols(rng: np.random.Generator, _: datasets.Mnist | None, __: list[Font]) -> Draw:
    """Draw the twelve symbols, bent, moved and with specks."""
    images, _labels = datasets.few_shot("all", MAX_TRAIN + N_TEST, rng=rng)
    side = images.shape[1] // SYMBOL_SIZE
    small = images.reshape(12, -1, SYMBOL_SIZE, side, SYMBOL_SIZE, side).mean(axis=(3, 5))
    return _split(small, MAX_TRAIN)


def _move(images: NDArray[np.float32], maps: str, rng: np.random.Generator) -> NDArray[np.float32]:
    found: NDArray[np.float32] = move(images, MAPS[maps].maps(len(images), rng), circular=False, stacklevel=None)
    return found


def _split(images: NDArray[np.float32], n_train: int) -> Draw:
    return Draw(images[:, :n_train], images[:, n_train:])


def _digits(maps: str) -> Callable[..., Draw]:
    return lambda *given: _draw_digits(maps, *given)


SETS: dict[str, Callable[[np.random.Generator, datasets.Mnist | None, list[Font]], Draw]] = {
    "digits": _digits("near"),
    "turned digits": _digits("any"),
    "capitals": _draw_capitals,
    "symbols": _draw_symbols,
}

"""How well the lines of two marks lie on each other, once one is moved to the other.

Descriptors see each mark as a whole. Twins, of which one part is elsewhere, and photographs, of which parts are
missing, are told apart by their lines: points of the middle of the lines, each and its nearest on the other mark. The
map of a registration is refined until the points are as near as an affine map brings them (closest points, reweighted).
Paper bends, and wires do: how far apart the lines are is measured once a polynomial has bent the mark a little, too.
"""

from dataclasses import replace
from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels
from radoncdt._typing import Floats
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.registration import Registration

POINTS, SOME, FEW = 1000, 250, 120
"""Of a mark, at most; those of them that are paired with all of the other mark in the end; with each other at first."""
ITERATIONS, LAST = 10, 4
"""With few points, and with more."""
DEGREE, RIDGE = 3, 0.01
"""Of the polynomial by which a mark is bent, and how much that is held back."""
PICTURE_SIDE = 256  # pixels of the longer side of the pictures of ink that a catalogue keeps, at most
MOST = 0.25
"""How far, at most, a point counts as away, in standard deviations of the mark."""
INK = 0.35
"""Of the darkest: what is line, in a picture that may have been reduced."""


class Fit(NamedTuple):
    """A refined map, and how far apart the lines are in the end, on average, in standard deviations of the mark."""

    registration: Registration
    misfit: float


def line_points(ink: NDArray[np.floating], factor: float = 1.0) -> Floats:
    """Points (x, y) of the middle of the lines of an image, in pixels from its centre, each times a factor."""
    from skimage.morphology import skeletonize

    rows, columns = np.nonzero(skeletonize(ink > INK * ink.max()))
    height, width = ink.shape
    points = np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=-1)
    return factor * points[_numbers(points, POINTS)]


def _numbers(points: Floats, most: int) -> NDArray[np.intp]:
    """Of so many of the points, at most, evenly chosen."""
    return np.unique(np.linspace(0, len(points) - 1, min(most, len(points))).astype(np.intp))


def picture_points(picture: bytes, frame: tuple[int, int]) -> Floats:
    """The same of the picture of an entry, in pixels of its ink."""
    ink = picture_ink(picture)
    return line_points(ink, max(frame) / max(ink.shape))


def picture_ink(picture: bytes) -> NDArray[np.float32]:
    """The ink that a picture shows, from 0 to 1. Raises ValueError for what no catalogue stores as a picture."""
    from PIL import Image

    try:
        with Image.open(BytesIO(picture), formats=["PNG"]) as file:
            if not max(file.size) <= PICTURE_SIDE:  # before anything is unpacked
                raise ValueError(f"it must not be larger than {PICTURE_SIDE} pixels, got {file.size}")
            return np.float32(1) - np.asarray(file.convert("L"), np.float32) / np.float32(255)
    except Exception as error:  # Pillow raises errors of many kinds for damaged files
        raise ValueError(str(error)) from error


def refine(registration: Registration, points: Floats, targets: Floats, size: float, plausible: Plausible) -> Fit:
    """The best of the maps of a registration, refined, and how far apart the lines are once the mark is bent, too.

    A refined map that is not plausible, or that mirrors where the first does not, is not taken.
    """
    fit = _kernels.current().fit
    if not len(points) or not len(targets):
        return Fit(replace(registration, alternatives=()), MOST)
    nothing, affine = np.zeros_like(points), np.column_stack([points, np.ones(len(points))])
    few, few_targets = _numbers(points, FEW), targets[_numbers(targets, FEW)]
    every, every_target = np.arange(len(few)), np.arange(len(few_targets))
    tried = []
    for each in (registration, *registration.alternatives):
        map_ = np.vstack([each.matrix.T, each.shift])
        of_few = nothing[few], affine[few], every, few_targets, every_target
        map_, misfit = fit(*of_few, ridge=np.zeros(3), coefficients=map_, size=size, most=MOST, iterations=ITERATIONS)
        tried.append((misfit, each, map_))
    _, first, map_ = min(tried, key=lambda trial: trial[0])
    some = _numbers(points, SOME), targets, _numbers(targets, SOME)
    map_, _ = fit(nothing, affine, *some, ridge=np.zeros(3), coefficients=map_, size=size, most=MOST, iterations=LAST)
    better = replace(first, matrix=map_[:2].T.copy(), shift=map_[2].copy(), alternatives=())
    if (np.linalg.det(better.matrix) < 0) != first.mirrored or not plausible.admits(better):
        better = replace(first, alternatives=())
    moved = points @ better.matrix.T + better.shift
    terms, ridge = _bends(points)
    flat = np.zeros((len(ridge), 2))
    _, misfit = fit(moved, terms, *some, ridge=ridge, coefficients=flat, size=size, most=MOST, iterations=LAST)
    return Fit(better, misfit)


def _bends(points: Floats) -> tuple[Floats, Floats]:
    """Products of powers of the coordinates, in units of their spread, and how much each is held back."""
    x, y = ((points - points.mean(axis=0)) / (1.5 * points.std(axis=0) + 1e-9)).T
    powers = [(i, degree - i) for degree in range(DEGREE + 1) for i in range(degree + 1)]
    ridge = np.array([RIDGE if i + j > 1 else 0.0 for i, j in powers])
    return np.column_stack([x**i * y**j for i, j in powers]), ridge

"""Fitting the lines of one mark to those of another, and the misfit that remains.

Descriptors describe a mark as a whole. Line fits tell apart near-twins, which differ in one part, and work for
photographs with missing parts. Points on the centre lines of both marks are paired with their nearest neighbours, and
the affine map of a registration is refined by iteratively reweighted closest points. Paper and wires bend, so the
misfit is measured after a smooth polynomial has bent the mark a little.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _kernels
from radoncdt._extras import require
from radoncdt._thumbnails import read_thumbnail
from radoncdt._typing import Floats
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.registration import Registration

__all__ = ["LineFit", "find_line_points", "find_thumbnail_points", "fit_lines"]

_MAX_POINTS = 1000  # points per mark
_FIRST_POINTS = 120  # points of both marks that are paired while all maps of a registration are compared
_FINAL_POINTS = 250  # points of each mark that are paired with all points of the other in the final fits
_FIRST_ITERATIONS, _FINAL_ITERATIONS = 10, 4  # iterations with the first and with the final points
_BEND_DEGREE, _BEND_RIDGE = 3, 0.01  # degree of the bending polynomial and its ridge penalty
_MAX_GAP = 0.25  # distance at which the distance of a pair is clipped, in standard deviations of the mark
_INK_LEVEL = 0.35  # minimum grey value of a line, as a share of the maximum; thumbnails blur lines


class LineFit(NamedTuple):
    """A refined map, and the mean distance of the lines in standard deviations of the mark."""

    registration: Registration
    misfit: float


def find_line_points(ink: NDArray[np.floating], factor: float = 1.0) -> Floats:
    """Return points (x, y) on the centre lines of an image, in pixels from its centre, times a factor."""
    morphology = require("skimage.morphology", "finding the lines of a mark")
    rows, columns = np.nonzero(morphology.skeletonize(ink > _INK_LEVEL * ink.max()))
    height, width = ink.shape
    points = np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=-1)
    return factor * points[_choose_evenly(points, _MAX_POINTS)]


def find_thumbnail_points(thumbnail: bytes, frame: tuple[int, int]) -> Floats:
    """Return points on the centre lines of an entry in pixels of its ink image, whose shape (H, W) is `frame`."""
    ink = read_thumbnail(thumbnail)
    return find_line_points(ink, max(frame) / max(ink.shape))


def _choose_evenly(points: Floats, n_points: int) -> NDArray[np.intp]:
    """Return indices of at most `n_points` points, evenly spread."""
    return np.unique(np.linspace(0, len(points) - 1, min(n_points, len(points))).astype(np.intp))


def fit_lines(
    registration: Registration,
    points: Floats,
    targets: Floats,
    size: float,
    limits: Plausible,
    penalties: Sequence[float] | None = None,
) -> LineFit:
    """Refine the best map of a registration, and measure the misfit after bending.

    `points` and `targets` (n, 2) lie on the lines of the moving and of the fixed mark. `size` is the standard deviation
    of the fixed mark in pixels. A refined map that is not plausible, or is mirrored while the first map is not, is
    discarded. The best of the maps, the first and its alternatives, has the smallest misfit, to which its penalty is
    added; by default there are no penalties.
    """
    if not len(points) or not len(targets):
        return LineFit(replace(registration, alternatives=()), _MAX_GAP)
    fit = partial(_kernels.current().fit, size=size, most=_MAX_GAP)
    nothing, affine = np.zeros_like(points), np.column_stack([points, np.ones(len(points))])
    few, few_targets = _choose_evenly(points, _FIRST_POINTS), targets[_choose_evenly(targets, _FIRST_POINTS)]
    first = nothing[few], affine[few], np.arange(len(few)), few_targets, np.arange(len(few_targets))
    tried = []
    maps = registration, *registration.alternatives
    for each, penalty in zip(maps, np.zeros(len(maps)) if penalties is None else penalties):
        map_ = np.vstack([each.matrix.T, each.shift])
        map_, misfit = fit(*first, ridge=np.zeros(3), coefficients=map_, iterations=_FIRST_ITERATIONS)
        tried.append((misfit + penalty, each, map_))
    _, start, map_ = min(tried, key=lambda trial: trial[0])
    final = _choose_evenly(points, _FINAL_POINTS), targets, _choose_evenly(targets, _FINAL_POINTS)
    fit = partial(fit, iterations=_FINAL_ITERATIONS)
    map_, _ = fit(nothing, affine, *final, ridge=np.zeros(3), coefficients=map_)
    better = replace(start, matrix=map_[:2].T.copy(), shift=map_[2].copy(), alternatives=())
    if (np.linalg.det(better.matrix) < 0) != start.mirrored or not limits.admits(better):
        better = replace(start, alternatives=())
    moved = points @ better.matrix.T + better.shift
    terms, ridge = _make_bending_terms(points)
    _, misfit = fit(moved, terms, *final, ridge=ridge, coefficients=np.zeros((len(ridge), 2)))
    return LineFit(better, misfit)


def _make_bending_terms(points: Floats) -> tuple[Floats, Floats]:
    """Return monomials of the standardised coordinates (n, terms), and the ridge penalty of each term."""
    x, y = ((points - points.mean(axis=0)) / (1.5 * points.std(axis=0) + 1e-9)).T
    powers = [(i, degree - i) for degree in range(_BEND_DEGREE + 1) for i in range(degree + 1)]
    ridge = np.array([_BEND_RIDGE if i + j > 1 else 0.0 for i, j in powers])
    return np.column_stack([x**i * y**j for i, j in powers]), ridge

"""Projections of images, and back projections, by lines of pixels.

A pixel is a unit square. Its projection on (cos θ, sin θ), divided by the larger of the two in size, is the trapezoid
box(1) ∗ box(|q|) with a slope |q| ≤ 1. Along a *line* of pixels (a row where |cos θ| ≥ |sin θ|, else a column)
neighbours are one bin apart, so all pixels have the same position relative to the bins and share three weights. The
projection of a line is therefore a three-tap filter of its pixels, added at an offset. From line to line, the offset
moves by q.

Sums are computed by `np.einsum` and `np.bincount`, not by BLAS, whose rounding may depend on the number of threads.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from radoncdt._typing import Floats

__all__ = ["Strips", "Sweep", "make_sweep", "project", "smear"]

FEW = 2**17
"""Number of elements of a temporary array, 1 MB, that is acceptable for any image."""

PIXEL_COST = 10
"""Adding a single pixel takes as long as adding this many elements of shifted lines (measured)."""

DIAGONAL = 1e-12
"""A direction is on a diagonal if the absolute values of its cosine and sine differ by at most this."""


class Sweep(NamedTuple):
    """Directions relative to lines of pixels; arrays (n_angles,)."""

    cosines: Floats
    sines: Floats
    along: Floats
    """The signed width of a bin: the step from one pixel of a line to the next."""
    slopes: Floats
    """Number of bins by which the projection moves from one line to the next."""
    by_rows: NDArray[np.bool_]
    """Whether the lines are rows, from the top down, and not columns, from left to right and each upwards."""


def make_sweep(cosines: Floats, sines: Floats) -> Sweep:
    """Choose rows or columns for every direction, whichever is closer.

    On a diagonal, both are equally close. Rows take one diagonal and columns the other, so that neither rounding nor a
    reversal changes the choice.
    """
    excess = np.abs(cosines) - np.abs(sines)
    by_rows = np.where(np.abs(excess) <= DIAGONAL, cosines * sines > 0, excess > 0)
    along = np.where(by_rows, cosines, sines)
    across = np.where(by_rows, -sines, cosines)
    return Sweep(cosines, sines, along, np.clip(across / along, -1.0, 1.0), by_rows)


def _compute_taps(slopes: Floats, starts: Floats, n_lines: int) -> tuple[NDArray[np.int64], Floats]:
    """Compute the first bin (n, n_lines) and the weights w₀, w₁, w₂ (n, 3, n_lines) of every line, for n directions.

    The weights are the masses of the trapezoid box(1) ∗ box(|q|) in three bins. If 0 ≤ z < 1 is the distance from the
    left end of the trapezoid to the next edge,

        w₂ = max(|q| − z, 0)² / 2|q|,    w₀ = z − |q|/2 + w₂,    w₁ = 1 − w₀ − w₂.

    `starts` (n,) are the positions, in bins, of the left edge of pixel 0 of the middle line.
    """
    width = np.abs(slopes)[:, None]
    left = slopes[:, None] * (np.arange(n_lines) - 0.5 * (n_lines - 1)) + (starts[:, None] - 0.5 * width)
    first = np.ceil(left) - 1.0
    z = 1.0 - (left - first)
    curvature = np.where(width > 1e-30, 0.5 / np.maximum(width, 1e-30), 0.0)  # for smaller slopes, w₂ is 0
    third = np.maximum(width - z, 0.0) ** 2 * curvature
    w0 = np.maximum(z - 0.5 * width + third, 0.0)
    return first.astype(np.int64), np.stack([w0, 1.0 - w0 - third, third], axis=1)


class Strips(NamedTuple):
    """Projections of a box on some directions."""

    directions: NDArray[np.intp]
    """Indices of the directions (n,)."""
    masses: Floats
    """Masses of the bins (n, n_bins), in ascending order along the direction."""
    middles: Floats
    """Positions (n,), in bins, of the centre of the box."""
    length: int
    """Number of pixels of a line."""


def project(pixels: Floats, sweep: Sweep) -> Iterator[Strips]:
    """Project a box of pixels on all directions, some at a time."""
    for by_rows in (True, False):
        lines = pixels if by_rows else np.ascontiguousarray(pixels[::-1].T)
        members = np.flatnonzero(sweep.by_rows == by_rows)
        n_lines, length = lines.shape
        widest = length + 2 * _reach(np.ones(1), n_lines)
        ink = np.nonzero(lines)
        # Shifted lines of a drawing are mostly zeros, and those of an image with short lines take much more memory.
        room = max(FEW, 8 * pixels.size)
        one_by_one = PIXEL_COST * ink[0].size < n_lines * (length + widest) // 2 or (n_lines + 1) * widest > room
        if one_by_one:
            values, at_once = lines[ink], max(1, FEW // (3 * max(ink[0].size, n_lines, widest)))
        else:
            padded, at_once = np.zeros((n_lines + 1, widest)), max(1, room // (n_lines * widest))
            padded[1:, :length] = lines
        for some in (members[k : k + at_once] for k in range(0, members.size, at_once)):
            slopes = sweep.slopes[some]
            reach = _reach(slopes, n_lines)
            first, weights = _compute_taps(slopes, np.zeros(some.size), n_lines)
            first += reach  # after rounding, so that a direction does not depend on the others of its block
            width = length + 2 * reach
            if one_by_one:
                sums = _add_pixels(values, ink, first, weights, width)
            else:
                sums = _add_lines(padded, first, weights, width)
            masses = np.zeros((some.size, width + 2))
            for k in range(3):
                masses[:, k : k + width] += sums[:, k]
            middles = np.full(some.size, reach + 0.5 * length)
            mirrored = sweep.along[some] < 0
            masses[mirrored] = masses[mirrored, ::-1]
            middles[mirrored] = width + 2 - middles[mirrored]
            yield Strips(some, masses, middles, length)


def _reach(slopes: Floats, n_lines: int) -> int:
    """Largest shift of a line from the middle, in whole bins, plus one bin to allow for rounding."""
    return int(np.ceil(0.5 * np.abs(slopes).max() * n_lines)) + 1


def _add_lines(padded: Floats, first: NDArray[np.int64], weights: Floats, width: int) -> Floats:
    """Add up the shifted lines with each of their three weights: sums (n, 3, width).

    `padded` has zeros before and after every line, so that a shifted line is a window of it.
    """
    n_lines, pitch = len(padded) - 1, padded.shape[1]
    windows = sliding_window_view(padded.reshape(-1), width)
    shifted = windows[np.arange(1, n_lines + 1) * pitch - first]
    sums: Floats = np.einsum("dkl,dlb->dkb", weights, shifted)
    return sums


def _add_pixels(
    values: Floats,
    ink: tuple[NDArray[np.intp], ...],
    first: NDArray[np.int64],
    weights: Floats,
    width: int,
) -> Floats:
    """Compute the sums of `_add_lines` from single pixels: their values and places `ink` (line, place in the line)."""
    line, place = ink
    bins = first[:, line] + (place + width * np.arange(len(first))[:, None])
    shares = (weights[:, k][:, line] * values for k in range(3))
    sums = [np.bincount(bins.ravel(), share.ravel(), len(first) * width) for share in shares]
    return np.stack([each.reshape(-1, width) for each in sums], axis=1)


def smear(values: NDArray[Any], centres: Floats, sweep: Sweep, shape: tuple[int, int]) -> Floats:
    """Adjoint of the projections: an image of the given shape from values (n_angles, n_bins).

    `centres` (n_angles,) are the positions, in bins, of the centre of the image.
    """
    image, n_bins = np.zeros(shape), values.shape[1]
    for by_rows in (True, False):
        view = image if by_rows else image[::-1].T
        n_lines, length = view.shape
        lines = np.zeros(view.shape)
        margin = length + 2  # length of a line and its filter
        padded = np.zeros(n_bins + 2 * margin)
        for w in np.flatnonzero(sweep.by_rows == by_rows):
            mirrored = sweep.along[w] < 0
            padded[margin:-margin] = values[w, ::-1] if mirrored else values[w]
            centre = n_bins - centres[w] if mirrored else centres[w]
            first, weights = _compute_taps(sweep.slopes[w : w + 1], np.array([centre - 0.5 * length]), n_lines)
            seen = sliding_window_view(padded, margin)[np.clip(first[0] + margin, 0, n_bins + margin)]
            w0, w1, w2 = weights[0, :, :, None]
            lines += w0 * seen[:, :-2] + w1 * seen[:, 1:-1] + w2 * seen[:, 2:]
        view += lines
    return image

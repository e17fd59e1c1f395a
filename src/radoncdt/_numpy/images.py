"""Moments, projections and quantiles of images."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._geometry import whiten_directions
from radoncdt._interface import NOT_FINITE, UNSETTLED, Images, precision
from radoncdt._numpy.boxes import Box, find_boxes, precision_of
from radoncdt._numpy.moments import PIXEL_VARIANCE, collect_ink, compute_box_moments, student_moments
from radoncdt._numpy.projections import Sweep, make_sweep, project, smear
from radoncdt._numpy.quantiles import find_crossings
from radoncdt._typing import Floats

__all__ = ["back_project", "image_masses", "image_moments", "image_quantiles"]


def image_moments(images: Images) -> tuple[Floats, NDArray[np.int64]]:
    """Mean (x, y) and covariance (xx, xy, yy), (n, 5), and the status (n,); zeros where that is not 0."""
    out, status = np.zeros((len(images), 5)), np.empty(len(images), np.int64)
    for n, box in enumerate(find_boxes(images)):
        status[n] = box.status
        if box.status == 0:
            out[n] = compute_box_moments(box.pixels)
            out[n, :2] += box.x, box.y
    return out, status


def image_masses(
    images: Images, cosines: Floats, sines: Floats, n_bins: int
) -> tuple[NDArray[Any], Floats, NDArray[np.int64]]:
    """Masses of the strips (n, n_angles, n_bins), the positions of the centres (n, n_angles), and the status (n,).

    The bins are aligned with the box of the ink: (n_bins − length) // 2 bins come before those of the middle line,
    which has `length` pixels.
    """
    sweep = make_sweep(cosines, sines)
    out = np.zeros((len(images), cosines.size, n_bins), precision_of(images))
    origins, status = np.zeros((len(images), cosines.size)), np.empty(len(images), np.int64)
    for n, box in enumerate(find_boxes(images)):
        status[n] = box.status
        if box.status & NOT_FINITE:
            continue
        offsets = (sweep.cosines * box.x + sweep.sines * box.y) / np.abs(sweep.along)
        for some in project(box.pixels, sweep):
            middle = (n_bins - some.length) // 2 + 0.5 * some.length
            middles = np.where(sweep.along[some.directions] < 0, n_bins - middle, middle)
            origins[n, some.directions] = middles - offsets[some.directions]
            with np.errstate(over="ignore"):  # the caller detects masses that are not finite
                masses = np.ldexp(some.masses, box.exponent).astype(out.dtype)
            for w, row, shift in zip(some.directions, masses, (middles - some.middles).astype(int)):
                first, last = max(0, -shift), min(row.size, n_bins - shift)
                out[n, w, first + shift : last + shift] = row[first:last]
    return out, origins, status


def image_quantiles(
    images: Images,
    cosines: Floats,
    sines: Floats,
    levels: Floats,
    *,
    normalise: bool = False,
    whiten: bool = False,
    nu: float = 0.0,
    extremes: bool = False,
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Quantiles of all projections (n, n_angles, n_levels) or their extremes (n, 2, n_levels), moments and status.

    Undefined quantiles are 0, and so are the moments if they are not needed.
    """
    n_images, sweep = len(images), make_sweep(cosines, sines)
    out = np.zeros((n_images, 2 if extremes else cosines.size, levels.size))
    moments, status = np.zeros((n_images, 5)), np.empty(n_images, np.int64)
    for n, box in enumerate(find_boxes(images)):
        status[n] = box.status
        if box.status != 0:
            continue
        if normalise or whiten:
            moments[n] = compute_box_moments(box.pixels)
            if nu > 0:
                moments[n], settled = student_moments(collect_ink(box.pixels), nu, PIXEL_VARIANCE, moments[n])
                status[n] |= 0 if settled else UNSETTLED
        seen = (
            make_sweep(*whiten_directions(cosines, sines, moments[n, [2, 3, 3, 4]].reshape(2, 2))) if whiten else sweep
        )
        values = _compute_box_quantiles(box, seen, levels, moments[n] if normalise else None)
        moments[n, :2] += box.x, box.y
        if extremes:  # the opposite direction has −N(1 − t)
            out[n, 0] = np.maximum(values.max(axis=0), -values.min(axis=0)[::-1])
            out[n, 1] = -out[n, 0, ::-1]
        else:
            out[n] = values
    return out, moments, status


def _compute_box_quantiles(box: Box, sweep: Sweep, levels: Floats, moments: Floats | None) -> Floats:
    """Compute the quantiles (n_angles, n_levels) of a box, in pixels from the centre of the image or normalised."""
    values = np.empty((sweep.along.size, levels.size))
    for some in project(box.pixels, sweep):
        bins, parts = find_crossings(some.masses, levels)
        # bins − middles is exact, so that a direction does not depend on the others of its block
        values[some.directions] = (bins - some.middles[:, None]) + parts
    values *= np.abs(sweep.along)[:, None]
    c, s = sweep.cosines[:, None], sweep.sines[:, None]
    if moments is None:
        values += c * box.x + s * box.y
    else:
        x, y, xx, xy, yy = moments
        values -= c * x + s * y
        values /= np.sqrt(c * c * xx + 2 * c * s * xy + s * s * yy)
    return values


def back_project(
    values: NDArray[Any], centres: Floats, cosines: Floats, sines: Floats, shape: tuple[int, int]
) -> NDArray[Any]:
    """Adjoint of the projections: an image of the given shape from values (n_angles, n_bins)."""
    with np.errstate(over="ignore", invalid="ignore"):  # the caller detects sums that are not finite
        return smear(values, centres, make_sweep(cosines, sines), shape).astype(precision(values.dtype))

"""Drawings with even ink: thick strokes and dense parts get less mass, thin strokes and sparse parts more.

The covariance of a drawing, and so every distance after normalisation, depends on where its strokes are thick. Two
typefaces draw the same character with the same strokes, but not with the same thickness. Dividing an image by its own
blur removes most of this difference: where a stroke is narrower than the blur, the blurred value is proportional to its
thickness. The blur is a Gaussian with the covariance of the drawing, times `width` squared, so affine maps of the
drawing lead to the same maps of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radoncdt import _threads, _validation
from radoncdt._bright_paper import read_measures
from radoncdt._geometry import ink_box
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentTypeError
from radoncdt.matching.frames import blur_gaussian
from radoncdt.measures import PointCloud, covariance

__all__ = ["even_ink"]

_FLOOR = 0.01  # share of the largest blurred value; fainter pixels are amplified as if they had it
_WORK = 200  # cost of a pixel, in the units of `_threads`


@overload
def even_ink(
    images: Sequence[ArrayLike], /, *, width: float = ..., rounds: int = ..., n_jobs: int | None = ...
) -> list[NDArray[np.float32]]: ...
@overload
def even_ink(
    images: NDArray[Any], /, *, width: float = ..., rounds: int = ..., n_jobs: int | None = ...
) -> NDArray[np.float32]: ...
def even_ink(images: Any, /, *, width: float = 0.4, rounds: int = 2, n_jobs: int | None = -1) -> Any:
    """Even out the ink of drawings, so that strokes of different thickness weigh about the same.

    Each image is divided by its own blur, that is, by the local density of ink. The blur is a Gaussian with the
    covariance of the drawing, times `width` squared. It moves with the image under affine maps, so the result is as
    invariant as the image was. Describe and compare the results instead of the images if characters of many strokes,
    such as Chinese ones, are drawn in different typefaces or with different pens.

    Ends of strokes, serifs and specks become heavier, too. Characters of few strokes, such as Latin capitals, are
    therefore recognised less well, and so are images with specks or grey backgrounds.

    Parameters
    ----------
    images : array (H, W) or (…, H, W), or list of images
        Drawings: bright ink, and zeros elsewhere.
    width : float, default 0.4
        Standard deviation of the blur, in standard deviations of the drawing, above 0 and at most 3. It should be
        larger than the thickness of the strokes.
    rounds : int, default 2
        How many times an image is divided by its own blur; each time the result of the last one is taken.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn: −1 means all cores, and None usually means one. The result does not
        depend on it.

    Returns
    -------
    float32 array, or list of float32 arrays
        An array for an array, and a list for a list. Each result has the shape of its image, and its largest value is
        1.

    Raises
    ------
    TypeError
        If an image is a PointCloud, or an argument has the wrong type.
    ValueError
        If an image has negative mass, no mass or values that are not finite, or if an option is out of range.

    Warns
    -----
    UserWarning
        If most of the mass of an image is bright paper around dark ink. `radoncdt.ink.find_ink` turns such an image
        into a measure.

    See Also
    --------
    radoncdt.describe : Describes the results.
    radoncdt.affine_distances : Compares the results.

    Examples
    --------
    >>> from radoncdt.matching import even_ink
    >>> upright, level = np.zeros((60, 60)), np.zeros((60, 60))
    >>> upright[:, 26:34] = upright[28:30] = upright[10:12, 30:] = 1  # thick vertical strokes
    >>> level[:, 29:31] = level[26:32] = level[8:14, 30:] = 1  # thick horizontal strokes
    >>> plain = affine_distances([upright], [level])
    >>> even = affine_distances(even_ink([upright]), even_ink([level]))
    >>> bool(even[0, 0] < 0.3 * plain[0, 0])
    True
    """
    _validation.check_number(width, "width", "a number above 0 and at most 3", lambda x: 0 < x <= 3)
    _validation.check_count(rounds, "rounds", 1)
    batch = read_measures(images)
    evened: list[NDArray[np.float32]] = [None] * len(batch)  # type: ignore[list-item]
    for i, item in enumerate(batch.items):
        if isinstance(item, PointCloud):
            raise ArgumentTypeError(batch.label(i), "must be an image, got a PointCloud, which has no strokes")
        batch.check_measure(i)

    def work(i: int) -> None:
        evened[i] = _even(batch.items[i], float(width), rounds)

    workers = _threads.count_workers(n_jobs, _WORK * rounds * batch.work())
    _threads.for_each(work, range(len(batch)), workers)
    if not isinstance(batch.items, np.ndarray):
        return evened
    return np.array(evened, np.float32).reshape(*batch.lead, *batch.items.shape[-2:])


def _even(image: NDArray[Any], width: float, rounds: int) -> NDArray[np.float32]:
    box = ink_box(image)
    ink: Floats = image[box].astype(np.float64)
    ink /= ink.max()
    for _ in range(rounds):
        spread = width**2 * covariance(ink)
        margin = int(np.ceil(3 * np.sqrt(np.linalg.eigvalsh(spread)[1])))  # on one side, because the blur is periodic
        blurred = blur_gaussian(np.pad(ink, ((0, margin), (0, margin))), spread)[: ink.shape[0], : ink.shape[1]]
        ink = np.where(ink > 0, ink / np.maximum(blurred, _FLOOR * blurred.max()), 0)
        ink /= ink.max()
    evened = np.zeros(image.shape, np.float32)
    evened[box] = ink
    return evened

"""Ranking of entries by their score, and the prominence of a match.

The score of an entry is the misfit of its lines plus a share of the distance of its descriptor. Among the entries
nearest to a query, a match is prominent if its score is small compared with the others:

    prominence = (median of the scores of the `N_NEAREST` nearest entries) / (score of the match).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._typing import Floats
from radoncdt.catalogue import records
from radoncdt.catalogue.line_fit import LineFit, find_thumbnail_points, fit_lines
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.descriptors import Descriptors
from radoncdt.matching.plausible import Plausible

__all__ = ["DEFAULT_LIMITS", "MIN_FITTED", "N_NEAREST", "Shape", "compute_prominence", "score_entries"]

N_NEAREST = 11  # entries of the median score; a few entries of the same mark do not change the median of 11 scores
MIN_FITTED = 20  # nearest entries whose lines are fitted at least; the best of them is nearly always the best of all

DEFAULT_LIMITS = Plausible(max_aspect=4.0, max_shear=60.0)
"""The maps that a search admits by default. Photographs are not more oblique."""

_DISTANCE_WEIGHT = 0.25  # weight of the descriptor distance in the score
_FIT_WORK = 16_000_000  # work of one line fit, in the units of `_threads`


class Shape(NamedTuple):
    """The shape of a mark."""

    descriptor: Descriptors
    points: Floats
    """Points (n, 2) on its centre lines."""


def score_entries(
    snapshot: Snapshot,
    query: Shape,
    limits: Plausible,
    distances: Floats,
    numbers: NDArray[np.int64],
    n_jobs: int | None,
) -> tuple[list[LineFit], Floats]:
    """Fit the lines of a query to some entries at given distances, and return the fits and the scores."""
    order = np.argsort(numbers)
    entries, thumbnails = snapshot.descriptors(numbers[order]), snapshot.thumbnails(numbers.tolist())
    moving = query.descriptor.astype(np.float32)
    fits: list[Any] = [None] * len(numbers)

    def fit(k: int) -> None:
        entry = entries[k]
        registration = find_registration(moving, entry, limits, n_jobs=1)
        height, width = entry.frames[0].tolist()
        size = float(np.linalg.det(entry.covariances[0]) ** 0.25)
        number = int(numbers[order[k]])
        try:
            targets = find_thumbnail_points(thumbnails[number], (height, width))
        except ValueError as error:
            problem = f"its thumbnail cannot be read: {error}"
            raise snapshot.damage_error(records.THUMBNAILS, number, problem) from error
        fits[order[k]] = fit_lines(registration, query.points, targets, size, limits)

    _threads.for_each(fit, range(len(numbers)), _threads.n_workers(n_jobs, _FIT_WORK * len(numbers)))
    return fits, np.array([fit.misfit for fit in fits]) + _DISTANCE_WEIGHT * distances


def compute_prominence(score: float, scores: Floats) -> float:
    """Return the prominence of a match, given the scores of the nearest entries in the order of their distance."""
    return float(np.median(scores[:N_NEAREST])) / max(score, 1e-9)

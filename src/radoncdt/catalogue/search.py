"""Searching a catalogue for the mark in an image.

The entries with the nearest descriptors are ranked by their score, the misfit of their lines plus a quarter of the
distance of their descriptors. A match is prominent if its score is small compared with those of the nearest entries:

    prominence = (median of the scores of the `N_NEAREST` nearest entries) / (score of the match).

With a prior, the penalty of the map is part of the distance: it decides which entries are nearest, it is part of the
score, and it decides between several maps to one entry.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._geometry import ink_box
from radoncdt._text import escape_unprintable
from radoncdt._typing import Floats
from radoncdt._validation import find_stacklevel
from radoncdt.catalogue import schema
from radoncdt.catalogue.index import StoredIndex
from radoncdt.catalogue.line_fit import LineFit, find_line_points, find_thumbnail_points, fit_lines
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.ink import InkOptions, find_ink, read_ink
from radoncdt.ink.extraction import assess_ink
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.descriptors import Descriptors, describe_batch
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior
from radoncdt.matching.registration import Registration
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.matching.turns import penalise_map
from radoncdt.measures import Batch

__all__ = [
    "DEFAULT_LIMITS",
    "MIN_FITTED",
    "N_NEAREST",
    "Match",
    "PValue",
    "Query",
    "SearchOptions",
    "SearchResult",
    "Shape",
    "compute_prominence",
    "find_matches",
    "read_query",
    "score_entries",
]

_Numbers = NDArray[np.int64]

DEFAULT_LIMITS = Plausible(max_aspect=4.0, max_shear=60.0)
"""The maps that a search admits by default; photographs are not more oblique.

The scale factors differ by a factor of at most 4, and the shear is at most 60°.
"""

N_NEAREST = 11  # entries of the median score; a few entries of the same mark do not change the median of 11 scores
MIN_FITTED = 20  # nearest entries whose lines are fitted at least; the best of them is nearly always the best of all
_N_MORE = 10  # entries beyond those that are returned whose lines are fitted
_DISTANCE_WEIGHT = 0.25  # weight of the descriptor distance in the score
_FIT_WORK = 16_000_000  # work of one line fit, in the units of `_threads`
_SIZES_BLOCK = 1024  # entries whose sizes are read at a time
_SIZE_RATIO = 1.25  # largest ratio of two sizes that count as equal; marks are measured by hand, and paper shrinks


class Shape(NamedTuple):
    """The shape of a mark."""

    descriptor: Descriptors
    points: Floats  # points (n, 2) on its centre lines


class Query(NamedTuple):
    """The image that is searched for."""

    name: str
    file: str | None  # None for an array
    ink: NDArray[np.float32]
    shape: Shape


class SearchOptions(NamedTuple):
    """Which entries a search may return, how many, and the number of threads."""

    top: int
    among: _Numbers | None  # numbers of the entries to search; None means all
    limits: Plausible
    prior: MapPrior
    size_mm: tuple[float, float] | None
    n_jobs: int | None


class Match(NamedTuple):
    """An entry that was found, and the map that leads to it.

    Parameters
    ----------
    rank : int
        The place among the matches, from 1.
    entry : int
        The number of the entry.
    file : str
        The name of the image file of the entry.
    score : float
        The score by which matches are sorted: the misfit plus a quarter of the distance.
    distance : float
        Distance of the descriptors: 0 for copies, about 0.15 for unrelated marks. With a prior, it is the square root
        of the squared distance plus the penalty of the map.
    misfit : float
        Mean distance of the lines, in standard deviations of the mark.
    p_value : float or None
        How often a catalogue without this mark would yield a best match at least as prominent. None if the catalogue is
        not calibrated for the search, or if plausible maps reach fewer than 11 entries.
    registration : Registration
        The map from the ink of the query to the ink of the entry.
    metadata : dict
        The metadata of the entry by column, without missing values.

    See Also
    --------
    SearchResult : All matches of a query.

    Examples
    --------
    With the catalogue in the example of `Catalogue`:

    >>> match = catalogue.search("query.png").matches[0]
    >>> match.rank, match.file, match.p_value
    (1, 'tracings/star8.png', None)
    """

    rank: int
    entry: int
    file: str
    score: float
    distance: float
    misfit: float
    p_value: float | None
    registration: Registration
    metadata: dict[str, Any]


class SearchResult(NamedTuple):
    """The matches of a query: the result of `Catalogue.search`.

    Parameters
    ----------
    query : Query
        The image that is searched for, with its `name`, its `file` (None for an array) and its `ink`.
    matches : tuple of Match
        The entries that match best, the best one first.
    searched : int
        Number of entries that the conditions admitted.
    compared : int
        Number of entries whose descriptors were compared with the query; the others cannot be among the nearest.
    thumbnails : dict of int to bytes
        The thumbnail of each match by the number of its entry, a PNG file.
    calibrated : bool
        Whether the catalogue is calibrated for the search. If not, as for every search with a prior, the matches have
        no p-values.

    See Also
    --------
    Match : One entry that was found.
    Catalogue : The catalogue, which can be searched.

    Examples
    --------
    With the catalogue in the example of `Catalogue`:

    >>> found = catalogue.search("query.png")
    >>> found.query.name, found.matches[0].file, found.searched, found.calibrated
    ('query.png', 'tracings/star8.png', 2, False)
    """

    query: Query
    matches: tuple[Match, ...]
    searched: int
    compared: int
    thumbnails: dict[int, bytes]
    calibrated: bool

    def __repr__(self) -> str:
        return f"SearchResult({self.query.name!r}: {len(self.matches)} matches among {self.searched:,} entries)"


def read_query(image: Any, ink: dict[str, Any], settings: DescriptorSettings, n_jobs: int | None) -> Query:
    """Read an image file or an array to search for."""
    is_file = isinstance(image, (str, os.PathLike))
    name = escape_unprintable(image) if is_file else "image"
    found = read_ink(image, **ink) if is_file else find_ink(image, **ink)
    if warning := assess_ink(found, InkOptions(**ink)):
        warnings.warn(f"{name}: {warning}", stacklevel=find_stacklevel())
    shape = Shape(describe_batch(Batch.read(found), settings, n_jobs), find_line_points(found))
    return Query(name, os.fspath(image) if is_file else None, found, shape)


PValue = Callable[[float], float | None]
"""Returns the p-value of a match, given its prominence."""


def find_matches(
    snapshot: Snapshot, index: StoredIndex, query: Query, options: SearchOptions, p_value: PValue | None
) -> SearchResult:
    """Return the best entries for a query, with the maps that lead to them.

    `p_value` is None if the catalogue is not calibrated for the search.
    """
    top, among, limits, prior, size_mm, n_jobs = options
    if size_mm is not None:
        sizes = _select_by_size(snapshot, index, query, size_mm)
        among = sizes if among is None else np.intersect1d(among, sizes)
    n_admitted = len(index.numbers) if among is None else int(np.isin(among, index.numbers).sum())
    distances, numbers, n_compared = index.find_nearest(
        snapshot,
        query.shape.descriptor,
        max(top + _N_MORE, MIN_FITTED),
        among=among,
        limits=limits,
        prior=prior,
        n_jobs=n_jobs,
    )
    fits, distances, scores = score_entries(snapshot, query.shape, limits, distances, numbers, n_jobs, prior=prior)
    best = np.argsort(scores, kind="stable")[:top].tolist()
    chosen = numbers[best].tolist()
    entries = {entry.id: entry for entry in snapshot.entries(chosen)}
    metadata = snapshot.metadata(chosen)

    def make_match(rank: int, k: int) -> Match:
        number, score, (registration, misfit) = int(numbers[k]), float(scores[k]), fits[k]
        p = None if p_value is None or len(numbers) < N_NEAREST else p_value(compute_prominence(score, scores))
        values = {name: value for name, value in metadata[number].items() if value is not None}
        file, distance = entries[number].file, float(distances[k])
        return Match(rank, number, file, score, distance, misfit, p, registration, values)

    matches = tuple(make_match(rank, k) for rank, k in enumerate(best, 1))
    return SearchResult(query, matches, n_admitted, n_compared, snapshot.thumbnails(chosen), p_value is not None)


def score_entries(
    snapshot: Snapshot,
    query: Shape,
    limits: Plausible,
    distances: Floats,
    numbers: _Numbers,
    n_jobs: int | None,
    *,
    prior: MapPrior = PRIORS["any"],
) -> tuple[list[LineFit], Floats, Floats]:
    """Fit the lines of a query to some entries at given distances, and return the fits, the distances and the scores.

    With a prior, the distances that are returned contain the penalties of the maps that fit best.
    """
    order = np.argsort(numbers)
    entries, thumbnails = snapshot.descriptors(numbers[order]), snapshot.thumbnails(numbers.tolist())
    moving = query.descriptor.astype(np.float32)
    fits: list[Any] = [None] * len(numbers)

    def fit(k: int) -> None:
        entry, number = entries[k], int(numbers[order[k]])
        height, width = entry.frames[0].tolist()
        try:
            targets = find_thumbnail_points(thumbnails[number], (height, width))
        except ValueError as error:
            raise snapshot.damage_error(schema.THUMBNAILS, number, str(error)) from error
        registration = find_registration(moving, entry, limits, prior=prior, n_jobs=1)
        size = float(entry.sizes[0])
        penalties = [_compute_penalty(each, prior) for each in (registration, *registration.alternatives)]
        fits[order[k]] = fit_lines(registration, query.points, targets, size, limits, penalties)

    _threads.for_each(fit, range(len(numbers)), _threads.count_workers(n_jobs, _FIT_WORK * len(numbers)))
    if prior.penalties:
        distances = np.array([_penalise_distance(fit.registration, prior) for fit in fits])
    return fits, distances, np.array([fit.misfit for fit in fits]) + _DISTANCE_WEIGHT * distances


def _penalise_distance(registration: Registration, prior: MapPrior) -> float:
    return float(np.hypot(registration.distance, np.sqrt(penalise_map(registration.matrix, prior))))


def _compute_penalty(registration: Registration, prior: MapPrior) -> float:
    """Return how much the penalty of a map adds to the score: nothing at all if it has none."""
    return _DISTANCE_WEIGHT * (_penalise_distance(registration, prior) - registration.distance)


def compute_prominence(score: float, scores: Floats) -> float:
    """Return the prominence of a match, given the scores of the nearest entries in the order of their distance."""
    return float(np.median(scores[:N_NEAREST])) / max(score, 1e-9)


def _select_by_size(snapshot: Snapshot, index: StoredIndex, query: Query, size_mm: tuple[float, float]) -> _Numbers:
    """Return the entries whose size in millimetres is unknown or equal to that of the query.

    The bounding box of the ink converts pixels to millimetres. The sizes of descriptors do not depend on rotations.
    """
    scale = np.sqrt(size_mm[0] * size_mm[1] / query.ink[ink_box(query.ink)].size)
    own = query.shape.descriptor.sizes[0] * scale
    condition = "SELECT entry FROM metadata WHERE width_mm IS NOT NULL OR height_mm IS NOT NULL"
    sized, other = sorted(row[0] for row in snapshot.rows(condition)), []
    for start in range(0, len(sized), _SIZES_BLOCK):
        block = sized[start : start + _SIZES_BLOCK]
        known, descriptors = snapshot.metadata(block), snapshot.descriptors(block)
        for entry, pixels_size in zip(snapshot.entries(block), descriptors.sizes):
            sides = (known[entry.id]["width_mm"], entry.ink_width), (known[entry.id]["height_mm"], entry.ink_height)
            scales = [float(side) / pixels for side, pixels in sides if side is not None]
            size = pixels_size * np.prod(scales) ** (1 / len(scales))
            if not own / _SIZE_RATIO <= size <= own * _SIZE_RATIO:
                other.append(entry.id)
    return np.setdiff1d(index.numbers, other)

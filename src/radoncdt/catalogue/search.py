"""Searching a catalogue for the mark in an image."""

import os
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import printable
from radoncdt._validation import levels_to_the_caller
from radoncdt.catalogue.calibration import Calibration
from radoncdt.catalogue.index import StoredIndex
from radoncdt.catalogue.line_fit import find_line_points
from radoncdt.catalogue.ranking import MIN_FITTED, N_NEAREST, Shape, compute_prominence, score_entries
from radoncdt.catalogue.reader import measure_box
from radoncdt.catalogue.snapshot import Snapshot
from radoncdt.ink import InkOptions, find_ink, read_ink
from radoncdt.ink.extraction import assess_ink
from radoncdt.matching.descriptors import DescriptorSettings, describe_batch
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.registration import Registration
from radoncdt.measures import Batch

__all__ = ["Match", "Query", "SearchOptions", "SearchResult", "read_query", "search"]

_N_MORE = 10  # entries beyond those that are returned whose lines are fitted
_SIZES_BLOCK = 1024  # entries whose sizes are read at a time
_SIZE_RATIO = 1.25  # largest ratio of equal sizes, because marks are measured by hand and paper shrinks


class Query(NamedTuple):
    """The image that is searched for."""

    name: str
    file: str | None
    """None for an array."""
    ink: NDArray[np.float32]
    shape: Shape


@dataclass(frozen=True)
class SearchOptions:
    """Which entries a search may return, and how many."""

    top: int
    among: NDArray[np.int64] | None
    """Numbers of the entries to search; None means all."""
    limits: Plausible
    size_mm: tuple[float, float] | None


class Match(NamedTuple):
    """An entry that was found."""

    rank: int
    entry: int
    """The number of the entry."""
    file: str
    score: float
    """The score by which matches are sorted: the misfit plus a quarter of the distance."""
    distance: float
    """Distance of the descriptors: 0 for copies, about 0.15 for unrelated marks."""
    misfit: float
    """Mean distance of the lines, in standard deviations of the mark."""
    p_value: float | None
    """How often a catalogue without this mark would yield a best match at least as prominent. None if the catalogue is
    not calibrated, or if fewer than 11 entries were compared."""
    registration: Registration
    """The map from the ink of the query to the ink of the entry."""
    metadata: dict[str, Any]


class SearchResult(NamedTuple):
    """The matches of a query."""

    query: Query
    matches: tuple[Match, ...]
    searched: int
    """Number of entries that the conditions admitted."""
    compared: int
    """Number of entries whose descriptors were compared with the query; the others cannot be among the nearest."""
    thumbnails: dict[int, bytes]
    """The thumbnail of each match by the number of its entry, a PNG file."""
    calibrated: bool
    """Whether the catalogue is calibrated. If it is not, the matches have no p-values."""


def read_query(image: Any, ink: dict[str, Any], settings: DescriptorSettings, n_jobs: int | None) -> Query:
    """Read an image file or an array to search for."""
    is_file = isinstance(image, (str, os.PathLike))
    name = printable(image) if is_file else "image"
    found = read_ink(image, **ink) if is_file else find_ink(image, **ink)
    if warning := assess_ink(found, InkOptions(**ink)):
        warnings.warn(f"{name}: {warning}", stacklevel=levels_to_the_caller())
    shape = Shape(describe_batch(Batch.read(found), settings, n_jobs), find_line_points(found))
    return Query(name, os.fspath(image) if is_file else None, found, shape)


def search(
    snapshot: Snapshot,
    index: StoredIndex,
    query: Query,
    options: SearchOptions,
    calibration: Calibration | None,
    n_jobs: int | None,
) -> SearchResult:
    """Return the best entries for a query, with their p-values and the maps that lead to them."""
    among = options.among
    if options.size_mm is not None:
        sizes = _select_by_size(snapshot, index, query, options.size_mm)
        among = sizes if among is None else np.intersect1d(among, sizes)
    n_admitted = len(index.numbers) if among is None else int(np.isin(among, index.numbers).sum())
    n_fitted = max(options.top + _N_MORE, MIN_FITTED)
    distances, numbers, n_compared = index.find_nearest(
        snapshot, query.shape.descriptor, n_fitted, among=among, limits=options.limits, n_jobs=n_jobs
    )
    fits, scores = score_entries(snapshot, query.shape, options.limits, distances, numbers, n_jobs)
    best = np.argsort(scores, kind="stable")[: options.top].tolist()
    chosen = numbers[best].tolist()
    entries = {entry.id: entry for entry in snapshot.entries(chosen)}
    metadata = snapshot.metadata(chosen)
    matches = []
    for rank, k in enumerate(best, 1):
        number, score = int(numbers[k]), float(scores[k])
        p_value = None
        if calibration is not None and len(numbers) >= N_NEAREST:
            p_value = calibration.p_value(compute_prominence(score, scores))
        known = {name: value for name, value in metadata[number].items() if value is not None}
        file, distance = entries[number].file, float(distances[k])
        matches.append(Match(rank, number, file, score, distance, fits[k].misfit, p_value, fits[k].registration, known))
    thumbnails = snapshot.thumbnails(chosen)
    return SearchResult(query, tuple(matches), n_admitted, n_compared, thumbnails, calibration is not None)


def _select_by_size(
    snapshot: Snapshot, index: StoredIndex, query: Query, size_mm: tuple[float, float]
) -> NDArray[np.int64]:
    """Return the entries whose size in millimetres is unknown or equal to that of the query.

    The bounding box of the ink converts pixels to millimetres. Sizes are compared by a measure that is invariant under
    rotations, the fourth root of the determinant of the covariance.
    """
    width, height = size_mm
    box_width, box_height = measure_box(query.ink)
    scale = np.sqrt(width * height / (box_width * box_height))
    own = np.linalg.det(query.shape.descriptor.covariances[0]) ** 0.25 * scale
    condition = "SELECT entry FROM metadata WHERE width_mm IS NOT NULL OR height_mm IS NOT NULL"
    sized, other = sorted(row[0] for row in snapshot.rows(condition)), []
    for start in range(0, len(sized), _SIZES_BLOCK):
        block = sized[start : start + _SIZES_BLOCK]
        known, descriptors = snapshot.metadata(block), snapshot.descriptors(block)
        for entry, covariance in zip(snapshot.entries(block), descriptors.covariances):
            sides = (known[entry.id]["width_mm"], entry.ink_width), (known[entry.id]["height_mm"], entry.ink_height)
            scales = [float(side) / pixels for side, pixels in sides if side is not None]
            size = np.linalg.det(covariance) ** 0.25 * np.prod(scales) ** (1 / len(scales))
            if not own / _SIZE_RATIO <= size <= own * _SIZE_RATIO:
                other.append(entry.id)
    return np.setdiff1d(index.numbers, other)

"""From an image to the entries that are the same mark."""

import os
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._text import printable
from radoncdt.catalogue import records
from radoncdt.catalogue.importer import box_of
from radoncdt.catalogue.index import StoredIndex
from radoncdt.catalogue.line_fit import Fit, line_points, picture_points, refine
from radoncdt.catalogue.p_values import FITTED, NEAREST, Chances, stand
from radoncdt.catalogue.store import Snapshot
from radoncdt.ink import InkOptions, find_ink, read_ink
from radoncdt.ink.kinds import doubt
from radoncdt.matching.alignment import find_registration
from radoncdt.matching.descriptors import Descriptors, DescriptorSettings, describe_batch
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.registration import Registration
from radoncdt.measures import Batch

MORE = 10
"""Entries beyond those that are shown whose lines are compared, too."""

SHARE = 0.25
"""Of the distance of descriptors, beside the misfit of lines, in what entries are ranked by."""

FIT_WORK = 16_000_000
"""What fitting an entry costs, in the units of `_threads`."""

SIZES = 1024  # entries whose sizes are read at a time

PLAUSIBLE = Plausible(max_aspect=4.0, max_shear=60.0)
"""The maps that a search admits unless it is told otherwise. No photograph is more oblique."""

SAME_SIZE = 1.25
"""By what factor, at most, marks of the same size differ, since they are measured by hand and paper shrinks."""


class Query(NamedTuple):
    """What is searched for."""

    name: str
    file: str | None
    """None for an array."""
    ink: NDArray[np.float32]
    descriptor: Descriptors
    points: NDArray[np.float64]
    """Of the middle of its lines."""


class Limits(NamedTuple):
    """What may be found."""

    top: int
    among: NDArray[np.int64] | None
    maps: Plausible
    size_mm: tuple[float, float] | None


class Match(NamedTuple):
    """An entry that was found."""

    rank: int
    entry: int
    file: str
    score: float
    """What matches are ranked by: the misfit and a quarter of the distance."""
    distance: float
    """Of the descriptors: 0 for copies, some .15 for marks that have nothing to do with each other."""
    misfit: float
    """How far apart the lines are, on average, in standard deviations of the mark."""
    chance: float | None
    """How probable it is that a catalogue without the mark has an entry that stands out as much, see `chance`. None
    where that is not known: of few entries, or if it was not asked for."""
    registration: Registration
    """The map from the ink of the query to that of the entry."""
    metadata: dict[str, Any]


class Result(NamedTuple):
    """What a search found."""

    query: Query
    matches: tuple[Match, ...]
    searched: int
    """Entries that were admitted."""
    compared: int
    """Entries whose descriptors were compared with that of the query; the others cannot be among the nearest."""
    pictures: dict[int, bytes]
    """The ink of each entry that was found, a PNG file."""


def query_of(
    image: Any, roi: Any, mask: Any, ink: dict[str, Any], settings: DescriptorSettings, n_jobs: int | None
) -> Query:
    """An image file, or an array, as something to search for."""
    is_file = isinstance(image, (str, os.PathLike))
    measure = read_ink(image, roi=roi, mask=mask, **ink) if is_file else find_ink(image, roi=roi, mask=mask, **ink)
    if remark := doubt(measure, InkOptions(**ink)):
        warnings.warn(f"{printable(image) if is_file else 'image'}: {remark}", stacklevel=4)
    descriptor = describe_batch(Batch.read(measure), settings, n_jobs)
    return Query(
        printable(image) if is_file else "image",
        os.fspath(image) if is_file else None,
        measure,
        descriptor,
        line_points(measure),
    )


class Candidates(NamedTuple):
    """Entries that a query was compared with, line by line."""

    fits: list[Fit]
    scores: NDArray[np.float64]
    """What they are ranked by."""


def compared(
    snapshot: Snapshot,
    query: Query,
    limits: Limits,
    distances: NDArray[np.float64],
    numbers: NDArray[np.int64],
    n_jobs: int | None,
) -> Candidates:
    """How the lines of a query lie on those of entries at some distances."""
    fits = _fits(snapshot, query, limits, numbers, n_jobs)
    return Candidates(fits, np.array([fit.misfit for fit in fits]) + SHARE * distances)


def search(
    snapshot: Snapshot, index: StoredIndex, query: Query, limits: Limits, chances: Chances | None, n_jobs: int | None
) -> Result:
    """The nearest entries, how unusual they are, and the maps that lead to them."""
    among = limits.among
    if limits.size_mm is not None:
        sizes = _of_size(snapshot, index, query, limits.size_mm)
        among = sizes if among is None else np.intersect1d(among, sizes)
    admitted = len(index.numbers) if among is None else int(np.isin(among, index.numbers).sum())
    distances, numbers, n_compared = index.nearest(
        snapshot,
        query.descriptor,
        max(limits.top + MORE, FITTED),
        among=among,
        limits=limits.maps,
        n_jobs=n_jobs,
    )
    found = compared(snapshot, query, limits, distances, numbers, n_jobs)
    learnt = chances if len(numbers) >= NEAREST else None
    best = np.argsort(found.scores, kind="stable")[: limits.top].tolist()
    entries = {entry.id: entry for entry in snapshot.entries(numbers[best].tolist())}
    metadata = snapshot.metadata(numbers[best].tolist())
    matches = []
    for rank, k in enumerate(best, 1):
        number, score, fit = int(numbers[k]), float(found.scores[k]), found.fits[k]
        matches.append(
            Match(
                rank,
                number,
                entries[number].file,
                score,
                float(distances[k]),
                fit.misfit,
                None if learnt is None else learnt.of(stand(score, found.scores)),
                fit.registration,
                {name: value for name, value in metadata[number].items() if value is not None},
            )
        )
    return Result(query, tuple(matches), admitted, n_compared, snapshot.pictures(numbers[best].tolist()))


def _fits(
    snapshot: Snapshot, query: Query, limits: Limits, numbers: NDArray[np.int64], n_jobs: int | None
) -> list[Fit]:
    """The maps from a query to some entries, refined by the lines of both."""
    order = np.argsort(numbers)
    entries, pictures = snapshot.descriptors(numbers[order]), snapshot.pictures(numbers.tolist())
    moving = query.descriptor.astype(np.float32)
    fits: list[Any] = [None] * len(numbers)

    def fit(k: int) -> None:
        entry = entries[k]
        first = find_registration(moving, entry, limits.maps, n_jobs=1)
        height, width = entry.frames[0].tolist()
        size = float(np.linalg.det(entry.covariances[0]) ** 0.25)
        number = int(numbers[order[k]])
        try:
            targets = picture_points(pictures[number], (height, width))
        except ValueError as error:
            raise snapshot.damaged(records.PICTURES, number, f"its picture cannot be read: {error}") from error
        fits[order[k]] = refine(first, query.points, targets, size, limits.maps)

    _threads.for_each(fit, range(len(numbers)), _threads.n_workers(n_jobs, FIT_WORK * len(numbers)))
    return fits


def _of_size(snapshot: Snapshot, index: StoredIndex, query: Query, size_mm: tuple[float, float]) -> NDArray[np.int64]:
    """Entries whose size in millimetres is that of the query, or is not known.

    The box around the ink turns size in pixels into millimetres; compared is the size that no rotation changes, the
    fourth root of the determinant of the scatter.
    """
    width, height = size_mm
    box = box_of(query.ink)
    own = np.linalg.det(query.descriptor.covariances[0]) ** 0.25 * np.sqrt(width * height / (box[0] * box[1]))
    condition = "SELECT entry FROM metadata WHERE width_mm IS NOT NULL OR height_mm IS NOT NULL"
    sized, other = sorted(row[0] for row in snapshot.rows(condition)), []
    for start in range(0, len(sized), SIZES):
        some = sized[start : start + SIZES]
        known, descriptors = snapshot.metadata(some), snapshot.descriptors(some)
        for entry, scatter in zip(snapshot.entries(some), descriptors.covariances):
            sides = (known[entry.id]["width_mm"], entry.ink_width), (known[entry.id]["height_mm"], entry.ink_height)
            scales = [float(side) / pixels for side, pixels in sides if side is not None]
            size = np.linalg.det(scatter) ** 0.25 * np.prod(scales) ** (1 / len(scales))
            if not own / SAME_SIZE <= size <= own * SAME_SIZE:
                other.append(entry.id)
    return np.setdiff1d(index.numbers, other)

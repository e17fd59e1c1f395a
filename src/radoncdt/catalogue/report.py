"""Reports of searches: an HTML page with pictures, and a CSV table."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import _thumbnails
from radoncdt._geometry import ink_box
from radoncdt._progress import track
from radoncdt._templates import load_template
from radoncdt._text import escape_unprintable
from radoncdt._thumbnails import PICTURE_SIDE, draw_ink, embed, embed_ink, read_thumbnail, reduction
from radoncdt._typing import OnProgress
from radoncdt.catalogue.catalogue import Catalogue
from radoncdt.catalogue.export import format_csv
from radoncdt.catalogue.search import Match, SearchResult
from radoncdt.ink import InkError
from radoncdt.ink.files import read_image

__all__ = ["CLEAR", "csv", "describe_map", "draw_overlay", "format_p_value", "has_prominent", "html"]

CLEAR, _WEAK = 0.05, 0.2  # p-values up to the first are highlighted in green, those above the second in grey

# ---------------------------------------------------------------- the page


def html(
    catalogue: Catalogue,
    results: Sequence[SearchResult],
    failures: Sequence[tuple[str, str]] = (),
    *,
    note: str | None = None,
    on_progress: OnProgress | None = None,
) -> str:
    """Return an HTML page about searches, with all pictures embedded.

    `failures` contains the names of images that could not be searched for, and the reasons. If the catalogue is not
    calibrated for these searches, the page says so, in the words of `note` if they are given.
    """
    filters = {"printable": escape_unprintable, "p_value": format_p_value, "map_in_words": describe_map}
    is_calibrated = all(result.calibrated for result in results)
    why = "The catalogue is not calibrated for these searches, so there are no p-values."
    return load_template("radoncdt.catalogue", "search_report.html", filters).render(
        catalogue=catalogue,
        queries=[_draw_pictures(result) for result in track(results, on_progress, "writing the report")],
        failures=failures,
        calibrated=is_calibrated,
        note=None if is_calibrated else note or why,
        clear=CLEAR,
        weak=_WEAK,
    )


def _draw_pictures(result: SearchResult) -> dict[str, Any]:
    """Return a result with the pictures that the page shows."""
    ink = result.query.ink
    return {
        "result": result,
        "original": result.query.file and _embed_file(result.query.file),
        "ink": embed_ink(ink),
        "cropped": embed_ink(np.pad(ink[ink_box(ink)], 4)),
        "stands_out": has_prominent(result),
        "matches": [(match, *_draw_match(ink, result.thumbnails[match.entry], match)) for match in result.matches],
    }


def has_prominent(result: SearchResult) -> bool:
    """Whether a match has a p-value that the page shows in green."""
    return any(match.p_value is not None and match.p_value <= CLEAR for match in result.matches)


def _draw_match(ink: NDArray[np.float32], thumbnail: bytes, match: Match) -> tuple[str, str]:
    """Return the pictures of an entry and of the overlay."""
    return embed_ink(read_thumbnail(thumbnail)), embed(draw_overlay(ink, thumbnail, match))


def draw_overlay(ink: NDArray[np.float32], thumbnail: bytes, match: Match) -> NDArray[np.uint8]:
    """Draw a query, moved by the map of a match, over the thumbnail of the entry. Return colours (H, W, 3)."""
    to_thumbnail = reduction(match.registration.frames[1]) @ match.registration.pixel_matrix
    return _thumbnails.draw_overlay(ink, read_thumbnail(thumbnail), to_thumbnail)


def _embed_file(name: str) -> str | None:
    """Return an image file as a data URI, None if it can no longer be read."""
    with suppress(InkError):
        return embed(draw_ink(1 - read_image(name).grey, 2 * PICTURE_SIDE))
    return None


def format_p_value(p_value: float | None) -> str:
    """Format a p-value with two significant digits.

    >>> from radoncdt.catalogue.report import format_p_value
    >>> format_p_value(0.254), format_p_value(1 / 201), format_p_value(None)
    ('0.25', '0.005', '–')
    """
    return "–" if p_value is None else f"{p_value:.2g}"


def describe_map(match: Match) -> str:
    """Describe in words how the query is moved onto the entry."""
    return match.registration.words


# ---------------------------------------------------------------- the table

MATCH_COLUMNS = (
    *("query", "rank", "entry", "file", "score", "misfit", "distance", "p_value", "map"),
    *("a00", "a01", "a10", "a11", "y0", "y1"),
)
"""Columns of the table that are not metadata."""


def csv(results: Iterable[SearchResult]) -> bytes:
    """Return a CSV table of all matches of all queries.

    If a metadata column has the name of one of the other columns, it is called metadata_NAME, with underscores appended
    until the name is unique.
    """
    matches = [(result.query.file or result.query.name, match) for result in results for match in result.matches]
    titles = make_unique_titles(dict.fromkeys(name for _, match in matches for name in match.metadata))
    rows = [
        {titles[name]: value for name, value in match.metadata.items()}
        | dict(zip(MATCH_COLUMNS, _list_values(query, match)))
        for query, match in matches
    ]
    return format_csv(rows, [*MATCH_COLUMNS, *titles.values()])


def _list_values(query: str, match: Match) -> list[Any]:
    """Return the values of `MATCH_COLUMNS`."""
    figures = [round(figure, 6) for figure in (match.score, match.misfit, match.distance)]
    p_value = None if match.p_value is None else float(f"{match.p_value:.6g}")
    numbers = [float(f"{each:.6g}") for each in (*match.registration.matrix.ravel(), *match.registration.shift)]
    return [query, match.rank, match.entry, match.file, *figures, p_value, describe_map(match), *numbers]


def make_unique_titles(names: Iterable[str]) -> dict[str, str]:
    """Return titles for metadata columns that differ from each other and from `MATCH_COLUMNS`.

    >>> from radoncdt.catalogue.report import make_unique_titles
    >>> make_unique_titles(["rank", "motif", "metadata_rank"])
    {'rank': 'metadata_rank_', 'motif': 'motif', 'metadata_rank': 'metadata_rank'}
    """
    known = list(names)
    taken = {*MATCH_COLUMNS, *known}
    titles = {}
    for name in known:
        title = f"metadata_{name}" if name in MATCH_COLUMNS else name
        while name in MATCH_COLUMNS and title in taken:
            title += "_"
        taken.add(title)
        titles[name] = title
    return titles

"""What a search found, as an HTML page with pictures and as a table."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from io import BytesIO
from os import PathLike
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._progress import track
from radoncdt._text import printable
from radoncdt._typing import OnProgress
from radoncdt.catalogue.catalogue import Catalogue
from radoncdt.catalogue.export import table
from radoncdt.catalogue.importer import picture_of_ink
from radoncdt.catalogue.line_fit import PICTURE_SIDE, picture_ink
from radoncdt.catalogue.search import Match, Result
from radoncdt.ink import InkError
from radoncdt.ink.files import read_image

MARGIN = 0.08
"""Around an entry, as a share of its longer side, for what of the query is beyond it."""

QUERY, ENTRY = (1.0, 0.45, 0.0), (0.1, 0.45, 0.9)
"""Orange and blue, which together are dark, and which colour-blind people tell apart."""

CLEAR, DOUBTFUL = 0.05, 0.2
"""Chances up to which a match is shown as such, and from which it is not."""

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1200px; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin-top: 3rem; border-top: 2px solid #888; padding-top: 1rem; }
figure { display: inline-block; margin: 0 1rem 1rem 0; vertical-align: top; }
figcaption { color: #555; font-size: 13px; }
img { max-height: 240px; border: 1px solid #ddd; background: white; }
td img { max-height: 170px; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #ddd; padding: .5rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.clear td.number { background: #e5f3e6; }
tr.doubtful { color: #777; }
dl { margin: 0; font-size: 13px; } dt { float: left; clear: left; color: #555; margin-right: .5em; }
dd { margin: 0; }
.query { color: #ff7300; font-weight: 600; } .entry { color: #1a73e6; font-weight: 600; }
"""

LEGEND = f"""<p>In the overlays the <span class="query">query</span>, moved as the words say, lies over the
<span class="entry">entry</span>; where both are, it is dark. The <b>misfit</b> is how far apart the lines are then, and
the <b>distance</b> how different the marks are as a whole. The <b>score</b>, by which entries are sorted, is the misfit
and a quarter of the distance. All three are near 0 for copies of one mark. The <b>chance</b> is how often a catalogue
without the mark would have a best entry that stands out at least as much: up to {CLEAR:g} it is green, and above
{DOUBTFUL:g} the entry does not stand out, whether it is the mark or not.</p>"""


def html(
    catalogue: Catalogue,
    results: Sequence[Result],
    failures: Sequence[tuple[str, str]] = (),
    *,
    on_progress: OnProgress | None = None,
) -> str:
    """One page of all queries, pictures included."""
    title = f"{len(results)} searches" if len(results) != 1 else f"Search for {_short(results[0])}"
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"]
    parts.append(f"<h1>{title}</h1><p>In {_shown(catalogue.path)}, {len(catalogue):,} entries.</p>{LEGEND}")
    if failures:
        rows = "".join(f"<li>{_shown(name)}: {_shown(why)}</li>" for name, why in failures)
        parts.append(f"<p>Not searched for:</p><ul>{rows}</ul>")
    if len(results) > 1:
        parts.append(_contents(results))
    tracked = track(results, on_progress, "writing the report")
    parts += (_section(number, result) for number, result in enumerate(tracked))
    return "\n".join(parts)


def _shown(text: str | PathLike[str]) -> str:
    """A text from outside as HTML."""
    return escape(printable(text))


def _short(result: Result) -> str:
    """The name of a query, without the folder."""
    return _shown(PurePath(result.query.name).name)


def _contents(results: Sequence[Result]) -> str:
    rows = []
    for number, result in enumerate(results):
        best = result.matches[0] if result.matches else None
        figures = [""] * 4
        if best:
            figures = [f"{figure:.3f}" for figure in (best.score, best.misfit, best.distance)]
            figures.append(escape(in_words(best.chance)))
        words = _shown(best.file) if best else "nothing"
        words += "".join(f"</td><td class=number>{figure}" for figure in figures)
        rows.append(f'<tr><td><a href="#q{number}">{_short(result)}</a></td><td>{words}</td></tr>')
    head = "".join(f"<th>{title}</th>" for title in ("query", "best entry", "score", "misfit", "distance", "chance"))
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


def _section(number: int, result: Result) -> str:
    figures = [_figure(_embedded(picture_of_ink(result.query.ink)), "its ink")]
    if result.query.file is not None and (original := _original(result.query.file)) is not None:
        figures.insert(0, _figure(_embedded(original), "the query"))
    rows = "".join(_row(result, match) for match in result.matches)
    why = "No plausible map leads to any entry." if result.searched else "No entry fulfils the conditions."
    nothing = "" if result.matches else f"<p>{why}</p>"
    head = "<tr><th></th><th>entry</th><th>overlay</th><th>how near</th><th>what is known, and the map</th></tr>"
    return (
        f'<h2 id="q{number}" title="{_shown(result.query.name)}">{_short(result)}</h2>'
        f"<p>{result.searched:,} entries were admitted.</p>"
        f"{''.join(figures)}{nothing}<table>{head if rows else ''}{rows}</table>"
    )


def _row(result: Result, match: Match) -> str:
    picture = result.pictures[match.entry]
    overlay = _png(overlaid(result.query.ink, picture, match))
    known = "".join(f"<dt>{_shown(name)}</dt><dd>{_value(value)}</dd>" for name, value in match.metadata.items())
    unsure = match.chance is None
    kind = "" if unsure else "clear" if match.chance <= CLEAR else "doubtful" if match.chance > DOUBTFUL else ""  # type: ignore[operator]
    return (
        f'<tr class="{kind}"><td class=number>{match.rank}</td><td><img src="{_embedded(picture)}" alt=""><br>'
        f"{match.entry}: {_shown(match.file)}</td>"
        f'<td><img src="{_embedded(overlay)}" alt="the query over the entry"></td>'
        f"<td class=number>score {match.score:.3f}<br>misfit {match.misfit:.3f}<br>distance {match.distance:.3f}<br>"
        f"chance {escape(in_words(match.chance))}</td>"
        f"<td><dl>{known}</dl><p>{escape(map_in_words(match))}</p></td></tr>"
    )


def _value(value: Any) -> str:
    text = _shown(str(value))
    return f'<a href="{text}">{text}</a>' if str(value).startswith(("https://", "http://")) else text


def in_words(chance: float | None) -> str:
    """A chance as one reads it.

    >>> from radoncdt.catalogue.report import in_words
    >>> in_words(0.254), in_words(1 / 201), in_words(None)
    ('0.25', '0.005', '–')
    """
    return "–" if chance is None else f"{chance:.2g}"


def map_in_words(match: Match) -> str:
    """How the query has to be moved to lie on the entry."""
    return str(match.registration).split(": distance")[0]


def overlaid(ink: NDArray[np.float32], picture: bytes, match: Match) -> NDArray[np.uint8]:
    """A query, moved, over the picture of an entry, (H, W, 3)."""
    from skimage.transform import warp

    small = picture_ink(picture)
    margin = round(MARGIN * max(small.shape))
    entry = np.pad(small, margin)
    factor = -(-max(match.registration.frames[1]) // PICTURE_SIDE)  # by which the picture is smaller
    to_picture = np.array(
        [[1 / factor, 0, 0.5 / factor - 0.5 + margin], [0, 1 / factor, 0.5 / factor - 0.5 + margin], [0, 0, 1]]
    )
    whole = to_picture @ match.registration.pixel_matrix
    blurred = _smoothed(ink, float(np.sqrt(abs(np.linalg.det(whole[:2, :2])))))
    moved = warp(blurred, np.linalg.inv(whole), output_shape=entry.shape, order=1)
    darkness = sum(
        np.clip(image, 0, 1)[:, :, None] * (1 - np.array(colour)) for image, colour in ((moved, QUERY), (entry, ENTRY))
    )
    return np.rint(255 * np.clip(1 - darkness, 0, 1)).astype(np.uint8)


def _smoothed(ink: NDArray[np.float32], scale: float) -> NDArray[np.float32]:
    """Smooth enough for lines not to vanish when they are drawn smaller."""
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(ink, 0.5 * np.sqrt(1 / scale**2 - 1)) if scale < 1 else ink


def _original(name: str) -> bytes | None:
    """The image file of a query, reduced."""
    try:
        grey = read_image(name).grey
    except InkError:
        return None
    return picture_of_ink(1 - grey)


def _png(image: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(image).save(buffer, "PNG")
    return buffer.getvalue()


def _embedded(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _figure(source: str, caption: str) -> str:
    return f'<figure><img src="{source}" alt="{caption}"><figcaption>{caption}</figcaption></figure>'


FIGURES = ("score", "misfit", "distance", "chance")
OWN = ("query", "rank", "entry", "file", *FIGURES, "map", "a00", "a01", "a10", "a11", "y0", "y1")
"""Columns of the table that are not metadata."""


def csv(results: Iterable[Result]) -> bytes:
    """A table of all matches of all queries.

    A column of metadata that is named as one of the others is called metadata_NAME, or that with more underscores
    behind it if there is such a column, too.
    """
    matches = [(result.query.file or result.query.name, match) for result in results for match in result.matches]
    titles = unique_titles(dict.fromkeys(name for _, match in matches for name in match.metadata))
    rows = [
        {titles[name]: value for name, value in match.metadata.items()} | dict(zip(OWN, _own(query, match)))
        for query, match in matches
    ]
    return table(rows, [*OWN, *titles.values()])


def _own(query: str, match: Match) -> list[Any]:
    """Values of the columns that are not metadata."""
    figures = [round(figure, 6) for figure in (match.score, match.misfit, match.distance)]
    chance = None if match.chance is None else float(f"{match.chance:.6g}")
    numbers = [*match.registration.matrix.ravel(), *match.registration.shift]
    known = [query, match.rank, match.entry, match.file]
    return [*known, *figures, chance, map_in_words(match), *(float(f"{number:.6g}") for number in numbers)]


def unique_titles(names: Iterable[str]) -> dict[str, str]:
    """Titles of columns of metadata that differ from each other and from those of the other columns.

    >>> from radoncdt.catalogue.report import unique_titles
    >>> unique_titles(["rank", "motif", "metadata_rank"])
    {'rank': 'metadata_rank_', 'motif': 'motif', 'metadata_rank': 'metadata_rank'}
    """
    known = list(names)
    taken = {*OWN, *known}
    titles = {}
    for name in known:
        title = f"metadata_{name}" if name in OWN else name
        while name in OWN and title in taken:
            title += "_"
        taken.add(title)
        titles[name] = title
    return titles

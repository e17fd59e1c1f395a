"""``radoncdt search``."""

import argparse
from pathlib import Path

from numpy.linalg import LinAlgError

from radoncdt._extras import require
from radoncdt._progress import track
from radoncdt._text import format_count
from radoncdt._validation import ArgumentValueError
from radoncdt.catalogue import DEFAULT_LIMITS, Catalogue, SearchResult, report
from radoncdt.cli.catalogue import explain_missing_p_values
from radoncdt.cli.inputs import list_files
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    add_count,
    add_ink_options,
    add_jobs_option,
    add_map_options,
    make_limits,
    make_type,
    read_ink_options,
)
from radoncdt.cli.outputs import check_outputs, write_bytes
from radoncdt.ink import InkError
from radoncdt.matching.prior import MapPrior

__all__ = ["EPILOG", "add_options", "run"]

_NO_P_VALUES = "Searches with a prior have no p-values, because catalogues are calibrated without priors."

EPILOG = """\
For each match the command prints the rank, the number of the entry, and:
  score     the misfit plus a quarter of the distance; matches are sorted by it
  misfit    how far apart the lines are after the mark has been moved to the entry
  distance  how different the marks are as a whole
  p-value   how often a catalogue without this mark would yield a best match at least as prominent
then the file, and the map that moves the mark onto the entry. Score, misfit and distance are near 0 for copies.
--report draws the mark over each entry. If IMAGE is a folder, the command searches for all images in it. A dash takes
the place of the p-value if plausible maps reach fewer than 11 entries.

With --prior, the penalty of the map is part of the distance and thus of the score. Such searches have no p-values,
because catalogues are calibrated without priors.

p-values require a calibrated catalogue with at least 30 entries; see `radoncdt catalogue calibrate`. A search never
changes the catalogue.

Conditions after --where are written in SQL and refer to the columns of the metadata:
  "motif = 'crown' and date < 1500"    "place like '%burg'"    "date between 1470 and 1480 or date is null"

examples:
  radoncdt search marks.db tracing.png
  radoncdt search marks.db photograph.jpg --kind watermark --roi 200,150,900,1100 --report found.html
  radoncdt search marks.db tracing.png --where "motif = 'crown'" --no-mirror --max-aspect 1.3
  radoncdt search marks.db photographs/ --kind watermark --report found.html --csv found.csv
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("catalogue", type=Path, metavar="DB", help="the file of the catalogue")
    parser.add_argument("images", type=Path, nargs="+", metavar="IMAGE", help="image files, or folders of them")
    add_count(parser, "--top", 10, "number of matches to show")
    parser.add_argument("--where", metavar="SQL", help="only entries for which a condition on the metadata holds")
    size = make_type("width and height such as 35x42.5", _read_size)
    text = "size of the mark in millimetres; entries of known size must have the same width and height within a quarter"
    parser.add_argument("--size-mm", type=size, metavar="WxH", help=text)
    add_jobs_option(parser)
    add_ink_options(parser)
    add_map_options(parser, DEFAULT_LIMITS, with_prior=True)
    group = parser.add_argument_group("output")
    group.add_argument("--report", type=Path, metavar="FILE.html", help="write a page with pictures and overlays")
    group.add_argument("--csv", type=Path, metavar="FILE.csv", help="write a table of all matches")
    group.add_argument("--quiet", action="store_true", help="do not print matches, only the names of written files")


def _read_size(text: str) -> tuple[float, float]:
    width, height = (float(side) for side in text.lower().replace("×", "x").replace(",", ".").split("x"))
    return width, height


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    how = {
        "top": options.top,
        "where": options.where,
        "limits": make_limits(options),
        "prior": options.prior,
        "size_mm": options.size_mm,
        "n_jobs": options.jobs,
        **read_ink_options(options),
    }
    files = list_files("images", options.images)
    check_outputs(options, [options.catalogue, *files], report=[".html", ".htm"], csv=[".csv"])
    if options.quiet and options.report is None and options.csv is None:
        raise ArgumentValueError("quiet", "needs --report or --csv, or nothing would be shown")
    if options.report is not None:
        require("jinja2", "writing a search report")
    results: list[SearchResult] = []
    failures: list[tuple[str, str]] = []  # files and reasons
    with Catalogue(options.catalogue) as catalogue:
        note = None
        if options.prior.penalties:
            note = f"Maps have the penalties {MapPrior(**options.prior.penalties._asdict())}. {_NO_P_VALUES}"
        elif len(catalogue) and not catalogue.calibrated:
            note = explain_missing_p_values(catalogue, options.catalogue)
        if note is not None:
            complain(note)
        for file in track(files, options.on_progress, "searching"):
            try:
                results.append(catalogue.search(file, **how))
            except (InkError, ArithmeticError, LinAlgError) as error:
                failures.append((str(file), str(error).removeprefix(f"{file}: ")))
                complain(str(error))
                continue
            if not options.quiet:
                _print_matches(results[-1], options.top, with_name=len(files) > 1)
        if options.csv is not None:
            write_bytes(options.csv, report.csv(results))
            say(str(options.csv))
        if options.report is not None:
            page = report.html(catalogue, results, failures, note=note, on_progress=options.on_progress)
            write_bytes(options.report, page)
            say(str(options.report))
    return 1 if failures else 0


def _print_matches(result: SearchResult, top: int, *, with_name: bool) -> None:
    """Print two lines per match, after the name of the image if there are several."""
    if with_name:
        say(result.query.name)
    if not result.matches:
        say("no plausible map reaches any entry" if result.searched else "no entry satisfies the conditions")
    for match in result.matches:
        p_value = f"  p-value {report.format_p_value(match.p_value):8}" if result.calibrated else ""
        known = match.metadata.get("reference") or match.metadata.get("motif") or ""
        say(
            f"{match.rank:4}  entry {match.entry:<7} score {match.score:.3f}  misfit {match.misfit:.3f}  "
            f"distance {match.distance:.3f}{p_value}  {match.file}  {known}"
        )
        say(f"{'':6}{report.describe_map(match)}")
    if result.calibrated and result.matches and not report.has_prominent(result):
        say(f"no entry stands out: no p-value is {report.CLEAR} or less")
    n_others = result.searched - len(result.matches)
    if result.matches and n_others and len(result.matches) < top:
        say(f"no plausible map reaches the other {format_count(n_others, 'entry', 'entries')}")

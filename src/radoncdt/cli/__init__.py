"""The command line: ``radoncdt COMMAND``, a module a command."""

import argparse
import io
import os
import sys
from collections.abc import Sequence

import radoncdt
from radoncdt.cli import catalogue, classify, ink, register, reproduce, search, show, transform

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
    try:
        return int(options.run(options, options.parser))
    except KeyboardInterrupt:
        print("radoncdt: interrupted", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"radoncdt: not enough memory: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 141
    except OSError as error:  # of writing; what cannot be read is refused one by one
        print(f"radoncdt: cannot write: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "radoncdt", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"radoncdt {radoncdt.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser

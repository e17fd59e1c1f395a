"""The command line: ``radoncdt COMMAND``, one module per command, loaded when its command is called."""

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import radoncdt
from radoncdt.cli.messages import Parser, complain

DESCRIPTION = """\
Features of shapes that shifts, rotations, scaling, shear and mirroring do not change.

examples:
  radoncdt catalogue add marks.db tracings/ --metadata tracings.csv
  radoncdt search marks.db photograph.jpg --kind watermark --report found.html
  radoncdt classify examples/ unknown/ --out predictions.csv
  radoncdt show anchor.png --out pipeline.png
  radoncdt transform catalogue/*.png --out features.npz
  radoncdt transform folder/ --pool none --angles 32 --out features.csv
  radoncdt register photograph.png catalogue/anchor.png --out overlay.png
  radoncdt reproduce --out reproduction
"""


COMMANDS = {
    "ink": "find the ink of a drawing or photograph",
    "catalogue": "keep marks, what is known of them and what a search needs in one file",
    "search": "find the entries of a catalogue that are the same mark as an image",
    "classify": "name the class of images, from one or a few examples of each",
    "show": "draw an image, its Radon transform, R-CDT, NR-CDT and mNR-CDT",
    "transform": "compute features of image files",
    "register": "find the affine map that takes one image to another",
    "reproduce": "run the experiments of the paper and put our figures beside its own",
}
"""The modules of the commands, and what the commands do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, 1 if some image was refused, 2 for a wrong call."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that has no ± is no reason to fail
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: complain(str(message))
            options = _parser(sys.argv[1:] if arguments is None else arguments).parse_args(arguments)
            _check_kernels()
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


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of all commands. Only the one that is called has its options, so that no other is loaded."""
    parser = Parser("radoncdt", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and the kernels in use, and exit")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    chosen = arguments[0] if arguments else None  # options before a command end the program
    for name, summary in COMMANDS.items():
        if name == chosen:
            import_module(f"radoncdt.cli.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=summary)
    return parser


def _check_kernels() -> None:
    """Refuse a wrong choice of kernels before a command starts."""
    from radoncdt import _kernels

    try:
        _kernels.current_name()
    except _kernels.KernelError as error:
        complain(str(error))
        raise SystemExit(2) from None


class _Version(argparse.Action):
    """Prints the version and how the package computes; that loads the kernels, so it is not done before."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        with warnings.catch_warnings(action="ignore"):  # that the kernels are slow is in the table
            _check_kernels()
            radoncdt.show_config()
        parser.exit()

"""The command line: ``radoncdt COMMAND``, one module per command, loaded when its command is called.

The module of a command has the functions ``add_options(parser)`` and ``run(options)``, and the text `EPILOG`, which
ends the help. `run` returns the exit status, or None for 0; ``options.on_progress`` moves the progress bar. Errors of
the library rise to `main`, which reports them.
"""

import argparse
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import radoncdt
from radoncdt.cli.messages import CommandError, Parser, complain

__all__ = ["COMMANDS", "main", "make_parser"]

DESCRIPTION = """\
Affine-invariant image features, and searches in catalogues of watermarks.

examples:
  radoncdt catalogue add marks.db tracings/ --metadata tracings.csv
  radoncdt search marks.db photograph.jpg --kind watermark --report found.html
  radoncdt classify examples/ unknown/ --report predictions.html
  radoncdt show anchor.png --out pipeline.png
  radoncdt transform tracings/*.png --out features.npz
  radoncdt register photograph.png anchor.png --out overlay.png
  radoncdt reproduce --out reproduction

`radoncdt COMMAND --help` explains a command.
"""

COMMANDS = {
    "ink": "find the ink of an image, as a search does, and show every step",
    "catalogue": "keep marks, their metadata and their descriptors in one file",
    "search": "find the entries of a catalogue that show the same mark as an image",
    "classify": "classify images by folders with one or a few examples of each class",
    "show": "draw an image, its Radon transform, R-CDT, NR-CDT and mNR-CDT",
    "transform": "compute features of image files",
    "register": "find the affine map that takes one image to another",
    "reproduce": "repeat the experiments of the paper and compare the results",
    "completion": "print a script that completes commands, options and files in a shell",
}
"""The commands, in the order of the help, and what each of them does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        The exit status: 0, 1 if an image was refused, or 2 if the call was wrong.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # the encoding of the terminal may lack a character
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = make_parser(given)
    if not given:
        parser.print_help()
        return 2
    options = argparse.Namespace(parser=parser)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)  # the same remark may concern several images
            warnings.showwarning = lambda message, *_, **__: complain(str(message))
            options = parser.parse_args(given)
            return _run(options)
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except BrokenPipeError:  # the reader of the output has closed it
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        return 141
    except Exception as error:
        return _report(error, options.parser)


def _run(options: argparse.Namespace) -> int:
    """Run a command with the kernels that were chosen and a progress bar, and return the exit status."""
    from radoncdt.cli.progress import Bar

    _check_kernels()
    with Bar() as options.on_progress:
        return options.run(options) or 0


def _report(error: Exception, parser: Parser) -> int:
    """Report an error that a user can do something about, and return the exit status; raise any other error."""
    from radoncdt._extras import MissingExtraError
    from radoncdt._kernels import KernelError
    from radoncdt._validation import ArgumentError
    from radoncdt.catalogue import CatalogueError, MetadataError
    from radoncdt.ink import InkError

    if isinstance(error, ArgumentError):
        parser.refuse(error)
    status, message = 2, str(error)
    if isinstance(error, CommandError):
        status = error.status
    elif isinstance(error, InkError):
        status = 1
    elif isinstance(error, MemoryError):
        status, message = 1, f"not enough memory: {error}"
    elif isinstance(error, OSError) and not isinstance(error, ConnectionError):
        message = f"cannot write: {error}"  # a file that cannot be read is an InkError or a CatalogueError
    elif not isinstance(error, (CatalogueError, ConnectionError, KernelError, MetadataError, MissingExtraError)):
        raise error
    complain(message)
    return status


def make_parser(arguments: Sequence[str], *, with_all_options: bool = False) -> Parser:
    """Make the parser of all commands.

    By default, only the command that is called gets its options, so that no other command is loaded.
    """
    parser = Parser(prog="radoncdt", description=DESCRIPTION)
    parser.set_defaults(parser=parser)
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and the kernels in use, and exit")
    commands = parser.add_subparsers(metavar="COMMAND")
    called = next(iter(arguments), None)  # --help and --version end the program
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if with_all_options or name == called:
            module = import_module(f"radoncdt.cli.{name}")
            command.epilog = module.EPILOG
            command.set_defaults(run=module.run, parser=command)
            module.add_options(command)
    return parser


def _check_kernels() -> None:
    """Refuse a wrong choice of kernels before a command starts."""
    from radoncdt import _kernels

    _kernels.current_name()


class _Version(argparse.Action):
    """Prints the version and the kernels in use, which are loaded for this purpose only."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        with warnings.catch_warnings(action="ignore"):  # the table says that kernels are slow
            _check_kernels()
            radoncdt.show_config()
        parser.exit()

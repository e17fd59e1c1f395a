"""``radoncdt ink``."""

import argparse
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

import radoncdt
from radoncdt._files import write_atomically
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.messages import say
from radoncdt.cli.options import add_ink_options, read_ink_options
from radoncdt.cli.outputs import FIGURE, check_outputs, write_figure
from radoncdt.ink import ink_steps

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
examples:
  radoncdt ink tracing.png --show steps.png
  radoncdt ink photograph.jpg --kind watermark --roi 200,150,900,1100 --show steps.png
  radoncdt ink photograph.jpg --kind watermark --threshold 4 --out ink.png
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="an image file")
    add_ink_options(parser)
    group = parser.add_argument_group("output")
    group.add_argument("--show", type=Path, metavar="FILE.png", help="draw all steps side by side")
    group.add_argument("--out", type=Path, metavar="FILE.png", help="write the ink as an image, dark on white")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    ink = read_ink_options(options)
    if options.show is None and options.out is None:
        raise ArgumentValueError("show", "or --out must be given")
    check_outputs(options, [options.file], out=[".png"], show=FIGURE)
    steps = ink_steps(options.file, **ink)
    found = steps[-1].image
    if options.show is not None:
        write_figure(options.show, radoncdt.plot.steps(steps))
    if options.out is not None:
        write_atomically(options.out, partial(_save, found))
    say(f"{options.file}: {found.shape[1]} × {found.shape[0]} pixels, of which {np.mean(found > 0):.1%} are ink")


def _save(ink: NDArray[np.float32], file: IO[bytes]) -> None:
    from PIL import Image

    Image.fromarray(np.uint8(np.rint(255 * (1 - ink)))).save(file, "PNG")

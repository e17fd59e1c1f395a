"""``radoncdt ink``."""

import argparse
import warnings
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from radoncdt._files import write_whole
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import (
    check_matplotlib,
    check_output,
    drawable,
    in_words_of_the_command,
    ink_kind_options,
    ink_settings,
    region_of,
    region_options,
)
from radoncdt.ink import InkError, ink_steps


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "ink",
        parents=[ink_kind_options("drawing"), region_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Find the ink of an image, as a search would, and show every step to it.",
        epilog="""\
examples:
  radoncdt ink tracing.png --show steps.png
  radoncdt ink photograph.jpg --kind watermark --roi 200,150,900,1100 --show steps.png
  radoncdt ink photograph.jpg --kind watermark --threshold 4 --out ink.png""",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the image")
    parser.add_argument("--show", type=Path, metavar="FILE.png", help="draw each step side by side")
    parser.add_argument("--out", type=Path, metavar="FILE.png", help="write the ink, dark on white, as an image")
    parser.set_defaults(run=run, parser=parser)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if options.show is None and options.out is None:
        parser.error("give --show FILE.png, --out FILE.png, or both")
    for name in ("show", "out"):
        if (path := getattr(options, name)) is not None:
            check_output(path, parser, name, [options.file, options.mask])
    if options.out is not None and options.out == options.show:
        parser.error(f"--out and --show must be two files, got {options.out} twice")
    if options.show is not None:
        check_matplotlib(parser)
        if not drawable(options.show):
            parser.error(f"--show must end in .png, .pdf or .svg, got {options.show}")
    if options.out is not None and options.out.suffix.lower() != ".png":
        parser.error(f"--out must end in .png, got {options.out}")
    try:
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            steps = ink_steps(options.file, **region_of(options, parser), **ink_settings(options))
    except InkError as error:
        complain(str(error))
        return 1
    except ValueError as error:
        parser.error(in_words_of_the_command(error))
    for note in notes:
        complain(str(note.message))
    ink = steps[-1].image
    if options.show is not None:
        import radoncdt

        figure: Any = radoncdt.plot.steps(steps)
        write_whole(options.show, partial(figure.savefig, format=options.show.suffix[1:], dpi=110))
    if options.out is not None:
        write_whole(options.out, partial(_save, ink))
    say(f"{options.file}: {ink.shape[1]} × {ink.shape[0]} pixels, {np.mean(ink > 0):.1%} of them ink")
    return 0


def _save(ink: np.ndarray[Any, Any], file: IO[bytes]) -> None:
    from PIL import Image

    Image.fromarray(np.uint8(np.rint(255 * (1 - ink)))).save(file, "PNG")

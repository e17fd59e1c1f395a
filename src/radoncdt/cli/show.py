"""``radoncdt show``."""

import argparse
from itertools import count
from pathlib import Path
from typing import Any

import radoncdt
from radoncdt._extras import require
from radoncdt._text import escape_unprintable
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.inputs import add_files_argument, list_files, read_images
from radoncdt.cli.messages import say
from radoncdt.cli.options import add_feature_options, add_ink_options, read_ink_options
from radoncdt.cli.outputs import FIGURE, check_outputs, write_figure

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
Without --out, the figure opens in a window. If no window can be opened, it is written to NAME_pipeline.png.

examples:
  radoncdt show anchor.png --out pipeline.png
  radoncdt show tracings/ --angles 32 --out figures/
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_files_argument(parser)
    add_ink_options(parser)
    add_feature_options(parser, radoncdt.NormalizedRadonCDT())
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", type=Path, metavar="FILE.png", help="write to this file or, for several images, to this folder"
    )


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink = read_ink_options(options)
    how = {"n_angles": options.angles, "n_levels": options.levels, "n_jobs": options.jobs}
    radoncdt.NormalizedRadonCDT(**how).fit([[[1]]])  # refuses wrong numbers before images are read
    require("matplotlib", "drawing a figure")
    from matplotlib.figure import Figure

    paths, out = list_files("files", options.files), options.out
    if out is not None and not out.suffix and not out.exists() and out.parent.is_dir():
        out.mkdir()
    in_folder = out is None or out.is_dir()
    if not in_folder and len(paths) > 1:
        raise ArgumentValueError("out", f"must be a folder for {len(paths)} images, got {out}")
    if not in_folder:
        check_outputs(options, paths, out=FIGURE)
    pyplot = _find_pyplot() if out is None else None
    make_figure = pyplot.figure if pyplot else Figure
    taken = {path.resolve() for path in paths}  # no figure replaces these
    n_drawn = 0
    for path, image in read_images(paths, ink, options.on_progress, "drawing figures"):
        figure = make_figure(figsize=(12, 7), layout="constrained")
        radoncdt.plot.pipeline(image, **how, axes=figure.subplots(2, 3))
        figure.suptitle(escape_unprintable(path.name))
        n_drawn += 1
        if not pyplot:
            target = _choose_name(out or Path(), path.stem, taken) if in_folder else out
            taken.add(target.resolve())
            write_figure(target, figure)
            say(str(target))
    if pyplot and n_drawn:
        pyplot.show()
    return 1 if n_drawn < len(paths) else 0


def _choose_name(folder: Path, stem: str, taken: set[Path]) -> Path:
    """Return the first free name for the figure of an image."""
    names = (f"{stem}_pipeline{f'_{k}' if k > 1 else ''}.png" for k in count(1))
    return next(folder / name for name in names if (folder / name).resolve() not in taken)


def _find_pyplot() -> Any:
    """Return matplotlib.pyplot if it can open a window, or None."""
    from matplotlib import pyplot

    has_window = pyplot.get_backend().lower() not in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
    return pyplot if has_window else None

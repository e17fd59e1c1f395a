"""``radoncdt show``."""

import argparse
from itertools import count
from pathlib import Path
from typing import Any

import radoncdt
from radoncdt._extras import require
from radoncdt._text import escape_unprintable
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.inputs import Images, add_files_argument, list_files
from radoncdt.cli.messages import say
from radoncdt.cli.options import add_count_options, add_ink_options, read_ink_options
from radoncdt.cli.outputs import check_figure, write_figure
from radoncdt.cli.progress import Bar

EPILOG = """\
Without --out the figure opens in a window. Where no window can be opened, it is written to NAME_pipeline.png.

examples:
  radoncdt show anchor.png --out pipeline.png
  radoncdt show tracings/ --angles 32 --out figures/
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_files_argument(parser)
    add_ink_options(parser)
    add_count_options(parser.add_argument_group("features"), n_angles=128, n_levels=64)
    group = parser.add_argument_group("output")
    group.add_argument("--out", type=Path, metavar="FILE.png", help="write to this file, or, for several, to a folder")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    ink = read_ink_options(options)
    counts = {"n_angles": options.angles, "n_levels": options.levels}
    radoncdt.NormalizedRadonCDT(**counts).fit([[[1]]])  # refuses wrong counts before images are read
    require("matplotlib", "drawing a figure")
    paths, out = list_files("files", options.files), options.out
    in_folder = out is None or out.is_dir()
    if not in_folder and len(paths) > 1:
        raise ArgumentValueError("out", f"must be a folder that exists, for {len(paths)} images, got {out}")
    if not in_folder:
        check_figure(out, "out", inputs=[*paths, options.mask])
    window = out is None and _has_window()
    written = {path.resolve() for path in paths}  # nothing is written over these
    with Bar() as bar:
        images = Images(paths, ink, bar, "drawing figures")
        for path, image in images:
            figure = _make_figure(window)
            radoncdt.plot.pipeline(image, **counts, axes=figure.subplots(2, 3))
            figure.suptitle(escape_unprintable(path.name))
            if window:
                continue
            target = _choose_name(out or Path(), path.stem, written) if in_folder else out
            written.add(target.resolve())
            write_figure(target, figure)
            say(str(target))
    if window and images.n_refused < len(paths):
        from matplotlib import pyplot

        pyplot.show()
    return 1 if images.n_refused else 0


def _choose_name(folder: Path, stem: str, written: set[Path]) -> Path:
    """A file for the figure of an image that replaces none of the files written so far."""
    names = (f"{stem}_pipeline{f'_{k}' if k > 1 else ''}.png" for k in count(1))
    return next(folder / name for name in names if (folder / name).resolve() not in written)


def _has_window() -> bool:
    """Whether matplotlib can open a window."""
    from matplotlib import pyplot

    return pyplot.get_backend().lower() not in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def _make_figure(window: bool) -> Any:
    if window:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(12, 7), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(12, 7), layout="constrained")

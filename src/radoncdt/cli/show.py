"""``radoncdt show``."""

import argparse
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import radoncdt
from radoncdt._files import write_atomically
from radoncdt._text import escape_unprintable
from radoncdt.cli.messages import complain, say
from radoncdt.cli.options import check_counts, check_matplotlib, check_output, common_options, drawable, files, inks


def add_parser(commands: Any) -> None:
    show = commands.add_parser(
        "show",
        parents=[common_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Draw the whole way from an image to its mNR-CDT in one figure.",
        epilog="Without --out the figure opens in a window, or, where there is none, is written to NAME_pipeline.png.",
    )
    show.add_argument("--out", type=Path, metavar="FILE.png", help="write to this file; a folder, for several images")
    show.set_defaults(run=run, parser=show)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    check_counts(options, parser)
    check_matplotlib(parser)
    paths, out = files(options, parser), options.out
    if out is not None and len(paths) > 1 and not out.is_dir():
        parser.error(f"--out must be a folder that exists, for {len(paths)} images, got {out}")
    if out is not None and not out.is_dir():
        check_output(out, parser, inputs=paths)
        if not drawable(out):
            parser.error(f"--out must be a folder that exists, or a file that ends in .png, .pdf or .svg, got {out}")
    refused: list[str] = []

    def refuse(message: str) -> None:
        refused.append(message)
        complain(message)

    window = out is None and _has_window()
    written = {path.resolve() for path in paths}  # nothing is written over these
    for path, image in inks(paths, options.ink, refuse):
        figure = _figure(window)
        radoncdt.plot.pipeline(image, n_angles=options.angles, n_levels=options.levels, axes=figure.subplots(2, 3))
        figure.suptitle(escape_unprintable(path.name))
        if window:
            continue
        target = out if out is not None and not out.is_dir() else _unused(out or Path(), path.stem, written)
        written.add(target.resolve())
        write_atomically(target, partial(figure.savefig, format=target.suffix[1:], dpi=110))
        say(str(target))
    if window and len(refused) < len(paths):
        from matplotlib import pyplot

        pyplot.show()
    return 1 if refused else 0


def _unused(folder: Path, stem: str, written: set[Path]) -> Path:
    """Where to write the picture of an image, if another of the same name was there before."""
    names = (f"{stem}_pipeline{f'_{k}' if k > 1 else ''}.png" for k in count(1))
    return next(folder / name for name in names if (folder / name).resolve() not in written)


def _has_window() -> bool:
    """Whether matplotlib finds a way to open one."""
    from matplotlib import pyplot

    return pyplot.get_backend().lower() not in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def _figure(window: bool) -> Any:
    if window:
        from matplotlib import pyplot

        return pyplot.figure(figsize=(12, 7), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(12, 7), layout="constrained")

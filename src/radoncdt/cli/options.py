"""What the commands share: options, and checks of them."""

import argparse
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._validation import MOST_ANGLES, MOST_LEVELS
from radoncdt.ink import INKS, KINDS, InkError, image_files, read_ink
from radoncdt.ink.kinds import SPECKS


def ink_options() -> argparse.ArgumentParser:
    ink = argparse.ArgumentParser(add_help=False)
    ink.add_argument(
        "--ink",
        choices=INKS,
        default="auto",
        help="whether ink is darker or brighter than the paper; auto (the default) looks at the border of the image",
    )
    return ink


def ink_kind_options(kind: str) -> argparse.ArgumentParser:
    """How ink is found, for the commands that know kinds of images."""
    options = argparse.ArgumentParser(add_help=False, parents=[ink_options()])
    group = options.add_argument_group("how ink is found")
    group.add_argument(
        "--kind",
        choices=KINDS,
        default=kind,
        help="drawing: tracings, prints, rubbings; photo: transmitted light, thermograms; grey: grey values are mass "
        f"(default {kind})",
    )
    group.add_argument(
        "--threshold",
        type=float,
        metavar="T",
        help="drawing: from 0, the paper, to 1, the darkest ink (default: found); photo: how much a line must stand "
        "out of the noise (default 5)",
    )
    group.add_argument(
        "--low", type=float, metavar="T", help="photo: lines this strong continue strong ones (default T/2)"
    )
    group.add_argument(
        "--specks",
        type=float,
        metavar="SHARE",
        help="remove connected ink that is shorter than this share of the extent of all ink (default: "
        f"{', '.join(f'{share:g} for kind {name}' for name, share in SPECKS.items())}; 0 removes nothing)",
    )
    group.add_argument("--max-side", type=int, metavar="N", help="reduce larger images to N pixels (default 1024)")
    return options


def ink_settings(options: argparse.Namespace) -> dict[str, Any]:
    """Options of `radoncdt.ink.InkOptions`."""
    return {name: getattr(options, name) for name in ("kind", "ink", "threshold", "low", "specks", "max_side")}


def region_options() -> argparse.ArgumentParser:
    """What of an image counts."""
    options = argparse.ArgumentParser(add_help=False)
    group = options.add_mutually_exclusive_group()
    group.add_argument("--roi", metavar="x,y,w,h", help="only this rectangle, in pixels from the upper left")
    group.add_argument(
        "--mask", type=Path, metavar="FILE", help="only what is white in this image, as large as the first"
    )
    return options


def region_of(options: argparse.Namespace, parser: argparse.ArgumentParser) -> dict[str, Any]:
    """Arguments `roi` and `mask` of `radoncdt.ink.read_ink`."""
    if options.roi is None:
        return {"roi": None, "mask": options.mask}
    try:
        x, y, width, height = (int(number) for number in options.roi.split(","))
    except ValueError:
        parser.error(f"--roi must be four whole numbers x,y,w,h, got {options.roi}")
    return {"roi": (x, y, width, height), "mask": None}


def common_options() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, parents=[ink_options()])
    common.add_argument("files", nargs="+", metavar="FILE", help="image files, or folders of them")
    common.add_argument(
        "--angles", type=int, default=128, metavar="N", help="directions on the half circle (default 128)"
    )
    common.add_argument(
        "--levels", type=int, default=64, metavar="N", help="levels of the quantile functions (default 64)"
    )
    return common


def check_counts(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    for name, least, most in (("angles", 1, MOST_ANGLES), ("levels", 2, MOST_LEVELS)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}, got {getattr(options, name)}")
        if getattr(options, name) > most:
            parser.error(f"--{name} must be at most {most:,}, got {getattr(options, name):,}")


def check_jobs(options: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    if options.jobs == 0:
        parser.error("--jobs must not be 0; 1 is one thread, -1 all cores")


def check_matplotlib(parser: argparse.ArgumentParser) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        parser.error("drawing needs matplotlib: pip install 'radoncdt[plot]'")


def check_output(
    out: Path, parser: argparse.ArgumentParser, option: str = "out", inputs: Iterable[Path | None] = ()
) -> None:
    """Find out before the work, not after it, that a file cannot be written, or that it would replace an input.

    `option` is the name of an option without its dashes, or that of an argument in capital letters.
    """
    option = option if option.isupper() else f"--{option}"
    if not out.parent.is_dir():
        parser.error(f"{option} must be in a folder that exists, got {out}")
    if out.is_dir():
        parser.error(f"{option} must be a file, got the folder {out}")
    if not os.access(out.parent, os.W_OK):
        parser.error(f"{option} must be in a folder that can be written to, got {out}")
    if out.is_file() and any(path is not None and _same(path, out) for path in inputs):
        parser.error(f"{option} must not replace a file that the command reads, got {out}")
    if out.is_file() and os.access(out, os.R_OK) and _is_database(out):
        parser.error(f"{option} must not replace a catalogue or another database, got {out}")


def _same(path: Path, out: Path) -> bool:
    try:
        return path.samefile(out)
    except OSError:  # it does not exist, or the system refuses its name
        return False


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def inks(files: Iterable[Path], ink: str, refuse: Callable[[str], None]) -> Iterator[tuple[Path, NDArray[np.float32]]]:
    """The images that can be read."""
    for path in files:
        try:
            image = read_ink(path, ink=ink)
        except InkError as error:
            refuse(str(error))
        else:
            yield path, image


def files(options: argparse.Namespace, parser: argparse.ArgumentParser) -> list[Path]:
    files = image_files(options.files)
    if not files:
        parser.error(f"no image files in {', '.join(map(str, options.files))}")
    return files


def drawable(out: Path) -> bool:
    """Whether matplotlib writes files of this ending."""
    from matplotlib.backend_bases import FigureCanvasBase

    return out.suffix.lower().lstrip(".") in FigureCanvasBase.get_supported_filetypes()


def write(text: str | bytes, file: IO[bytes]) -> None:
    """For `write_whole`."""
    file.write(text.encode() if isinstance(text, str) else text)


def in_words_of_the_command(error: Exception) -> str:
    """A message of the package, with its arguments named as the options are."""
    renamed = {"folder": "--mnist-dir", "mnist": "--mnist-dir", "n_components": "--components", "parts": "PART"}
    renamed |= {"moving": "MOVING", "fixed": "FIXED", "train": "TRAIN_DIR", "test": "TEST_DIR"}
    same = (
        "threshold",
        "low",
        "specks",
        "max_side",
        "kind",
        "roi",
        "mask",
        "draws",
        "seed",
        "angles",
        "sizes",
        "repetitions",
        "out",
        "directions",
    )
    limits = ("max_aspect", "max_shear", "max_scale")
    options = renamed | {name: f"--{name.replace('_', '-')}" for name in (*same, *limits)}
    text = re.sub(r"`(\w+)`", lambda match: options.get(match[1], match[0]), str(error))
    return text.replace(", or None,", ",")

"""Options that several commands share: each is defined once, and turned into an argument of the library."""

import argparse
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from radoncdt._validation import ArgumentValueError
from radoncdt.ink import INK_KINDS, POLARITIES, InkError, InkOptions
from radoncdt.ink.files import read_image
from radoncdt.ink.options import DEFAULT_SPECKS, WATERMARK_THRESHOLD
from radoncdt.matching.plausible import Plausible

__all__ = [
    "add_count_options",
    "add_ink_options",
    "add_jobs_option",
    "add_map_options",
    "add_robust_option",
    "make_limits",
    "make_type",
    "read_ink_options",
    "whole_number",
]

Value = TypeVar("Value")

# ---------------------------------------------------------------- types


def make_type(expected: str, read: Callable[[str], Value]) -> Callable[[str], Value]:
    """Make the type of an option from a function that reads its text, or raises a ValueError."""

    def parse(text: str) -> Value:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {expected}, got {text!r}") from None

    return parse


def _read_limit(text: str) -> float | None:
    return None if text.lower() == "none" else float(text)


def _read_region(text: str) -> tuple[int, ...]:
    x, y, width, height = map(int, text.split(","))
    return x, y, width, height


whole_number = make_type("a whole number", int)
_number = make_type("a number", float)
_limit = make_type("a number or none", _read_limit)
_region = make_type("four whole numbers x,y,w,h", _read_region)


# ---------------------------------------------------------------- ink


def add_ink_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands that read images."""
    group = parser.add_argument_group("ink")
    group.add_argument(
        "--kind",
        metavar=f"{{{','.join(INK_KINDS)}}}",
        default=InkOptions.kind,
        help="drawing: tracings, prints, rubbings, and ordinary photographs of a drawing; watermark: a watermark "
        "photographed in transmitted light; grey: grey values are mass (default %(default)s)",
    )
    group.add_argument(
        "--ink",
        metavar=f"{{{','.join(POLARITIES)}}}",
        default=InkOptions.ink,
        help="whether the ink is darker or brighter than the paper; auto decides from the image (default %(default)s)",
    )
    group.add_argument(
        "--threshold",
        type=_number,
        metavar="T",
        help="drawing: the contrast of ink, from 0 (paper) to 1 (the darkest ink), by default Otsu's threshold; "
        f"watermark: the strength of a line in standard deviations of the noise (default {WATERMARK_THRESHOLD:g})",
    )
    group.add_argument(
        "--low",
        type=_number,
        metavar="T",
        help="watermark: the strength of a line that continues a stronger one (default half of --threshold)",
    )
    group.add_argument(
        "--specks",
        type=_number,
        metavar="SHARE",
        help="remove connected ink that is shorter than this share of the extent of all ink; 0 removes nothing "
        f"(default {', '.join(f'{share:g} for kind {kind}' for kind, share in DEFAULT_SPECKS.items())})",
    )
    group.add_argument(
        "--max-side",
        type=whole_number,
        metavar="N",
        help="reduce larger images until no side is longer than N pixels (default 1024; kind grey has no limit)",
    )
    region = group.add_mutually_exclusive_group()
    region.add_argument(
        "--roi",
        type=_region,
        metavar="x,y,w,h",
        help="read only this rectangle of each image: the column and row of its upper left pixel, its width and height",
    )
    region.add_argument(
        "--mask", type=Path, metavar="FILE", help="read only the pixels that are white in this image of the same size"
    )


def read_ink_options(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `radoncdt.ink.read_ink`, after a check of all that can be checked without an image."""
    settings = {field.name: getattr(options, field.name) for field in fields(InkOptions)}
    InkOptions(**settings)
    if options.mask is not None:
        try:
            read_image(options.mask)
        except InkError as error:
            raise ArgumentValueError("mask", f"must be an image file; {error}") from None
    return settings


# ---------------------------------------------------------------- maps


def add_map_options(parser: argparse.ArgumentParser, limits: Plausible, *, all_limits: bool = False) -> None:
    """Add the options of all commands that move images. `limits` has the defaults."""
    group = parser.add_argument_group("maps")
    group.add_argument("--no-mirror", action="store_true", help="reject maps that mirror")

    def add_limit(name: str, metavar: str, text: str, default: float | None) -> None:
        shown = "none" if default is None else f"{default:g}"
        text = f"reject maps {text}; none lifts the limit (default {shown})"
        group.add_argument(name, type=_limit, default=default, metavar=metavar, help=text)

    add_limit("--max-aspect", "R", "whose scale factors differ by more than a factor R", limits.max_aspect)
    add_limit("--max-shear", "DEG", "that shear by more than DEG degrees", limits.max_shear)
    if all_limits:
        add_limit("--max-scale", "F", "that change the size by more than a factor F", limits.max_scale)
        group.add_argument(
            "--similarity",
            action="store_true",
            help="reject maps that are not similarities, such as shears",
        )


def make_limits(options: argparse.Namespace) -> Plausible:
    """The limits that the options of `add_map_options` set."""
    return Plausible(
        max_aspect=options.max_aspect,
        max_shear=options.max_shear,
        max_scale=getattr(options, "max_scale", None),
        similarity=getattr(options, "similarity", False),
        reflections=not options.no_mirror,
    )


# ---------------------------------------------------------------- computation


def add_count_options(parser: Any, n_angles: int, n_levels: int) -> None:
    """Add the numbers of angles and levels, with their defaults."""
    parser.add_argument(
        "--angles",
        type=whole_number,
        default=n_angles,
        metavar="N",
        help="number of directions on the half circle (default %(default)s)",
    )
    parser.add_argument(
        "--levels",
        type=whole_number,
        default=n_levels,
        metavar="N",
        help="number of levels of the quantile functions (default %(default)s)",
    )


def add_jobs_option(parser: Any, workers: str = "threads") -> None:
    """Add the number of workers."""
    parser.add_argument(
        "--jobs",
        type=whole_number,
        default=-1,
        metavar="N",
        help=f"number of {workers} (default %(default)s, one per core)",
    )


def add_robust_option(parser: Any) -> None:
    """Add the choice of robust features."""
    parser.add_argument(
        "--robust",
        action="store_true",
        help="robust normalisation, which specks hardly affect: robust moments, without the outermost levels",
    )

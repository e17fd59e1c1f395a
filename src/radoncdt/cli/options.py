"""Options that several commands share: each is defined once, and turned into an argument of the library."""

import argparse
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from radoncdt._validation import ArgumentValueError
from radoncdt.ink import INK_KINDS, POLARITIES, InkError, InkOptions
from radoncdt.ink.files import read_image
from radoncdt.ink.options import DEFAULT_MAX_SIDE, DEFAULT_SPECKS, WATERMARK_THRESHOLD
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import PRIORS, MapPrior, read_prior

__all__ = [
    "add_count",
    "add_feature_options",
    "add_ink_options",
    "add_jobs_option",
    "add_map_options",
    "add_prior_option",
    "make_limits",
    "make_type",
    "read_ink_options",
    "whole_number",
]

_Value = TypeVar("_Value")

# ---------------------------------------------------------------- types


def make_type(expected: str, read: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Make the type of an option from a function that reads its text, or raises a ValueError."""

    def parse(text: str) -> _Value:
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


def _read_prior_or_auto(text: str) -> MapPrior | str:
    return text if text == "auto" else _read_prior(text)


def _read_prior(text: str) -> MapPrior:
    if text in PRIORS:
        return PRIORS[text]
    aspect, rotation = map(float, text.split(","))
    return read_prior((aspect, rotation))


whole_number = make_type("a whole number", int)
_number = make_type("a number", float)
_limit = make_type("a number or none", _read_limit)
_PENALTIES = "or two penalties ASPECT,ROTATION that are not negative"
_prior = make_type(f"{', '.join(PRIORS)}, {_PENALTIES}", _read_prior)
_prior_or_auto = make_type(f"auto, {', '.join(PRIORS)}, {_PENALTIES}", _read_prior_or_auto)
_region = make_type("four whole numbers x,y,w,h", _read_region)


# ---------------------------------------------------------------- ink

_INK_TYPES: dict[str, tuple[Callable[[str], Any], str]] = {
    "kind": (str, f"{{{','.join(INK_KINDS)}}}"),
    "ink": (str, f"{{{','.join(POLARITIES)}}}"),
    "threshold": (_number, "T"),
    "low": (_number, "T"),
    "specks": (_number, "SHARE"),
    "max_side": (whole_number, "N"),
    "roi": (_region, "x,y,w,h"),
    "mask": (Path, "FILE"),
}
"""The type and the placeholder of the option for each field of `InkOptions`."""

_INK_HELP = {
    "kind": "drawing: tracings, prints, rubbings, and ordinary photographs of a drawing; watermark: a watermark "
    "photographed in transmitted light; grey: grey values are mass (default %(default)s)",
    "ink": "whether the ink is darker or brighter than the paper; auto decides from the image, but watermarks count as "
    "bright (default %(default)s)",
    "threshold": "drawing: the contrast of ink, from 0 (paper) to 1 (the darkest ink), by default Otsu's threshold; "
    f"watermark: the strength of a line in standard deviations of the noise (default {WATERMARK_THRESHOLD:g})",
    "low": "watermark: the strength of a line that continues a stronger one (default half of --threshold)",
    "specks": "remove connected ink that is shorter than this share of the extent of all ink; 0 removes nothing "
    f"(default {', '.join(f'{share:g} for kind {kind}' for kind, share in DEFAULT_SPECKS.items())})",
    "max_side": "reduce larger images until no side is longer than N pixels "
    f"(default {DEFAULT_MAX_SIDE}; kind grey has no limit)",
    "roi": "read only this rectangle of each image: the column and row of its upper left pixel, its width and height",
    "mask": "read only the pixels that are white in this image of the same size",
}


def add_ink_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands that read images."""
    group = parser.add_argument_group("ink")
    region = group.add_mutually_exclusive_group()
    for field in fields(InkOptions):
        name, (kind, metavar) = field.name, _INK_TYPES[field.name]
        option = f"--{name.replace('_', '-')}"
        place = region if name in ("roi", "mask") else group
        place.add_argument(option, type=kind, metavar=metavar, default=field.default, help=_INK_HELP[name])


def read_ink_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `radoncdt.ink.read_ink`, after all checks that need no image."""
    settings = {field.name: getattr(options, field.name) for field in fields(InkOptions)}
    InkOptions(**settings)
    if options.mask is not None:
        try:
            read_image(options.mask)
        except InkError as error:
            raise ArgumentValueError("mask", f"must be an image file; {error}") from None
    return settings


# ---------------------------------------------------------------- maps

_LIMITS = {
    "max_aspect": ("R", "whose scale factors differ by more than a factor R"),
    "max_shear": ("DEG", "that shear by more than DEG degrees"),
    "max_scale": ("F", "that change the size by more than a factor F"),
}
"""The placeholder of the option for each limit, and the maps that it rejects."""


def add_map_options(
    parser: argparse.ArgumentParser, limits: Plausible, *, all_limits: bool = False, with_prior: bool = False
) -> Any:
    """Add the options of all commands that move images, and return their group. `limits` has the defaults."""
    group = parser.add_argument_group("maps")
    group.add_argument("--no-mirror", action="store_true", help="reject maps that mirror")
    for name in _LIMITS if all_limits else ("max_aspect", "max_shear"):
        metavar, rejected = _LIMITS[name]
        default = getattr(limits, name)
        shown = "none" if default is None else f"{default:g}"
        text = f"reject maps {rejected}; none lifts the limit (default {shown})"
        group.add_argument(f"--{name.replace('_', '-')}", type=_limit, default=default, metavar=metavar, help=text)
    if all_limits:
        group.add_argument("--similarity", action="store_true", help="reject maps that are not similarities")
    if with_prior:
        add_prior_option(group)
    return group


def add_prior_option(group: Any, *, auto: str | None = None) -> None:
    """Add the option for a prior. If it may be "auto", the default is None, and `auto` says in the help what it is."""
    text = (
        "which maps are likely: any (all of them), upright (penalties on rotation, stretch and shear), photograph "
        "(penalties on stretch and shear), or the two penalties themselves"
    )
    names = [*PRIORS] if auto is None else ["auto", *PRIORS]
    group.add_argument(
        "--prior",
        type=_prior if auto is None else _prior_or_auto,
        default=PRIORS["any"] if auto is None else None,
        metavar=f"{{{','.join(names)}}}|ASPECT,ROTATION",
        help=f"{text} (default any)" if auto is None else f"{text}; {auto}",
    )


def make_limits(options: argparse.Namespace) -> Plausible:
    """Return the limits that the options of `add_map_options` set."""
    given = {name: getattr(options, name) for name in (*_LIMITS, "similarity") if hasattr(options, name)}
    return Plausible(reflections=not options.no_mirror, **given)


# ---------------------------------------------------------------- computation


def add_count(parser: Any, name: str, default: int, text: str) -> None:
    """Add an option that takes a whole number. Its help is `text`, followed by the default."""
    parser.add_argument(name, type=whole_number, default=default, metavar="N", help=f"{text} (default %(default)s)")


def add_jobs_option(parser: Any, workers: str = "threads") -> None:
    """Add the number of workers."""
    add_count(parser, "--jobs", -1, f"number of {workers}; -1 means one per core")


def add_feature_options(parser: argparse.ArgumentParser, defaults: Any, *, with_robust: bool = False) -> Any:
    """Add the options of all commands that transform images, and return their group.

    The attributes `n_angles` and `n_levels` of `defaults` are the default numbers of angles and levels.
    """
    group = parser.add_argument_group("features")
    add_count(group, "--angles", defaults.n_angles, "number of directions on the half circle")
    add_count(group, "--levels", defaults.n_levels, "number of levels of the quantile functions")
    if with_robust:
        text = "robust normalisation, which specks hardly affect: robust moments, without the outermost levels"
        group.add_argument("--robust", action="store_true", help=text)
    add_jobs_option(group)
    return group

"""Checks of arguments. Every error names the argument, the requirement and the given value in one sentence."""

import sys
from collections.abc import Callable, Collection
from math import isfinite
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._text import suggest
from radoncdt._typing import Floats

__all__ = [
    "MAX_ANGLES",
    "MAX_COORDINATE",
    "MAX_IMAGES",
    "MAX_LEVELS",
    "MAX_PIXELS",
    "MAX_SIDE",
    "ArgumentError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "check_array",
    "check_choice",
    "check_coordinates",
    "check_count",
    "check_finite_array",
    "check_image_shape",
    "check_instance",
    "check_not_colour",
    "check_number",
    "check_sequence",
    "find_stacklevel",
    "show_first",
]

# Larger values than these are assumed to be mistakes.
MAX_COORDINATE = 1e150  # largest absolute coordinate, in pixels; float64 cannot hold the square of much larger numbers
MAX_ANGLES = 2**16  # directions per transform
MAX_LEVELS = 2**20  # levels per quantile function
MAX_PIXELS = 2**28  # pixels of one requested image, which takes 2 GiB in float64
MAX_SIDE = 2**14  # pixels along each side of a requested square image, which then has MAX_PIXELS pixels
MAX_IMAGES = 10**6  # images of one requested data set

_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")


class ArgumentError(Exception):
    """An invalid argument.

    Attributes
    ----------
    argument : str
        The name of the argument.
    problem : str
        The rest of the message, such as "must be at least 1, got 0".
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(argument, problem)
        self.argument, self.problem = argument, problem

    def __str__(self) -> str:
        return f"`{self.argument}` {self.problem}"


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type with an invalid value or shape."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of the wrong type."""


def check_array(values: object, name: str, hint: str = "") -> NDArray[Any]:
    """Convert to an array of real numbers (bool, integer or float), without a copy if possible.

    `hint` is appended to messages about nested sequences that do not form an array.
    """
    if values is None or isinstance(values, (str, bytes)):
        raise ArgumentTypeError(name, f"must hold numbers, got {values!r}{_advise_on_files(values)}")
    if any(isinstance(v, np.ma.MaskedArray) for v in (values, *(values if isinstance(values, (list, tuple)) else ()))):
        raise ArgumentTypeError(name, "must not be a masked array; fill it first, for example with `.filled(0)`")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ArgumentValueError(name, f"must have rows of equal length, got several lengths{hint}") from error
    if array.dtype.kind not in "biuf":
        given = f"{type(values).__name__} of dtype {array.dtype}"
        more = hint if array.dtype == object else _advise_on_files(*array.ravel()[:1])
        raise ArgumentTypeError(name, f"must hold bool, integer or float numbers, got {given}{more}")
    return array


def _advise_on_files(value: object) -> str:
    """Say how to read a file if the value may be the name of an image."""
    is_image = isinstance(value, str) and value.lower().endswith(_IMAGE_SUFFIXES)
    return "; `radoncdt.ink.read_ink` reads images from files" if is_image else ""


def check_finite_array(values: object, name: str) -> Floats:
    """Convert to a float64 array of finite numbers."""
    array = check_array(values, name).astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ArgumentValueError(name, f"must be finite, got {show_first(~np.isfinite(array), array)}")
    return array


def check_coordinates(values: object, name: str) -> Floats:
    """Convert to a float64 array of coordinates, whose squares float64 can hold."""
    array = check_finite_array(values, name)
    if np.abs(array).max(initial=0) > MAX_COORDINATE:
        raise ArgumentValueError(name, f"must not be beyond ±{MAX_COORDINATE:g}, got {np.abs(array).max():g}")
    return array


def show_first(bad: NDArray[np.bool_], array: NDArray[Any]) -> str:
    """Format the first bad value of an array and its index for a message."""
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{array[where]} at {list(where)}" if where else f"{array[where]}"


def check_not_colour(shape: tuple[int, ...], name: str) -> None:
    """Refuse the shape of a colour image: the last axis has 3 or 4 entries, the two axes before it more than 4."""
    if len(shape) >= 3 and shape[-1] in (3, 4) and min(shape[-3:-1]) > 4:
        raise ArgumentValueError(
            name,
            f"must have shape (H, W) or (…, H, W), got {shape}, which looks like a colour image; "
            "`radoncdt.ink.find_ink` turns one such image into a measure; pass a stack of narrow images as a list of "
            "two-dimensional arrays",
        )


def check_image_shape(value: object, name: str) -> tuple[int, int]:
    """Check the shape (H, W) of a requested image."""
    if not isinstance(value, (tuple, list, np.ndarray)) or np.shape(value) != (2,):
        raise ArgumentTypeError(name, f"must be a pair (H, W), got {value!r}")
    height, width = check_count(value[0], f"{name}[0]", 1), check_count(value[1], f"{name}[1]", 1)
    if height * width > MAX_PIXELS:
        raise ArgumentValueError(name, f"must not have more than {MAX_PIXELS:,} pixels, got {height:,} × {width:,}")
    return height, width


def check_count(value: object, name: str, minimum: int, maximum: int | None = None) -> int:
    """Check an integer that is at least `minimum` and, if given, at most `maximum`."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(name, f"must be an integer, got {value!r}")
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(name, f"must be an integer, got {value!r}") from None
    if number < minimum:
        raise ArgumentValueError(name, f"must be at least {minimum}, got {number}")
    if maximum is not None and number > maximum:
        raise ArgumentValueError(name, f"must be at most {maximum:,}, got {number:,}")
    return number


def check_number(
    value: object, name: str, requirement: str, is_valid: Callable[[float], bool], *, may_be_infinite: bool = False
) -> float:
    """Check a real number; `requirement` states in words what `is_valid` tests. Booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError(name, f"must be {requirement}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # a large int
        number = np.inf
    if not (isfinite(number) or may_be_infinite) or not is_valid(number):
        raise ArgumentValueError(name, f"must be {requirement}, got {value!r}")
    return number


def check_choice(value: object, name: str, options: Collection[str], hint: str = "") -> str:
    """Check that a string is one of the options; `hint`, or else a suggestion, is appended to the message."""
    if not isinstance(value, str) or value not in options:
        raise ArgumentValueError(
            name, f"must be one of {', '.join(map(repr, options))}, got {value!r}{hint or suggest(str(value), options)}"
        )
    return value


def check_sequence(value: object, name: str, *, allow_string: bool = False) -> tuple[Any, ...]:
    """Convert a non-empty sequence to a tuple; with `allow_string`, a string is a sequence of one item."""
    if isinstance(value, str):
        if allow_string:
            return (value,)
        raise ArgumentTypeError(name, f"must be a sequence, got the string {value!r}")
    try:
        items: tuple[Any, ...] = tuple(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(name, f"must be a sequence, got {value!r}") from None
    if not items:
        raise ArgumentValueError(name, "must not be empty")
    return items


def check_instance(value: object, name: str, kind: type) -> None:
    """Refuse a value that is not an instance of a type."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(name, f"must be of the type {kind.__name__}, got {value!r}")


def find_stacklevel() -> int:
    """Return the `stacklevel` with which a warning names the line outside this package and scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("radoncdt", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level

"""Checks of arguments. An error names the argument, what was expected and what was given, in one sentence."""

import sys
from collections.abc import Callable, Collection
from math import isfinite
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_DISTANT = 1e150
"""Coordinates beyond this have squares that float64 cannot hold."""

MOST_ANGLES, MOST_LEVELS = 2**16, 2**20
"""Larger counts are taken for a mistake."""

MOST_PIXELS = 2**28
"""More pixels than this in one image that is asked for are taken for a mistake: 2 GiB in float64."""

MOST_SIDE = 2**14
"""Pixels along each side of a square image of that size."""

MOST_IMAGES = 10**6
"""More images than this in a set that is asked for are taken for a mistake."""


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


def real_array(values: object, name: str, hint: str = "") -> NDArray[Any]:
    """An array of real numbers (bool, integer or float) as NumPy reads it, without a copy where there need be none."""
    if values is None or isinstance(values, (str, bytes)):
        raise ArgumentTypeError(name, f"must hold numbers, got {values!r}")
    if any(isinstance(v, np.ma.MaskedArray) for v in (values, *(values if isinstance(values, (list, tuple)) else ()))):
        raise ArgumentTypeError(name, "must not be a masked array; fill it first, for example with `.filled(0)`")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ArgumentValueError(name, f"must have rows of equal length, got several lengths{hint}") from error
    if array.dtype.kind not in "biuf":
        given = f"{type(values).__name__} of dtype {array.dtype}"
        more = hint if array.dtype == object else ""
        raise ArgumentTypeError(name, f"must hold bool, integer or float numbers, got {given}{more}")
    return array


def not_in_colours(shape: tuple[int, ...], name: str) -> None:
    """Refuse the shape of an image in colours: the last axis has 3 or 4 entries, the two before it more than 4."""
    if len(shape) >= 3 and shape[-1] in (3, 4) and min(shape[-3:-1]) > 4:
        raise ArgumentValueError(
            name,
            f"must have shape (H, W) or (…, H, W), got {shape}, which looks like an image in colours; "
            "`radoncdt.ink.find_ink` turns one such image into a measure; pass a stack of narrow images as a list of "
            "two-dimensional arrays",
        )


def finite_array(values: object, name: str) -> NDArray[np.float64]:
    """The same as float64, and finite."""
    array = real_array(values, name).astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise ArgumentValueError(name, f"must be finite, got {first_where(~np.isfinite(array), array)}")
    return array


def number(
    value: object, name: str, what: str, good: Callable[[float], bool], *, may_be_infinite: bool = False
) -> float:
    """A real number that is good; `what` says which are. Truth values are not numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ArgumentTypeError(name, f"must be {what}, got {value!r}")
    try:
        found = float(value)
    except OverflowError:  # of a large int
        found = np.inf
    if not (isfinite(found) or may_be_infinite) or not good(found):
        raise ArgumentValueError(name, f"must be {what}, got {value!r}")
    return found


def coordinates(values: object, name: str) -> NDArray[np.float64]:
    """The same, with squares that float64 can hold."""
    array = finite_array(values, name)
    if np.abs(array).max(initial=0) > MOST_DISTANT:
        raise ArgumentValueError(name, f"must not be beyond ±{MOST_DISTANT:g}, got {np.abs(array).max():g}")
    return array


def first_where(bad: NDArray[np.bool_], array: NDArray[Any]) -> str:
    """The first bad value and its place, for a message."""
    where = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{array[where]} at {list(where)}" if where else f"{array[where]}"


def count(value: object, name: str, least: int, most: int | None = None) -> int:
    """A whole number of at least `least`, and at most `most`."""
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(name, f"must be an integer, got {value!r}")
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(name, f"must be an integer, got {value!r}") from None
    if number < least:
        raise ArgumentValueError(name, f"must be at least {least}, got {number}")
    if most is not None and number > most:
        raise ArgumentValueError(name, f"must be at most {most:,}, got {number:,}")
    return number


def choice(value: object, name: str, options: Collection[str], hint: str = "") -> str:
    """One of the given words."""
    if not isinstance(value, str) or value not in options:
        raise ArgumentValueError(name, f"must be one of {', '.join(map(repr, options))}, got {value!r}{hint}")
    return value


def sequence(value: object, name: str, *, alone: bool = False) -> tuple[Any, ...]:
    """The items of a sequence that is not empty, or, if that is allowed, a string alone."""
    if isinstance(value, str):
        if alone:
            return (value,)
        raise ArgumentTypeError(name, f"must be a sequence, got the string {value!r}")
    try:
        items: tuple[Any, ...] = tuple(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(name, f"must be a sequence, got {value!r}") from None
    if not items:
        raise ArgumentValueError(name, "must not be empty")
    return items


def instance(value: object, name: str, kind: type) -> None:
    """Refuse what is not of a kind."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(name, f"must be of the type {kind.__name__}, got {value!r}")


def pair_of_sizes(value: object, name: str) -> tuple[int, int]:
    """The shape (H, W) of an image."""
    if not isinstance(value, (tuple, list, np.ndarray)) or np.shape(value) != (2,):
        raise ArgumentTypeError(name, f"must be a pair (H, W), got {value!r}")
    height, width = count(value[0], f"{name}[0]", 1), count(value[1], f"{name}[1]", 1)
    if height * width > MOST_PIXELS:
        raise ArgumentValueError(name, f"must not have more than {MOST_PIXELS:,} pixels, got {height:,} × {width:,}")
    return height, width


def levels_to_the_caller() -> int:
    """The `stacklevel` by which a warning names the line that called the package, or an estimator of it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("radoncdt", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level

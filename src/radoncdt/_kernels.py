"""The door to the kernels: chooses one of their implementations, and tells which one is in use.

The implementations are compiled libraries for several instruction sets (``_native``) and NumPy (``_numpy``). The
fastest one that this machine can run is taken, unless the environment variable RADONCDT_KERNELS names another.
"""

import json
import os
import threading
import warnings
from functools import cache
from typing import TYPE_CHECKING, cast

from radoncdt import _validation
from radoncdt._interface import Kernels

if TYPE_CHECKING:
    from radoncdt._native import Library

NAMES = ("avx512", "avx2", "baseline", "numpy")
"""The implementations, the fastest first."""

VARIABLE = "RADONCDT_KERNELS"

SLOWER = 25
"""About how many times as long the NumPy kernels take as the compiled ones (``benchmarks/kernels.py``)."""

REINSTALL = "install it again with pip install --force-reinstall --no-cache-dir --no-deps"

_choosing = threading.Lock()  # the first calls may come from several threads


class KernelError(ValueError):
    """RADONCDT_KERNELS names kernels that do not exist, or that this machine cannot run."""


def current() -> Kernels:
    """The kernels in use, chosen at the first call.

    Raises
    ------
    KernelError
        If RADONCDT_KERNELS does not name an implementation that this machine can run.

    Warns
    -----
    RuntimeWarning
        If the NumPy kernels are in use although nobody asked for them.
    """
    return load(current_name())


def current_name() -> str:
    """The name of the kernels in use; see `current`."""
    with _choosing:
        return _choose()


@cache
def _choose() -> str:
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        fastest = next(name for name in NAMES if _is_usable(name))
        if fastest == "numpy":
            _warn_of_numpy()
        return fastest
    if asked not in NAMES:
        raise KernelError(f"{VARIABLE} must be one of {', '.join(NAMES)}, got {asked!r}")
    if not _is_usable(asked):
        reason = missing() or f"this machine can run {', '.join(available())}"
        raise KernelError(f"{VARIABLE} must name kernels that this machine can run, got {asked!r}: {reason}")
    return asked


def _warn_of_numpy() -> None:
    message = (
        f"radoncdt uses its NumPy kernels, which are about {SLOWER} times slower than the compiled ones: {missing()}. "
        f"{VARIABLE}=numpy silences this warning."
    )
    warnings.warn(message, RuntimeWarning, stacklevel=_validation.levels_to_the_caller())


def describe() -> str:
    """The name of the kernels in use, and, if they are compiled, a part of the hash of their sources."""
    name = current_name()
    return name if name == "numpy" else f"{name}, sources {_library(name).source_hash[:16]}"


def load(name: str) -> Kernels:
    """The implementation of a name, one of `available`."""
    if name == "numpy":
        from radoncdt import _numpy

        return cast(Kernels, _numpy)
    return _library(name)


def available() -> tuple[str, ...]:
    """The names of the implementations that this machine can run, the fastest first."""
    return tuple(name for name in NAMES if _is_usable(name))


@cache
def _is_usable(name: str) -> bool:
    """Whether an implementation is there, and this machine can run it."""
    if name == "numpy":
        return True
    if missing():
        return False
    try:
        return name == "baseline" or (_library("baseline").can_run(name) and bool(_library(name)))
    except (OSError, AttributeError):  # no such file, or a damaged one; the baseline has been loaded before
        return False


@cache
def _library(name: str) -> "Library":
    from radoncdt import _native

    return _native.load(name)


@cache
def missing() -> str:
    """Why there are no compiled kernels, and what to do; empty if there are some."""
    from radoncdt import _native

    try:  # what the installation said
        note = json.loads((_native.FOLDER / "build.json").read_bytes()).get("missing")
    except (OSError, ValueError):
        note = None
    if note:
        return f"{note}; to compile them, {REINSTALL}, without RADONCDT_BUILD and with a compiler or network access"
    if _native.FOLDER.with_name("build.py").exists():  # a checkout: libraries of other sources must not be used
        from radoncdt._native import build

        try:
            build.ensure_current()
        except build.BuildError as error:
            return f"the sources of the kernels could not be compiled: {error}"
    try:
        _library("baseline")
    except (OSError, AttributeError) as error:
        return f"the compiled kernels cannot be loaded ({error}); {REINSTALL}"
    return ""

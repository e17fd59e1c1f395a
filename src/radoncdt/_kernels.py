"""The choice between the implementations of the kernels.

The implementations are compiled libraries for several instruction sets (``_native``) and NumPy (``_numpy``). The
fastest one that this machine can run is used, unless the environment variable RADONCDT_KERNELS names another.
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

__all__ = [
    "NUMPY_SLOWDOWN",
    "KernelError",
    "available",
    "current",
    "current_name",
    "explain_missing",
    "identify",
    "load",
]

NUMPY_SLOWDOWN = 25  # approximate ratio of the run times of NumPy and compiled kernels (benchmarks/kernels.py)

_NAMES = ("avx512", "avx2", "baseline", "numpy")  # the implementations, the fastest first
_VARIABLE = "RADONCDT_KERNELS"  # environment variable that selects an implementation
_REINSTALL = "reinstall it with pip install --force-reinstall --no-cache-dir --no-deps"

_choosing = threading.Lock()  # the first calls may come from several threads


class KernelError(ValueError):
    """RADONCDT_KERNELS names kernels that do not exist, or that this machine cannot run."""


def current() -> Kernels:
    """Return the kernels in use, which are chosen at the first call.

    Raises
    ------
    KernelError
        If RADONCDT_KERNELS does not name an implementation that this machine can run.

    Warns
    -----
    RuntimeWarning
        If the NumPy kernels are in use although RADONCDT_KERNELS does not select them.
    """
    return load(current_name())


def current_name() -> str:
    """Return the name of the kernels in use; see `current`."""
    with _choosing:
        return _choose()


@cache
def _choose() -> str:
    requested = os.environ.get(_VARIABLE, "")
    if not requested:
        fastest = next(name for name in _NAMES if _is_usable(name))
        if fastest == "numpy":
            _warn_about_numpy()
        return fastest
    if requested not in _NAMES:
        raise KernelError(f"{_VARIABLE} must be one of {', '.join(_NAMES)}, got {requested!r}")
    if not _is_usable(requested):
        reason = explain_missing() or f"this machine can run {', '.join(available())}"
        raise KernelError(f"{_VARIABLE} must name kernels that this machine can run, got {requested!r}: {reason}")
    return requested


def _warn_about_numpy() -> None:
    message = (
        f"radoncdt uses its NumPy kernels, which are about {NUMPY_SLOWDOWN} times slower than the compiled ones: "
        f"{explain_missing()}. {_VARIABLE}=numpy silences this warning."
    )
    warnings.warn(message, RuntimeWarning, stacklevel=_validation.find_stacklevel())


def identify() -> str:
    """Return the name of the kernels in use and, if they are compiled, a part of the hash of their sources."""
    name = current_name()
    return name if name == "numpy" else f"{name}, sources {_library(name).source_hash[:16]}"


def load(name: str) -> Kernels:
    """Return an implementation by its name, which must be one of `available`."""
    if name == "numpy":
        from radoncdt import _numpy

        return cast(Kernels, _numpy)
    return _library(name)


def available() -> tuple[str, ...]:
    """Return the names of the implementations that this machine can run, the fastest first."""
    return tuple(name for name in _NAMES if _is_usable(name))


@cache
def _is_usable(name: str) -> bool:
    """Whether an implementation is installed and this machine can run it."""
    if name == "numpy":
        return True
    if explain_missing():
        return False
    try:
        return name == "baseline" or (_library("baseline").can_run(name) and bool(_library(name)))
    except (OSError, AttributeError):  # the file does not exist or is damaged; the baseline has been loaded before
        return False


@cache
def _library(name: str) -> "Library":
    from radoncdt import _native

    return _native.load(name)


@cache
def explain_missing() -> str:
    """Explain why there are no compiled kernels and how to install them; empty if there are some."""
    from radoncdt import _native

    try:  # the note that the installation left
        note = json.loads((_native.FOLDER / "build.json").read_bytes()).get("missing")
    except (OSError, ValueError):
        note = None
    if note:
        return f"{note}; to compile them, {_REINSTALL}, without RADONCDT_BUILD and with a compiler or network access"
    if _native.FOLDER.with_name("build.py").exists():  # a checkout: libraries of other sources must not be used
        from radoncdt._native import build

        try:
            build.ensure_current()
        except build.BuildError as error:
            return f"the sources of the kernels could not be compiled: {error}"
    try:
        _library("baseline")
    except (OSError, AttributeError) as error:
        return f"the compiled kernels cannot be loaded ({error}); {_REINSTALL}"
    return ""

"""The door to the kernels: chooses one of their implementations, and tells which one is in use.

The implementations are compiled libraries for several instruction sets (``_native``) and NumPy (``_numpy``). The
fastest one that this machine can run is taken, unless the environment variable RADONCDT_KERNELS names another.
"""

import os
import warnings
from functools import cache
from typing import TYPE_CHECKING, cast

from radoncdt._interface import Kernels

if TYPE_CHECKING:
    from radoncdt._native import Library

NAMES = ("avx512", "avx2", "baseline", "numpy")
"""The implementations, the fastest first."""

VARIABLE = "RADONCDT_KERNELS"

SLOWER = 25
"""About how many times as long the NumPy kernels take as the compiled ones (``benchmarks/kernels.py``)."""

HOW_TO_FIX = (
    "install it again where pip finds a C++20 compiler or can download the package ziglang, which contains one, with "
    "the options --force-reinstall --no-cache-dir --no-deps of pip install"
)


@cache
def current() -> Kernels:
    """The kernels in use, chosen at the first call.

    Raises
    ------
    ValueError
        If RADONCDT_KERNELS does not name an implementation that this machine can run.

    Warns
    -----
    RuntimeWarning
        If the NumPy kernels are in use although nobody asked for them.
    """
    return load(current_name())


@cache
def current_name() -> str:
    """The name of the kernels in use; see `current`."""
    asked = os.environ.get(VARIABLE, "")
    if asked and asked not in NAMES:
        raise ValueError(f"{VARIABLE} must be one of {', '.join(NAMES)}, got {asked!r}")
    if asked == "numpy":
        return asked
    if asked:
        if asked not in available():
            reason = missing() or f"this machine can run {', '.join(available())}"
            raise ValueError(f"{VARIABLE} must name kernels that this machine can run, got {asked!r}: {reason}")
        return asked
    if available()[0] == "numpy":
        warnings.warn(
            f"radoncdt uses its NumPy kernels, which are about {SLOWER} times slower than the compiled ones: "
            f"{missing()}; {HOW_TO_FIX}. {VARIABLE}=numpy silences this warning.",
            RuntimeWarning,
            stacklevel=2,
        )
    return available()[0]


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
    return (*_search()[0], "numpy")


def missing() -> str:
    """Why there are no compiled kernels; empty if there are some."""
    return _search()[1]


@cache
def _library(name: str) -> "Library":
    from radoncdt import _native

    return _native.load(name)


@cache
def _search() -> tuple[tuple[str, ...], str]:
    """The instruction sets of the compiled libraries that this machine can run; if there are none, the reason."""
    from radoncdt import _native

    if _native.FOLDER.with_name("build.py").exists():  # a checkout: libraries of other sources must not be used
        from radoncdt._native import build

        if os.environ.get("RADONCDT_BUILD") == "numpy":
            return (), "RADONCDT_BUILD=numpy is set"
        try:
            build.ensure_current()
        except build.NoCompilerError as error:
            return (), f"the sources of the kernels cannot be compiled ({error})"
    try:
        baseline = _library("baseline")
    except OSError as error:
        return (), f"the compiled kernels are missing or cannot be loaded ({error})"
    faster = (name for name in NAMES[:-2] if baseline.can_run(name) and _native.path_of(name).exists())
    return (*faster, "baseline"), ""

"""What else computes Radon transforms and R-CDTs, each behind the same functions, one small file a library.

A file has FORMS by name: "as shipped", what its documentation leads to, and "tuned", with all the care we know:
masses on bins with edges, levels that leave the ends out, exact moments of the image, the full circle. Forms that do
not differ are one, "as shipped". Each is a `Form`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NAMES = ("ours", "scikit_image", "pytranskit_", "torchcdt_", "pot", "adrt_", "astra_")


class Form(NamedTuple):
    """One way to use a library."""

    nrcdt: Callable[[NDArray[Any], int], tuple[Floats, Floats, Floats]]
    """From images (n, H, W) and a number of angles to NR-CDTs (n, angles, levels), the angles and the levels."""
    features: Callable[[NDArray[Any], int], Floats]
    """From images and a number of angles to mNR-CDTs (n, levels)."""


class Peer(NamedTuple):
    """A library, or why it is not there."""

    name: str
    package: str
    forms: dict[str, Form]
    missing: str | None


def peers() -> list[Peer]:
    """All of them; one that cannot be imported says why, and is not dropped."""
    found = []
    for name in NAMES:
        try:
            module = import_module(f"peers.{name}")
            found.append(Peer(module.NAME, module.PACKAGE, module.FORMS, None))
        except ImportError as error:
            found.append(Peer(name.strip("_"), name.strip("_").replace("_", "-"), {}, str(error)))
    return found

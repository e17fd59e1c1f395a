"""What else computes Radon transforms and R-CDTs, each behind the same functions, one small file a library.

A file has FORMS by name: "as shipped", what its documentation leads to, and "tuned", with all the care we know:
masses on bins with edges, levels that leave the ends out, exact moments of the image, the full circle. Forms that do
not differ are one, "as shipped". Each is a `Form`. Images are given as they are, in float32 or float64; a library that
takes but one of them converts.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Transform = Callable[[NDArray[Any], int], tuple[Floats, Floats, Floats]]
"""From images (n, H, W) and a number of angles to values (n, angles, levels), the angles and the levels."""
Projections = Callable[[NDArray[Any], int], tuple[NDArray[Any], Floats, Floats]]
"""From an image and a number of angles to masses (angles, bins), the middles of the bins, and the angles.

Middles have the shape (bins,), or (angles, bins), in pixels from the centre of the image.
"""

NAMES = ("ours", "scikit_image", "pytranskit_", "torchcdt_", "pot", "adrt_", "astra_")


class Form(NamedTuple):
    """One way to use a library."""

    features: Callable[[NDArray[Any], int], Floats]
    """From images and a number of angles to mNR-CDTs (n, levels)."""
    rcdt: Transform
    """Values in pixels from the centre of the image."""
    nrcdt: Transform
    project: Projections | None = None
    """None where a library does not show its projections."""


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
            with warnings.catch_warnings(action="ignore"):  # that they import what is deprecated
                module = import_module(f"peers.{name}")
            found.append(Peer(module.NAME, module.PACKAGE, module.FORMS, None))
        except ImportError as error:
            found.append(Peer(name.strip("_"), name.strip("_").replace("_", "-"), {}, str(error)))
    return found

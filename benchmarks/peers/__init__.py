"""What else computes Radon transforms and R-CDTs, each behind the same functions, one small file a library.

A file has FORMS by name: "as shipped", what its documentation leads to, with plain glue where it gives projections
alone, and "tuned", with all the care we know: masses on bins with edges, levels that leave the ends out, exact moments
of the image, the full circle. Each is a `Form`. Images are given as they are, in float32 or float64; a library that
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

LIBRARIES = {
    "ours": ("radoncdt", "radoncdt"),
    "scikit_image": ("scikit-image", "scikit-image"),
    "pytranskit_": ("PyTransKit", "pytranskit"),
    "torchcdt_": ("torchcdt", "torchcdt"),
    "pot": ("POT", "POT"),
    "adrt_": ("adrt", "adrt"),
    "astra_": ("ASTRA", "astra-toolbox"),
}
"""Modules here, and the names of the libraries and of their packages."""


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
    for module, (name, package) in LIBRARIES.items():
        try:
            with warnings.catch_warnings(action="ignore"):  # that they import what is deprecated
                forms = import_module(f"peers.{module}").FORMS
            found.append(Peer(name, package, forms, None))
        except Exception as error:  # whatever a broken installation raises
            found.append(Peer(name, package, {}, f"{type(error).__name__}: {error}"))
    return found

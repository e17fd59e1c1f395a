"""Other libraries that compute Radon transforms and R-CDTs, behind the same functions, one small module per library.

A module has a dictionary FORMS with two `Form` values. "as shipped" follows the documentation of the library, with the
simplest code where the library computes only projections. "tuned" is the best that we know how to do:
masses in bins with edges, levels without the ends, exact moments of the image, and the full circle. Images are given in
float32 or float64. A library that takes only one of them converts.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Transform = Callable[[NDArray[Any], int], tuple[Floats, Floats, Floats]]
"""Takes images (n, H, W) and a number of angles; returns values (n, angles, levels), the angles and the levels."""

Projections = Callable[[NDArray[Any], int], tuple[NDArray[Any], Floats, Floats]]
"""Takes an image and a number of angles; returns masses (angles, bins), the middles of the bins, and the angles.

Middles have the shape (bins,) or (angles, bins), in pixels from the centre of the image.
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
"""The modules of this package, with the names of the libraries and of their distributions."""


class Form(NamedTuple):
    """One way to use a library."""

    features: Callable[[NDArray[Any], int], Floats]
    """Takes images and a number of angles; returns mNR-CDTs (n, levels)."""
    rcdt: Transform
    """Values are in pixels from the centre of the image."""
    nrcdt: Transform
    project: Projections | None = None
    """None if the library does not show its projections."""


class Peer(NamedTuple):
    """A library with its forms, or the reason why it cannot be imported."""

    name: str
    package: str
    forms: dict[str, Form]
    missing: str | None


def load_peers() -> list[Peer]:
    """Import all libraries. Those that cannot be imported are also listed."""
    found = []
    for module, (name, package) in LIBRARIES.items():
        try:
            with warnings.catch_warnings(action="ignore"):  # some import deprecated modules
                forms = import_module(f"benchmarks.peers.{module}").FORMS
            found.append(Peer(name, package, forms, None))
        except Exception as error:  # a broken installation may raise anything
            found.append(Peer(name, package, {}, f"{type(error).__name__}: {error}"))
    return found

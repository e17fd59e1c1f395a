"""radoncdt itself, with one thread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from peers import Form

NAME, PACKAGE = "radoncdt", "radoncdt"


def form(directions: str) -> Form:
    def nrcdt(images: NDArray[Any], n_angles: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        values = radoncdt.nrcdt(images, n_angles=n_angles, n_jobs=1)
        return values, np.pi * np.arange(n_angles) / n_angles, radoncdt.quantile_levels(values.shape[-1])

    def features(images: NDArray[Any], n_angles: int) -> NDArray[Any]:
        return radoncdt.max_nrcdt(images, n_angles=n_angles, directions=directions, n_jobs=1)

    return Form(nrcdt, features)


FORMS = {"as shipped": form("equispaced"), "whitened directions": form("whitened")}

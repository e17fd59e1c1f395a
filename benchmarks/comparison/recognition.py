"""One template a class: how often the nearest template of random affine copies is the right one, and the time."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import Form, Peer

from comparison import Record, attempt, forms
from comparison.photographs import moved, photographed, symbols

SIDE, N_ANGLES = 128, 32


def recognised(form: Form, templates: NDArray[Any], copies: NDArray[Any]) -> dict[str, float]:
    """By the nearest template in the Euclidean norm; copies (classes · n) come class by class."""
    known = form.features(templates, N_ANGLES)
    begin = time.perf_counter()
    new = form.features(copies, N_ANGLES)
    seconds = time.perf_counter() - begin
    nearest = np.linalg.norm(new[:, None] - known, axis=2).argmin(axis=1)
    truth = np.arange(len(templates)).repeat(len(copies) // len(templates))
    return {"accuracy": float(np.mean(nearest == truth)), "milliseconds": 1e3 * seconds / len(copies)}


def recognition(found: list[Peer], quick: bool) -> Iterator[Record]:
    fine = symbols(SIDE)
    n_copies = 2 if quick else 10
    copies = moved(fine.repeat(n_copies, axis=0), scale=(0.4, 0.8), isotropic=False, rotation=180, shear=40, shift=5)
    case = f"{len(fine)} symbols, {len(copies)} affine copies"
    for peer, name, form in forms(found):
        yield attempt("recognition", case, peer, name, partial(recognised, form, photographed(fine), copies))

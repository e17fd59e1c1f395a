"""Recognition with one template per class: how often the nearest template of an affine copy is the right one."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.comparison import Record, attempt, list_forms
from benchmarks.comparison.photographs import draw_symbols, photograph, photograph_moved
from benchmarks.peers import Form, Peer

SIDE, N_ANGLES = 128, 32  # pixels along a side, and angles


def recognise(form: Form, templates: NDArray[Any], copies: NDArray[Any]) -> dict[str, float]:
    """Classify copies, which come class by class, by the nearest template in the Euclidean norm."""
    known = form.features(templates, N_ANGLES)
    begin = time.perf_counter()
    new = form.features(copies, N_ANGLES)
    seconds = time.perf_counter() - begin
    nearest = np.linalg.norm(new[:, None] - known, axis=2).argmin(axis=1)
    truth = np.arange(len(templates)).repeat(len(copies) // len(templates))
    return {"accuracy": float(np.mean(nearest == truth)), "milliseconds": 1e3 * seconds / len(copies)}


def measure_recognition(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure the accuracy of all libraries, and their milliseconds per image."""
    fine = draw_symbols(SIDE)
    n_copies = 2 if quick else 10
    copies = photograph_moved(
        fine.repeat(n_copies, axis=0), scale=(0.4, 0.8), isotropic=False, rotation=180, shear=40, shift=5
    )
    case = f"{len(fine)} symbols, {len(copies)} affine copies"
    for peer, name, form in list_forms(found):
        yield attempt("recognition", case, peer, name, partial(recognise, form, photograph(fine), copies))

"""One template a class: how often the nearest template of random affine copies is the right one, and the time."""

import time
from collections.abc import Iterator

import numpy as np
from peers import Peer

from comparison import Record, forms, record
from comparison.photographs import moved, photographed, symbols

SIDE, N_ANGLES = 128, 32


def recognition(found: list[Peer], quick: bool) -> Iterator[Record]:
    """In the Euclidean norm."""
    fine = symbols(SIDE)
    n_copies = 2 if quick else 10
    templates = photographed(fine)
    copies = moved(fine.repeat(n_copies, axis=0), scale=(0.4, 1.2), isotropic=False, rotation=180, shear=40, shift=5)
    truth = np.arange(len(templates)).repeat(n_copies)
    for peer, name, form in forms(found):
        begin = time.perf_counter()
        known, new = form.features(templates, N_ANGLES), form.features(copies, N_ANGLES)
        seconds = time.perf_counter() - begin
        nearest = np.linalg.norm(new[:, None] - known, axis=2).argmin(axis=1)
        yield record(
            "recognition",
            f"{len(templates)} symbols, {len(copies)} affine copies",
            peer,
            name,
            accuracy=float(np.mean(nearest == truth)),
            milliseconds=1e3 * seconds / (len(known) + len(new)),
        )

"""How much the features of a symbol change when it is moved, beside the distance to the next symbol."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import Form, Peer

from comparison import N_ANGLES, SIDE, Record, attempt, forms
from comparison.photographs import moved, photographed, symbols

Array = NDArray[Any]

CHANGES: dict[str, Callable[[Array], Array]] = {
    "rotation": lambda fine: moved(fine, rotation=180),
    "scale": lambda fine: moved(fine, scale=(0.5, 1.3)),
    "shear": lambda fine: moved(fine, shear=30),
    "translation": lambda fine: moved(fine, shift=SIDE / 12),
    "zero padding": lambda fine: np.pad(photographed(fine), ((0, 0), (0, SIDE), (0, SIDE))),
    "intensity": lambda fine: photographed(fine) * np.float32(0.01),
}


def features_of(form: Form, images: Array) -> tuple[Array, Array]:
    """Features, and the levels that they are at."""
    return form.features(images, N_ANGLES), form.nrcdt(images[:1], 1)[2]


def spread(form: Form, still: Array, changed: Array, known: dict[Form, tuple[Array, Array]]) -> dict[str, float]:
    """Over the copies, (copies · symbols): root mean square, and the largest; about 1, symbols are taken for others.

    `known` keeps the features of the symbols.
    """
    if form not in known:
        known[form] = features_of(form, still)
    templates, levels = known[form]
    features, others = features_of(form, changed)
    if others.shape != levels.shape:  # as many levels as bins: compared at common levels
        features = np.array([np.interp(levels, others, row) for row in features])
    between = np.linalg.norm(templates[:, None] - templates, axis=2)
    np.fill_diagonal(between, np.inf)
    within = np.linalg.norm(features.reshape(-1, *templates.shape) - templates, axis=2)
    relative = within / between.min(axis=1)
    return {"spread": float(np.sqrt(np.mean(relative**2))), "largest": float(relative.max())}


def invariance(found: list[Peer], quick: bool) -> Iterator[Record]:
    fine = symbols(SIDE)[:: 4 if quick else 1]
    still = photographed(fine)
    known: dict[Form, tuple[Array, Array]] = {}
    for change, make in CHANGES.items():
        once = quick or change in ("zero padding", "intensity")
        changed = make(fine if once else np.concatenate([fine, fine]))
        for peer, name, form in forms(found):
            yield attempt("invariance", change, peer, name, partial(spread, form, still, changed, known))

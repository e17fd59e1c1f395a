"""How much the features of a symbol change when it is moved, relative to the distance to the nearest other symbol."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.comparison import N_ANGLES, SIDE, Record, attempt, list_forms
from benchmarks.comparison.photographs import draw_symbols, photograph, photograph_moved
from benchmarks.peers import Form, Peer

Array = NDArray[Any]

CHANGES: dict[str, Callable[[Array], Array]] = {  # functions of images with fine pixels
    "rotation": lambda fine: photograph_moved(fine, rotation=180),
    "scale": lambda fine: photograph_moved(fine, scale=(0.5, 1.3)),
    "shear": lambda fine: photograph_moved(fine, shear=30),
    "translation": lambda fine: photograph_moved(fine, shift=SIDE / 12),
    "zero padding": lambda fine: np.pad(photograph(fine), ((0, 0), (0, SIDE), (0, SIDE))),
    "intensity": lambda fine: photograph(fine) * np.float32(0.01),
}


def compute_features(form: Form, images: Array) -> tuple[Array, Array]:
    """Compute features, and the levels to which they belong."""
    return form.features(images, N_ANGLES), form.nrcdt(images[:1], 1)[2]


def measure_spread(
    form: Form, still: Array, changed: Array, known: dict[Form, tuple[Array, Array]]
) -> dict[str, float]:
    """Measure the relative changes of the features of all copies: their root mean square, and the largest.

    At about 1, symbols are mistaken for others. There are (copies · symbols) changed images. `known` stores the
    features of the symbols.
    """
    if form not in known:
        known[form] = compute_features(form, still)
    templates, levels = known[form]
    features, others = compute_features(form, changed)
    if others.shape != levels.shape:  # the library has as many levels as bins
        features = np.array([np.interp(levels, others, row) for row in features])
    between = np.linalg.norm(templates[:, None] - templates, axis=2)
    np.fill_diagonal(between, np.inf)
    within = np.linalg.norm(features.reshape(-1, *templates.shape) - templates, axis=2)
    relative = within / between.min(axis=1)
    return {"spread": float(np.sqrt(np.mean(relative**2))), "largest": float(relative.max())}


def measure_invariance(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure how much each change of the symbols affects the features of all libraries."""
    fine = draw_symbols(SIDE)[:: 4 if quick else 1]
    still = photograph(fine)
    known: dict[Form, tuple[Array, Array]] = {}
    for change, make in CHANGES.items():
        once = quick or change in ("zero padding", "intensity")
        changed = make(fine if once else np.concatenate([fine, fine]))
        for peer, name, form in list_forms(found):
            yield attempt("invariance", change, peer, name, partial(measure_spread, form, still, changed, known))

"""How much the features of a symbol change when it is moved, beside the distance to the next symbol."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import Peer

from comparison import Record, forms, record
from comparison.photographs import moved, photographed, symbols

SIDE, N_ANGLES = 256, 128

Array = NDArray[Any]

CHANGES: dict[str, Callable[[Array], Array]] = {
    "rotation": lambda fine: moved(fine, rotation=180),
    "scale": lambda fine: moved(fine, scale=(0.5, 1.3)),
    "shear": lambda fine: moved(fine, shear=30),
    "translation": lambda fine: moved(fine, shift=40),
    "zero padding": lambda fine: np.pad(photographed(fine), ((0, 0), (0, SIDE // 2), (0, SIDE // 2))),
    "intensity": lambda fine: photographed(fine) * np.float32(0.01),
}


def invariance(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Root mean square over the symbols; about 1, symbols are taken for others."""
    fine = symbols(SIDE)[:: 4 if quick else 1]
    images = {"": photographed(fine)} | {change: make(fine) for change, make in CHANGES.items()}
    for peer, name, form in forms(found):
        still = form.features(images[""], N_ANGLES)
        between = np.linalg.norm(still[:, None] - still, axis=2)
        np.fill_diagonal(between, np.inf)
        for change in CHANGES:
            features = form.features(images[change], N_ANGLES)
            if features.shape != still.shape:  # as many levels as bins: compared at common levels
                old, new = (np.linspace(0, 1, f.shape[1]) for f in (features, still))
                features = np.array([np.interp(new, old, row) for row in features])
            relative = np.linalg.norm(features - still, axis=1) / between.min(axis=1)
            yield record(
                "invariance",
                change,
                peer,
                name,
                spread=float(np.sqrt(np.mean(relative**2))),
                largest=float(relative.max()),
            )

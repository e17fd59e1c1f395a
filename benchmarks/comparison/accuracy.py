"""Errors of the masses of projections, of R-CDTs and of NR-CDTs, by comparison with closed forms.

Every library is evaluated at its own angles and levels.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.closed_forms import CLOSED_FORMS, ClosedForm, sample
from benchmarks.comparison import Record, attempt, list_forms
from benchmarks.peers import Form, Peer

SIDE, N_ANGLES = 128, 32  # pixels along a side, and angles
ENDS = 0.02
"""Levels closer than this to 0 or 1 are not compared. Not all libraries have them, and errors are largest there."""


def measure_errors(form: Form, closed: ClosedForm) -> dict[str, Any]:
    """Measure relative errors of masses, errors of R-CDTs in pixels, and errors of NR-CDTs."""
    image = sample(closed.density, SIDE) / 3  # in float64, so that methods are compared, not precisions
    figures: dict[str, float | None] = {"mass": None}
    if form.project is not None:
        masses = form.project(image, N_ANGLES)[0].sum(axis=1, dtype=np.float64)
        figures["mass"] = float(np.abs(masses / image.sum() - 1).max())
    for kind in ("rcdt", "nrcdt"):
        values, angles, levels = getattr(form, kind)(image[None], N_ANGLES)
        inside = (levels > ENDS) & (levels < 1 - ENDS)
        levels = levels[inside]
        truth = closed.rcdt(angles, levels, SIDE) if kind == "rcdt" else closed.nrcdt(angles, levels)
        wrong = np.abs(values[0][:, inside] - truth)
        figures |= {f"{kind}_largest": float(wrong.max()), f"{kind}_mean": float(wrong.mean())}
    return figures


def measure_accuracy(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure the errors of all libraries for all closed forms."""
    for closed in CLOSED_FORMS:
        for peer, name, form in list_forms(found):
            if name != "whitened directions":  # it has the same values at other angles
                yield attempt("accuracy", closed.name, peer, name, partial(measure_errors, form, closed))

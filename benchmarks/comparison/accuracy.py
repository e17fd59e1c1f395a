"""Errors against closed forms: mass of the projections, R-CDT and NR-CDT; each at its own angles and levels."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from closed_forms import CLOSED_FORMS, ClosedForm, sampled
from peers import Form, Peer

from comparison import Record, attempt, forms

SIDE, N_ANGLES = 128, 32
ENDS = 0.02
"""Levels nearer to 0 or 1 are not compared: not all libraries have them, and there errors are largest."""


def errors(form: Form, closed: ClosedForm) -> dict[str, Any]:
    """The mass relative, R-CDTs in pixels."""
    image = sampled(closed.density, SIDE) / 3  # float64, so that methods are compared, not precisions
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


def accuracy(found: list[Peer], quick: bool) -> Iterator[Record]:
    for closed in CLOSED_FORMS:
        for peer, name, form in forms(found):
            if name != "whitened directions":  # the same values, at other angles
                yield attempt("accuracy", closed.name, peer, name, partial(errors, form, closed))

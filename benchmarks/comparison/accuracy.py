"""Errors against closed forms: mass of the projections, R-CDT and NR-CDT; each at its own angles and levels."""

from collections.abc import Iterator

import numpy as np
from closed_forms import CLOSED_FORMS, sampled
from peers import Peer

from comparison import Record, forms, record

N, N_ANGLES = 128, 32


def accuracy(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Quantiles are compared at levels between .01 and .99, R-CDTs in pixels; the mass is relative."""
    for closed in CLOSED_FORMS:
        image = sampled(closed.density, N) / 3  # float64, so that methods are compared, not precisions
        for peer, name, form in forms(found):
            if name == "whitened directions":  # the same values, at other angles
                continue
            figures: dict[str, float | None] = {"mass": None}
            if form.project is not None:
                masses = form.project(image, N_ANGLES)[0].sum(axis=1, dtype=np.float64)
                figures["mass"] = float(np.abs(masses / image.sum(dtype=np.float64) - 1).max())
            for kind in ("rcdt", "nrcdt"):
                values, angles, levels = getattr(form, kind)(image[None], N_ANGLES)
                inside = (levels > 0.01) & (levels < 0.99)
                levels = levels[inside]
                truth = closed.rcdt(angles, levels, N) if kind == "rcdt" else closed.nrcdt(angles, levels)
                errors = np.abs(values[0][:, inside] - truth)
                figures |= {f"{kind}_largest": float(errors.max()), f"{kind}_mean": float(errors.mean())}
            yield record("accuracy", closed.name, peer, name, **figures)

"""Milliseconds per image of all libraries. Size, angles, precision and batch are varied one at a time."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.comparison import N_ANGLES, SIDE, Record, list_forms, make_record
from benchmarks.images import KINDS
from benchmarks.peers import Form, Peer
from benchmarks.timing import time_interleaved

SLOW, TOO_SLOW = 0.5, 15.0
"""Seconds per call. Calls slower than SLOW are repeated less often, calls slower than TOO_SLOW are left out."""


class Case(NamedTuple):
    """One measurement: the kind and size of the images, and what is computed."""

    kind: str
    side: int = SIDE
    n_angles: int = N_ANGLES
    dtype: str = "float32"
    batch: int = 1
    what: str = "features"

    def __str__(self) -> str:
        batch = f", {self.batch} images" if self.batch > 1 else ""
        what = f", {self.what} alone" if self.what != "features" else ""
        return f"{self.kind}, {self.side} × {self.side}, {self.n_angles} angles, {self.dtype}{batch}{what}"

    def images(self) -> NDArray[Any]:
        """Draw the images (batch, side, side)."""
        return np.repeat(KINDS[self.kind](self.side)[None], self.batch, axis=0).astype(self.dtype)

    def call(self, form: Form, images: NDArray[Any]) -> Callable[[], object]:
        """Prepare a call of a library."""
        if self.what == "features":
            return partial(form.features, images, self.n_angles)
        if form.project is None:
            raise NotImplementedError("it does not show its projections")
        return partial(form.project, images[0], self.n_angles)


def list_cases(quick: bool) -> list[Case]:
    """List the cases, in which one quantity at a time differs from the default."""
    if quick:
        return [Case(kind) for kind in KINDS]
    return [
        case
        for kind in KINDS
        for case in (
            *(Case(kind, side) for side in (64, 128, 256, 512, 1024)),
            *(Case(kind, n_angles=n) for n in (16, 32, 64, 256)),
            Case(kind, dtype="float64"),
            Case(kind, 64, batch=64),
            Case(kind, what="projections"),
        )
    ]


def measure_speed(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure all cases. A library that fails, or that took a quarter of TOO_SLOW at half the side, is left out."""
    last: dict[tuple[str, str, Case], float] = {}
    for case in list_cases(quick):
        images = case.images()
        calls: dict[tuple[str, str], Callable[[], object]] = {}
        left_out: dict[tuple[str, str], str] = {}
        for peer, name, form in list_forms(found):
            key = peer.name, name
            before = last.get((*key, case._replace(side=case.side // 2)), 0.0)
            if 4 * before > TOO_SLOW:
                left_out[key] = f"would take more than {TOO_SLOW:.0f} s, after {before:.1f} s at half the side"
                continue
            try:
                call = case.call(form, images)
                call()  # may compile, and may fail
                calls[key] = call
            except Exception as error:
                left_out[key] = f"{type(error).__name__}: {error}"
        times = time_interleaved(calls, rounds=3 if quick else 7, slow=SLOW)
        for peer, name, _ in list_forms(found):
            key = peer.name, name
            figures: dict[str, Any]
            if key in calls:
                last[*key, case] = float(np.median(times[key]))
                low, middle, high = (1e3 * float(np.quantile(times[key], q)) / case.batch for q in (0, 0.5, 1))
                figures = {"milliseconds": middle, "spread": [low, high]}
            else:
                figures = {"left_out": left_out[key]}
            yield make_record("speed", str(case), peer, name, **case._asdict(), **figures)

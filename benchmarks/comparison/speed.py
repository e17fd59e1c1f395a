"""Milliseconds an image, features included, of all libraries: sizes, angles, batches and precisions."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from images import dense, drawing
from numpy.typing import NDArray
from peers import Peer
from reporting import interleaved

from comparison import N_ANGLES, SIDE, Record, forms, record

SLOW, TOO_SLOW = 0.5, 15.0
"""Seconds of a call: those slower than the first are called less often, those than the second not at all."""


class Case(NamedTuple):
    kind: str
    side: int = SIDE
    n_angles: int = N_ANGLES
    dtype: str = "float32"
    batch: int = 1

    def __str__(self) -> str:
        batch = f", {self.batch} images" if self.batch > 1 else ""
        return f"{self.kind}, {self.side} × {self.side}, {self.n_angles} angles, {self.dtype}{batch}"

    def images(self) -> NDArray[Any]:
        image = {"dense": dense, "drawing": drawing}[self.kind](self.side)
        return np.repeat(image[None], self.batch, axis=0).astype(self.dtype)


def cases(quick: bool) -> list[Case]:
    kinds = ("dense", "drawing")
    if quick:
        return [Case(kind) for kind in kinds]
    return [
        case
        for kind in kinds
        for case in (
            *(Case(kind, side) for side in (64, 128, 256, 512, 1024)),
            *(Case(kind, n_angles=n) for n in (16, 32, 64, 256)),
            Case(kind, dtype="float64"),
            Case(kind, 64, batch=64),
        )
    ]


def speed(found: list[Peer], quick: bool) -> Iterator[Record]:
    """A library that took a quarter of TOO_SLOW at half the side is left out, and said so."""
    last: dict[tuple[str, str, Case], float] = {}
    for case in cases(quick):
        images = case.images()
        calls, chosen = {}, []
        for peer, name, form in forms(found):
            before = last.get((peer.name, name, case._replace(side=case.side // 2)), 0.0)
            if 4 * before > TOO_SLOW:
                reason = f"would take more than {TOO_SLOW:.0f} s, after {before:.1f} s at half the side"
                yield record("speed", str(case), peer, name, **case._asdict(), left_out=reason)
            else:
                try:
                    form.features(images, case.n_angles)
                except MemoryError as error:
                    yield record("speed", str(case), peer, name, **case._asdict(), left_out=f"would take {error}")
                else:
                    calls[peer.name, name] = partial(form.features, images, case.n_angles)
                    chosen.append((peer, name))
        times = interleaved(calls, rounds=7, slow=SLOW)
        for peer, name in chosen:
            seconds = times[peer.name, name]
            last[peer.name, name, case] = float(np.median(seconds))
            yield record(
                "speed",
                str(case),
                peer,
                name,
                **case._asdict(),
                milliseconds=1e3 * float(np.median(seconds)) / case.batch,
                spread=[1e3 * float(s) / case.batch for s in (seconds.min(), seconds.max())],
            )

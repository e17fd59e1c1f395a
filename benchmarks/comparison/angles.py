"""The number of angles from which adrt is faster.

adrt computes all of its 4N directions at once, whereas our time grows with the number of angles. Both compute
the projections of one image in one thread, and then its features.
"""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.comparison import OURS, Record, make_record
from benchmarks.comparison.speed import Case
from benchmarks.peers import Peer
from benchmarks.timing import time_interleaved

AGAINST = "adrt"  # the library with which radoncdt is compared


def list_cases(quick: bool) -> list[Case]:
    """List the cases, all of them in float32."""
    counts = (128, 1024) if quick else (64, 128, 256, 512, 1024)
    kinds = ("dense",) if quick else ("dense", "drawing")
    return [Case(kind, n_angles=n, what=what) for kind in kinds for what in ("projections", "features") for n in counts]


def measure_angles(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure the milliseconds of radoncdt and of the faster form of adrt."""
    chosen = [peer for peer in found if peer.name in (OURS, AGAINST) and peer.forms]
    for case in list_cases(quick):
        images = case.images()
        calls: dict[tuple[str, str], Callable[[], object]] = {
            (peer.name, name): case.call(form, images)
            for peer in chosen
            for name, form in peer.forms.items()
            if peer.name == AGAINST or name == "as shipped"
        }
        times = time_interleaved(calls, rounds=3 if quick else 7)
        for peer in chosen:
            own = {key: float(np.median(seconds)) for key, seconds in times.items() if key[0] == peer.name}
            fastest = min(own, key=lambda key: own[key])
            yield make_record("angles", str(case), peer, fastest[1], **case._asdict(), milliseconds=1e3 * own[fastest])

"""How many angles it takes until adrt is faster, which computes all of its 4N directions at once.

Ours takes time for each angle. Both form the projections of one image in one thread, and then its features.
"""

from collections.abc import Callable, Iterator

import numpy as np
from peers import Peer
from reporting import interleaved

from comparison import OURS, Record, record
from comparison.speed import Case

AGAINST = "adrt"


def cases(quick: bool) -> list[Case]:
    """In float32, the precision of images that are not in double."""
    counts = (128, 1024) if quick else (64, 128, 256, 512, 1024)
    kinds = ("dense",) if quick else ("dense", "drawing")
    return [Case(kind, n_angles=n, what=what) for kind in kinds for what in ("projections", "features") for n in counts]


def angles(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Milliseconds of ours and of the faster form of adrt."""
    chosen = [peer for peer in found if peer.name in (OURS, AGAINST) and peer.forms]
    for case in cases(quick):
        images = case.images()
        calls: dict[tuple[str, str], Callable[[], object]] = {
            (peer.name, name): case.call(form, images)
            for peer in chosen
            for name, form in peer.forms.items()
            if peer.name == AGAINST or name == "as shipped"
        }
        times = interleaved(calls, rounds=3 if quick else 7)
        for peer in chosen:
            own = {key: float(np.median(seconds)) for key, seconds in times.items() if key[0] == peer.name}
            fastest = min(own, key=lambda key: own[key])
            yield record("angles", str(case), peer, fastest[1], **case._asdict(), milliseconds=1e3 * own[fastest])

"""The most memory that the features of one image take beyond what was there before, each library in its own process."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from images import KINDS
from peers import Peer

from comparison import N_ANGLES, Record, attempt, forms

SCRIPT = Path(__file__).parents[1] / "memory_of_peer.py"


def taken(*arguments: object) -> dict[str, float]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]  # none, if the system ended it for its memory
        raise RuntimeError(": ".join([f"exit status {done.returncode}", *last]))
    return {"megabytes": float(done.stdout)}


def memory(found: list[Peer], quick: bool) -> Iterator[Record]:
    side = 64 if quick else 512
    for kind in KINDS:
        for peer, name, _ in forms(found):
            measure = partial(taken, peer.name, name, kind, side, N_ANGLES)
            case = f"{kind}, {side} × {side}, {N_ANGLES} angles"
            yield attempt("memory", case, peer, name, measure, kind=kind, side=side)

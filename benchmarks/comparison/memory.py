"""Peak memory of the features of one image, in a separate process for each library."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.comparison import N_ANGLES, Record, attempt, list_forms
from benchmarks.images import KINDS
from benchmarks.peers import Peer

ROOT = Path(__file__).parents[2]  # the folder in which Python finds this package


def measure_peak(*arguments: object) -> dict[str, float]:
    """Measure the peak memory, in MB, with memory_of_peer.py."""
    command = [sys.executable, "-m", "benchmarks.memory_of_peer", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]  # there is none if the system ran out of memory
        raise RuntimeError(": ".join([f"exit status {done.returncode}", *last]))
    return {"megabytes": float(done.stdout)}


def measure_memory(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure the peak memory of all libraries for both kinds of images."""
    side = 64 if quick else 512
    for kind in KINDS:
        for peer, name, _ in list_forms(found):
            measure = partial(measure_peak, peer.name, name, kind, side, N_ANGLES)
            case = f"{kind}, {side} × {side}, {N_ANGLES} angles"
            yield attempt("memory", case, peer, name, measure, kind=kind, side=side)

"""The most memory that the features of one image take beyond what was there before, each library in its own process."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from peers import Peer

from comparison import N_ANGLES, Record, forms, record

SCRIPT = Path(__file__).parents[1] / "memory_of_peer.py"


def memory(found: list[Peer], quick: bool) -> Iterator[Record]:
    side = 256 if quick else 512
    for kind in ("dense", "drawing"):
        for peer, name, _ in forms(found):
            command = [sys.executable, str(SCRIPT), peer.name, name, kind, str(side), str(N_ANGLES)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            case = f"{kind}, {side} × {side}, {N_ANGLES} angles"
            yield record("memory", case, peer, name, kind=kind, side=side, megabytes=float(done.stdout))

"""Print the most memory, in MB, that a library takes for the features of one image beyond what it had before.

    python benchmarks/memory_of_peer.py LIBRARY FORM dense|drawing SIDE ANGLES

The kernel keeps the peak of the resident memory (VmHWM), and forgets it when asked to. A small image first loads and
compiles everything. For Linux with glibc.
"""

import ctypes
import re
import sys
import warnings
from pathlib import Path

from images import KINDS
from peers import peers

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def resident(what: str) -> float:
    return int(re.search(rf"{what}:\s+(\d+)", STATUS.read_text())[1]) / 1e3  # type: ignore[index]


warnings.simplefilter("ignore")  # of the libraries
library, name, kind, side, n_angles = sys.argv[1:]
form = next(peer for peer in peers() if peer.name == library).forms[name]
draw = KINDS[kind]
form.features(draw(32)[None], int(n_angles))
image = draw(int(side))[None]
ctypes.CDLL(None).malloc_trim(0)  # what was set free goes back to the system, so that it counts when taken again
before = resident("VmRSS")
FORGET.write_text("5")
form.features(image, int(n_angles))
print(max(resident("VmHWM") - before, 0.0))

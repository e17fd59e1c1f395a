"""Print the peak memory, in MB, that a library uses for the features of one image.

    python -m benchmarks.memory_of_peer LIBRARY FORM dense|drawing SIDE ANGLES

Memory in use before the measurement does not count. The operating system records the peak of the resident memory
(VmHWM) and resets it on request. A first call with a small image loads and compiles everything. This script needs
Linux with glibc.
"""

import ctypes
import re
import sys
import warnings
from pathlib import Path

from benchmarks.images import KINDS
from benchmarks.peers import load_peers

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def read_status(field: str) -> float:
    """Read a field of the status of this process, in MB."""
    return int(re.search(rf"{field}:\s+(\d+)", STATUS.read_text(encoding="utf-8"))[1]) / 1e3  # type: ignore[index]


warnings.simplefilter("ignore")  # other libraries raise warnings
library, name, kind, side, n_angles = sys.argv[1:]
form = next(peer for peer in load_peers() if peer.name == library).forms[name]
draw = KINDS[kind]
form.features(draw(32)[None], int(n_angles))
image = draw(int(side))[None]
ctypes.CDLL(None).malloc_trim(0)  # returns free memory to the system, so that it counts when it is taken again
before = read_status("VmRSS")
RESET.write_text("5", encoding="utf-8")
form.features(image, int(n_angles))
print(max(read_status("VmHWM") - before, 0.0))

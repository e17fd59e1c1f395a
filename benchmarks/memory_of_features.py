"""Print the memory, in MB, that the mNR-CDT of a .npy file of images uses beyond the pages of the file and the result.

    python -m benchmarks.memory_of_features FILE.npy

Anonymous memory (RssAnon) excludes the pages of mapped files. Its peak is sampled during the computation.
"""

import re
import sys
import threading
from pathlib import Path

import numpy as np

import radoncdt


def measure_anonymous() -> float:
    """Read the anonymous memory of this process, in MB."""
    return int(re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))[1]) / 1e3  # type: ignore[index]


images = np.load(sys.argv[1], mmap_mode="r")
radoncdt.max_nrcdt(np.ones((8, 256, 256), np.uint8), directions="equispaced")  # loads everything
before = peak = measure_anonymous()
done = threading.Event()


def watch() -> None:
    """Update the peak every 10 milliseconds until the computation is done."""
    global peak
    while not done.wait(0.01):
        peak = max(peak, measure_anonymous())


watcher = threading.Thread(target=watch)
watcher.start()
features = radoncdt.max_nrcdt(images, directions="equispaced")
done.set()
watcher.join()
print(max(peak, measure_anonymous()) - before - features.nbytes / 1e6)

"""Print the memory, in MB, that the mNR-CDT of a .npy file of images takes beyond the file's pages and the result.

Anonymous memory (RssAnon) is all memory but that of mapped files; its peak is sampled while the work is done.
"""

import re
import sys
import threading
from pathlib import Path

import numpy as np

import radoncdt


def anonymous() -> float:
    return int(re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1e3  # type: ignore[index]


images = np.load(sys.argv[1], mmap_mode="r")
radoncdt.max_nrcdt(np.ones((8, 256, 256), np.uint8), directions="equispaced")  # loads everything
before = peak = anonymous()
done = threading.Event()


def watch() -> None:
    global peak
    while not done.wait(0.01):
        peak = max(peak, anonymous())


watcher = threading.Thread(target=watch)
watcher.start()
features = radoncdt.max_nrcdt(images, directions="equispaced")
done.set()
watcher.join()
print(max(peak, anonymous()) - before - features.nbytes / 1e6)

"""The implementations of the kernels against each other, and what it takes to start.

python benchmarks/kernels.py [factors] [start]
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from images import KINDS
from reporting import Row, interleaved, main

import radoncdt
from radoncdt import _kernels
from radoncdt.directions import Directions

SIDE, N_ANGLES, N_LEVELS = 256, 128, 64


def factors() -> Iterator[Row]:
    """How many times as long as the fastest kernels the others take, 256 × 256 pixels, 128 angles, one thread."""
    directions, levels = Directions.choose(N_ANGLES, None), radoncdt.quantile_levels(N_LEVELS)
    names = _kernels.available()
    slowest = 0.0
    for kind, draw in KINDS.items():
        for dtype in (np.float32, np.float64):
            images = draw(SIDE).astype(dtype)[None]
            arguments = images, directions.cosines, directions.sines, levels
            calls: dict[str, Callable[[], object]] = {
                name: partial(_kernels.load(name).image_quantiles, *arguments, normalise=True, extremes=True)
                for name in names
            }
            times = {name: float(seconds.min()) for name, seconds in interleaved(calls, rounds=5).items()}
            what = f"{kind}, {np.dtype(dtype)}"
            yield f"{what}, {names[0]}, ms", 1e3 * times[names[0]], "≥", -np.inf
            for name in names[1:]:
                limit = 100 if name == "numpy" else np.inf
                yield f"{what}, {name} over {names[0]}", times[name] / times[names[0]], "≤", limit
            slowest = max(slowest, times["numpy"] / times[names[0]])
    if len(names) > 1:
        documented = slowest / _kernels.SLOWER
        yield "largest factor of NumPy over the documented one", documented, "≤", 2


def _seconds(code: str, **environment: str) -> float:
    """CPU time of a process that runs some code, the median of nine."""
    times = []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env=os.environ | environment
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return float(np.median(times))


def start() -> Iterator[Row]:
    """CPU time beyond what NumPy takes to import, in milliseconds."""
    single = {"OPENBLAS_NUM_THREADS": "1"}  # its threads would be counted, too
    numpy = _seconds("import numpy", **single)
    yield "import numpy, ms", 1e3 * numpy, "≥", -np.inf
    yield "import radoncdt, ms", 1e3 * (_seconds("import numpy, radoncdt", **single) - numpy), "≤", 100
    call = "import numpy, radoncdt; radoncdt.max_nrcdt(numpy.eye(64, dtype=numpy.float32))"
    yield "import radoncdt and a first call of max_nrcdt, ms", 1e3 * (_seconds(call, **single) - numpy), "≤", 50
    yield "radoncdt --help, all of it, ms", 1e3 * _seconds("from radoncdt.cli import main; main(['-h'])"), "≤", 200


PARTS = {"factors": [factors], "start": [start]}


if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS))

"""How the time of radoncdt depends on the side, the angles, the number of images, the ink and the threads."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

import radoncdt
from benchmarks.comparison import N_ANGLES, SIDE, Record, make_own_record
from benchmarks.images import KINDS, count_lines_and_runs, scribble
from benchmarks.peers import Peer
from benchmarks.timing import time_interleaved


def measure_along(along: str, name: str, points: Sequence[tuple[float, NDArray[Any], dict[str, int]]]) -> Record:
    """Measure the milliseconds of one call per point (x, images, options), and fit them.

    `exponent` is the slope of log time over log x from the middle point on, where fixed costs matter less.
    `linear` is the largest deviation from the best fit a + b·x, relative to the time.
    """
    defaults: dict[str, Any] = {"n_angles": N_ANGLES, "directions": "equispaced", "n_jobs": 1}
    calls = {x: partial(radoncdt.max_nrcdt, images, **defaults | options) for x, images, options in points}
    times = time_interleaved(calls, rounds=5)
    x = np.array(list(times), float)
    y = np.array([1e3 * seconds.min() for seconds in times.values()])  # other processes can only slow it down
    upper = slice(len(x) // 2, None)
    fixed, rate = np.linalg.lstsq(np.stack([1 / y, x / y], axis=1), np.ones(len(x)), rcond=None)[0]
    return make_own_record(
        "scaling",
        f"{name}: {along}",
        along=along,
        kind=name,
        x=x.tolist(),
        milliseconds=y.tolist(),
        exponent=float(np.polyfit(np.log(x[upper]), np.log(y[upper]), 1)[0]) if len(x) > 2 else None,
        linear=float(np.abs((fixed + rate * x) / y - 1).max()) if len(x) > 2 else None,
    )


def measure_scaling(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure the times of radoncdt along each quantity, for both kinds of images."""
    for kind, draw in KINDS.items():
        yield measure_along("side", kind, [(n, draw(n), {}) for n in (64, 128, 256, 512, 1024)])
        yield measure_along("angles", kind, [(n, draw(SIDE), {"n_angles": n}) for n in (16, 32, 64, 128, 256, 512)])
        stack = np.repeat(draw(SIDE)[None], 256, axis=0)
        yield measure_along("images at once", kind, [(n, stack[:n], {}) for n in (1, 4, 16, 64, 256)])
        yield measure_along("threads", kind, [(n, stack[:64], {"n_jobs": n}) for n in range(1, cpu_count() + 1)])
    images = [scribble(SIDE, n) for n in (1, 2, 4, 8, 16, 32)]
    yield measure_along(
        "rows, columns and runs of ink", "drawing", [(count_lines_and_runs(image), image, {}) for image in images]
    )

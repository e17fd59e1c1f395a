"""Speed of the implementations of the kernels, and the time to start.

python -m benchmarks kernels factors    times of all kernels, relative to the fastest
python -m benchmarks kernels start      times of the import, of a first call, and of the command line
"""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import radoncdt
from benchmarks.images import KINDS
from benchmarks.report import Row, run_parts
from benchmarks.timing import time_interleaved
from radoncdt import _kernels
from radoncdt._interface import Bending, Kernels, Limits, Maps, Prior
from radoncdt.directions import Directions

SIDE, N_ANGLES, N_LEVELS = 256, 128, 64
"""The side of the images, in pixels, and the numbers of angles and of levels."""


def measure_factors() -> Iterator[Row]:
    """Measure `image_quantiles` of all kernels, relative to the fastest, in one thread."""
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
            times = {name: float(seconds.min()) for name, seconds in time_interleaved(calls, rounds=5).items()}
            what = f"{kind}, {np.dtype(dtype)}"
            yield f"{what}, {names[0]}, ms", 1e3 * times[names[0]], "≥", -np.inf
            for name in names[1:]:
                limit = 100 if name == "numpy" else np.inf
                yield f"{what}, {name} / {names[0]}", times[name] / times[names[0]], "≤", limit
            slowest = max(slowest, times["numpy"] / times[names[0]])
    if len(names) > 1:
        documented = slowest / _kernels.NUMPY_SLOWDOWN
        yield "largest factor of NumPy / documented factor", documented, "≤", 2


def _make_calls(kernels: Kernels) -> dict[str, Callable[[], object]]:
    """Make calls of all kernels except `image_quantiles`, with the sizes of an image of 256 × 256 pixels."""
    rng = np.random.default_rng(0)
    directions, levels = Directions.choose(N_ANGLES, None), radoncdt.quantile_levels(N_LEVELS)
    around = directions.cosines, directions.sines
    dense, n_bins = KINDS["dense"](SIDE)[None], 2 * SIDE + 2
    values = rng.normal(size=(N_ANGLES, n_bins)).astype(np.float32)
    masses, edges = rng.random((N_ANGLES, n_bins)), np.sort(rng.normal(size=(N_ANGLES, n_bins + 1)))
    points, shares = rng.normal(size=(2, 3000)), rng.random((1, 3000))
    quantiles = np.sort(rng.normal(size=(N_ANGLES, N_LEVELS)))
    waves = radoncdt.describe([mark.image() for mark in radoncdt.datasets.watermarks(40)]).waves
    images = [mark.image() for mark in radoncdt.datasets.watermarks(10)]
    near = np.array([(i, j) for i in range(10) for j in range(10)])
    frames = np.tile([[SIDE / 16, 0.0, 0.0], [0.0, SIDE / 16, 0.0]], (100, 1, 1))
    every, order, free = np.zeros(40), np.arange(40), np.full(5, np.inf)
    base = 50 * rng.normal(size=(1000, 2))
    terms, some = np.column_stack([base, np.ones(1000)]), np.arange(0, 1000, 4)
    fitted: dict[str, Any] = {"ridge": np.zeros(3), "size": 50.0, "most": 0.25, "iterations": 4}
    corners, blank = SIDE * rng.random((60, 2)), np.zeros((SIDE, SIDE))
    return {
        "image_moments": partial(kernels.image_moments, dense),
        "image_masses": partial(kernels.image_masses, dense, *around, n_bins),
        "back_project": partial(kernels.back_project, values, np.full(N_ANGLES, n_bins / 2), *around, (SIDE, SIDE)),
        "bin_quantiles": partial(kernels.bin_quantiles, masses, levels),
        "student_moments": partial(
            kernels.student_moments, np.vstack([points, shares]), 3.0, 0.0, np.array([0, 0, 1, 0, 1.0])
        ),
        "quantile_masses": partial(kernels.quantile_masses, quantiles, levels, edges),
        "transport, bins": partial(kernels.transport, masses, edges, masses[::-1], edges[::-1], 2.0),
        "least_distances": partial(
            kernels.least_distances,
            *(waves, waves),
            maps=Maps(),
            ascending=False,
            rows=(0, 40),
            columns=(0, 40),
            distances=np.empty((40, 40)),
        ),
        "within": partial(kernels.within, waves, 3, waves, maps=Maps(), bounds=every, left_out=-1, radius=1.0),
        "nearest": partial(
            kernels.nearest,
            *(waves, 3, waves),
            maps=Maps(),
            bounds=every,
            order=order,
            left_out=3,
            distances=free,
            numbers=np.full(5, -1),
        ),
        "plausible_turns": partial(
            kernels.plausible_turns, np.array([1, 0.2, 2]), np.array([2, 0.1, 1.0]), Limits(3.0, 0.5, 4.0), 64
        ),
        "least_distances with a prior": partial(
            kernels.least_distances,
            *(waves, waves),
            maps=Maps(prior=Prior(0.006, 0.03)),
            ascending=False,
            rows=(0, 40),
            columns=(0, 40),
            distances=np.empty((40, 40)),
        ),
        "distortions of 100 pairs, 28 × 28 points": partial(
            kernels.distortions, images, images, near, frames, frames[:10], side=28, reach=2.6, bending=Bending()
        ),
        "fit": partial(
            kernels.fit, np.zeros((1000, 2)), terms, some, base + 1, some, coefficients=np.eye(3)[:, :2], **fitted
        ),
        "strokes": partial(kernels.strokes, blank, corners, 3.0),
    }


def measure_other_factors() -> Iterator[Row]:
    """Measure the NumPy kernels, relative to the fastest, for all kernels except `image_quantiles`."""
    fastest = _kernels.available()[0]
    calls = {
        (kernel, name): call for name in (fastest, "numpy") for kernel, call in _make_calls(_kernels.load(name)).items()
    }
    times = {key: float(seconds.min()) for key, seconds in time_interleaved(calls, rounds=3).items()}
    for kernel in dict.fromkeys(kernel for kernel, _ in calls):
        yield f"{kernel}, numpy / {fastest}", times[kernel, "numpy"] / times[kernel, fastest], "≤", 100


def _measure_seconds(code: str, **environment: str) -> float:
    """Measure the CPU time of a process that runs some code: the median of nine runs."""
    times = []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env=os.environ | environment
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return float(np.median(times))


def measure_start() -> Iterator[Row]:
    """Measure CPU times beyond that of importing NumPy, in milliseconds."""
    single = {"OPENBLAS_NUM_THREADS": "1"}  # otherwise the time of its threads would be counted
    numpy = _measure_seconds("import numpy", **single)
    yield "import numpy, ms", 1e3 * numpy, "≥", -np.inf
    yield "import radoncdt, ms", 1e3 * (_measure_seconds("import numpy, radoncdt", **single) - numpy), "≤", 100
    call = "import numpy, radoncdt; radoncdt.max_nrcdt(numpy.eye(64, dtype=numpy.float32))"
    yield "import radoncdt and a first call of max_nrcdt, ms", 1e3 * (_measure_seconds(call, **single) - numpy), "≤", 50
    yield (
        "radoncdt --help, including Python, ms",
        1e3 * _measure_seconds("from radoncdt.cli import main; main(['-h'])"),
        "≤",
        200,
    )


PARTS = {"factors": [measure_factors, measure_other_factors], "start": [measure_start]}


def main(arguments: Sequence[str]) -> int:
    return run_parts(__name__, __doc__, PARTS, arguments)

"""Time of each stage of the transform, and of a plain loop that only streams the same rows.

The kernels do not report when a stage ends. ``stages.cpp`` therefore calls their parts up to a given stage. It is
compiled with the flags of the kernels, for the instruction set in use.
"""

import ctypes
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from benchmarks.comparison import N_ANGLES, SIDE, Record, make_own_record
from benchmarks.images import KINDS
from benchmarks.peers import Peer
from benchmarks.timing import time_interleaved
from radoncdt import _kernels
from radoncdt._native import ImageTable, address, suffix
from radoncdt._native.build import HERE, find_compiler, make_libraries, native_target
from radoncdt.directions import Directions

STAGES = ("reading", "projection", "quantiles", "pooling", "Python")  # in the order in which they run
_TYPES = {"i": ctypes.c_int64, "o": ctypes.c_int, "p": ctypes.c_void_p}
# letters of the types of the parameters of each function in stages.cpp
_SIGNATURES = {"up_to": "opippipp", "stream": "iiipppip", "tables": "ipipp"}


@cache
def load_library() -> Any:
    """Compile and load the functions of stages.cpp."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [Path(__file__).with_suffix(".cpp")]
        make_libraries(Path(folder), find_compiler(), native_target(), sources, (f"-I{HERE}",))
        name = _kernels.current_name()
        loaded = ctypes.CDLL(str(Path(folder) / native_target().file_name("baseline" if name == "numpy" else name)))
    for name, letters in _SIGNATURES.items():
        for ending in ("f32", "f64"):
            getattr(loaded, f"{name}_{ending}").argtypes = [_TYPES[letter] for letter in letters]
    return loaded


def call_up_to(
    stage: int, image: NDArray[Any], directions: Directions, levels: NDArray[Any], out: NDArray[Any]
) -> Callable[[], object]:
    """Prepare a call of the kernel for quantiles up to a stage: 0 reading, 1 projection, 2 quantiles in bins."""
    table = ImageTable(image[None])
    arrays = table, directions.cosines, directions.sines, levels, out
    arguments = (
        *(stage, address(table.rows), len(directions), address(directions.cosines), address(directions.sines)),
        *(levels.size, address(levels), address(out)),
    )
    function = getattr(load_library(), f"up_to_{suffix(image.dtype)}")
    return lambda: (function(*arguments), arrays)


def call_stream(image: NDArray[Any], directions: Directions) -> tuple[Callable[[], object], NDArray[Any]]:
    """Prepare a call of the plain loop, as if all directions went along rows; also return the array of its sums."""
    n, length = image.shape
    c, s = directions.cosines, directions.sines
    slopes = np.where(np.abs(c) >= np.abs(s), -s / np.where(c, c, 1), c / np.where(s, s, 1))
    rows = np.pad(image, ((0, 0), (2, 2)))
    starts, weights = np.empty((slopes.size, n), np.int32), np.empty((slopes.size, 3, n), image.dtype)
    sums = np.zeros((slopes.size, length + n + 8), image.dtype)
    ending = suffix(image.dtype)
    getattr(load_library(), f"tables_{ending}")(slopes.size, address(slopes), n, address(starts), address(weights))
    arrays = rows, starts, weights, sums
    addresses = address(rows), address(starts), address(weights)
    function = getattr(load_library(), f"stream_{ending}")
    arguments = slopes.size, n, rows.shape[1], *addresses, sums.shape[1], address(sums)
    return lambda: (function(*arguments), arrays), sums


def measure_stages(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Measure the milliseconds of each stage, and the ratio of the projection to the plain loop."""
    directions, levels = Directions.choose(N_ANGLES, None), radoncdt.quantile_levels(64)
    out, kernels = np.empty((N_ANGLES, 64)), _kernels.current()
    options: dict[str, Any] = {"normalise": True, "extremes": True}
    for kind, draw in KINDS.items():
        for dtype in (np.float32,) if quick else (np.float32, np.float64):
            image = draw(SIDE).astype(dtype)
            calls: dict[str, Callable[[], object]] = {
                "bound": call_stream(image, directions)[0],
                **{name: call_up_to(stage, image, directions, levels, out) for stage, name in enumerate(STAGES[:3])},
                "pooling": partial(
                    kernels.image_quantiles, image[None], directions.cosines, directions.sines, levels, **options
                ),
                "Python": partial(radoncdt.max_nrcdt, image, n_angles=N_ANGLES, directions="equispaced", n_jobs=1),
            }
            times = time_interleaved(calls, rounds=5 if quick else 9)
            # the fastest turns, because differences of medians would be noise
            until = {name: 1e3 * float(seconds.min()) for name, seconds in times.items()}
            each = {
                name: until[name] - until[before] if before else until[name]
                for before, name in zip(("", *STAGES), STAGES)
            }
            yield make_own_record(
                "stages",
                f"{kind}, {np.dtype(dtype)}",
                kind=kind,
                dtype=str(np.dtype(dtype)),
                milliseconds=until["Python"],
                bound=until["bound"],
                stages=each,
                over_bound=each["projection"] / until["bound"],
            )

"""Where the time of ours goes, against a plain loop that does no more than stream the same rows."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numba
import numpy as np
from images import KINDS
from numpy.typing import NDArray
from peers import Peer
from reporting import interleaved

import radoncdt
from comparison import N_ANGLES, SIDE, Record, ours_alone
from radoncdt import _kernels
from radoncdt._kernels import (
    GROUP,
    STEP,
    _columns,
    _cumulate,
    _load,
    _moments,
    _most_bins,
    _project,
    _quantiles,
    _rows,
    _search_room,
    _taps,
    _workspace,
)
from radoncdt.directions import Directions
from radoncdt.measures import Batch, for_kernel

STAGES = ("reading", "projection", "quantiles", "pooling", "Python")


@numba.njit(nogil=True, error_model="numpy")
def up_to(stage: Any, pixels: Any, bits: Any, shapes: Any, sweep: Any, levels: Any, out: Any) -> None:
    """What `image_quantiles` does to one image, as far as a stage: 0 reading, 1 projection, 2 quantiles."""
    box, moments = np.empty(4, np.int64), np.empty(5)
    _, frame, _, _ = _load(pixels, bits, 0, shapes[0], np.empty((0, 0), bits.dtype), box)
    rows = _rows(frame, box)
    _moments(rows, moments)
    columns = _columns(frame, box)
    if stage == 0:
        return
    for lines, members in ((rows, sweep.by_rows), (columns, sweep.by_columns)):
        work = _workspace(lines)
        cumulated = np.empty((GROUP, _most_bins(lines) + 1 + STEP))
        room = _search_room(_most_bins(lines), levels.size)
        for d in range(0, members.size, GROUP):
            _project(lines, sweep, members, d, work)
            if stage == 1:
                continue
            _cumulate(work, cumulated)
            for g in range(min(GROUP, members.size - d)):
                _quantiles(cumulated[g], work.n_bins[g], levels, room, out[members[d + g]])


@numba.njit(nogil=True, error_model="numpy", fastmath={"contract"})
def stream(rows: Any, starts: Any, weights: Any, sums: Any) -> None:
    """The bound: every row, padded by two zeros at both ends, three-tap into the sums of every direction."""
    for d in range(starts.shape[0]):
        total = sums[d]
        for r in range(rows.shape[0]):
            row = rows[r]
            w0, w1, w2 = weights[d, 0, r], weights[d, 1, r], weights[d, 2, r]
            part = total[starts[d, r] : starts[d, r] + row.size - 2]
            for k in range(part.size):
                part[k] += w0 * row[k + 2] + w1 * row[k + 1] + w2 * row[k]


def streamed(image: NDArray[Any], slopes: NDArray[Any]) -> tuple[Any, Any, Any, Any]:
    """What `stream` takes: rows, and the first bins and weights of our own kernel for these slopes."""
    n, length = image.shape
    rows = np.pad(image, ((0, 0), (2, 2)))
    starts, two = np.empty((slopes.size, n), np.int32), np.empty((slopes.size, 2, n), image.dtype)
    for d, slope in enumerate(slopes):
        _taps(slope, 0.0, n // 2 + 2, 1, 0, starts[d], two[d])
    weights = np.stack([two[:, 0], 1 - two[:, 0] - two[:, 1], two[:, 1]], axis=1)
    return rows, starts, weights, np.zeros((slopes.size, length + n + 8), image.dtype)


def stages(found: list[Peer], quick: bool) -> Iterator[Record]:
    """Milliseconds of each stage, and the time of the projection over the bound."""
    directions, levels = Directions.choose(N_ANGLES, None), radoncdt.quantile_levels(64)
    sweep, out = directions.sweep, np.empty((N_ANGLES, 64))
    kernel: Any = _kernels.image_quantiles
    steps: Any = up_to
    pooled, moments, status = np.empty((1, 2, 64)), np.empty((1, 5)), np.empty(1, np.int64)
    for kind, draw in KINDS.items():
        for dtype in (np.float32,) if quick else (np.float32, np.float64):
            image = draw(SIDE).astype(dtype)
            arrays = for_kernel(Batch.read(image).items)
            bound = streamed(image, sweep.slope)
            options = levels, True, False, 0.0, True, pooled, moments, status
            calls: dict[str, Callable[[], object]] = {
                "bound": partial(stream, *bound),
                "reading": partial(steps, 0, *arrays, sweep, levels, out),
                "projection": partial(steps, 1, *arrays, sweep, levels, out),
                "quantiles": partial(steps, 2, *arrays, sweep, levels, out),
                "pooling": partial(kernel, *arrays, sweep, *options),
                "Python": partial(radoncdt.max_nrcdt, image, n_angles=N_ANGLES, directions="equispaced", n_jobs=1),
            }
            times = interleaved(calls, rounds=5 if quick else 9)
            # of the fastest turns: differences of medians would be noise
            until = {name: 1e3 * float(seconds.min()) for name, seconds in times.items()}
            each = {
                name: until[name] - until[before] if before else until[name]
                for before, name in zip(("", *STAGES), STAGES)
            }
            yield ours_alone(
                "stages",
                f"{kind}, {np.dtype(dtype)}",
                kind=kind,
                dtype=str(np.dtype(dtype)),
                milliseconds=until["Python"],
                bound=until["bound"],
                stages=each,
                over_bound=each["projection"] / until["bound"],
            )

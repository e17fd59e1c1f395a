"""Time measurements that are robust to a noisy machine."""

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["compute_speed_ratio", "time_interleaved"]

Key = TypeVar("Key", bound=Hashable)


def time_interleaved(
    functions: Mapping[Key, Callable[[], object]], rounds: int, *, slow: float = np.inf
) -> dict[Key, NDArray[Any]]:
    """Measure the seconds of each function, round by round, so that a disturbance of the machine affects all of them.

    A turn repeats the call for 0.2 seconds, so that neither caches that the previous function filled nor the time that
    an idle core takes to wake up matter. Functions that take more than `slow` seconds have at most three
    turns. If they compile something, they must have been called before.
    """

    def turn(function: Callable[[], object], repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            function()
        return (time.perf_counter() - begin) / repeats

    first = {name: turn(function, 1) for name, function in functions.items()}
    first |= {name: turn(functions[name], 1) for name in functions if first[name] <= slow}  # the first call may compile
    times: dict[Key, list[float]] = {name: [first[name]] if first[name] > slow else [] for name in functions}
    repeats = {
        name: 1 + int(0.2 / min(turn(function, 1) for _ in range(3))) if first[name] < 0.2 else 1
        for name, function in functions.items()
    }
    for round_ in range(rounds):
        for name, function in functions.items():
            if round_ < 2 or first[name] <= slow:
                times[name].append(turn(function, repeats[name]))
    return {name: np.array(seconds) for name, seconds in times.items()}


def compute_speed_ratio(times: dict[str, NDArray[Any]], slow: str, fast: str) -> float:
    """Compute the ratio of the times of the slow and of the fast function, in their fastest turns.

    Other processes can only slow a turn down, so the fastest turn is the most reliable.
    """
    return float(times[slow].min() / times[fast].min())

"""What all benchmarks share: rows of figures with limits, timing that a noisy machine does not spoil, and documents."""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from radoncdt._files import write_atomically

Key = TypeVar("Key", bound=Hashable)

Row = tuple[str, float, str, float]
"""What is measured, the figure, "≤" or "≥", the limit; a limit of ±∞ is none, only something to compare with."""


def interleaved(
    functions: Mapping[Key, Callable[[], object]], rounds: int, *, slow: float = np.inf
) -> dict[Key, NDArray[Any]]:
    """Seconds of each function, round by round: what disturbs the machine disturbs all.

    A turn is as many calls as take a fifth of a second, so that what the function before left in the caches, and how
    long an idle core takes to wake, do not count. Functions that take more than `slow` seconds have three turns at
    most; where that is used they must have been called before, if they compile.
    """

    def turn(function: Callable[[], object], repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            function()
        return (time.perf_counter() - begin) / repeats

    first = {name: turn(function, 1) for name, function in functions.items()}
    first |= {name: turn(functions[name], 1) for name in functions if first[name] <= slow}  # the first may compile
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


def ratio(times: dict[str, NDArray[Any]], slow: str, fast: str) -> float:
    """How many times as fast: of the fastest turns, for what neighbours of this machine do can only slow it down."""
    return float(times[slow].min() / times[fast].min())


def between(text: str, begin: str, end: str, new: str) -> str:
    """A document with something new on the lines from a mark, which must be there once, to the end mark after it."""
    before, *after = text.split(f"{begin}\n")
    if len(after) != 1 or f"\n{end}" not in after[0]:
        raise ValueError(f"there must be one place between {begin!r} and {end!r}")
    return f"{before}{begin}\n{new}\n{end}{after[0].split(end, 1)[1]}"


def _write(text: str, file: IO[bytes]) -> None:
    file.write(text.encode())


def main(doc: str | None, parts: dict[str, list[Callable[[], Iterator[Row]]]], results: Path | None = None) -> int:
    """Measure the parts that the command line names, all by default, and say which figures miss their limits.

    If there is a file for results, the figures of a part are put into it, in place of earlier ones, once all are there.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"one or more of {', '.join(parts)}; all by default")
    chosen = parser.parse_args().parts or list(parts)
    if unknown := [part for part in chosen if part not in parts]:
        parser.error(f"unknown part {unknown[0]!r}; choose from {', '.join(parts)}")
    warnings.simplefilter("error")
    missed = 0
    for part in chosen:
        figures: dict[str, float] = {}
        for measure in parts[part]:
            for name, figure, sign, limit in measure():
                good = figure <= limit if sign == "≤" else figure >= limit
                missed += not good
                verdict = "      " if np.isinf(limit) else "ok    " if good else "MISSED"
                against = "" if np.isinf(limit) else f"{sign} {limit:g}"
                print(f"{verdict} {name:72s} {figure:10.3g}  {against}", flush=True)
                figures[name] = float(f"{figure:.6g}")
        if results is not None:
            known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
            known[part] = figures
            text = json.dumps(known, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
            write_atomically(results, partial(_write, text))
    return 1 if missed else 0

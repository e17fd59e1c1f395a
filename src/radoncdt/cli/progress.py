"""Progress of long commands on stderr: a bar on a terminal, or one line every 30 seconds in a log file."""

import sys
import time
from collections.abc import Callable
from math import ceil
from typing import Any, TextIO

from radoncdt._extras import require

__all__ = ["Bar"]

DELAY = 2  # seconds before a bar appears
EVERY = 30.0  # seconds between two lines in a log file
FORMAT = "{desc} {percentage:3.0f}%|{bar}| {elapsed} elapsed, {remaining} left"
FORMAT_WITH_COUNTS = FORMAT.replace("|{bar}|", "|{bar}| {n_fmt} of {total_fmt},")


class Bar:
    """Shows progress; an instance is the `on_progress` callback of library functions.

    A new bar begins whenever the total changes or the count falls, so that one instance serves several tasks in a row.
    Lines that `radoncdt.cli.messages` prints meanwhile appear above the bar.

    Parameters
    ----------
    file : text file, optional
        stderr by default.
    clock : callable
        Returns the time in seconds.

    Attributes
    ----------
    shows_counts : bool
        Whether to show counts beside the share of the work that is done. Counts of costs mean nothing to users.

    Examples
    --------
    >>> from radoncdt.cli.progress import Bar
    >>> with Bar() as bar:
    ...     for done in range(11):
    ...         bar(done, 10, "counting")
    """

    def __init__(self, *, file: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = sys.stderr if file is None else file  # None for a program without a console
        self._clock = clock
        self._done = self._total = 0
        self._began = self._written = clock()
        self._bar: Any = None
        self._finished = False
        self.shows_counts = True

    def __call__(self, done: int, total: int, task: str) -> None:
        if self._file is None or self._finished:  # an interrupted worker may still report
            return
        if total != self._total or done < self._done:
            self._begin(total)
        if self._bar is not None:
            self._bar.set_description_str(task, refresh=False)
            if done > self._done:
                self._bar.update(done - self._done)
            elif self._clock() - self._began >= DELAY:  # a step that takes long; show at least how long
                self._bar.refresh()
        elif self._clock() - self._written >= EVERY:
            self._written = self._clock()
            elapsed = self._written - self._began
            counts = f"{done:,} of {total:,}" if self.shows_counts else f"{done / max(1, total):.0%}"
            left = f"{_describe_duration(elapsed * (total - done) / done)} left" if done else ""
            line = f"radoncdt: {task}: {counts}, {left or f'{_describe_duration(elapsed)} elapsed'}"
            print(line, file=self._file, flush=True)
        self._done = done
        if done >= total:
            self.close()

    def _begin(self, total: int) -> None:
        self.close()
        self._total = total
        self._began = self._written = self._clock()
        if self._file.isatty():
            tqdm = require("tqdm", "showing progress").tqdm
            layout = FORMAT_WITH_COUNTS if self.shows_counts else FORMAT
            self._bar = tqdm(total=total, delay=DELAY, file=self._file, bar_format=layout, smoothing=0)

    def close(self) -> None:
        """Close the bar, if there is one. The next call begins a new one."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._done, self._total = None, 0, 0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self._finished = True
        self.close()


def _describe_duration(seconds: float) -> str:
    """Return a duration in words, rounded up."""
    if seconds <= 60:
        return f"{ceil(seconds)} s"
    minutes = ceil(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

"""How far a long task has come: a bar on a terminal, and a line every 30 seconds in a log file."""

import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from types import TracebackType
from typing import Any, Generic, TextIO, TypeVar

Item = TypeVar("Item")

DELAY = 2  # seconds before a bar appears
EVERY = 30.0  # seconds between two lines in a log file
SHARES = "{desc} {percentage:3.0f}%|{bar}| {elapsed} gone, {remaining} to go"  # of a bar without a unit


class Progress(Generic[Item]):
    """Counts what is done and shows it on stderr; an iterable, a context manager, or both.

    Several threads may call `update`.

    Parameters
    ----------
    items : collection, optional
        What iterating over this object returns; each item counts once the next one is asked for.
    total : int, optional
        How many items there are; the length of `items` by default.
    unit : str, optional
        The plural of what is counted, such as "images". Without it only shares are shown.
    title : str
        What is being done.
    show : bool
        Whether to show anything.
    file : text file, optional
        stderr by default.
    clock : callable
        The time in seconds.

    Examples
    --------
    >>> from radoncdt._progress import Progress
    >>> sum(Progress([1, 2, 3], unit="numbers"))
    6
    """

    def __init__(
        self,
        items: Collection[Item] = (),
        *,
        total: int | None = None,
        unit: str | None = None,
        title: str = "",
        show: bool = True,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._items, self._unit, self._title, self._clock = items, unit, title, clock
        self.total = len(items) if total is None else total
        self.done = 0
        self._file = sys.stderr if file is None else file
        self._show = show and self._file is not None  # a program without a console has no stderr
        self._lock = threading.Lock()
        self._began = self._said = clock()
        self._bar = self._drawn() if self._show and self._file.isatty() else None

    def _drawn(self) -> Any:
        import tqdm

        form = {"bar_format": SHARES, "smoothing": 0} if self._unit is None else {"unit": f" {self._unit}"}
        return tqdm.tqdm(total=self.total, desc=self._title or None, delay=DELAY, file=self._file, **form)

    def __iter__(self) -> Iterator[Item]:
        with self:
            for item in self._items:
                yield item
                self.update()

    def __enter__(self) -> "Progress[Item]":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, count: int = 1, title: str | None = None) -> None:
        """Count some more items as done; `title` says what is being done from now on."""
        with self._lock:
            self.done += count
            self._title = self._title if title is None else title
            if self._bar is not None:
                self._bar.set_description_str(self._title or None, refresh=False)
                self._bar.update(count)
            elif self._show and self._clock() - self._said >= EVERY:
                self._said = self._clock()
                print(self._line(), file=self._file, flush=True)

    def write(self, line: str) -> None:
        """Print a line on the same file; a bar makes room for it."""
        with self._lock:
            if self._bar is not None:
                self._bar.write(line, file=self._file)
            else:
                print(line, file=self._file)

    def _line(self) -> str:
        title = f"{self._title}: " if self._title else ""
        done = f"{self.done:,} of {self.total:,} {self._unit}"
        if self._unit is None:
            done = f"{self.done / max(1, self.total):.0%}"
        left = (self._said - self._began) * (self.total - self.done) / max(1, self.done)
        return f"radoncdt: {title}{done}, {_in_words(left)} left"


def _in_words(seconds: float) -> str:
    """A duration, rounded up."""
    minutes = -int(-seconds // 60)
    if seconds <= 60:
        return f"{-int(-seconds // 1)} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"

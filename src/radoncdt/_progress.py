"""Progress of long work, reported to a callback. The caller decides how to show it."""

import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, wait
from typing import TypeVar

from radoncdt._typing import OnProgress

__all__ = ["Counter", "track"]

Item = TypeVar("Item")

_HEARTBEAT = 0.5  # seconds between reports of work that does not count itself


class Counter:
    """A counter of finished work, which it reports.

    Several threads may call `advance`; calls of the callback never overlap.
    """

    def __init__(self, on_progress: OnProgress | None, total: int, task: str) -> None:
        self._on_progress, self._total, self._task = on_progress, total, task
        self._done, self._lock = 0, threading.Lock()
        self.advance(0)

    def advance(self, count: int = 1, task: str | None = None) -> None:
        """Count more work as done; `task` replaces the name of the work."""
        with self._lock:
            self._done += count
            self._task = self._task if task is None else task
            if self._on_progress is not None:
                self._on_progress(self._done, self._total, self._task)

    def await_result(self, work: Callable[[], Item]) -> Item:
        """Return the result of work that does not count itself, and repeat the last report until it is there.

        The work runs in a thread that does not keep an interrupted program alive.
        """
        if self._on_progress is None:
            return work()
        future: Future[Item] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        while not future.done():
            self.advance(0)
            wait([future], _HEARTBEAT)
        return future.result()


def track(items: Collection[Item], on_progress: OnProgress | None, task: str) -> Iterator[Item]:
    """Iterate over items. Each counts as done once the next one is requested.

    >>> from radoncdt._progress import track
    >>> list(track("ab", lambda done, total, task: print(f"{task}: {done} of {total}"), "letters"))
    letters: 0 of 2
    letters: 1 of 2
    letters: 2 of 2
    ['a', 'b']
    """
    counter = Counter(on_progress, len(items), task)
    for item in items:
        yield item
        counter.advance()

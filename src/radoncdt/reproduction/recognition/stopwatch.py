"""The time that the methods of a study take."""

from time import perf_counter, process_time

__all__ = ["Stopwatch"]


class Stopwatch:
    """Adds up the time of the blocks that it is used for as a context manager.

    >>> from radoncdt.reproduction.recognition.stopwatch import Stopwatch
    >>> watch = Stopwatch()
    >>> for _ in range(2):
    ...     with watch:
    ...         n = sum(range(1000))
    >>> watch.seconds > 0
    True
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0  # processor time, summed over the threads; other programs hardly matter

    def __enter__(self) -> "Stopwatch":
        self._began = perf_counter(), process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds += perf_counter() - self._began[0]
        self.cpu_seconds += process_time() - self._began[1]

"""Threads for kernels that release the GIL."""

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError

Task = TypeVar("Task")

WORTH_A_THREAD = 8_000_000
"""Pixels times directions: about a millisecond of work, several times what it takes to start a thread."""

MOST_JOBS = 2**12
"""More threads than this are taken for a mistake."""


def n_workers(n_jobs: object, work: int) -> int:
    """Threads for a piece of work. `n_jobs` is as in scikit-learn: −1 is all cores, −2 all but one."""
    if n_jobs is not None and _validation.count(n_jobs, "n_jobs", -MOST_JOBS, MOST_JOBS) == 0:
        raise ArgumentValueError("n_jobs", "must not be 0; 1 is one thread, -1 one a core")
    most = work // WORTH_A_THREAD
    if n_jobs == 1 or most <= 1:
        return 1
    return max(1, min(n_threads(n_jobs), most))


def n_threads(n_jobs: Any) -> int:
    """How many threads `n_jobs` stands for here."""
    from joblib import effective_n_jobs  # knows affinity, containers, and when it is itself inside a worker

    return int(effective_n_jobs(n_jobs))


def for_each(
    function: Callable[[Task], None], tasks: Iterable[Task], workers: int, stop: threading.Event | None = None
) -> None:
    """Call a function on every task, the caller being one of the workers.

    Tasks are handed out in order, and none after one has failed, so the error raised is that of the first bad task,
    whatever the number of workers. `stop` is set then, and by an interrupt; long tasks may look at it. When this
    returns, or raises, no worker is left.
    """
    if workers == 1:
        for task in tasks:
            function(task)
        return
    numbered = enumerate(tasks)
    lock = threading.Lock()
    failures: list[tuple[int, BaseException]] = []
    stop = threading.Event() if stop is None else stop

    def work() -> None:
        while not stop.is_set():
            with lock:
                number, task = next(numbered, (-1, None))
            if number < 0:
                return
            try:
                function(task)  # type: ignore[arg-type]
            except BaseException as error:
                failures.append((number, error))
                stop.set()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers - 1)]
    for thread in threads:
        thread.start()
    try:
        work()
        for thread in threads:
            thread.join()
    except BaseException as error:  # an interrupt between two tasks, or while waiting for the others
        failures.append((-1, error))
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise min(failures, key=lambda failure: failure[0])[1]

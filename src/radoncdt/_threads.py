"""Threads for kernels that release the GIL."""

import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from radoncdt import _validation
from radoncdt._validation import ArgumentValueError

__all__ = ["WORK_PER_THREAD", "check_n_jobs", "count_threads", "count_workers", "for_each"]

_Task = TypeVar("_Task")

WORK_PER_THREAD = 8_000_000  # pixels times directions: about 1 ms, several times what starting a thread takes

_MAX_JOBS = 2**12  # threads; larger values of `n_jobs` are assumed to be mistakes


def check_n_jobs(n_jobs: object) -> None:
    """Check a number of jobs, as in scikit-learn: −1 means all cores, −2 all cores except one, None usually one."""
    if n_jobs is not None and _validation.check_count(n_jobs, "n_jobs", -_MAX_JOBS, _MAX_JOBS) == 0:
        raise ArgumentValueError("n_jobs", "must not be 0; 1 is one thread, -1 one per core")


def count_workers(n_jobs: object, work: int) -> int:
    """Return the number of threads for some work, in the unit of `WORK_PER_THREAD`."""
    check_n_jobs(n_jobs)
    useful = work // WORK_PER_THREAD
    if n_jobs == 1 or useful <= 1:
        return 1
    return max(1, min(count_threads(n_jobs), useful))


def count_threads(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` means on this machine."""
    from joblib import effective_n_jobs  # it knows affinity, containers, and whether it is itself inside a worker

    return int(effective_n_jobs(n_jobs))


def for_each(
    function: Callable[[_Task], None], tasks: Iterable[_Task], workers: int, stop: threading.Event | None = None
) -> None:
    """Call a function on every task. The calling thread is one of the workers.

    Tasks are handed out in order, and no further task is handed out after a failure. The error raised is therefore that
    of the first bad task, whatever the number of workers. A failure or an interrupt sets `stop`, which long tasks may
    check. No worker is left when this function returns or raises.
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
    except BaseException as error:  # an interrupt between two tasks, or while waiting for the other threads
        failures.append((-1, error))
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise min(failures, key=lambda failure: failure[0])[1]

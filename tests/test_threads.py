"""Threads: every task is done once, the first failure is raised, and kernels share no state."""

import numpy as np
import pytest

import radoncdt
from radoncdt import _threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_task_is_done_once(workers):
    done = []
    _threads.for_each(done.append, range(100), workers)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_first_failure_is_raised(workers):
    def fail(task):
        if task in (17, 18, 60):
            raise KeyError(task)

    with pytest.raises(KeyError, match="17"):
        _threads.for_each(fail, range(100), workers)


def test_no_threads_are_started_for_little_work():
    assert _threads.count_workers(8, 1000) == 1
    assert _threads.count_workers(3, 10**9) == 3
    assert _threads.count_workers(1, 10**9) == 1


def test_transforms_can_be_called_from_threads():
    """Kernels share no state: concurrent calls return the same results as single calls."""
    from concurrent.futures import ThreadPoolExecutor

    stack = np.random.default_rng(0).random((12, 30, 30))
    expected = radoncdt.max_nrcdt(stack)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(radoncdt.max_nrcdt, stack))
    np.testing.assert_array_equal(results, expected)

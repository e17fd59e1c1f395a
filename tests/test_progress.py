"""Progress that library functions report to a callback."""

import threading

import pytest

from radoncdt import _progress
from radoncdt._progress import Counter, track


def test_without_a_callback_nothing_is_reported():
    Counter(None, 3, "counting").advance(3)
    assert list(track("abc", None, "letters")) == ["a", "b", "c"]


def test_items_count_once_the_next_one_is_requested():
    calls = []
    for item in track([0, 1, 2], lambda *call: calls.append(call), "counting"):
        assert calls[-1] == (item, 3, "counting")
    assert calls[-1] == (3, 3, "counting")


def test_threads_lose_no_counts():
    calls = []
    counter = Counter(lambda *call: calls.append(call), 8000, "counting")
    threads = [threading.Thread(target=lambda: [counter.advance() for _ in range(1000)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [call[0] for call in calls] == list(range(8001))


def test_work_that_does_not_count_itself_is_reported(monkeypatch):
    """The last report is repeated until there is a result."""
    monkeypatch.setattr(_progress, "_HEARTBEAT", 1e-3)
    calls, enough = [], threading.Event()

    def hear(*call):
        calls.append(call)
        if len(calls) == 5:
            enough.set()

    assert Counter(hear, 1, "thinking").await_result(lambda: enough.wait(60)) is True
    assert len(calls) >= 5
    assert set(calls) == {(0, 1, "thinking")}
    assert Counter(None, 1, "thinking").await_result(threading.current_thread) is threading.current_thread()


@pytest.mark.parametrize("on_progress", [None, lambda *_: None])
def test_errors_of_such_work_rise(on_progress):
    with pytest.raises(ZeroDivisionError):
        Counter(on_progress, 1, "thinking").await_result(lambda: 1 / 0)

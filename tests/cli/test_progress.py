"""Bars and lines that show the progress of commands."""

import io
import sys
import threading

import pytest

from radoncdt._progress import Counter, track
from radoncdt.cli.messages import complain
from radoncdt.cli.progress import Bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A clock that tests turn."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def lines_of(counts, seconds, total, task):
    """The lines in a log file if each of some steps takes this long."""
    clock, file = Clock(), io.StringIO()
    with Bar(file=file, clock=clock) as bar:
        counter = Counter(bar, total, task)
        for count in counts:
            clock.now += seconds
            counter.advance(count)
    return file.getvalue().splitlines()


def test_a_log_file_gets_a_line_every_30_seconds():
    lines = lines_of([100] * 50, 10, total=5000, task="reading images")
    assert len(lines) == 16
    assert lines[0] == "radoncdt: reading images: 300 of 5,000, 8 min left"
    assert lines[-1] == "radoncdt: reading images: 4,800 of 5,000, 20 s left"


def test_short_tasks_write_nothing_to_a_log_file():
    assert lines_of([1] * 29, 1, total=29, task="reading images") == []


def test_a_long_first_step_has_no_estimate():
    assert lines_of([0, 0, 0], 25, total=1, task="comparing") == ["radoncdt: comparing: 0 of 1, 50 s elapsed"]


def test_a_bar_moves_on_during_a_long_step(monkeypatch):
    """Reports without progress update the time, but only once the bar has appeared."""
    clock, file = Clock(), Terminal()
    with Bar(file=file, clock=clock) as bar:
        bar(0, 1, "comparing")
        bar(0, 1, "comparing")
        assert file.getvalue().strip() == ""
        clock.now += 3
        bar(0, 1, "comparing")
        assert "comparing   0%|" in file.getvalue()


def test_long_tasks_are_reported_in_hours():
    assert lines_of([1], 60, total=200, task="calibrating") == ["radoncdt: calibrating: 1 of 200, 3 h 19 min left"]


def test_a_terminal_gets_a_bar(monkeypatch):
    monkeypatch.setattr("radoncdt.cli.progress.DELAY", 0)
    file = Terminal()
    with Bar(file=file) as bar:
        bar(0, 4, "reading images")
        bar(4, 4, "reading images")
    assert "reading images 100%" in file.getvalue()
    assert "left" in file.getvalue()


def test_the_next_task_gets_a_new_bar(monkeypatch):
    monkeypatch.setattr("radoncdt.cli.progress.DELAY", 0)
    file = Terminal()
    with Bar(file=file) as bar:
        for total, task in ((2, "reading images"), (2, "calibrating"), (5, "writing the report")):
            for done in range(total + 1):
                bar(done, total, task)
    for task in ("reading images", "calibrating", "writing the report"):
        assert f"{task} 100%" in file.getvalue()


def test_a_finished_bar_is_closed_at_once(monkeypatch):
    """Otherwise the lines that a command prints next would appear above it."""
    monkeypatch.setattr("radoncdt.cli.progress.DELAY", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar() as bar:
        assert list(track([1, 2], bar, "reading images")) == [1, 2]
        complain("a remark")
    assert sys.stderr.getvalue().endswith("left\nradoncdt: a remark\n")


def test_a_bar_appears_after_two_seconds_only():
    file = Terminal()
    with Bar(file=file) as bar:
        assert list(track([1, 2], bar, "reading images")) == [1, 2]
    assert file.getvalue().strip() == ""


def test_a_program_without_a_console_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with Bar() as bar:
        bar(1, 2, "reading images")


def test_messages_appear_above_a_bar(monkeypatch):
    monkeypatch.setattr("radoncdt.cli.progress.DELAY", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Bar() as bar:
        bar(1, 4, "reading images")
        complain("a remark")
        bar(4, 4, "reading images")
    lines = [line.rsplit("\r", 1)[-1] for line in sys.stderr.getvalue().split("\n")]
    assert "radoncdt: a remark" in lines


@pytest.mark.parametrize("file", [io.StringIO, Terminal])
def test_several_threads_may_report(file):
    with Bar(file=file()) as bar:
        counter = Counter(bar, 801, "counting")
        threads = [threading.Thread(target=lambda: [counter.advance() for _ in range(100)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert bar._done == 800


def test_costs_are_shown_as_shares():
    file, times = io.StringIO(), iter([0, 0, 40, 40, 40])
    bar = Bar(file=file, clock=lambda: next(times))
    bar.shows_counts = False
    bar(1, 4, "measuring")
    assert file.getvalue() == "radoncdt: measuring: 25%, 2 min left\n"


def test_reports_after_the_end_are_ignored():
    file, times = io.StringIO(), iter(range(0, 1000, 40))
    with Bar(file=file, clock=lambda: next(times)) as bar:
        pass
    bar(1, 4, "reading images")
    assert file.getvalue() == ""

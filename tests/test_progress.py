"""How far a long task has come, on a terminal and in a log file."""

import io
import sys
import threading

import pytest

from radoncdt._progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A clock that tests turn."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def lines_of(counts, seconds, **options):
    """What is written to a log file if each of some steps takes this long."""
    clock, file = Clock(), io.StringIO()
    with Progress(file=file, clock=clock, **options) as bar:
        for count in counts:
            clock.now += seconds
            bar.update(count)
    return file.getvalue().splitlines()


def test_a_log_file_gets_a_line_every_30_seconds():
    lines = lines_of([100] * 50, 10, total=5000, unit="images")
    assert len(lines) == 16
    assert lines[0] == "radoncdt: 300 of 5,000 images, 8 min left"
    assert lines[1] == "radoncdt: 600 of 5,000 images, 8 min left"
    assert lines[-1] == "radoncdt: 4,800 of 5,000 images, 20 s left"


def test_short_tasks_write_nothing_to_a_log_file():
    assert lines_of([1] * 29, 1, total=29, unit="images") == []


def test_long_tasks_are_told_in_hours():
    assert lines_of([1], 60, total=200, unit="marks") == ["radoncdt: 1 of 200 marks, 3 h 19 min left"]


def test_without_a_unit_shares_are_told():
    assert lines_of([25], 31, total=100, title="table4") == ["radoncdt: table4: 25%, 2 min left"]


def test_nothing_is_shown_unless_asked_for():
    assert lines_of([1] * 10, 100, total=10, unit="images", show=False) == []
    file = Terminal()
    assert list(Progress("abc", unit="letters", show=False, file=file)) == ["a", "b", "c"]
    assert file.getvalue() == ""


def test_items_are_counted_as_they_are_done():
    clock, file = Clock(), io.StringIO()
    bar = Progress([1, 2, 3, 4], unit="numbers", file=file, clock=clock)
    for number in bar:
        assert bar.done == number - 1
        clock.now += 20
    assert bar.done == 4
    assert file.getvalue().splitlines() == [
        "radoncdt: 2 of 4 numbers, 40 s left",
        "radoncdt: 4 of 4 numbers, 0 s left",
    ]


def test_a_terminal_gets_a_bar(monkeypatch):
    monkeypatch.setattr("radoncdt._progress.DELAY", 0)
    file = Terminal()
    with Progress(total=4, unit="images", title="reading", file=file) as bar:
        bar.update(4)
        bar.write("radoncdt: a remark")
    assert "reading: 100%" in file.getvalue()
    assert "4/4" in file.getvalue()
    assert "radoncdt: a remark\n" in file.getvalue()


def test_a_bar_appears_after_two_seconds_only():
    file = Terminal()
    assert list(Progress([1, 2], unit="images", file=file)) == [1, 2]
    assert file.getvalue().strip() == ""


def test_remarks_go_to_a_log_file():
    file = io.StringIO()
    with Progress([1], unit="images", file=file) as bar:
        bar.write("radoncdt: a remark")
    assert file.getvalue() == "radoncdt: a remark\n"


def test_a_program_without_a_console_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    clock = Clock()
    with Progress(total=2, unit="images", clock=clock) as bar:
        clock.now += 100
        bar.update()


@pytest.mark.parametrize("file", [io.StringIO, Terminal])
def test_threads_lose_no_counts(file):
    with Progress(total=8000, unit="images", file=file()) as bar:
        threads = [threading.Thread(target=lambda: [bar.update() for _ in range(1000)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert bar.done == 8000

"""Interleaved time measurements."""

from benchmarks.timing import time_interleaved


def test_slow_functions_are_repeated_less_often():
    calls = []
    times = time_interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=5, slow=-1.0)
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 3, "b": 3}
    assert all(len(seconds) == 3 for seconds in time_interleaved({1: lambda: None, 2: lambda: None}, rounds=3).values())

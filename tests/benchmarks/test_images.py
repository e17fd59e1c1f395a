"""Images for measurements."""

import numpy as np

from benchmarks.images import count_lines_and_runs


def test_lines_and_runs_are_counted():
    image = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]])
    assert count_lines_and_runs(image) == 3 + (2 + 0 + 1) + 4 + (2 + 1 + 2 + 2)

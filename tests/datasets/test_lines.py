"""Drawn lines, by their areas."""

import numpy as np
import pytest

from radoncdt import datasets


@pytest.mark.parametrize("width", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 4, 1.3])
def test_lines_have_their_width_in_any_direction(width, angle):
    end = 0.8 * np.array([np.cos(angle), np.sin(angle)])
    image = datasets.draw([[-end, end]], size=128, line_width=width)
    assert image.sum() == pytest.approx(0.8 * 128 * width + np.pi * width**2 / 4, rel=0.01)


def test_crossing_lines_are_not_brighter_than_a_single_line():
    assert datasets.draw([[(-1, 0), (1, 0)], [(0, -1), (0, 1)]], size=21, line_width=3).max() == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: datasets.draw(None), TypeError, "`lines` must be a sequence, got None"),
        (lambda: datasets.draw([]), ValueError, "`lines` must not be empty"),
        (lambda: datasets.draw([[(0, 0), (1e200, 0)]]), ValueError, r"`lines\[0\]` must not be beyond"),
        (lambda: datasets.draw([[(0, 0)]]), ValueError, r"`lines\[0\]` must have shape \(n, 2\) with n ≥ 2"),
        (lambda: datasets.draw([[(0, 0), (np.nan, 0)]]), ValueError, r"`lines\[0\]` must be finite"),
    ],
)
def test_invalid_lines_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()

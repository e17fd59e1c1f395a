"""Fits of lines: the map of a moved mark is refined, and other marks have a larger misfit."""

from dataclasses import replace

import numpy as np
import pytest
from marks import MARKS

import radoncdt
from radoncdt.catalogue.line_fit import find_line_points, fit_lines
from radoncdt.catalogue.search import DEFAULT_LIMITS

INK = MARKS[0].image()
SIZE = 30.0  # pixels; the standard deviation of a mark, roughly


def test_points_lie_on_the_centre_of_a_line():
    ink = np.zeros((41, 81), np.float32)
    ink[18:23, 10:71] = 1
    points = find_line_points(ink)
    assert np.abs(points[:, 1]).max() <= 1
    assert points[:, 0].min() < -24
    assert points[:, 0].max() > 24
    assert len(find_line_points(np.kron(ink, np.ones((30, 30))))) <= 1000


def test_a_map_that_is_slightly_wrong_is_refined():
    points = find_line_points(INK)
    start = radoncdt.register(INK, INK, limits=DEFAULT_LIMITS)
    rough = replace(start, matrix=np.array([[1.0, 0.03], [-0.03, 1.0]]), shift=np.array([1.0, 1.0]))
    fit = fit_lines(rough, points, points, SIZE, DEFAULT_LIMITS)
    np.testing.assert_allclose(fit.registration.matrix, np.eye(2), atol=0.01)
    np.testing.assert_allclose(fit.registration.shift, 0, atol=0.5)
    assert fit.misfit < 0.01


def test_penalties_decide_between_maps_that_fit_equally_well():
    """A square lies on itself after four turns."""
    square = np.pad(np.ones((60, 60)), 20)
    points = find_line_points(np.pad(np.zeros((56, 56)), 2, constant_values=1.0))
    start = radoncdt.register(square, square, limits=radoncdt.Plausible(reflections=False))
    turns = sorted(round(each.rotation) % 360 for each in start.alternatives)
    assert turns == [90, 180, 270]
    for chosen in range(4):
        penalties = [0.0 if k == chosen else 0.1 for k in range(4)]
        fit = fit_lines(start, points, points, SIZE, DEFAULT_LIMITS, penalties)
        expected = (start, *start.alternatives)[chosen].matrix
        np.testing.assert_allclose(fit.registration.matrix, expected, atol=0.02)
        assert fit.misfit < 1e-3


def test_other_marks_and_marks_without_lines_fit_worse():
    points, others = find_line_points(INK), find_line_points(MARKS[1].image())
    with pytest.warns(UserWarning, match="is not credible"):
        start = radoncdt.register(INK, MARKS[1].image(), limits=DEFAULT_LIMITS)
    assert fit_lines(start, points, others, SIZE, DEFAULT_LIMITS).misfit > 0.02
    assert fit_lines(start, points, others[:0], SIZE, DEFAULT_LIMITS).misfit == 0.25

"""Directions on the circle: opposites, shares of the circle, projections."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from radoncdt.directions import Directions, equispaced_angles

ANGLES = st.lists(st.floats(-10, 10), min_size=1, max_size=9).map(np.array)


def test_equispaced_directions_have_equal_shares():
    directions = Directions.choose(7, None)
    assert_array_equal(directions.angles, equispaced_angles(7))
    assert_allclose(directions.shares, np.full(7, 1 / 7))
    assert directions is Directions.choose(7, None)


@given(ANGLES)
def test_shares_cover_the_half_circle(angles):
    shares = Directions(angles).shares
    assert (shares >= 0).all()
    assert_allclose(shares.sum(), 1)


@given(st.lists(st.integers(1, 179), min_size=1, max_size=9, unique=True))
def test_opposite_directions_have_the_same_shares(degrees):
    angles = np.deg2rad(degrees)
    assert_allclose(Directions(angles + np.pi).shares, Directions(angles).shares, atol=1e-9)


def test_shares_extend_to_the_middle_between_neighbours():
    assert_allclose(Directions(np.deg2rad([10, 190 + 20, 110])).shares, np.array([90 + 10, 20 + 80, 80 + 80]) / 360)


@given(ANGLES)
def test_opposites_are_exactly_opposite(angles):
    circle, n = Directions(angles).with_opposites, len(angles)
    assert_array_equal(circle.cosines[n:], -circle.cosines[:n])
    assert_array_equal(circle.sines[n:], -circle.sines[:n])
    assert_allclose(np.cos(circle.angles), circle.cosines, atol=1e-14)


@given(ANGLES, st.integers(1, 4))
def test_strides_are_a_partition(angles, step):
    directions = Directions(angles)
    parts = [directions.take_every(step, first) for first in range(min(step, len(angles)))]
    assert sum(map(len, parts)) == len(directions)
    assert_array_equal(np.sort(np.concatenate([part.angles for part in parts])), np.sort(angles))
    assert_array_equal(parts[0].sines, directions.sines[::step])


@given(ANGLES)
def test_projections_are_inner_products(angles):
    vectors = np.random.default_rng(0).normal(size=(3, 4, 2))
    expected = vectors @ [np.cos(angles), np.sin(angles)]
    assert_allclose(Directions(angles).project(vectors), expected, atol=1e-14)


def test_whitening_turns_directions_to_the_narrow_side():
    directions = Directions([0, np.pi / 4, np.pi / 2]).whiten(np.diag([4.0, 1.0]))
    assert_allclose(directions.angles, [0, np.arctan(2), np.pi / 2], atol=1e-15)
    assert_allclose(directions.cosines, np.cos(directions.angles), atol=1e-15)


@pytest.mark.parametrize("angles", [[], [[0, 1]], 0.5])
def test_angles_must_be_one_dimensional(angles):
    with pytest.raises(ValueError, match="`angles` must be one-dimensional and not empty"):
        Directions(angles)

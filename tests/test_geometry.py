"""Geometry: square roots of covariances, bounding boxes, rotations, half and full circle."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import clouds, images, matrices

import radoncdt
from radoncdt import _geometry as geometry

ANGLES = st.floats(-10, 10)


@given(matrices(), st.sampled_from([1e-290, 1e-8, 1.0, 1e290]))
def test_square_roots_equal_those_by_eigenvalues(matrix, scale):
    covariance = matrix @ matrix.T
    covariance *= scale / np.trace(covariance)
    root, inverse = geometry.square_root(covariance), geometry.inverse_square_root(covariance)
    condition = np.linalg.cond(matrix)
    assert_allclose(root, reference.root(covariance, 0.5), rtol=0, atol=1e-12 * condition * np.sqrt(scale))
    assert_allclose(inverse, reference.root(covariance, -0.5), rtol=0, atol=1e-12 * condition**2 / np.sqrt(scale))
    assert_array_equal(root, root.T)


@given(matrices(), st.lists(ANGLES, min_size=1, max_size=5).map(np.array))
def test_whitened_directions_are_those_of_the_inverse_root(matrix, angles):
    covariance = matrix @ matrix.T
    cosines, sines = geometry.whiten_directions(np.cos(angles), np.sin(angles), covariance)
    expected = geometry.inverse_square_root(covariance) @ [np.cos(angles), np.sin(angles)]
    expected /= np.linalg.norm(expected, axis=0)
    assert_allclose([cosines, sines], expected, rtol=0, atol=1e-9)


def test_a_singular_covariance_has_whitened_directions():
    """They are perpendicular to the line, except for directions along it."""
    cosines, sines = geometry.whiten_directions(np.array([0.6, -0.8]), np.array([0.8, 0.6]), np.diag([1.0, 0.0]))
    assert_allclose([cosines, sines], [[0, 0], [1, 1]])


@given(ANGLES)
def test_rotations_turn_counterclockwise(angle):
    matrix = geometry.rotation(angle)
    assert_allclose(matrix @ matrix.T, np.eye(2), atol=1e-15)
    assert_allclose(np.linalg.det(matrix), 1)
    assert_allclose(matrix @ [1, 0], [np.cos(angle), np.sin(angle)])
    assert_array_equal(geometry.rotation([angle, 0.0])[0], matrix)


def test_vectors_become_rows_and_columns():
    assert_array_equal(geometry.XY_TO_ROW_COLUMN @ [1, 0], [0, 1])  # one step to the right is the next column
    assert_array_equal(geometry.XY_TO_ROW_COLUMN @ [0, 1], [-1, 0])  # one step up is the previous row
    with pytest.raises(ValueError, match="read-only"):
        geometry.XY_TO_ROW_COLUMN[0, 0] = 1


@given(images(), st.tuples(*[st.integers(0, 5)] * 4))
def test_boxes_contain_all_ink_and_nothing_around_it(image, pad):
    padded = np.pad(image, [pad[:2], pad[2:]])
    box = padded[geometry.ink_box(padded)]
    assert np.count_nonzero(box) == np.count_nonzero(image)
    assert all(side.any() for side in (box[0], box[-1], box[:, 0], box[:, -1]))
    assert_array_equal(box, image[geometry.ink_box(image)])


def test_the_box_of_an_image_without_ink_is_empty():
    assert np.zeros((3, 4))[geometry.ink_box(np.zeros((3, 4)))].shape == (0, 0)


@given(images())
def test_the_other_half_of_the_circle_follows_from_the_first(image):
    half = radoncdt.nrcdt(image, n_angles=5, n_levels=6)
    angles = radoncdt.equispaced_angles(5)
    full = geometry.full_circle(half)
    assert_allclose(full, radoncdt.nrcdt(image, angles=[*angles, *(angles + np.pi)], n_levels=6), rtol=0, atol=1e-9)
    assert_array_equal(geometry.half_circle(full), half)


@given(clouds())
def test_the_half_circle_takes_the_middle_of_jumps(cloud):
    full = radoncdt.nrcdt(cloud, angles=2 * np.pi * np.arange(8) / 8, n_levels=6)
    half = geometry.half_circle(full)
    lower, upper = np.minimum(full[:4], -full[4:, ::-1]), np.maximum(full[:4], -full[4:, ::-1])
    assert (half >= lower).all()
    assert (half <= upper).all()

"""Whitened directions: affine maps become rotations and reflections of the circle. (test_pooling: the pools.)"""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from strategies import clouds, images, matrices, rotation, shifts

import radoncdt
from radoncdt import PointCloud, push_forward

pytestmark = pytest.mark.usefixtures("each_implementation")

N_ANGLES = 12
CIRCLE = 2 * np.pi * np.arange(2 * N_ANGLES) / (2 * N_ANGLES)


def directions_of(covariance, angles):
    """Compute the angles of Σ^{-1/2}η in a slow and obvious way."""
    x, y = reference.root(covariance, -0.5) @ [np.cos(angles), np.sin(angles)]
    return np.arctan2(y, x)


def whitened(measure, **options):
    return radoncdt.nrcdt(measure, angles=CIRCLE, n_levels=16, directions="whitened", **options)


@given(images())
def test_directions_of_images_are_those_of_the_whitened_measure(image):
    angles = directions_of(radoncdt.covariance(image), CIRCLE)
    expected = radoncdt.nrcdt(image, angles=angles, n_levels=16)
    # near a diagonal, strips may follow rows or columns
    clear = np.abs(np.abs(np.cos(angles)) - np.abs(np.sin(angles))) > 1e-9
    np.testing.assert_allclose(whitened(image)[clear], expected[clear], atol=1e-6)


@given(clouds(least=4))
def test_the_whitened_nrcdt_of_clouds_is_the_rcdt_of_whitened_points(cloud):
    points = (cloud.points - radoncdt.mean(cloud)) @ reference.root(radoncdt.covariance(cloud), -0.5)
    white = PointCloud(points, cloud.weights)
    np.testing.assert_allclose(radoncdt.covariance(white), np.eye(2), atol=1e-9)
    expected = radoncdt.rcdt(white, angles=CIRCLE, n_levels=16)
    np.testing.assert_allclose(whitened(cloud), expected, atol=1e-7)


@given(clouds(least=4), matrices(condition=20), shifts(), st.integers(0, 2 * N_ANGLES - 1), st.booleans())
def test_affine_maps_turn_and_mirror_the_circle(cloud, matrix, shift, steps, mirrored):
    """This is exact for maps S R Σ^{-1/2}, S symmetric positive definite and R a rotation by whole steps."""
    turn = rotation(steps * np.pi / N_ANGLES) @ np.diag([1, -1 if mirrored else 1])
    positive = reference.root(matrix @ matrix.T, 0.5)
    moved = push_forward(cloud, positive @ turn @ reference.root(radoncdt.covariance(cloud), -0.5), shift)
    before = whitened(cloud)
    if mirrored:
        before = np.roll(before[::-1], 1, axis=0)  # η ↦ −η
    np.testing.assert_allclose(whitened(moved), np.roll(before, steps, axis=0), atol=1e-6)


@pytest.mark.parametrize("width", [1e-7, 1e-10, 1e-13])
def test_clouds_that_are_nearly_a_line_are_refused(width):
    cloud = PointCloud([(0, 0), (1, width), (2, -width), (3, 2 * width), (5, 0)])
    with pytest.raises(ValueError, match=r"`images` must not (be too close to|lie on) one line"):
        whitened(cloud)
    for transform in (radoncdt.max_nrcdt, radoncdt.NormalizedRadonCDT().fit_transform):
        with pytest.raises(ValueError, match=r"must not (be too close to|lie on) one line"):
            transform([cloud])
    if width > 1e-12:  # without whitening it has an NR-CDT
        assert np.isfinite(radoncdt.nrcdt(cloud, n_angles=5)).all()
        assert np.isfinite(radoncdt.max_nrcdt(cloud, n_angles=5, directions="equispaced")).all()


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_the_scale_of_a_cloud_does_not_matter(scale):
    cloud = PointCloud(np.random.default_rng(0).normal(size=(9, 2)))
    other = PointCloud(cloud.points * scale)
    np.testing.assert_allclose(whitened(other), whitened(cloud), atol=1e-9)
    found = radoncdt.register(cloud, other, settings=radoncdt.DescriptorSettings(n_angles=16))
    np.testing.assert_allclose(found.matrix, np.eye(2) * scale, atol=1e-9 * scale)
    limited = radoncdt.register(
        other, cloud, limits=radoncdt.Plausible(similarity=True), settings=radoncdt.DescriptorSettings(n_angles=16)
    )
    np.testing.assert_allclose(limited.matrix, np.eye(2) / scale, atol=1e-9 / scale)

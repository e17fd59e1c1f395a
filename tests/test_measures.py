"""Images, point clouds and their moments."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from strategies import clouds, images, matrices, shifts

import radoncdt
from radoncdt import PointCloud, push_forward


class TestPointCloud:
    def test_a_cloud_keeps_read_only_copies(self):
        points, weights = np.zeros((2, 2)), np.ones(2)
        cloud = PointCloud(points, weights)
        points[:], weights[:] = 9, 9
        assert_array_equal(cloud.points, 0)
        assert_array_equal(cloud.weights, 1)
        with pytest.raises(ValueError, match="read-only"):
            cloud.points[0] = 1

    def test_a_cloud_survives_pickling(self):
        cloud = pickle.loads(pickle.dumps(PointCloud([(0, 0), (1, 2)], [1, 3])))
        assert_array_equal(cloud.weights, [1, 3])
        assert not cloud.points.flags.writeable

    def test_a_cloud_has_mass_one_by_default(self):
        assert radoncdt.mass(PointCloud([(0, 0), (1, 2), (5, 5)])) == pytest.approx(1)

    @pytest.mark.parametrize(
        ("points", "weights", "error", "message"),
        [
            ([(0, np.nan)], None, ValueError, r"`points` must be finite, got nan at \[0, 1\]"),
            ([(0, 1, 2)], None, ValueError, r"`points` must have shape \(n, 2\).*got \(1, 3\)"),
            (np.zeros((0, 2)), None, ValueError, r"`points` must have shape \(n, 2\) with n ≥ 1, got \(0, 2\)"),
            ([1, 2], None, ValueError, r"`points` must have shape"),
            ([(0, 0), (1,)], None, ValueError, "`points` must have rows of equal length"),
            (
                [(1j, 0)],
                None,
                TypeError,
                "`points` must hold bool, integer or float numbers, got list of dtype complex128",
            ),
            ("points", None, TypeError, "`points` must hold numbers, got 'points'"),
            (None, None, TypeError, "`points` must hold numbers, got None"),
            ([(0, 1e200)], None, ValueError, r"`points` must not be beyond ±1e\+150, got 1e\+200"),
            ([(0, 0)], [1, 2], ValueError, r"`weights` must have shape \(1,\), one per point, got \(2,\)"),
            ([(0, 0)], [np.inf], ValueError, "`weights` must be finite, got inf"),
        ],
    )
    def test_invalid_points_and_weights_are_refused(self, points, weights, error, message):
        with pytest.raises(error, match=message):
            PointCloud(points, weights)


class TestMoments:
    def test_one_pixel_has_the_moments_of_a_square(self):
        image = np.zeros((7, 4))
        image[1, 3] = 5
        assert radoncdt.mass(image) == 5
        assert_array_equal(radoncdt.mean(image), [1.5, 2])
        assert_allclose(radoncdt.covariance(image), np.eye(2) / 12, rtol=1e-15)

    @given(cloud=clouds(), matrix=matrices(), shift=shifts())
    def test_moments_follow_an_affine_map(self, cloud, matrix, shift):
        moved = push_forward(cloud, matrix, shift)
        size = np.abs(moved.points).max()
        assert_allclose(radoncdt.mass(moved), radoncdt.mass(cloud))
        assert_allclose(radoncdt.mean(moved), matrix @ radoncdt.mean(cloud) + shift, atol=1e-13 * size)
        expected = matrix @ radoncdt.covariance(cloud) @ matrix.T
        assert_allclose(radoncdt.covariance(moved), expected, atol=1e-13 * size**2)

    def test_moments_of_a_distant_cloud_lose_no_digits(self):
        points = np.random.default_rng(0).normal(size=(50, 2))
        near, far = PointCloud(points), PointCloud(points + 2.0**20)
        assert_allclose(radoncdt.covariance(far), radoncdt.covariance(near), rtol=1e-8)

    @given(images())
    def test_moments_of_pixel_centres_differ_by_the_extent_of_a_pixel(self, image):
        rows, columns = np.nonzero(image)
        height, width = image.shape
        points = np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=1)
        cloud = PointCloud(points, image[rows, columns])
        assert_allclose(radoncdt.mean(image), radoncdt.mean(cloud), atol=1e-10)
        assert_allclose(radoncdt.covariance(image), radoncdt.covariance(cloud) + np.eye(2) / 12, atol=1e-8)

    def test_moments_keep_leading_axes(self):
        stack = np.ones((2, 3, 4, 5))
        assert radoncdt.mass(stack).shape == (2, 3)
        assert radoncdt.mean(stack).shape == (2, 3, 2)
        assert radoncdt.covariance(stack).shape == (2, 3, 2, 2)
        assert radoncdt.mean([stack[0, 0], PointCloud([(0, 0)])]).shape == (2, 2)

    def test_mass_may_be_signed(self):
        assert radoncdt.mass(np.array([[1.0, -3.0]])) == -2

    @pytest.mark.parametrize("function", [radoncdt.mean, radoncdt.covariance])
    def test_moments_refuse_negative_mass(self, function):
        with pytest.raises(ValueError, match=r"`images\[1\]` must not have negative mass"):
            function([np.ones((2, 2)), np.array([[1.0, -3.0]])])
        with pytest.raises(ValueError, match="`images` must not have negative mass"):
            function(PointCloud([(0, 0), (1, 1)], [1, -1]))

    def test_mass_refuses_sums_beyond_float64(self):
        with pytest.raises(ValueError, match="`images` must have a mass that float64 can hold"):
            radoncdt.mass(np.full((5, 5), 1e308))

    def test_mass_refuses_nan(self):
        with pytest.raises(ValueError, match=r"`images\[0\]` must be finite"):
            radoncdt.mass(np.full((1, 2, 2), np.nan))

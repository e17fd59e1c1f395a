"""Images, point clouds, their moments and their push-forward."""

import pickle

import numpy as np
import pytest
from drawn import clouds, images, matrices, rotation, shifts
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

import radoncdt
from radoncdt import PointCloud, push_forward

L = np.zeros((40, 30))
L[5:30, 6:10] = 1
L[26:30, 6:22] = 1


class TestPointCloud:
    def test_keeps_copies_that_cannot_be_written_to(self):
        points, weights = np.zeros((2, 2)), np.ones(2)
        cloud = PointCloud(points, weights)
        points[:], weights[:] = 9, 9
        assert_array_equal(cloud.points, 0)
        assert_array_equal(cloud.weights, 1)
        with pytest.raises(ValueError, match="read-only"):
            cloud.points[0] = 1

    def test_survives_pickling(self):
        cloud = pickle.loads(pickle.dumps(PointCloud([(0, 0), (1, 2)], [1, 3])))
        assert_array_equal(cloud.weights, [1, 3])
        assert not cloud.points.flags.writeable

    def test_has_mass_one_by_default(self):
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
            ([(0, 0)], [1, 2], ValueError, r"`weights` must have shape \(1,\), one a point, got \(2,\)"),
            ([(0, 0)], [np.inf], ValueError, "`weights` must be finite, got inf"),
        ],
    )
    def test_refuses(self, points, weights, error, message):
        with pytest.raises(error, match=message):
            PointCloud(points, weights)


class TestMoments:
    def test_of_one_pixel(self):
        image = np.zeros((7, 4))
        image[1, 3] = 5
        assert radoncdt.mass(image) == 5
        assert_array_equal(radoncdt.mean(image), [1.5, 2])
        assert_allclose(radoncdt.covariance(image), np.eye(2) / 12, rtol=1e-15)

    @given(cloud=clouds(), matrix=matrices(), shift=shifts())
    def test_follow_an_affine_map(self, cloud, matrix, shift):
        moved = push_forward(cloud, matrix, shift)
        size = np.abs(moved.points).max()
        assert_allclose(radoncdt.mass(moved), radoncdt.mass(cloud))
        assert_allclose(radoncdt.mean(moved), matrix @ radoncdt.mean(cloud) + shift, atol=1e-13 * size)
        expected = matrix @ radoncdt.covariance(cloud) @ matrix.T
        assert_allclose(radoncdt.covariance(moved), expected, atol=1e-13 * size**2)

    def test_of_a_far_away_cloud_lose_no_digits(self):
        points = np.random.default_rng(0).normal(size=(50, 2))
        near, far = PointCloud(points), PointCloud(points + 2.0**20)
        assert_allclose(radoncdt.covariance(far), radoncdt.covariance(near), rtol=1e-8)

    @given(images())
    def test_of_a_cloud_of_pixel_centres_differ_by_the_extent_of_a_pixel(self, image):
        rows, columns = np.nonzero(image)
        height, width = image.shape
        points = np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=1)
        cloud = PointCloud(points, image[rows, columns])
        assert_allclose(radoncdt.mean(image), radoncdt.mean(cloud), atol=1e-10)
        assert_allclose(radoncdt.covariance(image), radoncdt.covariance(cloud) + np.eye(2) / 12, atol=1e-8)

    def test_keep_leading_axes(self):
        stack = np.ones((2, 3, 4, 5))
        assert radoncdt.mass(stack).shape == (2, 3)
        assert radoncdt.mean(stack).shape == (2, 3, 2)
        assert radoncdt.covariance(stack).shape == (2, 3, 2, 2)
        assert radoncdt.mean([stack[0, 0], PointCloud([(0, 0)])]).shape == (2, 2)

    def test_mass_may_be_signed(self):
        assert radoncdt.mass(np.array([[1.0, -3.0]])) == -2

    @pytest.mark.parametrize("function", [radoncdt.mean, radoncdt.covariance])
    def test_refuse_negative_mass(self, function):
        with pytest.raises(ValueError, match=r"`images\[1\]` must not have negative mass"):
            function([np.ones((2, 2)), np.array([[1.0, -3.0]])])
        with pytest.raises(ValueError, match="`images` must not have negative mass"):
            function(PointCloud([(0, 0), (1, 1)], [1, -1]))

    def test_mass_refuses_what_float64_cannot_hold(self):
        with pytest.raises(ValueError, match="`images` must have a mass that float64 can hold"):
            radoncdt.mass(np.full((5, 5), 1e308))

    def test_mass_refuses_nan(self):
        with pytest.raises(ValueError, match=r"`images\[0\]` must be finite"):
            radoncdt.mass(np.full((1, 2, 2), np.nan))


class TestPushForward:
    def test_turns_a_pixel_by_a_quarter(self):
        moved = push_forward(L, rotation(np.pi / 2), shape=(30, 40))
        assert_allclose(moved, np.rot90(L), atol=1e-12)

    def test_shifts_right_and_up(self):
        assert_allclose(push_forward(L, np.eye(2), (3, 4)), np.roll(L, (-4, 3), (0, 1)), atol=1e-12)

    def test_mirrors(self):
        assert_allclose(push_forward(L, np.diag([-1, 1])), L[:, ::-1], atol=1e-12)

    @pytest.mark.parametrize("matrix", [rotation(0.4), np.diag([1.5, 0.8]), np.array([[1, 0.4], [0.2, 1.1]])])
    def test_keeps_mass_and_moves_moments(self, matrix):
        shift = np.array([2.0, -3.0])
        smooth = gaussian_filter(np.pad(L, 10), 2)
        moved = push_forward(smooth, matrix, shift, shape=(110, 110))
        assert_allclose(moved.sum(), L.sum(), rtol=1e-3)
        assert_allclose(radoncdt.mean(moved), matrix @ radoncdt.mean(smooth) + shift, atol=5e-3)
        # bilinear interpolation widens by less than a pixel: 1/6 px² and what a turned pixel adds
        widened = np.linalg.eigvalsh(radoncdt.covariance(moved) - matrix @ radoncdt.covariance(smooth) @ matrix.T)
        assert (np.abs(widened) < 0.5).all()

    def test_of_a_stack_is_that_of_each_image(self):
        stack = np.stack([L, L[::-1]]).astype(np.float32)
        moved = push_forward(stack, rotation(0.3), shape=(50, 50))
        assert moved.dtype == np.float32
        assert_array_equal(moved[1], push_forward(stack[1], rotation(0.3), shape=(50, 50)))

    def test_warns_when_mass_leaves_the_canvas(self):
        with pytest.warns(UserWarning, match=r"% of the mass is moved off the canvas of shape \(40, 30\)"):
            push_forward(L, np.eye(2), (20, 0))

    def test_warns_when_pixels_leave_the_canvas_in_part(self):
        with pytest.warns(UserWarning, match="8.00% of the mass is moved off the canvas"):
            moved = push_forward(np.ones((5, 5)), np.eye(2), (0.4, 0))
        assert_allclose(moved.sum(), 23)

    def test_warns_when_an_image_falls_between_the_samples(self):
        with pytest.warns(UserWarning, match="sampling changed the mass by .*; smooth the image before shrinking it"):
            push_forward(L, np.eye(2) * 0.01)

    def test_of_a_blank_image_is_blank(self):
        stack = np.zeros((2, 9, 9))
        stack[0, 4, 4] = 1
        assert not push_forward(stack, np.eye(2), (2, 0))[1].any()

    def test_does_not_touch_its_input(self):
        before = L.copy()
        push_forward(L, rotation(1), shape=(80, 80))
        assert_array_equal(L, before)

    @pytest.mark.parametrize(
        ("arguments", "options", "error", "message"),
        [
            ((L, [[1, 2], [2, 4]]), {}, ValueError, "`matrix` must have an inverse"),
            ((L, np.zeros((2, 2))), {}, ValueError, "`matrix` must have an inverse"),
            ((L, np.eye(3)), {}, ValueError, r"`matrix` must have shape \(2, 2\), got \(3, 3\)"),
            ((L, [[np.nan, 0], [0, 1]]), {}, ValueError, "`matrix` must be finite"),
            ((L, np.eye(2), [1, 2, 3]), {}, ValueError, r"`shift` must have shape \(2,\), got \(3,\)"),
            ((L, np.eye(2)), {"shape": (0, 4)}, ValueError, r"`shape\[[01]\]` must be at least 1, got 0"),
            ((L, np.eye(2)), {"shape": (4.5, 4)}, TypeError, r"`shape\[[01]\]` must be an integer, got 4.5"),
            ((L, np.eye(2)), {"shape": 4}, TypeError, r"`shape` must be a pair \(H, W\), got 4"),
            ((L[0], np.eye(2)), {}, ValueError, "`measure` must have shape"),
            ((L * np.nan, np.eye(2)), {}, ValueError, r"`measure` must be finite, got nan at \[0, 0\]"),
            (([L, L[:5]], np.eye(2)), {}, ValueError, "`measure` must have rows of equal length"),
            (([np.ma.masked_array(L, L > 0)], np.eye(2)), {}, TypeError, "`measure` must not be a masked array"),
            ((L, np.eye(2) * 1e-20), {}, ValueError, r"`matrix` must change areas by less than 1e\+30, got 1e-40"),
            ((PointCloud([(0, 0)]), np.eye(2)), {"shape": (4, 4)}, ValueError, "`shape` is for images"),
        ],
    )
    def test_refuses(self, arguments, options, error, message):
        with pytest.raises(error, match=message):
            push_forward(*arguments, **options)

"""The push-forward of images and point clouds by affine maps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter
from strategies import rotation

import radoncdt
from radoncdt import PointCloud, push_forward
from radoncdt._push_forward import move_picture

L = np.zeros((40, 30))
L[5:30, 6:10] = 1
L[26:30, 6:22] = 1


class TestPushForward:
    def test_a_quarter_turn_equals_rot90(self):
        moved = push_forward(L, rotation(np.pi / 2), shape=(30, 40))
        assert_allclose(moved, np.rot90(L), atol=1e-12)

    def test_shifts_go_right_and_up(self):
        assert_allclose(push_forward(L, np.eye(2), (3, 4)), np.roll(L, (-4, 3), (0, 1)), atol=1e-12)

    def test_a_reflection_mirrors_the_image(self):
        assert_allclose(push_forward(L, np.diag([-1, 1])), L[:, ::-1], atol=1e-12)

    @pytest.mark.parametrize("matrix", [rotation(0.4), np.diag([1.5, 0.8]), np.array([[1, 0.4], [0.2, 1.1]])])
    def test_mass_is_kept_and_moments_are_moved(self, matrix):
        shift = np.array([2.0, -3.0])
        smooth = gaussian_filter(np.pad(L, 10), 2)
        moved = push_forward(smooth, matrix, shift, shape=(110, 110))
        assert_allclose(moved.sum(), L.sum(), rtol=1e-3)
        assert_allclose(radoncdt.mean(moved), matrix @ radoncdt.mean(smooth) + shift, atol=5e-3)
        # bilinear interpolation adds less than a pixel: 1/6 px², plus the extent of a rotated pixel
        widened = np.linalg.eigvalsh(radoncdt.covariance(moved) - matrix @ radoncdt.covariance(smooth) @ matrix.T)
        assert (np.abs(widened) < 0.5).all()

    def test_each_image_of_a_stack_is_moved(self):
        stack = np.stack([L, L[::-1]]).astype(np.float32)
        moved = push_forward(stack, rotation(0.3), shape=(50, 50))
        assert moved.dtype == np.float32
        assert_array_equal(moved[1], push_forward(stack[1], rotation(0.3), shape=(50, 50)))

    def test_mass_that_leaves_the_canvas_causes_a_warning(self):
        with pytest.warns(UserWarning, match=r"% of the mass is moved off the canvas of shape \(40, 30\)"):
            push_forward(L, np.eye(2), (20, 0))

    def test_pixels_that_leave_the_canvas_in_part_cause_a_warning(self):
        with pytest.warns(UserWarning, match="8.00% of the mass is moved off the canvas"):
            moved = push_forward(np.ones((5, 5)), np.eye(2), (0.4, 0))
        assert_allclose(moved.sum(), 23)

    def test_an_image_that_falls_between_the_samples_causes_a_warning(self):
        with pytest.warns(UserWarning, match="sampling changed the mass by .*; smooth the image before shrinking it"):
            push_forward(L, np.eye(2) * 0.01)

    def test_a_blank_image_stays_blank(self):
        stack = np.zeros((2, 9, 9))
        stack[0, 4, 4] = 1
        assert not push_forward(stack, np.eye(2), (2, 0))[1].any()

    def test_the_input_is_not_modified(self):
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
            ((PointCloud([(0, 0)]), np.eye(2)), {"shape": (4, 4)}, ValueError, "`shape` applies only to images"),
        ],
    )
    def test_invalid_arguments_are_refused(self, arguments, options, error, message):
        with pytest.raises(error, match=message):
            push_forward(*arguments, **options)


class TestMovePicture:
    @pytest.mark.parametrize("matrix", [rotation(0.4), np.diag([1.5, -0.8]), np.array([[1, 0.4], [0.2, 1.1]])])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_move_picture_is_the_push_forward_times_the_determinant(self, matrix, dtype):
        image, shift = L.astype(dtype), np.array([2.0, -3.0])
        moved, whole = move_picture(image, matrix, shift, margin=20)
        expected = push_forward(image, matrix, shift, shape=moved.shape) * abs(np.linalg.det(matrix))
        assert whole
        assert moved.dtype == dtype
        assert_allclose(moved, expected, atol=1e-6 if dtype is np.float32 else 1e-12)

    def test_move_picture_returns_whether_all_ink_is_inside(self):
        assert not move_picture(L, np.eye(2), np.array([20.0, 0.0]))[1]
        assert not move_picture(L, np.eye(2), np.array([200.0, 0.0]))[0].any()
        blank, whole = move_picture(np.zeros_like(L), np.eye(2), np.array([200.0, 0.0]), margin=2)
        assert blank.shape == (44, 34)
        assert whole

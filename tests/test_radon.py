"""The interface of the Radon transform and its adjoint. (test_kernels: exactness; test_theorems: propositions.)"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import images

import radoncdt
from radoncdt import PointCloud

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)


def test_an_axis_aligned_projection_is_a_sum_over_rows_or_columns():
    image = RNG.random((5, 8))
    masses, edges = radoncdt.radon(image, angles=[0, np.pi / 2])
    inside = slice(3, 11)
    assert_allclose(masses[0, inside], image.sum(axis=0), rtol=1e-14)
    assert_allclose(edges[0, 3:12], np.arange(9) - 4, atol=1e-14)
    assert_allclose(masses[1, 5:10], image.sum(axis=1)[::-1], rtol=1e-14)
    assert_allclose(edges[1, 5:11], np.arange(6) - 2.5, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_pixels_beside_large_ones_are_not_rounded_along_the_axes(dtype):
    row = np.array([[1e8, 1, 0, 3, 0.1, 1e-20]], dtype)
    assert_array_equal(np.trim_zeros(radoncdt.radon(row, angles=[0])[0][0]), row[0])
    for image, angle in ((row[:, ::-1], np.pi), (row.T[::-1], np.pi / 2), (row.T, -np.pi / 2)):  # nearly the axes
        masses = radoncdt.radon(image, angles=[angle])[0][0]
        assert_allclose(masses[masses.argmax() :][:6], row[0], rtol=1e-6, atol=1e-7)


@given(images(), st.lists(st.floats(-7, 7), min_size=1, max_size=4))
def test_opposite_directions_are_mirror_images(image, angles):
    masses, edges = radoncdt.radon(image, angles=angles)
    other, other_edges = radoncdt.radon(image, angles=np.array(angles) + np.pi)
    tolerance = 1e-11 * image.max()
    assert_allclose(other, masses[:, ::-1], rtol=0, atol=tolerance)
    assert_allclose(other_edges, -edges[:, ::-1], atol=1e-11)


@given(images(), st.tuples(*[st.integers(0, 9)] * 4))
def test_zero_padding_moves_strips_but_changes_no_mass(image, pad):
    top, bottom, left, right = pad
    padded = np.pad(image, [(top, bottom), (left, right)])
    angles = radoncdt.equispaced_angles(5)
    masses, edges = radoncdt.radon(image, angles=angles)
    other, other_edges = radoncdt.radon(padded, angles=angles)
    shift = np.cos(angles) * (left - right) / 2 + np.sin(angles) * (bottom - top) / 2
    for d in range(5):
        ink, ink_padded = np.flatnonzero(masses[d]), np.flatnonzero(other[d])
        assert_array_equal(masses[d][ink], other[d][ink_padded])  # the same bits
        assert_allclose(edges[d][ink] + shift[d], other_edges[d][ink_padded], atol=1e-10)


def test_the_transform_is_linear_if_the_strips_are_the_same():
    a, b = RNG.normal(size=(2, 6, 9))
    left = radoncdt.radon(2 * a - 3 * b)[0]
    assert_allclose(left, 2 * radoncdt.radon(a)[0] - 3 * radoncdt.radon(b)[0], atol=1e-12)


def test_an_image_without_mass_projects_to_zero():
    masses, edges = radoncdt.radon(np.zeros((3, 4)), n_angles=5)
    assert masses.shape == (5, 9)
    assert not masses.any()
    assert np.isfinite(edges).all()


def test_leading_axes_are_kept_and_lists_have_one():
    stack = RNG.random((2, 3, 4, 6))
    masses, edges = radoncdt.radon(stack, n_angles=7)
    assert masses.shape == (2, 3, 7, 12)
    assert edges.shape == (2, 3, 7, 13)
    masses, edges = radoncdt.radon([stack[0, 0], np.ones((9, 9)), PointCloud([(0, 0), (3, 1)])], n_angles=7)
    assert masses.shape == (3, 7, 20)
    assert_allclose(masses.sum(-1), np.array([[stack[0, 0].sum()], [81], [1]]) * np.ones(7), rtol=1e-12)


def test_points_belong_to_the_strip_that_contains_them():
    points = RNG.normal(size=(200, 2)) * 20
    weights = RNG.normal(size=200)
    cloud = PointCloud(points, weights)
    angles = np.linspace(-3, 3, 11)
    masses, edges = radoncdt.radon(cloud, angles=angles)
    for angle, mass, edge in zip(angles, masses, edges):
        expected, _ = np.histogram(points @ [np.cos(angle), np.sin(angle)], edge, weights=weights)
        assert_allclose(mass, expected, atol=1e-12)
        assert_allclose(np.diff(edge), max(abs(np.cos(angle)), abs(np.sin(angle))), rtol=1e-10)


def test_huge_and_tiny_pixels_neither_overflow_nor_vanish():
    image = RNG.random((20, 20))
    masses = radoncdt.radon(image)[0]
    for dtype, scales in ((np.float32, (2.0**100, 2.0**-120)), (np.float64, (2.0**1000, 2.0**-1000))):
        for scale in scales:
            scaled = radoncdt.radon((image * scale).astype(dtype))[0]
            assert_allclose(scaled.astype(float) / scale, masses, atol=1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("shape", [(1, 50_000), (50_000, 1), (2, 9000)])
def test_very_long_images_use_little_memory(shape):
    masses, _ = radoncdt.radon(np.full(shape, 0.3, np.float32), angles=[0, 0.4, np.pi / 4, np.pi / 2])
    assert_allclose(masses.sum(axis=-1, dtype=float), np.prod(shape) * np.float32(0.3), rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"masses": np.ones((3, 8))},
            ValueError,
            r"`masses` must have shape \(…, 2, n_bins\) for 2 angles, got \(3, 8\)",
        ),
        ({"masses": np.full((2, 8), 3e38, np.float32)}, ValueError, "`masses` must have sums that float32 can hold"),
        ({"masses": np.ones((2, 0))}, ValueError, r"`masses` must have shape .* got \(2, 0\)"),
        ({"masses": np.full((2, 8), np.nan)}, ValueError, r"`masses` must be finite, got nan at \[0, 0\]"),
        ({"masses": np.ones((2, 8), complex)}, TypeError, "`masses` must hold bool, integer or float"),
        ({"edges": np.ones((2, 8))}, ValueError, r"`edges` must have shape \(2, 9\), got \(2, 8\)"),
        ({"edges": np.arange(18.0).reshape(2, 9) * 2}, ValueError, "`edges` must be as `radon` returns them"),
        ({"angles": [0, np.inf]}, ValueError, r"`angles` must be finite, got inf at \[1\]"),
        ({"angles": []}, ValueError, "`angles` must be one-dimensional and not empty"),
        ({"shape": (3, 0)}, ValueError, r"`shape\[[01]\]` must be at least 1, got 0"),
        ({"shape": (3, 2.0)}, TypeError, r"`shape\[[01]\]` must be an integer, got 2.0"),
        ({"shape": 3}, TypeError, r"`shape` must be a pair \(H, W\), got 3"),
    ],
)
def test_back_projection_refuses_invalid_input(arguments, error, message):
    masses, edges = radoncdt.radon(np.ones((3, 3)), angles=[0, 1])
    good = {"masses": masses, "edges": edges, "angles": [0, 1], "shape": (3, 3)}
    with pytest.raises(error, match=message):
        radoncdt.back_projection(*(good | arguments).values())


def test_back_projection_keeps_leading_axes():
    stack = RNG.random((2, 3, 5, 6)).astype(np.float32)
    masses, edges = radoncdt.radon(stack, n_angles=4)
    angles = radoncdt.equispaced_angles(4)
    back = radoncdt.back_projection(masses, edges, angles, (5, 6))
    assert back.shape == (2, 3, 5, 6)
    assert back.dtype == np.float32
    assert_array_equal(back[1, 2], radoncdt.back_projection(masses[1, 2], edges[1, 2], angles, (5, 6)))


def test_masses_beyond_float32_are_refused():
    with pytest.raises(ValueError, match=r"`images\[1\]` must have masses that float32 can hold, got .* 3e\+38"):
        radoncdt.radon(np.array([np.ones((9, 9)), np.full((9, 9), 3e38)], np.float32))


def test_a_cloud_that_needs_billions_of_bins_is_refused():
    with pytest.raises(ValueError, match=r"`images\[1\]` must not need more than .* strips .* got an extent of 1e\+12"):
        radoncdt.radon([np.ones((2, 2)), PointCloud([(0, 0), (1e12, 1)])])


def test_one_cloud_listed_twice_is_projected_twice():
    cloud = PointCloud([(0, 0), (3, 1)])
    masses, edges = radoncdt.radon([cloud, cloud], n_angles=3)
    assert_array_equal(masses[0], masses[1])
    assert_array_equal(edges[0], edges[1])

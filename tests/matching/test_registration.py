"""The result of a registration: description, credibility, and application of the map."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import affine_transform
from shapes import FLAG
from strategies import rotation

from radoncdt import (
    DescriptorSettings,
    Plausible,
    PointCloud,
    Registration,
    datasets,
    push_forward,
    register,
)
from radoncdt.matching.alignment import find_registration

pytestmark = pytest.mark.usefixtures("each_implementation")


def test_push_forward_returns_the_fixed_image():
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    found = register(FLAG, moved)
    again = push_forward(FLAG, found.matrix, found.shift, shape=moved.shape)
    assert np.abs(again - moved).sum() < 0.05 * moved.sum()
    assert found.frames == ((60, 60), (100, 110))


def test_the_pixel_matrix_moves_columns_and_rows():
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    found = register(FLAG, moved)
    swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])  # SciPy takes (row, column)
    back = swap @ np.linalg.inv(found.pixel_matrix) @ swap
    picture = affine_transform(FLAG, back[:2, :2], back[:2, 2], moved.shape, order=1, mode="grid-constant")
    expected = push_forward(FLAG, found.matrix, found.shift, shape=moved.shape) * abs(np.linalg.det(found.matrix))
    assert_allclose(picture, expected, atol=1e-9)


def test_the_map_is_described_in_words():
    turn, lean, scales, mirror = np.deg2rad(30), np.deg2rad(20), (1.5, 0.8), np.diag([-1, 1])
    matrix = rotation(turn) @ [[1, np.tan(lean)], [0, 1]] @ np.diag(scales) @ mirror
    found = register(FLAG, push_forward(FLAG, matrix, [5, 0], shape=(150, 150)))
    assert found.mirrored
    assert_allclose(found.scales, scales, rtol=0.01)
    assert found.rotation == pytest.approx(30, abs=0.5)
    assert found.shear == pytest.approx(20, abs=0.5)
    assert found.scale == pytest.approx(np.sqrt(1.2), rel=0.01)
    aspect, shear, scale = reference.aspect_shear_and_scale(found.matrix)
    assert (found.aspect, abs(found.shear), found.scale) == pytest.approx((aspect, shear, scale))
    words = str(found)
    for part in ("mirrored", "scaled by 1.5", "in x and 0.8", "rotated by 30.", "shifted by (5.", "distance 0.0"):
        assert part in words, words


def test_unrelated_shapes_are_not_credible():
    symbols = datasets.templates(["circle-star8", "shield-triangle"])
    with pytest.warns(UserWarning, match="is not credible: the distance is above 0.1, as between unrelated shapes"):
        found = register(symbols["circle-star8"], symbols["shield-triangle"])
    assert not found.credible
    assert "; not credible: the distance is above 0.1" in str(found)
    assert "<strong>not credible</strong>" in found._repr_html_()
    assert not found.inverse().credible


def test_nearly_singular_maps_are_not_credible():
    square = np.pad(np.ones((60, 60)), 20)
    with pytest.warns(UserWarning, match="is not credible: it stretches one direction 20 times as much as another"):
        found = register(square, np.ones((5, 100)))
    assert not found.credible
    assert found.distance < 0.05
    assert register(square, np.ones((20, 100))).credible


def test_an_aspect_of_ten_limits_the_shear():
    """The bound is attained for the directions of the two scales that shear most."""
    turns = [rotation(angle) for angle in np.linspace(0, np.pi, 2001)]
    maps = [Registration(np.diag([10, 1]) @ turn, np.zeros(2), 0.0, False) for turn in turns]
    assert all(found.aspect == pytest.approx(10) for found in maps)
    most = np.rad2deg(np.arcsin(99 / 101))
    assert most - 0.01 < max(abs(found.shear) for found in maps) <= most + 1e-9
    assert most == pytest.approx(78.6, abs=0.05)


def test_maps_found_with_few_angles_are_not_credible():
    """The steps alone can cause a distance of more than 0.1. With two angles, this map is wrong by two pixels."""
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [3, -4], shape=(100, 110))
    for n_angles in (2, 15):
        with pytest.warns(UserWarning, match="is not credible: .*with so few angles, copies can have a dist"):
            found = register(FLAG, moved, settings=DescriptorSettings(n_angles=n_angles))
        assert not found.credible
        assert not found.inverse().credible
        assert not any(other.credible for other in found.alternatives)
    assert register(FLAG, moved, settings=DescriptorSettings(n_angles=16)).credible


def test_copies_are_credible():
    assert register(FLAG, push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))).credible


def test_maps_move_points_clouds_and_images():
    matrix, shift = np.array([[1.2, 0.3], [-0.4, 0.9]]), np.array([7, -4])
    moved = push_forward(FLAG, matrix, shift, shape=(100, 110))
    found = register(FLAG, moved)
    points = np.arange(12.0).reshape(2, 3, 2)
    assert_allclose(found.apply(points), points @ matrix.T + shift, atol=0.01)
    assert_allclose(found.apply((3, 4)), matrix @ [3, 4] + shift, atol=0.01)
    cloud = found.apply(PointCloud(points[0], [1, 2, 3]))
    assert_array_equal(cloud.points, found.apply(points[0]))
    assert_array_equal(cloud.weights, [1, 2, 3])
    picture = found.apply(FLAG)
    assert picture.shape == moved.shape
    assert_allclose(picture, moved * np.linalg.det(matrix), atol=0.02)
    assert found.apply(FLAG.astype(np.uint8)).dtype == np.float32
    back = found.inverse()
    assert back.frames == ((100, 110), (60, 60))
    assert_allclose(back.apply(found.apply(points)), points, atol=1e-9)
    assert_allclose(back.pixel_matrix @ found.pixel_matrix, np.eye(3), atol=1e-9)
    assert back.distance == found.distance


def test_inverse_maps_have_inverse_alternatives():
    triangle = np.pad(np.tri(60), 20)
    found = register(triangle, triangle)
    for there, back in zip(found.alternatives, found.inverse().alternatives):
        assert_allclose(back.matrix @ there.matrix, np.eye(2), atol=1e-9)
        assert back.mirrored == there.mirrored


def test_an_array_with_the_shape_of_the_moving_image_is_an_image():
    narrow = np.ones((6, 2))
    found = find_registration(narrow, narrow, Plausible())
    assert_allclose(found.apply(narrow), narrow)
    assert found.apply(np.ones((5, 2))).shape == (5, 2)
    assert_allclose(found.apply(PointCloud(narrow)).points, narrow, atol=1e-9)
    with pytest.raises(ValueError, match=r"shape that was registered, \(6, 2\), got shape \(6, 3\)"):
        found.apply(np.ones((6, 3)))
    cloud = PointCloud([(0, 0), (3, 0), (0, 1), (5, 5)])
    with pytest.raises(ValueError, match="the fixed measure is not an image"):
        find_registration(FLAG, cloud, Plausible()).apply(FLAG)


def test_notebooks_show_the_description_and_the_matrix():
    html = register(FLAG, push_forward(FLAG, [[0, -1], [1, 0]], [5, 0]))._repr_html_()
    assert html.startswith("<p>Registration, credible: scaled by 1.00")
    for cell in ("<th>x</th>", "<td>-1.0000</td>", "<td>5.0000</td>"):
        assert cell in html

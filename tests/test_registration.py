"""Registration and affine distances: exact on clouds, close on images, a metric; plausible maps; bad input."""

import itertools

import numpy as np
import pytest
import reference
from drawn import clouds, matrices, rotation, shifts
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import affine_transform

import radoncdt
from radoncdt import (
    Descriptors,
    DescriptorSettings,
    Plausible,
    PointCloud,
    Registration,
    _kernels,
    affine_distances,
    datasets,
    describe,
    push_forward,
    register,
)
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.alignment import _maximise, find_registration

pytestmark = pytest.mark.usefixtures("each_implementation")

N_ANGLES = 12
FLAG = np.zeros((60, 60))
FLAG[10:50, 20:24] = FLAG[10:26, 24:42] = 1
WIDE = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20, mirror=True)


def moved_exactly(cloud, matrix, shift, steps, mirrored, n_angles):
    """A cloud moved by S R Σ^{-1/2}, S symmetric positive definite, R a turn by whole steps; and the map."""
    turn = rotation(steps * np.pi / n_angles) @ np.diag([1, -1 if mirrored else 1])
    positive = reference.root(matrix @ matrix.T, 0.5)
    a = positive @ turn @ reference.root(radoncdt.covariance(cloud), -0.5)
    return push_forward(cloud, a, shift), a


steps_and_handedness = st.tuples(st.integers(0, 2 * N_ANGLES - 1), st.booleans())


# ---------------------------------------------------------------- exact on clouds


@given(clouds(least=6), matrices(condition=20), shifts(), steps_and_handedness)
def test_turns_by_whole_steps_are_found_exactly(cloud, matrix, shift, turn):
    moved, a = moved_exactly(cloud, matrix, shift, *turn, N_ANGLES)
    found = find_registration(cloud, moved, Plausible(), settings=DescriptorSettings(n_angles=N_ANGLES, n_levels=16))
    assert found.distance <= 1e-9
    assert found.mirrored == turn[1]
    scale = np.linalg.norm(a)
    assert_allclose(found.matrix, a, rtol=0, atol=1e-9 * scale)
    reach = scale * np.abs(cloud.points).max() + np.abs(shift).max()
    assert_allclose(found.shift, shift, rtol=0, atol=1e-9 * reach)
    assert affine_distances([cloud], [moved], settings=DescriptorSettings(n_angles=N_ANGLES, n_levels=16))[0, 0] <= 1e-9


@given(clouds(least=16, most=16, equal_weights=True), matrices(condition=20), shifts(), st.sampled_from([2, 5, 12]))
def test_other_turns_leave_no_more_than_half_a_step(cloud, matrix, shift, n_angles):
    """Sixteen levels of sixteen equal points make no error of their own."""
    moved = push_forward(cloud, matrix, shift)
    bound = 2 * np.sin(np.pi / (4 * n_angles))
    assert (
        affine_distances([cloud], [moved], settings=DescriptorSettings(n_angles=n_angles, n_levels=16))[0, 0]
        <= bound + 1e-9
    )
    assert DescriptorSettings(n_angles=n_angles).grid_distance == pytest.approx(bound)


@given(clouds(least=6), matrices(condition=20), shifts(), st.sampled_from([4, 12]))
def test_with_any_weights_there_is_the_error_of_the_levels_besides(cloud, matrix, shift, n_angles):
    """That error: how far the mean over the levels is from the transport distance of the turned whitened clouds."""
    moved = push_forward(cloud, matrix, shift)
    white = [
        PointCloud((c.points - radoncdt.mean(c)) @ reference.root(radoncdt.covariance(c), -0.5), c.weights)
        for c in (cloud, moved)
    ]
    turn, *_ = np.linalg.lstsq(white[0].points, white[1].points, rcond=None)  # the true one, between the steps
    circle = np.pi * np.arange(2 * n_angles) / n_angles
    angle = np.arctan2(turn[0, 1], turn[0, 0])
    step = np.pi / n_angles
    nearest = rotation(step * np.round(angle / step)) @ np.diag([1, np.sign(np.linalg.det(turn))])
    turned = PointCloud(white[0].points @ nearest.T, cloud.weights)
    options = {"angles": circle, "n_levels": 16}
    at_levels = np.sqrt(np.mean((radoncdt.rcdt(turned, **options) - radoncdt.rcdt(white[1], **options)) ** 2))
    exact = radoncdt.sliced_wasserstein(turned, white[1], angles=circle)
    assert exact <= 2 * np.sin(np.pi / (4 * n_angles)) + 1e-7
    distance = affine_distances([cloud], [moved], settings=DescriptorSettings(n_angles=n_angles, n_levels=16))[0, 0]
    assert distance <= 2 * np.sin(np.pi / (4 * n_angles)) + abs(at_levels - exact) + 1e-7


@given(st.lists(clouds(least=4), min_size=3, max_size=3), st.booleans())
def test_it_is_a_metric(three, reflections):
    d = np.array(
        [
            [
                affine_distances(
                    [a],
                    [b],
                    limits=Plausible(reflections=reflections),
                    settings=DescriptorSettings(n_angles=8, n_levels=16),
                )[0, 0]
                for b in three
            ]
            for a in three
        ]
    )
    assert_allclose(d, d.T, atol=1e-12)
    assert_array_equal(np.diag(d), 0)
    assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-12


# ---------------------------------------------------------------- the slow twin


def random_descriptors(n, n_angles, n_levels, rng, dtype=np.float64):
    values = np.cumsum(rng.normal(size=(n, n_angles, n_levels)), axis=1)
    roots = rng.normal(size=(n, 2, 2))
    settings = DescriptorSettings(n_angles=n_angles, n_levels=n_levels)
    covariances = roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(2)
    return Descriptors(values.astype(dtype), rng.normal(size=(n, 2)), covariances, np.ones((n, 2), int), settings)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 2), (2, 5), (3, 8), (7, 3), (16, 9), (33, 4), (64, 6), (70, 5)])
def test_distances_are_those_of_trying_all_turns(shape, dtype):
    rng = np.random.default_rng(shape)
    first, second = (random_descriptors(n, *shape, rng, dtype) for n in (3, 4))
    for reflections in (True, False):
        found = compute_distances(first, second, Plausible(reflections=reflections), 1)
        for i, j in np.ndindex(found.shape):
            every = reference.distances_at_all_turns(first.values[i], second.values[j])
            least = every.min() if reflections else every[: 2 * shape[0]].min()
            assert found[i, j] == pytest.approx(least, rel=1e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize(
    "limits",
    [
        {"max_aspect": 1.5},
        {"max_shear": 10},
        {"max_scale": 1.2},
        {"similarity": True},
        {"similarity": True, "max_aspect": 1.3, "max_scale": 2},
        {"max_aspect": 3, "max_shear": 20, "max_scale": 2},
    ],
    ids=str,
)
def test_limits_leave_the_best_of_the_plausible_turns(limits):
    rng = np.random.default_rng(0)
    first, second = (random_descriptors(n, N_ANGLES, 5, rng) for n in (5, 6))
    plausible = Plausible(**limits)
    aspect = limits.get("max_aspect", 1.1 if plausible.similarity else np.inf)
    most = np.array([aspect, limits.get("max_shear", 90), limits.get("max_scale", np.inf)])
    found = compute_distances(first, second, plausible, 1)
    infinite = 0
    for i, j in np.ndindex(found.shape):
        moving, fixed = first.covariances[i], second.covariances[j]
        near = _kernels.current().plausible_turns(
            first.waves.covariances[i], second.waves.covariances[j], plausible.bounds, N_ANGLES
        )
        # plausible are turns with a plausible one within half a step; the twin tries some of these
        offsets = np.linspace(-0.5, 0.5, 41)
        maps = [reference.maps_of_all_turns(moving, fixed, N_ANGLES, offset) for offset in offsets]
        properties = np.array([[reference.aspect_shear_and_scale(a) for a in some] for some in maps])
        allowed = (properties <= most).all(axis=2) & (properties[:, :, 2] >= 1 / most[2])
        assert not np.isnan(near[allowed.any(axis=0)]).any()
        chosen = np.flatnonzero(~np.isnan(near))
        for code in chosen:
            steps = near[code] * N_ANGLES / np.pi
            assert abs(steps - code % (2 * N_ANGLES)) <= 0.5 + 1e-9
            (a,) = reference.maps_of_all_turns(moving, fixed, N_ANGLES, steps - code)[[code]]
            if code >= 2 * N_ANGLES:
                (a,) = reference.maps_of_all_turns(moving, fixed, N_ANGLES, steps - (code - 2 * N_ANGLES))[[code]]
            values = reference.aspect_shear_and_scale(a)
            assert (values <= most * (1 + 1e-7) + 1e-5).all()
            assert values[2] >= (1 - 1e-7) / most[2]
        every = reference.distances_at_all_turns(first.values[i], second.values[j])
        expected = every[chosen].min(initial=np.inf)
        assert found[i, j] == pytest.approx(expected, rel=1e-12)
        infinite += expected == np.inf
        if expected < np.inf:
            registration = find_registration(first[i], second[j], plausible)
            assert registration.distance == pytest.approx(expected, rel=1e-9)
            for each in (registration, *registration.alternatives):
                values = reference.aspect_shear_and_scale(each.matrix)
                assert (values <= most * (1 + 1e-5) + [0, 1e-3, 0]).all()
                assert values[2] >= (1 - 1e-5) / most[2]
        else:
            with pytest.raises(ValueError, match=r"is plausible: none within .*; the best of all has an aspect of"):
                register(first[i], second[j], limits=plausible)
    assert infinite < found.size


@pytest.mark.parametrize("degrees", [0, 0.7, 1.4, 3.7, 30.5])
@pytest.mark.parametrize("limits", [{"similarity": True}, {"max_aspect": 1.05}, {"max_shear": 3}], ids=str)
def test_long_shapes_keep_to_limits_between_the_steps(degrees, limits):
    """Of a shape twelve times as long as wide the next step is half a degree off, which stretches it already."""
    cloud = PointCloud(np.random.default_rng(0).normal(size=(40, 2)) * [12, 1])
    matrix = 1.2 * rotation(np.deg2rad(degrees))
    found = register(cloud, push_forward(cloud, matrix, [3, 4]), limits=Plausible(**limits))
    assert found.distance < 0.04
    assert_allclose(found.matrix, matrix, atol=0.06)
    distances = affine_distances([cloud], [push_forward(cloud, matrix)], limits=Plausible(**limits))
    assert distances[0, 0] == pytest.approx(found.distance)


def test_limits_of_nothing_at_all_admit_the_identity():
    for limits in ({"max_shear": 0}, {"max_scale": 1}, {"max_aspect": 1}, {"similarity": True, "max_aspect": 1}):
        assert register(FLAG, FLAG, limits=Plausible(**limits)).distance < 1e-9
        assert affine_distances([FLAG], [FLAG], limits=Plausible(**limits))[0, 0] < 1e-9


def test_do_not_depend_on_the_batch_or_threads():
    rng = np.random.default_rng(0)
    first, second = (random_descriptors(n, 16, 5, rng) for n in (70, 50))
    every = compute_distances(first, second, Plausible(), 1)
    assert_array_equal(compute_distances(first, second, Plausible(), 2), every)
    assert_array_equal(compute_distances(first[5:8], second[41:], Plausible(), 1), every[5:8, 41:])
    square = affine_distances(first)
    assert_array_equal(square, square.T)
    assert_array_equal(np.diag(square), 0)
    assert_array_equal(np.triu(square, 1), np.triu(compute_distances(first, first, Plausible(), 1), 1))


# ---------------------------------------------------------------- images


@pytest.mark.parametrize("options", [{}, {"moments": "robust", "trim": 1 / 16}], ids=["exact", "robust"])
def test_maps_of_drawings_are_found(options):
    """Within 1 % and 0.3 px; drawings are their own mirror images."""
    drawings = np.stack(list(datasets.templates(canvas=256).values()))
    copies, maps = datasets.random_affine(drawings, WIDE, 0)
    for drawing, copy, matrix, shift in zip(drawings, copies, *maps):
        found = register(drawing, copy, settings=DescriptorSettings(**options))
        errors = [np.linalg.norm(found.matrix - matrix @ np.diag([s, 1])) / np.linalg.norm(matrix) for s in (-1, 1)]
        assert min(errors) < 0.01
        assert np.linalg.norm(found.shift - shift) < 0.3
        assert any(other.mirrored != found.mirrored for other in found.alternatives)


def test_maps_of_digits_are_found():
    mnist = datasets.load_mnist()
    digits = np.kron(mnist.images[mnist.labels != 1][::400], np.ones((2, 2), np.float32))
    digits = np.pad(digits, ((0, 0), (50, 50), (50, 50)))
    copies, maps = datasets.random_affine(digits, WIDE, 0)
    for digit, copy, matrix, shift in zip(digits, copies, *maps):
        found = register(digit, copy)
        assert np.linalg.norm(found.matrix - matrix) < 0.01 * np.linalg.norm(matrix)
        assert np.linalg.norm(found.shift - shift) < 0.3
        assert found.mirrored == (np.linalg.det(matrix) < 0)


def test_push_forward_gives_the_fixed_image():
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    found = register(FLAG, moved)
    again = push_forward(FLAG, found.matrix, found.shift, shape=moved.shape)
    assert np.abs(again - moved).sum() < 0.05 * moved.sum()
    assert found.frames == ((60, 60), (100, 110))


def test_the_pixel_matrix_moves_columns_and_rows():
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    found = register(FLAG, moved)
    swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])  # scipy counts rows, then columns
    back = swap @ np.linalg.inv(found.pixel_matrix) @ swap
    picture = affine_transform(FLAG, back[:2, :2], back[:2, 2], moved.shape, order=1, mode="grid-constant")
    expected = push_forward(FLAG, found.matrix, found.shift, shape=moved.shape) * abs(np.linalg.det(found.matrix))
    assert_allclose(picture, expected, atol=1e-9)


def test_images_and_clouds_can_be_mixed():
    rows, columns = np.nonzero(FLAG)
    cloud = PointCloud(np.column_stack([columns - 29.5, 29.5 - rows]) * [2, 1])
    found = register(FLAG, cloud)
    assert_allclose(found.matrix, [[2, 0], [0, 1]], atol=0.02)
    assert found.frames == ((60, 60), (1, 1))


def test_descriptors_do_as_well_as_images():
    turned = np.rot90(FLAG)
    described = describe([FLAG, turned])
    expected = register(*described)
    for pair in ((FLAG, described[1]), (described[0], turned)):
        found = register(*pair)
        assert_array_equal(found.matrix, expected.matrix)
        assert_array_equal(found.shift, expected.shift)
    refined = register(FLAG, turned)
    assert_allclose(refined.matrix, expected.matrix, atol=1e-6)
    assert refined.distance == expected.distance
    small = describe([FLAG], n_angles=16, moments="robust", nu=2, trim=0.1)
    assert register(FLAG, small).distance == register(small, FLAG, settings=small.settings).distance == 0
    distances = affine_distances(described, [turned])
    assert_array_equal(distances, affine_distances([FLAG, turned], described[1]))


def test_the_map_is_said_in_words():
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


def test_a_peak_between_two_steps_is_one_map():
    """A square of points, turned by half a step, has its eight symmetries."""
    corners = PointCloud([(1, 1), (-1, 1), (-1, -1), (1, -1), (0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5)])
    found = register(corners, push_forward(corners, rotation(np.pi / 34)), settings=DescriptorSettings(n_angles=17))
    assert len(found.alternatives) == 7
    assert np.rad2deg(np.pi / 34) % 90 == pytest.approx(found.rotation % 90, abs=0.1)


def test_refined_angles_are_never_worse_than_the_steps():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 16):
        for _ in range(100):
            product = (rng.normal(size=n + 1) + 1j * rng.normal(size=n + 1)) * np.exp(
                -rng.uniform(0, 2) * np.arange(n + 1)
            )
            product[[0, n]] = product[[0, n]].real

            def value(phi, product=product, n=n):
                return (product * np.exp(1j * np.arange(n + 1) * phi)).real.sum()

            steps = np.pi * np.arange(2 * n) / n
            best = steps[np.argmax([value(phi) for phi in steps])]
            refined = _maximise(product, best, n)
            assert abs(refined - best) <= np.pi / n
            assert value(refined) >= value(best) - 1e-12


def test_symmetric_shapes_have_alternatives():
    """A square has eight, a triangle six, a flag one; all of them are symmetries, and the best does not mirror."""
    square, triangle = np.ones((41, 41)), np.pad(np.tri(60), 20)
    for shape, order in ((square, 8), (triangle, 6), (FLAG, 1)):
        found = register(shape, shape)
        maps = [found, *found.alternatives]
        assert len(maps) == order
        assert not found.mirrored
        assert_allclose(found.matrix, np.eye(2), atol=1e-6)
        assert sum(m.mirrored for m in maps) == order // 2
        assert all(abs(abs(np.linalg.det(m.matrix)) - 1) < 1e-9 for m in maps)
        centre = radoncdt.mean(shape)
        for m in maps:
            assert_allclose(m.matrix @ centre + m.shift, centre, atol=1e-9)
            assert m.distance <= found.distance + DescriptorSettings().grid_distance
    assert len(register(triangle, triangle, tolerance=2).alternatives) >= 5
    assert register(FLAG, np.fliplr(FLAG), tolerance=0).alternatives == ()


# ---------------------------------------------------------------- reflections and plausibility


def test_mirror_images_without_reflections_are_different():
    mirror = np.fliplr(FLAG)
    assert register(FLAG, mirror).mirrored
    assert register(FLAG, mirror).distance < 1e-6
    found = find_registration(FLAG, mirror, Plausible(reflections=False))
    assert not found.mirrored
    assert np.linalg.det(found.matrix) > 0
    assert found.distance > 0.02
    assert affine_distances([FLAG], [mirror], limits=Plausible(reflections=False))[0, 0] == pytest.approx(
        found.distance
    )


def test_a_circle_is_told_from_an_ellipse():
    y, x = np.indices((101, 101)) - 50
    circle, ellipse = (x**2 + y**2 < 900).astype(float), (x**2 / 4 + y**2 < 500).astype(float)
    assert register(circle, ellipse).distance < 0.02
    for limits in ({"max_aspect": 1.5}, {"similarity": True}):
        with pytest.raises(ValueError, match="no map from `moving` to `fixed` is plausible"):
            register(circle, ellipse, limits=Plausible(**limits))
        assert affine_distances([circle, ellipse], limits=Plausible(**limits)).tolist() == [
            [pytest.approx(0, abs=1e-9), np.inf],
            [np.inf, pytest.approx(0, abs=1e-9)],
        ]
    assert register(circle, ellipse, limits=Plausible(max_aspect=2.5)).distance < 0.02
    with pytest.raises(ValueError, match=r"none within max_scale=1\.05"):
        register(circle, ellipse, limits=Plausible(max_scale=1.05))


def test_similarities_are_similarities():
    moved = push_forward(FLAG, 1.3 * rotation(0.7) @ np.diag([1, -1]), [4, 2], shape=(110, 110))
    found = register(FLAG, moved, limits=Plausible(similarity=True))
    assert_allclose(found.matrix @ found.matrix.T / found.scale**2, np.eye(2), atol=1e-12)
    assert found.aspect == pytest.approx(1)
    assert_allclose(found.matrix, 1.3 * rotation(0.7) @ np.diag([1, -1]), atol=0.01)
    assert_allclose(found.shift, [4, 2], atol=0.3)


# ---------------------------------------------------------------- refinement


def worst_error(found, image, matrix, shift):
    """How far a map is off, at most, at a pixel with ink."""
    rows, columns = np.nonzero(image)
    points = np.stack([columns - (image.shape[1] - 1) / 2, (image.shape[0] - 1) / 2 - rows], axis=-1)
    return np.linalg.norm(points @ (found.matrix - matrix).T + found.shift - shift, axis=1).max()


def stretched(corners, matrix, shift, size, parts=8, pen=4):
    """A moved polyline, drawn with a pen that the map stretches: the covered share of the points of each pixel."""
    fine = np.zeros((size * parts, size * parts), bool)
    middles = (np.arange(size * parts) + 0.5) / parts - size / 2
    reach = pen / 2 * np.linalg.norm(matrix, axis=1)
    for begin, end in itertools.pairwise(corners):
        ends = np.stack([begin, end]) @ matrix.T + shift
        (left, low), (right, high) = ends.min(axis=0) - reach, ends.max(axis=0) + reach
        columns, rows = (slice(*np.searchsorted(middles, some)) for some in ((left, right), (-high, -low)))
        moved = np.stack(np.meshgrid(middles[columns], -middles[rows]), axis=-1)
        points, step = (moved - shift) @ np.linalg.inv(matrix).T - begin, end - begin
        along = np.clip(points @ step / (step @ step), 0, 1)
        fine[rows, columns] |= np.linalg.norm(points - along[..., None] * step, axis=-1) <= pen / 2
    return fine.reshape(size, parts, size, parts).mean(axis=(1, 3))


def test_refinement_keeps_the_good_maps_of_drawings_with_stretched_strokes():
    """These are moved measures, except for the pixels: moments find their maps to some hundredths of a pixel."""
    rng = np.random.default_rng(8)
    maps = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20)
    errors = []
    for matrix, shift in zip(*maps.maps(12, 5)):
        corners = rng.uniform(-92, 92, (7, 2))
        drawing, copy = stretched(corners, np.eye(2), np.zeros(2), 200), stretched(corners, matrix, shift, 440)
        rough = register(describe(drawing), describe(copy), limits=Plausible(reflections=False))
        found = register(drawing, copy, limits=Plausible(reflections=False))
        errors.append([worst_error(some, drawing, matrix, shift) for some in (rough, found)])
    before, after = np.array(errors).T
    assert after.max() < 0.1
    assert (after < before + 0.02).all()
    assert np.median(after) < 0.02


def test_drawings_are_registered_to_a_tenth_of_a_pixel():
    """Pictures of 200 pixels that were moved as a whole; without reflections each has one map."""
    drawings = [*datasets.templates(size=200).values(), *(mark.image() for mark in datasets.watermarks(12))]
    maps = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20)
    for drawing, matrix, shift in zip(drawings, *maps.maps(len(drawings), 0)):
        copy = push_forward(np.pad(drawing, 150), matrix, shift)
        assert worst_error(register(drawing, copy, limits=Plausible(reflections=False)), drawing, matrix, shift) < 0.1


@pytest.mark.parametrize(("maps", "most"), [((0.8, 1.2, 10), 0.4), ((0.6, 1.3, 30), 1.0)], ids=["moderate", "wide"])
def test_lines_drawn_again_with_the_same_pen_are_registered(maps, most):
    """Their mass is elsewhere, which puts the map off by pixels before it is refined."""
    low, high, shear = maps
    moves = datasets.AffineDistribution(scale=(low, high), isotropic=False, rotation=180, shear=shear, shift=20)
    errors = []
    for mark, matrix, shift in zip(datasets.watermarks(16), *moves.maps(16, 1)):
        copy = datasets.draw([(128 * line @ matrix.T + shift) / 280 for line in mark.lines], size=560)
        pair = mark.image(), copy
        rough = register(*map(describe, pair), limits=Plausible(reflections=False))
        found = register(*pair, limits=Plausible(reflections=False))
        errors.append([worst_error(some, mark.image(), matrix, shift) for some in (rough, found)])
    before, after = np.array(errors).T
    assert after.max() < most
    assert np.median(after) < 0.2 < 1 < np.median(before)


@pytest.mark.parametrize("n", [8, 40, 400])
def test_copies_of_clouds_are_found_between_the_steps(n):
    rng = np.random.default_rng(n)
    cloud = PointCloud(rng.normal(size=(n, 2)) * [30, 20], rng.uniform(1, 2, n))
    matrix, shift = np.array([[0.7, -0.9], [0.8, 0.3]]), np.array([5, -7])
    moved = push_forward(cloud, matrix, shift)
    found = register(cloud, moved)
    assert_allclose(found.apply(cloud).points, moved.points, atol=1e-4)
    similar = push_forward(cloud, 1.3 * rotation(0.3), shift)
    found = register(cloud, similar, limits=Plausible(similarity=True))
    assert found.aspect == pytest.approx(1)
    assert_allclose(found.apply(cloud).points, similar.points, atol=1e-4)


def test_robust_maps_of_clouds_stay_as_they_are():
    """The quantiles of all levels would let in again what robust moments leave out."""
    rng = np.random.default_rng(0)
    cloud = PointCloud(rng.normal(size=(50, 2)) * [30, 20])
    moved = push_forward(cloud, [[0.7, -0.9], [0.8, 0.3]])
    options = {"moments": "robust", "trim": 1 / 16}
    expected = register(describe(cloud, **options), describe(moved, **options))
    assert_array_equal(register(cloud, moved, settings=DescriptorSettings(**options)).matrix, expected.matrix)


def test_refined_maps_keep_to_the_limits():
    """The copy is sheared and stretched a little beyond them."""
    moved = push_forward(FLAG, [[1.06, 0.1], [0, 1]], [3, 2], shape=(90, 90))
    for limits in ({"max_aspect": 1.1}, {"max_shear": 4}, {"max_scale": 1.035}):
        found = register(FLAG, moved, limits=Plausible(**limits))
        assert Plausible(**limits).admits(found)
        assert found.distance < 0.1
    found = register(FLAG, moved, limits=Plausible(similarity=True, max_aspect=1.2))
    assert found.aspect == pytest.approx(1)


def test_shapes_that_cannot_be_compared_pixel_by_pixel_keep_their_map():
    dot, large = np.zeros((3, 3)), np.ones((4, 4))
    dot[1, 1] = 1
    expected = find_registration(describe(dot), describe(large), Plausible())
    assert_allclose(find_registration(dot, large, Plausible()).matrix, expected.matrix, atol=0.3)
    cloud = PointCloud([(0, 0), (3, 0), (0, 1), (5, 5)])
    mixed = find_registration(FLAG, cloud, Plausible())
    assert_array_equal(mixed.matrix, find_registration(describe(FLAG), describe(cloud), Plausible()).matrix)


@pytest.mark.parametrize("units", [(1e80, 1e-80), (1e-80, 1e80), (1e-80, 1e-80)], ids=str)
def test_refinement_does_not_depend_on_units_of_length(units):
    rng = np.random.default_rng(0)
    cloud = PointCloud(rng.normal(size=(40, 2)) * [3, 2], rng.uniform(1, 2, 40))
    matrix = 1.3 * rotation(0.7)
    moved = push_forward(cloud, matrix, [5, -7])
    small, large = (PointCloud(some.points * unit, some.weights) for some, unit in zip((cloud, moved), units))
    for options in ({}, {"similarity": True}):
        found = register(small, large, limits=Plausible(**options))
        assert_allclose(found.apply(small).points / units[1], moved.points, rtol=0, atol=1e-9)
        assert found.scale == pytest.approx(1.3 * units[1] / units[0])
        assert found.shear == pytest.approx(0, abs=1e-6)


def test_maps_stay_as_they_are_where_linear_algebra_fails(monkeypatch):
    def fail(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    expected = register(describe(FLAG), describe(moved))
    monkeypatch.setattr(np.linalg, "lstsq", fail)
    assert_array_equal(register(FLAG, moved).matrix, expected.matrix)


def test_refinement_does_not_depend_on_units_of_brightness():
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))
    expected = register(FLAG, moved)
    found = register((200 * FLAG).astype(np.uint8), 1e-3 * moved)
    assert_allclose(found.matrix, expected.matrix, atol=1e-6)


# ---------------------------------------------------------------- credible maps


def test_unrelated_shapes_are_not_credible():
    symbols = datasets.templates(["circle-star8", "shield-triangle"])
    with pytest.warns(UserWarning, match="is not credible: the distance is above 0.1, as between unrelated shapes"):
        found = register(symbols["circle-star8"], symbols["shield-triangle"])
    assert not found.credible
    assert "; not credible: the distance is above 0.1" in str(found)
    assert "<strong>not credible</strong>" in found._repr_html_()
    assert not found.inverse().credible


def test_maps_that_lose_a_direction_are_not_credible():
    square = np.pad(np.ones((60, 60)), 20)
    with pytest.warns(UserWarning, match="is not credible: it stretches one direction 20 times as much as another"):
        found = register(square, np.ones((5, 100)))
    assert not found.credible
    assert found.distance < 0.05
    assert register(square, np.ones((20, 100))).credible


def test_an_aspect_of_ten_limits_the_shear():
    """The bound is reached where the directions of the two scales are those that shear most."""
    turns = [rotation(angle) for angle in np.linspace(0, np.pi, 2001)]
    maps = [Registration(np.diag([10, 1]) @ turn, np.zeros(2), 0.0, False) for turn in turns]
    assert all(found.aspect == pytest.approx(10) for found in maps)
    most = np.rad2deg(np.arcsin(99 / 101))
    assert most - 0.01 < max(abs(found.shear) for found in maps) <= most + 1e-9
    assert most == pytest.approx(78.6, abs=0.05)


def test_maps_found_with_few_angles_are_not_credible():
    """The steps alone can make a distance of more than 0.1. With two angles this map is off by two pixels."""
    moved = push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [3, -4], shape=(100, 110))
    for n_angles in (2, 15):
        with pytest.warns(UserWarning, match="is not credible: .*with this few angles, copies can have a dist"):
            found = register(FLAG, moved, settings=DescriptorSettings(n_angles=n_angles))
        assert not found.credible
        assert not found.inverse().credible
        assert not any(other.credible for other in found.alternatives)
    assert register(FLAG, moved, settings=DescriptorSettings(n_angles=16)).credible


def test_copies_are_credible():
    assert register(FLAG, push_forward(FLAG, [[1.2, 0.3], [-0.4, 0.9]], [7, -4], shape=(100, 110))).credible


# ---------------------------------------------------------------- which of several maps


def test_of_equal_maps_the_plain_and_least_distorting_one_is_returned():
    """A triangle has six maps to its copy, all of other aspects, and a square eight, of which four do not mirror."""
    triangle, square = np.pad(np.tri(60), 40), np.pad(np.ones((61, 61)), 50)
    for matrix in (rotation(0.5), rotation(-0.6) @ np.diag([1, -1]), rotation(0.2) @ np.diag([1.1, 0.9])):
        for shape, order in ((triangle, 6), (square, 8)):
            found = register(shape, push_forward(shape, matrix, [2, 3]))
            assert not found.mirrored
            assert len(found.alternatives) == order - 1
            plain = [other for other in found.alternatives if not other.mirrored]
            assert found.aspect <= 1.03 * min(other.aspect for other in plain)
            alike = [other for other in plain if other.aspect <= 1.01 * found.aspect]
            assert all(abs(found.rotation) <= abs(other.rotation) + 0.5 for other in alike)
    found = register(triangle, push_forward(triangle, rotation(2.5)))  # more than half a turn of its symmetries
    assert found.aspect == pytest.approx(1, abs=0.01)
    assert found.rotation == pytest.approx(np.rad2deg(2.5), abs=0.2)


def test_a_map_that_mirrors_is_returned_where_it_fits_better():
    """A disc beside the axis of a symmetric shape is enough, though the other map is within the tolerance."""
    shape = np.pad(datasets.templates(["shield-circle"])["shield-circle"], 60).astype(float)
    shape[118:130, 126:132] = 1
    mirror = push_forward(shape, np.diag([-1.0, 1.0]) @ rotation(0.3))
    found = register(shape, mirror)
    assert found.mirrored
    assert not all(other.mirrored for other in found.alternatives)


# ---------------------------------------------------------------- maps at work


def test_maps_move_points_clouds_and_pictures():
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


def test_an_array_of_the_shape_of_the_moving_image_is_an_image():
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


def test_notebooks_show_the_words_and_the_matrix():
    html = register(FLAG, push_forward(FLAG, [[0, -1], [1, 0]], [5, 0]))._repr_html_()
    assert html.startswith("<p>Registration, credible: scaled by 1.00")
    for cell in ("<th>x</th>", "<td>-1.0000</td>", "<td>5.0000</td>"):
        assert cell in html


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_aspect": 0.5}, "`max_aspect` must be a number of at least 1, got 0.5"),
        ({"max_shear": 91}, "`max_shear` must be a number from 0 to 90, got 91"),
        ({"max_scale": np.nan}, "`max_scale` must be a number of at least 1, got nan"),
    ],
)
def test_bad_limits_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Plausible(**options)


def test_bad_options_are_refused():
    described, limits = describe(FLAG), Plausible()
    other = DescriptorSettings(n_angles=16)
    message = r"`settings` must be omitted or be those of `fixed`, which has .*n_angles=64.*, got .*n_angles=16"
    with pytest.raises(ValueError, match=message):
        register(described, described, settings=other)
    with pytest.raises(ValueError, match="`settings` must be omitted or be those of `A`"):
        affine_distances(described, settings=DescriptorSettings(moments="robust"))
    with pytest.raises(ValueError, match="`tolerance` must be a number that is not negative, got -1"):
        register(described, described, tolerance=-1)
    with pytest.raises(TypeError, match="`settings` must be of the type DescriptorSettings, got 16"):
        register(FLAG, FLAG, settings=16)
    for call in (register, affine_distances):
        with pytest.raises(TypeError, match="`limits` must be of the type Plausible, got 2"):
            call(described, described, limits=2)
    assert register(described, described, settings=described.settings, limits=limits).distance == 0


@pytest.mark.parametrize("value", [[], {}, True, "2", None, 0.0], ids=repr)
@pytest.mark.parametrize("name", ["nu", "tolerance", "max_aspect", "max_shear", "max_scale"])
def test_arguments_that_are_not_numbers_are_refused_by_name(name, value):
    calls = {
        "nu": lambda: DescriptorSettings(nu=value),
        "tolerance": lambda: register(FLAG, FLAG, tolerance=value),
    }
    call = calls.get(name, lambda: Plausible(**{name: value}))
    is_zero = type(value) is float
    if (value is None and name != "nu") or (is_zero and name in ("tolerance", "max_shear")):
        call()
        return
    with pytest.raises((ValueError, TypeError), match=f"^`{name}` must be a .*number.*, got "):
        call()


def test_no_descriptors_have_no_distances():
    described = describe(FLAG)
    assert affine_distances(described[:0], described).shape == (0, 1)
    assert affine_distances(described, described[:0]).shape == (1, 0)
    assert affine_distances(described[:0]).shape == (0, 0)


def test_a_list_of_descriptors_is_descriptors():
    described = describe([FLAG, np.tri(40)])
    assert_array_equal(affine_distances([described[0], described[1]]), affine_distances(described))
    with pytest.raises(TypeError, match="Descriptors are not images"):
        affine_distances([FLAG, described[0]])


def test_what_cannot_be_compared_is_refused():
    described = describe(FLAG)
    other = describe(FLAG, n_angles=32)
    with pytest.raises(ValueError, match=r"`fixed` must have the settings of `moving` .* n_angles=64, got n_angles=32"):
        register(described, other)
    with pytest.raises(ValueError, match="`B` must have the settings of `A`"):
        affine_distances(described, other)
    robust = describe(FLAG, moments="robust"), describe(FLAG, moments="robust", nu=2)
    with pytest.raises(ValueError, match=r"nu=3\.0, got nu=2"):
        affine_distances(*robust)
    with pytest.raises(ValueError, match="`moving` must be one measure, got 2; `affine_distances` compares many"):
        register([FLAG, FLAG], FLAG)
    with pytest.raises(ValueError, match=r"`fixed` must have mass"):
        register(FLAG, np.zeros((4, 4)))
    with pytest.raises(TypeError, match="`reflections` must be of the type bool, got 'no'"):
        register(FLAG, FLAG, limits=Plausible(reflections="no"))
    with pytest.raises(TypeError, match="`similarity` must be of the type bool, got 1"):
        affine_distances([FLAG], limits=Plausible(similarity=1))

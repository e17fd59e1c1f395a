"""Registration: the affine map from one measure to another."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from shapes import FLAG
from strategies import clouds, matrices, rotation, shifts

import radoncdt
from radoncdt import (
    DescriptorSettings,
    MapPrior,
    Plausible,
    PointCloud,
    affine_distances,
    datasets,
    describe,
    push_forward,
    register,
)
from radoncdt.matching.alignment import UNLIMITED, _find_peaks, _maximise, find_registration
from radoncdt.matching.prior import read_prior

pytestmark = pytest.mark.usefixtures("each_implementation")


N_ANGLES = 12


WIDE = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, rotation=180, shear=30, shift=20, mirror=True)


def moved_exactly(cloud, matrix, shift, steps, mirrored, n_angles):
    """Move a cloud by S R Σ^{-1/2}, S symmetric positive definite, R a turn by whole steps; also return the map."""
    turn = rotation(steps * np.pi / n_angles) @ np.diag([1, -1 if mirrored else 1])
    positive = reference.root(matrix @ matrix.T, 0.5)
    a = positive @ turn @ reference.root(radoncdt.covariance(cloud), -0.5)
    return push_forward(cloud, a, shift), a


steps_and_handedness = st.tuples(st.integers(0, 2 * N_ANGLES - 1), st.booleans())


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


@pytest.mark.parametrize("options", [{}, {"moments": "robust", "trim": 1 / 16}], ids=["exact", "robust"])
def test_maps_of_drawings_are_found(options):
    """The tolerances are 1 % and 0.3 pixels. The drawings are their own mirror images."""
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


def test_images_and_clouds_can_be_mixed():
    rows, columns = np.nonzero(FLAG)
    cloud = PointCloud(np.column_stack([columns - 29.5, 29.5 - rows]) * [2, 1])
    found = register(FLAG, cloud)
    assert_allclose(found.matrix, [[2, 0], [0, 1]], atol=0.02)
    assert found.frames == ((60, 60), (1, 1))


def test_descriptors_can_replace_images():
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


def test_a_peak_between_two_steps_is_one_map():
    """A square of points, turned by half a step, still has eight symmetries."""
    corners = PointCloud([(1, 1), (-1, 1), (-1, -1), (1, -1), (0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5)])
    found = register(corners, push_forward(corners, rotation(np.pi / 34)), settings=DescriptorSettings(n_angles=17))
    assert len(found.alternatives) == 7
    assert np.rad2deg(np.pi / 34) % 90 == pytest.approx(found.rotation % 90, abs=0.1)


def test_refined_angles_are_at_least_as_good_as_the_steps():
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
    """A square has eight maps, a triangle six, and a flag one. All are symmetries, and the best does not mirror."""
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


def test_among_equal_maps_the_least_distorting_without_reflection_is_returned():
    """A triangle has six maps to its copy, of different aspects; a square has eight, of which four do not mirror."""
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


def test_a_reflection_is_returned_if_it_fits_better():
    """A disc beside the axis of a symmetric shape is enough, although the other map is within the tolerance."""
    shape = np.pad(datasets.templates(["shield-circle"])["shield-circle"], 60).astype(float)
    shape[118:130, 126:132] = 1
    mirror = push_forward(shape, np.diag([-1.0, 1.0]) @ rotation(0.3))
    found = register(shape, mirror)
    assert found.mirrored
    assert not all(other.mirrored for other in found.alternatives)


def test_invalid_options_are_refused():
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


def test_a_prior_decides_between_maps_that_fit_equally_well():
    square = np.zeros((90, 90))
    square[30:60, 30:60] = 1
    rectangle = np.zeros((90, 90))
    rectangle[35:55, 25:65] = 1
    free, penalised = (register(square, rectangle, prior=prior) for prior in ("any", MapPrior(rotation=0.05)))
    assert abs(penalised.rotation) < 1
    assert penalised.distance == pytest.approx(free.distance, abs=1e-3)  # the penalty is not part of the distance
    mark = np.zeros((100, 100))
    mark[20:80, 48:52] = mark[20:24, 30:70] = 1
    for prior, angle in (("any", 180), ("photograph", 180), (MapPrior(rotation=1.0), 0)):
        found = find_registration(np.rot90(mark, 2), mark, Plausible(reflections=False), prior=read_prior(prior))
        assert abs(abs(found.rotation) - angle) < 40


def test_a_prior_agrees_with_affine_distances():
    rng = np.random.default_rng(5)
    clouds = [PointCloud(rng.normal(size=(9, 2)) @ rng.normal(size=(2, 2))) for _ in range(8)]
    prior = MapPrior(aspect=0.01, rotation=0.05, mirror=0.02)
    described = describe(clouds, n_angles=16, n_levels=16)
    distances = affine_distances(described, prior=prior)
    for i in range(8):
        for j in range(8):
            peak = _find_peaks(described[i], described[j], Plausible(), prior, 0.0)[0]
            assert peak.penalised == pytest.approx(distances[i, j], abs=1e-6)


def test_register_refuses_a_bad_prior():
    with pytest.raises(ValueError, match="`prior` must be"):
        register(np.tri(20), np.tri(20), prior="sideways")


# ---------------------------------------------------------------- choosing among the peaks


def read_digits(label):
    mnist = datasets.load_mnist()
    chosen = mnist.images[mnist.labels == label][:400:25]
    return [np.pad(np.kron(image, np.ones((2, 2), np.float32)), 20) for image in chosen]


def test_refining_mends_wrong_turns_of_handwriting():
    """One hand's digit is registered with another's, which is turned by 90°. Mending means at least two more of 30."""
    right = {False: 0, True: 0}
    for digits in map(read_digits, (7, 9)):
        for moving, fixed in pairwise(digits):
            for refine in right:
                found = find_registration(moving, np.rot90(fixed), UNLIMITED, refine=refine, n_jobs=1)
                right[refine] += not found.mirrored and abs(found.rotation - 90) < 45
    assert right[True] >= right[False] + 2


def test_refining_keeps_the_simplest_of_equal_maps():
    square, triangle = np.pad(np.ones((41, 41)), 20), np.pad(np.tri(60), 20)
    for shape in (square, triangle, FLAG):
        for matrix in (np.eye(2), rotation(0.5), rotation(0.2) @ np.diag([1.1, 0.9])):
            copy = push_forward(shape, matrix, [2, 3], shape=(140, 140))
            plain, refined = (register(shape, copy, refine=refine) for refine in (False, True))
            assert_array_equal(refined.matrix, plain.matrix)
            assert_array_equal(refined.shift, plain.shift)
            assert refined.distance == plain.distance
            assert len(refined.alternatives) == len(plain.alternatives)


def test_refining_chooses_among_the_map_and_its_alternatives():
    """Penalties of the distortion distance decide, if they are large."""
    mark = np.zeros((100, 100))
    mark[20:80, 48:52] = mark[20:24, 30:70] = 1
    turned, prior = np.rot90(mark, 2), MapPrior(bent_rotation=1e6)
    limits = Plausible(reflections=False)
    plain = find_registration(turned, mark, limits, tolerance=2.0, prior=prior)
    refined = find_registration(turned, mark, limits, tolerance=2.0, prior=prior, refine=True)
    assert abs(plain.rotation) > 170
    least = min(abs(other.rotation) for other in plain.alternatives)
    assert abs(refined.rotation) == pytest.approx(least, abs=10)  # the refinement of the map changes it a little
    assert refined.distance in [other.distance for other in plain.alternatives]
    assert plain.distance in [other.distance for other in refined.alternatives]
    assert len(refined.alternatives) == len(plain.alternatives)


def test_refining_does_not_depend_on_threads_and_accepts_clouds():
    first, second = read_digits(7)[2:4]
    maps = [find_registration(first, second, UNLIMITED, refine=True, n_jobs=n_jobs).matrix for n_jobs in (1, 2)]
    assert_array_equal(*maps)
    cloud = PointCloud(np.random.default_rng(0).normal(size=(30, 2)))
    moved = PointCloud(cloud.points @ rotation(1.0).T + [3, 4])
    assert_allclose(register(cloud, moved, refine=True, tolerance=1).matrix, rotation(1.0), atol=1e-3)


def test_refining_needs_pixels():
    with pytest.raises(TypeError, match="`refine` must be False for Descriptors, because they have no pixels"):
        register(describe(FLAG), FLAG, refine=True)
    with pytest.raises(TypeError, match="`refine` must be of the type bool, got 3"):
        register(FLAG, FLAG, refine=3)


@pytest.mark.parametrize("degrees", [45, 75, 90, 120, 180])
def test_a_prior_does_not_hide_exact_copies(degrees):
    flag = np.zeros((100, 100))
    flag[20:80, 40:44] = flag[20:50, 44:70] = 1
    turn = np.radians(degrees)
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    found = register(flag, push_forward(flag, matrix, shape=(140, 140)), prior="upright")
    assert_allclose(found.matrix, matrix, atol=0.01)
    assert found.credible
    assert found.distance < 0.05  # the prior moves the angle at which it is measured
    assert all(each.distance <= found.distance + 0.03 for each in found.alternatives)

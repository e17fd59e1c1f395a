"""Limits on the maps between two measures."""

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose
from shapes import FLAG, random_descriptors
from strategies import rotation

from radoncdt import (
    Plausible,
    PointCloud,
    _kernels,
    affine_distances,
    push_forward,
    register,
)
from radoncdt.matching.affine_distance import compute_distances
from radoncdt.matching.alignment import find_registration

pytestmark = pytest.mark.usefixtures("each_implementation")


N_ANGLES = 12


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
def test_limits_select_the_best_of_the_plausible_turns(limits):
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
            first.waves.covariances[i], second.waves.covariances[j], plausible.kernel_limits, N_ANGLES
        )
        # a turn is plausible if a turn within half a step is; the slow reference tries some of these
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
def test_maps_of_long_shapes_obey_limits_between_the_steps(degrees, limits):
    """The shape is twelve times as long as wide, so that even half a degree to the next step stretches it."""
    cloud = PointCloud(np.random.default_rng(0).normal(size=(40, 2)) * [12, 1])
    matrix = 1.2 * rotation(np.deg2rad(degrees))
    found = register(cloud, push_forward(cloud, matrix, [3, 4]), limits=Plausible(**limits))
    assert found.distance < 0.04
    assert_allclose(found.matrix, matrix, atol=0.06)
    distances = affine_distances([cloud], [push_forward(cloud, matrix)], limits=Plausible(**limits))
    assert distances[0, 0] == pytest.approx(found.distance)


def test_the_tightest_limits_admit_the_identity():
    for limits in ({"max_shear": 0}, {"max_scale": 1}, {"max_aspect": 1}, {"similarity": True, "max_aspect": 1}):
        assert register(FLAG, FLAG, limits=Plausible(**limits)).distance < 1e-9
        assert affine_distances([FLAG], [FLAG], limits=Plausible(**limits))[0, 0] < 1e-9


def test_mirror_images_differ_without_reflections():
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


def test_limits_distinguish_a_circle_from_an_ellipse():
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


def test_the_limit_to_similarities_returns_similarities():
    moved = push_forward(FLAG, 1.3 * rotation(0.7) @ np.diag([1, -1]), [4, 2], shape=(110, 110))
    found = register(FLAG, moved, limits=Plausible(similarity=True))
    assert_allclose(found.matrix @ found.matrix.T / found.scale**2, np.eye(2), atol=1e-12)
    assert found.aspect == pytest.approx(1)
    assert_allclose(found.matrix, 1.3 * rotation(0.7) @ np.diag([1, -1]), atol=0.01)
    assert_allclose(found.shift, [4, 2], atol=0.3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_aspect": 0.5}, "`max_aspect` must be a number of at least 1, got 0.5"),
        ({"max_shear": 91}, "`max_shear` must be a number from 0 to 90, got 91"),
        ({"max_scale": np.nan}, "`max_scale` must be a number of at least 1, got nan"),
    ],
)
def test_invalid_limits_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Plausible(**options)

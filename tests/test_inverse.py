"""Inverses: exact cases, round trips, interpolation, invalid input."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.interpolate import PchipInterpolator
from strategies import images

import radoncdt
from radoncdt import PointCloud

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)
ANGLES = radoncdt.equispaced_angles(180)


def sampled(density, n=128, factor=8):
    places = (np.arange(n * factor) + 0.5) / factor - n / 2
    image = density(places[None, :], -places[:, None]).astype(float).reshape(n, factor, n, factor).mean(axis=(1, 3))
    return image / image.sum()


GAUSSIAN = sampled(lambda x, y: np.exp(-((x / 12) ** 2 + (y / 9) ** 2) / 2))
DISC = sampled(lambda x, y: x**2 + y**2 < 32**2)


def error(image, truth):
    return np.linalg.norm(image - truth) / np.linalg.norm(truth)


# ---------------------------------------------------------------- inverse_cdt


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20))
def test_masses_between_values_of_the_transform_are_exact(seed, n):
    rng = np.random.default_rng(seed)
    masses = rng.random(n) + 0.01
    masses /= masses.sum()
    edges = np.cumsum(rng.random(n + 1) + 0.01) - 5
    levels = np.clip(np.concatenate([[0], np.cumsum(masses)[:-1], [1]]), 0, 1)
    values = radoncdt.cdt(masses, edges, points=levels)
    assert_allclose(radoncdt.inverse_cdt(values, edges, points=levels), masses, atol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 12))
def test_inverse_cdt_equals_the_slow_reference(seed, n):
    rng = np.random.default_rng(seed)
    steps = rng.random(n) * rng.choice([0, 1e-17, 1, 1, 1], n)  # some atoms: values that are equal or nearly equal
    values = np.cumsum(steps)
    levels = np.sort(rng.random(n))
    edges = np.sort(rng.uniform(values[0] - 1, values[-1] + 1, 15))
    expected = np.diff([reference.cumulative_of_quantiles(values, levels, s) for s in edges])
    assert_allclose(radoncdt.inverse_cdt(values, edges, points=levels), expected, atol=1e-12)


def test_inverse_cdt_is_the_monotone_cubic_of_scipy_inside():
    values, levels = np.cumsum(RNG.random(12) + 0.1), radoncdt.quantile_levels(12)
    edges = np.linspace(values[1], values[-2], 40)  # SciPy treats the outermost intervals differently
    expected = np.diff(PchipInterpolator(values, levels)(edges))
    assert_allclose(radoncdt.inverse_cdt(values, edges), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "tolerance"), [(stats.norm(3, 2), 7e-4), (stats.uniform(1, 4), 1e-12), (stats.semicircular(0, 2), 8e-4)]
)
def test_tails_continue_the_curvature_of_the_density(law, tolerance):
    """Bins beyond the outermost values, at the levels 1/128 and 127/128, get the mass of the distribution there.

    Measured: 0.0006 and 0.0007. The errors of flat tails would be 0.0020 and 0.0012.
    """
    values = law.ppf(radoncdt.quantile_levels(64))
    low, high = law.ppf([1e-5, 1 - 1e-5])
    edges = np.array([-100, *np.linspace(low, values[0], 5), *np.linspace(values[-1], high, 5), 100])
    assert_allclose(radoncdt.inverse_cdt(values, edges), np.diff(law.cdf(edges)), atol=tolerance)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e140])
def test_the_scale_of_the_values_does_not_matter(scale):
    values, edges = np.array([0.0, 1, 3, 4, 6]), np.array([-20.0, 0, 1.5, 2, 5, 30])
    expected = radoncdt.inverse_cdt(values, edges)
    assert_allclose(radoncdt.inverse_cdt(values * scale, edges * scale), expected, rtol=1e-9)
    assert_allclose(radoncdt.inverse_cdt([0, 1e-320], [-1, 0, 1]).sum(), 1)


def test_an_atom_on_an_edge_belongs_to_the_bin_on_its_left():
    values = radoncdt.cdt(samples=[1, 3], points=[0.2, 0.4, 0.6, 0.8])
    assert_allclose(radoncdt.inverse_cdt(values, [0, 1, 2, 3, 4], points=[0.2, 0.4, 0.6, 0.8]), [0.4, 0.1, 0.5, 0])


def test_inverse_cdt_takes_references_and_batches():
    normal = stats.norm()
    points = np.linspace(-3, 3, 40)
    edges = np.linspace(-5, 20, 30)
    masses = RNG.random((2, 3, 5)) + 0.1
    values = radoncdt.cdt(masses, np.arange(6), reference=normal, points=points)
    result = radoncdt.inverse_cdt(values, edges, reference=normal, points=points)
    assert result.shape == (2, 3, 29)
    assert_allclose(result[1, 2], radoncdt.inverse_cdt(values[1, 2], edges, points=normal.cdf(points)), atol=1e-14)
    assert_allclose(result.sum(-1), 1, atol=1e-12)


@pytest.mark.parametrize(
    ("values", "edges", "options", "message"),
    [
        ([1, 0.5], [0, 1], {}, "`values` must not descend.* got a step of -0.5"),
        ([1], [0, 1], {}, r"`values` must have shape .* got \(1,\)"),
        ([0, np.nan], [0, 1], {}, "`values` must be finite"),
        ([0, 1], [1, 0], {}, "`edges` must ascend, got a step of -1"),
        ([0, 1], [0], {}, r"`edges` must have shape .* got \(1,\)"),
        ([0, 1], [0, 1], {"points": [0.5]}, r"`points` must have shape \(2,\).* got \(1,\)"),
        ([0, 1], [0, 1], {"points": [0.5, 0.5]}, "`points` must ascend"),
        ([0, 1], [0, 1], {"reference": ([1], [0, 0])}, "`reference` must have no atoms"),
    ],
)
def test_inverse_cdt_refuses_invalid_input(values, edges, options, message):
    with pytest.raises(ValueError, match=message):
        radoncdt.inverse_cdt(values, edges, **options)


# ---------------------------------------------------------------- filtered back projection, inverse_rcdt


def test_filtered_back_projection_inverts_radon():
    # measured: 0.0021 and 0.041, because pixels cannot show the edge of the disc
    for image, limit in ((GAUSSIAN, 0.0025), (DISC, 0.045)):
        again = radoncdt.filtered_back_projection(*radoncdt.radon(image, angles=ANGLES), ANGLES, image.shape)
        assert error(again, image) < limit


def test_filtered_back_projection_takes_angles_in_any_order_and_opposites():
    angles = RNG.permutation(ANGLES + np.pi * RNG.integers(-2, 3, ANGLES.size))
    again = radoncdt.filtered_back_projection(*radoncdt.radon(GAUSSIAN, angles=angles), angles, GAUSSIAN.shape)
    assert error(again, GAUSSIAN) < 0.0025


def test_uneven_angles_are_weighted_by_their_share():
    angles = np.concatenate([np.linspace(0, np.pi / 2, 150, endpoint=False), np.linspace(np.pi / 2, np.pi, 90)[:-1]])
    again = radoncdt.filtered_back_projection(*radoncdt.radon(GAUSSIAN, angles=angles), angles, GAUSSIAN.shape)
    assert error(again, GAUSSIAN) < 0.01


@pytest.mark.parametrize("n_levels", [64, 128])
def test_round_trips_restore_the_image(n_levels):
    """The required limits are 0.06 and 0.2."""
    for image, limit in ((GAUSSIAN, 0.03), (DISC, 0.04)):
        again = radoncdt.inverse_rcdt(radoncdt.rcdt(image, n_angles=180, n_levels=n_levels), image.shape)
        assert error(again, image) < limit
        assert again.min() >= 0
        assert_allclose(again.sum(), 1, rtol=1e-9)


@given(image=images(shapes=st.tuples(st.integers(1, 30), st.integers(1, 30))))
def test_the_inverse_is_a_measure_of_mass_one_with_the_given_shape(image):
    again = radoncdt.inverse_rcdt(radoncdt.rcdt(image, n_angles=30), image.shape)
    assert again.shape == image.shape
    assert again.min() >= 0
    assert_allclose(again.sum(), 1, rtol=1e-9)


def test_inverse_rcdt_keeps_leading_axes_and_frames():
    stack = np.stack([GAUSSIAN, np.roll(DISC, 9, axis=1)])[None]
    features = radoncdt.rcdt(stack, n_angles=120, level_grid="uniform")
    again = radoncdt.inverse_rcdt(features, (140, 150), level_grid="uniform")
    assert again.shape == (1, 2, 140, 150)
    for image, truth in zip(again[0], np.pad(stack[0], ((0, 0), (6, 6), (11, 11)))):
        assert error(image, truth) < 0.06


def test_each_row_is_checked():
    with pytest.raises(ValueError, match="`values` must not descend"):
        radoncdt.inverse_cdt([[0, 1, 0.5], [0, 1e10, 2e10]], [0, 1, 2])


def test_inverse_rcdt_warns_if_a_pixel_of_a_square_is_outside():
    features = radoncdt.rcdt(np.ones((20, 20)), n_angles=180)
    with pytest.warns(UserWarning, match="outside the shape"):
        again = radoncdt.inverse_rcdt(features, (18, 18))
    assert again.sum() < 0.9


def test_inverse_rcdt_warns_if_mass_is_outside():
    features = radoncdt.rcdt(np.roll(DISC, 30, axis=1))
    with pytest.warns(UserWarning, match=r"in some direction \d+% of the mass is outside the shape \(60, 60\)"):
        radoncdt.inverse_rcdt(features, (60, 60))


@pytest.mark.parametrize(
    ("features", "options", "error_", "message"),
    [
        (np.zeros(4), {}, ValueError, r"`features` must have shape \(…, n_angles, n_levels\).* got \(4,\)"),
        (np.zeros((2, 1)), {}, ValueError, "n_levels ≥ 2"),
        (np.full((2, 3), np.inf), {}, ValueError, "`features` must be finite"),
        ([[3, 2, 1]], {}, ValueError, "`features` must not descend"),
        (np.zeros((2, 3)), {"angles": [0]}, ValueError, r"`angles` must have shape \(2,\)"),
        (np.zeros((2, 3)), {"level_grid": "odd"}, ValueError, "`level_grid` must be one of"),
        (np.zeros((2, 3)), {"shape": (5,)}, TypeError, r"`shape` must be a pair"),
        (np.zeros((2, 3)), {"shape": (0, 5)}, ValueError, r"`shape\[0\]` must be at least 1, got 0"),
        ("text", {}, TypeError, "`features` must hold numbers"),
    ],
)
def test_inverse_rcdt_refuses_invalid_input(features, options, error_, message):
    with pytest.raises(error_, match=message):
        radoncdt.inverse_rcdt(features, **{"shape": (8, 8), **options})


# ---------------------------------------------------------------- interpolate


def test_interpolation_moves_mass_instead_of_fading():
    left, right = np.roll(GAUSSIAN, -20, axis=1), np.roll(GAUSSIAN, 20, axis=1)
    middle = radoncdt.interpolate(left, right, 0.5)
    assert error(middle, GAUSSIAN) < 0.03
    assert error((left + right) / 2, GAUSSIAN) > 0.5  # a cross-fade


def test_the_ends_are_the_images_and_the_mass_changes_linearly():
    result = radoncdt.interpolate(2 * GAUSSIAN, 4 * DISC, [0, 0.25, 1])
    assert_allclose(result.sum(axis=(1, 2)), [2, 2.5, 4], rtol=1e-9)
    assert error(result[0], 2 * GAUSSIAN) < 0.03
    assert error(result[2], 4 * DISC) < 0.06


def test_clouds_and_images_of_different_sizes_can_be_interpolated():
    cloud = PointCloud(RNG.normal(size=(500, 2)) * 4, np.full(500, 1 / 500))
    assert radoncdt.interpolate(cloud, np.ones((20, 30)), [[0, 1]], n_angles=32).shape == (1, 2, 20, 30)
    assert radoncdt.interpolate(np.ones((20, 30)), np.ones((40, 10)), 0.3, n_angles=32).shape == (40, 30)


@pytest.mark.parametrize(
    ("a", "b", "t", "message"),
    [
        (GAUSSIAN, GAUSSIAN, 1.5, "`t` must be between 0 and 1, got 1.5"),
        (GAUSSIAN, GAUSSIAN, [-0.5, 2], "`t` must be between 0 and 1, got -0.5"),
        (GAUSSIAN, GAUSSIAN, np.nan, "`t` must be finite"),
        (GAUSSIAN, GAUSSIAN, [], r"`t` must not be empty, got shape \(0,\)"),
        (GAUSSIAN[None], GAUSSIAN, 0, "`a` must be one image"),
        (GAUSSIAN, -GAUSSIAN, 0, "`b` must not have negative mass"),
        (PointCloud([(0, 0)]), PointCloud([(0, 0)]), 0, "`shape` must be given"),
    ],
)
def test_interpolate_refuses_invalid_input(a, b, t, message):
    with pytest.raises(ValueError, match=message):
        radoncdt.interpolate(a, b, t)

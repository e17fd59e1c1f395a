"""The CDT: closed forms, conventions at the ends and in gaps, references, and invalid input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import radoncdt
from radoncdt import cdt
from radoncdt._numpy import method

pytestmark = pytest.mark.usefixtures("each_implementation")


def test_the_cdt_jumps_over_a_gap_at_the_level_of_the_gap():
    """inf{s : F(s) > t} jumps to the far end of a gap at the level of the gap itself."""
    assert_array_equal(cdt([1, 0, 1], [0, 1, 5, 6], points=[0.25, 0.5, 0.75]), [0.5, 5, 5.5])
    assert_array_equal(cdt(samples=[0, 5], points=[0.25, 0.5, 0.75]), [0, 5, 5])


def test_the_ends_are_those_of_the_support():
    assert_array_equal(cdt([0, 2, 0], [0, 1, 3, 9], points=[-np.inf, 0, 1, np.inf]), [1, 1, 3, 3])
    assert_array_equal(cdt(samples=[3, 1, 2], weights=[0, 1, 1], points=[0, 1]), [1, 2])


def test_a_bin_of_width_zero_is_an_atom():
    assert_array_equal(cdt([1, 2, 1], [0, 1, 1, 2], points=[0.125, 0.25, 0.5, 0.75, 0.875]), [0.5, 1, 1, 1, 1.5])


@pytest.mark.parametrize("mass", [1e308, 5e-324])
def test_huge_and_tiny_masses_neither_overflow_nor_vanish(mass):
    assert_array_equal(cdt([mass, mass], [0, 1, 2], points=[0.25, 0.75]), [0.5, 1.5])
    assert_array_equal(cdt(samples=[3, 4], weights=[mass, mass], points=[0.25, 0.75]), [3, 4])
    assert_array_equal(cdt(samples=[3], reference=([mass, mass], [0, 1, 2]), points=[0.5]), [3])
    cloud = radoncdt.PointCloud([(0, 0), (3, 0), (0, 3)], [mass] * 3)
    assert_allclose(radoncdt.mean(cloud), [1, 1])
    assert np.isfinite(radoncdt.max_nrcdt(cloud)).all()


def test_the_cdt_of_the_reference_itself_is_the_identity():
    mass, edges = [1, 3, 2], [0.0, 1, 2, 4]
    points = np.linspace(0.1, 3.9, 20)
    assert_allclose(cdt(mass, edges, reference=(mass, edges), points=points), points, rtol=1e-14)


@pytest.mark.parametrize("rho", [stats.norm(2, 3), stats.expon(), stats.uniform(-1, 5)])
def test_the_cdt_of_a_uniform_measure_is_the_cumulative_function_of_the_reference(rho):
    points = rho.ppf(np.linspace(0.001, 0.999, 50))
    assert_allclose(cdt([1], [0, 1], reference=rho, points=points), rho.cdf(points), rtol=1e-12)


def test_default_points_are_the_quantiles_of_the_reference():
    mass, edges = [1, 0, 3], [0, 1, 2, 3]
    levels = radoncdt.quantile_levels(64)
    expected = cdt(mass, edges, points=levels)
    assert_array_equal(cdt(mass, edges), expected)
    rho = stats.norm()
    assert_allclose(
        cdt(mass, edges, reference=rho), cdt(mass, edges, reference=rho, points=rho.ppf(levels)), rtol=1e-12
    )


@given(st.integers(0, 10**6))
def test_the_cdt_of_samples_equals_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 10)
    places, weights = rng.integers(-3, 4, n).astype(float), rng.integers(0, 3, n) + (np.arange(n) == 0)
    points = np.concatenate([rng.random(5), [0, 0.5, 1]])
    expected = [method.sample_quantile(places, weights, t) for t in points]
    assert_array_equal(cdt(samples=places, weights=weights, points=points), expected)


def test_the_cdt_at_one_point_is_a_number():
    assert cdt([1, 1], [0, 1, 2], points=0.5) == 1
    assert cdt(samples=[1, 2], points=0.25).shape == ()


def test_the_cdt_keeps_leading_axes_and_the_shape_of_the_points():
    rng = np.random.default_rng(0)
    mass, edges = rng.random((2, 3, 5)), np.arange(6.0)
    points = rng.random((4, 7))
    values = cdt(mass, edges, points=points)
    assert values.shape == (2, 3, 4, 7)
    assert_array_equal(values[1, 2], cdt(mass[1, 2], edges, points=points))
    own = edges + rng.random((2, 3, 1))
    assert_allclose(cdt(mass, own, points=points), values + own[..., :1, None])
    samples = rng.random((2, 3, 5))
    assert cdt(samples=samples, weights=mass, points=0.5).shape == (2, 3)
    assert_array_equal(
        cdt(samples=samples, weights=mass, points=points)[0, 1],
        cdt(samples=samples[0, 1], weights=mass[0, 1], points=points),
    )


def test_the_cdt_of_a_radon_transform_is_the_rcdt():
    image = np.random.default_rng(1).random((20, 30))
    masses, edges = radoncdt.radon(image, n_angles=6)
    rcdt = radoncdt.rcdt(image, n_angles=6, n_levels=16)
    assert_allclose(cdt(masses, edges, points=radoncdt.quantile_levels(16)), rcdt, atol=1e-11)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "`cdt` takes either `mass` with `edges` or `samples`, got neither"),
        ({"mass": [1], "edges": [0, 1], "samples": [1]}, TypeError, "got both"),
        ({"mass": [1]}, TypeError, "`mass` needs `edges`"),
        ({"mass": [1], "edges": [0, 1], "weights": [1]}, TypeError, "`weights` go with `samples`"),
        ({"samples": [1], "edges": [0, 1]}, TypeError, "`edges` go with `mass`"),
        ({"mass": [1, -1], "edges": [0, 1, 2]}, ValueError, "`mass` must not be negative, got -1"),
        ({"mass": [0, 0], "edges": [0, 1, 2]}, ValueError, "`mass` must not be all 0"),
        ({"mass": [[1], [0]], "edges": [0, 1]}, ValueError, r"`mass` must not be all 0, got zeros only in row \[1\]"),
        ({"mass": [1, np.nan], "edges": [0, 1, 2]}, ValueError, r"`mass` must be finite, got nan at \[1\]"),
        ({"mass": [1, 1], "edges": [0, 2, 1]}, ValueError, "`edges` must ascend, got a step of -1"),
        ({"mass": [1, 1], "edges": [0, 1]}, ValueError, r"`edges` must have shape \(3,\) for these masses, got \(2,\)"),
        ({"mass": [], "edges": [0]}, ValueError, "`mass` must have shape"),
        ({"mass": "ab", "edges": [0, 1, 2]}, TypeError, "`mass` must hold numbers, got 'ab'"),
        ({"samples": []}, ValueError, r"`samples` must have shape \(…, n\)"),
        ({"samples": [1, 2], "weights": [1]}, ValueError, r"`weights` must have shape \(2,\)"),
        ({"samples": [1, 2], "weights": [1, -2]}, ValueError, "`weights` must not be negative, got -2"),
        ({"samples": [1, 2j]}, TypeError, "`samples` must hold bool, integer or float"),
        ({"samples": [1], "points": [np.nan]}, ValueError, "`points` must not be NaN"),
        ({"samples": [1], "points": []}, ValueError, "`points` must hold at least one point"),
        (
            {"samples": [1], "reference": stats.poisson(3)},
            ValueError,
            "`reference` must have no atoms, got the discrete",
        ),
        (
            {"samples": [1], "reference": ([1, 1], [0, 0, 1])},
            ValueError,
            "`reference` must have no atoms, got mass on a",
        ),
        ({"samples": [1], "reference": ([1, -1], [0, 1, 2])}, ValueError, "`reference masses` must not be negative"),
        ({"samples": [1], "reference": "uniform"}, TypeError, "`reference` must be .* got 'uniform'"),
        (
            {"samples": [1], "reference": stats.norm},
            TypeError,
            "`reference` must be .* frozen scipy.stats distribution",
        ),
        (
            {"samples": [1], "reference": stats.norm(scale=-1), "points": [0]},
            ValueError,
            "`reference` must have valid parameters",
        ),
        ({"samples": [1], "reference": stats.norm(loc=[0, 9])}, ValueError, "`reference` must be one measure, got 2"),
        ({"samples": [1e200]}, ValueError, r"`samples` must not be beyond ±1e\+150"),
        ({"mass": [1], "edges": [-1e200, 1e200]}, ValueError, r"`edges` must not be beyond ±1e\+150"),
        ({"samples": [1], "reference": ([[1]], [0, 1])}, ValueError, "`reference` must be one measure"),
    ],
)
def test_invalid_arguments_are_refused(arguments, error, message):
    options = {name: value for name, value in arguments.items() if name not in ("mass", "edges")}
    with pytest.raises(error, match=message):
        cdt(arguments.get("mass"), arguments.get("edges"), **options)

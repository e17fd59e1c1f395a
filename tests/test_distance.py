"""Transport distances: SciPy, POT, closed forms and a slow reference; metric properties; invalid input."""

import numpy as np
import ot
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from scipy.integrate import quad
from strategies import clouds, images

import radoncdt
from radoncdt import PointCloud

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)
POWERS = st.one_of(st.sampled_from([1, 2, np.inf]), st.floats(1, 30))


@st.composite
def points(draw, most=12):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, most))
    weights = rng.random(n) * rng.choice([0, 1, 1], n)
    weights[rng.integers(n)] = 0.7
    if draw(st.booleans()):
        weights = np.ones(n)
    places = rng.integers(-3, 4, n) if draw(st.booleans()) else rng.normal(size=n) * 10
    return places.astype(float), weights


@st.composite
def bins(draw, most=12):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, most))
    masses = rng.random(n) * rng.choice([0, 1, 1], n)
    masses[rng.integers(n)] = 0.7
    return masses, np.cumsum(rng.random(n + 1) * rng.choice([0, 1, 1], n + 1)) - 3  # some bins are atoms


# ---------------------------------------------------------------- on the line


@given(a=points(), b=points(), p=POWERS)
def test_wasserstein_of_points_equals_the_slow_reference(a, b, p):
    expected = reference.wasserstein_of_points(*a, *b, p)
    assert_allclose(radoncdt.wasserstein(a, b, p), expected, rtol=1e-9, atol=1e-9)


@given(a=points(), b=points())
def test_wasserstein_1_equals_that_of_scipy(a, b):
    expected = stats.wasserstein_distance(a[0], b[0], a[1], b[1])
    assert_allclose(radoncdt.wasserstein(a, b, 1), expected, rtol=1e-9, atol=1e-9)


@given(a=points(), b=points(), p=st.floats(1, 5))
def test_wasserstein_of_points_equals_that_of_pot(a, b, p):
    u, v = a[1] / a[1].sum(), b[1] / b[1].sum()
    expected = ot.wasserstein_1d(a[0], b[0], u, v, p=p) ** (1 / p)
    assert_allclose(radoncdt.wasserstein(a, b, p), expected, rtol=1e-6, atol=1e-6)


@given(a=st.one_of(bins(), points()), b=bins(), p=st.sampled_from([1, 1.5, 2, 3, 10]))
def test_wasserstein_of_bins_equals_the_integral_over_the_levels(a, b, p):
    """The integral uses the midpoint rule with many levels. The tolerance is the bound of its error."""
    levels = (np.arange(200_000) + 0.5) / 200_000
    arrays, options = (a, {}) if len(a[1]) > len(a[0]) else ((), {"samples": a[0], "weights": a[1]})
    gap = np.abs(radoncdt.cdt(*arrays, **options, points=levels) - radoncdt.cdt(*b, points=levels))
    assert_allclose(radoncdt.wasserstein(a, b, p), np.mean(gap**p) ** (1 / p), rtol=1e-4, atol=1e-4)
    # between two levels, a quantile changes by its slope: the width of a bin divided by its share of the mass
    slopes = [
        np.max(np.diff(edges)[mass > 0] / (mass[mass > 0] / mass.sum()))
        for mass, edges in (a, b)
        if len(edges) > len(mass)
    ]
    assert_allclose(radoncdt.wasserstein(a, b, np.inf), gap.max(), rtol=1e-9, atol=sum(slopes) / 200_000 + 1e-9)


@pytest.mark.parametrize("p", [1, 2, 3.5, 40])
def test_wasserstein_of_uniform_distributions_has_a_closed_form(p):
    """From [0, 1] to [2, 5], the quantile at level t moves by 2 + 2t."""
    expected = quad(lambda t: (2 + 2 * t) ** p, 0, 1)[0] ** (1 / p)
    assert_allclose(radoncdt.wasserstein(([1], [0, 1]), ([1], [2, 5]), p), expected, rtol=1e-9)
    assert radoncdt.wasserstein(([1], [0, 1]), ([1], [2, 5]), np.inf) == 4


@given(a=points(), b=bins(), c=points(), p=POWERS)
def test_wasserstein_is_a_metric_that_grows_with_p(a, b, c, p):
    w = radoncdt.wasserstein
    assert_allclose(w(a, b, p), w(b, a, p), rtol=1e-12, atol=1e-12)
    assert w(a, c, p) <= w(a, b, p) + w(b, c, p) + 1e-9
    assert w(a, a, p) == w(b, b, p) == 0
    assert w(a, b, 1) <= w(a, b, p) + 1e-9
    assert w(a, b, p) <= w(a, b, np.inf) + 1e-9


@given(a=points(), shift=st.floats(-50, 50), scale=st.floats(0.1, 10), p=POWERS)
def test_wasserstein_follows_shifts_and_scales(a, shift, scale, p):
    """A shift moves all quantiles equally. Scaling both measures scales the distance."""
    moved = a[0] + shift, a[1]
    assert_allclose(radoncdt.wasserstein(a, moved, p), abs(shift), rtol=1e-9, atol=1e-12)
    b = RNG.normal(size=5), np.ones(5)
    scaled = [(scale * x, 3 * w) for x, w in (a, b)]
    assert_allclose(radoncdt.wasserstein(*scaled, p), scale * radoncdt.wasserstein(a, b, p), rtol=1e-9, atol=1e-12)


def test_rounding_of_weights_does_not_pair_neighbours():
    """0.1 + 0.1 + 0.1 is not 0.3. The difference must not count as mass that moves from one point to the next."""
    a, b = ([0, 1, 2], [0.1, 0.1, 0.1]), ([0, 1, 2], [1, 1, 1])
    assert radoncdt.wasserstein(a, b, np.inf) == 0


def test_large_powers_and_distances_do_not_overflow():
    assert_allclose(radoncdt.wasserstein([0, 1e140], [1e140, 2e140], 1000), 1e140)
    assert_allclose(radoncdt.wasserstein([0], [1e-140], 50), 1e-140)


def test_distances_far_below_the_extent_of_the_measures_do_not_vanish():
    for p in (1, 2, 3, 4):
        expected = 0.5 ** (1 / p)
        assert_allclose(radoncdt.wasserstein([0, 1e100], [1, 1e100], p), expected)
    assert_allclose(radoncdt.wasserstein([0, 1e150], [1e-20, 1e150], 2), 1e-20 * 0.5**0.5)


def test_sums_of_many_weights_do_not_drift():
    x = np.arange(200_000.0)
    assert radoncdt.wasserstein((x, np.full(x.size, 0.1)), x, np.inf) == 0


def test_small_masses_count_at_both_ends():
    for places, weights in (([0, 1e12], [1, 5e-13]), ([-1e12, 0], [5e-13, 1])):  # levels have a precision of 1e-16
        assert_allclose(radoncdt.wasserstein((places, weights), [0.0], 1), 0.5, rtol=1e-3)
    assert radoncdt.wasserstein(([0, 100], [1, 1e-13]), [0.0], np.inf) == 100


@pytest.mark.parametrize("mass", [1e308, 5e-324])
def test_huge_and_tiny_masses_neither_overflow_nor_vanish(mass):
    assert radoncdt.wasserstein(([0, 1, 2], [mass] * 3), [1, 2, 3]) == 1
    assert radoncdt.wasserstein(([mass, mass], [0, 1, 2]), ([1], [1, 3])) == 1
    points = [(0, 0), (1, 2), (5, 1)]
    assert radoncdt.sliced_wasserstein(PointCloud(points, [mass] * 3), PointCloud(points)) == 0
    assert radoncdt.sliced_wasserstein(np.full((4, 4), mass), np.ones((4, 4))) == 0


@pytest.mark.parametrize(
    ("a", "p", "error", "message"),
    [
        ([0, np.nan], 2, ValueError, "`a` must be finite"),
        ([], 2, ValueError, r"`a` must hold points of shape \(n,\)"),
        ([[1, 2]], 2, ValueError, r"got shape \(1, 2\)"),
        (([1, 2], [1, -1]), 2, ValueError, r"`a\[1\]` must not be negative, got -1.0"),
        (([1, 2], [0, 0]), 2, ValueError, r"`a\[1\]` must not be all 0"),
        (([1, 2], [1, 2, 3, 4]), 2, ValueError, r"`a\[1\]` must hold 2 weights for 2 points, or 3 edges for 2 masses"),
        (([1, 2], [0, 2, 1]), 2, ValueError, r"`a\[1\]` must ascend"),
        (([1], [1], [1]), 2, ValueError, "got 3 arrays"),
        (([[1], [2, 3]], [1, 2]), 2, ValueError, r"`a\[0\]` must have rows of equal length"),
        ("text", 2, TypeError, "`a` must hold numbers"),
        ([1], 0.5, ValueError, "`p` must be at least 1 and at most 1e.06, or infinite, got 0.5"),
        ([1], np.nan, ValueError, "`p` must be at least 1 and at most .* got nan"),
        ([1], "2", TypeError, "`p` must be a number, got '2'"),
        ([1], True, TypeError, "`p` must be a number, got True"),
    ],
)
def test_wasserstein_refuses_invalid_input(a, p, error, message):
    with pytest.raises(error, match=message):
        radoncdt.wasserstein(a, [0, 1], p)


# ---------------------------------------------------------------- in the plane


@pytest.mark.parametrize("p", [1, 2, 3])
def test_sliced_wasserstein_equals_that_of_pot_within_its_monte_carlo_error(p):
    x, y = RNG.normal(size=(40, 2)), RNG.normal(size=(50, 2)) * [2, 0.5] + [1, 0]
    u, v = RNG.random(40) + 0.1, RNG.random(50) + 0.1
    u, v = u / u.sum(), v / v.sum()
    n = 20_000
    _, log = ot.sliced_wasserstein_distance(x, y, u, v, n_projections=n, p=p, seed=1, log=True)
    powers = log["projected_emds"]  # W_p^p of each direction
    mean, error = np.mean(powers), np.std(powers) / np.sqrt(n)
    exact = radoncdt.sliced_wasserstein(PointCloud(x, u), PointCloud(y, v), p) ** p
    assert abs(exact - mean) < 4 * error
    theta = log["projections"]  # in POT's own directions, they agree up to rounding
    same = radoncdt.sliced_wasserstein(PointCloud(x, u), PointCloud(y, v), p, angles=np.arctan2(theta[1], theta[0]))
    assert_allclose(same**p, mean, rtol=1e-9)


@given(cloud=clouds(), shift=st.tuples(st.floats(-20, 20), st.floats(-20, 20)))
def test_shifts_of_clouds_have_a_closed_form(cloud, shift):
    """The mean of ⟨y, θ⟩² is |y|²/2, and the largest |⟨y, θ⟩| is |y|."""
    moved = radoncdt.push_forward(cloud, np.eye(2), shift)
    size = np.hypot(*shift)
    assert_allclose(radoncdt.sliced_wasserstein(cloud, moved), size / np.sqrt(2), rtol=1e-9, atol=1e-9)
    assert_allclose(radoncdt.sliced_wasserstein(cloud, moved, np.inf), size, rtol=1e-3, atol=1e-9)


def test_shifts_of_images_by_whole_pixels_have_a_closed_form():
    """The strips move by a fraction of a strip, which causes a discretisation error."""
    image = np.zeros((60, 60))
    image[20:35, 10:40] = RNG.random((15, 30))
    moved = np.roll(image, (4, 12), axis=(0, 1))
    assert_allclose(radoncdt.sliced_wasserstein(image, moved), np.hypot(4, 12) / np.sqrt(2), rtol=1e-3)
    expected = np.mean(np.abs(np.hypot(4, 12) * np.cos(np.linspace(0, np.pi, 100_001))))
    assert_allclose(radoncdt.sliced_wasserstein(image, moved, 1), expected, rtol=1e-3)


@given(cloud=clouds(), scale=st.floats(0.2, 5))
def test_dilations_have_a_closed_form(cloud, scale):
    """x ↦ cx moves each quantile of R_θ by (c − 1) times itself, so SW_2² = (c − 1)² ∫ |x|² dμ / 2."""
    moved = radoncdt.push_forward(cloud, scale * np.eye(2))
    second = np.average((cloud.points**2).sum(axis=1), weights=cloud.weights)
    expected = abs(scale - 1) * np.sqrt(second / 2)
    assert_allclose(radoncdt.sliced_wasserstein(cloud, moved), expected, rtol=1e-9, atol=1e-9)


def test_gaussians_have_a_closed_form():
    """W_2² of two Gaussians on the line is (difference of means)² + (difference of standard deviations)²."""
    n = 128
    y, x = (n - 1) / 2 - np.mgrid[:n, :n][0], np.mgrid[:n, :n][1] - (n - 1) / 2
    first = np.exp(-((x / 8) ** 2 + (y / 12) ** 2) / 2)
    second = np.exp(-(((x - 10) / 14) ** 2 + ((y + 5) / 6) ** 2) / 2)
    theta = radoncdt.equispaced_angles(128)
    c, s = np.cos(theta), np.sin(theta)
    spread = np.sqrt((8 * c) ** 2 + (12 * s) ** 2) - np.sqrt((14 * c) ** 2 + (6 * s) ** 2)
    expected = np.sqrt(np.mean((10 * c - 5 * s) ** 2 + spread**2))
    assert_allclose(
        radoncdt.sliced_wasserstein(first, second), expected, rtol=1e-3
    )  # measured: 6e-4, because the frame cuts off tails


def test_sliced_wasserstein_is_the_distance_of_rcdts_up_to_the_levels():
    a, b = np.zeros((2, 40, 40))
    a[5:20, 5:30], b[10:35, 20:30] = 1, 1
    fine = [radoncdt.rcdt(x, n_angles=32, n_levels=4096) for x in (a, b)]
    expected = np.sqrt(np.mean((fine[0] - fine[1]) ** 2))
    assert_allclose(radoncdt.sliced_wasserstein(a, b, n_angles=32), expected, rtol=1e-5)


def test_an_image_is_close_to_the_points_in_its_pixels():
    """Each point of a pixel is at most half a diagonal from its centre, and strips blur by the same amount."""
    image = RNG.random((12, 9))
    i, j = np.indices(image.shape)
    cloud = PointCloud(np.stack([j.ravel() - 4, 5.5 - i.ravel()], axis=1), image.ravel())
    assert radoncdt.sliced_wasserstein(image, cloud) < 0.7
    assert_allclose(radoncdt.sliced_wasserstein(cloud, image), radoncdt.sliced_wasserstein(image, cloud), rtol=1e-12)


@given(measures=st.lists(st.one_of(images(st.just((7, 9))), clouds()), min_size=2, max_size=5))
def test_pairwise_distances_are_those_of_pairs(measures):
    square = radoncdt.sliced_wasserstein_distances(measures, n_angles=8)
    whole = radoncdt.sliced_wasserstein_distances(measures, measures[:2], n_angles=8, n_jobs=1)
    assert square.shape == (len(measures), len(measures))
    assert_allclose(square, square.T, atol=0)
    assert (np.diag(square) == 0).all()
    assert_allclose(whole, square[:, :2], rtol=1e-9, atol=1e-9)
    one = radoncdt.sliced_wasserstein(measures[0], measures[1], n_angles=8)
    assert_allclose(square[0, 1], one, rtol=1e-12)


def test_pairwise_distances_of_a_stack_do_not_depend_on_threads():
    stack = RNG.random((9, 20, 20))
    one, two = (radoncdt.sliced_wasserstein_distances(stack, p=3, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("mu", "error", "message"),
    [
        (np.zeros((3, 3)), ValueError, "`mu` must have mass"),
        (-np.ones((3, 3)), ValueError, "`mu` must not have negative mass"),
        (np.full((3, 3), np.nan), ValueError, "`mu` must be finite"),
        (np.ones((2, 3, 3)), ValueError, "`mu` must be one image .* got 2 measures"),
        ([np.ones((3, 3))], ValueError, "`mu` must be one image"),
        (PointCloud([(0, 0), (1, 1)], [1, -1]), ValueError, "`mu` must not have negative mass"),
        (None, TypeError, "`mu` must hold numbers"),
    ],
)
def test_sliced_wasserstein_refuses_invalid_input(mu, error, message):
    with pytest.raises(error, match=message):
        radoncdt.sliced_wasserstein(mu, np.ones((3, 3)))


def test_pairwise_distances_refuse_invalid_input():
    good = np.ones((2, 3, 3))
    with pytest.raises(ValueError, match=r"`B\[1\]` must have mass"):
        radoncdt.sliced_wasserstein_distances(good, [good[0], np.zeros((3, 3))])
    with pytest.raises(ValueError, match=r"`A` must be an array \(n, H, W\) or a list"):
        radoncdt.sliced_wasserstein_distances(good[0])
    with pytest.raises(ValueError, match="`p` must be at least 1"):
        radoncdt.sliced_wasserstein_distances(good, p=0)
    with pytest.raises(ValueError, match="`n_angles` must be at least 1"):
        radoncdt.sliced_wasserstein_distances(good, n_angles=0)

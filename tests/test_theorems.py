"""The propositions, the lemma and the theorem of the paper, on random measures and maps.

For point clouds, which are exact, the statements hold with equality; for images, up to a discretisation error.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment
from scipy.stats import wasserstein_distance
from strategies import ANGLES, clouds, images, matrices, rotation, shifts

import radoncdt
from radoncdt import PointCloud, push_forward

pytestmark = pytest.mark.usefixtures("each_implementation")

HALF_CIRCLE = st.floats(-np.pi / 2 + 1e-3, np.pi / 2 - 1e-3)


def unit(angles):
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def map_directions(matrix, angles):
    """Return ‖Aᵀθ‖ and the angle of h_A(θ) = Aᵀθ/‖Aᵀθ‖."""
    moved = unit(angles) @ matrix  # rows are Aᵀθ
    return np.linalg.norm(moved, axis=-1), np.arctan2(moved[..., 1], moved[..., 0])


def find_settled(cloud, levels):
    """Find levels that are not within 1e-9 of a cumulative weight, for any order of the points along a direction.

    With n equal weights, the cumulative weights are the multiples of 1/n.
    """
    steps = levels * len(cloud)
    return np.abs(steps - np.round(steps)) > 1e-9 * len(cloud)


# ---------------------------------------------------------------- §2.2: mass, Propositions 1 and 2


@given(st.one_of(images(), images(dtype=np.float32), images(signed=True), clouds()), st.lists(ANGLES, min_size=1))
def test_projections_preserve_the_mass(measure, angles):
    """R_θ[μ](R) = μ(R²)."""
    masses, edges = radoncdt.radon(measure, angles=angles)
    total = np.abs(measure.weights if isinstance(measure, PointCloud) else measure).sum(dtype=float)
    tolerance = 1e-5 if masses.dtype == np.float32 else 1e-12
    assert_allclose(masses.sum(axis=-1, dtype=float), radoncdt.mass(measure), rtol=0, atol=tolerance * total)
    assert (np.diff(edges) > 0).all()


@given(st.one_of(images(), clouds()), st.lists(ANGLES, min_size=2, max_size=9))
def test_proposition_1_the_transform_consists_of_its_restrictions(measure, angles):
    """⟨R[μ], g⟩ is the mean over the directions of ⟨R_θ[μ], g(·, θ)⟩, each computed alone."""
    masses, edges = radoncdt.radon(measure, angles=angles)

    def g(t, theta):
        return np.cos(t / 10) * np.sin(theta)

    together = np.mean([(m * g(e[1:], a)).sum() for m, e, a in zip(masses, edges, angles)])
    alone = []
    for angle in angles:
        (m,), (e,) = radoncdt.radon(measure, angles=[angle])
        alone.append((m * g(e[1:], angle)).sum())
    assert together == np.mean(alone)  # the restrictions are the same, bit for bit


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@given(data=st.data())
def test_proposition_2_back_projection_is_the_adjoint(dtype, tolerance, data):
    image = data.draw(images(dtype=dtype, signed=True))
    angles = data.draw(st.lists(ANGLES, min_size=1, max_size=20))
    masses, edges = radoncdt.radon(image, angles=angles)
    g = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=masses.shape).astype(dtype)
    left = np.vdot(masses.astype(float), g)
    right = np.vdot(image.astype(float), radoncdt.back_projection(g, edges, angles, image.shape))
    scale = np.linalg.norm(masses.astype(float)) * np.linalg.norm(g.astype(float))
    assert abs(left - right) <= tolerance * scale


# ---------------------------------------------------------------- §2.3: Proposition 3 and Table 1


def assert_transformed(cloud, matrix, shift, angles, scales, turned):
    """Check that R_θ[μ_{A,y}] = (s·+⟨y,θ⟩)_# R_η[μ], as quantile functions."""
    levels = radoncdt.quantile_levels(23)
    moved = radoncdt.rcdt(push_forward(cloud, matrix, shift), angles=angles, n_levels=23)
    original = radoncdt.rcdt(cloud, angles=turned, n_levels=23)
    expected = scales[:, None] * original + (unit(angles) @ shift)[:, None]
    keep = find_settled(cloud, levels)
    size = np.abs(cloud.points).max() * np.linalg.norm(matrix) + np.abs(shift).max() + 1
    assert_allclose(moved[:, keep], expected[:, keep], rtol=0, atol=1e-12 * size)


@given(clouds(equal_weights=True), matrices(), shifts(), st.lists(ANGLES, min_size=1, max_size=5).map(np.array))
def test_proposition_3_an_affine_map_shifts_scales_and_turns_projections(cloud, matrix, shift, angles):
    scales, turned = map_directions(matrix, angles)
    assert_transformed(cloud, matrix, shift, angles, scales, turned)


@given(clouds(equal_weights=True), HALF_CIRCLE, st.floats(-3, 3), st.floats(0.2, 3), st.floats(0.2, 3), shifts())
def test_table_1_lists_the_transforms_of_affine_maps(cloud, theta, c, a, b, shift):
    phi = c
    theta, nothing = np.array([theta]), np.zeros(2)
    one, tan = np.ones(1), np.tan(theta)
    cos, sin = np.cos(theta), np.sin(theta)
    reflection = np.array([[np.cos(phi), np.sin(phi)], [np.sin(phi), -np.cos(phi)]])
    rows = [
        (np.eye(2), shift, one, theta),  # translation
        (rotation(phi), nothing, one, theta - phi),
        (reflection, nothing, one, phi - theta),
        (np.diag([a, b]), nothing, np.sqrt(a**2 * cos**2 + b**2 * sin**2), np.arctan(b / a * tan)),
        # vertical shear: the printed right-hand side belongs to the matrix (1 c; 0 1)
        ([[1, c], [0, 1]], nothing, np.sqrt(1 + c**2 * cos**2 + c * np.sin(2 * theta)), np.arctan(c + tan)),
    ]
    for matrix, y, scales, turned in rows:
        assert_transformed(cloud, np.array(matrix), y, theta, scales, turned)


@given(clouds(equal_weights=True), HALF_CIRCLE, st.floats(-3, 3))
def test_table_1_holds_for_a_vertical_shear_after_correction(cloud, theta, c):
    """For the matrix (1 0; c 1) that Table 1 prints, Aᵀθ = (cos ϑ + c sin ϑ, sin ϑ)."""
    theta = np.array([theta])
    cos, sin = np.cos(theta), np.sin(theta)
    scales = np.sqrt(1 + c**2 * sin**2 + c * np.sin(2 * theta))
    assert_transformed(cloud, np.array([[1, 0], [c, 1]]), np.zeros(2), theta, scales, np.arctan2(sin, cos + c * sin))


def test_table_1_vertical_shear_is_wrong_as_printed():
    cloud = PointCloud([(0, 0), (3, 0), (0, 1), (1, 5)])
    theta, c = np.array([0.4]), 0.8
    printed = np.sqrt(1 + c**2 * np.cos(theta) ** 2 + c * np.sin(2 * theta)), np.arctan(c + np.tan(theta))
    with pytest.raises(AssertionError):
        assert_transformed(cloud, np.array([[1, 0], [c, 1]]), np.zeros(2), theta, *printed)


OFF_DIAGONALS = ANGLES.filter(lambda angle: abs(abs(np.cos(angle)) - abs(np.sin(angle))) > 1e-9)


@given(
    images(),
    st.sampled_from([np.eye(2), -np.eye(2), rotation(np.pi / 2), np.diag([1.0, -1.0])]),
    st.lists(OFF_DIAGONALS, min_size=1, max_size=8),
)
def test_proposition_3_holds_for_images_under_maps_of_the_pixel_grid(image, matrix, angles):
    """Quarter turns and reflections map pixels to pixels, so the statement is exact where quantiles are unique.

    Quantiles are unique if all pixels are positive. The diagonals are left out: there, strips may follow rows or
    columns, and a map that swaps the two swaps the strips.
    """
    image, matrix = image + image.max() / 10, np.round(matrix)
    moved = push_forward(image, matrix, shape=image.shape[::-1] if matrix[0, 0] == 0 else image.shape)
    scales, turned = map_directions(matrix, np.array(angles))
    assert_allclose(scales, 1, rtol=1e-14)
    new, old = radoncdt.nrcdt(moved, angles=angles, n_levels=8), radoncdt.nrcdt(image, angles=turned, n_levels=8)
    assert_allclose(new, old, rtol=0, atol=1e-9)


# ---------------------------------------------------------------- §3.1: the CDT


@given(clouds(), clouds())
def test_cdt_is_the_optimal_map_for_the_distance_as_cost(mu, nu):
    """∫ |μ̂ − ν̂| dρ is the Wasserstein-1 distance, which SciPy computes independently."""
    breaks = []
    for cloud in (mu, nu):
        order = np.argsort(cloud.points[:, 0])
        cumulated = np.cumsum(cloud.weights[order])
        breaks.append(cumulated / cumulated[-1])
    ends = np.unique(np.concatenate([[0], *breaks]))
    middles, lengths = (ends[1:] + ends[:-1]) / 2, np.diff(ends)
    maps = [radoncdt.cdt(samples=m.points[:, 0], weights=m.weights, points=middles) for m in (mu, nu)]
    expected = wasserstein_distance(mu.points[:, 0], nu.points[:, 0], mu.weights, nu.weights)
    assert_allclose((np.abs(maps[0] - maps[1]) * lengths).sum(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("power", [1, 1.5, 2, 4])
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12))
def test_cdt_is_the_optimal_map_for_every_convex_cost(power, seed, n):
    """Among all assignments of equal atoms, none is cheaper than that of the CDTs."""
    x, y = np.random.default_rng(seed).normal(size=(2, n))
    middles = (np.arange(n) + 0.5) / n
    cost = (np.abs(radoncdt.cdt(samples=x, points=middles) - radoncdt.cdt(samples=y, points=middles)) ** power).sum()
    table = np.abs(x[:, None] - y) ** power
    assert_allclose(cost, table[linear_sum_assignment(table)].sum(), rtol=1e-10)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), n_reference=st.integers(1, 9))
def test_cdt_transports_the_reference_to_the_measure(seed, n, n_reference):
    """μ̂_# ρ = μ: the push-forward of ρ and μ have the same cumulative function."""
    rng = np.random.default_rng(seed)
    mass, edges = rng.random(n), np.cumsum(rng.random(n + 1))
    rho = rng.random(n_reference), np.cumsum(rng.random(n_reference + 1))
    points = radoncdt.cdt(*rho, points=(np.arange(1000) + 0.5) / 1000)  # equal shares of ρ
    moved = radoncdt.cdt(mass, edges, reference=rho, points=points)
    cumulated = np.interp(moved, edges, np.concatenate([[0], np.cumsum(mass)]) / mass.sum())
    assert_allclose(cumulated, (np.arange(1000) + 0.5) / 1000, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- §3.2: the NR-CDT


@given(st.one_of(images(), clouds()), ANGLES, st.floats(-0.1, 0.1))
def test_lemma_mean_and_std_are_continuous_in_the_direction(measure, angle, step):
    """Both are Lipschitz: |mean_θ − mean_η| ≤ ‖m‖ ‖θ − η‖ and |std_θ − std_η| ≤ √λ_max ‖θ − η‖."""
    mean, covariance = radoncdt.mean(measure), radoncdt.covariance(measure)
    angles = np.array([angle, angle + step])
    rcdt, nrcdt = (f(measure, angles=angles, n_levels=64) for f in (radoncdt.rcdt, radoncdt.nrcdt))
    # R̂_θ = std_θ N_θ + mean_θ: both follow from any two levels with different values
    std = (rcdt[:, -1] - rcdt[:, 0]) / (nrcdt[:, -1] - nrcdt[:, 0])
    means = rcdt[:, 0] - std * nrcdt[:, 0]
    assert_allclose(std, np.sqrt(np.einsum("ni,ij,nj->n", unit(angles), covariance, unit(angles))), rtol=1e-9)
    assert_allclose(means, unit(angles) @ mean, rtol=0, atol=1e-9 * (1 + np.abs(rcdt).max()))
    apart = np.linalg.norm(np.diff(unit(angles), axis=0))
    slack = 1e-9 * (1 + np.abs(rcdt).max())
    assert abs(np.diff(means)[0]) <= np.linalg.norm(mean) * apart + slack
    assert abs(np.diff(std)[0]) <= np.sqrt(np.linalg.eigvalsh(covariance)[1]) * apart + slack


@given(st.one_of(images(), images(dtype=np.float32), clouds()))
def test_proposition_4_the_std_is_bounded_from_below(measure):
    smallest, largest = np.linalg.eigvalsh(radoncdt.covariance(measure))
    floor = np.sqrt(smallest)
    assert floor > 0
    if not isinstance(measure, PointCloud):
        assert floor >= np.sqrt(1 / 12) * (1 - 1e-9 * largest)  # because a pixel has an extent
    rcdt = radoncdt.rcdt(measure, n_angles=16, n_levels=400)
    # levels at the middles of equal shares of mass: their variance is that of the measure, up to that inside a share
    assert (rcdt.std(axis=-1) >= 0.8 * floor).all()


@given(clouds(equal_weights=True), matrices(), shifts(), st.lists(ANGLES, min_size=1, max_size=8).map(np.array))
def test_proposition_5_an_affine_map_only_turns_the_nrcdt(cloud, matrix, shift, angles):
    """N_θ[μ_{A,y}] = N_{h_A(θ)}[μ] up to 1e-9, for cond(A) ≤ 100."""
    assume(np.abs(shift).max() <= 1e3 * np.linalg.norm(matrix, -2) * np.ptp(cloud.points, axis=0).min())
    _, turned = map_directions(matrix, angles)
    keep = find_settled(cloud, radoncdt.quantile_levels(23))
    moved = radoncdt.nrcdt(push_forward(cloud, matrix, shift), angles=angles, n_levels=23)
    assert_allclose(moved[:, keep], radoncdt.nrcdt(cloud, angles=turned, n_levels=23)[:, keep], rtol=0, atol=1e-9)


# ---------------------------------------------------------------- §3.3: the mNR-CDT


@given(st.one_of(images(), clouds()))
def test_the_mnrcdt_is_bounded(measure):
    """|sup_θ N_θ(t)| ≤ diam(μ)/c."""
    if isinstance(measure, PointCloud):
        diameter = np.linalg.norm(np.ptp(measure.points, axis=0))
    else:
        rows, columns = (np.flatnonzero(measure.any(axis=axis)) for axis in (1, 0))
        diameter = np.hypot(np.ptp(rows) + 1, np.ptp(columns) + 1)
    floor = np.sqrt(np.linalg.eigvalsh(radoncdt.covariance(measure))[0])
    assert np.abs(radoncdt.max_nrcdt(measure, n_angles=16)).max() <= diameter / floor * (1 + 1e-9)


def whitened(cloud, n_angles):
    """Return the radius of the whitened cloud, and the widest gap between its whitened directions on the circle."""
    root = np.linalg.cholesky(radoncdt.covariance(cloud))
    radius = np.linalg.norm(np.linalg.solve(root, (cloud.points - radoncdt.mean(cloud)).T), axis=0).max()
    eta = unit(radoncdt.equispaced_angles(2 * n_angles) * 2) @ root
    angles = np.sort(np.arctan2(eta[:, 1], eta[:, 0]))
    return radius, np.diff(angles, append=angles[0] + 2 * np.pi).max()


@pytest.mark.parametrize("n_angles", [16, 128])
@given(cloud=clouds(equal_weights=True), matrix=matrices(condition=10), shift=shifts())
def test_proposition_6_the_mnrcdt_is_affine_invariant(n_angles, cloud, matrix, shift):
    """With finitely many directions, the error is at most radius · gap/2 of the whitened measure.

    The radius is the Lipschitz constant of N with respect to the direction. Both discrete maxima lie below the supremum
    by at most this bound, so they differ by at most the larger bound.
    """
    moved = push_forward(cloud, matrix, shift)
    keep = find_settled(cloud, radoncdt.quantile_levels(23))
    features = [radoncdt.max_nrcdt(m, n_angles=n_angles, n_levels=23)[keep] for m in (cloud, moved)]
    bounds = [radius * 2 * np.sin(gap / 4) for radius, gap in (whitened(cloud, n_angles), whitened(moved, n_angles))]
    assert np.abs(features[0] - features[1]).max() <= max(bounds) + 1e-9


@pytest.mark.parametrize("pool", ["max", "min", "range", "max_abs", "range_abs"])
def test_more_angles_make_the_pools_more_invariant(pool):
    rng = np.random.default_rng(3)
    cloud = PointCloud(rng.normal(size=(41, 2)) * [3, 1])
    moved = push_forward(cloud, [[1, 0.7], [-0.4, 2]])

    def error(n_angles):
        features = (radoncdt.pooled_nrcdt(m, pool=pool, n_angles=n_angles, n_levels=23) for m in (cloud, moved))
        return np.abs(np.subtract(*features)).max()

    errors = [error(n) for n in (4, 32, 256, 2048)]
    assert errors[1] < errors[0]
    assert errors[3] < 0.02
    assert errors[3] < errors[1] / 8


@given(st.integers(0, 10**6))
def test_theorem_1_affine_classes_are_linearly_separable(seed):
    """A hyperplane halfway between the features of two templates has all affine copies of either on its side."""
    rng = np.random.default_rng(seed)
    ring = unit(np.linspace(0, 2 * np.pi, 60, endpoint=False))
    triangle = np.concatenate([np.linspace(a, b, 20, endpoint=False) for a, b in ((0, 1), (1, 1j), (1j, 0))])
    templates = PointCloud(ring), PointCloud(np.stack([triangle.real, triangle.imag], axis=1))
    options = {"n_angles": 64, "n_levels": 32}
    f, g = (radoncdt.max_nrcdt(template, **options) for template in templates)
    normal, offset = f - g, (f @ f - g @ g) / 2
    for template, side in zip(templates, (1, -1)):
        for _ in range(5):
            matrix = rotation(rng.uniform(0, 7)) @ np.diag(rng.uniform(0.2, 1, 2)) @ rotation(rng.uniform(0, 7))
            matrix[:, 0] *= rng.choice([-1, 1])
            copy = push_forward(template, matrix, rng.normal(size=2) * 10)
            assert side * (normal @ radoncdt.max_nrcdt(copy, **options) - offset) > 0

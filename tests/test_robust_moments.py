"""Robust normalisation: its definition, its affine invariance, and its robustness to specks."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import clouds, images, matrices, rotation, shifts

import radoncdt
from radoncdt import PointCloud, _kernels, datasets, push_forward

pytestmark = pytest.mark.usefixtures("each_implementation")

NU = 3.0


def robust_moments(points, weights, nu=NU, extent=0.0):
    """Compute location and scatter of points with the kernel."""
    shares = weights / weights.sum()
    mean = shares @ points
    cov = (points - mean).T @ (shares[:, None] * (points - mean)) + extent * np.eye(2)
    start = np.array([*mean, cov[0, 0], cov[0, 1], cov[1, 1]])
    moments, settled = _kernels.current().student_moments(np.vstack([points.T, shares]), nu, extent, start)
    return moments[:2], moments[[2, 3, 3, 4]].reshape(2, 2), settled


def slow_moments(points, weights, nu=NU, extent=0.0, steps=20_000):
    """Compute the fixed point of the likelihood equations in many small steps; the scatter is divided by the mass."""
    shares = weights / weights.sum()
    mean = shares @ points
    cov = np.cov(points.T, aweights=shares, ddof=0) + extent * np.eye(2)
    for _ in range(steps):
        inverse = np.linalg.inv(cov)
        away = points - mean
        distances = np.einsum("ni,ij,nj->n", away, inverse, away) + extent * np.trace(inverse)
        weight = shares * (nu + 2) / (nu + distances)
        mean = weight @ points / weight.sum()
        away = points - mean
        new = away.T @ (weight[:, None] * away) + extent * weight.sum() * np.eye(2)
        if np.abs(np.linalg.solve(cov, new) - np.eye(2)).max() < 1e-13:
            break
        cov = new
    return mean, new


def is_spread_out(cloud):
    """Check that the mass is not close to a line or a point, where the maximum does not exist."""
    return len(cloud) >= 8 and cloud.weights.max() < 0.3 * cloud.weights.sum()


@given(clouds(least=8), st.sampled_from([1.0, 3.0, 20.0]))
def test_moments_maximise_the_likelihood(cloud, nu):
    assume(is_spread_out(cloud))
    mean, cov, settled = robust_moments(cloud.points, cloud.weights, nu)
    assert settled
    slow_mean, slow_cov = slow_moments(cloud.points, cloud.weights, nu)
    scale = np.sqrt(np.trace(cov))
    np.testing.assert_allclose(mean, slow_mean, atol=1e-8 * scale)
    np.testing.assert_allclose(cov, slow_cov, atol=1e-8 * scale**2)


@given(clouds(least=8), matrices(condition=20), shifts())
def test_moments_are_affine_equivariant(cloud, matrix, shift):
    assume(is_spread_out(cloud))
    mean, cov, _ = robust_moments(cloud.points, cloud.weights)
    moved_mean, moved_cov, _ = robust_moments(cloud.points @ matrix.T + shift, cloud.weights)
    back = np.linalg.inv(matrix)
    scale = np.sqrt(np.trace(cov))
    np.testing.assert_allclose((moved_mean - shift) @ back.T, mean, atol=1e-8 * scale)
    np.testing.assert_allclose(back @ moved_cov @ back.T, cov, atol=1e-8 * scale**2)


def test_many_degrees_of_freedom_yield_mean_and_covariance():
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(30, 2)) * [3, 1], rng.random(30) + 0.1
    mean, cov, _ = robust_moments(points, weights, nu=1e9)
    cloud = PointCloud(points, weights)
    np.testing.assert_allclose(mean, radoncdt.mean(cloud), atol=1e-6)
    np.testing.assert_allclose(cov, radoncdt.covariance(cloud), atol=1e-6)


@given(images(shapes=st.tuples(st.integers(4, 20), st.integers(4, 20))))
def test_images_are_points_with_an_extent(image):
    """N at a direction is (quantile − ⟨m, θ⟩)/√(θᵀΣθ) with robust m and Σ."""
    rows, columns = np.nonzero(image)
    height, width = image.shape
    points = np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=-1)
    mean, cov = slow_moments(points, image[rows, columns].astype(float), extent=1 / 12)
    angles = np.array([0.3, 1.1, 2.9])
    theta = np.stack([np.cos(angles), np.sin(angles)])
    expected = radoncdt.rcdt(image, angles=angles, n_levels=8) - (mean @ theta)[:, None]
    expected /= np.sqrt(np.einsum("id,ij,jd->d", theta, cov, theta))[:, None]
    np.testing.assert_allclose(radoncdt.nrcdt(image, angles=angles, n_levels=8, moments="robust"), expected, atol=1e-6)


@given(clouds(least=8), matrices(condition=20), shifts(), st.integers(0, 23))
def test_affine_maps_turn_the_robust_circle(cloud, matrix, shift, steps):
    assume(is_spread_out(cloud))
    angles = 2 * np.pi * np.arange(24) / 24
    _, cov, _ = robust_moments(cloud.points, cloud.weights)

    def root(covariance, power):
        values, vectors = np.linalg.eigh(covariance)
        return vectors @ np.diag(values**power) @ vectors.T

    map_ = root(matrix @ matrix.T, 0.5) @ rotation(steps * np.pi / 12) @ root(cov, -0.5)
    before, after = (
        radoncdt.nrcdt(measure, angles=angles, n_levels=16, directions="whitened", moments="robust")
        for measure in (cloud, push_forward(cloud, map_, shift))
    )
    np.testing.assert_allclose(after, np.roll(before, steps, axis=0), atol=1e-6)


def test_specks_hardly_change_robust_features():
    drawings = np.stack(list(datasets.templates(canvas=256).values()))
    salted = datasets.salt(drawings, 0)

    def change(moments, trim):
        options = {"directions": "whitened", "n_angles": 32, "moments": moments, "trim": trim}
        clean, dirty = (radoncdt.max_nrcdt(some, **options) for some in (drawings, salted))
        return np.sqrt(np.mean((clean - dirty) ** 2))

    assert change("robust", 1 / 16) < change("exact", 0) / 4
    assert change("robust", 1 / 16) < change("exact", 1 / 16) / 2


def test_trim_removes_the_outer_levels():
    image = np.random.default_rng(0).random((20, 20))
    every, some = (radoncdt.nrcdt(image, n_angles=4, n_levels=32, trim=trim) for trim in (0.0, 1 / 16))
    np.testing.assert_array_equal(some, every[:, 2:-2])
    for pool in ("max", "mean"):
        every, some = (radoncdt.pooled_nrcdt(image, pool=pool, n_levels=32, trim=trim) for trim in (0.0, 1 / 16))
        np.testing.assert_array_equal(some, every[2:-2])
    model = radoncdt.NormalizedRadonCDT(8, 32, trim=0.25).fit(image[None])
    assert model.levels_.size == model.transform(image[None]).shape[1] == len(model.get_feature_names_out()) == 16


def test_robust_features_do_not_depend_on_the_batch_or_the_frame():
    stack = np.random.default_rng(0).random((5, 20, 30))
    options = {"n_angles": 8, "moments": "robust", "directions": "whitened"}
    expected = radoncdt.nrcdt(stack, n_jobs=1, **options)
    np.testing.assert_array_equal(radoncdt.nrcdt(np.pad(stack[3], 4), **options), expected[3])


def test_a_cloud_that_is_mostly_a_line_causes_a_warning():
    rng = np.random.default_rng(0)
    points = np.concatenate([np.stack([rng.normal(size=60), np.zeros(60)], axis=-1), rng.normal(size=(3, 2))])
    with pytest.warns(
        UserWarning, match=r"robust moments of `images`, .* did not converge: most of the mass is on one line"
    ):
        radoncdt.nrcdt(PointCloud(points), moments="robust")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image = np.zeros((40, 40))
        image[20, 5:35] = 1  # pixels have an extent
        assert np.isfinite(radoncdt.nrcdt(image, moments="robust")).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"moments": "robust", "nu": 0}, "`nu` must be a positive number, got 0"),
        ({"trim": 0.5}, "`trim` must be a number from 0 to below 0.5, got 0.5"),
        ({"trim": -0.1}, "`trim` must be a number from 0 to below 0.5, got -0.1"),
        ({"trim": 0.4, "n_levels": 4}, "`trim` must leave at least two levels, got 0.4, which leaves 0 of 4"),
    ],
)
def test_invalid_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        radoncdt.nrcdt(np.ones((3, 4)), **options)
    with pytest.raises(ValueError, match=message):
        radoncdt.NormalizedRadonCDT(**options).fit(np.ones((2, 3, 4)))

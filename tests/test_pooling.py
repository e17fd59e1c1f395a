"""Pools of the NR-CDT: slow references, invariance, components and directions."""

import inspect
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import clouds, images, matrices, rotation, shifts

import radoncdt
from radoncdt import PointCloud, _threads, datasets, push_forward
from radoncdt._numpy import method
from radoncdt._pooling import POOLS, SAMPLED_POOLS, WHITENED_POOLS

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)
DRAWING = np.zeros((60, 45))
DRAWING[10:50, 20:22] = DRAWING[30:32, 5:40] = DRAWING[3, 7] = 1
N_ANGLES = 12
CIRCLE = 2 * np.pi * np.arange(2 * N_ANGLES) / (2 * N_ANGLES)


def whitened(measure):
    return radoncdt.nrcdt(measure, angles=CIRCLE, n_levels=16, directions="whitened")


@pytest.mark.parametrize("pool", POOLS)
@given(measure=st.one_of(images(), clouds()), n_angles=st.integers(1, 7), n_levels=st.integers(2, 9))
def test_pools_cover_the_full_circle(pool, measure, n_angles, n_levels):
    half = radoncdt.nrcdt(measure, n_angles=n_angles, n_levels=n_levels)
    options = {"n_angles": n_angles, "n_levels": n_levels, "directions": "equispaced"}
    pooled = radoncdt.pooled_nrcdt(measure, pool=pool, **options)
    assert_allclose(pooled, method.pool(half, pool), rtol=0, atol=1e-12 * (1 + np.abs(half).max()) * n_angles)


@pytest.mark.parametrize("pool", POOLS)
def test_pools_cover_the_full_circle_with_the_moments_of_the_levels(pool):
    half = radoncdt.nrcdt(DRAWING, n_angles=9, moments="levels")
    pooled = radoncdt.pooled_nrcdt(DRAWING, pool=pool, n_angles=9, moments="levels")
    assert_allclose(pooled, method.pool(half, pool), atol=1e-10)


@pytest.mark.parametrize("pool", POOLS)
def test_pools_ignore_the_order_of_the_angles_and_which_of_two_opposites_is_given(pool):
    angles = radoncdt.equispaced_angles(12)
    other = RNG.permutation(angles + np.pi * RNG.integers(-2, 3, 12))
    a, b = (radoncdt.pooled_nrcdt(DRAWING + 1e-3, pool=pool, angles=x) for x in (angles, other))
    assert_allclose(a, b, rtol=0, atol=1e-9)


@pytest.mark.parametrize("pool", POOLS)
def test_pools_of_clouds_are_right_where_levels_meet_cumulative_weights(pool):
    """There −N_θ(1 − t) is not N_{−θ}(t). With 128 equal weights and 64 levels, this is the case everywhere."""
    cloud = PointCloud(RNG.normal(size=(128, 2)))
    angles = radoncdt.equispaced_angles(16)
    options = {"pool": pool, "n_angles": 16, "directions": "equispaced"}
    opposite = radoncdt.push_forward(cloud, -np.eye(2))
    pooled = radoncdt.pooled_nrcdt(cloud, **options)
    around = np.concatenate([radoncdt.nrcdt(cloud, angles=angles), radoncdt.nrcdt(opposite, angles=angles)])
    assert_allclose(pooled, POOLS[pool](around), atol=1e-12)
    assert_allclose(radoncdt.pooled_nrcdt(opposite, **options), pooled, atol=1e-12)


def test_max_nrcdt_and_mean_nrcdt_are_pools():
    assert_array_equal(radoncdt.max_nrcdt(DRAWING), radoncdt.pooled_nrcdt(DRAWING))
    assert_array_equal(
        radoncdt.mean_nrcdt(DRAWING, n_angles=5), radoncdt.pooled_nrcdt(DRAWING, pool="mean", n_angles=5)
    )


@pytest.mark.parametrize("n_angles", [1, 2, 3, 5])
@pytest.mark.parametrize("pool", POOLS)
def test_more_threads_than_directions_change_nothing(pool, n_angles, monkeypatch):
    monkeypatch.setattr(_threads, "count_workers", lambda n_jobs, work: n_jobs)
    options = {"pool": pool, "n_angles": n_angles, "n_levels": 8}
    expected = radoncdt.pooled_nrcdt(DRAWING, n_jobs=1, **options)
    assert_array_equal(radoncdt.pooled_nrcdt(DRAWING, n_jobs=4, **options), expected)


@given(clouds(least=4), matrices(condition=20), shifts(), st.integers(0, 2 * N_ANGLES - 1), st.booleans())
def test_all_pools_are_invariant_under_maps_by_whole_steps(cloud, matrix, shift, steps, mirrored):
    turn = rotation(steps * np.pi / N_ANGLES) @ np.diag([1, -1 if mirrored else 1])
    positive = reference.root(matrix @ matrix.T, 0.5)
    moved = push_forward(cloud, positive @ turn @ reference.root(radoncdt.covariance(cloud), -0.5), shift)
    for pool in (*POOLS, *WHITENED_POOLS):
        options = {"pool": pool, "n_angles": N_ANGLES, "n_levels": 16, "directions": "whitened"}
        features = [radoncdt.pooled_nrcdt(measure, **options) for measure in (cloud, moved)]
        np.testing.assert_allclose(*features, atol=1e-5, err_msg=pool)


def spread(features):
    """Compute the root mean square difference of two different rows."""
    different = ~np.eye(len(features), dtype=bool)
    return np.sqrt(np.mean((features[:, None] - features)[different] ** 2))


@pytest.mark.parametrize("pool", ["mean", "median", "sorted", "fourier"])
def test_pools_of_images_are_invariant_with_whitened_directions(pool):
    drawings = np.stack(list(datasets.templates(canvas=256).values()))
    maps = datasets.AffineDistribution(scale=(0.6, 1.3), isotropic=False, mirror=True, rotation=180, shear=30)
    copies, _ = datasets.random_affine(drawings, maps, 0)

    def error(directions):
        options = {"pool": pool, "n_angles": 64, "directions": directions}
        still, moved = (radoncdt.pooled_nrcdt(some, **options) for some in (drawings, copies))
        return np.sqrt(np.mean((moved - still) ** 2)) / spread(still)

    assert error("whitened") < 0.06
    if pool in POOLS:
        assert error("equispaced") > 3 * error("whitened")


@pytest.mark.parametrize("n_angles", [1, 5, 8])
def test_magnitudes_have_the_norm_of_the_values(n_angles):
    image = np.random.default_rng(0).random((12, 15))
    options = {"n_angles": n_angles, "n_levels": 7, "directions": "whitened"}
    half = radoncdt.nrcdt(image, **options)
    spectrum = radoncdt.pooled_nrcdt(image, pool="fourier", n_components=n_angles + 1, **options)
    assert spectrum.shape == ((n_angles + 1) * 7,)
    np.testing.assert_allclose((spectrum**2).sum(), 2 * (half**2).sum())
    values = radoncdt.pooled_nrcdt(image, pool="sorted", n_components=2 * n_angles, **options).reshape(-1, 7)
    assert values.shape == (2 * n_angles, 7)
    np.testing.assert_allclose(values, np.sort(np.concatenate([half, -half[:, ::-1]]), axis=0))


@given(clouds(least=4), clouds(least=4), st.integers(0, 2 * N_ANGLES - 1))
def test_distances_of_the_pools_are_lower_bounds(one, other, steps):
    """They bound the distance of the whitened NR-CDTs at any shift along the circle."""
    options = {"n_angles": N_ANGLES, "n_levels": 16, "directions": "whitened"}
    distance = np.linalg.norm(whitened(one) - np.roll(whitened(other), steps, axis=0))
    for pool, every in (("sorted", 2 * N_ANGLES), ("fourier", N_ANGLES + 1)):
        options |= {"pool": pool, "n_components": every}
        features = [radoncdt.pooled_nrcdt(measure, **options) for measure in (one, other)]
        assert np.linalg.norm(features[0] - features[1]) <= distance + 1e-9


def test_components_are_the_lowest_frequencies_and_spaced_order_statistics():
    image = np.random.default_rng(0).random((12, 15))
    options = {"n_angles": 6, "n_levels": 5, "directions": "whitened"}
    every = {
        pool: radoncdt.pooled_nrcdt(image, pool=pool, n_components=count, **options).reshape(-1, 5)
        for pool, count in (("sorted", 12), ("fourier", 7))
    }
    some = radoncdt.pooled_nrcdt(image, pool="fourier", n_components=3, **options)
    np.testing.assert_array_equal(some, every["fourier"][:3].ravel())
    some = radoncdt.pooled_nrcdt(image, pool="sorted", n_components=3, **options).reshape(3, 5)
    np.testing.assert_array_equal(some[[0, 2]], every["sorted"][[0, 11]])


def test_pools_do_not_depend_on_the_batch_the_frame_or_threads():
    rng = np.random.default_rng(0)
    stack = rng.random((6, 20, 30))
    for pool in ("max", "sorted"):
        options = {"pool": pool, "n_angles": 16, "directions": "whitened"}
        expected = radoncdt.pooled_nrcdt(stack, n_jobs=1, **options)
        np.testing.assert_array_equal(radoncdt.pooled_nrcdt(list(stack), n_jobs=1, **options), expected)
        np.testing.assert_array_equal(radoncdt.pooled_nrcdt(np.pad(stack[2], 5), **options), expected[2])
        large = rng.random((500, 700))
        one, two = (radoncdt.pooled_nrcdt(large, n_jobs=n, **(options | {"n_angles": 256})) for n in (1, 2))
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"directions": "random"}, "`directions` must be one of 'auto', 'equispaced', 'whitened', got 'random'"),
        (
            {"directions": "whitened", "moments": "levels"},
            "`moments` must be 'exact' or 'robust' with whitened directions",
        ),
        (
            {"pool": "sorted", "directions": "equispaced"},
            "`directions` must be 'whitened' for the pool 'sorted', got 'equispaced'$",
        ),
        (
            {"pool": "sorted", "angles": [0, 1, 2]},
            "`directions` must be 'whitened' for the pool 'sorted', got 'auto', which is equispaced with `angles`",
        ),
        (
            {"pool": "fourier", "moments": "levels"},
            "`directions` must be 'whitened' for the pool 'fourier', got 'auto', which is equispaced with",
        ),
        (
            {"pool": "max", "n_components": 3},
            "`n_components` applies only to the pools sorted and fourier, got the pool 'max'",
        ),
        ({"pool": "fourier", "directions": "whitened", "n_components": 0}, "`n_components` must be at least 1, got 0"),
        (
            {"pool": "fourier", "directions": "whitened", "n_components": 10, "n_angles": 8},
            "`n_components` must be at most 9 for 8 angles, got 10",
        ),
    ],
)
def test_incompatible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        radoncdt.pooled_nrcdt(np.ones((3, 4)), **options)
    if options.get("pool") != "max":
        with pytest.raises(ValueError, match=message):
            radoncdt.NormalizedRadonCDT(**options).fit_transform(np.ones((2, 3, 4)))


@pytest.mark.parametrize(("pool", "count"), [("sorted", 4), ("fourier", 3), ("fourier", None)])
def test_estimators_name_the_components(pool, count):
    model = radoncdt.NormalizedRadonCDT(6, 5, pool, n_components=count, directions="whitened")
    features = model.fit_transform(np.random.default_rng(0).random((3, 9, 9)))
    names = model.get_feature_names_out()
    assert len(names) == features.shape[1] == (count or 7) * 5
    assert names[0].startswith(f"{pool}0_level0")
    assert names[-1].startswith(f"{pool}{(count or 7) - 1}_level4")


AUTO = {
    None: "equispaced",
    "mean": "equispaced",
    "median": "equispaced",
    **dict.fromkeys(("max", "min", "range", "max_abs", "min_abs", "range_abs", "total_variation"), "whitened"),
    **dict.fromkeys(WHITENED_POOLS, "whitened"),
}
"""The directions that "auto" selects for each pool, as in docs/explanation/method.md. None is the NR-CDT."""


def test_the_table_has_every_pool():
    assert set(AUTO) == {None, *POOLS, *WHITENED_POOLS}
    text = (Path(__file__).parents[1] / "docs/explanation/method.md").read_text(encoding="utf-8")
    section = text.split("## Which directions")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    documented = {name: directions.strip() for names, directions in rows for name in re.findall(r"`(\w+)`", names)}
    assert documented == {"nrcdt" if pool is None else pool: directions for pool, directions in AUTO.items()}


@pytest.mark.parametrize("pool", [*POOLS, *WHITENED_POOLS])
def test_every_pool_is_documented(pool):
    howto = (Path(__file__).parents[1] / "docs/howto/choose-features.md").read_text(encoding="utf-8")
    assert f"`{pool}`" in howto.split("## Choose a pool")[1].split("\n## ")[0]
    for documented in (radoncdt.pooled_nrcdt, radoncdt.NormalizedRadonCDT):
        parameters = " ".join(inspect.getdoc(documented).split())
        assert f'"{pool}"' in parameters
        if pool in SAMPLED_POOLS:
            assert f"the {pool}" in parameters.split("equispaced directions")[1]


def list_functions(pool):
    """List the functions that compute a pool or, for None, the NR-CDT."""
    if pool is None:
        return [radoncdt.nrcdt]
    short = {"max": [radoncdt.max_nrcdt], "mean": [radoncdt.mean_nrcdt]}.get(pool, [])
    return [partial(radoncdt.pooled_nrcdt, pool=pool), *short]


@pytest.mark.parametrize("pool", AUTO)
@pytest.mark.parametrize(
    "given", [{}, {"angles": [0.1, 1.0, 2.5]}, {"moments": "levels"}, {"moments": "robust", "trim": 0.1}]
)
def test_functions_and_estimators_use_the_directions_of_the_table(pool, given):
    images = np.random.default_rng(0).random((3, 9, 12))
    options = {"n_levels": 12, **({} if "angles" in given else {"n_angles": 9}), **given}
    asked = "angles" in given or given.get("moments") == "levels"
    if asked and pool in WHITENED_POOLS:
        return  # refused, see below
    expected = "equispaced" if asked else AUTO[pool]
    model = radoncdt.NormalizedRadonCDT(pool=pool, **options)
    features = model.fit_transform(images)
    assert model.directions_ == expected
    for function in list_functions(pool):
        values = function(images, directions=expected, **options)
        np.testing.assert_array_equal(function(images, **options), values)
        np.testing.assert_array_equal(features, values.reshape(3, -1))
    if pool is None and not asked:
        assert np.abs(values - radoncdt.nrcdt(images, directions="whitened", **options)).max() > 0.01


def test_sorted_and_fourier_have_eight_components_by_default():
    image = np.random.default_rng(0).random((1, 9, 9))
    for pool in WHITENED_POOLS:
        eight = radoncdt.pooled_nrcdt(image, pool=pool)
        assert eight.shape == (1, 8 * 64)
        np.testing.assert_array_equal(radoncdt.pooled_nrcdt(image, pool=pool, n_components=8), eight)
        np.testing.assert_array_equal(radoncdt.NormalizedRadonCDT(pool=pool).fit_transform(image), eight)
    assert radoncdt.pooled_nrcdt(image, pool="sorted", n_angles=2, n_levels=5).shape == (1, 4 * 5)
    assert radoncdt.pooled_nrcdt(image, pool="fourier", n_angles=2, n_levels=5).shape == (1, 3 * 5)

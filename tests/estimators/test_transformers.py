"""Transformers: scikit-learn's conventions, by its own checks on tables and by ours on images; invalid input."""

import pickle

import numpy as np
import pandas
import polars
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rows import OfRows, list_checks
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import radoncdt
from radoncdt import NormalizedRadonCDT, PointCloud, RadonCDT

RNG = np.random.default_rng(0)
STACK = RNG.random((12, 14, 10)) * (RNG.random((12, 14, 10)) < 0.6)
MIXED = [STACK[0], PointCloud(RNG.normal(size=(20, 2))), STACK[1][:9], PointCloud(RNG.normal(size=(5, 2)) * 3)]
ESTIMATORS = [
    RadonCDT(8, 10),
    RadonCDT(angles=[0.1, 1.0, 2.0], n_levels=6, level_grid="uniform"),
    NormalizedRadonCDT(8, 10),
    NormalizedRadonCDT(8, 10, pool="mean", directions="equispaced", moments="levels"),
    NormalizedRadonCDT(8, 10, pool=None, n_jobs=2),
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


# ---------------------------------------------------------------- the checks of scikit-learn


class RadonCDTOfRows(OfRows, RadonCDT):
    pass


class NormalizedRadonCDTOfRows(OfRows, NormalizedRadonCDT):
    pass


@pytest.mark.parametrize(
    ("estimator", "check"),
    [*list_checks(RadonCDTOfRows(4, 5), NormalizedRadonCDTOfRows(4, 5), NormalizedRadonCDTOfRows(4, 5, None))],
)
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@each
@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_checks_of_scikit_learn_pass_for_image_input(estimator):
    for instance, check in estimator_checks_generator(estimator):
        check(instance)


@each
def test_tags_describe_the_input(estimator):
    tags = estimator.__sklearn_tags__()
    assert tags.input_tags.three_d_array
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.positive_only
    assert not tags.input_tags.allow_nan
    assert not tags.target_tags.required
    assert estimator.fit_transform(STACK).dtype in tags.transformer_tags.preserves_dtype
    table = clone(estimator).set_params(image_shape=(14, 10)).__sklearn_tags__()
    assert table.input_tags.two_d_array
    assert not table.input_tags.three_d_array


# ---------------------------------------------------------------- the same on images


def test_features_are_those_of_the_functions():
    assert_array_equal(
        RadonCDT(8, 10).fit_transform(STACK), radoncdt.rcdt(STACK, n_angles=8, n_levels=10).reshape(12, -1)
    )
    assert_array_equal(
        NormalizedRadonCDT(8, 10, "range").fit_transform(STACK),
        radoncdt.pooled_nrcdt(STACK, pool="range", n_angles=8, n_levels=10),
    )
    assert_array_equal(
        NormalizedRadonCDT(8, 10, None).fit_transform(MIXED),
        radoncdt.nrcdt(MIXED, n_angles=8, n_levels=10).reshape(4, -1),
    )


@each
def test_fit_is_idempotent_and_changes_no_parameter(estimator):
    model = clone(estimator)
    parameters = model.get_params()
    first = model.fit(STACK).transform(STACK)
    assert_array_equal(model.fit(STACK).transform(STACK), first)
    assert_array_equal(clone(estimator).fit_transform(STACK, np.arange(12)), first)
    assert model.get_params() == parameters
    assert first.shape == (12, len(model.get_feature_names_out()))


@each
def test_features_do_not_depend_on_order_subsets_and_batches(estimator):
    model = clone(estimator).fit(STACK)
    features = model.transform(STACK)
    order = RNG.permutation(12)
    assert_array_equal(model.transform(STACK[order]), features[order])
    assert_array_equal(model.transform(STACK[3:5]), features[3:5])
    assert_array_equal(np.concatenate([model.transform(x[None]) for x in STACK]), features)
    assert_array_equal(model.transform(list(STACK)), features)


@each
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float32, np.float64, np.longdouble])
def test_features_of_images_of_any_dtype_are_float64(estimator, dtype):
    features = clone(estimator).fit_transform((STACK > 0).astype(dtype))
    assert features.dtype == np.float64
    assert_allclose(features, clone(estimator).fit_transform((STACK > 0).astype(float)), atol=1e-5)


@each
def test_images_are_not_modified(estimator):
    images = STACK.copy()
    images.setflags(write=False)
    clone(estimator).fit(images).transform(images)
    clone(estimator).fit(list(images)).transform(np.asfortranarray(images))
    assert_array_equal(images, STACK)


@each
def test_estimators_can_be_cloned_and_pickled(estimator):
    model = clone(estimator).fit(MIXED)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(MIXED), model.transform(MIXED))


@each
def test_images_may_have_other_sizes_than_those_of_fit(estimator):
    """The features do not depend on the frame, or, for the R-CDT, only on its centre."""
    model = clone(estimator).fit(STACK)
    padded = np.pad(STACK, ((0, 0), (4, 4), (3, 3)))
    assert_allclose(model.transform(padded), model.transform(STACK), atol=1e-10)


@each
def test_an_unfitted_estimator_raises_an_error(estimator):
    for method in (clone(estimator).transform, clone(estimator).get_feature_names_out):
        with pytest.raises(NotFittedError):
            method(STACK)


def test_parameters_set_after_fit_take_effect_at_the_next_fit():
    model = NormalizedRadonCDT(4, 6).fit(STACK)
    features = model.transform(STACK)
    model.set_params(n_levels=9, pool=None)
    assert_array_equal(model.transform(STACK), features)
    assert len(model.get_feature_names_out()) == 6
    assert model.fit_transform(STACK).shape == (12, 36)


def test_feature_names_contain_direction_and_level():
    model = RadonCDT(8, 4).fit(STACK)
    names = model.get_feature_names_out()
    assert names[0] == "angle0_0deg_level0_t0.125"
    assert names[4 * 3 + 2] == "angle3_67.5deg_level2_t0.625"
    assert NormalizedRadonCDT(8, 4).fit(STACK).get_feature_names_out()[3] == "max_level3_t0.875"
    twice = RadonCDT(angles=[1, 1], n_levels=2).fit(STACK).get_feature_names_out()
    assert len(set(twice)) == 4


@each
@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame], ids=["pandas", "polars"])
def test_set_output_returns_data_frames(estimator, frame):
    model = clone(estimator).set_output(transform="pandas" if frame is pandas.DataFrame else "polars")
    table = model.fit_transform(MIXED)
    assert isinstance(table, frame)
    assert list(table.columns) == list(model.get_feature_names_out())
    assert_array_equal(np.asarray(table), clone(estimator).fit_transform(MIXED))


# ---------------------------------------------------------------- tables of flattened images


@each
@pytest.mark.parametrize("kind", [np.asarray, pandas.DataFrame, polars.DataFrame], ids=["numpy", "pandas", "polars"])
def test_flattened_images_have_the_same_features(estimator, kind):
    table = kind(STACK.reshape(12, -1))
    if hasattr(table, "columns"):
        table.columns = [f"pixel{k}" for k in range(140)]
    model = clone(estimator).set_params(image_shape=(14, 10)).fit(table)
    assert model.n_features_in_ == 140
    assert hasattr(model, "feature_names_in_") == hasattr(table, "columns")
    assert_array_equal(model.transform(table), clone(estimator).fit_transform(STACK))


def test_inverse_transform_flattens_images_that_were_fitted_flat():
    model = RadonCDT(16, 16, image_shape=(14, 10)).fit(STACK.reshape(12, -1))
    assert model.inverse_transform(model.transform(STACK.reshape(12, -1))).shape == (12, 140)


# ---------------------------------------------------------------- inverse_transform


def test_inverse_transform_draws_into_the_frame_of_fit():
    y, x = np.mgrid[-31.5:32, -19.5:20]
    images = np.stack([np.exp(-((x - a) ** 2 + (y + a) ** 2) / 40) for a in (-5, 0, 4)])
    images /= images.sum(axis=(1, 2), keepdims=True)
    model = RadonCDT(180, 64).fit(images)
    again = model.inverse_transform(model.transform(images))
    assert again.shape == images.shape
    assert np.linalg.norm(again - images) < 0.06 * np.linalg.norm(images)


def test_the_frame_contains_all_fitted_measures():
    assert RadonCDT().fit(STACK).image_shape_ == (14, 10)
    assert RadonCDT().fit([np.ones((5, 9)), np.ones((7, 3))]).image_shape_ == (7, 9)
    model = RadonCDT(64).fit([PointCloud([(-3, 1), (10.2, -2)])])
    assert model.image_shape_ == (5, 23)
    assert model.inverse_transform(model.transform([PointCloud([(0, 0), (5, 1)])])).shape == (1, 5, 23)


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((2, 7)), np.zeros(80), np.full((1, 80), np.nan), np.empty((0, 80)), -np.arange(80.0)[None]],
)
def test_inverse_transform_refuses_invalid_input(wrong):
    with pytest.raises(ValueError, match="`X` must"):
        RadonCDT(8, 10).fit(STACK).inverse_transform(wrong)


# ---------------------------------------------------------------- in pipelines and searches


def copies(n):
    """Make affine copies of a square and a triangle, with their labels."""
    shapes = [np.pad(np.ones((20, 20)), 5), np.pad(np.tri(24), 3)]
    rng = np.random.default_rng(1)
    maps = [np.eye(2) + rng.uniform(-0.3, 0.3, (2, 2)) for _ in range(n)]
    moved = [radoncdt.push_forward(shapes[k % 2], a, rng.uniform(-3, 3, 2), shape=(64, 64)) for k, a in enumerate(maps)]
    return np.stack(moved), np.arange(n) % 2


def test_transformers_work_in_pipelines_and_searches():
    images, labels = copies(24)
    model = make_pipeline(NormalizedRadonCDT(16), KNeighborsClassifier(1))
    assert cross_val_score(model, images, labels, cv=3).min() == 1
    assert cross_val_score(model, list(images), labels, cv=3).min() == 1
    grid = {"normalizedradoncdt__pool": ["max", "mean", None], "normalizedradoncdt__n_levels": [8, 16]}
    search = GridSearchCV(model, grid, cv=3).fit(images, labels)
    assert search.best_score_ == 1
    flat = make_pipeline(NormalizedRadonCDT(16, image_shape=(64, 64)), KNeighborsClassifier(1))
    assert cross_val_score(flat, images.reshape(24, -1), labels, cv=3).min() == 1


def test_searches_run_in_processes():
    images, labels = copies(12)
    model = make_pipeline(NormalizedRadonCDT(8, n_jobs=-1), KNeighborsClassifier(1))
    search = GridSearchCV(model, {"normalizedradoncdt__n_levels": [8, 16]}, cv=2, n_jobs=2).fit(images, labels)
    assert search.best_score_ == 1


# ---------------------------------------------------------------- invalid input

GOOD = np.ones((2, 4, 5))


@pytest.mark.parametrize("method", ["fit", "transform"])
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (GOOD[0], ValueError, r"`X` must be images \(n, H, W\) .* got an array of shape \(4, 5\); .* `image_shape"),
        (GOOD[None], ValueError, r"`X` must be images .* got an array of shape \(1, 2, 4, 5\)"),
        (np.ones(7), ValueError, r"`X` must have shape .* got \(7,\)"),
        (np.ones((0, 4, 5)), ValueError, "`X` must not be empty"),
        ([], ValueError, "`X` must hold at least one image"),
        (PointCloud([(0, 0)]), ValueError, "got one PointCloud"),
        (np.stack([GOOD[0], 0 * GOOD[0]]), ValueError, r"`X\[1\]` must have mass"),
        (-GOOD, ValueError, r"`X\[0\]` must not have negative mass"),
        (GOOD * np.nan, ValueError, r"`X\[0\]` must be finite"),
        (GOOD * 1j, TypeError, "`X` must hold bool, integer or float"),
        (None, TypeError, "`X` must hold numbers, got None"),
        ("images", TypeError, "`X` must hold numbers, got 'images'$"),
        ("a.PNG", TypeError, "`X` must hold numbers, got 'a.PNG'; `radoncdt.ink.read_ink` reads images from files"),
        (["a.jpg", "b.jpg"], TypeError, "`radoncdt.ink.read_ink` reads images from files"),
        ([GOOD[0], "image"], TypeError, r"`X\[1\]` must hold numbers"),
    ],
)
def test_invalid_images_are_refused(method, X, error, message):  # noqa: N803
    for estimator in (RadonCDT(4, 4), NormalizedRadonCDT(4, 4)):
        with pytest.raises(error, match=message):
            getattr(estimator if method == "fit" else estimator.fit(GOOD), method)(X)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_angles": 0}, ValueError, "`n_angles` must be at least 1, got 0"),
        ({"n_levels": 2.5}, TypeError, "`n_levels` must be an integer, got 2.5"),
        ({"angles": [np.nan]}, ValueError, "`angles` must be finite"),
        ({"level_grid": "odd"}, ValueError, "`level_grid` must be one of"),
        ({"pool": "sum"}, ValueError, "`pool` must be one of"),
        ({"moments": "guessed"}, ValueError, "`moments` must be one of"),
        ({"image_shape": 20}, TypeError, r"`image_shape` must be a pair \(H, W\), got 20"),
        ({"n_jobs": 0}, ValueError, "`n_jobs` must not be 0"),
    ],
)
def test_invalid_parameters_are_refused_by_fit_not_by_init(parameters, error, message):
    model = NormalizedRadonCDT(**parameters)
    with pytest.raises(error, match=message):
        model.fit(GOOD)


def test_invalid_tables_are_refused():
    model = RadonCDT(4, 4, image_shape=(4, 5))
    with pytest.raises(ValueError, match=r"`X` must have 20 columns for images of shape \(4, 5\), got 21"):
        model.fit(np.ones((3, 21)))
    model.fit(np.ones((3, 20)))
    with pytest.raises(ValueError, match="X has 19 features, but RadonCDT is expecting 20"):
        model.transform(np.ones((3, 19)))
    with pytest.raises(ValueError, match="NaN"):
        model.transform(np.full((3, 20), np.nan))
    with pytest.raises(ValueError, match="dim"):
        model.transform(GOOD)


@pytest.mark.parametrize(("n_components", "pool"), [(0, "fourier"), (6, "fourier"), (9, "sorted"), (2.5, "sorted")])
def test_fit_refuses_wrong_numbers_of_components(n_components, pool):
    transformer = NormalizedRadonCDT(n_angles=4, pool=pool, n_components=n_components)
    with pytest.raises((TypeError, ValueError), match="`n_components` must be"):
        transformer.fit(np.ones((2, 5, 5)))

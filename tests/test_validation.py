"""Arguments of the public functions and estimators: invalid numbers and colour images are refused by name."""

import pickle
from functools import partial

import numpy as np
import pytest
from calls import CALLS as MEASURE_CALLS
from numpy.testing import assert_array_equal

import radoncdt
from radoncdt import _validation, datasets, plot
from radoncdt.ink import find_ink

IMAGE = np.tri(9)
IMAGES = np.stack([IMAGE, IMAGE.T, np.eye(9)])
PAGE = np.pad(1 - IMAGE, 3, constant_values=1)
ROBUST = {"moments": "robust"}
KNOWN = radoncdt.describe(IMAGES, n_angles=4, n_levels=4)
MASSES, EDGES = radoncdt.radon(IMAGE, n_angles=4)
ANGLES = radoncdt.equispaced_angles(4)

NEVER = [[], {}, True, np.True_, "3", np.array([1, 2]), 1j]
"""Values that are neither counts nor numbers."""
COUNT = [*NEVER, 2.5, np.nan, 0, -1, 10**10, 10**400]
JOBS = [*NEVER, 2.5, 0, 10**10]
NUMBER = [*NEVER, np.nan, np.inf, -1, 10**400]
SHAPE = [
    np.array(3),
    [],
    {},
    True,
    3,
    "ab",
    (0, 3),
    (True, 3),
    (2.5, 3),
    (3,),
    (3, 4, 5),
    (10**10, 10**10),
    (10**10, 1),
]
BAD = {
    **dict.fromkeys(("n_angles", "n_levels", "n_components", "n_neighbors", "n", "size", "canvas", "n_maps"), COUNT),
    "n_jobs": JOBS,
    "nu": [*NUMBER, 0],
    "trim": [*NUMBER, 0.5, 1e308],
    "p": [*NEVER, np.nan, 0, -np.inf, 1e308, 10**400],
    "t": [True, [], {}, "3", [True, False], -1, 1e308, np.nan],
    "radius": NUMBER,
    "tolerance": NUMBER,
    "shape": SHAPE,
    "image_shape": SHAPE,
    "angles": [[], {}, True, "3", [np.nan], [np.inf], 1.0, [[1.0]], 1j],
    "line_width": [*NUMBER, 0],
    "rotation": [*NUMBER, 1e308],
    "shear": [*NUMBER, 1e308],
    "shift": [*NUMBER, 1e308],
    "threshold": [*NUMBER, 0],
    "specks": [*NUMBER, 1e308],
    "max_side": [*NEVER, 2.5, np.nan, 0, 7],
}

TRANSFORM = ("n_angles", "n_levels", "angles", "n_jobs")
NORMALISED = (*TRANSFORM, "nu", "trim")
DESCRIBED = ("n_angles", "n_levels", "nu", "trim")
NEIGHBOURS = (*DESCRIBED, "n_neighbors", "n_jobs", "image_shape")


def fit_model(estimator, **options):
    """Fit an estimator, which checks its parameters then."""
    model = estimator(**options)
    if "image_shape" in options:
        return model.fit(IMAGES.reshape(3, -1), [0, 1, 2])
    return model.fit(IMAGES, [0, 1, 2])


CALLS = {
    "equispaced_angles": (radoncdt.equispaced_angles, ("n_angles",)),
    "quantile_levels": (radoncdt.quantile_levels, ("n_levels",)),
    "radon": (partial(radoncdt.radon, IMAGE), ("n_angles", "angles", "n_jobs")),
    "back_projection": (partial(radoncdt.back_projection, MASSES, EDGES, ANGLES), ("shape",)),
    "filtered_back_projection": (partial(radoncdt.filtered_back_projection, MASSES, EDGES, ANGLES), ("shape",)),
    "rcdt": (partial(radoncdt.rcdt, IMAGE), TRANSFORM),
    "nrcdt": (partial(radoncdt.nrcdt, IMAGE), NORMALISED),
    "pooled_nrcdt": (partial(radoncdt.pooled_nrcdt, IMAGE), NORMALISED),
    "fourier": (partial(radoncdt.pooled_nrcdt, IMAGE, pool="fourier"), ("n_components",)),
    "max_nrcdt": (partial(radoncdt.max_nrcdt, IMAGE), NORMALISED),
    "mean_nrcdt": (partial(radoncdt.mean_nrcdt, IMAGE), NORMALISED),
    "robust": (partial(radoncdt.max_nrcdt, IMAGE, **ROBUST), ("nu",)),
    "inverse_rcdt": (partial(radoncdt.inverse_rcdt, radoncdt.rcdt(IMAGE, n_angles=4)), ("shape",)),
    "interpolate": (
        lambda **options: radoncdt.interpolate(IMAGE, IMAGE, **({"t": 0.5} | options)),
        ("t", "shape", "n_angles", "n_levels", "n_jobs"),
    ),
    "wasserstein": (partial(radoncdt.wasserstein, [0, 1], [1, 2]), ("p",)),
    "sliced_wasserstein": (partial(radoncdt.sliced_wasserstein, IMAGE, IMAGE), ("p", "n_angles", "angles", "n_jobs")),
    "sliced_wasserstein_distances": (
        partial(radoncdt.sliced_wasserstein_distances, IMAGES),
        ("p", "n_angles", "angles", "n_jobs"),
    ),
    "push_forward": (partial(radoncdt.push_forward, IMAGE, np.eye(2)), ("shape",)),
    "describe": (partial(radoncdt.describe, IMAGE), (*DESCRIBED, "n_jobs")),
    "describe, robust": (partial(radoncdt.describe, IMAGE, **ROBUST), ("nu",)),
    "register": (partial(radoncdt.register, IMAGE, IMAGE), ("n_jobs", "tolerance")),
    "affine_distances": (partial(radoncdt.affine_distances, IMAGES), ("n_jobs",)),
    "DescriptorSettings": (radoncdt.DescriptorSettings, DESCRIBED),
    "DescriptorSettings, robust": (partial(radoncdt.DescriptorSettings, **ROBUST), ("nu",)),
    "RadonCDT": (partial(fit_model, radoncdt.RadonCDT), (*TRANSFORM, "image_shape")),
    "NormalizedRadonCDT": (partial(fit_model, radoncdt.NormalizedRadonCDT), (*NORMALISED, "image_shape")),
    "NormalizedRadonCDT, sorted": (
        lambda **options: fit_model(radoncdt.NormalizedRadonCDT, pool="sorted", **options).transform(IMAGES),
        ("n_components",),
    ),
    "AffineNeighbors": (
        lambda **options: fit_model(radoncdt.AffineNeighbors, **({"n_neighbors": 1} | options)).kneighbors(),
        (*NEIGHBOURS, "radius"),
    ),
    "AffineNeighborsClassifier": (
        lambda **options: fit_model(radoncdt.AffineNeighborsClassifier, **options).predict(IMAGES),
        NEIGHBOURS,
    ),
    "kneighbors": (fit_model(radoncdt.AffineNeighbors).kneighbors, ("n_neighbors",)),
    "radius_neighbors": (fit_model(radoncdt.AffineNeighbors).radius_neighbors, ("radius",)),
    "find_ink, drawing": (partial(find_ink, PAGE, kind="drawing"), ("threshold", "specks", "max_side")),
    "AffineDistribution": (datasets.AffineDistribution, ("rotation", "shear", "shift")),
    "templates": (datasets.templates, ("size", "canvas", "line_width")),
    "academic": (
        lambda **options: datasets.academic(**({"n": 1, "rng": 0} | options)),
        ("n", "n_maps", "size", "canvas", "line_width"),
    ),
    "watermarks": (datasets.watermarks, ("n",)),
    "plot.pipeline": (partial(plot.pipeline, IMAGE), ("n_angles", "n_levels")),
}
CASES = [
    pytest.param(call, name, wrong, id=f"{function}-{name}-{str(wrong)[:16]}")
    for function, (call, names) in CALLS.items()
    for name in names
    for wrong in BAD[name]
]


@pytest.mark.parametrize(("call", "name", "wrong"), CASES)
def test_invalid_numbers_are_refused_by_name(call, name, wrong):
    with pytest.raises((TypeError, ValueError), match=rf"`{name}(\[\d\])?` must "):
        call(**{name: wrong})


def test_numbers_of_any_type_are_numbers():
    expected = radoncdt.max_nrcdt(IMAGE, n_angles=4, nu=2, trim=0.25, **ROBUST)
    for real, whole in ((np.float32, np.int8), (np.float64, np.uint64), (float, int)):
        found = radoncdt.max_nrcdt(IMAGE, n_angles=whole(4), nu=real(2), trim=real(0.25), **ROBUST)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("nu", [0.5, 1e6, 1e300])
def test_many_degrees_of_freedom_are_exact_moments(nu):
    assert np.isfinite(radoncdt.max_nrcdt(IMAGE, n_angles=4, nu=nu, **ROBUST)).all()


def test_transforms_that_would_fill_the_memory_are_refused():
    with pytest.raises(
        ValueError, match="`n_angles` times `n_levels` must be at most 268,435,456, got 65,536 × 1,048,576"
    ):
        radoncdt.max_nrcdt(IMAGE, n_angles=2**16, n_levels=2**20)


def test_powers_up_to_a_million_are_accepted():
    samples, others = np.arange(5.0), np.arange(5.0) * 2
    largest = radoncdt.wasserstein(samples, others, np.inf)
    np.testing.assert_allclose(radoncdt.wasserstein(samples, others, 1e6), largest, rtol=1e-5)


# ---------------------------------------------------------------- colour images


INK = np.zeros((40, 50))
INK[10:30, 20:23] = INK[18:21, 12:40] = 1
RGB = np.stack([1 - INK] * 3, axis=-1)


@pytest.mark.parametrize("name", MEASURE_CALLS)
@pytest.mark.parametrize("shape", [(40, 50, 3), (40, 50, 4), (5, 5, 3)])
def test_colour_images_are_refused(name, shape):
    with pytest.raises(
        ValueError, match=r"`(images|measure|X|A)` must .* which looks like .* `radoncdt\.ink\.find_ink`"
    ):
        MEASURE_CALLS[name](np.ones(shape))


@pytest.mark.parametrize("function", [radoncdt.register, radoncdt.sliced_wasserstein, radoncdt.interpolate])
def test_pairs_of_colour_images_are_refused(function):
    more = (0.5,) if function is radoncdt.interpolate else ()
    for pair, name in (((RGB, INK), "moving|mu|a"), ((INK, RGB), "fixed|nu|b")):
        with pytest.raises(ValueError, match=rf"`({name})` must .* looks like a colour image"):
            function(*pair, *more)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (np.stack([RGB, RGB]), "images"),
        ([RGB, RGB], r"images\[0\]"),
        ([INK, RGB], r"images\[1\]"),
        (RGB.tolist(), "images"),
    ],
    ids=["batch", "list", "mixed", "nested lists"],
)
def test_several_colour_images_are_refused(wrong, name):
    with pytest.raises(ValueError, match=f"`{name}` must .* looks like a colour image"):
        radoncdt.max_nrcdt(wrong)


@pytest.mark.parametrize("shape", [(4, 50, 3), (3, 40, 4), (40, 4, 3), (3, 40, 50), (6, 5, 5), (7, 6, 2)])
def test_other_stacks_are_not_colour_images(shape):
    assert radoncdt.max_nrcdt(np.ones(shape), n_angles=4).shape == (shape[0], 64)


def test_narrow_images_can_be_passed_as_a_list():
    stack = np.random.default_rng(0).random((6, 9, 3))
    expected = np.stack([radoncdt.max_nrcdt(image, n_angles=4) for image in stack])
    assert_array_equal(radoncdt.max_nrcdt(list(stack), n_angles=4), expected)
    assert_array_equal(radoncdt.NormalizedRadonCDT(4).fit_transform(list(stack)), expected)
    table = radoncdt.NormalizedRadonCDT(4, image_shape=(9, 3)).fit_transform(stack.reshape(6, -1))
    assert_array_equal(table, expected)
    assert len(radoncdt.AffineNeighbors(1, image_shape=(9, 3)).fit(stack.reshape(6, -1)).descriptors_) == 6


def test_dask_arrays_of_colour_images_are_refused_immediately():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"`images` must .* looks like a colour image"):
        radoncdt.max_nrcdt(da.ones((40, 50, 3), chunks=10))
    assert radoncdt.max_nrcdt(da.ones((4, 50, 3), chunks=2), n_angles=4).compute().shape == (4, 64)


# ---------------------------------------------------------------- errors and warnings


@pytest.mark.parametrize("error", [_validation.ArgumentValueError, _validation.ArgumentTypeError])
def test_errors_carry_the_argument_and_the_problem(error):
    found = pickle.loads(pickle.dumps(error("n", "must be at least 1, got 0")))
    assert (found.argument, found.problem) == ("n", "must be at least 1, got 0")
    assert str(found) == "`n` must be at least 1, got 0"


def test_a_string_is_a_sequence_of_one_item_where_that_is_allowed():
    assert _validation.check_sequence("ab", "names", allow_string=True) == ("ab",)
    with pytest.raises(TypeError, match="`names` must be a sequence, got the string 'ab'"):
        _validation.check_sequence("ab", "names")
    with pytest.raises(ValueError, match="`names` must not be empty"):
        _validation.check_sequence([], "names", allow_string=True)


def test_the_first_invalid_value_is_shown_with_its_index():
    array = np.array([[1.0, -2.0], [-3.0, 4.0]])
    assert _validation.show_first(array < 0, array) == "-2.0 at [0, 1]"
    assert _validation.show_first(np.array(True), np.array(5)) == "5"


def test_warnings_name_the_line_that_called_the_package():
    with pytest.warns(UserWarning, match="moved off the canvas") as found:
        radoncdt.push_forward(IMAGE, np.eye(2), (5, 0))
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match="outside the shape") as found:
        radoncdt.interpolate(IMAGE, IMAGE, 0.5, shape=(3, 3), n_angles=8, n_levels=8)
    assert found[0].filename == __file__

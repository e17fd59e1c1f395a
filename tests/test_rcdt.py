"""R-CDT and NR-CDT: closed forms, definitions, bitwise invariances, invalid input."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from strategies import clouds, images

import radoncdt
from radoncdt import PointCloud
from radoncdt._numpy import method
from radoncdt._pooling import POOLS

pytestmark = pytest.mark.usefixtures("each_implementation")

RNG = np.random.default_rng(0)
DRAWING = np.zeros((60, 45))
DRAWING[10:50, 20:22] = DRAWING[30:32, 5:40] = DRAWING[3, 7] = 1
TRANSFORMS = [radoncdt.rcdt, radoncdt.nrcdt, *(partial(radoncdt.pooled_nrcdt, pool=pool) for pool in POOLS)]


# ---------------------------------------------------------------- closed forms


def supersampled(density, n=128, factor=16):
    """Sample a density: an n × n image whose pixels are means of factor² samples."""
    places = (np.arange(n * factor) + 0.5) / factor - n / 2
    image = density(places[None, :], -places[:, None]).astype(float)
    return image.reshape(n, factor, n, factor).mean(axis=(1, 3))


def along(phi, x, y):
    return np.cos(phi) * x + np.sin(phi) * y


def closed_forms():
    """Return, by name, an image, the quantile function of N_θ, and a tolerance."""
    n = 128
    turn = np.deg2rad(20), np.deg2rad(35)

    def square_quantiles(angle, t):
        long, short = sorted((abs(np.cos(angle - turn[0])), abs(np.sin(angle - turn[0]))), reverse=True)
        shape = stats.trapezoid(short / (long + short), long / (long + short), -(long + short) / 2, long + short)
        return shape.ppf(t) * np.sqrt(12)

    def in_square(x, y):
        side = 0.4 * n
        return (abs(along(turn[0], x, y)) < side / 2) & (abs(along(turn[0] + np.pi / 2, x, y)) < side / 2)

    def bell(x, y):
        a, b = along(turn[1], x, y) / (n / 12), along(turn[1] + np.pi / 2, x, y) / (n / 24)
        return np.exp(-(a**2 + b**2) / 2)

    # measured: 0.0012, 0.0035, 0.0058
    return {
        "disc": (
            supersampled(lambda x, y: x**2 + y**2 < (n / 4) ** 2),
            lambda _, t: 2 * stats.semicircular.ppf(t),
            0.0015,
        ),
        "square": (supersampled(in_square), square_quantiles, 0.004),
        "gaussian": (supersampled(bell, factor=4), lambda _, t: stats.norm.ppf(t), 0.0065),
    }


@pytest.mark.parametrize("name", ["disc", "square", "gaussian"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nrcdt_of_shapes_equals_closed_forms(name, dtype):
    image, quantiles, tolerance = closed_forms()[name]
    angles, levels = radoncdt.equispaced_angles(32), radoncdt.quantile_levels(64)
    values = radoncdt.nrcdt(image.astype(dtype), n_angles=32, n_levels=64)
    expected = np.array([quantiles(angle, levels) for angle in angles])
    inside = (levels > 0.01) & (levels < 0.99)
    assert np.abs(values - expected)[:, inside].max() <= tolerance


def test_one_pixel_is_a_square():
    """N_θ of a unit square is that of the trapezoid box(|cos|) ∗ box(|sin|), which strips divide into at most three."""
    image = np.zeros((9, 9))
    image[2, 7] = 0.3
    assert_allclose(radoncdt.nrcdt(image, angles=[0], n_levels=4), np.sqrt(3) * np.array([[-0.75, -0.25, 0.25, 0.75]]))
    assert np.isfinite(radoncdt.max_nrcdt(image)).all()


# ---------------------------------------------------------------- bitwise invariances


@given(images(), st.tuples(*[st.integers(0, 7)] * 4))
def test_zero_padding_changes_no_bit(image, pad):
    padded = np.pad(image, [pad[:2], pad[2:]])
    for transform in TRANSFORMS[1:]:
        assert_array_equal(transform(image, n_angles=5, n_levels=6), transform(padded, n_angles=5, n_levels=6))


@pytest.mark.parametrize("n_jobs", [2, 3, -1, None])
@pytest.mark.parametrize("n_images", [1, 3, 40])
def test_threads_change_no_bit(monkeypatch, n_jobs, n_images):
    monkeypatch.setattr("radoncdt._threads.WORK_PER_THREAD", 1)
    stack = RNG.random((n_images, 33, 21)).astype(np.float32) * (RNG.random((n_images, 33, 21)) < 0.3)
    for transform in (radoncdt.radon, radoncdt.rcdt, radoncdt.nrcdt, radoncdt.max_nrcdt):
        one, many = transform(stack, n_angles=7, n_jobs=1), transform(stack, n_angles=7, n_jobs=n_jobs)
        assert_array_equal(one[0], many[0])
        assert_array_equal(one[1:], many[1:])


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_batch_changes_no_bit(transform):
    stack = RNG.random((9, 20, 31)) * (RNG.random((9, 1, 1)) < 0.5) + DRAWING[:20, :31]
    stack[:, 0, 0] = 1
    cloud = PointCloud(RNG.normal(size=(30, 2)))
    whole = transform(stack, n_angles=9, n_levels=8)
    mixed = transform([DRAWING, *stack, cloud], n_angles=9, n_levels=8)
    assert_array_equal(mixed[1:-1], whole)
    for i in (0, 4, 8):
        assert_array_equal(whole[i], transform(stack[i], n_angles=9, n_levels=8))
    assert_array_equal(mixed[-1], transform(cloud, n_angles=9, n_levels=8))
    assert_array_equal(transform(stack.reshape(3, 3, 20, 31), n_angles=9, n_levels=8).reshape(whole.shape), whole)


def test_each_direction_is_computed_independently():
    angles = radoncdt.equispaced_angles(11)
    together = radoncdt.nrcdt(DRAWING, angles=angles)
    for k, angle in enumerate(angles):
        assert_array_equal(radoncdt.nrcdt(DRAWING, angles=[angle])[0], together[k])


def test_layout_and_dtype_of_the_input_do_not_matter(tmp_path):
    image = (DRAWING * 200).astype(np.uint8)
    expected = radoncdt.nrcdt(image.astype(np.float32))
    for same in (
        image,
        np.asfortranarray(image),
        image.astype(np.int64),
        image.tolist(),
        [image][0],
        image.astype(">f4"),
    ):
        assert_array_equal(radoncdt.nrcdt(same), expected)
    assert_array_equal(radoncdt.nrcdt(DRAWING.astype(bool)), radoncdt.nrcdt(DRAWING.astype(np.float16)))
    assert_array_equal(radoncdt.nrcdt(np.repeat(image, 2, 1)[:, ::2]), expected)
    np.save(tmp_path / "image.npy", image)
    assert_array_equal(radoncdt.nrcdt(np.load(tmp_path / "image.npy", mmap_mode="r")), expected)


def test_the_input_is_not_modified():
    for dtype in (np.float32, np.float64):
        for scale in (1, 1e30):  # the transform scales the latter
            image = (DRAWING * scale).astype(dtype)
            before = image.copy()
            for transform in (radoncdt.radon, *TRANSFORMS, radoncdt.mean):
                transform(image)
            assert_array_equal(image, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_scale_of_the_intensity_hardly_matters(dtype):
    image = (RNG.random((50, 50)) + 0.01).astype(dtype)
    expected = radoncdt.max_nrcdt(image)
    limits = np.finfo(dtype)
    for scale in (3, 1e-3, 0.1, limits.max / 4, limits.tiny * 1e3):
        values = radoncdt.max_nrcdt((image * dtype(scale)).astype(dtype))
        assert_allclose(values, expected, rtol=0, atol=1e-6 if dtype is np.float32 else 1e-12)
    for scale in (2.0**-90, 0.25, 2.0**90):
        assert_array_equal(radoncdt.max_nrcdt(image * dtype(scale)), expected)


# ---------------------------------------------------------------- definitions


@given(st.one_of(images(), clouds()))
def test_rcdt_is_nrcdt_times_std_plus_mean(measure):
    angles = radoncdt.equispaced_angles(6)
    theta = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    std = np.sqrt(np.einsum("ni,ij,nj->n", theta, radoncdt.covariance(measure), theta))
    rcdt = radoncdt.rcdt(measure, n_angles=6, n_levels=9)
    nrcdt = radoncdt.nrcdt(measure, n_angles=6, n_levels=9)
    expected = nrcdt * std[:, None] + (theta @ radoncdt.mean(measure))[:, None]
    assert_allclose(rcdt, expected, rtol=0, atol=1e-10 * (1 + np.abs(rcdt).max()))


@given(clouds())
def test_rcdt_of_a_cloud_is_the_cdt_of_its_sorted_projections(cloud):
    angles = radoncdt.equispaced_angles(4)
    levels = radoncdt.quantile_levels(16)
    for angle, values in zip(angles, radoncdt.rcdt(cloud, n_angles=4, n_levels=16)):
        places = cloud.points @ [np.cos(angle), np.sin(angle)]
        expected = [method.sample_quantile(places, cloud.weights, t) for t in levels]
        assert_allclose(values, expected, rtol=0, atol=1e-12 * (1 + np.abs(places).max()))


@pytest.mark.parametrize("level_grid", ["midpoint", "uniform"])
@pytest.mark.parametrize("measure", [DRAWING, PointCloud(RNG.normal(size=(23, 2)))])
def test_level_moments_are_mean_and_sample_std_over_the_levels(measure, level_grid):
    options = {"n_angles": 8, "n_levels": 16, "level_grid": level_grid}
    rcdt = radoncdt.rcdt(measure, **options)
    expected = (rcdt - rcdt.mean(-1, keepdims=True)) / rcdt.std(-1, ddof=1, keepdims=True)
    assert_allclose(radoncdt.nrcdt(measure, moments="levels", **options), expected, atol=1e-10)


def test_results_have_the_documented_shapes():
    stack = RNG.random((2, 3, 8, 9))
    assert radoncdt.rcdt(stack, n_angles=4, n_levels=5).shape == (2, 3, 4, 5)
    assert radoncdt.nrcdt(stack[0, 0], angles=[1, 2, 3]).shape == (3, 64)
    assert radoncdt.max_nrcdt([np.ones((3, 3)), PointCloud([(0, 0), (1, 0), (0, 1)])]).shape == (2, 64)
    assert radoncdt.max_nrcdt(PointCloud([(0, 0), (1, 0), (0, 1)]), n_levels=7).shape == (7,)


# ---------------------------------------------------------------- invalid input

GOOD = np.ones((4, 4))
LINE = PointCloud([(0, 0), (1, 2), (2, 4), (-7, -14)])


@pytest.mark.parametrize("transform", [radoncdt.rcdt, radoncdt.nrcdt, radoncdt.max_nrcdt])
@pytest.mark.parametrize(
    ("images", "error", "message"),
    [
        (GOOD * np.nan, ValueError, r"`images` must be finite, got nan at \[0, 0\]"),
        (
            np.stack([GOOD, GOOD * np.inf]),
            ValueError,
            r"`images\[1\]` must be finite",
        ),
        (np.stack([[GOOD, GOOD], [GOOD, -GOOD]]), ValueError, r"`images\[1, 1\]` must not have negative mass, got -1"),
        ([GOOD, GOOD * 0], ValueError, r"`images\[1\]` must have mass, got zeros only"),
        (PointCloud([(0, 0), (1, 1), (1, 0)], [1, -1, 3]), ValueError, "`images` must not have negative mass, got -1"),
        ([GOOD, PointCloud([(0, 0), (1, 1), (1, 0)], [0, 0, 0])], ValueError, r"`images\[1\]` must have mass"),
        (np.ones(4), ValueError, r"`images` must have shape \(H, W\) or \(…, H, W\), got \(4,\)"),
        (np.float64(3), ValueError, r"`images` must have shape .* got \(\)"),
        (np.ones((0, 4, 4)), ValueError, r"`images` must not be empty, got shape \(0, 4, 4\)"),
        (np.ones((3, 0, 4)), ValueError, r"`images` must not be empty"),
        ([], ValueError, "`images` must hold at least one image, got an empty list"),
        ([GOOD, np.ones((2, 3, 3))], ValueError, r"`images\[1\]` must have shape \(H, W\), got \(2, 3, 3\)"),
        ([GOOD, np.ones(3)], ValueError, r"`images\[1\]` must have shape \(H, W\), got \(3,\)"),
        ([GOOD, np.ones((0, 3))], ValueError, r"`images\[1\]` must not be empty"),
        ([[1, 2], [3]], ValueError, "`images` must have rows of equal length"),
        (
            np.array([GOOD, np.ones((2, 2))], dtype=object),
            TypeError,
            "`images` must hold bool, .* got .* of dtype object; images of several sizes go in a list",
        ),
        (GOOD * 1j, TypeError, "`images` must hold bool, integer or float numbers, got ndarray of dtype complex128"),
        (
            np.array([["a", "b"]]),
            TypeError,
            "`images` must hold bool, integer or float numbers, got ndarray of dtype <U1",
        ),
        ("image.png", TypeError, "`images` must hold numbers, got 'image.png'"),
        (["image.png"], TypeError, r"`images\[0\]` must hold numbers, got 'image.png'"),
        (None, TypeError, "`images` must hold numbers, got None"),
        ([GOOD, None], TypeError, r"`images\[1\]` must hold numbers, got None"),
        (
            {"a": 1},
            TypeError,
            "`images` must hold bool, .* got .* of dtype object; images of several sizes go in a list",
        ),
        (np.ma.masked_array(GOOD, GOOD > 0), TypeError, "`images` must not be a masked array"),
        (np.zeros((2, 2), "datetime64[s]"), TypeError, "`images` must hold bool"),
    ],
)
def test_invalid_images_are_refused(transform, images, error, message):
    with pytest.raises(error, match=message):
        transform(images)


def test_errors_name_the_first_invalid_measure_of_a_list():
    with pytest.raises(ValueError, match=r"`images\[0\]` must be finite, got nan"):
        radoncdt.nrcdt([GOOD * np.nan, LINE])
    with pytest.raises(ValueError, match=r"`images\[1\]` must not have negative mass, got -2.0 at \[1\]"):
        radoncdt.nrcdt([GOOD, PointCloud([(0, 0), (1, 1), (1, 0)], [1, -2, 3])])


def test_nested_lists_of_images_are_a_stack():
    assert_array_equal(radoncdt.rcdt([[GOOD, GOOD], [GOOD, GOOD]]), radoncdt.rcdt(np.ones((2, 2, 4, 4))))


def test_a_side_of_billions_of_pixels_is_refused():
    with pytest.raises(ValueError, match="`images` must not have more than 67108864 pixels along a side"):
        radoncdt.rcdt(np.broadcast_to(np.float32(1), (1, 2**27)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_name_the_first_invalid_image_of_a_batch(monkeypatch, n_jobs):
    monkeypatch.setattr("radoncdt._threads.WORK_PER_THREAD", 1)
    stack = np.ones((300, 8, 8))
    stack[[41, 42, 250], 0, 0] = np.nan, -1, np.nan
    with pytest.raises(ValueError, match=r"`images\[41\]` must be finite"):
        radoncdt.max_nrcdt(stack, n_jobs=n_jobs)


@pytest.mark.parametrize("transform", [radoncdt.nrcdt, radoncdt.max_nrcdt])
@pytest.mark.parametrize(
    "cloud",
    [
        LINE,
        PointCloud([(3, 3)]),
        PointCloud([(3, 3), (3, 3)]),
        PointCloud([(0, 0), (1, 0), (0.5, 1)], [1, 1, 0]),
        PointCloud([(0, 0), (1, 0), (0.5, 1)], [1, 1, 1e-40]),
        radoncdt.push_forward(LINE, [[0.3, 0.1], [0.7, 2]], [1e3, 5]),
    ],
)
def test_points_on_one_line_are_refused(transform, cloud):
    message = r"`images\[1\]` must not lie on one line: .* so the NR-CDT is undefined"
    with pytest.raises(ValueError, match=message):
        transform([GOOD, cloud])
    assert np.isfinite(radoncdt.rcdt([GOOD, cloud])).all()  # the R-CDT is defined


@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e140])
def test_the_scale_of_a_cloud_does_not_matter(scale):
    points = RNG.normal(size=(20, 2))
    assert_allclose(radoncdt.nrcdt(PointCloud(points * scale)), radoncdt.nrcdt(PointCloud(points)), atol=1e-12)


def test_a_thin_cloud_is_not_a_line():
    thin = PointCloud(RNG.normal(size=(20, 2)) * [1, 1e-9])
    assert np.isfinite(radoncdt.nrcdt(thin)).all()


def test_level_moments_are_refused_if_all_levels_are_one_point():
    heavy = PointCloud([(0, 0), (1, 0), (0, 1)], [1e6, 1, 1])
    assert np.isfinite(radoncdt.nrcdt(heavy)).all()
    with pytest.raises(ValueError, match="`moments` must be 'exact' for `images`: in some direction"):
        radoncdt.nrcdt(heavy, moments="levels")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_angles": 0}, ValueError, "`n_angles` must be at least 1, got 0"),
        ({"n_angles": 2.0}, TypeError, "`n_angles` must be an integer, got 2.0"),
        ({"n_angles": True}, TypeError, "`n_angles` must be an integer, got True"),
        ({"n_angles": "8"}, TypeError, "`n_angles` must be an integer, got '8'"),
        ({"n_angles": None}, TypeError, "`n_angles` must be an integer, got None"),
        ({"n_levels": 1}, ValueError, "`n_levels` must be at least 2, got 1"),
        ({"n_levels": 8.5}, TypeError, "`n_levels` must be an integer, got 8.5"),
        ({"angles": [0, np.nan]}, ValueError, r"`angles` must be finite, got nan at \[1\]"),
        ({"angles": []}, ValueError, r"`angles` must be one-dimensional and not empty, got shape \(0,\)"),
        ({"angles": [[0, 1]]}, ValueError, r"`angles` must be one-dimensional .* got shape \(1, 2\)"),
        ({"angles": 0.5}, ValueError, r"`angles` must be one-dimensional .* got shape \(\)"),
        ({"angles": ["north"]}, TypeError, "`angles` must hold bool, integer or float numbers"),
        ({"level_grid": "chebyshev"}, ValueError, "`level_grid` must be one of 'midpoint', 'uniform', got 'chebyshev'"),
        ({"level_grid": None}, ValueError, "`level_grid` must be one of .* got None"),
        ({"moments": "median"}, ValueError, "`moments` must be one of 'exact', 'levels', 'robust', got 'median'"),
        ({"pool": "sum"}, ValueError, "`pool` must be one of 'max', .* got 'sum'"),
        ({"pool": ["max"]}, ValueError, r"`pool` must be one of .* got \['max'\]"),
        ({"n_jobs": 0}, ValueError, "`n_jobs` must not be 0"),
        ({"n_jobs": 1.5}, TypeError, "`n_jobs` must be an integer, got 1.5"),
    ],
)
def test_invalid_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        radoncdt.pooled_nrcdt(GOOD, **options)


def test_longdouble_values_beyond_float64_are_refused():
    with pytest.raises(ValueError, match="`images` must be finite, got inf"):
        radoncdt.rcdt(np.full((2, 2), np.longdouble("1e4000")))

"""Every kernel of each implementation equals the plain method in _numpy/method.py or the code in reference.py."""

from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import ANGLES, SHAPES, images

import radoncdt
from radoncdt import _kernels
from radoncdt._numpy import method

pytestmark = pytest.mark.usefixtures("each_implementation")

LISTS_OF_ANGLES = st.lists(ANGLES, min_size=1, max_size=6)


def rounding(dtype, image):
    """Return the error bound of sums over an image: 8 ulp of the largest pixel per pixel of a line."""
    return 8 * np.finfo(dtype).eps * max(image.shape) * np.abs(image).max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_strip_masses_equal_the_slow_sum_over_pixels(dtype, data):
    image = data.draw(images(dtype=dtype, signed=data.draw(st.booleans())))
    angles = data.draw(LISTS_OF_ANGLES)
    masses, edges = radoncdt.radon(image, angles=angles)
    assert masses.dtype == dtype
    assert masses.shape[1] == sum(image.shape) + 2
    # edges are exact up to one ulp of the image size; an error moves at most one line of pixels across an edge
    tolerance = 8 * rounding(dtype, image) + 8 * np.finfo(float).eps * sum(image.shape) ** 2 * np.abs(image).max()
    assert_allclose(masses, method.radon(image, angles, edges), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_back_projection_equals_the_transposed_weights(dtype, data):
    shape = data.draw(SHAPES)
    angles = data.draw(LISTS_OF_ANGLES)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    image = np.zeros(shape)
    image[rng.integers(shape[0]), rng.integers(shape[1])] = 1  # places the strips anywhere in the frame
    _, edges = radoncdt.radon(image, angles=angles)
    values = rng.normal(size=(len(angles), edges.shape[1] - 1)).astype(dtype)
    fast = radoncdt.back_projection(values, edges, angles, shape)
    assert fast.dtype == dtype
    slow = method.back_projection(values, edges, angles, shape)
    tolerance = (8 * np.finfo(dtype).eps + 64 * np.finfo(float).eps * sum(shape)) * len(angles) * np.abs(values).max()
    assert_allclose(fast, slow, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_quantiles_equal_those_of_the_slow_masses(dtype, data):
    image = data.draw(images(dtype=dtype))
    angles = data.draw(LISTS_OF_ANGLES)
    n_levels = data.draw(st.integers(2, 20))
    _, edges = radoncdt.radon(image, angles=angles)
    levels = radoncdt.quantile_levels(n_levels)
    fast = radoncdt.rcdt(image, angles=angles, n_levels=n_levels)
    # masses are compared, because rounding of a mass can move a quantile to the next pixel with ink
    masses = method.radon(image, angles, edges)
    for direction in range(len(angles)):
        cumulated = np.concatenate([[0], np.cumsum(masses[direction])]) / masses[direction].sum()
        slack = np.finfo(float).eps * 64 * sum(image.shape)
        below = np.interp(fast[direction] - slack, edges[direction], cumulated)
        above = np.interp(fast[direction] + slack, edges[direction], cumulated)
        tolerance = 64 * np.finfo(dtype).eps * max(image.shape)
        assert (below <= levels + tolerance).all()
        assert (above >= levels - tolerance).all()
        # a quantile is unique, and equal to the slow one, if all strips around it have mass
        slow = np.array([method.bin_quantile(masses[direction], edges[direction], t) for t in levels])
        density = np.interp(slow, (edges[direction][1:] + edges[direction][:-1]) / 2, masses[direction])
        solid = density > 0.01 * masses[direction].sum()
        assert_allclose(fast[direction][solid], slow[solid], rtol=0, atol=300 * tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nrcdt_equals_the_slow_one(dtype):
    rng = np.random.default_rng(0)
    image = (rng.random((37, 50)) + 0.1).astype(dtype)
    angles = np.concatenate([radoncdt.equispaced_angles(9), [-1, 4, 10]])
    _, edges = radoncdt.radon(image, angles=angles)
    slow = method.nrcdt(image, angles, radoncdt.quantile_levels(31), edges)
    fast = radoncdt.nrcdt(image, angles=angles, n_levels=31)
    assert_allclose(fast, slow, rtol=0, atol=1e-12 if dtype is np.float64 else 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whitened_directions_equal_the_slow_ones(dtype):
    image = (np.random.default_rng(0).random((37, 50)) ** 4 + 0.1).astype(dtype)
    angles = method.whiten_angles(radoncdt.equispaced_angles(9), method.moments(image)[2])
    _, edges = radoncdt.radon(image, angles=angles)
    slow = method.nrcdt(image, angles, radoncdt.quantile_levels(31), edges)
    fast = radoncdt.nrcdt(image, n_angles=9, n_levels=31, directions="whitened")
    assert_allclose(fast, slow, rtol=0, atol=1e-12 if dtype is np.float64 else 1e-6)


@given(image=images())
def test_moments_equal_the_slow_sums(image):
    mass, mean, covariance = method.moments(image)
    size = max(image.shape)
    assert_allclose(radoncdt.mass(image), mass, rtol=1e-13)
    assert_allclose(radoncdt.mean(image), mean, rtol=0, atol=1e-14 * size)
    assert_allclose(radoncdt.covariance(image), covariance, rtol=0, atol=1e-14 * size**2)


@given(data=st.data())
def test_bin_quantiles_equal_the_definition(data):
    masses = data.draw(st.lists(st.sampled_from([0, 0, 0.5, 1, 3]), min_size=1, max_size=12).filter(any))
    widths = data.draw(st.lists(st.sampled_from([0, 0.5, 2]), min_size=len(masses), max_size=len(masses)))
    edges = np.cumsum([-1, *widths])
    points = data.draw(st.lists(st.sampled_from([-1, 0, 1 / 8, 0.25, 0.5, 0.75, 1, 2]), min_size=1, max_size=8))
    expected = [method.bin_quantile(masses, edges, min(max(t, 0), 1)) for t in points]
    assert_allclose(radoncdt.cdt(masses, edges, points=points), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [(9, 9), (16, 24), (127, 129), (200, 300)])
def test_sparse_ink_has_the_same_sums_as_dense_ink(size):
    """Blank blocks of a drawing are skipped. Adding 1 to every pixel adds the masses of a constant image."""
    rng = np.random.default_rng(5)
    drawing = np.zeros(size)
    drawing[rng.integers(size[0], size=20), rng.integers(size[1], size=20)] = 1
    drawing[0, 0] = drawing[-1, -1] = 1  # the same bounding box
    angles = radoncdt.equispaced_angles(16)
    sparse, edges = radoncdt.radon(drawing, angles=angles)
    grey, grey_edges = radoncdt.radon(drawing + 1, angles=angles)
    blank, _ = radoncdt.radon(np.ones(size), angles=angles)
    assert (edges == grey_edges).all()
    assert_allclose(sparse, grey - blank, rtol=0, atol=1e-11)


def test_a_tall_float32_image_of_equal_pixels_keeps_its_mass():
    """Rounding errors of equal terms add up: a plain float32 sum of 1024 of them is wrong by up to 3e-5."""
    for value in (0.1, 1 / 3, 0.7071, 1.0000001):
        image = np.full((1024, 40), value, np.float32)
        masses, _ = radoncdt.radon(image, angles=[0, 0.3, np.pi / 2, 2])
        assert_allclose(masses.sum(-1, dtype=float), image.sum(dtype=float), rtol=5e-6)


def test_strokes_equal_the_slow_ones():
    random = np.random.default_rng(0)
    for width in (0.5, 2.0, 7.3):
        corners = random.uniform(-10, 50, (6, 2))
        corners[3] = corners[2]  # a segment of length 0
        corners[4] = corners[3] + [0, 9]
        image, expected = np.zeros((40, 33)), np.zeros((40, 33))
        _kernels.current().strokes(image, corners, width)
        for a, b in pairwise(corners):
            reference.stroke(expected, a, b, width)
        assert_allclose(image, expected, atol=1e-12)


def test_fits_equal_the_slow_ones():
    random = np.random.default_rng(1)
    points = random.normal(0, 30, (90, 2))
    targets = points @ [[0.9, 0.2], [-0.3, 1.1]] + [4, -2] + random.normal(0, 1, (90, 2))
    terms = np.column_stack([points, np.ones(90)])
    start = np.vstack([np.eye(2), np.zeros(2)])
    few, ridge = np.arange(0, 90, 3), np.array([0.0, 0.01, 0.0])
    pairs = np.zeros((90, 2)), terms, np.arange(0, 90, 2), targets, few
    expected, far = reference.fit(*pairs, ridge, start, 30.0, 0.25, 4)
    options = {"ridge": ridge, "coefficients": start, "size": 30.0, "most": 0.25, "iterations": 4}
    found, misfit = _kernels.current().fit(*pairs, **options)
    assert misfit == pytest.approx(far, rel=1e-4)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_views_give_the_same_results_as_copies(dtype):
    """Views with rows that are apart, in reverse order, or with gaps between pixels."""
    large = np.random.default_rng(3).random((50, 61)).astype(dtype)
    for view in (large[5:40, 7:30], large[::-1, 3:20], large[::2, ::3], large.T, large.astype(f">f{large.itemsize}")):
        copy = np.array(view, dtype)
        assert_array_equal(radoncdt.radon(view)[0], radoncdt.radon(copy)[0])
        for transform in (radoncdt.max_nrcdt, radoncdt.covariance):
            assert_array_equal(transform(view), transform(copy))
            assert_array_equal(transform([view, large])[0], transform(copy))


def test_huge_and_tiny_pixels_neither_overflow_nor_underflow():
    image = np.random.default_rng(4).random((20, 30)) + 0.1
    expected = radoncdt.nrcdt(image)
    for scale in (1e-300, 1e-280, 1e290):
        assert_allclose(radoncdt.nrcdt(image * scale), expected, rtol=0, atol=1e-9)

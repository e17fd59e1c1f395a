"""Hypothesis strategies for measures and maps."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import radoncdt

ANGLES = st.one_of(
    st.floats(-10, 10),
    st.sampled_from([k * np.pi / 4 for k in range(-8, 9)]),
    st.sampled_from([1e-300, 1e-16, 1e-9, np.pi / 4 - 1e-15, np.pi / 4 + 1e-15, np.pi / 2 - 1e-12, 1e6]),
)
SHAPES = st.one_of(
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
    st.sampled_from([(1, 1), (1, 2), (2, 1), (1, 300), (300, 1), (2, 200), (260, 3), (129, 128)]),
)


@st.composite
def images(draw, shapes=SHAPES, dtype=np.float64, signed=False):
    """Draw an image with mass, dense or sparse, with zeros around it."""
    shape = draw(shapes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    image = rng.random(shape) + 1e-3
    if draw(st.booleans()):
        image *= rng.random(shape) < draw(st.sampled_from([0.02, 0.2, 0.7]))
    image[rng.integers(shape[0]), rng.integers(shape[1])] = 1
    if signed:
        image *= rng.choice([-1, 1], shape)
    image = np.pad(image, [draw(st.sampled_from([(0, 0), (0, 3), (5, 1)])) for _ in range(2)])
    return (image * draw(st.sampled_from([1, 1e-3, 255]))).astype(dtype)


@st.composite
def clouds(draw, least=3, most=30, equal_weights=False):
    """Draw points with mass that are not close to a line."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(least, most))
    points = rng.normal(size=(n, 2)) * draw(st.sampled_from([0.1, 1, 50])) + rng.normal(size=2)
    weights = np.ones(n) if equal_weights else rng.random(n) + 0.05
    cloud = radoncdt.PointCloud(points, weights)
    low, high = np.linalg.eigvalsh(radoncdt.covariance(cloud))
    assume(low > 1e-3 * high)
    return cloud


@st.composite
def matrices(draw, condition=100):
    """Draw an invertible matrix whose condition number is at most `condition`."""
    turn, other = (rotation(draw(st.floats(-4, 4))) for _ in range(2))
    scale = draw(st.sampled_from([0.01, 1, 7]))
    ratio = draw(st.floats(1, condition))
    return scale * turn @ np.diag([1, draw(st.sampled_from([-1, 1])) / ratio]) @ other


def rotation(phi):
    """Return the matrix of a rotation by `phi` radians."""
    return np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]])


def shifts():
    """Return a strategy for vectors (2,)."""
    return st.tuples(st.floats(-100, 100), st.floats(-100, 100)).map(np.array)

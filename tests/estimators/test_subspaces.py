"""The nearest subspace: residuals, dimensions, scikit-learn's checks, and subspaces of R-CDTs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from radoncdt import NearestSubspaceClassifier, RadonCDT, push_forward

RNG = np.random.default_rng(0)


@parametrize_with_checks([NearestSubspaceClassifier(), NearestSubspaceClassifier(0.9, center=True)])
def test_checks_of_scikit_learn_pass(estimator, check):
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("needs SCIPY_ARRAY_API")
    check(estimator)


@pytest.mark.parametrize("center", [False, True])
def test_residuals_are_those_of_least_squares(center):
    features, labels = RNG.normal(size=(12, 9)), np.repeat(["a", "b", "c"], 4)
    new = RNG.normal(size=(5, 9))
    model = NearestSubspaceClassifier(center=center).fit(features, labels)
    for k, name in enumerate("abc"):
        some = features[labels == name]
        middle = some.mean(axis=0) if center else 0
        for row, vector in enumerate(new):
            weights = np.linalg.lstsq((some - middle).T, vector - middle, rcond=None)[0]
            expected = np.linalg.norm((some - middle).T @ weights - (vector - middle))
            assert model.residuals(new)[row, k] == pytest.approx(expected)
    assert_array_equal(model.predict(new), np.array(["a", "b", "c"])[model.residuals(new).argmin(axis=1)])
    assert_allclose(model.decision_function(new), -model.residuals(new))
    assert_array_equal(model.predict(features), labels)
    assert_allclose(model.means_[0], features[:4].mean(axis=0) if center else 0)


def test_dimensions_can_be_limited():
    basis = np.linalg.qr(RNG.normal(size=(8, 8)))[0]
    features = np.vstack([s * basis[k] for k, s in enumerate([10, 3, 1])])  # squares 100, 9, 1
    labels = np.zeros(3, int)
    for wanted, dimension in ((None, 3), (5, 3), (2, 2), (0.9, 1), (0.91, 2), (0.98, 2), (0.995, 3)):
        model = NearestSubspaceClassifier(wanted).fit(features, labels)
        assert model.bases_[0].shape == (dimension, 8), wanted
        assert_allclose(model.bases_[0] @ model.bases_[0].T, np.eye(dimension), atol=1e-12)
    again = np.vstack([features, features[:1]])
    assert NearestSubspaceClassifier().fit(again, np.zeros(4, int)).bases_[0].shape == (3, 8)


def test_two_classes_have_one_decision_value():
    features, labels = RNG.normal(size=(6, 9)), np.repeat([4, 7], 3)
    model = NearestSubspaceClassifier().fit(features, labels)
    new = RNG.normal(size=(10, 9))
    assert model.decision_function(new).shape == (10,)
    assert_array_equal(model.predict(new), np.where(model.decision_function(new) > 0, 7, 4))


def test_shifted_and_scaled_shapes_span_subspaces_of_rcdts():
    """The R-CDT of a shifted or scaled shape is a linear combination of three of its copies, so three are enough."""
    shapes = {"bar": np.ones((8, 40)), "square": np.ones((20, 20)), "triangle": np.tri(25)}

    def copies(shape, maps):
        return [push_forward(shape, np.diag([s, s]), shift, shape=(120, 120)) for s, shift in maps]

    known = [(1.0, (0, 0)), (1.3, (10, 0)), (0.8, (0, 15)), (1.1, (-5, -20))]
    new = [(1.2, (20, 20)), (0.9, (-25, 10)), (1.4, (3, -30))]
    train = [image for shape in shapes.values() for image in copies(shape, known)]
    test = [image for shape in shapes.values() for image in copies(shape, new)]
    model = make_pipeline(RadonCDT(16, 32), NearestSubspaceClassifier()).fit(train, np.repeat(list(shapes), 4))
    assert_array_equal(model.predict(test), np.repeat(list(shapes), 3))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "`n_components` must be at least 1, got 0"),
        ({"n_components": 1.5}, ValueError, "`n_components` must be between 0 and 1 if it is a float, got 1.5"),
        ({"n_components": "all"}, TypeError, "`n_components` must be an integer, got 'all'"),
        ({"center": 1}, TypeError, "`center` must be of the type bool, got 1"),
    ],
)
def test_invalid_parameters_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        NearestSubspaceClassifier(**options).fit(RNG.normal(size=(4, 3)), [0, 0, 1, 1])

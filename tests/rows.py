"""Estimators of images applied to tables, so that scikit-learn's own checks can test them."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import validate_data

from radoncdt.measures import Batch

# checks that are expected to fail, and why
CANNOT = {
    "check_estimators_dtypes": "its tables have rows of zeros, which have no mass",
    "check_fit2d_1feature": "its table has rows of zeros, which have no mass",
    "check_positive_only_tag_during_fit": "expects a different message",
}


class OfRows:
    """A mixin for estimators that reads each row of a table as an image with a height of one pixel."""

    def _read(self, X, *, reset):  # noqa: N803
        return Batch.read(validate_data(self, X, reset=reset, dtype=(np.float64, np.float32))[:, None], "X")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = True, False
        return tags


def list_checks(*estimators):
    """List the checks of scikit-learn for estimators, each with its name."""
    for estimator in estimators:
        for instance, check in estimator_checks_generator(estimator):
            name = check.func.__name__ if hasattr(check, "func") else check.__name__
            marks = pytest.mark.xfail(reason=CANNOT[name]) if name in CANNOT else ()
            if name == "check_array_api_input":
                marks = pytest.mark.skip("needs SCIPY_ARRAY_API")
            yield pytest.param(instance, check, id=f"{estimator}-{name}", marks=marks)

"""Hypothesis profiles, a fixture for the kernels, and names that examples in docstrings use."""

import hypothesis
import numpy as np
import pytest

from radoncdt import _kernels

if "could not be compiled" in _kernels.explain_missing():  # tests of the NumPy kernels alone would prove little
    raise pytest.UsageError(_kernels.explain_missing())

hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("thorough", hypothesis.settings.get_profile("quick"), max_examples=200)
hypothesis.settings.load_profile("quick")  # unless the option --hypothesis-profile chooses another


@pytest.fixture(scope="module", params=_kernels.available())
def each_implementation(request):
    """Run all tests of a module with each implementation of the kernels that this machine can run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_kernels, "current", lambda: _kernels.load(request.param))
        yield request.param


@pytest.fixture(autouse=True)
def doctest_names(doctest_namespace):
    """Define `np` and the public names for the examples in docstrings."""
    import radoncdt

    doctest_namespace["np"] = np
    doctest_namespace.update({name: getattr(radoncdt, name) for name in radoncdt.__all__})

"""Settings of hypothesis, and the names that examples in docstrings take for granted."""

import hypothesis
import numpy as np
import pytest

hypothesis.settings.register_profile("radoncdt", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("radoncdt")


@pytest.fixture(autouse=True)
def doctest_names(doctest_namespace):
    import radoncdt

    doctest_namespace["np"] = np
    doctest_namespace.update({name: getattr(radoncdt, name) for name in radoncdt.__all__})

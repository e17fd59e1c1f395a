"""Hypothesis profiles, a fixture for the kernels, and names that examples in docstrings use."""

from contextlib import ExitStack
from pathlib import Path

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


USE_CATALOGUE = tuple(
    f"radoncdt.catalogue.{name}." for name in ("catalogue.Catalogue", "search", "conditions", "metadata")
)
USE_RUN = tuple(f"radoncdt.reproduction.{name}." for name in ("runner", "outcome", "report"))
"""Beginnings of the names of examples that use `catalogue` and `run`, as `Catalogue` and `Run` explain."""


@pytest.fixture(autouse=True)
def doctest_names(request, doctest_namespace, tmp_path_factory):
    """Define names for the examples in docstrings: `np`, the public names, and those that the examples of some use.

    Each example runs in a folder of its own.
    """
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    import radoncdt

    name = request.node.name
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).chdir(tmp_path_factory.mktemp("doctest"))
        names = {"np": np} | {public: getattr(radoncdt, public) for public in radoncdt.__all__}
        if name.startswith("radoncdt.catalogue."):
            draw_marks(radoncdt.datasets.templates(["shield", "star8"], size=64))
        if name.startswith(USE_CATALOGUE):
            catalogue = stack.enter_context(radoncdt.catalogue.Catalogue("marks.db", create=True))
            catalogue.add("tracings", n_jobs=1)
            names["catalogue"] = catalogue
        if name.startswith(USE_RUN):
            choice = radoncdt.reproduction.Choice(("table3",), ("published",), draws=1, angles=(2,), sizes=(10,))
            names["run"] = radoncdt.reproduction.prepare("measured", choice, None)
            names["run"].measure(n_jobs=1)
        doctest_namespace.clear()
        doctest_namespace.update(names)
        yield


def draw_marks(symbols):
    """Write the files that the examples of `Catalogue` use: drawings, a blank page, a query and a table."""
    from PIL import Image

    for folder in ("tracings", "more"):
        Path(folder).mkdir()
    for name, symbol in symbols.items():
        picture = Image.fromarray(np.uint8(255 * (1 - symbol)))
        picture.save(f"tracings/{name}.png")
    picture.rotate(30, fillcolor="white").save("query.png")
    Image.fromarray(np.uint8(255 - 255 * np.pad(np.tri(40), 20))).save("more/triangle.png")
    Image.new("L", (40, 40), "white").save("more/blank.png")
    Path("wrong.csv").write_text("file;date\ntracings/star8.png;old\n", encoding="utf-8")
    Path("marks.csv").write_text("file;date\ntracings/star8.png;1475\ncrown.png;1480\n", encoding="utf-8")

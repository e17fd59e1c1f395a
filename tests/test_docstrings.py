"""Docstrings of all public objects: complete, in the form of numpydoc, below short signatures."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import radoncdt

SOURCE = Path(radoncdt.__file__).parent

MODULES = ("catalogue", "datasets", "estimators", "folders", "ink", "matching", "plot", "reproduction")

IGNORED = {"ES01"}
"""Checks of numpydoc that are not applied: one line can say all there is to say."""

IGNORED_IN_MEMBERS = {"EX01", "SA01"}
"""Methods and properties need neither examples nor See Also: those of their class show how they are used."""

ALONE = {"radoncdt.show_config"}
"""Functions without See Also, because no other one is close to them."""

MAX_SIGNATURE = 450
"""Characters in the signature of a function or method, which then fits on four lines."""

MAX_CLASS_SIGNATURE = 600
"""The same for classes. The estimators have up to 18 parameters."""

ELSEWHERE = re.compile(r"\b(see|as in|as for|same as in|(options|parameters|one|some|names) (of|in)) `", re.IGNORECASE)
"""Words that make the reader look for a description elsewhere."""

FAMILIES = {
    "transforms": ("rcdt", "nrcdt", "max_nrcdt", "mean_nrcdt", "pooled_nrcdt", "RadonCDT", "NormalizedRadonCDT"),
    "descriptors": ("DescriptorSettings", "describe", "AffineNeighbors", "AffineNeighborsClassifier"),
    "frames": ("distortion_distances", "FewShotClassifier", "AffineNeighbors", "AffineNeighborsClassifier"),
    "matching": ("register", "affine_distances", "distortion_distances"),
    "ink": ("ink.read_ink", "ink.find_ink", "ink.ink_steps"),
}
"""Functions and classes whose parameters of the same name mean the same."""

DIFFERENT = {
    *(("transforms", name) for name in ("pool", "n_components")),  # None means something else for the class
    *(("frames", name) for name in ("prior", "reflections", "moments")),  # "auto" means something else
    *(("descriptors", "n_neighbors"), ("frames", "n_neighbors")),  # of a classifier, they vote
    *(("matching", name) for name in ("A", "B", "limits")),
}
"""Parameters of a family that differ between its members."""

RAISES = re.compile(r"\b(raise|_validation\.check_\w+\(|Argument(Value|Type)Error\()")
"""What a function that refuses arguments contains."""


def find_public():
    """Return the functions and classes that the public modules declare, by name; each once, exceptions left out.

    An exception takes a message, has no further parameters, and is described where it is raised.
    """
    found = {}
    for module in ("radoncdt", *(f"radoncdt.{name}" for name in MODULES)):
        declared = import_module(module)
        for name in declared.__all__:
            value = getattr(declared, name)
            is_exception = inspect.isclass(value) and issubclass(value, Exception)
            if (inspect.isclass(value) or inspect.isfunction(value)) and not is_exception:
                found.setdefault(value, f"{module}.{name}")
    return {name: value for value, name in found.items()}


def is_ours(function):
    """Return whether a file of this package defines a function; dataclasses generate others."""
    return inspect.getsourcefile(function) is not None and function.__code__.co_filename.startswith(str(SOURCE))


def find_members(name, kind):
    """Return the public methods and properties of a class that this package defines, by name."""
    found = {}
    for member in dir(kind):
        value = inspect.getattr_static(kind, member)
        value = getattr(value, "__func__", value)  # of class methods and static methods
        function = getattr(value, "fget", getattr(value, "func", value))  # of properties and cached properties
        if inspect.isfunction(function) and is_ours(function) and not member.startswith("_"):
            found[f"{name}.{member}"] = value
    return found


PUBLIC = find_public()
MEMBERS = {
    member: value
    for name, kind in PUBLIC.items()
    if inspect.isclass(kind)
    for member, value in find_members(name, kind).items()
}
CALLABLES = PUBLIC | {name: value for name, value in MEMBERS.items() if inspect.isfunction(value)}


def check_docstring(name, ignored):
    problems = [f"{code} {problem}" for code, problem in validate(name)["errors"] if code not in ignored]
    assert not problems, "\n".join(problems)


def test_the_public_objects_are_found():
    assert {"radoncdt.max_nrcdt", "radoncdt.Registration", "radoncdt.matching.even_ink"} < set(PUBLIC)
    assert {"radoncdt.Registration.credible", "radoncdt.Descriptors.load", "radoncdt.RadonCDT.fit"} < set(MEMBERS)
    assert "radoncdt.RadonCDT.set_params" not in MEMBERS  # scikit-learn defines it


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_and_classes_have_complete_docstrings(name):
    check_docstring(name, IGNORED | ({"SA01"} if name in ALONE else set()))


@pytest.mark.parametrize("name", MEMBERS)
def test_methods_and_properties_have_complete_docstrings(name):
    check_docstring(name, IGNORED | IGNORED_IN_MEMBERS)


def read_parameters(value):
    """Return the descriptions of the parameters of a function or class, by name."""
    return {each.name: " ".join(each.desc) for each in get_doc_object(value)["Parameters"]}


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_are_described_in_place(name):
    described = read_parameters(CALLABLES[name])
    assert {each: text for each, text in described.items() if ELSEWHERE.search(text)} == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_parameters_have_the_same_descriptions(family):
    """The first sentences agree; further ones may say what is special about a function."""
    found = {}
    for member in FAMILIES[family]:
        for name, text in read_parameters(PUBLIC[f"radoncdt.{member}"]).items():
            if (family, name) not in DIFFERENT:
                found.setdefault(name, set()).add(re.split(r"(?<=[.:]) ", text)[0])
    assert {name: texts for name, texts in found.items() if len(texts) > 1} == {}


def find_code(value):
    """Return the source of a function, or of the methods of a class that check its arguments."""
    if not inspect.isclass(value):
        return inspect.getsource(inspect.unwrap(value))
    checks = (vars(value).get(name) for name in ("__init__", "__post_init__"))
    return "".join(inspect.getsource(check) for check in checks if inspect.isfunction(check) and is_ours(check))


@pytest.mark.parametrize("name", CALLABLES)
def test_errors_are_documented(name):
    if RAISES.search(find_code(CALLABLES[name])):
        assert get_doc_object(CALLABLES[name])["Raises"], name


@pytest.mark.parametrize("name", CALLABLES)
def test_signatures_are_short(name):
    most = MAX_CLASS_SIGNATURE if inspect.isclass(CALLABLES[name]) else MAX_SIGNATURE
    assert len(str(inspect.signature(CALLABLES[name]))) <= most

"""Docstrings of all public objects: complete, in the form of numpydoc, below short signatures."""

import inspect
from importlib import import_module

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

MODULES = ("catalogue", "datasets", "estimators", "folders", "ink", "matching", "plot", "reproduction")

IGNORED = {
    "ES01",  # no extended summary: one line can say all there is to say
    "SA01",  # no See Also: not every object is close to another one
}
"""Checks of numpydoc that are not applied."""

IGNORED_IN_MEMBERS = {"EX01"}
"""Methods and properties need no examples: that of their class shows how they are used."""

MAX_SIGNATURE = 450
"""Characters in the signature of a function or method, which then fits on four lines."""

MAX_CLASS_SIGNATURE = 600
"""The same for classes. The estimators have up to 18 parameters."""

ELSEWHERE = ("As in ", "As for ", "See ", "The same as in ")
"""Beginnings of descriptions that make the reader look for the description elsewhere."""


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


def find_members(name, kind):
    """Return the public methods and properties of a class that this package defines, by name."""
    found = {}
    for member in dir(kind):
        value = inspect.getattr_static(kind, member)
        value = getattr(value, "__func__", value)  # of class methods and static methods
        function = getattr(value, "fget", getattr(value, "func", value))  # of properties and cached properties
        is_ours = inspect.isfunction(function) and function.__module__.startswith("radoncdt")
        if is_ours and not member.startswith("_"):
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
    check_docstring(name, IGNORED)


@pytest.mark.parametrize("name", MEMBERS)
def test_methods_and_properties_have_complete_docstrings(name):
    check_docstring(name, IGNORED | IGNORED_IN_MEMBERS)


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_are_described_in_place(name):
    described = get_doc_object(CALLABLES[name])["Parameters"]
    assert [each.name for each in described if " ".join(each.desc).startswith(ELSEWHERE)] == []


@pytest.mark.parametrize("name", CALLABLES)
def test_signatures_are_short(name):
    most = MAX_CLASS_SIGNATURE if inspect.isclass(CALLABLES[name]) else MAX_SIGNATURE
    assert len(str(inspect.signature(CALLABLES[name]))) <= most

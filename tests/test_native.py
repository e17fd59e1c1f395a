"""The declarations and constants of the compiled kernels agree in C++ and in Python."""

import re
from pathlib import Path

import pytest

from radoncdt import _interface, _native
from radoncdt._numpy import fits, line_measures, matching, moments, plausibility

SOURCES = Path(_native.__file__).parent

pytestmark = pytest.mark.skipif(not (SOURCES / "kernels.h").exists(), reason="an installed package has no sources")


def source(name):
    return (SOURCES / name).read_text(encoding="utf-8")


def test_every_function_of_the_header_is_declared_in_python():
    """Both have the same number of parameters, of the same kinds."""
    letters = {"Index": "i", "int": "o", "double": "d"}
    text = re.sub(r"\\\n\s*", " ", source("kernels.h"))
    declared = {}
    for name, parameters in re.findall(r"RADONCDT_EXPORT int radoncdt_(\w+(?:##SUFFIX)?)\(([^)]*)\);", text):
        kinds = "".join(
            "p" if "*" in each else letters[each.split()[0]] for each in parameters.split(",") if each.strip()
        )
        names = [name.replace("##SUFFIX", suffix) for suffix in ("f32", "f64")] if "##" in name else [name]
        declared |= dict.fromkeys(names, kinds)
    assert {name: kinds for name, kinds in declared.items() if kinds} == _native._SIGNATURES


def read_constant(name, file):
    """Read the text of a constant in C++."""
    (value,) = re.findall(rf"\bconstexpr .*?\b{name} = ([^;,]+)[;,]", source(file))
    return value


def test_vector_lengths_and_frequencies_agree():
    lanes = eval(read_constant("LANES", "vectors.h").replace("sizeof(T)", "4"))  # of float
    assert lanes == _interface.LANES
    assert read_constant("WIDTH", "matching.cpp") == "LANES<float>"
    assert read_constant("KEPT", "matching.cpp") == "2 * WIDTH * GROUPS"
    assert int(read_constant("GROUPS", "matching.cpp")) == matching.GROUPS
    assert 2 * lanes * matching.GROUPS == _interface.KEPT


@pytest.mark.parametrize(
    ("file", "module", "names"),
    [
        ("fits.cpp", fits, ["WIDE", "LEAST"]),
        ("line_measures.cpp", line_measures, ["SAME_PLACE", "SAME_LEVEL"]),
        ("matching.cpp", matching, ["ROUNDING"]),
        ("matching.cpp", plausibility, ["SLACK", "TRIED"]),
        ("moments.h", moments, ["MAX_STEPS", "TOLERANCE", "PIXEL_VARIANCE"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_constants_agree(file, module, names):
    for name in names:
        assert eval(read_constant(name, file)) == getattr(module, name)


@pytest.mark.parametrize(("enumeration", "module"), [("Result", _native), ("Status", _interface), ("Options", _native)])
def test_enumerations_agree(enumeration, module):
    (members,) = re.findall(rf"enum {enumeration} : \w+ {{ (.*?) }};", source("kernels.h"))
    for member in members.split(", "):
        name, value = member.split(" = ")
        assert getattr(module, name) == int(value)

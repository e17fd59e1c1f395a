"""The package as a whole: what importing it loads, its public names, and what library code must not do."""

import ast
import inspect
import re
from pathlib import Path

import pytest
from processes import run

import radoncdt

SOURCE = Path(radoncdt.__file__).parent

PRINTS = {"_config.py"}  # `show_config` prints, as `numpy.show_config` does
PIP = {"--force-reinstall", "--no-cache-dir", "--no-deps"}  # options of pip in messages about the installation


def test_the_import_loads_nothing_heavy():
    heavy = [
        "scipy",
        "sklearn",
        "joblib",
        "matplotlib",
        "PIL",
        "tqdm",
        "rich",
        "pandas",
        "skimage",
        "dask",
    ]
    loaded = run(
        f"import radoncdt, sys; radoncdt.PointCloud([(0, 0)]); print([m for m in {heavy} if m in sys.modules])"
    )
    assert loaded == "[]"


def test_estimators_and_plots_are_loaded_on_demand():
    assert run("import radoncdt; print(radoncdt.RadonCDT(8).n_angles, radoncdt.plot.__name__)") == "8 radoncdt.plot"
    assert set(radoncdt.__all__) <= set(dir(radoncdt))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = radoncdt.nothing


def test_dir_lists_public_names_only():
    for _ in range(2):  # also after submodules have been loaded
        assert dir(radoncdt) == sorted([*radoncdt.__all__, "__version__"])
        for name in radoncdt.__all__:
            getattr(radoncdt, name)


def test_all_names_are_documented():
    for name in radoncdt.__all__:
        assert getattr(radoncdt, name).__doc__, name


def test_lazily_loaded_names_are_those_of_type_checkers():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    names = {}
    for node in checked.body:
        names.setdefault(node.module.removeprefix("radoncdt").lstrip("."), set()).update(a.name for a in node.names)
    submodules = names.pop("")
    assert names == {module: set(found) for module, found in radoncdt._MODULES.items()}
    assert set(radoncdt.__all__) == submodules.union(*names.values())


def test_help_loads_neither_numpy_nor_a_command():
    code = """
import sys
from radoncdt import cli
try:
    cli.main(["--help"])
except SystemExit:
    pass
print([name for name in sys.modules if name.startswith(("numpy", "radoncdt.cli."))])
"""
    assert run(code).splitlines()[-1] == "['radoncdt.cli.messages']"


DATA = {
    "radon": 1,
    "rcdt": 1,
    "nrcdt": 1,
    "pooled_nrcdt": 1,
    "max_nrcdt": 1,
    "mean_nrcdt": 1,
    "mass": 1,
    "mean": 1,
    "covariance": 1,
    "push_forward": 1,
    "cdt": 2,
    "inverse_cdt": 2,
    "back_projection": 3,
    "filtered_back_projection": 3,
    "inverse_rcdt": 1,
    "interpolate": 2,
    "wasserstein": 2,
    "sliced_wasserstein": 2,
    "sliced_wasserstein_distances": 2,
}
"""The number of positional-only arrays of data that each function takes."""


@pytest.mark.parametrize("name", DATA)
def test_arrays_are_positional_only_and_options_are_not_positional(name):
    parameters = list(inspect.signature(getattr(radoncdt, name)).parameters.values())
    assert [p.kind is p.POSITIONAL_ONLY for p in parameters] == [k < DATA[name] for k in range(len(parameters))]
    options = [p for p in parameters if p.name in ("n_angles", "angles", "n_levels", "n_jobs", "reference", "points")]
    assert all(p.kind is p.KEYWORD_ONLY for p in options[DATA[name] == 3 :])  # angles of projections are data


# ---------------------------------------------------------------- the rooms

LONG = {
    "datasets/motifs.py": "a list of drawings, one function each",
}
"""Modules of more than 400 lines, without docstrings, and why they are not divided."""


def parse_modules():
    """Yield the relative path, the number of lines without docstrings, and the syntax tree of every module."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        yield path.relative_to(SOURCE).as_posix(), text.count("\n") - count_docstring_lines(tree), tree


def count_docstring_lines(tree):
    strings = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    return sum(node.end_lineno - node.lineno + 1 for node in strings if isinstance(node.value.value, str))


def test_only_modules_with_a_reason_are_long():
    assert {name for name, n_lines, _ in parse_modules() if n_lines > 400} == set(LONG)


def find_definitions(tree):
    """Return the names that a module defines, except imports."""
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return names


def test_every_module_declares_its_public_names():
    undeclared = [
        name
        for name, _, tree in parse_modules()
        if "__all__" not in (found := find_definitions(tree)) and not all(each.startswith("_") for each in found)
    ]
    assert undeclared == []


# ---------------------------------------------------------------- what library code must not do


def library_modules():
    """Yield paths and syntax trees of all modules below the command line, except the script that builds kernels."""
    for name, _, tree in parse_modules():
        if not name.startswith("cli/") and name != "_native/build.py":
            yield name, tree


def calls(tree, function):
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == function]


def find_imports(tree):
    """Return the top packages that a module imports, also those it asks `_extras.require` for."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "require":
            found.update(arg.value.partition(".")[0] for arg in node.args[:1] if isinstance(arg, ast.Constant))
    return found


def test_only_the_right_rooms_draw():
    """Import-linter does not see packages that `_extras.require` imports."""
    found = {name: find_imports(tree) for name, _, tree in parse_modules()}
    terminal = {name for name, packages in found.items() if packages & {"tqdm", "rich"}}
    figures = {name for name, packages in found.items() if "matplotlib" in packages}
    assert terminal
    assert {name.partition("/")[0] for name in terminal} == {"cli"}
    assert {name.partition("/")[0] for name in figures} <= {"plot.py", "reproduction", "catalogue", "cli"}


def test_library_code_does_not_print():
    found = {name: calls(tree, "print") for name, tree in library_modules()}
    assert {name for name, lines in found.items() if lines} == PRINTS
    assert len(found["_config.py"]) == 1


def test_library_code_does_not_mention_options_of_the_command_line():
    found = [
        f"{name}:{node.lineno} {option}"
        for name, tree in library_modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for option in re.findall(r"--[a-z][a-z-]*", node.value)
        if option not in PIP
    ]
    assert found == []

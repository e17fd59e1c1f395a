"""The package as a whole: what importing it loads, which way dependencies point, compiled kernels, threads."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import radoncdt
from radoncdt import _kernels, _native, _threads

SOURCE = Path(radoncdt.__file__).parent


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_it_loads_nothing_heavy():
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


def test_estimators_and_pictures_load_when_asked_for():
    assert run("import radoncdt; print(radoncdt.RadonCDT(8).n_angles, radoncdt.plot.__name__)") == "8 radoncdt.plot"
    assert set(radoncdt.__all__) <= set(dir(radoncdt))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = radoncdt.nothing


def test_all_names_are_documented():
    for name in radoncdt.__all__:
        assert getattr(radoncdt, name).__doc__, name


# ---------------------------------------------------------------- the kernels


def config(code="", **environment):
    """What show_config tells in a new process, after some code that may prepare it."""
    lines = run(f"import json, radoncdt\n{code}\nprint(json.dumps(radoncdt.show_config('dict')))", **environment)
    return json.loads(lines.splitlines()[-1])


def test_the_fastest_kernels_are_used_unless_others_are_asked_for():
    available = config(RADONCDT_KERNELS="")["available"]
    assert config(RADONCDT_KERNELS="")["kernels"] == available[0]
    for name in available:
        assert config(RADONCDT_KERNELS=name)["kernels"] == name
    assert available[-1] == "numpy"


@pytest.mark.parametrize("name", ["sse", "AVX2"])
def test_kernels_that_do_not_exist_are_refused(name):
    code = "import radoncdt\ntry:\n    radoncdt.show_config()\nexcept ValueError as error:\n    print(error)"
    assert f"must be one of avx512, avx2, baseline, numpy, got '{name}'" in run(code, RADONCDT_KERNELS=name)


def test_a_missing_library_is_replaced_by_numpy_with_one_warning(tmp_path):
    """The first call warns, tells the factor and how to get the compiled kernels; later calls do not."""
    code = f"""
import warnings
from pathlib import Path
import numpy as np, radoncdt
from radoncdt import _native
_native.FOLDER = Path({str(tmp_path)!r}) / "lib"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        radoncdt.max_nrcdt(np.ones((5, 5)))
print(len(caught), caught[0].category.__name__, caught[0].message)
assert caught[0].filename == "<string>", caught[0].filename
"""
    said = run(code, RADONCDT_KERNELS="")
    assert said.startswith(
        f"1 RuntimeWarning radoncdt uses its NumPy kernels, which are about {_kernels.SLOWER} times slower"
    )
    assert "pip install" in said


@pytest.mark.parametrize("damaged", _kernels.available()[:-1])
def test_a_damaged_library_is_replaced_by_the_next_best(tmp_path, damaged):
    names = _kernels.available()
    shutil.copytree(_native.FOLDER, tmp_path / "lib")
    (tmp_path / "lib" / _native.path_of(damaged).name).write_bytes(b"no library")
    code = f"import pathlib, radoncdt._native; radoncdt._native.FOLDER = pathlib.Path({str(tmp_path)!r}) / 'lib'"
    found = config(code, RADONCDT_KERNELS="")
    expected = ["numpy"] if damaged == "baseline" else [name for name in names if name != damaged]
    assert found["available"] == expected
    assert found["kernels"] == expected[0]
    assert ("cannot be loaded" in found["missing"]) == (damaged == "baseline")


def test_the_reason_of_an_installation_without_compiled_kernels_is_told(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "build.json").write_text(json.dumps({"missing": "it was raining", "files": []}))
    code = f"import pathlib, radoncdt._native; radoncdt._native.FOLDER = pathlib.Path({str(tmp_path)!r}) / 'lib'"
    assert config(code, RADONCDT_KERNELS="")["missing"].startswith("it was raining; to compile them, install it again")


def test_numpy_kernels_that_were_asked_for_do_not_warn():
    code = "import warnings; warnings.simplefilter('error')"
    assert config(code, RADONCDT_KERNELS="numpy")["kernels"] == "numpy"


def test_the_first_call_warns_once_also_from_threads(tmp_path):
    code = f"""
import pathlib, time, warnings
from concurrent.futures import ThreadPoolExecutor
import numpy as np, radoncdt
from radoncdt import _kernels, _native
_native.FOLDER = pathlib.Path({str(tmp_path)!r}) / "lib"
real = _native.load
_native.load = lambda name: (time.sleep(0.05), real(name))[1]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(radoncdt.max_nrcdt, [np.ones((5, 5))] * 4))
print(len(caught))
"""
    assert run(code, RADONCDT_KERNELS="") == "1"


@pytest.mark.parametrize("arguments", [["--version"], ["transform", "a.png", "--out", "b.csv"]])
def test_a_wrong_choice_of_kernels_is_one_line_on_the_terminal(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "radoncdt", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"RADONCDT_KERNELS": "fast"},
    )
    assert done.returncode == 2
    assert done.stderr == "radoncdt: RADONCDT_KERNELS must be one of avx512, avx2, baseline, numpy, got 'fast'\n"


def test_names_that_are_loaded_lazily_are_those_of_type_checkers():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    names = {}
    for node in checked.body:
        names.setdefault(node.module.removeprefix("radoncdt").lstrip("."), set()).update(a.name for a in node.names)
    submodules = names.pop("")
    assert names == {module: set(found) for module, found in radoncdt._MODULES.items()}
    assert set(radoncdt.__all__) == submodules.union(*names.values())


def test_libraries_are_those_of_the_present_sources():
    """See test_build.py for what happens when they are not."""
    if not (SOURCE / "_native" / "build.py").exists():
        pytest.skip("an installed package, which has no sources")
    from radoncdt._native import build

    for name in _kernels.available()[:-1]:
        assert _kernels.load(name).source_hash == build.source_hash()


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


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_task_is_done_once(workers):
    done = []
    _threads.for_each(done.append, range(100), workers)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_first_failure_is_raised(workers):
    def fail(task):
        if task in (17, 18, 60):
            raise KeyError(task)

    with pytest.raises(KeyError, match="17"):
        _threads.for_each(fail, range(100), workers)


def test_threads_are_not_started_for_little_work():
    assert _threads.n_workers(8, 1000) == 1
    assert _threads.n_workers(3, 10**9) == 3
    assert _threads.n_workers(1, 10**9) == 1


def test_transforms_can_be_called_from_threads():
    """Kernels share no state: concurrent calls give what single calls give."""
    from concurrent.futures import ThreadPoolExecutor

    stack = np.random.default_rng(0).random((12, 30, 30))
    expected = radoncdt.max_nrcdt(stack)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(radoncdt.max_nrcdt, stack))
    np.testing.assert_array_equal(results, expected)

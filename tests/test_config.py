"""The choice of the kernels, and how `show_config` reports it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from processes import run

from radoncdt import _kernels, _native

SOURCE = Path(_kernels.__file__).parent


def config(code="", **environment):
    """Return the report of show_config in a new process, after some code."""
    lines = run(f"import json, radoncdt\n{code}\nprint(json.dumps(radoncdt.show_config('dict')))", **environment)
    return json.loads(lines.splitlines()[-1])


def test_the_fastest_kernels_are_used_unless_others_are_requested():
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
    """Only the first call warns. It states the factor, and how to install the compiled kernels."""
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
        f"1 RuntimeWarning radoncdt uses its NumPy kernels, which are about {_kernels.NUMPY_SLOWDOWN} times slower"
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


def test_the_reason_for_missing_compiled_kernels_is_reported(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "build.json").write_text(
        json.dumps({"missing": "it was raining", "files": []}), encoding="utf-8"
    )
    code = f"import pathlib, radoncdt._native; radoncdt._native.FOLDER = pathlib.Path({str(tmp_path)!r}) / 'lib'"
    assert config(code, RADONCDT_KERNELS="")["missing"].startswith("it was raining; to compile them, reinstall it")


def test_requested_numpy_kernels_do_not_warn():
    code = "import warnings; warnings.simplefilter('error')"
    assert config(code, RADONCDT_KERNELS="numpy")["kernels"] == "numpy"


def test_concurrent_first_calls_warn_once(tmp_path):
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
def test_an_invalid_choice_of_kernels_prints_one_line(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "radoncdt", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"RADONCDT_KERNELS": "fast"},
    )
    assert done.returncode == 2
    assert done.stderr == "radoncdt: RADONCDT_KERNELS must be one of avx512, avx2, baseline, numpy, got 'fast'\n"


def test_libraries_are_built_from_the_present_sources():
    """See native/test_build.py for what happens if they are not."""
    if not (SOURCE / "_native" / "build.py").exists():
        pytest.skip("an installed package, which has no sources")
    from radoncdt._native import build

    for name in _kernels.available()[:-1]:
        assert _kernels.load(name).source_hash == build.source_hash()

"""The package as a whole: what importing it loads, which way dependencies point, compiled kernels, threads."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import radoncdt
from radoncdt import _parallel

SOURCE = Path(radoncdt.__file__).parent

# a module may import those that stand before it; _kernels and what is heavy is imported inside functions
ORDER = [
    "_checks",
    "_files",
    "_lazy",
    "_parallel",
    "_progress",
    "_tables",
    "_text",
    "directions",
    "measures",
    "_paper",
    "_kernels",
    "_line_kernels",
    "_match_kernels",
    "_stroke_kernels",
    "_fit_kernels",
    "cdt",
    "radon",
    "rcdt",
    "inverse",
    "distance",
    "descriptors",
    "refinement",
    "registration",
    "search",
    "estimators",
    "neighbors",
    "subspaces",
    "ink.pictures",
    "ink.photos",
    "ink.kinds",
    "ink.reading",
    "ink",
    "classify",
    "plot",
    "datasets.affine",
    "datasets.drawing",
    "datasets.motifs",
    "datasets.noise",
    "datasets.mnist",
    "datasets.sets",
    "datasets.distorted",
    "datasets.watermarks",
    "datasets",
    "catalogue.errors",
    "catalogue.limits",
    "catalogue.metadata",
    "catalogue.records",
    "catalogue.schema",
    "catalogue.connection",
    "catalogue.migration",
    "catalogue.store",
    "catalogue.where",
    "catalogue.chance",
    "catalogue.index",
    "catalogue.fitting",
    "catalogue.adding",
    "catalogue.exporting",
    "catalogue.checking",
    "catalogue.searching",
    "catalogue.calibrating",
    "catalogue.catalogue",
    "catalogue",
    "catalogue.report",
    "experiments.names",
    "experiments.cells",
    "experiments.rivals",
    "experiments.trials",
    "experiments.paper",
    "experiments.svm",
    "experiments.protocol",
    "experiments.folds",
    "experiments.table1",
    "experiments.table2",
    "experiments.table3",
    "experiments.table4",
    "experiments.variants",
    "experiments.robustness",
    "experiments.store",
    "experiments.run",
    "experiments.robustness_figures",
    "experiments.figures",
    "experiments.page",
    "experiments.render",
    "experiments.report",
    "experiments.reproduce",
    "experiments.terminal",
    "experiments",
    "__init__",
    "cli.options",
    "cli.compiling",
    "cli.show",
    "cli.transform",
    "cli.register",
    "cli.reproduce",
    "cli.ink",
    "cli.catalogue",
    "cli.search",
    "cli.classify",
    "cli",
    "__main__",
]


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_it_loads_nothing_heavy():
    heavy = [
        "numba",
        "llvmlite",
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


def name_of(path):
    """The name of a module within the package; a package has that of its folder."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def imports(path):
    """Modules of the package that a file imports anywhere."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "radoncdt":
            within = node.module.removeprefix("radoncdt").lstrip(".")
            names = [f"{within}.{alias.name}".lstrip(".") for alias in node.names]
            yield from (name if name in ORDER else within for name in names)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=name_of)
def test_dependencies_point_downward(path):
    below = ORDER[: ORDER.index(name_of(path))]
    allowed = {*below, "_kernels", "_line_kernels"}  # the kernels are leaves that any module may call
    assert set(imports(path)) <= allowed


def test_all_modules_are_in_order():
    assert {name_of(path) for path in SOURCE.rglob("*.py")} == set(ORDER)


# ---------------------------------------------------------------- the cache

CALL = """
import numpy as np, radoncdt
from radoncdt import _kernels
values = radoncdt.cdt([1, 1], [0, 1, 2], points=[0.25])
print(values[0], sum(_kernels.bin_quantiles.stats.cache_hits.values()))
"""


def test_a_second_process_does_not_compile_again(tmp_path):
    assert run(CALL, NUMBA_CACHE_DIR=str(tmp_path)) == "0.5 0"
    assert run(CALL, NUMBA_CACHE_DIR=str(tmp_path)) == "0.5 1"


def test_a_damaged_cache_is_no_error(tmp_path):
    run(CALL, NUMBA_CACHE_DIR=str(tmp_path))
    for content in (b"", b"nonsense", b"\x80\x05."):
        for file in tmp_path.rglob("*bin_quantiles*.nb?"):
            file.write_bytes(content)
        assert run(CALL, NUMBA_CACHE_DIR=str(tmp_path)) == "0.5 0"


def test_a_cache_folder_that_goes_away_is_no_error(tmp_path):
    code = f"import shutil; from radoncdt import _kernels; shutil.rmtree({str(tmp_path)!r})" + CALL
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "0.5 0"


def test_no_cache_folder_is_no_error():
    code = "import numba.core.caching as caching; caching.CacheImpl._locator_classes = []" + CALL
    assert run(code) == "0.5 0"


def test_a_cache_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    assert run(CALL, NUMBA_CACHE_DIR=str(tmp_path / "file" / "cache")).startswith("0.5")


# ---------------------------------------------------------------- threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_task_is_done_once(workers):
    done = []
    _parallel.for_each(done.append, range(100), workers)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_first_failure_is_raised(workers):
    def fail(task):
        if task in (17, 18, 60):
            raise KeyError(task)

    with pytest.raises(KeyError, match="17"):
        _parallel.for_each(fail, range(100), workers)


def test_threads_are_not_started_for_little_work():
    assert _parallel.n_workers(8, 1000) == 1
    assert _parallel.n_workers(3, 10**9) == 3
    assert _parallel.n_workers(1, 10**9) == 1


def test_transforms_can_be_called_from_threads():
    """Kernels share no state: concurrent calls give what single calls give."""
    from concurrent.futures import ThreadPoolExecutor

    stack = np.random.default_rng(0).random((12, 30, 30))
    expected = radoncdt.max_nrcdt(stack)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(radoncdt.max_nrcdt, stack))
    np.testing.assert_array_equal(results, expected)

"""Measurements on disk, and the set-up that they depend on."""

import ast
import hashlib
import json
import shutil
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import radoncdt
from radoncdt.reproduction import Cell, Measurement, Trial, protocol, robustness, store
from radoncdt.reproduction.protocol import Draw
from radoncdt.reproduction.recognition.glyph_study import GlyphFigures
from radoncdt.reproduction.recognition.omniglot import OneShotFigures
from radoncdt.reproduction.store import FILE_NAME, RunStore, describe_setup, find_modules, hash_code

CELL = Cell("table4", "published", "linmnist", "rcdt", None, "svm", 8, 50)
TRIAL = Trial("salt", 100, 5, "zernike", 1, 2)

FOLDS = Measurement([k / 10 for k in range(10)], 0.25)
BACK = FOLDS._replace(accuracies=FOLDS.accuracies[::-1])
SETUP = {"seed": 0, "digits": "a"}
OTHER = {"seed": 0, "digits": "b"}


def test_the_store_returns_what_was_added(tmp_path):
    first = RunStore(tmp_path, SETUP)
    first.add(CELL, 3, FOLDS, 1.5)
    again = RunStore(tmp_path, SETUP)
    assert (CELL, 3) in again
    assert (CELL, 2) not in again
    assert again.read_draws(CELL, 10) == {3: FOLDS}
    assert again.read_draws(CELL, 3) == {}
    assert again.read_seconds(CELL, 3) == 1.5


def test_another_set_up_starts_from_nothing_and_loses_nothing(tmp_path):
    symbols = replace(CELL, table="table3", dataset="academic")
    first = RunStore(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    first.add(symbols, 0, FOLDS, 1)
    other = RunStore(tmp_path, OTHER)
    assert (CELL, 0) not in other
    assert (symbols, 0) in other  # which does not depend on the digits
    other.add(CELL, 0, BACK, 1)
    assert RunStore(tmp_path, SETUP).read_draws(CELL, 1) == {0: FOLDS}


@pytest.mark.parametrize("left", [1, 30, 120, -1])
def test_a_line_that_was_cut_off_is_measured_again(tmp_path, left):
    full = RunStore(tmp_path, SETUP)
    full.add(CELL, 0, FOLDS, 1)
    before = full.path.read_text(encoding="utf-8")
    full.add(CELL, 1, FOLDS, 1)
    line = full.path.read_text(encoding="utf-8")[len(before) :].rstrip("\n")
    full.path.write_text(before + line[:left], encoding="utf-8")
    cut = RunStore(tmp_path, SETUP)
    assert (CELL, 0) in cut
    assert (CELL, 1) not in cut
    cut.add(CELL, 1, BACK, 1)
    assert RunStore(tmp_path, SETUP).read_draws(CELL, 2) == {0: FOLDS, 1: BACK}


NINE = FOLDS.accuracies[:9]


@pytest.mark.parametrize("accuracies", [[], [0.5], [*NINE, 5], [*NINE, float("nan")], "1234567890", None])
def test_a_line_that_cannot_be_right_is_measured_again(tmp_path, accuracies):
    first = RunStore(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    text = first.path.read_text(encoding="utf-8")
    assert json.dumps(FOLDS.accuracies) in text
    first.path.write_text(text.replace(json.dumps(FOLDS.accuracies), json.dumps(accuracies)), encoding="utf-8")
    assert (CELL, 0) not in RunStore(tmp_path, SETUP)


@pytest.mark.parametrize("ties", ["", '"ties": null, ', '"ties": 2, ', '"ties": NaN, '])
def test_a_line_without_a_share_of_ties_is_measured_again(tmp_path, ties):
    """Such lines were written when a tie counted as an error for both classes."""
    first = RunStore(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    text = first.path.read_text(encoding="utf-8")
    assert '"ties": 0.25, ' in text
    first.path.write_text(text.replace('"ties": 0.25, ', ties), encoding="utf-8")
    assert (CELL, 0) not in RunStore(tmp_path, SETUP)


def test_nearest_references_have_no_ties(tmp_path):
    cell = Cell("table2", "published", "academic", "mnrcdt", "2", "nearest", 4, 10)
    RunStore(tmp_path, SETUP).add(cell, 0, Measurement([0.5]), 1)
    assert RunStore(tmp_path, SETUP).read_draws(cell, 1) == {0: Measurement([0.5])}


GLYPHS = GlyphFigures("A", "B", 30, 12, "refined", 10, 0.5, 0.1, 0.75, 0.1, 0.01, 0.02, 1)
ONE_SHOT = OneShotFigures("official", "mnrcdt", 20, 1.0, 0, 3.0, 3.0, 2)


def read_figures(folder):
    """Return the stored figures of the methods of GLYPHS and ONE_SHOT."""
    again = RunStore(folder, SETUP)
    return again.read_figures("glyphs", ["refined"]) | again.read_figures("omniglot", ["mnrcdt"])


def test_figures_of_studies_are_kept(tmp_path):
    first = RunStore(tmp_path, SETUP)
    first.add_figures("glyphs", GLYPHS, 1.5)
    first.add_figures("glyphs", replace(GLYPHS, method="registered", refined=None), 1.5)
    first.add_figures("omniglot", ONE_SHOT, 2)
    assert read_figures(tmp_path) == {"refined": (GLYPHS, 1.5), "mnrcdt": (ONE_SHOT, 2)}
    assert RunStore(tmp_path, SETUP).read_figures("glyphs", ["registered"])["registered"][0].refined is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("font", value) for value in (None, 3, [])),
        *(("queries", value) for value in (-1, 1.5, "12", True, None)),
        *(("refined", value) for value in ("10", -1, 0.5)),
        *(("first", value) for value in (-0.1, 1.1, float("nan"), "0.5", None, False)),
        *(("seconds", value) for value in (-1, float("nan"), float("inf"), None)),
        ("method", {}),
        ("unknown", 1),
    ],
)
def test_figures_that_cannot_be_right_are_measured_again(tmp_path, field, value):
    first = RunStore(tmp_path, SETUP)
    first.add_figures("glyphs", GLYPHS, 1)
    first.add_figures("omniglot", ONE_SHOT, 1)
    text = first.path.read_text(encoding="utf-8")
    stored = json.dumps(asdict(GLYPHS))
    assert stored in text
    first.path.write_text(text.replace(stored, json.dumps(asdict(GLYPHS) | {field: value})), encoding="utf-8")
    assert list(read_figures(tmp_path)) == ["mnrcdt"]


@pytest.mark.parametrize("seconds", ["-1", "NaN", "Infinity", "null"])
def test_times_that_cannot_be_right_are_measured_again(tmp_path, seconds):
    first = RunStore(tmp_path, SETUP)
    first.add(CELL, 0, FOLDS, 1)
    first.add_figures("glyphs", GLYPHS, 1)
    text = first.path.read_text(encoding="utf-8")
    assert text.count('"seconds": 1}\n') == 2
    first.path.write_text(text.replace('"seconds": 1}\n', f'"seconds": {seconds}}}\n'), encoding="utf-8")
    assert (CELL, 0) not in RunStore(tmp_path, SETUP)
    assert read_figures(tmp_path) == {}


def test_measurements_are_added_under_the_lock(tmp_path, monkeypatch):
    found = RunStore(tmp_path, SETUP)
    changed = []

    class Watched(dict):
        def __setitem__(self, key, value):
            changed.append(found._lock.locked())
            super().__setitem__(key, value)

    monkeypatch.setattr(found, "_runs", Watched())
    monkeypatch.setattr(found, "_figures", Watched())
    found.add(CELL, 0, FOLDS, 1)
    found.add_figures("glyphs", GLYPHS, 1)
    assert changed == [True, True]


def test_a_first_line_that_was_cut_off_is_no_harm(tmp_path):
    (tmp_path / FILE_NAME).write_text('{"setup": "0f', encoding="utf-8")
    RunStore(tmp_path, SETUP).add(CELL, 0, FOLDS, 1)
    assert (CELL, 0) in RunStore(tmp_path, SETUP)


def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text("my own notes\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"`out` must not contain a file runs.jsonl from another program"):
        RunStore(tmp_path, SETUP)
    assert path.read_text(encoding="utf-8") == "my own notes\n"


def test_a_trial_depends_on_its_library_only(tmp_path):
    setup = {**SETUP, "scikit-image": "1", "mahotas": "1"}
    votes = Measurement([0.5, 0.75])
    RunStore(tmp_path, setup).add(TRIAL, 0, votes, 1)
    assert RunStore(tmp_path, {**setup, "digits": "b", "scikit-image": "2"}).read_draws(TRIAL, 1) == {0: votes}
    assert (TRIAL, 0) not in RunStore(tmp_path, {**setup, "mahotas": "2"})


def test_runs_of_earlier_versions_are_read(tmp_path):
    """Lines as they were first written, when the set-up was the same."""
    common = '"draw": 0, "accuracies": [0.5, 1.0], "ties": null, "seconds": 2.0}'
    setups = [{"seed": 0, "digits": "a"}, {"seed": 0, "digits": None}, {"seed": 0, "digits": None, "mahotas": "1"}]
    keys = [hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()[:16] for setup in setups]
    digits = Cell("table2", "published", "linmnist", "mnrcdt", "2", "nearest", 2, 2)
    plain = replace(TRIAL, method="mnrcdt")
    measured = [(keys[0], "cell", digits), (keys[1], "trial", plain), (keys[2], "trial", TRIAL)]
    lines = [json.dumps({"setup": key, "is": setup}) for key, setup in zip(keys, setups)]
    lines += [f'{{"setup": "{key}", "{kind}": {json.dumps(asdict(found))}, {common}' for key, kind, found in measured]
    (tmp_path / FILE_NAME).write_text("\n".join([*lines, ""]), encoding="utf-8")
    store = RunStore(tmp_path, {"seed": 0, "digits": "a", "mahotas": "1", "scikit-image": "2"})
    for _, _, found in measured:
        assert store.read_draws(found, 1) == {0: Measurement([0.5, 1.0])}


def test_the_format_of_the_lines_is_kept(tmp_path):
    """Programs that read the file, and later versions, rely on it."""
    RunStore(tmp_path, SETUP).add(CELL, 3, FOLDS, 1.5)
    with RunStore(tmp_path, SETUP).path.open(encoding="utf-8") as file:
        setup, cell = (json.loads(line) for line in file)
    assert setup == {"setup": setup["setup"], "is": SETUP}
    rest = {"draw": 3, "accuracies": FOLDS.accuracies, "ties": 0.25, "seconds": 1.5}
    assert cell == {"setup": setup["setup"], "cell": asdict(CELL), **rest}
    line = {"setup": setup["setup"], "cell": asdict(replace(CELL, n_angles=4)), **rest}
    trial = {"setup": setup["setup"], "trial": asdict(replace(TRIAL, method="mnrcdt", dataset="linmnist10"))}
    trial |= {"draw": 0, "accuracies": [0.5, 1.0], "ties": None, "seconds": 2.0}
    with (tmp_path / FILE_NAME).open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(each)}\n" for each in (line, trial))
    again = RunStore(tmp_path, SETUP)
    assert again.read_draws(replace(CELL, n_angles=4), 4) == {3: FOLDS}
    assert again.read_draws(replace(TRIAL, method="mnrcdt", dataset="linmnist10"), 1) == {0: Measurement([0.5, 1.0])}


# ---------------------------------------------------------------- the set-up


def test_the_set_up_knows_digits_and_libraries(digits, monkeypatch):
    before = describe_setup(0, digits)
    assert describe_setup(0, digits) == before
    assert describe_setup(1, digits) != before
    assert describe_setup(0, digits._replace(labels=digits.labels[::-1])) != before
    monkeypatch.setattr(store, "version", lambda name: "0.0")
    assert describe_setup(0, digits) != before


def test_a_change_in_a_compiled_kernel_counts(tmp_path, monkeypatch):
    """The compiled kernels are not Python; the hash of their sources is part of every set-up."""
    symbols = replace(CELL, table="table3", dataset="academic")
    RunStore(tmp_path, describe_setup(0, None)).add(symbols, 0, FOLDS, 1)
    assert (symbols, 0) in RunStore(tmp_path, describe_setup(0, None))
    monkeypatch.setattr(store._kernels, "identify", lambda: "avx2, sources 0123")
    assert (symbols, 0) not in RunStore(tmp_path, describe_setup(0, None))


@pytest.fixture
def package(tmp_path):
    """A copy of the sources of the package."""
    source = Path(radoncdt.__file__).parent
    return Path(shutil.copytree(source, tmp_path / "radoncdt", ignore=shutil.ignore_patterns("lib", "__pycache__")))


def compute_hash(package):
    return hash_code(store._MEASURING, package)


def test_comments_and_docstrings_do_not_count(package):
    before = compute_hash(package)
    for path in package.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text(
            "\n".join(["# a comment", *lines, '"""A docstring of the last constant."""', ""]), encoding="utf-8"
        )
    assert compute_hash(package) == before
    path = package / "reproduction" / "protocol.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"""Draw the images and labels of a cell.', '"""Other words.'), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    assert compute_hash(package) == before


IRRELEVANT = [
    "catalogue/__init__.py",
    "cli/reproduce.py",
    "cli/__init__.py",
    "ink/__init__.py",
    "plot.py",
    "reproduction/__init__.py",
    "reproduction/report.py",
    "reproduction/sections.py",
    "reproduction/labels.py",
    "reproduction/figures.py",
    "reproduction/tables.py",
    "reproduction/choice.py",
    "reproduction/outcome.py",
    "reproduction/runner.py",
    "reproduction/table1.py",
    "estimators/__init__.py",
]
RELEVANT = [
    "_rcdt.py",
    "_cdt.py",
    "measures.py",
    "directions.py",
    "_numpy/__init__.py",
    "datasets/__init__.py",
    "datasets/affine.py",
    "datasets/mnist.py",
    "matching/descriptors.py",
    "reproduction/protocol.py",
    "reproduction/measurement.py",
    "reproduction/robustness.py",
    "reproduction/baselines.py",
]


def test_only_modules_that_measure_count():
    package = Path(radoncdt.__file__).parent
    files = {store._find_file(name, package) for name in find_modules(store._MEASURING, package)}
    assert files >= {package / name for name in RELEVANT}
    assert all((package / name).is_file() and package / name not in files for name in IRRELEVANT)


@pytest.mark.parametrize("name", ["reproduction/report.py", "catalogue/__init__.py", "cli/__init__.py"])
def test_other_code_does_not_count(package, name):
    before = compute_hash(package)
    path = package / name
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\nA_NEW_CONSTANT = 1\n", encoding="utf-8")
    assert compute_hash(package) == before


def change_a_number(path):
    """Add 1 to the first number in a source file."""
    constants = (node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Constant))
    numbers = [node for node in constants if type(node.value) is int]
    node = min(numbers, key=lambda number: (number.lineno, number.col_offset))
    lines = path.read_bytes().splitlines(keepends=True)
    line = lines[node.lineno - 1]
    lines[node.lineno - 1] = line[: node.col_offset] + b"%d" % (node.value + 1) + line[node.end_col_offset :]
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    "name", ["reproduction/protocol.py", "_rcdt.py", "_numpy/quantiles.py", "measures.py", "datasets/affine.py"]
)
def test_a_changed_constant_counts(package, name):
    before = compute_hash(package)
    change_a_number(package / name)
    assert compute_hash(package) != before


def test_everything_that_runs_during_a_measurement_counts(digits):
    """Functions of the package that are called are in modules that are hashed."""
    cells = [
        Cell("table2", "published", "linmnist", "mnrcdt", "2", "nearest", 2, 2),
        Cell("table2", "published", "academic", "mnrcdt", "2", "nearest", 2, 1),
        Cell("table4", "independent", "linmnist", "rcdt", None, "svm", 2, 10, variant="fit canvas"),
    ]
    called = set()

    def profile(frame, event, _):
        called.add(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        measured = list(protocol.measure_cells(cells, Draw(0, 0, digits)))
        trials = [Trial("all", 2, 1, method, 1, 1) for method in robustness.METHODS]
        measured += robustness.measure_trials(trials, 0, None, 1)
    finally:
        sys.setprofile(None)
    assert len(measured) == len(cells) + len(trials)
    package = Path(radoncdt.__file__).parent
    files = {Path(file).relative_to(package) for file in called if Path(file).is_relative_to(package)}
    names = {".".join(("radoncdt", *file.with_suffix("").parts)).removesuffix(".__init__") for file in files}
    assert names >= {"radoncdt._rcdt", "radoncdt.measures", "radoncdt.matching.descriptors"}
    assert names - {"radoncdt"} <= find_modules(store._MEASURING, package).keys()

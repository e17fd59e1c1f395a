"""The documents agree with the code: examples run, links exist, and figures are measured."""

import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pages import list_blocks, list_headings, run_page

import radoncdt
from radoncdt import datasets
from radoncdt.reproduction import Cell, labels, robustness
from radoncdt.reproduction.measurement import summarise
from radoncdt.reproduction.protocol import Draw, measure_cells
from radoncdt.reproduction.tables import TABLES, find_printed

ROOT = Path(__file__).parent.parent


PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]


def check_readme(names):
    assert names["model"].predict([names["photograph"]]) == ["triangle"]


def check_library(names):
    assert Path("pipeline.png").stat().st_size > 10_000
    np.testing.assert_allclose(names["ink"], names["triangle"], atol=1e-6)


def check_transport(names):
    assert names["halfway"].shape == (64, 64)


def check_cluster(names):
    assert names["features"].shape == (1000, 64)


def check_recognition(names):
    font = datasets.list_fonts(system=False)[0]
    templates = datasets.glyphs(font, "ABCDEFGHJKLM", size=60)
    found = names["find_characters"](templates, [np.rot90(image) for image in templates[4:6]])
    assert found.shape == (2, 10)
    assert found[:, 0].tolist() == [4, 5]


def check_catalogue(names):
    assert len(names["found"].matches) == 3
    assert names["found"].matches[0].file == f"tracings/{names['marks'].queries(1, rng=1).marks[0]:03}.png"


CLAIMS = {
    "README.md": check_readme,
    "docs/start/library.md": check_library,
    "docs/howto/transport.md": check_transport,
    "docs/howto/cluster.md": check_cluster,
    "docs/howto/manage-a-catalogue.md": check_catalogue,
    "docs/results/recognition.md": check_recognition,
}
"""What the names mean that the code of some pages defines, beyond what it prints."""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_documents_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    names = run_page(path)
    check = CLAIMS.get(path.relative_to(ROOT).as_posix())
    if check:
        check(names)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_all_code_is_run_or_says_why_not(path):
    kinds = {f"{path.name}:{block.line}": block.kind for block in list_blocks(path.read_text(encoding="utf-8"))}
    assert {
        line: kind for line, kind in kinds.items() if kind not in ("python", "sh", "text") and kind[:1] != "{"
    } == {}


def test_what_is_printed_is_compared(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\nprint(2.5)\n```\n\n```text\n1\n2.…\n```\n", encoding="utf-8")
    run_page(page)
    for printed in ("1", "1\n2", "1\n2.5\n3", "…\n2.6"):
        page.write_text(f"```python\nprint(1)\nprint(2.5)\n```\n\n```text\n{printed}\n```\n", encoding="utf-8")
        with pytest.raises(AssertionError, match=r"page\.md:1 prints"):
            run_page(page)
    page.write_text("```python\nprint(1)\nprint(2.5)\n```\n\n```text\n…\n2.5\n```\n", encoding="utf-8")
    run_page(page)


def test_blocks_that_cannot_run_are_marked():
    text = """
1. A step:

   <!-- not run: needs a cluster -->
   ```sh
   dask worker
   ```

<!-- needs a_missing_package -->
```python
import a_missing_package
```

    make
"""
    worker, missing, indented = list_blocks(text)
    assert (worker.kind, worker.code, worker.is_run) == ("sh", "dask worker\n", False)
    assert (missing.is_run, missing.needs) == (True, "a_missing_package")
    assert indented.kind == "indented"


def test_code_for_a_missing_package_is_compiled(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- needs a_missing_package -->\n```python\nimport a_missing_package\n```\n", encoding="utf-8")
    run_page(page)
    page.write_text("<!-- needs a_missing_package -->\n```python\nimport a_missing-package\n```\n", encoding="utf-8")
    with pytest.raises(SyntaxError):
        run_page(page)


def test_shell_commands_that_nothing_runs_are_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```sh\nrm -r .\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="no test runs the command"):
        run_page(page)


# header of the table of the study of robustness
STUDY = "| method | aff 5 / 10 | elastic 5 / 10 | salt 5 / 10 | all 5 / 10 | LinMNIST-10 11 / 25 / 50 |"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elastic", "salt"])
def test_the_figures_of_the_study_of_robustness_are_measured(name):
    """Only registration on two of the sets is measured; the other figures are measured in the same way."""
    lines = (ROOT / "docs" / "results" / "robustness.md").read_text(encoding="utf-8").splitlines()
    title, _, *rows = [line.strip("| ").split(" | ") for line in lines[lines.index(STUDY) :]]
    column = title.index(f"{labels.SETS[name]} 5 / 10")
    printed = {row[0]: row[column] for row in rows if len(row) == len(title)}
    methods = ("registered", "robust")
    trials = [
        t for t in robustness.list_trials(20) if t.dataset == name and t.method in methods and t.k == 1 and not t.varied
    ]
    found = {trial: np.mean(found.accuracies) for trial, found in robustness.measure_trials(trials, 0, None, -1)}
    for method in methods:
        few, more = (found[t] for t in trials if t.method == method)
        assert printed[labels.METHODS[method]] == f"{few:.3f} / {more:.3f}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_names_in_documents_exist(path):
    text = path.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", re.sub(r"`[^`\n]*`", "", text)):
        if target.startswith("https://"):
            continue
        page = path.parent / target if target else path
        assert page.exists(), target
        assert not anchor or anchor in list_headings(page.read_text(encoding="utf-8")), f"{target}#{anchor}"
    tests = {
        p: p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("*.py")
    }  # files in two folders may have the same name
    for file in re.findall(r"`tests/(\w+\.py)", text):
        assert any(path.name == file for path in tests), file
    for name in re.findall(r"\b(test_\w+)\b(?!\.py)", text):
        assert any(f"def {name}(" in code for code in tests.values()), name


def test_every_public_name_is_in_the_reference():
    listed, module = set(), None
    for line in (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8").splitlines():
        module = line.split()[-1] if line.startswith(".. currentmodule::") else module
        listed |= {f"{module}.{line.strip()}"} if re.fullmatch(r"   [\w.]+", line) else set()
    submodules = [name for name in radoncdt._SUBMODULES if name not in ("matching", "estimators")]  # names of radoncdt
    public = {f"radoncdt.{name}" for name in radoncdt.__all__ if name not in submodules}
    for name in submodules:
        public |= {f"radoncdt.{name}.{each}" for each in getattr(radoncdt, name).__all__}
    assert public <= listed
    assert {name for name in listed - public if name.split(".")[1] not in ("matching", "estimators")} == set()


def run_example(monkeypatch, *arguments):
    """Run examples/recognise_shapes.py; return its exit code."""
    script = ROOT / "examples" / "recognise_shapes.py"
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    with pytest.raises(SystemExit) as exit_:
        runpy.run_path(str(script), run_name="__main__")
    return exit_.value.code


def test_the_table_in_the_document_is_what_the_example_prints(monkeypatch, capsys):
    assert run_example(monkeypatch) == 0
    printed = capsys.readouterr().out
    start = (ROOT / "docs" / "start" / "index.md").read_text(encoding="utf-8")
    table = re.search(r"features +accuracy\n([^`]+\n)+", start)[0]
    for line in table.splitlines():
        assert line.strip() in printed


def test_the_example_refuses_zero_copies(monkeypatch, capsys):
    assert run_example(monkeypatch, "--copies", "0") == 2
    assert "--copies must be at least 1, got 0" in capsys.readouterr().err


# ---------------------------------------------------------------- figures of the reproduction

FEATURES = {label: name for name, label in labels.FEATURES.items()}
NORMS = {label: name for name, label in labels.NORMS.items()}
DATASETS = {label: name for name, label in labels.DATASETS.items()}
# columns of the published protocol
PUBLISHED = (
    "10 maps for all images",
    "the canvas stays as it is",
    "maximum over the circle",
    "πk/n in [0, π)",
    "solved to the end",
)
# columns of variants, and how their cells differ from the published protocol
OTHERWISE = {
    "enlarged by each step, and resized": {"variant": "fit canvas"},
    "over [0, π) alone": {"variant": "half circle"},
    "n angles from 0 to π, both included": {"variant": "closed grid"},
    "LIBLINEAR, tolerance 0.1": {"variant": "loose solver"},
    "a map for each image": {"protocol": "independent"},
}


def read_tables(text):
    """Read the tables of a document, each a list of rows by the names of the columns."""
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        header, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines())
        yield [dict(zip(header, row)) for row in rows]


def find_cell(table, label, angles, size):
    """Find the cell of a table with a feature, or a data set and a norm, by the labels in the documents."""
    first, _, second = label.partition(" ")
    if second in NORMS:
        dataset = DATASETS[first]
        size = TABLES[table].sizes[dataset][0] if size is None else size
        return Cell(table, "published", dataset, "mnrcdt", NORMS[second], "nearest", angles, size)
    dataset = "academic" if table == "table3" else "linmnist"
    return Cell(table, "published", dataset, FEATURES[first], None, "svm", int(second) if second else angles, size)


def list_table_claims(text):
    """List the cells of the paper's tables in a document, with what the document states about them."""
    for rows in read_tables(text):
        first, *labels = rows[0]
        if first in ("angles", "class size") and "(" in rows[0][labels[0]]:
            table = "table2" if first == "angles" else "table4" if "R-CDT 32" in labels else "table3"
            for row in rows:
                for label in labels:
                    number = int(row[first])
                    place = (number, None) if first == "angles" else (None, number)
                    parts = re.fullmatch(r"([\d.]+)(?:, max ([\d.]+))? \(([\d.]+)\)(\*?)", row[label])
                    ours, largest, printed, star = parts.groups()
                    claim = {"mean": ours, "paper": printed, "max": largest, "star": bool(star)}
                    yield find_cell(table, label, *place), claim


def list_variant_claims(text):
    """List the cells in the tables of variants, with what the document states about them."""
    for rows in read_tables(text):
        if "paper" in rows[0]:
            (published,) = set(PUBLISHED) & set(rows[0])
            (otherwise,) = set(OTHERWISE) & set(rows[0])
            for row in rows:
                angles = None if row["angles"] == "–" else int(row["angles"])
                cell = find_cell(f"table{row['table']}", row["feature"], angles, int(row["class size"]))
                yield cell, {"mean": row[published], "paper": row["paper"]}
                yield replace(cell, **OTHERWISE[otherwise]), {"mean": row[otherwise]}


def list_tie_claims(text):
    """List the cells in the table of ties, with what the document states about them."""
    for rows in read_tables(text):
        for row in rows if "ties, 10 maps for all images" in rows[0] else ():
            cell = find_cell("table4", "Euclidean", None, int(row["class size"]))
            yield cell, {"ties": row["ties, 10 maps for all images"]}
            yield replace(cell, protocol="independent"), {"ties": row["ties, a map for each image"]}


def list_summary_claims(text):
    """List the cells in the first table of the document, with what it states about them."""
    for rows in read_tables(text):
        for row in rows if "ours, pixels" in rows[0] else ():
            for protocol, suffix in (("published", ""), ("independent", ", independent maps")):
                for name, feature, angles in (("mNR-CDT", "mnrcdt", 32), ("pixels", "euclidean", None)):
                    cell = Cell("table4", protocol, "linmnist", feature, None, "svm", angles, int(row["class size"]))
                    printed = {"paper": row["paper, mNR-CDT"]} if name == "mNR-CDT" else {}
                    yield cell, {"mean": row[f"ours, {name}{suffix}"], **printed}


@pytest.mark.slow
@pytest.mark.parametrize(("table", "least"), [("table2", 28 + 50), ("table3", 36 + 4 + 12), ("table4", 45 + 40 + 20)])
def test_the_figures_of_the_reproduction_are_measured(table, least):
    """Every figure in the tables of docs/results/reproduction.md is that of ten draws of seed 0."""
    text = (ROOT / "docs" / "results" / "reproduction.md").read_text(encoding="utf-8")
    every = [*list_table_claims(text), *list_variant_claims(text), *list_tie_claims(text), *list_summary_claims(text)]
    claims = [(cell, claim) for cell, claim in every if cell.table == table]
    assert len(claims) >= least
    digits, draws = datasets.load_mnist(), {}
    for protocol in ("published", "independent"):
        some = list(dict.fromkeys(cell for cell, _ in claims if cell.protocol == protocol))
        for draw in range(10 if some else 0):
            for cell, measurement in measure_cells(some, Draw(0, draw, digits)):
                draws.setdefault(cell, {})[draw] = measurement
    for cell, claim in claims:
        result = summarise(cell, find_printed(cell), draws[cell])
        if "mean" in claim:
            assert claim["mean"] == f"{result.mean:.3f}", cell
        if "ties" in claim:
            assert claim["ties"] == f"{100 * result.ties:.1f} %", cell
        if "paper" in claim:
            assert claim["paper"] == f"{result.paper.mean:.{result.paper.digits}f}", cell
        if "star" in claim:
            largest = result.fold_maximum
            assert claim["max"] == (None if largest is None else f"{largest:.3f}"), cell
            assert claim["star"] == bool(result.flag), cell

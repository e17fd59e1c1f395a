"""What the documents say is what happens."""

import re
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.experiments import Cell, paper
from radoncdt.experiments.run import TABLES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def run_python_in(text):
    """Run the blocks of Python in a document one after the other, and return what they named."""
    names = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code, names)
    return names


def test_the_python_in_the_readme_runs(capsys):
    names = run_python_in(README)
    square, triangle = np.linalg.norm(names["features"] - names["query"], axis=1)
    assert triangle < 0.05 < 0.5 < square
    assert "['triangle']" in capsys.readouterr().out


def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_python_in((ROOT / "docs" / "tutorial.md").read_text())
    assert (tmp_path / "pipeline.png").stat().st_size > 10_000
    assert names["halfway"].shape == (64, 64)
    np.testing.assert_allclose(names["ink"], names["triangle"], atol=1e-6)


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")], ids=lambda path: path.name)
def test_links_and_names_in_documents_exist(path):
    text = path.read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        assert target.startswith("https://") or (path.parent / target).exists(), target
    tests = {p.name: p.read_text() for p in (ROOT / "tests").glob("*.py")}
    for file in re.findall(r"`tests/(\w+\.py)", text):
        assert file in tests, file
    for name in re.findall(r"\b(test_\w+)\b(?!\.py)", text):
        assert any(f"def {name}(" in code for code in tests.values()), name


def test_every_public_name_is_in_the_readme_or_the_method():
    text = README + (ROOT / "docs" / "method.md").read_text() + (ROOT / "docs" / "core.md").read_text()
    for name in radoncdt.__all__:
        assert f"`{name}" in text or f"radoncdt.{name}" in text, name


def run_example(monkeypatch, *arguments):
    script = ROOT / "examples" / "recognise_shapes.py"
    monkeypatch.setattr(sys, "argv", [str(script), *arguments])
    with pytest.raises(SystemExit) as exit_:
        runpy.run_path(str(script), run_name="__main__")
    return exit_.value.code


def test_the_table_in_the_readme_is_what_the_example_prints(monkeypatch, capsys):
    assert run_example(monkeypatch) == 0
    printed = capsys.readouterr().out
    table = re.search(r"features +accuracy\n( .*\n)+", README)[0]
    for line in table.splitlines():
        assert line.strip() in printed


def test_the_example_refuses_no_copies(monkeypatch, capsys):
    assert run_example(monkeypatch, "--copies", "0") == 2
    assert "--copies must be at least 1, got 0" in capsys.readouterr().err


# ---------------------------------------------------------------- figures of the experiments

FEATURES = {"Euclidean": "euclidean", "R-CDT": "rcdt", "mNR-CDT": "mnrcdt"}
VARIANTS = {
    "over [0, π) alone": {"variant": "half circle"},
    "n angles from 0 to π, both included": {"variant": "closed grid"},
    "LIBLINEAR, tolerance 0.1": {"variant": "loose solver"},
    "a map for each image": {"protocol": "independent"},
}


def tables(text):
    """The tables of a document, each a list of rows by the names of the columns."""
    for block in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        header, _, *rows = ([cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines())
        yield [dict(zip(header, row)) for row in rows]


def cell_of(row, **changes):
    dataset, _, norm = row["feature"].partition(" ")
    size, table = int(row["class size"]), f"table{row['table']}"
    angles = None if row["angles"] == "–" else int(row["angles"])
    protocol = row.get("protocol", "published")
    if norm:
        norms = {"‖·‖∞": "inf", "‖·‖₂": "2"}
        cell = Cell(table, protocol, dataset.lower(), "mnrcdt", norms[norm], "nearest", angles, size)
    else:
        dataset = "academic" if table == "table3" else "linmnist"
        cell = Cell(table, protocol, dataset, FEATURES[row["feature"]], None, "svm", angles, size)
    return replace(cell, **changes)


def figures_in_reproduction():
    """Cells, the figures that the page has of them, the paper's, and, where it is there, the std between draws."""
    for rows in tables((ROOT / "docs" / "reproduction.md").read_text()):
        for row in rows:
            if "paper" in row:
                published = row.get("ours") or next(row[key] for key in row if key in PUBLISHED)
                yield cell_of(row), published, row["paper"], row.get("std between draws")
                yield from (
                    (cell_of(row, **changes), row[key], row["paper"], None)
                    for key, changes in VARIANTS.items()
                    if key in row
                )


PUBLISHED = ("10 maps for all images", "maximum over the circle", "πk/n in [0, π)", "solved to the end")


def figures_in_readme():
    for rows in tables(README):
        for row in rows:
            if "class size" in row:
                size, printed = int(row["class size"]), row["paper, mNR-CDT"]
                for protocol, suffix in (("published", ""), ("independent", ", independent maps")):
                    for name, feature, angles in (("mNR-CDT", "mnrcdt", 32), ("pixels", "euclidean", None)):
                        cell = Cell("table4", protocol, "linmnist", feature, None, "svm", angles, size)
                        yield cell, row[f"ours, {name}{suffix}"], printed if name == "mNR-CDT" else None, None


def test_the_figures_of_the_reproduction_are_measured():
    """Every figure of docs/reproduction.md and of the README's table, with ten draws of seed 0."""
    said = [*figures_in_reproduction(), *figures_in_readme()]
    assert len(said) > 100
    digits, groups, runs = datasets.load_mnist(), {}, {}
    for cell, _, printed, _ in said:
        if printed is not None:
            assert float(printed) == paper.figure_of(cell).mean
        groups.setdefault((cell.table, cell.protocol), set()).add(cell)
    for (table, _), cells in groups.items():
        some = sorted(cells, key=str)
        for draw in range(10):
            for cell, accuracies in TABLES[table].run(TABLES[table], some, 0, draw, digits):
                runs.setdefault(cell, []).append(np.mean(accuracies))
    for cell, figure, _, between in said:
        assert figure == f"{np.mean(runs[cell]):.3f}", cell
        assert between in (None, f"{np.std(runs[cell], ddof=1):.3f}"), cell

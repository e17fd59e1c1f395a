"""The documents agree with the code: examples run, and links and names exist."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from pages import run_page

import radoncdt

ROOT = Path(__file__).parent.parent


PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_documents_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(path)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_names_in_documents_exist(path):
    text = path.read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        assert target.startswith("https://") or (path.parent / target).exists(), target
    tests = {p: p.read_text() for p in (ROOT / "tests").rglob("*.py")}  # files in two folders may have the same name
    for file in re.findall(r"`tests/(\w+\.py)", text):
        assert any(path.name == file for path in tests), file
    for name in re.findall(r"\b(test_\w+)\b(?!\.py)", text):
        assert any(f"def {name}(" in code for code in tests.values()), name


def test_every_public_name_is_in_the_reference():
    listed, module = set(), None
    for line in (ROOT / "docs" / "reference" / "api.md").read_text().splitlines():
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
    start = (ROOT / "docs" / "start" / "index.md").read_text()
    table = re.search(r"features +accuracy\n([^`]+\n)+", start)[0]
    for line in table.splitlines():
        assert line.strip() in printed


def test_the_example_refuses_zero_copies(monkeypatch, capsys):
    assert run_example(monkeypatch, "--copies", "0") == 2
    assert "--copies must be at least 1, got 0" in capsys.readouterr().err

"""What the documents say is what happens."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import radoncdt

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

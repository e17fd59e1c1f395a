"""The documents agree with the code: examples run, and links and names exist."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from pages import list_blocks, list_headings, run_page

import radoncdt
from radoncdt import datasets

ROOT = Path(__file__).parent.parent


PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
]


def check_readme(names):
    assert names["model"].predict([names["moved"]]) == ["triangle"]


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

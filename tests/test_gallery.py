"""The scripts of the gallery are short and deterministic, and begin with a title and a summary. The site runs them."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

GALLERY = Path(__file__).parent.parent / "examples" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))
UNSEEDED = re.compile(
    r"\b(?:np|numpy)\.random\.(?!default_rng\b|Generator\b)\w+|^\s*(?:import|from) random\b", re.MULTILINE
)
SEEDED_CALLS = ("random_affine", "academic", "lin_mnist", "salt", "elastic", "bars", "sticks", "queries")
"""Functions whose argument `rng` is the only randomness."""


def count_code_lines(text):
    """Count the lines with code: neither blank, nor comments, nor the docstring of the module."""
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    docstring = ast.parse(text).body[0]
    return len(lines - set(range(docstring.lineno, docstring.end_lineno + 1)))


def get_name(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def test_there_are_at_least_twelve_scripts():
    assert len(SCRIPTS) >= 12
    assert all(re.fullmatch(r"plot_\d\d_[a-z_]+\.py", path.name) for path in SCRIPTS)  # the site runs only plot_*
    assert len({path.name[:7] for path in SCRIPTS}) == len(SCRIPTS)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_has_a_title_a_summary_and_sections(path):
    text = path.read_text(encoding="utf-8")
    title, line, blank, summary, *rest = ast.get_docstring(ast.parse(text)).splitlines()
    assert title
    assert line == "=" * len(title)
    assert blank == ""
    assert summary.endswith("."), "the summary must be one sentence on one line"
    assert rest[0] == ""
    assert len(re.findall(r"^# %%$", text, re.MULTILINE)) >= 3
    for heading, underline in re.findall(r"^# (.+)\n# (-+)$", text, re.MULTILINE):
        assert len(underline) == len(heading), heading


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_short(path):
    assert 20 <= count_code_lines(path.read_text(encoding="utf-8")) <= 60


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_deterministic(path):
    text = path.read_text(encoding="utf-8")
    assert UNSEEDED.findall(text) == []
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        if get_name(call) == "default_rng":
            assert call.args, "default_rng must have a seed"
        elif get_name(call) in SEEDED_CALLS:
            assert any(keyword.arg == "rng" for keyword in call.keywords), f"{get_name(call)} must have rng="

"""Runs the code blocks of a document, as a reader would who types them one after the other into an empty folder.

Blocks of the kinds `python` and `sh` are run. What they print is compared with the block of the kind `text` that
follows directly, if there is one; there, … stands for anything on a line, or for any lines. Comments, which readers do
not see, add to this::

    <!-- setup              followed by Python code that prepares the next blocks, and by -->
    <!-- needs NAME -->     before a block that is run if the module NAME is installed, and only compiled otherwise
    <!-- not run: WHY -->   before a block that is not run
"""

import glob
import re
import shlex
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from radoncdt.cli import main

__all__ = ["Block", "list_blocks", "list_headings", "run_page"]

_COMMENT = re.compile(r"<!-- (?:setup\n(?P<setup>.*?)|needs (?P<needs>\w+) |not run: (?P<reason>.+) )-->\s*", re.DOTALL)
_NOT_RUN = ("pip ", "python3 ", "python ", "py ", "make", "git ", "cd ", "apt ", "source ", ".venv", "pre-commit ")
"""Beginnings of shell commands that install something, or that other jobs run."""


@dataclass(frozen=True)
class Block:
    """A block of code in a document."""

    kind: str
    """The word behind the fence; "indented" for a block without a fence."""
    code: str
    line: int
    output: str | None = None
    """The text that the block prints, according to the document."""
    needs: str | None = None
    """The module without which the block is not run."""
    is_run: bool = True


def parse(text: str) -> list[Token]:
    """Parse a document."""
    return MarkdownIt("commonmark").enable("table").parse(text)


def list_blocks(text: str) -> list[Block]:
    """Return all blocks of a document; hidden blocks, which prepare others, are Python."""
    tokens, blocks = parse(text), []
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None]):
        line = token.map[0] + 1 if token.map else 0
        comment = _COMMENT.fullmatch(before.content) if before and before.type == "html_block" else None
        if token.type == "html_block" and (hidden := _COMMENT.fullmatch(token.content)) and hidden["setup"]:
            blocks.append(Block("python", hidden["setup"], line))
        elif token.type == "code_block":
            blocks.append(Block("indented", token.content, line))
        elif token.type == "fence":
            output = after.content if after and after.type == "fence" and after.info == "text" else None
            is_run = token.info in ("python", "sh") and not (comment and comment["reason"])
            needs = comment["needs"] if comment else None
            blocks.append(Block(token.info, token.content, line, output if is_run else None, needs, is_run))
    return blocks


def list_headings(text: str) -> list[str]:
    """Return the anchors of the headings of a document, down to the third level, as sites make them."""
    pairs = pairwise(parse(text))
    titles = [title.content for opening, title in pairs if opening.type == "heading_open" and opening.tag <= "h3"]
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return [re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain]


def run_page(path: Path) -> dict[str, Any]:
    """Run all blocks of a document in the current folder, and return the names that those in Python define."""
    names: dict[str, Any] = {"__name__": path.stem}
    for block in list_blocks(path.read_text(encoding="utf-8")):
        place = f"{path}:{block.line}"
        printed = StringIO()
        with redirect_stdout(printed):
            if block.kind == "python" and block.is_run:
                _run_python(block, names, place)
            elif block.kind == "sh" and block.is_run:
                for command in block.code.replace("\\\n", " ").splitlines():
                    _run_command(command)
        if block.output is not None and (block.needs is None or find_spec(block.needs)):
            assert _matches(block.output, printed.getvalue()), f"{place} prints\n{printed.getvalue()}"
    return names


def _run_python(block: Block, names: dict[str, Any], place: str) -> None:
    code = compile(block.code, place, "exec")
    if block.needs is None or find_spec(block.needs):
        exec(code, names)


def _run_command(command: str) -> None:
    words = shlex.split(command, comments=True)
    if not words or command.startswith(_NOT_RUN):
        return
    assert words[0] == "radoncdt", f"no test runs the command {command!r}"
    found = [sorted(glob.glob(word)) or [word] if "*" in word else [word] for word in words[1:]]
    try:
        status = main([word for group in found for word in group])
    except SystemExit as stop:  # --version and --help
        status = stop.code
    assert not status, command


def _matches(expected: str, printed: str) -> bool:
    """Return whether a text is what was printed; … stands for anything on a line, or for any lines."""
    lines, others = ([line.rstrip() + "\n" for line in text.rstrip().splitlines()] for text in (expected, printed))
    patterns = ["(?:.*\n)*" if line == "…\n" else ".*".join(map(re.escape, line.split("…"))) for line in lines]
    return re.fullmatch("".join(patterns), "".join(others)) is not None

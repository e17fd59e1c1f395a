"""Runs the code blocks of a document, as a reader would who types them one after the other into an empty folder."""

import glob
import re
import shlex
from pathlib import Path
from typing import Any

from radoncdt.cli import main

__all__ = ["list_blocks", "run_page"]

_BLOCK = re.compile(r"^(?:```(python|sh)\n(.*?)^```|<!-- setup\n(.*?)^-->)", re.DOTALL | re.MULTILINE)
_NOT_RUN = ("pip ", "python3 ", "python ", "py ", "make", "git ", "cd ", "apt ", "source ", ". ", ".venv")
"""Beginnings of shell commands that install something, or that other jobs run."""


def list_blocks(text: str) -> list[tuple[str, str]]:
    """Return the kind and the code of all blocks of a document; hidden blocks, which prepare others, are Python."""
    return [(kind or "python", code or hidden) for kind, code, hidden in _BLOCK.findall(text)]


def run_page(path: Path) -> dict[str, Any]:
    """Run all blocks of a document in the current folder, and return the names that those in Python define."""
    names: dict[str, Any] = {"__name__": path.stem}
    for kind, code in list_blocks(path.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(code, str(path), "exec"), names)
        else:
            for command in code.replace("\\\n", " ").splitlines():
                _run_command(command)
    return names


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

"""Files that commands write: checks before the work begins, and writing as a whole or not at all."""

import argparse
import os
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from radoncdt._extras import require
from radoncdt._files import write_atomically
from radoncdt._validation import ArgumentValueError

__all__ = ["ANY", "FIGURE", "check_outputs", "write_bytes", "write_figure"]

ANY = ()  # the endings of a file whose name may end in anything
FIGURE = (".png", ".pdf", ".svg")  # the endings of a figure that messages name; matplotlib knows more


def check_outputs(options: argparse.Namespace, inputs: Iterable[Path], **endings: Sequence[str]) -> None:
    """Refuse, before the work begins, outputs that cannot be written, are the same file, or would replace an input.

    Parameters
    ----------
    options : Namespace
    inputs : iterable of paths
        The files that the command reads, beside the mask.
    **endings : sequence of str
        For each option that may name an output, the endings that are allowed: some endings, `ANY` or `FIGURE`.
    """
    sources = [path for path in (*inputs, getattr(options, "mask", None)) if path is not None]
    outputs = {name: path for name in endings if (path := getattr(options, name)) is not None}
    for name, path in outputs.items():
        if problem := _find_problem(path, endings[name], sources):
            raise ArgumentValueError(name, f"must {problem}, got {path}")
    for (name, path), (other, other_path) in combinations(outputs.items(), 2):
        if path == other_path:
            raise ArgumentValueError(name, f"and --{other} must be two files, got {path} twice")


def _find_problem(path: Path, endings: Sequence[str], inputs: list[Path]) -> str | None:
    """Return the first requirement that an output does not meet, as the words after "must"; None if it meets all."""
    if endings and path.suffix.lower() not in (_list_figure_endings() if endings == FIGURE else endings):
        return f"end in {', '.join(endings[:-1])}{' or ' if len(endings) > 1 else ''}{endings[-1]}"
    if not path.parent.is_dir():
        return "be in a folder that exists"
    if path.is_dir():
        return "be a file and not a folder"
    if not os.access(path.parent, os.W_OK):
        return "be in a folder that is writable"
    if path.is_file() and any(_is_same(other, path) for other in inputs):
        return "not replace a file that the command reads"
    if path.is_file() and os.access(path, os.R_OK) and _is_database(path):
        return "not replace a catalogue or another database"
    return None


def _list_figure_endings() -> list[str]:
    require("matplotlib", "drawing a figure")
    from matplotlib.backend_bases import FigureCanvasBase

    return [f".{name}" for name in FigureCanvasBase.get_supported_filetypes()]


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # it does not exist, or the system refuses its name
        return False


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def write_bytes(path: Path, data: str | bytes) -> None:
    """Write a text in UTF-8, or bytes."""
    content = data.encode() if isinstance(data, str) else data
    write_atomically(path, lambda file: file.write(content))


def write_figure(path: Path, figure: Any) -> None:
    """Write a figure of matplotlib."""
    write_atomically(path, partial(figure.savefig, format=path.suffix[1:], dpi=110))

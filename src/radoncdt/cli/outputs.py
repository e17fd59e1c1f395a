"""Files that commands write: checks before the work begins, and writing as a whole or not at all."""

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any

from radoncdt._extras import require
from radoncdt._files import write_atomically
from radoncdt._validation import ArgumentValueError

__all__ = ["check_different", "check_figure", "check_output", "write_bytes", "write_figure"]

Inputs = Iterable[Path | None]


def check_output(path: Path | None, argument: str, *, endings: Iterable[str] = (), inputs: Inputs = ()) -> None:
    """Refuse, before the work begins, a file that cannot be written or that would replace a file that is read.

    Parameters
    ----------
    path : path or None
        The file, or None if it was not asked for.
    argument : str
        The name of the argument in messages.
    endings : iterable of str
        The endings that the name may have; any by default.
    inputs : iterable of paths or None
        Files that the command reads.
    """
    if path is None:
        return

    def refuse(problem: str) -> None:
        raise ArgumentValueError(argument, f"must {problem}, got {path}")

    allowed = list(endings)
    if allowed and path.suffix.lower() not in allowed:
        refuse(f"end in {' or '.join(allowed)}")
    if not path.parent.is_dir():
        refuse("be in a folder that exists")
    if path.is_dir():
        refuse("be a file and not a folder")
    if not os.access(path.parent, os.W_OK):
        refuse("be in a folder that is writable")
    if path.is_file() and any(other is not None and _is_same(other, path) for other in inputs):
        refuse("not replace a file that the command reads")
    if path.is_file() and os.access(path, os.R_OK) and _is_database(path):
        refuse("not replace a catalogue or another database")


def check_figure(path: Path | None, argument: str, *, inputs: Inputs = ()) -> None:
    """Do the same for a figure."""
    if path is None:
        return
    require("matplotlib", "drawing a figure")
    from matplotlib.backend_bases import FigureCanvasBase

    if path.suffix.lower().lstrip(".") not in FigureCanvasBase.get_supported_filetypes():
        raise ArgumentValueError(argument, f"must end in .png, .pdf or .svg, got {path}")
    check_output(path, argument, inputs=inputs)


def check_different(**paths: Path | None) -> None:
    """Refuse two outputs in one file."""
    (first, path), (second, other) = paths.items()
    if path is not None and path == other:
        raise ArgumentValueError(first, f"and --{second} must be two files, got {path} twice")


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

    def save(file: IO[bytes]) -> None:
        file.write(content)

    write_atomically(path, save)


def write_figure(path: Path, figure: Any) -> None:
    """Write a figure of matplotlib."""
    write_atomically(path, partial(figure.savefig, format=path.suffix[1:], dpi=110))

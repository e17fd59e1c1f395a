"""Image files that commands read."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt._progress import track
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.cli.messages import complain
from radoncdt.ink import InkError, image_files, read_ink

__all__ = ["Images", "add_files_argument", "list_files"]


def add_files_argument(parser: argparse.ArgumentParser) -> None:
    """Add the files of commands that treat every image alike."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="image files, or folders of them")


def list_files(argument: str, paths: list[Path]) -> list[Path]:
    """The image files among paths, and those in folders among them."""
    files = image_files(paths)
    if not files:
        raise ArgumentValueError(argument, f"must be image files or folders of them, got {', '.join(map(str, paths))}")
    return files


class Images:
    """Iterates over image files: yields the path and the ink of each one, and complains about those without ink.

    Parameters
    ----------
    paths : list of paths
    ink : dict
        Arguments of `radoncdt.ink.read_ink`.
    on_progress : callable
        See `radoncdt._typing.OnProgress`.
    task : str
        What is done with the images, in words.

    Attributes
    ----------
    n_refused : int
        How many files could not be read so far.
    """

    def __init__(self, paths: list[Path], ink: dict[str, Any], on_progress: OnProgress, task: str) -> None:
        self._paths, self._ink, self._on_progress, self._task = paths, ink, on_progress, task
        self.n_refused = 0

    def __iter__(self) -> Iterator[tuple[Path, NDArray[np.float32]]]:
        for path in track(self._paths, self._on_progress, self._task):
            try:
                image = read_ink(path, **self._ink)
            except InkError as error:
                self.n_refused += 1
                complain(str(error))
            else:
                yield path, image

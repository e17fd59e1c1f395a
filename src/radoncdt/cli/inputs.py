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

__all__ = ["add_files_argument", "list_files", "read_images"]


def add_files_argument(parser: argparse.ArgumentParser) -> None:
    """Add the files of commands that treat every image alike."""
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="image files, or folders of them")


def list_files(argument: str, paths: list[Path]) -> list[Path]:
    """Return the image files among paths, and those in the folders among them; refuse paths without any."""
    files = image_files(paths)
    if not files:
        raise ArgumentValueError(
            argument, f"must be image files, or folders that contain some, got {', '.join(map(str, paths))}"
        )
    return files


def read_images(
    paths: list[Path], ink: dict[str, Any], on_progress: OnProgress, task: str
) -> Iterator[tuple[Path, NDArray[np.float32]]]:
    """Yield the path and the ink of each image file. Complain about files that cannot be read, and skip them."""
    for path in track(paths, on_progress, task):
        try:
            image = read_ink(path, **ink)
        except InkError as error:
            complain(str(error))
        else:
            yield path, image

"""Small image files of made-up watermarks, tables of metadata, and what exported files hold."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from radoncdt import datasets
from radoncdt.datasets import draw

SIDE, PEN = 112, 2.5  # pixels
TOKEN = "token"  # a column of metadata that says who wrote a row last

Descriptors = dict[str, tuple[bytes, ...]]


def save_marks(folder: Path, names: Iterable[str], seed: int) -> list[Path]:
    """One mark per name, as a PNG file with dark lines on white."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.png" for name in names]
    for file, mark in zip(files, datasets.watermarks(len(files), seed)):
        ink = draw(mark.lines, size=SIDE, line_width=PEN)
        Image.fromarray(np.uint8(np.rint(255 * (1 - ink)))).save(file)
    return files


def save_table(path: Path, files: Iterable[Path], **columns: object) -> Path:
    """A table of metadata that has the same values for all files."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", *columns])
        writer.writerows([image.name, *columns.values()] for image in files)
    return path


def arrays_in(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Everything that an .npz file holds."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in arrays.items()}


def descriptors_in(path: Path) -> Descriptors:
    """The descriptor of every file in an exported .npz file.

    Raises
    ------
    ValueError
        When numbers, entries and descriptors do not belong together.
    """
    with np.load(path, allow_pickle=False) as arrays:
        entries, numbers = json.loads(str(arrays["entries"])), arrays["numbers"].tolist()
        parts = [arrays[name] for name in ("values", "means", "covariances", "frames")]
    if [entry["entry"] for entry in entries] != numbers or numbers != sorted(set(numbers)):
        raise ValueError(f"{len(numbers)} numbers and {len(entries)} entries differ")
    if any(len(part) != len(numbers) for part in parts):
        raise ValueError(f"{len(numbers)} numbers, but {[len(part) for part in parts]} rows of descriptors")
    return {entry["file"]: tuple(part[k].tobytes() for part in parts) for k, entry in enumerate(entries)}


def fault_of(path: Path, reference: Descriptors) -> str:
    """Why an exported file is not consistent, or nothing."""
    try:
        if path.suffix == ".npz":
            wrong = [file for file, found in descriptors_in(path).items() if found != reference[file]]
            return f"{len(wrong)} descriptors belong to other entries, among them {wrong[0]}" if wrong else ""
        if path.suffix == ".json":
            files = [entry["file"] for entry in json.loads(path.read_text())]
        else:
            with path.open(newline="") as file:
                files = [row["file"] for row in csv.DictReader(file, strict=True)]
        return "" if set(files) <= set(reference) and len(files) == len(set(files)) else "unknown or repeated files"
    except (ValueError, KeyError, OSError, csv.Error) as error:
        return f"{type(error).__name__}: {error}"

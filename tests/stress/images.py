"""Small image files of synthetic watermarks, tables of metadata, and contents of exported files."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

from radoncdt import datasets
from radoncdt.datasets import draw

SIDE, PEN = 112, 2.5  # side of the images and width of the lines, in pixels
TOKEN = "token"  # column of metadata that tells who last wrote a row

Descriptors = dict[str, tuple[bytes, ...]]


def save_marks(folder: Path, names: Iterable[str], seed: int) -> list[Path]:
    """Write one mark per name, as a PNG file with dark lines on white."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.png" for name in names]
    for file, mark in zip(files, datasets.watermarks(len(files), seed)):
        ink = draw(mark.lines, size=SIDE, line_width=PEN)
        Image.fromarray(np.uint8(np.rint(255 * (1 - ink)))).save(file)
    return files


def save_table(path: Path, files: Iterable[Path], **columns: object) -> Path:
    """Write a table of metadata with the same values for all files."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", *columns])
        writer.writerows([image.name, *columns.values()] for image in files)
    return path


def load_arrays(path: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Load all arrays of an .npz file."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: (str(a.dtype), a.shape, a.tobytes()) for name, a in arrays.items()}


def load_descriptors(path: Path) -> Descriptors:
    """Load the descriptor of every file in an exported .npz file.

    Raises
    ------
    ValueError
        If numbers, entries and descriptors are inconsistent.
    """
    with np.load(path, allow_pickle=False) as arrays:
        entries, numbers = json.loads(str(arrays["entries"])), arrays["numbers"].tolist()
        parts = [arrays[name] for name in ("values", "means", "covariances", "frames")]
    if [entry["entry"] for entry in entries] != numbers or numbers != sorted(set(numbers)):
        raise ValueError(f"{len(numbers)} numbers and {len(entries)} entries differ")
    if any(len(part) != len(numbers) for part in parts):
        raise ValueError(f"{len(numbers)} numbers, but {[len(part) for part in parts]} rows of descriptors")
    return {entry["file"]: tuple(part[k].tobytes() for part in parts) for k, entry in enumerate(entries)}


def find_fault(path: Path, reference: Descriptors) -> str:
    """Return why an exported file is inconsistent, or an empty string."""
    try:
        if path.suffix == ".npz":
            wrong = [file for file, found in load_descriptors(path).items() if found != reference[file]]
            return f"{len(wrong)} descriptors belong to other entries, among them {wrong[0]}" if wrong else ""
        if path.suffix == ".json":
            files = [entry["file"] for entry in json.loads(path.read_text(encoding="utf-8"))]
        else:
            with path.open(encoding="utf-8", newline="") as file:
                files = [row["file"] for row in csv.DictReader(file, strict=True)]
        return "" if set(files) <= set(reference) and len(files) == len(set(files)) else "unknown or repeated files"
    except (ValueError, KeyError, OSError, csv.Error) as error:
        return f"{type(error).__name__}: {error}"

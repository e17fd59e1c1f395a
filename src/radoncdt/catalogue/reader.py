"""Reading image files into entries. Worker processes run this code."""

import hashlib
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt.catalogue.paths import make_stored_name
from radoncdt.catalogue.records import Entry, Failure, NewEntry, ReadResult, format_ink_options, pack_descriptor
from radoncdt.catalogue.thumbnails import ink_box, make_thumbnail
from radoncdt.ink import InkError, InkOptions
from radoncdt.ink.extraction import assess_ink, extract_steps
from radoncdt.ink.files import read_bytes, read_image
from radoncdt.matching.descriptors import DescriptorSettings, describe_batch
from radoncdt.measures import Batch

__all__ = ["Task", "measure_box", "read_images"]


class Task(NamedTuple):
    """Image files to read, and how to read them."""

    files: tuple[tuple[str, str], ...]
    """Paths and hashes of their content; "" for files that could not be read."""
    ink: InkOptions
    settings: DescriptorSettings
    folder: Path
    """The folder of the catalogue."""


def read_images(task: Task) -> list[ReadResult]:
    """Read the images of a task. A failure does not stop the others."""
    return [_read_image(file, digest, task) for file, digest in task.files]


def _read_image(file: str, digest: str, task: Task) -> ReadResult:
    name = make_stored_name(file, task.folder)
    try:
        data = read_bytes(Path(file))
        digest = hashlib.sha256(data).hexdigest()  # the file may have changed since it was hashed
        image = read_image(BytesIO(data), name=file)
        ink = extract_steps(image, task.ink)[-1].image
        curves, moments = pack_descriptor(describe_batch(Batch.read(ink), task.settings, 1))
    except (InkError, MemoryError) as error:
        return Failure(name, digest, str(error).removeprefix(f"{file}: ") or "not enough memory")
    except (ValueError, ArithmeticError) as error:  # the measure has no descriptor
        return Failure(name, digest, f"its ink cannot be described: {error}")
    height, width = ink.shape
    note = "; ".join(text for text in (image.note, assess_ink(ink, task.ink)) if text)
    entry = Entry(0, digest, name, format_ink_options(task.ink), width, height, *measure_box(ink), note)
    return NewEntry(entry, make_thumbnail(ink), curves, moments)


def measure_box(ink: NDArray[np.float32]) -> tuple[int, int]:
    """Return width and height of the bounding box of the ink."""
    height, width = ink[ink_box(ink)].shape
    return width, height

"""Few images of each class, folders being classes: which class do others belong to?"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._csv import encode_table
from radoncdt._progress import track
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.ink import InkError, image_files, read_ink
from radoncdt.matching.descriptors import ROBUST, Descriptors, describe


class Images(NamedTuple):
    """Images of a folder."""

    files: list[Path]
    labels: list[str | None]
    """Folders below the first that the images are in; None for those that are in none."""
    descriptors: Descriptors | None
    refused: list[str]
    """Why images could not be read."""


class Predictions(NamedTuple):
    """What `classify_folders` found."""

    files: list[Path]
    labels: list[str | None]
    """Classes that are known."""
    predicted: NDArray[np.str_]
    distances: NDArray[np.float64]
    """To the nearest image of the class."""
    margins: NDArray[np.float64]
    """By what factor the nearest image of another class is farther; infinite if there is none."""
    nearest: list[Path]
    """The nearest image of the class."""
    classes: list[str]
    refused: list[str]

    @property
    def accuracies(self) -> dict[str, tuple[int, int]]:
        """Of each class that is known, how many images are right, and how many there are."""
        known = [(label, label == found) for label, found in zip(self.labels, self.predicted) if label in self.classes]
        return {
            name: (sum(right for label, right in known if label == name), sum(label == name for label, _ in known))
            for name in self.classes
            if any(label == name for label, _ in known)
        }

    def confusion(self) -> NDArray[np.intp]:
        """How many images of each class (rows) were taken for each (columns)."""
        counts = np.zeros((len(self.classes), len(self.classes)), np.intp)
        for label, found in zip(self.labels, self.predicted):
            if label in self.classes:
                counts[self.classes.index(label), self.classes.index(found)] += 1
        return counts

    def table(self) -> bytes:
        """A CSV file."""
        columns = zip(self.files, self.labels, self.predicted, self.distances, self.margins, self.nearest)
        return encode_table(
            ["file", "class", "predicted", "distance", "margin", "nearest"],
            (
                [str(file), label or "", str(found), round(float(distance), 6), float(f"{margin:.4g}"), str(nearest)]
                for file, label, found, distance, margin, nearest in columns
            ),
        )


def read_images(
    folder: str | os.PathLike[str],
    name: str,
    *,
    on_progress: OnProgress | None = None,
    n_jobs: int | None = -1,
    **ink: Any,
) -> Images:
    """Read and describe the images of a folder; the folders in it are classes."""
    root = Path(folder)
    if not root.is_dir():
        raise ArgumentValueError(name, f"must be a folder of images, got {folder}")
    files: list[Path] = []
    labels: list[str | None] = []
    parts: list[Descriptors] = []
    refused: list[str] = []
    for file in track(image_files([root]), on_progress, "reading images"):
        try:
            parts.append(describe(read_ink(file, **{"kind": "drawing", **ink}), n_jobs=n_jobs, **ROBUST))
        except InkError as error:
            refused.append(str(error))
            continue
        below = file.relative_to(root).parts
        files.append(file)
        labels.append(below[0] if len(below) > 1 else None)
    return Images(files, labels, Descriptors.concatenate(parts) if parts else None, refused)


def classify_folders(
    train: str | os.PathLike[str],
    test: str | os.PathLike[str],
    *,
    reflections: bool = True,
    n_jobs: int | None = -1,
    on_progress: OnProgress | None = None,
    **ink: Any,
) -> Predictions:
    """Give every image of a folder the class of the nearest of another folder, however it was moved.

    Parameters
    ----------
    train : path
        A folder whose folders are classes, with at least one image each.
    test : path
        A folder of images. Where these are in folders named as the classes, it is known which are right.
    reflections : bool
        Whether a mirror image is the same.
    n_jobs : int
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` while images are read.
    **ink
        Options of `radoncdt.ink.InkOptions`; the kind is "drawing" by default.
    """
    from radoncdt.estimators.neighbors import AffineNeighbors

    known = read_images(train, "train", on_progress=on_progress, n_jobs=n_jobs, **ink)
    chosen = [k for k, label in enumerate(known.labels) if label is not None]
    if known.descriptors is None or not chosen:
        raise ArgumentValueError("train", f"must have folders with images that can be read, got {train}")
    asked = read_images(test, "test", on_progress=on_progress, n_jobs=n_jobs, **ink)
    if asked.descriptors is None:
        raise ArgumentValueError("test", f"must have images that can be read, got {test}")
    labels = np.array([known.labels[k] for k in chosen])
    model = AffineNeighbors(n_neighbors=1, reflections=reflections, n_jobs=n_jobs, **ROBUST)
    classes = sorted(set(labels.tolist()))
    entries = known.descriptors[np.array(chosen)]
    distances, nearest = np.empty((len(classes), len(asked.files))), np.empty((len(classes), len(asked.files)), np.intp)
    for row, name in enumerate(classes):
        of_class = np.flatnonzero(labels == name)
        near, which = model.fit(entries[of_class]).kneighbors(asked.descriptors)
        distances[row], nearest[row] = near[:, 0], of_class[which[:, 0]]
    best = distances.argmin(axis=0)
    columns = np.arange(len(asked.files))
    least = distances[best, columns]
    others = np.where(np.arange(len(classes))[:, None] == best, np.inf, distances).min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        margins = np.where(others == np.inf, np.inf, others / least)
    return Predictions(
        asked.files,
        asked.labels,
        np.array(classes)[best],
        least,
        margins,
        [known.files[chosen[k]] for k in nearest[best, columns]],
        classes,
        known.refused + asked.refused,
    )

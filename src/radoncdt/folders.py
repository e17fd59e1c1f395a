"""Classify image files by folders of examples: each folder is a class with one or more images."""

import filecmp
import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._csv import encode_table
from radoncdt._progress import track
from radoncdt._typing import Floats, OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.ink import InkError, image_files, read_ink
from radoncdt.matching.descriptors import Descriptors, describe
from radoncdt.matching.index import AffineIndex
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.settings import ROBUST, DescriptorSettings

__all__ = ["Prediction", "Predictions", "classify_folders", "copy_to_classes"]

StrPath = str | os.PathLike[str]

_ROBUST_SETTINGS = DescriptorSettings(**ROBUST)


class Prediction(NamedTuple):
    """The class of one image."""

    file: Path
    label: str | None
    """The known class: the name of the folder in which the image is, below a folder of test images; or None."""
    predicted: str | None
    """The predicted class, or None if no plausible map leads to an example."""
    distance: float
    """Distance to the nearest example of the predicted class."""
    margin: float
    """Distance to the nearest example of another class, divided by `distance`. It is infinite if there is none, and
    may be less than 1 if several neighbours vote."""
    nearest: Path | None
    """The nearest example of the predicted class."""

    def cells(self) -> list[object]:
        """Return the row of the CSV file."""
        known = [str(self.file), self.label or ""]
        if self.predicted is None:
            return [*known, "", "", "", ""]
        return [*known, self.predicted, round(self.distance, 6), float(f"{self.margin:.4g}"), str(self.nearest)]


class Predictions(NamedTuple):
    """The result of `classify_folders`."""

    rows: tuple[Prediction, ...]
    """One prediction per image that can be read."""
    classes: tuple[str, ...]
    """The names of all classes, sorted."""
    refused: tuple[str, ...]
    """One message per image that cannot be read."""

    @property
    def accuracies(self) -> dict[str, tuple[int, int]]:
        """The number of correct predictions and of images, for every class with images whose class is known."""
        found = {name: [row.predicted == name for row in self.rows if row.label == name] for name in self.classes}
        return {name: (sum(correct), len(correct)) for name, correct in found.items() if correct}

    def confusion(self) -> NDArray[np.intp]:
        """Count the images of each known class (rows) by their predicted class (columns)."""
        counts = np.zeros((len(self.classes), len(self.classes)), np.intp)
        for row in self.rows:
            if row.label in self.classes and row.predicted is not None:
                counts[self.classes.index(row.label), self.classes.index(row.predicted)] += 1
        return counts

    def table(self) -> bytes:
        """Return a CSV file with one row per image. Cells that do not apply are empty."""
        titles = ["file", "class", "predicted", "distance", "margin", "nearest"]
        return encode_table(titles, (row.cells() for row in self.rows))


def classify_folders(
    train: StrPath,
    test: StrPath | Sequence[StrPath],
    *,
    n_neighbors: int = 1,
    limits: Plausible | None = None,
    settings: DescriptorSettings | None = None,
    n_jobs: int | None = -1,
    on_progress: OnProgress | None = None,
    **ink: Any,
) -> Predictions:
    """Classify images by their nearest examples, however each image was moved.

    Parameters
    ----------
    train : path
        A folder of examples. The folders in it are the classes, with at least one image each.
    test : path or sequence of paths
        Image files and folders of image files. Folders in such a folder are known classes, and the predictions for
        their images are counted as correct or wrong.
    n_neighbors : int
        The number of nearest examples that vote for a class. If several classes have equally many votes, the one with
        the nearest example wins. Examples that no plausible map leads to do not vote.
    limits : Plausible, optional
        Which maps from an image to an example are plausible; by default all are.
    settings : DescriptorSettings, optional
        How images are described; by default with robust moments and a `trim` of 1/16.
    n_jobs : int
        The number of threads; −1 for all cores.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` while images are read.
    **ink
        Keyword arguments of `radoncdt.ink.read_ink`, such as `kind`.

    Returns
    -------
    Predictions
    """
    _validation.check_count(n_neighbors, "n_neighbors", 1)
    limits = Plausible() if limits is None else limits
    _validation.check_instance(limits, "limits", Plausible)
    settings = _ROBUST_SETTINGS if settings is None else settings
    _validation.check_instance(settings, "settings", DescriptorSettings)
    read = partial(_read_images, settings=settings, n_jobs=n_jobs, on_progress=on_progress, ink=ink)
    paths = [test] if isinstance(test, (str, os.PathLike)) else list(_validation.check_sequence(test, "test"))
    if not Path(train).is_dir():
        raise ArgumentValueError("train", f"must be a folder, got {train}")
    for path in paths:
        if not os.path.lexists(path):
            raise ArgumentValueError("test", f"must be image files or folders that exist, got {path}")
    examples = read([image for image in _find_images([train]) if image.label])
    if not examples.images:
        raise ArgumentValueError("train", f"must have folders with readable images, got {train}{examples.first_reason}")
    if n_neighbors > (there := len(examples.images)):
        raise ArgumentValueError("n_neighbors", f"must be at most {there}, the number of examples, got {n_neighbors}")
    queries = read(_find_images(paths))
    if not queries.images:
        given = ", ".join(map(str, paths))
        raise ArgumentValueError("test", f"must have readable images, got {given}{queries.first_reason}")
    classes, rows = _predict(examples, queries, n_neighbors, limits, n_jobs)
    return Predictions(tuple(rows), tuple(classes), (*examples.refused, *queries.refused))


def copy_to_classes(predictions: Predictions, folder: StrPath, *, on_progress: OnProgress | None = None) -> list[Path]:
    """Copy every image into the folder of its predicted class: FOLDER/CLASS/NAME.

    Nothing is overwritten: if a different file has the name, the copy gets a number, such as NAME_2.png. A file that is
    there already, with the same name and content, is not copied again. A copy gets its name once it is complete. Images
    without a predicted class are not copied.

    Parameters
    ----------
    predictions : Predictions
    folder : path
        The folder is created if it does not exist.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` while images are copied.

    Returns
    -------
    list of Path
        The copies, in the order of the predictions.
    """
    chosen = [(row.file, row.predicted) for row in predictions.rows if row.predicted is not None]
    homes = {name: Path(folder) / name for _, name in chosen}
    for name, home in homes.items():
        if name in ("", ".", "..") or "\0" in name or Path(name).name != name:
            raise ArgumentValueError("predictions", f"must have classes that can be names of folders, got {name!r}")
        for path in (home.parent, home):
            if os.path.lexists(path) and not path.is_dir():
                raise ArgumentValueError("folder", f"must be a folder of folders, got the file {path}")
    copies = []
    for file, name in track(chosen, on_progress, "copying images"):
        homes[name].mkdir(parents=True, exist_ok=True)
        copies.append(_copy(file, homes[name]))
    return copies


class _Image(NamedTuple):
    file: Path
    label: str | None


class _DescribedImages(NamedTuple):
    images: list[_Image]
    descriptors: list[Descriptors]
    refused: list[str]

    @property
    def first_reason(self) -> str:
        """Why the first image was refused, to be appended to a message."""
        return f" ({self.refused[0]})" if self.refused else ""


def _find_images(paths: Sequence[StrPath]) -> list[_Image]:
    """Find every image file once. Its label is the folder in which it is, directly below one of the paths."""
    found: dict[str, _Image] = {}
    for path in map(Path, paths):
        for file in image_files([path]):
            below = file.relative_to(path).parts
            found.setdefault(os.path.abspath(file), _Image(file, below[0] if len(below) > 1 else None))
    return list(found.values())


def _read_images(
    images: list[_Image],
    settings: DescriptorSettings,
    n_jobs: int | None,
    on_progress: OnProgress | None,
    ink: dict[str, Any],
) -> _DescribedImages:
    done = _DescribedImages([], [], [])
    for image in track(images, on_progress, "reading images"):
        try:
            done.descriptors.append(describe(read_ink(image.file, **ink), n_jobs=n_jobs, **asdict(settings)))
            done.images.append(image)
        except InkError as error:
            done.refused.append(str(error))
    return done


def _predict(
    examples: _DescribedImages, queries: _DescribedImages, n_neighbors: int, limits: Plausible, n_jobs: int | None
) -> tuple[list[str], list[Prediction]]:
    """Return the names of the classes, and a prediction for every query."""
    labels = np.array([image.label for image in examples.images])
    classes: list[str] = sorted(set(labels.tolist()))
    entries, asked = (Descriptors.concatenate(described.descriptors) for described in (examples, queries))
    distances: list[Floats] = []  # to the nearest examples of each class
    nearest: list[NDArray[np.intp]] = []  # the nearest example of each class
    for name in classes:
        members = np.flatnonzero(labels == name)
        index = AffineIndex(entries[members], limits)
        near, numbers = index.nearest(asked, min(n_neighbors, len(members)), n_jobs)
        distances.append(near)
        nearest.append(members[numbers[:, 0]])
    votes = _count_votes(distances, n_neighbors)
    closest = np.stack([near[:, 0] for near in distances], axis=1)
    winners = np.where(votes == votes.max(axis=1, keepdims=True), closest, np.inf).argmin(axis=1).tolist()
    rows = []
    for k, (image, winner) in enumerate(zip(queries.images, winners)):
        distance, other = float(closest[k, winner]), float(np.delete(closest[k], winner).min(initial=np.inf))
        if distance == np.inf:
            rows.append(Prediction(*image, None, np.inf, 1.0, None))
            continue
        margin = 1.0 if other == distance else other / distance if distance > 0 else np.inf
        rows.append(Prediction(*image, classes[winner], distance, margin, examples.images[nearest[winner][k]].file))
    return classes, rows


def _count_votes(distances: list[Floats], n_neighbors: int) -> NDArray[np.intp]:
    """Count the classes of the nearest examples of every query, given the distances to each class."""
    owners = np.repeat(np.arange(len(distances)), [near.shape[1] for near in distances])
    every = np.concatenate(distances, axis=1)
    chosen = np.argsort(every, axis=1, kind="stable")[:, :n_neighbors]
    counts = np.take_along_axis(every, chosen, axis=1) < np.inf
    return np.stack([((owners[chosen] == c) & counts).sum(axis=1) for c in range(len(distances))], axis=1)


def _copy(file: Path, folder: Path) -> Path:
    """Copy a file under its name or, if another file has that name, with a number."""
    part = folder / f".{secrets.token_hex(8)}"
    try:
        shutil.copy2(file, part)
        names = (file.name if k == 1 else f"{file.stem}_{k}{file.suffix}" for k in count(1))
        return next(folder / name for name in names if _is_same(part, folder / name) or _rename(part, folder / name))
    finally:
        part.unlink(missing_ok=True)


def _is_same(file: Path, other: Path) -> bool:
    return other.is_file() and filecmp.cmp(file, other, shallow=False)


def _rename(part: Path, target: Path) -> bool:
    """Rename a file and return True, or return False if the new name is taken."""
    try:
        os.link(part, target)  # unlike a renaming, this never replaces a file
    except FileExistsError:
        return False
    except OSError:  # the file system has no hard links
        if os.path.lexists(target):
            return False
        part.rename(target)
    return True

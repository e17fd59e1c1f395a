"""Classify image files by folders of examples: each folder is a class with one or more images."""

import filecmp
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._csv import encode_table
from radoncdt._progress import track
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.ink import InkError, image_files, read_ink
from radoncdt.matching.descriptors import Descriptors, describe
from radoncdt.matching.index import AffineIndex
from radoncdt.matching.plausible import Plausible
from radoncdt.matching.prior import MapPrior, read_prior
from radoncdt.matching.settings import ROBUST, DescriptorSettings

__all__ = ["Prediction", "Predictions", "classify_folders", "copy_to_classes"]

StrPath = str | os.PathLike[str]


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
        counts = Counter((row.label, row.predicted) for row in self.rows)
        return np.array([[counts[known, predicted] for predicted in self.classes] for known in self.classes], np.intp)

    def table(self) -> bytes:
        """Return a CSV file with one row per image. Cells that do not apply are empty."""
        rows = []
        for file, label, predicted, distance, margin, nearest in self.rows:
            found = [predicted, round(distance, 6), float(f"{margin:.4g}"), str(nearest)]
            rows.append([str(file), label or "", *(found if predicted is not None else [""] * len(found))])
        return encode_table(["file", "class", "predicted", "distance", "margin", "nearest"], rows)


def classify_folders(
    train: StrPath,
    test: StrPath | Sequence[StrPath],
    *,
    n_neighbors: int = 1,
    limits: Plausible | None = None,
    prior: str | MapPrior | Sequence[float] = "any",
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
    prior : {"any", "upright", "photograph"}, MapPrior, or (aspect, rotation)
        Which maps are likely. The price of a map is added to the squared distance; by default no map has a price.
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
    prices = read_prior(prior)
    settings = DescriptorSettings(**ROBUST) if settings is None else settings
    _validation.check_instance(settings, "settings", DescriptorSettings)
    paths = [test] if isinstance(test, (str, os.PathLike)) else list(_validation.check_sequence(test, "test"))
    if not Path(train).is_dir():
        raise ArgumentValueError("train", f"must be a folder, got {train}")
    for path in paths:
        if not os.path.lexists(path):
            raise ArgumentValueError("test", f"must be image files or folders that exist, got {path}")

    def read(images: Mapping[Path, str | None], argument: str, requirement: str) -> _DescribedImages:
        done = _DescribedImages({}, [], [])
        for file in track(images, on_progress, "reading images"):
            try:
                done.descriptors.append(describe(read_ink(file, **ink), n_jobs=n_jobs, **asdict(settings)))
                done.labels[file] = images[file]
            except InkError as error:
                done.refused.append(str(error))
        if not done.labels:
            reason = f" ({done.refused[0]})" if done.refused else ""
            raise ArgumentValueError(argument, requirement + reason)
        return done

    labelled = {file: label for file, label in _find_images([train]).items() if label}
    examples = read(labelled, "train", f"must have folders with readable images, got {train}")
    if n_neighbors > (there := len(examples.labels)):
        raise ArgumentValueError("n_neighbors", f"must be at most {there}, the number of examples, got {n_neighbors}")
    queries = read(_find_images(paths), "test", f"must have readable images, got {', '.join(map(str, paths))}")
    return _predict(examples, queries, n_neighbors, limits, prices, n_jobs)


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


class _DescribedImages(NamedTuple):
    labels: dict[Path, str | None]  # the known class of each file that can be read
    descriptors: list[Descriptors]
    refused: list[str]


def _find_images(paths: Sequence[StrPath]) -> dict[Path, str | None]:
    """Find every image file once, with its label: the folder in which it is, directly below one of the paths."""
    found: dict[str, tuple[Path, str | None]] = {}
    for path in map(Path, paths):
        for file in image_files([path]):
            below = file.relative_to(path).parts
            found.setdefault(os.path.abspath(file), (file, below[0] if len(below) > 1 else None))
    return dict(found.values())


def _predict(
    examples: _DescribedImages,
    queries: _DescribedImages,
    n_neighbors: int,
    limits: Plausible,
    prior: MapPrior,
    n_jobs: int | None,
) -> Predictions:
    """Predict the class of every query."""
    labels, files = np.array(list(examples.labels.values())), list(examples.labels)
    classes: list[str] = sorted(set(labels.tolist()))
    entries, asked = (Descriptors.concatenate(described.descriptors) for described in (examples, queries))
    near, numbers = [], []  # distances and numbers of the nearest examples of each class
    for name in classes:
        members = np.flatnonzero(labels == name)
        index, k = AffineIndex(entries[members], limits, prior), min(n_neighbors, len(members))
        distances, positions = index.nearest(asked, k, n_jobs)
        near.append(distances)
        numbers.append(members[positions])
    rows = []
    for (file, label), distances, chosen in zip(queries.labels.items(), np.hstack(near), np.hstack(numbers)):
        order = [k for k in np.argsort(distances, kind="stable") if distances[k] < np.inf]
        if not order:
            rows.append(Prediction(file, label, None, np.inf, 1.0, None))
            continue
        votes = Counter(labels[chosen[order[:n_neighbors]]].tolist())
        best = next(k for k in order if votes[labels[chosen[k]]] == max(votes.values()))
        winner, distance = str(labels[chosen[best]]), float(distances[best])
        other = next((float(distances[k]) for k in order if labels[chosen[k]] != winner), np.inf)
        margin = 1.0 if other == distance else other / distance if distance > 0 else np.inf
        rows.append(Prediction(file, label, winner, distance, margin, files[chosen[best]]))
    return Predictions(tuple(rows), tuple(classes), (*examples.refused, *queries.refused))


def _copy(file: Path, folder: Path) -> Path:
    """Copy a file under its name or, if another file has that name, with a number."""
    part = folder / f".{secrets.token_hex(8)}"
    try:
        shutil.copy2(file, part)
        targets = (folder / (file.name if k == 1 else f"{file.stem}_{k}{file.suffix}") for k in count(1))
        return next(path for path in targets if _take_name(part, path))
    finally:
        part.unlink(missing_ok=True)


def _take_name(part: Path, target: Path) -> bool:
    """Rename a file. Return False if the name belongs to a file with other content, which stays there."""
    try:
        os.link(part, target)  # unlike a renaming, this never replaces a file
    except OSError:  # the name is taken, or the file system has no hard links
        if os.path.lexists(target):
            return target.is_file() and filecmp.cmp(part, target, shallow=False)
        part.rename(target)
    return True

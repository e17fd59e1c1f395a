"""Classify image files by folders of examples: each folder is a class with one or more images."""

from __future__ import annotations

import os
from collections import Counter as Tally
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from radoncdt import _validation
from radoncdt._geometry import ink_box
from radoncdt._progress import Counter
from radoncdt._thumbnails import make_thumbnail
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.estimators import FewShotClassifier
from radoncdt.folders.decisions import Classifier, Decision, Ink, fit_classifier
from radoncdt.folders.predictions import Prediction, Predictions
from radoncdt.ink import INK_KINDS, InkError, image_files, read_ink

__all__ = ["classify_folders"]

StrPath = str | os.PathLike[str]

_MOMENTS = "robust"
"""Moments of the default classifier.

Leave-one-out cannot choose moments for images with specks if the examples have none, as is usual. Moved digits, read
from images with two to five specks too large to be removed, have an accuracy of 0.65 with robust moments, and of 0.45
with exact ones, which are chosen. Without specks it is 0.82 and 0.84 (means over 1, 3 and 8 examples per class, two
draws of 150 images), and for photographs of watermarks with one tracing each 0.99 and 0.96."""

_PER_CHUNK = 32  # images that are read, classified together, and not kept


def classify_folders(
    train: StrPath,
    test: StrPath | Sequence[StrPath],
    *,
    classifier: Classifier | None = None,
    example_kind: str | None = None,
    on_progress: OnProgress | None = None,
    **ink: Any,
) -> Predictions:
    """Classify image files by a few examples per class, however each image was moved.

    Parameters
    ----------
    train : path
        A folder of examples. The folders in it are the classes, with at least one image each.
    test : path or sequence of paths
        Image files and folders of image files. Folders in such a folder are known classes, and the predictions for
        their images are counted as correct or wrong.
    classifier : FewShotClassifier or AffineNeighborsClassifier, optional
        By default ``FewShotClassifier(moments="robust")``. Image files have specks more often than the few examples
        show, and robust moments cost little without them. Of several classes with equally many votes of neighbours, the
        one with the nearest example wins, and examples that no plausible map leads to do not vote.
    example_kind : {"drawing", "watermark", "grey"}, optional
        The kind of the examples if it is not that of the images: "drawing" for tracings beside photographs of
        watermarks. The examples are then read without the other arguments of `read_ink`.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` while images are read and classified.
    **ink
        How ink is found. `kind`: "drawing" (the default), "watermark" for photographs in transmitted light, or "grey"
        for grey values as mass. `ink`: "auto" (the default), "dark" or "bright". `threshold`: the contrast from 0 to 1
        at which the ink of a drawing begins, Otsu's by default, or the minimum strength of the ridges of a watermark in
        standard deviations of the noise, 5 by default. `low`: the minimum strength of ridges of a watermark that
        continue stronger ones, half the threshold by default. `specks`: connected ink that is shorter than this share
        of the extent of all ink is removed, by default 0.03 for drawings and 0.06 for watermarks. `max_side`: images
        with longer sides, in pixels, are reduced; by default 1024, without a limit for "grey". `roi`: the region of
        interest (x, y, width, height), in pixels from the upper left. `mask`: an image of the same size, whose dark
        pixels (0) are ignored.

    Returns
    -------
    Predictions
        One prediction per image, and thumbnails for a report.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a folder or file does not exist, a folder of examples has no readable image,
        no image to classify is readable, or there are too few classes.

    See Also
    --------
    copy_to_classes : Copy the images into one folder per class.
    radoncdt.FewShotClassifier : The default classifier, for arrays.
    radoncdt.ink.read_ink : Read the ink of one image.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from radoncdt.folders import classify_folders
    >>> symbols = datasets.templates(["shield", "star8"], size=64)
    >>> with TemporaryDirectory() as folder:
    ...     for name, symbol in symbols.items():
    ...         picture = Image.fromarray(np.uint8(255 * (1 - symbol)))
    ...         home = Path(folder, "examples", name)
    ...         home.mkdir(parents=True)
    ...         picture.save(home / "example.png")
    ...         picture.rotate(30, fillcolor="white").save(Path(folder, f"unknown_{name}.png"))
    ...     unknown = sorted(Path(folder).glob("*.png"))
    ...     found = classify_folders(Path(folder, "examples"), unknown)
    >>> for row in found.rows:
    ...     print(row.file.name, row.predicted)
    unknown_shield.png shield
    unknown_star8.png star8
    """
    classifier = FewShotClassifier(moments=_MOMENTS) if classifier is None else classifier
    paths = [test] if isinstance(test, (str, os.PathLike)) else list(_validation.check_sequence(test, "test"))
    if not Path(train).is_dir():
        raise ArgumentValueError("train", f"must be a folder, got {train}")
    for path in paths:
        if not os.path.lexists(path):
            raise ArgumentValueError("test", f"must be image files or folders that exist, got {path}")
    given = {file: label for file, label in _find_images([train]).items() if label}
    if example_kind is not None:
        _validation.check_choice(example_kind, "example_kind", INK_KINDS)
    queries, reader = _find_images(paths), _Reader()
    if not queries:
        raise ArgumentValueError("test", f"must have readable images, got {', '.join(map(str, paths))}")

    example_ink = ink if example_kind is None else {"kind": example_kind}
    examples = reader.read(list(given), example_ink, Counter(on_progress, len(given), "reading examples"))
    labels = [str(given[file]) for file in examples]
    classes = _check_classes(Path(train), labels, reader.refused, 2 if isinstance(classifier, FewShotClassifier) else 1)
    files, images = list(examples), list(examples.values())
    counter = Counter(on_progress, 1, "comparing the examples")
    fitted = counter.await_result(lambda: fit_classifier(classifier, images, labels))
    counter.advance()

    every, rows = list(queries), list[Prediction]()
    thumbnails: dict[Path, bytes] = {}
    counter = Counter(on_progress, len(every), "classifying images")
    for start in range(0, len(every), _PER_CHUNK):
        found = reader.read(every[start : start + _PER_CHUNK], ink, counter)
        thumbnails |= {file: make_thumbnail(image) for file, image in found.items()}
        decisions = fitted.decide(list(found.values())) if found else []
        rows += [_name(file, queries[file], each, classes, files) for file, each in zip(found, decisions)]
    if not rows:
        reason = f"{', '.join(map(str, paths))} ({reader.refused[-1]})"
        raise ArgumentValueError("test", f"must have readable images, got {reason}")
    thumbnails |= {row.example: make_thumbnail(examples[row.example]) for row in rows if row.example is not None}
    return Predictions(
        tuple(rows),
        tuple(classes),
        tuple(dict.fromkeys(reader.refused)),
        n_examples=dict(Tally(labels)),
        settings=fitted.settings,
        thumbnails=thumbnails,
    )


class _Reader:
    """Reads the ink of files, and keeps messages about those that cannot be read."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def read(self, files: Sequence[Path], options: dict[str, Any], counter: Counter) -> dict[Path, Ink]:
        """Read ink, cropped to its bounding box. No decision depends on the paper around it."""
        found = {}
        for file in files:
            try:
                image = read_ink(file, **options)
                found[file] = image[ink_box(image)].copy()
            except InkError as error:
                self.refused.append(str(error))
            counter.advance()
        return found


def _find_images(paths: Sequence[StrPath]) -> dict[Path, str | None]:
    """Find every image file once, with its label: the folder in which it is, directly below one of the paths."""
    found: dict[str, tuple[Path, str | None]] = {}
    for path in map(Path, paths):
        for file in image_files([path]):
            below = file.relative_to(path).parts
            found.setdefault(os.path.abspath(file), (file, below[0] if len(below) > 1 else None))
    return dict(found.values())


def _check_classes(train: Path, labels: list[str], refused: list[str], least: int) -> list[str]:
    """Return the classes, sorted; refuse fewer than `least`, and folders without readable images."""
    reason = f" ({refused[0]})" if refused else ""
    if not labels:
        raise ArgumentValueError("train", f"must have folders with readable images, got {train}{reason}")
    folders = {path.name for path in train.iterdir() if path.is_dir() and not path.name.startswith(".")}
    if empty := sorted(folders - set(labels)):
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        raise ArgumentValueError(
            "train", f"must have a readable image in each of its folders, got none in {train / empty[0]}{more}{reason}"
        )
    classes = sorted(set(labels))
    if len(classes) < least:
        raise ArgumentValueError("train", f"must have at least two folders of examples, got one, {train / classes[0]}")
    return classes


def _name(file: Path, label: str | None, decision: Decision, classes: list[str], files: list[Path]) -> Prediction:
    """Return a decision with the names of its classes and of its example."""
    predicted, second = (None if code is None else classes[code] for code in (decision.predicted, decision.second))
    example = None if decision.example is None else files[decision.example]
    return Prediction(
        file, label, **{**decision._asdict(), "predicted": predicted, "second": second, "example": example}
    )

"""Predictions about image files, and the table of them."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt._csv import encode_table
from radoncdt.matching.registration import Registration

__all__ = ["Prediction", "Predictions"]

_COLUMNS = "file", "class", "predicted", "p", "second", "second_p", "example", "share", "distance", "margin"


class Prediction(NamedTuple):
    """The class of one image. Values that the classifier does not have are None."""

    file: Path
    label: str | None
    """The known class: the name of the folder in which the image is, below a folder of test images; or None."""
    predicted: str | None
    """The predicted class, or None if no plausible map leads to an example."""
    p: float | None = None
    """Probability of the predicted class. For neighbours it is their share of the votes, and None for one neighbour."""
    second: str | None = None
    """The second most probable class. For neighbours it is the class of the nearest example of another class."""
    second_p: float | None = None
    """Probability of the second class, with the same meaning as `p`."""
    example: Path | None = None
    """The deciding example. It is the one of the predicted class that contributed most, or the nearest."""
    share: float | None = None
    """The share of the deciding example in all votes."""
    distance: float | None = None
    """Distance to the deciding example."""
    margin: float | None = None
    """For neighbours, the distance to the nearest example of another class, divided by `distance`. It is infinite if
    there is none, and may be less than 1 if several neighbours vote."""
    registration: Registration | None = None
    """The map from the ink of the image to that of the deciding example, both cropped to their bounding boxes."""


class Predictions(NamedTuple):
    """The result of `classify_folders`."""

    rows: tuple[Prediction, ...]
    """One prediction per image that can be read."""
    classes: tuple[str, ...]
    """The names of all classes, sorted."""
    refused: tuple[str, ...]
    """One message per image that cannot be read."""
    n_examples: Mapping[str, int] = {}
    """The number of examples of each class."""
    settings: Mapping[str, str] = {}
    """How the classifier was set, in words: what was chosen from the examples, and what was given."""
    thumbnails: Mapping[Path, bytes] = {}
    """PNG files of the ink of the classified images and of the deciding examples."""

    @property
    def accuracies(self) -> dict[str, tuple[int, int]]:
        """The number of correct predictions and of images, for every class with images whose class is known."""
        known = Counter(row.label for row in self.rows)
        right = Counter(row.label for row in self.rows if row.label == row.predicted)
        return {name: (right[name], known[name]) for name in self.classes if known[name]}

    @property
    def uncounted(self) -> dict[str, int]:
        """The number of images in each folder of test images whose name is not a class."""
        return dict(Counter(row.label for row in self.rows if row.label and row.label not in self.classes))

    def confusion(self) -> NDArray[np.intp]:
        """Count the images of each known class (rows) by their predicted class (columns)."""
        counts = Counter((row.label, row.predicted) for row in self.rows)
        return np.array([[counts[known, predicted] for predicted in self.classes] for known in self.classes], np.intp)

    def sort_by_certainty(self) -> list[Prediction]:
        """Return the predictions in order of certainty, the least certain first: by p, then by the margin."""

        def certainty(row: Prediction) -> tuple[bool, float, float]:
            margin = np.inf if row.margin is None else row.margin
            return row.predicted is not None, 1.0 if row.p is None else row.p, margin

        return sorted(self.rows, key=certainty)

    def table(self) -> bytes:
        """Return a CSV file with one row per image. Cells that do not apply are empty."""
        return encode_table(_COLUMNS, map(_list_cells, self.rows))


def _list_cells(row: Prediction) -> list[object]:
    """Return the cells of `_COLUMNS`."""
    p, second_p, share, distance = (
        "" if value is None else round(value, 6) for value in (row.p, row.second_p, row.share, row.distance)
    )
    margin = "" if row.margin is None else float(f"{row.margin:.4g}")
    example = "" if row.example is None else str(row.example)
    names = [name or "" for name in (row.label, row.predicted)]
    return [str(row.file), *names, p, row.second or "", second_p, example, share, distance, margin]

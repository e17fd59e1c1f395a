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
    """The predicted class of one image, and the example that decided.

    Values that the classifier does not have are None.

    Parameters
    ----------
    file : Path
        The image file.
    label : str or None
        The known class: the name of the folder in which the image is, below a folder of test images; or None.
    predicted : str or None
        The predicted class, or None if no plausible map reaches an example.
    p : float, optional
        Probability of the predicted class. For neighbours it is their share of the votes, and None for one neighbour.
    second : str, optional
        The second most probable class. For neighbours it is the class of the nearest example of another class.
    second_p : float, optional
        Probability of the second class, with the same meaning as `p`.
    example : Path, optional
        The deciding example. It is the one of the predicted class that contributed most, or the nearest.
    share : float, optional
        The share of the deciding example in all votes.
    distance : float, optional
        Distance to the deciding example.
    margin : float, optional
        For neighbours, the distance to the nearest example of another class, divided by `distance`. It is infinite if
        there is none, and may be less than 1 if several neighbours vote.
    registration : Registration, optional
        The map from the ink of the image to that of the deciding example, both cropped to their bounding boxes.

    See Also
    --------
    classify_folders : Make predictions.

    Examples
    --------
    >>> from pathlib import Path
    >>> from radoncdt.folders import Prediction
    >>> row = Prediction(Path("photo.jpg"), None, "crown", p=0.9)
    >>> row.predicted, row.p, row.second
    ('crown', 0.9, None)
    """

    file: Path
    label: str | None
    predicted: str | None
    p: float | None = None
    second: str | None = None
    second_p: float | None = None
    example: Path | None = None
    share: float | None = None
    distance: float | None = None
    margin: float | None = None
    registration: Registration | None = None


class Predictions(NamedTuple):
    """Predictions about many images: the result of `classify_folders`.

    Parameters
    ----------
    rows : tuple of Prediction
        One prediction per image that can be read.
    classes : tuple of str
        The names of all classes, sorted.
    refused : tuple of str
        One message per image that cannot be read.
    n_examples : mapping of str to int, default {}
        The number of examples of each class.
    settings : mapping of str to str, default {}
        How the classifier was set, in words: what was chosen from the examples, and what was given.
    thumbnails : mapping of Path to bytes, default {}
        PNG files of the ink of the classified images and of the deciding examples.

    See Also
    --------
    classify_folders : Make predictions.
    copy_to_classes : Copy the images into one folder per class.

    Examples
    --------
    >>> from pathlib import Path
    >>> from radoncdt.folders import Prediction, Predictions
    >>> rows = Prediction(Path("1.png"), None, "crown"), Prediction(Path("2.png"), None, "star")
    >>> found = Predictions(rows, classes=("crown", "star"), refused=())
    >>> [row.predicted for row in found.rows]
    ['crown', 'star']
    """

    rows: tuple[Prediction, ...]
    classes: tuple[str, ...]
    refused: tuple[str, ...]
    n_examples: Mapping[str, int] = {}
    settings: Mapping[str, str] = {}
    thumbnails: Mapping[Path, bytes] = {}

    @property
    def accuracies(self) -> dict[str, tuple[int, int]]:
        """The number of correct predictions and of images, for every class with images whose class is known.

        Examples
        --------
        >>> from pathlib import Path
        >>> from radoncdt.folders import Prediction, Predictions
        >>> rows = Prediction(Path("1.png"), "crown", "crown"), Prediction(Path("2.png"), "crown", "star")
        >>> Predictions(rows, ("crown", "star"), ()).accuracies
        {'crown': (1, 2)}
        """
        known = Counter(row.label for row in self.rows)
        right = Counter(row.label for row in self.rows if row.label == row.predicted)
        return {name: (right[name], known[name]) for name in self.classes if known[name]}

    @property
    def uncounted(self) -> dict[str, int]:
        """The number of images in each folder of test images whose name is not a class.

        Examples
        --------
        >>> from pathlib import Path
        >>> from radoncdt.folders import Prediction, Predictions
        >>> rows = Prediction(Path("1.png"), "crown", "crown"), Prediction(Path("2.png"), "unsorted", "star")
        >>> Predictions(rows, ("crown", "star"), ()).uncounted
        {'unsorted': 1}
        """
        return dict(Counter(row.label for row in self.rows if row.label and row.label not in self.classes))

    def confusion(self) -> NDArray[np.intp]:
        """Count the images of each known class by their predicted class.

        Returns
        -------
        array of int (n_classes, n_classes)
            The counts: known classes in rows, predicted classes in columns, both in the order of `classes`.

        See Also
        --------
        radoncdt.plot.confusion : Draw the counts.

        Examples
        --------
        >>> from pathlib import Path
        >>> from radoncdt.folders import Prediction, Predictions
        >>> rows = Prediction(Path("1.png"), "crown", "crown"), Prediction(Path("2.png"), "crown", "star")
        >>> Predictions(rows, ("crown", "star"), ()).confusion()
        array([[1, 1],
               [0, 0]])
        """
        counts = Counter((row.label, row.predicted) for row in self.rows)
        return np.array([[counts[known, predicted] for predicted in self.classes] for known in self.classes], np.intp)

    def sort_by_certainty(self) -> list[Prediction]:
        """Sort the predictions by certainty, the least certain first.

        Images without a predicted class come first. The others are sorted by `p`, then by the margin.

        Returns
        -------
        list of Prediction
            The predictions in this order.

        Examples
        --------
        >>> from pathlib import Path
        >>> from radoncdt.folders import Prediction, Predictions
        >>> rows = Prediction(Path("1.png"), None, "crown", p=0.9), Prediction(Path("2.png"), None, "star", p=0.6)
        >>> [row.file.name for row in Predictions(rows, ("crown", "star"), ()).sort_by_certainty()]
        ['2.png', '1.png']
        """

        def certainty(row: Prediction) -> tuple[bool, float, float]:
            margin = np.inf if row.margin is None else row.margin
            return row.predicted is not None, 1.0 if row.p is None else row.p, margin

        return sorted(self.rows, key=certainty)

    def table(self) -> bytes:
        """Encode the predictions as a CSV file with one row per image. Cells that do not apply are empty.

        Returns
        -------
        bytes
            The file.

        Examples
        --------
        >>> from pathlib import Path
        >>> from radoncdt.folders import Prediction, Predictions
        >>> found = Predictions((Prediction(Path("1.png"), None, "crown", p=0.9),), ("crown", "star"), ())
        >>> for line in found.table().decode().splitlines():
        ...     print(line)
        file,class,predicted,p,second,second_p,example,share,distance,margin
        1.png,,crown,0.9,,,,,,
        """
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

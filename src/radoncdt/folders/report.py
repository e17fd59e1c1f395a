"""The report of a classification: an HTML page with every image, its class, and the example that decided."""

from collections import Counter
from typing import Any

import numpy as np

from radoncdt._progress import track
from radoncdt._templates import load_template
from radoncdt._text import escape_unprintable
from radoncdt._thumbnails import draw_overlay, embed, embed_ink, read_thumbnail, reduction
from radoncdt._typing import OnProgress
from radoncdt.folders.predictions import Prediction, Predictions

__all__ = ["html"]

_MAX_ROWS = 1000  # images in the page
_MAX_COLUMNS = 20  # classes that have columns in a confusion matrix; of more, the page lists what was confused
_LIKELY = 0.5  # p below which a prediction is highlighted as uncertain
_MIN_MARGIN = 1.05  # the same for the margin of neighbours


def html(found: Predictions, *, on_progress: OnProgress | None = None) -> str:
    """Return an HTML page about a classification, with all pictures embedded.

    The least certain predictions come first. The page shows the first 1,000 images; the table has all of them.
    """
    rows = found.sort_by_certainty()[:_MAX_ROWS]
    accuracies = found.accuracies
    has_matrix = len(found.classes) <= _MAX_COLUMNS
    shown = [name for name, (right, n) in accuracies.items() if has_matrix or right < n]
    return load_template("radoncdt.folders", "classification_report.html", {"printable": escape_unprintable}).render(
        found=found,
        accuracies=accuracies,
        shown=shown if has_matrix else sorted(shown, key=lambda name: accuracies[name][0] / accuracies[name][1]),
        confused=_list_confused(found),
        has_matrix=has_matrix,
        has_margins=any(row.margin is not None for row in found.rows),
        rows=[_draw_row(found, row) for row in track(rows, on_progress, "writing the report")],
    )


def _list_confused(found: Predictions) -> dict[str, Counter[str]]:
    """Count the predicted classes of the images of each known class; "" stands for no class."""
    confused = {name: Counter[str]() for name in found.accuracies}
    for row in found.rows:
        if row.label in confused:
            confused[row.label][row.predicted or ""] += 1
    return confused


def _draw_row(found: Predictions, row: Prediction) -> dict[str, Any]:
    """Return a prediction with the pictures that the page shows."""
    image = read_thumbnail(found.thumbnails[row.file])
    known = row.label in found.classes
    weak = (row.p is not None and row.p < _LIKELY) or (row.p is None and (row.margin or 0) < _MIN_MARGIN)
    shown = {
        "row": row,
        "image": embed_ink(image),
        "example": None,
        "overlay": None,
        "verdict": ("right" if row.predicted == row.label else "wrong") if known else "",
        "is_weak": weak,
    }
    if row.example is not None and row.registration is not None:
        example = read_thumbnail(found.thumbnails[row.example])
        moving, fixed = (reduction(shape) for shape in row.registration.frames)
        unreduced = row.registration.pixel_matrix
        shown["example"] = embed_ink(example)
        shown["overlay"] = embed(draw_overlay(image, example, fixed @ unreduced @ np.linalg.inv(moving)))
    return shown

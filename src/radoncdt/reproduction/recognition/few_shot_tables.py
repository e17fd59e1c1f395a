"""The few-shot study as records, and the tables and sentences made from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from radoncdt._text import format_count

__all__ = [
    "METHOD_LABELS",
    "SET_LABELS",
    "SHORT_SET_LABELS",
    "compare_methods",
    "describe_wins",
    "list_accuracies",
    "list_records",
    "list_times",
]

Record = Mapping[str, Any]
"""A method on a set: dataset, n_train, method, accuracies by draw, mean, standard_error, seconds."""

SET_LABELS = {
    "digits": "Ten digits: rotation ±57°, scale 0.75 to 1.25, shear ±5°",
    "turned digits": "Ten digits: any rotation, scales of x and y 0.6 to 1, shear ±20°",
    "capitals": "Capitals of unseen fonts, the same maps",
    "symbols": "Twelve symbols: any rotation, bent, with specks",
}
"""The titles of the sets."""

SHORT_SET_LABELS = {
    "digits": "digits, moderate maps",
    "turned digits": "digits, any rotation",
    "capitals": "capitals",
    "symbols": "symbols with specks",
}
"""Short names of the sets."""

METHOD_LABELS = {
    "pixels": "pixels, linear SVM",
    "subspaces": "R-CDT, nearest subspace",
    "mnrcdt": "mNR-CDT, linear SVM (the paper)",
    "fourier": "Fourier pool, linear SVM",
    "fourier robust": "Fourier pool, robust, linear SVM",
    "registered": "registered neighbour",
    "registered robust": "registered neighbour, robust, mirrored",
    "few-shot": "`FewShotClassifier`",
    "network": "network",
    "whitened network": "network on whitened frames",
    "product": "`FewShotClassifier` × network on whitened frames",
    "pretrained": "pretrained EfficientNet, linear SVM",
}
"""The names of the methods."""


def list_records(outcome: Any) -> list[dict[str, Any]]:
    """List the records of the few-shot study in the outcome of a run."""
    return [
        {
            **summary.measurand.record(),
            "mean": summary.mean,
            "standard_error": summary.standard_error,
            "seconds": outcome.recognition_seconds[summary.measurand],
            "accuracies": outcome.accuracies[summary.measurand],
        }
        for summary in outcome.recognitions
    ]


def list_accuracies(records: Sequence[Record], dataset: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of accuracies on a set: one row per method."""
    most = max((len(record["accuracies"]) for record in records), default=0)
    return _arrange(records, dataset, lambda record: _format_accuracy(record, most))


def list_times(records: Sequence[Record], dataset: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of times on a set, in seconds of one thread."""
    return _arrange(records, dataset, lambda record: f"{record['seconds']:.1f}")


def _arrange(records: Sequence[Record], dataset: str, show: Any) -> tuple[list[str], list[list[str]]]:
    chosen = {(record["method"], record["n_train"]): record for record in records if record["dataset"] == dataset}
    methods, sizes = (list(dict.fromkeys(key[k] for key in chosen)) for k in (0, 1))
    rows = [
        [METHOD_LABELS[method], *(show(chosen[method, n]) if (method, n) in chosen else "–" for n in sorted(sizes))]
        for method in sorted(methods, key=list(METHOD_LABELS).index)
    ]
    return ["method", *map(str, sorted(sizes))], rows


def _format_accuracy(record: Record, most: int) -> str:
    """Return the accuracy and its standard error, and the number of draws if others have more."""
    error, n = record["standard_error"], len(record["accuracies"])
    text = f"{record['mean']:.3f}" + (f" ± {error:.3f}" if error is not None else "")
    return text if n == most else f"{text} ({format_count(n, 'draw')})"


def compare_methods(records: Sequence[Record], other: str, ours: str = "few-shot") -> list[dict[str, Any]]:
    """Compare two methods on their common draws, if there are at least two.

    The result has the mean difference, other minus ours, and its standard error.
    """
    found = {(r["dataset"], r["n_train"], r["method"]): r["accuracies"] for r in records}
    compared = []
    for dataset, n_train, method in found:
        if method != ours or (dataset, n_train, other) not in found:
            continue
        theirs, own = found[dataset, n_train, other], found[dataset, n_train, ours]
        differences = np.array([theirs[draw] - own[draw] for draw in own if draw in theirs])
        if len(differences) > 1:
            error = float(differences.std(ddof=1) / np.sqrt(len(differences)))
            difference = float(differences.mean())
            compared.append({"dataset": dataset, "n_train": n_train, "difference": difference, "error": error})
    return compared


def describe_wins(records: Sequence[Record]) -> list[str]:
    """Say where another method is better than the few-shot classifier by more than one standard error."""
    sentences = []
    methods = dict.fromkeys(record["method"] for record in records)
    for method in (method for method in METHOD_LABELS if method in methods and method != "few-shot"):
        places: dict[str, list[str]] = {}
        for each in compare_methods(records, method):
            if each["difference"] > each["error"]:
                gain = f"{each['n_train']} ({each['difference']:+.3f} ± {each['error']:.3f})"
                places.setdefault(SHORT_SET_LABELS[each["dataset"]], []).append(gain)
        if places:
            found = "; ".join(f"{name} with {', '.join(gains)}" for name, gains in places.items())
            sentences.append(f"{METHOD_LABELS[method]}: {found}.")
    return sentences

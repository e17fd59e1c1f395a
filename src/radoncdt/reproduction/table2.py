"""Table 2: the nearest of one reference for each class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt.reproduction import paper
from radoncdt.reproduction.cells import Cell, Measurement
from radoncdt.reproduction.protocol import Runs, Table, by_features, features

METRICS = {"inf": "chebyshev", "2": "euclidean"}


def _run(table: Table, cells: Sequence[Cell], seed: int, draw: int, mnist: datasets.Mnist | None) -> Runs:
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        chosen = [cell for cell in cells if cell.dataset == dataset]
        size, classes = chosen[0].class_size, table.classes[dataset]
        images, labels = table.images(dataset, chosen[0].protocol, size, seed, draw, mnist)
        if dataset == "academic":
            drawn = datasets.templates(classes, canvas=images.shape[-1])
            images = np.concatenate([np.stack(list(drawn.values())), images])
        for group in by_features(chosen):
            values = features(group[0], images)
            for cell in group:
                metric = METRICS[str(cell.norm)]
                if dataset == "academic":
                    references, samples = np.split(values, [len(classes)])
                    accuracies = [nearest_accuracy(references, samples, np.array(classes), labels, metric)]
                else:
                    accuracies = reference_accuracies(values, labels, size, metric)
                yield cell, Measurement(accuracies)


def nearest_accuracy(
    references: NDArray[Any], samples: NDArray[Any], names: NDArray[Any], labels: NDArray[Any], metric: str
) -> float:
    """Share of samples whose nearest reference has their label."""
    from scipy.spatial.distance import cdist

    nearest = cdist(references, samples, metric).argmin(axis=0)
    return float(np.mean(names[nearest] == labels))


def reference_accuracies(values: NDArray[Any], labels: NDArray[Any], class_size: int, metric: str) -> list[float]:
    """Accuracy with the first image of each class as reference, with the second, and so on; the rest is classified."""
    accuracies = []
    for i in range(class_size):
        reference = np.arange(i, len(values), class_size)
        rest = np.delete(np.arange(len(values)), reference)
        accuracies.append(nearest_accuracy(values[reference], values[rest], labels[reference], labels[rest], metric))
    return accuracies


TABLE = Table(
    name="table2",
    caption="Table 2: accuracy of the nearest reference, one for each class",
    classifier="nearest",
    classes={"academic": ("circle-star1", "square-star4", "shield-triangle"), "linmnist": (1, 5, 7)},
    distribution=datasets.NARROW,
    angles=paper.TABLE_2_ANGLES,
    sizes={dataset: (size,) for dataset, size in paper.TABLE_2_SIZES.items()},
    columns=paper.nearest_columns,
    run=_run,
)

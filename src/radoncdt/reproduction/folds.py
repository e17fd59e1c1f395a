"""Tables 3 and 4: a support vector machine trained on each tenth of the images and tested on the other nine."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._validation import ArgumentValueError
from radoncdt.reproduction import svm
from radoncdt.reproduction.cells import N_FOLDS, Cell, Measurement
from radoncdt.reproduction.protocol import FIT_CANVAS, LOOSE_SOLVER, Runs, Table, by_features, features

Solver = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def run(table: Table, cells: Sequence[Cell], seed: int, draw: int, mnist: datasets.Mnist | None) -> Runs:
    """Measurements of the cells in one draw."""
    for fit in (False, True):
        chosen = [cell for cell in cells if (cell.variant == FIT_CANVAS) == fit]
        if chosen:
            fitted = replace(table, distribution=replace(table.distribution, fit_canvas=fit))
            yield from _run(fitted, chosen, seed, draw, mnist)


def _run(table: Table, cells: Sequence[Cell], seed: int, draw: int, mnist: datasets.Mnist | None) -> Runs:
    """Measurements of cells that share their images."""
    (dataset,) = table.classes
    largest = max(cell.class_size for cell in cells)
    images, _ = table.images(dataset, cells[0].protocol, largest, seed, draw, mnist)
    for group in by_features(cells):
        size = max(cell.class_size for cell in group)
        values = features(group[0], np.concatenate([half[:size] for half in np.split(images, 2)]))
        for cell in group:
            solver = svm.loose_svm if cell.variant == LOOSE_SOLVER else svm.linear_svm
            yield cell, measure_folds(values, cell.class_size, solver=solver)


def folds(class_size: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Ten times the samples of a class to train on, a tenth of it in one block, and the rest, to test on."""
    if class_size < N_FOLDS or class_size % N_FOLDS:
        raise ArgumentValueError("class_size", f"must be a multiple of {N_FOLDS}, got {class_size}")
    every = np.arange(class_size)
    return [(block, np.setdiff1d(every, block)) for block in np.split(every, N_FOLDS)]


def measure_folds(features: NDArray[Any], class_size: int, *, solver: Solver = svm.linear_svm) -> Measurement:
    """Accuracy on the test samples of each fold, for two classes, and the share of ties.

    The decision rule is that of scikit-learn: a sample belongs to the second class if its score is greater than 0, and
    to the first class otherwise. A tie, a score of exactly 0, is therefore right for one of the classes.

    Parameters
    ----------
    features : array (2n, d)
        The features of the first class, followed by as many of the second class.
    class_size : int
        Number of samples of each class that are used, counted from the first one.
    solver : callable
        Maps features and signs to weights.
    """
    halves = [half[:class_size].astype(np.float64, copy=False) for half in np.split(features, 2)]
    weights = []
    for train, _ in folds(class_size):
        block = slice(train[0], train[-1] + 1)
        signs = np.repeat([-1.0, 1.0], train.size)
        weights.append(solver(np.concatenate([half[block] for half in halves]), signs))
    every = [half @ np.transpose(weights) for half in halves]  # one column per fold
    accuracies, ties = [], []
    for i, (_, test) in enumerate(folds(class_size)):
        scores = np.stack([half[test, i] for half in every])  # one row per class
        accuracies.append(float(np.mean((scores > 0) == [[False], [True]])))
        ties.append(float(np.mean(scores == 0)))
    return Measurement(accuracies, float(np.mean(ties)))

"""The few-shot study of the authors' second paper (arXiv 2506.08761): nearest neighbours on distorted images.

Each set is drawn once, and the distances of all its images are computed once. A repetition chooses at random which
images of each class to train on, and tests on the others. The choice is the same for all methods. The k nearest
training images vote. Among classes with equally many votes the first in the order of the labels wins, as in
scikit-learn.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._pooling import pooled_nrcdt
from radoncdt._rcdt import rcdt
from radoncdt.matching.affine_distance import affine_distances
from radoncdt.matching.descriptors import describe
from radoncdt.matching.plausible import Plausible
from radoncdt.reproduction.baselines import BASELINES, LIBRARIES, is_installed
from radoncdt.reproduction.measurement import Measurand, Measurement, group_by

__all__ = [
    "COMPARISONS",
    "CURVES",
    "CURVE_METHODS",
    "DIGITS",
    "N_ANGLES",
    "N_LEVELS",
    "PLANS",
    "Curve",
    "Plan",
    "Trial",
    "draw_set",
    "euclidean_distances",
    "group_by_set",
    "list_trials",
    "measure_trials",
    "split_images",
    "vote",
]

_NUMBER = 5  # part of the seed of the images; those of Tables 2 to 4 have the numbers of their tables
N_ANGLES, N_LEVELS = 64, 64  # directions on the half circle and levels of all transforms
_BLOCK = 512  # images that are transformed, and features that are multiplied, at once

_Compare = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[Any]]
"""Maps the indices of n test images and of m training images to their distances (n, m)."""

_Comparison = Callable[[NDArray[Any], int | None], _Compare]
"""Maps images and a number of threads to a function that compares them."""


@dataclass(frozen=True)
class Trial(Measurand):
    """The accuracy of nearest neighbours on one set of images."""

    dataset: str
    """One of `radoncdt.datasets.FEW_SHOT`."""
    class_size: int
    """Training and test images per class."""
    n_train: int
    """Training images per class."""
    method: str
    """One of `COMPARISONS`."""
    k: int
    """Number of neighbours that vote."""
    repetitions: int
    """Number of random choices of the training images."""
    varied: str | None = None
    """For a curve, the parameter that is the same for all images: "dots" or "amplitude"."""
    level: float | None = None
    """For a curve, the value of that parameter."""

    COLUMNS: ClassVar = {"mean": "mean", "std": "std", "authors": "paper_mean", "difference": "difference"}
    OPTIONAL: ClassVar = ("varied", "level")

    @property
    def n_accuracies(self) -> int:
        return self.repetitions

    @property
    def requirements(self) -> frozenset[str]:
        digits = {"digits"} if self.dataset == "linmnist10" else set()
        return frozenset(digits | ({LIBRARIES[self.method]} if self.method in LIBRARIES else set()))


class Plan(NamedTuple):
    """How a set is used."""

    class_size: int
    n_train: tuple[int, ...]
    ks: tuple[int, ...]


_SYMBOLS, DIGITS = Plan(100, (5, 10), (1, 3, 5)), Plan(500, (11, 25, 50), (1, 5, 11))
PLANS = {name: DIGITS if name == "linmnist10" else _SYMBOLS for name in datasets.FEW_SHOT}


class Curve(NamedTuple):
    """Levels of one distortion of a set, for a few methods and a single neighbour among the training images."""

    dataset: str
    varied: str
    levels: tuple[float, ...]
    class_size: int = 50
    n_train: int = 10


CURVES = (
    Curve("salt", "dots", (0, 1, 2, 5, 10, 20, 40)),
    Curve("elastic", "amplitude", (0, 2.5, 5, 7.5, 10, 15, 20)),
)
CURVE_METHODS = ("pixels", "mnrcdt", "anrcdt", "registered", "robust")


def list_trials(repetitions: int) -> list[Trial]:
    """All trials, in the order of the report, except for baselines that are not installed."""
    methods = [method for method in COMPARISONS if method not in LIBRARIES or is_installed(LIBRARIES[method])]
    trials = [
        Trial(name, plan.class_size, n_train, method, k, repetitions)
        for name, plan in PLANS.items()
        for method in methods
        for n_train in plan.n_train
        for k in plan.ks
    ]
    trials += [
        Trial(curve.dataset, curve.class_size, curve.n_train, method, 1, repetitions, curve.varied, level)
        for curve in CURVES
        for level in curve.levels
        for method in CURVE_METHODS
    ]
    return trials


def group_by_set(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Group trials that have the same images."""
    return group_by(trials, lambda trial: replace(trial, n_train=0, method="", k=0, repetitions=0))


def draw_set(trial: Trial, seed: int, mnist: datasets.Mnist | None) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Images and labels of a trial."""
    rng = np.random.default_rng([seed, _NUMBER, list(datasets.FEW_SHOT).index(trial.dataset)])
    noise: dict[str, Any] = {trial.varied: (trial.level, trial.level)} if trial.varied else {}
    return datasets.few_shot(trial.dataset, trial.class_size, rng=rng, mnist=mnist, **noise)


def measure_trials(
    trials: Sequence[Trial], seed: int, mnist: datasets.Mnist | None, n_jobs: int | None
) -> Iterator[tuple[Trial, Measurement]]:
    """Measure trials that have the same images."""
    images, labels = draw_set(trials[0], seed, mnist)
    for same_method in group_by(trials, lambda trial: trial.method):
        compare = COMPARISONS[same_method[0].method](images, n_jobs)
        for group in group_by(same_method, lambda trial: trial.n_train):
            accuracies: list[list[float]] = [[] for _ in group]
            for train, test in split_images(labels, group[0].n_train, group[0].repetitions, seed):
                votes = vote(compare(test, train), labels[train], [trial.k for trial in group])
                for found, winners in zip(accuracies, votes):
                    found.append(float(np.mean(winners == labels[test])))
            yield from zip(group, map(Measurement, accuracies))


def split_images(
    labels: NDArray[Any], n_train: int, repetitions: int, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each repetition, the indices of the training images, n_train per class, and of the test images.

    A smaller training set is a subset of a larger one. The first repetitions do not depend on their number.
    """
    classes = [np.flatnonzero(labels == name) for name in dict.fromkeys(labels.tolist())]
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, _NUMBER, len(labels), repetition])
        train = np.sort(np.concatenate([rng.permutation(members)[:n_train] for members in classes]))
        yield train, np.setdiff1d(np.arange(len(labels)), train)


def vote(distances: NDArray[Any], labels: NDArray[Any], ks: Sequence[int]) -> list[NDArray[Any]]:
    """For each k, the label that most of the k nearest neighbours have.

    Among labels with equally many votes the smallest wins. Among neighbours at the same distance the first one counts.

    Parameters
    ----------
    distances : array (n, m)
        Distances from n test images to m training images.
    labels : array (m,)
        Labels of the training images.
    ks : sequence of int
        Numbers of neighbours.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    bits = np.asarray(distances, np.float32).view(np.int32).astype(np.int64)  # these have the order of the distances
    keys = bits * len(labels) + np.arange(len(labels))
    most = max(ks)
    votes = codes[np.sort(np.partition(keys, most - 1, axis=1)[:, :most], axis=1) % len(labels)]
    counts = np.cumsum(votes[:, :, None] == np.arange(len(classes)), axis=1)
    return [classes[counts[:, k - 1].argmax(axis=1)] for k in ks]


# ---------------------------------------------------------------- methods


def _look_up(distances: NDArray[Any]) -> _Compare:
    return lambda test, train: distances[np.ix_(test, train)]


def euclidean_distances(features: NDArray[Any]) -> NDArray[np.float32]:
    """Distances (n, n) of all pairs of rows.

    Columns are processed in blocks, so that only one block at a time is held in float64.
    """
    squares = np.zeros((len(features), len(features)))
    for block in (features[:, k : k + _BLOCK].astype(np.float64) for k in range(0, features.shape[1], _BLOCK)):
        squares += block @ block.T
    lengths = squares.diagonal().copy()
    squares *= -2
    squares += lengths
    squares += lengths[:, None]
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares).astype(np.float32)


def _standardise(features: NDArray[np.float64]) -> _Compare:
    """Compare features divided by their standard deviations over the training images."""
    from scipy.spatial.distance import cdist

    def compare(test: NDArray[np.intp], train: NDArray[np.intp]) -> NDArray[Any]:
        std = features[train].std(axis=0)
        scaled = features / np.where(std > 0, std, 1)
        return np.asarray(cdist(scaled[test], scaled[train]))

    return compare


def _compare_pixels(images: NDArray[Any], n_jobs: int | None) -> _Compare:
    return _look_up(euclidean_distances(images.reshape(len(images), -1)))


def _by_transform(transform: Callable[..., NDArray[Any]], **options: Any) -> _Comparison:
    """Compare images by the Euclidean distances of a transform."""

    def compare(images: NDArray[Any], n_jobs: int | None) -> _Compare:
        blocks = (images[k : k + _BLOCK] for k in range(0, len(images), _BLOCK))
        parts = [
            transform(block, n_angles=N_ANGLES, n_levels=N_LEVELS, n_jobs=n_jobs, **options)
            .reshape(len(block), -1)
            .astype(np.float32)
            for block in blocks
        ]
        return _look_up(euclidean_distances(np.concatenate(parts)))

    return compare


def _by_registration(*, reflections: bool = True, **options: Any) -> _Comparison:
    """Compare images by their distances after registration."""

    def compare(images: NDArray[Any], n_jobs: int | None) -> _Compare:
        found = describe(images, n_angles=N_ANGLES, n_levels=N_LEVELS, n_jobs=n_jobs, **options).astype(np.float32)
        distances = affine_distances(found, limits=Plausible(reflections=reflections), n_jobs=n_jobs)
        return _look_up(distances.astype(np.float32))

    return compare


def _by_baseline(method: str) -> _Comparison:
    """Compare images by a baseline. Hu moments are standardised, because their scales differ."""

    def compare(images: NDArray[Any], n_jobs: int | None) -> _Compare:
        features = BASELINES[method](images, n_jobs)
        return _standardise(features) if method == "hu" else _look_up(euclidean_distances(features))

    return compare


_AUTHORS: dict[str, Any] = {"level_grid": "uniform"}
_NORMALISED: dict[str, Any] = {**_AUTHORS, "moments": "levels", "directions": "equispaced"}
_WHITENED: dict[str, Any] = {"directions": "whitened"}

COMPARISONS: dict[str, _Comparison] = {
    "pixels": _compare_pixels,
    "rcdt": _by_transform(rcdt, **_AUTHORS),
    "mnrcdt": _by_transform(pooled_nrcdt, pool="max", **_NORMALISED),
    "anrcdt": _by_transform(pooled_nrcdt, pool="mean", **_NORMALISED),
    **{f"{pool}_whitened": _by_transform(pooled_nrcdt, pool=pool, **_WHITENED) for pool in ("max", "mean")},
    "sorted": _by_transform(pooled_nrcdt, pool="sorted", n_components=2 * N_ANGLES, **_WHITENED),
    "fourier": _by_transform(pooled_nrcdt, pool="fourier", n_components=N_ANGLES + 1, **_WHITENED),
    "registered": _by_registration(),
    "unmirrored": _by_registration(reflections=False),
    "robust": _by_registration(moments="robust", nu=3, trim=1 / 16),
    **{method: _by_baseline(method) for method in BASELINES},
}
"""The methods, in the order of the report. Their settings are the same for all sets."""

"""The few-shot study of the authors' follow-up (arXiv 2506.08761): nearest neighbours on distorted images.

Each set is drawn once, and the distances of all its images are computed once; a repetition chooses at random which
images of each class to train on, and tests on the others. The choice is the same for all methods. The k nearest
vote; of classes with equally many votes the first in the order of the labels wins, as in scikit-learn.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._rcdt import pooled_nrcdt, rcdt
from radoncdt.matching.affine_distance import affine_distances
from radoncdt.matching.descriptors import describe
from radoncdt.matching.plausible import Plausible
from radoncdt.reproduction import rivals
from radoncdt.reproduction.names import METHODS
from radoncdt.reproduction.trials import Trial

NUMBER = 5
"""Part of the seed of the images; those of Tables 2 to 4 have their own."""

N_ANGLES, N_LEVELS = 64, 64
"""Of all transforms: 128 directions on the full circle."""

BLOCK = 512
"""Images that are transformed, and features that are multiplied, at once."""


Compare = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[Any]]
"""From the numbers of n images to test, and of m to train on, to their distances (n, m)."""


class Plan(NamedTuple):
    """How a set is used."""

    class_size: int
    n_train: tuple[int, ...]
    ks: tuple[int, ...]


SYMBOLS, DIGITS = Plan(100, (5, 10), (1, 3, 5)), Plan(500, (11, 25, 50), (1, 5, 11))
PLANS = {name: DIGITS if name == "linmnist10" else SYMBOLS for name in datasets.FEW_SHOT}


class Curve(NamedTuple):
    """One thing about a set that is varied, for a few methods and the nearest of `n_train` images of each class."""

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


def trials(repetitions: int) -> list[Trial]:
    """All there is to measure, in the order of the report, but for rivals that are not installed."""
    methods = [m for m in METHODS if m not in rivals.LIBRARIES or rivals.installed(rivals.LIBRARIES[m])]
    found = [
        Trial(name, plan.class_size, n_train, method, k, repetitions)
        for name, plan in PLANS.items()
        for method in methods
        for n_train in plan.n_train
        for k in plan.ks
    ]
    found += [
        Trial(curve.dataset, curve.class_size, curve.n_train, method, 1, repetitions, curve.varied, level)
        for curve in CURVES
        for level in curve.levels
        for method in CURVE_METHODS
    ]
    return found


def by_images(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Trials together that have the same images."""
    groups: dict[Trial, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(replace(trial, n_train=0, method="", k=0, repetitions=0), []).append(trial)
    return list(groups.values())


def draw(trial: Trial, seed: int, mnist: datasets.Mnist | None) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Images and labels of a trial."""
    rng = np.random.default_rng([seed, NUMBER, list(datasets.FEW_SHOT).index(trial.dataset)])
    noise: dict[str, Any] = {trial.varied: (trial.level, trial.level)} if trial.varied else {}
    return datasets.few_shot(trial.dataset, trial.class_size, rng=rng, mnist=mnist, **noise)


def run(
    trials: Sequence[Trial], seed: int, mnist: datasets.Mnist | None, n_jobs: int | None
) -> Iterator[tuple[Trial, list[float]]]:
    """Accuracies, in every repetition, of trials that have the same images."""
    images, labels = draw(trials[0], seed, mnist)
    for method in dict.fromkeys(trial.method for trial in trials):
        compare = COMPARISONS[method](images, n_jobs)
        for n_train in dict.fromkeys(trial.n_train for trial in trials):
            group = [trial for trial in trials if (trial.method, trial.n_train) == (method, n_train)]
            if group:
                ks, repetitions = [trial.k for trial in group], group[0].repetitions
                yield from zip(group, vote_accuracies(compare, labels, n_train, ks, repetitions, seed))


# ---------------------------------------------------------------- nearest neighbours


def splits(
    labels: NDArray[Any], n_train: int, repetitions: int, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """In every repetition the images to train on, n_train of each class, and all others, to test on.

    Fewer images to train on are some of the more; the first repetitions do not depend on how many there are.
    """
    classes = [np.flatnonzero(labels == name) for name in dict.fromkeys(labels.tolist())]
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, NUMBER, len(labels), repetition])
        train = np.sort(np.concatenate([rng.permutation(members)[:n_train] for members in classes]))
        yield train, np.setdiff1d(np.arange(len(labels)), train)


def vote(distances: NDArray[Any], labels: NDArray[Any], ks: Sequence[int]) -> list[NDArray[Any]]:
    """For each k, the label that most of the k nearest have.

    Of labels with equally many votes the smallest wins, and of neighbours equally far those that come first.

    Parameters
    ----------
    distances : array (n, m)
        Of n images to m that have labels.
    labels : array (m,)
    ks : sequence of int
    """
    names, codes = np.unique(labels, return_inverse=True)
    bits = np.asarray(distances, np.float32).view(np.int32).astype(np.int64)  # which are in the order of the distances
    keys = bits * len(labels) + np.arange(len(labels))
    most = max(ks)
    votes = codes[np.sort(np.partition(keys, most - 1, axis=1)[:, :most], axis=1) % len(labels)]
    counts = np.cumsum(votes[:, :, None] == np.arange(len(names)), axis=1)
    return [names[counts[:, k - 1].argmax(axis=1)] for k in ks]


def vote_accuracies(
    compare: Compare, labels: NDArray[Any], n_train: int, ks: Sequence[int], repetitions: int, seed: int
) -> list[list[float]]:
    """For each k, the share of test images that get their label, in every repetition."""
    accuracies: list[list[float]] = [[] for _ in ks]
    for train, test in splits(labels, n_train, repetitions, seed):
        for found, names in zip(accuracies, vote(compare(test, train), labels[train], ks)):
            found.append(float(np.mean(names == labels[test])))
    return accuracies


# ---------------------------------------------------------------- methods


def _of_distances(distances: NDArray[Any]) -> Compare:
    return lambda test, train: distances[np.ix_(test, train)]


def euclidean(features: NDArray[Any]) -> NDArray[np.float32]:
    """Distances (n, n) of all pairs of rows. In blocks of columns, so that float64 takes no more memory than that."""
    squares = np.zeros((len(features), len(features)))
    for block in (features[:, k : k + BLOCK].astype(np.float64) for k in range(0, features.shape[1], BLOCK)):
        squares += block @ block.T
    lengths = squares.diagonal().copy()
    squares *= -2
    squares += lengths
    squares += lengths[:, None]
    return np.sqrt(np.maximum(squares, 0, out=squares), out=squares).astype(np.float32)


def _standardised(features: NDArray[np.float64]) -> Compare:
    """Each feature is shifted and scaled to mean 0 and standard deviation 1 on the images to train on."""
    from scipy.spatial.distance import cdist

    def compare(test: NDArray[np.intp], train: NDArray[np.intp]) -> NDArray[Any]:
        std = features[train].std(axis=0)
        scaled = features / np.where(std > 0, std, 1)
        return np.asarray(cdist(scaled[test], scaled[train]))

    return compare


def _pixels(images: NDArray[Any], n_jobs: int | None) -> Compare:
    return _of_distances(euclidean(images.reshape(len(images), -1)))


def _transformed(transform: Callable[..., NDArray[Any]], **options: Any) -> Callable[..., Compare]:
    """Euclidean distances of a transform of the images."""

    def compare(images: NDArray[Any], n_jobs: int | None) -> Compare:
        blocks = (images[k : k + BLOCK] for k in range(0, len(images), BLOCK))
        parts = [
            transform(block, n_angles=N_ANGLES, n_levels=N_LEVELS, n_jobs=n_jobs, **options)
            .reshape(len(block), -1)
            .astype(np.float32)
            for block in blocks
        ]
        return _of_distances(euclidean(np.concatenate(parts)))

    return compare


def _registered(*, reflections: bool = True, **options: Any) -> Callable[..., Compare]:
    """Distances of images that are registered with each other."""

    def compare(images: NDArray[Any], n_jobs: int | None) -> Compare:
        found = describe(images, n_angles=N_ANGLES, n_levels=N_LEVELS, n_jobs=n_jobs, **options).astype(np.float32)
        return _of_distances(
            affine_distances(found, limits=Plausible(reflections=reflections), n_jobs=n_jobs).astype(np.float32)
        )

    return compare


def _rival(method: str) -> Callable[..., Compare]:
    """Euclidean distances of the features of another library; Hu moments are standardised, for they differ in size."""

    def compare(images: NDArray[Any], n_jobs: int | None) -> Compare:
        features = rivals.RIVALS[method](images, n_jobs)
        return _standardised(features) if method == "hu" else _of_distances(euclidean(features))

    return compare


AUTHORS: dict[str, Any] = {"level_grid": "uniform"}
NORMALISED: dict[str, Any] = {**AUTHORS, "moments": "levels", "directions": "equispaced"}
WHITENED: dict[str, Any] = {"directions": "whitened"}

COMPARISONS: dict[str, Callable[[NDArray[Any], int | None], Compare]] = {
    "pixels": _pixels,
    "rcdt": _transformed(rcdt, **AUTHORS),
    "mnrcdt": _transformed(pooled_nrcdt, pool="max", **NORMALISED),
    "anrcdt": _transformed(pooled_nrcdt, pool="mean", **NORMALISED),
    **{f"{pool}_whitened": _transformed(pooled_nrcdt, pool=pool, **WHITENED) for pool in ("max", "mean")},
    "sorted": _transformed(pooled_nrcdt, pool="sorted", n_components=2 * N_ANGLES, **WHITENED),
    "fourier": _transformed(pooled_nrcdt, pool="fourier", n_components=N_ANGLES + 1, **WHITENED),
    "registered": _registered(),
    "unmirrored": _registered(reflections=False),
    "robust": _registered(moments="robust", nu=3, trim=1 / 16),
    **{method: _rival(method) for method in rivals.RIVALS},
}
"""From images and the number of threads to what compares them. The settings are the same for all sets."""

"""The few-shot study of the authors' second paper (arXiv 2506.08761): nearest neighbours on distorted images.

Each set is drawn once, and the distances of all its images are computed once. A repetition chooses at random which
images of each class to train on, and tests on the others. The choice is the same for all methods. The k nearest
training images vote. Among classes with equally many votes the first in the order of the labels wins, as in
scikit-learn.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._pooling import pooled_nrcdt
from radoncdt._rcdt import rcdt
from radoncdt._typing import Floats
from radoncdt.matching.affine_distance import affine_distances
from radoncdt.matching.descriptors import describe
from radoncdt.matching.plausible import Plausible
from radoncdt.reproduction.baselines import BASELINES, LIBRARIES, is_installed
from radoncdt.reproduction.measurement import Measurand, Measurement, group_by

__all__ = [
    "CURVES",
    "CURVE_METHODS",
    "METHODS",
    "N_ANGLES",
    "N_LEVELS",
    "STUDIES",
    "Curve",
    "Trial",
    "draw_set",
    "list_trials",
    "measure_trials",
]

_NUMBER = 5  # part of the seed of the images; those of Tables 2 to 4 have the numbers of their tables
N_ANGLES, N_LEVELS = 64, 64  # directions on the half circle and levels of all transforms
_BLOCK = 512  # images that are transformed, and features that are multiplied, at once

# maps the indices of n test images and of m training images to their distances (n, m)
_Comparison = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[Any]]


@dataclass(frozen=True)
class Trial(Measurand):
    """The accuracy of nearest neighbours on one set of images of the robustness study.

    Parameters
    ----------
    dataset : str
        The set: "aff", "elastic", "salt", "all" or "linmnist10".
    class_size : int
        Number of training and test images per class.
    n_train : int
        Number of training images per class.
    method : str
        The features or the distance, such as "pixels", "rcdt", "mnrcdt", "anrcdt", "registered" or "robust".
    k : int
        Number of neighbours that vote.
    repetitions : int
        Number of random choices of the training images.
    varied : {"dots", "amplitude"}, optional
        For a curve, the parameter that is the same for all images.
    level : float, optional
        For a curve, the value of that parameter.

    See Also
    --------
    Cell : The same for the tables of the paper.
    radoncdt.datasets.few_shot : Make the images.

    Examples
    --------
    >>> trial = reproduction.Trial("salt", 100, 5, "mnrcdt", 1, 20)
    >>> trial.n_accuracies, trial.varied
    (20, None)
    """

    dataset: str
    class_size: int
    n_train: int
    method: str
    k: int
    repetitions: int
    varied: str | None = None
    level: float | None = None

    COLUMNS: ClassVar = {"mean": "mean", "std": "std", "authors": "paper_mean", "difference": "difference"}
    OPTIONAL: ClassVar = ("varied", "level")

    @property
    def n_accuracies(self) -> int:
        """Number of accuracies in one random draw: one per repetition.

        Examples
        --------
        >>> reproduction.Trial("salt", 100, 5, "mnrcdt", 1, 20).n_accuracies
        20
        """
        return self.repetitions

    @property
    def requirements(self) -> frozenset[str]:
        """What the figures depend on besides the code, the seed and the libraries: the digits, or a baseline's library.

        Examples
        --------
        >>> reproduction.Trial("linmnist10", 500, 11, "mnrcdt", 1, 20).requirements
        frozenset({'digits'})
        """
        digits = {"digits"} if self.dataset == "linmnist10" else set()
        return frozenset(digits | ({LIBRARIES[self.method]} if self.method in LIBRARIES else set()))


class Study(NamedTuple):
    """How a set is used."""

    class_size: int
    n_train: tuple[int, ...]
    ks: tuple[int, ...]


STUDIES = dict.fromkeys(datasets.FEW_SHOT, Study(100, (5, 10), (1, 3, 5))) | {
    "linmnist10": Study(500, (11, 25, 50), (1, 5, 11))
}


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
    """List all trials, in the order of the report, except for baselines that are not installed."""
    methods = [method for method in METHODS if method not in LIBRARIES or is_installed(LIBRARIES[method])]
    trials = [
        Trial(name, study.class_size, n_train, method, k, repetitions)
        for name, study in STUDIES.items()
        for method in methods
        for n_train in study.n_train
        for k in study.ks
    ]
    trials += [
        Trial(curve.dataset, curve.class_size, curve.n_train, method, 1, repetitions, curve.varied, level)
        for curve in CURVES
        for level in curve.levels
        for method in CURVE_METHODS
    ]
    return trials


def draw_set(trial: Trial, seed: int, mnist: datasets.Mnist | None) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Draw the images and labels of a trial."""
    rng = np.random.default_rng([seed, _NUMBER, list(datasets.FEW_SHOT).index(trial.dataset)])
    noise: dict[str, Any] = {trial.varied: (trial.level, trial.level)} if trial.varied else {}
    return datasets.few_shot(trial.dataset, trial.class_size, rng=rng, mnist=mnist, **noise)


def measure_trials(
    trials: Sequence[Trial], seed: int, mnist: datasets.Mnist | None, n_jobs: int | None
) -> Iterator[tuple[Trial, Measurement]]:
    """Measure trials. Images and distances that several trials share are computed once."""
    for same_set in group_by(trials, lambda t: (t.dataset, t.class_size, t.varied, t.level)):
        images, labels = draw_set(same_set[0], seed, mnist)
        for same_method in group_by(same_set, lambda trial: trial.method):
            compare = make_comparison(same_method[0].method, images, n_jobs)
            for group in group_by(same_method, lambda trial: (trial.n_train, trial.repetitions)):
                accuracies: list[list[float]] = [[] for _ in group]
                for train, test in split_images(labels, group[0].n_train, group[0].repetitions, seed):
                    votes = vote(compare(test, train), labels[train], [trial.k for trial in group])
                    for found, winners in zip(accuracies, votes):
                        found.append(float(np.mean(winners == labels[test])))
                yield from zip(group, map(Measurement, accuracies))


def split_images(
    labels: NDArray[Any], n_train: int, repetitions: int, seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield, for each repetition, the indices of the training images, n_train per class, and of the test images.

    A smaller training set is a subset of a larger one. The first repetitions do not depend on their number.
    """
    classes = [np.flatnonzero(labels == name) for name in dict.fromkeys(labels.tolist())]
    for repetition in range(repetitions):
        rng = np.random.default_rng([seed, _NUMBER, len(labels), repetition])
        train = np.sort(np.concatenate([rng.permutation(members)[:n_train] for members in classes]))
        yield train, np.setdiff1d(np.arange(len(labels)), train)


def vote(distances: NDArray[Any], labels: NDArray[Any], ks: Sequence[int]) -> list[NDArray[Any]]:
    """Return, for each k, the label that most of the k nearest neighbours have.

    The distances (n, m) are those from n test images to m training images, and the labels (m,) those of the latter.
    Among labels with equally many votes the smallest wins. Among neighbours at the same distance the first one counts.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    bits = np.asarray(distances, np.float32).view(np.int32).astype(np.int64)  # these have the order of the distances
    keys = bits * len(labels) + np.arange(len(labels))
    most = max(ks)
    votes = codes[np.sort(np.partition(keys, most - 1, axis=1)[:, :most], axis=1) % len(labels)]
    counts = np.cumsum(votes[:, :, None] == np.arange(len(classes)), axis=1)
    return [classes[counts[:, k - 1].argmax(axis=1)] for k in ks]


# ---------------------------------------------------------------- methods

_AUTHORS: dict[str, Any] = {"level_grid": "uniform"}
_NORMALISED: dict[str, Any] = {**_AUTHORS, "moments": "levels", "directions": "equispaced"}
_WHITENED: dict[str, Any] = {"directions": "whitened"}
_TRANSFORMS: dict[str, tuple[Callable[..., NDArray[Any]], dict[str, Any]]] = {
    "rcdt": (rcdt, _AUTHORS),
    "mnrcdt": (pooled_nrcdt, {"pool": "max", **_NORMALISED}),
    "anrcdt": (pooled_nrcdt, {"pool": "mean", **_NORMALISED}),
    "max_whitened": (pooled_nrcdt, {"pool": "max", **_WHITENED}),
    "mean_whitened": (pooled_nrcdt, {"pool": "mean", **_WHITENED}),
    "sorted": (pooled_nrcdt, {"pool": "sorted", "n_components": 2 * N_ANGLES, **_WHITENED}),
    "fourier": (pooled_nrcdt, {"pool": "fourier", "n_components": N_ANGLES + 1, **_WHITENED}),
}
_ROBUST: dict[str, Any] = {"moments": "robust", "nu": 3, "trim": 1 / 16}
_REGISTRATIONS: dict[str, dict[str, Any]] = {"registered": {}, "unmirrored": {}, "robust": _ROBUST}
METHODS = ("pixels", *_TRANSFORMS, *_REGISTRATIONS, *BASELINES)  # in the order of the report


def make_comparison(method: str, images: NDArray[Any], n_jobs: int | None) -> _Comparison:
    """Return a function that compares some of the images with others."""
    if method == "hu":  # the scales of Hu moments differ
        return partial(_compare_standardised, BASELINES["hu"](images, n_jobs))
    if method in _REGISTRATIONS:
        options = {"n_angles": N_ANGLES, "n_levels": N_LEVELS, "n_jobs": n_jobs, **_REGISTRATIONS[method]}
        limits = Plausible(reflections=method != "unmirrored")
        found = describe(images, **options).astype(np.float32)
        distances = affine_distances(found, limits=limits, n_jobs=n_jobs).astype(np.float32)
    else:
        distances = euclidean_distances(_compute_features(method, images, n_jobs))
    return lambda test, train: distances[np.ix_(test, train)]


def _compute_features(method: str, images: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
    """Compute the features of a method that are compared by their Euclidean distances, one row per image."""
    if method == "pixels":
        return images.reshape(len(images), -1)
    if method in BASELINES:
        return BASELINES[method](images, n_jobs)
    transform, options = _TRANSFORMS[method]
    features = []
    for k in range(0, len(images), _BLOCK):
        block = transform(images[k : k + _BLOCK], n_angles=N_ANGLES, n_levels=N_LEVELS, n_jobs=n_jobs, **options)
        features.append(block.reshape(len(block), -1).astype(np.float32))
    return np.concatenate(features)


def euclidean_distances(features: NDArray[Any]) -> NDArray[np.float32]:
    """Compute the distances (n, n) of all pairs of rows.

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


def _compare_standardised(features: Floats, test: NDArray[np.intp], train: NDArray[np.intp]) -> Floats:
    """Compare features divided by their standard deviations over the training images."""
    from scipy.spatial.distance import cdist

    std = features[train].std(axis=0)
    scaled = features / np.where(std > 0, std, 1)
    return np.asarray(cdist(scaled[test], scaled[train]))

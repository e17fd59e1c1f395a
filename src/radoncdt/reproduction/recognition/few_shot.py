"""Accuracy over the number of examples per class, of this package, of the paper, and of networks.

A draw of a set has training and test images. All methods see the same ones. Tasks are measured in processes, each with
a single thread. The networks need the extra ``deep``.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads, datasets
from radoncdt._typing import Floats
from radoncdt.datasets.fonts import Font
from radoncdt.estimators.few_shot import FewShotClassifier
from radoncdt.estimators.neighbors_classifier import AffineNeighborsClassifier
from radoncdt.estimators.subspaces import NearestSubspaceClassifier
from radoncdt.estimators.transformers import NormalizedRadonCDT, RadonCDT
from radoncdt.estimators.whitened import WhitenedImages
from radoncdt.matching.settings import ROBUST
from radoncdt.reproduction.measurement import Measurand, Measurement, group_by
from radoncdt.reproduction.recognition import networks
from radoncdt.reproduction.recognition.sets import SETS, Draw, draw_set
from radoncdt.reproduction.recognition.stopwatch import Stopwatch

__all__ = ["METHODS", "N_DRAWS", "SIZES", "Recognition", "estimate_cost", "list_recognitions", "measure_recognitions"]

SIZES = (1, 2, 5, 10, 20, 50)  # training images per class
N_DRAWS = 5
_N_ANGLES, _N_LEVELS = 64, 64  # directions on the half circle and levels of all transforms


@dataclass(frozen=True)
class Recognition(Measurand):
    """The accuracy of a method that was trained on a few images per class of a set."""

    dataset: str  # one of `SETS`
    n_train: int  # training images per class
    method: str  # one of `METHODS`

    COLUMNS: ClassVar = {"mean": "mean", "standard_error": "standard_error", "draws": "draws"}
    OPTIONAL: ClassVar = ()

    @property
    def n_accuracies(self) -> int:
        return 1

    @property
    def requirements(self) -> frozenset[str]:
        needed = {"fonts"} if self.dataset == "capitals" else set()
        if "digits" in self.dataset:
            needed.add("digits")
        if self.method in _OF_NETWORKS:
            needed.update(networks.REQUIREMENTS)
        return frozenset(needed)


def list_recognitions(sizes: Sequence[int] = SIZES) -> list[Recognition]:
    """List what is measured, in the order of the report; without networks, if their packages are not installed."""
    methods = [method for method in METHODS if method not in _OF_NETWORKS or networks.is_installed()]
    return [Recognition(name, n, method) for name in SETS for n in sizes for method in methods]


def estimate_cost(recognition: Recognition) -> int:
    """Estimate roughly, for the progress, how long a measurement takes."""
    return {"few-shot": 3_000, "network": 10_000, "whitened network": 10_000, "pretrained": 5_000}.get(
        recognition.method, 200
    ) * (1 + recognition.n_train // 10)


def measure_recognitions(
    missing: Sequence[tuple[Recognition, int]],
    seed: int,
    mnist: datasets.Mnist | None,
    fonts: Sequence[Font],
    n_jobs: int | None,
) -> Iterator[tuple[Recognition, int, Measurement, float]]:
    """Measure each missing method in its draw; yield also the number of the draw and the time of the measurement.

    A task measures one kind of methods on a draw of a set, and its measurements are yielded together when it ends. The
    networks, which take longest, come last.
    """
    from joblib import Parallel, delayed

    def place(each: tuple[Recognition, int]) -> tuple[int, int, int]:
        recognition, draw = each
        kind = _KINDS.get(recognition.method, 0)
        return min(kind, 1), draw, 3 * list(SETS).index(recognition.dataset) + kind

    groups = group_by(sorted(missing, key=place), place)
    work = (
        delayed(_measure_group)([recognition for recognition, _ in group], group[0][1], seed, mnist, list(fonts))
        for group in groups
    )
    workers = _threads.count_workers(n_jobs, len(groups) * _threads.WORK_PER_THREAD)
    for found in Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(work):
        yield from found


def _measure_group(
    group: Sequence[Recognition], draw: int, seed: int, mnist: datasets.Mnist | None, fonts: list[Font]
) -> list[tuple[Recognition, int, Measurement, float]]:
    """Measure the methods of a task."""
    from threadpoolctl import threadpool_limits

    images = _DrawnImages(draw_set(group[0].dataset, seed, draw, mnist, fonts))
    tasks: dict[int, _Task] = {}
    measured = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)  # there are few examples
        for recognition in group:
            n_train, method = recognition.n_train, recognition.method
            if n_train not in tasks:
                tasks[n_train] = _Task(recognition.dataset, images, n_train, seed + draw)
            accuracy = float(np.mean(tasks[n_train].predict(method) == tasks[n_train].truth))
            measured.append((recognition, draw, Measurement([accuracy]), tasks[n_train].seconds[method]))
    return measured


class _DrawnImages:
    """The images of a draw, and their features that do not depend on the number of training images."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    @cached_property
    def pretrained(self) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
        """Features of training images (classes, n, features) and test images (m, features), and seconds per image."""
        with Stopwatch() as watch:
            train, test = (networks.pretrained_features(some.reshape(-1, *some.shape[2:])) for some in self.draw)
        seconds = watch.cpu_seconds / (len(train) + len(test))
        return train.reshape(*self.draw.train.shape[:2], -1), test, seconds


# ---------------------------------------------------------------- methods


class _Images(NamedTuple):
    train: NDArray[np.float32]
    test: NDArray[np.float32]


class _Task:
    """A draw with a number of training images per class; probabilities that two methods need are computed once."""

    def __init__(self, dataset: str, drawn: _DrawnImages, n_train: int, seed: int) -> None:
        self.dataset, self.drawn, self.n_train, self.seed = dataset, drawn, n_train, seed
        (train, self.labels), (test, self.truth) = drawn.draw.choose(n_train), drawn.draw.tested
        self.images = _Images(train, test)
        self.seconds: dict[str, float] = {}  # processor time of training and testing, by method
        self._found: dict[str, NDArray[Any]] = {}
        self._moments = "exact"

    def predict(self, method: str) -> NDArray[Any]:
        found = self.compute(method)
        return found.argmax(axis=1) if found.ndim == 2 else found

    def compute(self, method: str) -> NDArray[Any]:
        """Return the predicted labels (n,), or the probabilities (n, classes), of the test images."""
        if method not in self._found:
            for needed in _NEEDED.get(method, ()):
                self.compute(needed)  # before the time of the method itself begins
            if method == "pretrained":
                _ = self.drawn.pretrained  # its share of this time is added below
            with Stopwatch() as watch:
                self._found[method] = METHODS[method](self)
            self.seconds[method] = watch.cpu_seconds + self._extra_seconds(method)
        return self._found[method]

    def _extra_seconds(self, method: str) -> float:
        """Return the time of what the method shares with others."""
        if method == "product":
            return self.seconds["few-shot"] + self.seconds["whitened network"]
        if method == "pretrained":
            return self.drawn.pretrained[2] * (len(self.labels) + len(self.truth))
        return 0.0

    def fit_predict(self, model: Any, images: _Images | None = None) -> NDArray[Any]:
        train, test = images or self.images
        return np.asarray(model.fit(train, self.labels).predict(test))

    def few_shot(self) -> Floats:
        model = FewShotClassifier(n_jobs=1).fit(self.images.train, self.labels)
        self._moments = model.moments_ if self.n_train > 1 else "robust"
        return model.predict_proba(self.images.test)

    def network(self) -> Floats:
        return self._train(self.images, networks.VARIANTS[self.dataset])

    def whitened_network(self) -> Floats:
        """Train the network on whitened frames, with the moments that the few-shot classifier chose."""
        frames = WhitenedImages(networks.SIDE, moments=self._moments).fit(self.images.train)
        shape = -1, networks.SIDE, networks.SIDE
        whitened = _Images(*(frames.transform(images).reshape(shape) for images in self.images))
        return self._train(whitened, networks.WHITENED)

    def _train(self, images: _Images, variants: networks.Variants) -> Floats:
        n_steps = max(steps for least, steps in networks.N_STEPS[self.dataset].items() if least <= self.n_train)
        return networks.train(images.train, self.labels, variants, n_steps=n_steps, seed=self.seed)(images.test)

    def product(self) -> Floats:
        return np.asarray(self.compute("few-shot") * self.compute("whitened network"))

    def pretrained(self) -> NDArray[Any]:
        """Train a linear classifier on the features of a network."""
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        train, test, _ = self.drawn.pretrained
        chosen = train[:, : self.n_train].reshape(-1, train.shape[-1])
        return self.fit_predict(make_pipeline(StandardScaler(), _make_svm()), _Images(chosen, test))


def _make_svm() -> Any:
    """Make a linear support vector machine of scikit-learn's, which trains fast on long features."""
    from sklearn.svm import SVC

    return SVC(kernel="linear")


def _make_svm_of_paper() -> Any:
    """Make the linear support vector machine of the paper: squared hinge, C = 1, no intercept, one against the rest."""
    from sklearn.svm import LinearSVC

    return LinearSVC(fit_intercept=False, max_iter=20_000, random_state=0)


def _use_pixels(task: _Task) -> NDArray[Any]:
    return task.fit_predict(_make_svm(), _Images(*(images.reshape(len(images), -1) for images in task.images)))


def _use_transform(make_classifier: Callable[[], Any], **options: Any) -> Callable[[_Task], NDArray[Any]]:
    def predict(task: _Task) -> NDArray[Any]:
        transform = NormalizedRadonCDT(n_angles=_N_ANGLES, n_levels=_N_LEVELS, n_jobs=1, **options)
        features = _Images(*(np.asarray(transform.fit_transform(images)) for images in task.images))
        return task.fit_predict(make_classifier(), features)

    return predict


def _use_subspaces(task: _Task) -> NDArray[Any]:
    transform = RadonCDT(n_angles=_N_ANGLES, n_levels=_N_LEVELS, n_jobs=1)
    features = _Images(*(np.asarray(transform.fit_transform(images)) for images in task.images))
    return task.fit_predict(NearestSubspaceClassifier(), features)


def _use_neighbours(**options: Any) -> Callable[[_Task], NDArray[Any]]:
    return lambda task: task.fit_predict(AffineNeighborsClassifier(n_jobs=1, **options))


METHODS: dict[str, Callable[[_Task], NDArray[Any]]] = {
    "pixels": _use_pixels,
    "subspaces": _use_subspaces,
    "mnrcdt": _use_transform(_make_svm_of_paper, pool="max", directions="equispaced"),
    "fourier": _use_transform(_make_svm, pool="fourier", n_components=16),
    "fourier robust": _use_transform(_make_svm, pool="fourier", n_components=16, **ROBUST),
    "registered": _use_neighbours(reflections=False),
    "registered robust": _use_neighbours(**ROBUST),
    "few-shot": _Task.few_shot,
    "network": _Task.network,
    "whitened network": _Task.whitened_network,
    "product": _Task.product,
    "pretrained": _Task.pretrained,
}
"""The methods, in the order of the report."""

_OF_NETWORKS = ("network", "whitened network", "product", "pretrained")
_KINDS = {"few-shot": 1, "network": 1, "whitened network": 1, "product": 1, "pretrained": 2}  # others are of the kind 0
_NEEDED = {
    "whitened network": ("few-shot",),
    "product": ("few-shot", "whitened network"),
}  # the methods whose results a method uses

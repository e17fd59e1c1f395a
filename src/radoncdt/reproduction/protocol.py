"""The protocol of Tables 2, 3 and 4: their cells, the images of a random draw, features and classifiers.

"published" is what the authors ran: image i of every class of the academic dataset has the same map, and all images of
LinMNIST share ten maps. "independent" gives every image its own map and changes nothing else.

Table 2 takes the nearest of one reference per class. Tables 3 and 4 train a linear support vector machine (squared
hinge, C = 1, no intercept) on each tenth of the images and test it on the other nine.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._pooling import max_nrcdt
from radoncdt._rcdt import nrcdt, rcdt
from radoncdt._typing import Floats
from radoncdt._validation import ArgumentValueError
from radoncdt.directions import equispaced_angles
from radoncdt.reproduction.measurement import Measurand, Measurement, group_by

__all__ = [
    "LOOSE_TOLERANCE",
    "METRICS",
    "N_FOLDS",
    "N_SHARED_MAPS",
    "PROTOCOLS",
    "SOURCES",
    "Cell",
    "Draw",
    "compute_features",
    "draw_images",
    "fit_linear_svm",
    "measure_cells",
    "measure_folds",
]

PROTOCOLS = ("published", "independent")
"""The protocols of the tables.

"published" is what the authors ran: images share random maps. "independent" gives every image its own map.
"""

N_FOLDS = 10  # parts of the images of a class, each of which a support vector machine is trained on
N_SHARED_MAPS = 10  # maps of all images of LinMNIST in the published protocol
METRICS = {"inf": "chebyshev", "2": "euclidean"}  # SciPy's names of the norms
LOOSE_TOLERANCE = 0.1  # LIBLINEAR's default

_LEVELS = {"academic": 363, "linmnist": 160}  # levels of the quantile functions; the authors have as many radii
_SEEDS = {"academic": 0, "linmnist": 1, "published": 0, "independent": 1}  # parts of the seed of the images
_OTHER_FEATURES = ("half circle", "closed grid")  # variants that change the features
_MAX_STEPS = 1000  # Newton steps before giving up
_ROUNDING = 64 * np.finfo(np.float64).eps  # relative error of the weights at which Newton's method stops

_Solver = Callable[[Floats, Floats], Floats]  # maps features and signs to weights


@dataclass(frozen=True)
class Cell(Measurand):
    """One figure of a table of the paper.

    Parameters
    ----------
    table : {"table2", "table3", "table4"}
        The table.
    protocol : {"published", "independent"}
        The protocol. "published": images share random maps. "independent": every image has its own map.
    dataset : {"academic", "linmnist"}
        The images.
    feature : {"euclidean", "rcdt", "mnrcdt"}
        The features: pixels, the R-CDT or the mNR-CDT.
    norm : {"inf", "2"} or None
        The norm of the nearest reference; None for other classifiers.
    classifier : {"nearest", "svm"}
        The classifier: the nearest reference, or a linear support vector machine.
    n_angles : int or None
        Number of angles; None for pixels.
    class_size : int
        Number of images per class.
    variant : {"half circle", "closed grid", "loose solver", "fit canvas"}, optional
        The one deviation from the protocol, if there is one.

    See Also
    --------
    Trial : The same for the robustness study.
    Summary : The measurements of a cell.

    Examples
    --------
    >>> cell = reproduction.Cell("table4", "independent", "linmnist", "mnrcdt", None, "svm", 32, 500)
    >>> cell.n_accuracies, cell.is_as_published, cell.published.protocol
    (10, False, 'published')
    """

    table: str
    protocol: str
    dataset: str
    feature: str
    norm: str | None
    classifier: str
    n_angles: int | None
    class_size: int
    variant: str | None = None

    OPTIONAL: ClassVar = ("variant",)

    @property
    def n_accuracies(self) -> int:
        """Number of accuracies in one random draw.

        It is one per fold, one per image that serves as reference, or one with templates as references.

        Examples
        --------
        >>> reproduction.Cell("table2", "published", "linmnist", "mnrcdt", "inf", "nearest", 8, 50).n_accuracies
        50
        """
        if self.classifier == "svm":
            return N_FOLDS
        return 1 if self.dataset == "academic" else self.class_size

    @property
    def requirements(self) -> frozenset[str]:
        """What the figures depend on besides the code, the seed and the libraries: the digits, or nothing.

        Examples
        --------
        >>> reproduction.Cell("table4", "published", "linmnist", "rcdt", None, "svm", 4, 10).requirements
        frozenset({'digits'})
        """
        return frozenset({"digits"} if self.dataset == "linmnist" else ())

    @property
    def has_ties(self) -> bool:
        """Whether a measurement includes a share of ties, as those of support vector machines do.

        Examples
        --------
        >>> reproduction.Cell("table4", "published", "linmnist", "rcdt", None, "svm", 4, 10).has_ties
        True
        """
        return self.classifier == "svm"

    @property
    def has_fold_maximum(self) -> bool:
        """Whether the authors print the largest of the folds instead of their mean, as for the R-CDT in Table 4.

        Examples
        --------
        >>> reproduction.Cell("table4", "published", "linmnist", "rcdt", None, "svm", 4, 10).has_fold_maximum
        True
        """
        return (self.table, self.feature) == ("table4", "rcdt")

    @property
    def is_as_published(self) -> bool:
        """Whether the protocol is the published one, so that a difference from the paper is worth a flag.

        Examples
        --------
        >>> reproduction.Cell("table4", "independent", "linmnist", "rcdt", None, "svm", 4, 10).is_as_published
        False
        """
        return self.protocol == "published"

    @property
    def published(self) -> "Cell":
        """The cell that the paper prints: the same with the published protocol and without a variant.

        Examples
        --------
        >>> cell = reproduction.Cell("table4", "independent", "linmnist", "rcdt", None, "svm", 4, 10, "loose solver")
        >>> cell.published.protocol, cell.published.variant
        ('published', None)
        """
        return replace(self, protocol="published", variant=None)


@dataclass(frozen=True)
class ImageSource:
    """The images of a table."""

    classes: dict[str, tuple[Any, ...]]  # the classes of each dataset
    distribution: datasets.AffineDistribution  # the distribution of the maps

    def count_digits(self, mnist: datasets.Mnist) -> int:
        """Count the images of the rarest digit among the classes; 0 if there are none."""
        return min((int((mnist.labels == digit).sum()) for digit in self.classes.get("linmnist", ())), default=0)


SOURCES = {
    "table2": ImageSource(
        {"academic": ("circle-star1", "square-star4", "shield-triangle"), "linmnist": (1, 5, 7)}, datasets.NARROW
    ),
    "table3": ImageSource({"academic": ("circle-star1", "square-star4")}, datasets.WIDE),
    "table4": ImageSource({"linmnist": (1, 7)}, datasets.WIDE),
}


@dataclass(frozen=True, eq=False)
class Draw:
    """A random draw of the images of the tables."""

    seed: int
    number: int
    mnist: datasets.Mnist | None


def draw_images(cell: Cell, draw: Draw) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Draw the images and labels of a cell. The first images of a class do not depend on the class size."""
    table = int(cell.table.removeprefix("table"))
    source = SOURCES[cell.table]
    classes = source.classes[cell.dataset]
    n_shared = cell.class_size if cell.dataset == "academic" else N_SHARED_MAPS
    is_fitted = cell.variant == "fit canvas"
    options: dict[str, Any] = {
        "rng": np.random.default_rng([draw.seed, table, _SEEDS[cell.dataset], _SEEDS[cell.protocol], draw.number]),
        "distribution": replace(source.distribution, fit_canvas=True) if is_fitted else source.distribution,
        "n_maps": n_shared if cell.protocol == "published" else None,
    }
    if cell.dataset == "academic":
        return datasets.academic(cell.class_size, classes=classes, **options)[:2]
    return datasets.lin_mnist(classes, cell.class_size, mnist=draw.mnist, **options)[:2]


def compute_features(cell: Cell, images: NDArray[Any]) -> NDArray[Any]:
    """Compute the features of a cell, one row per image.

    The R-CDT is in the paper's units: a pixel is √2/N wide, so that images fill the unit disc. The mNR-CDT has no unit.
    """
    if cell.n_angles is None:
        return images.reshape(len(images), -1)
    levels: dict[str, Any] = {"n_levels": _LEVELS[cell.dataset], "level_grid": "uniform", "n_jobs": 1}
    authors: dict[str, Any] = {"moments": "levels", "directions": "equispaced"}
    if cell.feature == "rcdt":
        pixel = np.sqrt(2) / images.shape[-1]
        return pixel * rcdt(images, n_angles=cell.n_angles, **levels).reshape(len(images), -1)
    if cell.variant == "half circle":
        return nrcdt(images, n_angles=cell.n_angles, **authors, **levels).max(axis=-2)
    is_closed = cell.variant == "closed grid"
    angles = np.linspace(0, np.pi, cell.n_angles) if is_closed else equispaced_angles(cell.n_angles)
    return max_nrcdt(images, angles=angles, **authors, **levels)


# ---------------------------------------------------------------- classifiers


def measure_cells(cells: Sequence[Cell], draw: Draw) -> Iterator[tuple[Cell, Measurement]]:
    """Measure cells in one random draw. Images and features that several cells share are computed once."""
    for shared in group_by(cells, lambda c: (c.table, c.protocol, c.dataset, c.variant == "fit canvas")):
        images, labels = draw_images(max(shared, key=lambda cell: cell.class_size), draw)
        for group in group_by(shared, lambda c: (c.feature, c.n_angles, c.variant in _OTHER_FEATURES and c.variant)):
            if group[0].classifier == "nearest":
                yield from _classify_nearest(group, images, labels)
            else:
                yield from _classify_folds(group, images)


def _classify_nearest(
    cells: Sequence[Cell], images: NDArray[Any], labels: NDArray[Any]
) -> Iterator[tuple[Cell, Measurement]]:
    """Classify symbols by the nearest template, and digits by the nearest of one image of each class."""
    classes = SOURCES[cells[0].table].classes["academic"] if cells[0].dataset == "academic" else ()
    if classes:
        drawn = datasets.templates(classes, canvas=images.shape[-1])
        images = np.concatenate([np.stack(list(drawn.values())), images])
    references, samples = np.split(compute_features(cells[0], images), [len(classes)])
    for cell in cells:
        metric = METRICS[str(cell.norm)]
        if classes:
            accuracies = [measure_nearest(references, samples, np.array(classes), labels, metric)]
        else:
            accuracies = measure_references(samples, labels, cell.class_size, metric)
        yield cell, Measurement(accuracies)


def measure_nearest(
    references: NDArray[Any], samples: NDArray[Any], classes: NDArray[Any], labels: NDArray[Any], metric: str
) -> float:
    """Return the share of samples whose nearest reference belongs to their class."""
    from scipy.spatial.distance import cdist

    nearest = cdist(references, samples, metric).argmin(axis=0)
    return float(np.mean(classes[nearest] == labels))


def measure_references(samples: NDArray[Any], labels: NDArray[Any], class_size: int, metric: str) -> list[float]:
    """Measure the accuracy with the first image of each class as reference, then with the second, and so on.

    The images that are not references are classified.
    """
    accuracies = []
    for i in range(class_size):
        reference = np.arange(i, len(samples), class_size)
        rest = np.delete(np.arange(len(samples)), reference)
        accuracies.append(measure_nearest(samples[reference], samples[rest], labels[reference], labels[rest], metric))
    return accuracies


def _classify_folds(cells: Sequence[Cell], images: NDArray[Any]) -> Iterator[tuple[Cell, Measurement]]:
    size = max(cell.class_size for cell in cells)
    features = compute_features(cells[0], np.concatenate([half[:size] for half in np.split(images, 2)]))
    for cell in cells:
        solver = fit_loose_svm if cell.variant == "loose solver" else fit_linear_svm
        yield cell, measure_folds(features, cell.class_size, solver=solver)


def split_folds(class_size: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return, for each fold, the samples of a class to train on, a contiguous tenth, and the others, to test on."""
    if class_size < N_FOLDS or class_size % N_FOLDS:
        raise ArgumentValueError("class_size", f"must be a multiple of {N_FOLDS}, got {class_size}")
    every = np.arange(class_size)
    return [(block, np.setdiff1d(every, block)) for block in np.split(every, N_FOLDS)]


def fit_linear_svm(features: Floats, signs: Floats, *, c: float = 1.0) -> Floats:
    """Return the weights w (d,) that minimise ½‖w‖² + c Σ_i max(0, 1 − y_i⟨w, x_i⟩)², with y_i = −1 or 1.

    The features x are an array (n, d), the signs y an array (n,).

    At the minimum w = Σ_i β_i x_i with β_i = 2c y_i max(0, 1 − y_i⟨w, x_i⟩). The samples with y_i⟨w, x_i⟩ < 1 are
    active. If they were known, their β would solve (K + I/2c) β = y, where K holds the inner products, and all other β
    would be 0. Newton's method solves this system for the samples that are active at present, and moves towards the
    solution as long as the function decreases. It reaches the minimum up to rounding, unless the features are so large
    that I/2c vanishes beside K. scikit-learn's LinearSVC minimises the same function, but only to a tolerance, and it
    does not benefit from having fewer samples than features, as is the case here.
    """
    from scipy.linalg import solve
    from scipy.optimize import brentq

    kernel = features @ features.T
    beta, scores = np.zeros(len(signs)), np.zeros(len(signs))  # the scores are ⟨w, x_i⟩
    tolerance = _ROUNDING * (1 + 2 * c * np.abs(kernel).sum(axis=1).max())  # error of β due to rounding of the scores
    for _ in range(_MAX_STEPS):
        active = np.flatnonzero(signs * scores < 1)
        target = np.zeros(len(signs))
        ridge = kernel[np.ix_(active, active)] + np.eye(active.size) / (2 * c)
        target[active] = solve(ridge, signs[active], assume_a="pos")
        step = target - beta
        change = kernel @ step

        def slope(t: float, start: tuple[Floats, ...] = (beta, scores, step, change)) -> float:
            """Return the derivative of the function along the step."""
            beta, scores, step, change = start
            short = np.maximum(1 - signs * (scores + t * change), 0)
            return float(change @ (beta + t * step - 2 * c * signs * short))

        share = brentq(slope, 0, 1) if slope(0) < 0 < slope(1) else 1.0
        beta = target if share == 1 else beta + share * step
        scores = kernel @ beta  # adding up the changes would keep the rounding errors of earlier, larger scores
        error = np.abs(beta - 2 * c * signs * np.maximum(1 - signs * scores, 0)).max()
        if error <= tolerance * np.abs(beta).max():
            return features.T @ beta
    raise RuntimeError(f"the support vector machine did not converge in {_MAX_STEPS} steps")


def fit_loose_svm(features: Floats, signs: Floats) -> Floats:
    """Return the weights of LIBLINEAR's dual coordinate descent, which stops early at its default tolerance."""
    from sklearn.svm import LinearSVC

    model = LinearSVC(C=1.0, loss="squared_hinge", dual=True, fit_intercept=False, tol=LOOSE_TOLERANCE, random_state=0)
    return np.asarray(model.fit(features, signs).coef_[0])


def measure_folds(features: NDArray[Any], class_size: int, *, solver: _Solver = fit_linear_svm) -> Measurement:
    """Measure the accuracy on the test samples of each fold, for two classes, and the share of ties.

    The decision rule is that of scikit-learn: a sample belongs to the second class if its score is greater than 0, and
    to the first class otherwise. A tie, a score of exactly 0, is therefore right for one of the classes.

    The features (2n, d) are those of the first class, followed by as many of the second class. The first `class_size`
    samples of each class are used. The solver maps features and signs to weights.
    """
    folds = split_folds(class_size)
    halves = [half[:class_size].astype(np.float64, copy=False) for half in np.split(features, 2)]
    blocks = zip(*(np.split(half, N_FOLDS) for half in halves))  # the training samples of both classes
    signs = np.repeat([-1.0, 1.0], class_size // N_FOLDS)
    weights = [solver(np.concatenate(block), signs) for block in blocks]
    every = np.stack([half @ np.transpose(weights) for half in halves])  # scores by class, sample and fold
    tested = [every[:, test, i] for i, (_, test) in enumerate(folds)]
    accuracies = [float(np.mean((scores > 0) == [[False], [True]])) for scores in tested]
    return Measurement(accuracies, float(np.mean([np.mean(scores == 0) for scores in tested])))

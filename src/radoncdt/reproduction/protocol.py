"""The protocol of Tables 2, 3 and 4: their cells, the images of a random draw, and their features.

"published" is what the authors ran: image i of every class of the academic dataset has the same map, and all images of
LinMNIST share ten maps. "independent" gives every image its own map and changes nothing else.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._pooling import max_nrcdt
from radoncdt._rcdt import nrcdt, rcdt
from radoncdt.directions import equispaced_angles
from radoncdt.reproduction.measurement import Measurand

__all__ = ["N_FOLDS", "N_SHARED_MAPS", "PROTOCOLS", "SOURCES", "Cell", "Draw", "compute_features", "draw_images"]

PROTOCOLS = ("published", "independent")

N_FOLDS = 10  # parts of the images of a class, each of which a support vector machine is trained on
N_SHARED_MAPS = 10  # maps of all images of LinMNIST in the published protocol

_LEVELS = {"academic": 363, "linmnist": 160}  # levels of the quantile functions; the authors have as many radii
_SEEDS = {"academic": 0, "linmnist": 1, "published": 0, "independent": 1}  # parts of the seed of the images


@dataclass(frozen=True)
class Cell(Measurand):
    """One figure of a table."""

    table: str  # "table2", "table3" or "table4"
    protocol: str  # "published" or "independent"
    dataset: str  # "academic" or "linmnist"
    feature: str  # "euclidean", "rcdt" or "mnrcdt"
    norm: str | None  # norm of the nearest reference, "inf" or "2"; None for other classifiers
    classifier: str  # "nearest" or "svm"
    n_angles: int | None
    class_size: int
    variant: str | None = None
    """The one deviation from the protocol: "half circle", "closed grid", "loose solver", "fit canvas", or none."""

    OPTIONAL: ClassVar = ("variant",)

    @property
    def n_accuracies(self) -> int:
        """One per fold, one per image that serves as reference, or one with templates as references."""
        if self.classifier == "svm":
            return N_FOLDS
        return 1 if self.dataset == "academic" else self.class_size

    @property
    def requirements(self) -> frozenset[str]:
        return frozenset({"digits"} if self.dataset == "linmnist" else ())

    @property
    def has_ties(self) -> bool:
        return self.classifier == "svm"

    @property
    def has_fold_maximum(self) -> bool:
        return (self.table, self.feature) == ("table4", "rcdt")

    @property
    def is_as_published(self) -> bool:
        return self.protocol == "published"

    @property
    def published(self) -> "Cell":
        """The cell that the paper prints."""
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

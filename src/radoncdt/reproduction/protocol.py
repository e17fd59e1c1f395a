"""What the tables share: which cells there are, the images of a draw, and their features.

"published" is what the authors ran: image i of every class of the academic dataset has the same map, and all images of
LinMNIST share ten maps. "independent" gives every image a map of its own and changes nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._pooling import max_nrcdt
from radoncdt._rcdt import nrcdt, rcdt
from radoncdt.directions import equispaced_angles
from radoncdt.reproduction import names, paper
from radoncdt.reproduction.cells import Cell, Measurement

PROTOCOLS = tuple(names.PROTOCOLS)

N_SHARED_MAPS = 10
"""Of LinMNIST, as published."""

SEEDS = {"academic": 0, "linmnist": 1, "published": 0, "independent": 1}
"""Part of the seed of the images."""

LEVELS = {"academic": 363, "linmnist": 160}
"""Levels of the quantile functions: the authors take as many as radii of the Radon transform."""

HALF_CIRCLE, CLOSED_GRID, LOOSE_SOLVER = "half circle", "closed grid", "loose solver"
FIT_CANVAS = "fit canvas"
"""Variants of a cell."""

Runs = Iterator[tuple[Cell, Measurement]]


@dataclass(frozen=True)
class Table:
    """The set-up of one of the paper's Tables 2, 3 and 4."""

    name: str
    caption: str
    classifier: str
    classes: dict[str, tuple[Any, ...]]
    """The classes of each dataset."""
    distribution: datasets.AffineDistribution
    angles: tuple[int, ...]
    sizes: dict[str, tuple[int, ...]]
    """Class sizes of each dataset."""
    columns: Callable[[Sequence[int]], paper.Places]
    """From numbers of angles to the features, norms and numbers of angles that are measured."""
    run: Callable[["Table", Sequence[Cell], int, int, datasets.Mnist | None], Runs]
    """Measurements of cells of one protocol, in one draw of a seed."""

    def cells(
        self,
        protocol: str,
        angles: Sequence[int] | None,
        sizes: Sequence[int] | None,
        mnist: datasets.Mnist | None,
    ) -> list[Cell]:
        """All cells, of other angles and class sizes if these are given.

        By default class sizes go up to the digits at hand. Where there is but one class size it is always kept.
        """
        cells = []
        for dataset, own in self.sizes.items():
            default = [size for size in own if dataset == "academic" or size <= self.most(mnist)]
            for size in default if sizes is None or len(own) == 1 else sizes:
                cells += [
                    Cell(self.name, protocol, dataset, feature, norm, self.classifier, n_angles, size)
                    for feature, norm, n_angles in self.columns(angles or self.angles)
                ]
        return cells

    def most(self, mnist: datasets.Mnist | None) -> int:
        """The images there are of each of the table's digits."""
        digits = self.classes.get("linmnist", ())
        return min(int((mnist.labels == digit).sum()) for digit in digits) if mnist and digits else 0

    def images(
        self, dataset: str, protocol: str, class_size: int, seed: int, draw: int, mnist: datasets.Mnist | None
    ) -> tuple[NDArray[np.float32], NDArray[Any]]:
        """Images and labels of one draw. The first images of a class do not depend on the class size."""
        number = int(self.name.removeprefix("table"))
        rng = np.random.default_rng([seed, number, SEEDS[dataset], SEEDS[protocol], draw])
        n_shared = class_size if dataset == "academic" else N_SHARED_MAPS
        n_maps = n_shared if protocol == "published" else None
        options: dict[str, Any] = {"rng": rng, "distribution": self.distribution, "n_maps": n_maps}
        classes = self.classes[dataset]
        if dataset == "academic":
            return datasets.academic(class_size, classes=classes, **options)[:2]
        return datasets.lin_mnist(classes, class_size, mnist=mnist, **options)[:2]


def features(cell: Cell, images: NDArray[Any]) -> NDArray[Any]:
    """Features of a cell, a row an image.

    The R-CDT is in the paper's units: a pixel is √2/N wide, so that images fill the unit disc. The mNR-CDT has none.
    """
    if cell.n_angles is None:
        return images.reshape(len(images), -1)
    levels: dict[str, Any] = {"n_levels": LEVELS[cell.dataset], "level_grid": "uniform", "n_jobs": 1}
    authors: dict[str, Any] = {"moments": "levels", "directions": "equispaced"}
    if cell.feature == "rcdt":
        pixel = np.sqrt(2) / images.shape[-1]
        return pixel * rcdt(images, n_angles=cell.n_angles, **levels).reshape(len(images), -1)
    if cell.variant == HALF_CIRCLE:
        return nrcdt(images, n_angles=cell.n_angles, **authors, **levels).max(axis=-2)
    closed = cell.variant == CLOSED_GRID
    angles = np.linspace(0, np.pi, cell.n_angles) if closed else equispaced_angles(cell.n_angles)
    return max_nrcdt(images, angles=angles, **authors, **levels)


def by_features(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cells together that have the same features of the same images."""
    groups: dict[Cell, list[Cell]] = {}
    for cell in cells:
        variant = None if cell.variant == LOOSE_SOLVER else cell.variant
        groups.setdefault(replace(cell, norm=None, class_size=0, variant=variant), []).append(cell)
    return list(groups.values())

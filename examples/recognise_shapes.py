"""Recognise shapes from one template each: random affine copies of drawn shapes, classified by the nearest template.

    python examples/recognise_shapes.py [--copies N] [--seed S] [--picture FILE.png]

The script prints the accuracy of pixels, R-CDT and mNR-CDT. With --picture, which needs matplotlib, it also draws the
templates, some copies, and the mNR-CDT of all of them. The metadata of the picture contain the facts that it shows.
"""

import argparse
import sys
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import radoncdt
from radoncdt import datasets
from radoncdt.datasets import AffineDistribution

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Image = NDArray[np.float32]
Polyline = list[tuple[float, float]]
SIZE = 128  # side of the images, in pixels
CIRCLE: Polyline = [(np.cos(t), np.sin(t)) for t in np.linspace(0, 2 * np.pi, 49)]
SHAPES: dict[str, list[Polyline]] = {  # polylines in [−1, 1]², with y pointing up
    "anchor": [
        [(0, -1), (0, 0.6)],
        [(-0.4, 0.3), (0.4, 0.3)],
        [(0.9 * x, -0.9 * abs(y) - 0.1) for x, y in CIRCLE[24:]],
        [(0.2 * x, 0.8 + 0.2 * y) for x, y in CIRCLE],
    ],
    "crown": [
        [(-1, -0.6), (-1, 0.5), (-0.5, 0), (0, 0.8), (0.5, 0), (1, 0.5), (1, -0.6), (-1, -0.6)],
        [(-1, -0.3), (1, -0.3)],
    ],
    "house": [
        [(-0.7, -0.9), (-0.7, 0.2), (0, 1), (0.7, 0.2), (0.7, -0.9), (-0.7, -0.9)],
        [(0, -0.9), (0, -0.3), (0.35, -0.3), (0.35, -0.9)],
    ],
    "letter P": [[(-0.5, -1), (-0.5, 1)], [(-0.5 + 0.9 * x, 0.45 + 0.55 * y) for x, y in CIRCLE if x >= -1e-9]],
    "orb": [CIRCLE, [(0, 0), (0, 1)], [(-1, 0), (1, 0)]],
    "star": [[(r * np.sin(t), r * np.cos(t)) for r, t in zip([1, 0.4] * 5 + [1], np.linspace(0, 2 * np.pi, 11))]],
}


MAPS = AffineDistribution(
    scale=(0.7, 1.2),
    isotropic=False,
    mirror=True,
    rotation=180,
    shear=15,
    shift=5,
    order=("shear_x", "shear_y", "scale", "rotate"),
)


def draw(name: str) -> Image:
    """Draw a shape in the middle of the canvas, about half as large as the canvas."""
    return datasets.draw([0.52 * np.array(line) for line in SHAPES[name]], size=SIZE, line_width=3)


def make_copies(n: int, seed: int) -> tuple[Image, Image, NDArray[np.int64]]:
    """Return one template per shape, n random affine copies of each, and the class labels of the copies."""
    templates = np.stack([draw(name) for name in SHAPES])
    labels = np.repeat(np.arange(len(SHAPES)), n)
    return templates, datasets.random_affine(templates[labels], MAPS, seed)[0], labels


def measure_accuracy(templates: NDArray[np.float64], features: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the share of features (n, …) whose nearest template (k, …), in Euclidean distance, is the right one."""
    templates, features = templates.reshape(len(templates), -1), features.reshape(len(features), -1)
    distances = [np.linalg.norm(templates - feature, axis=1) for feature in features]
    return float(np.mean(np.argmin(distances, axis=1) == labels))


def measure_accuracies(templates: Image, copies: Image, labels: NDArray[np.int64]) -> dict[str, str]:
    """Return the accuracy of each kind of feature, formatted."""
    transforms: dict[str, Callable[[Image], NDArray[Any]]] = {
        "pixels": lambda images: images,
        "R-CDT, 32 angles": lambda images: radoncdt.rcdt(images, n_angles=32),
        "mNR-CDT, 32 angles": lambda images: radoncdt.max_nrcdt(images, n_angles=32),
    }
    return {
        name: f"{measure_accuracy(transform(templates), transform(copies), labels):.3f}"
        for name, transform in transforms.items()
    }


def compute_facts(templates: Image, copies: Image, labels: NDArray[np.int64]) -> dict[str, Any]:
    """Return the facts that the picture shows, such as the differences within a shape and between shapes."""
    broad, thin = radoncdt.max_nrcdt(templates), radoncdt.max_nrcdt(copies)
    between = [np.abs(a - b).max() for a, b in combinations(broad, 2)]
    return {
        "shapes": list(SHAPES),
        "copies of each": int(np.sum(labels == 0)),
        "accuracy": measure_accuracies(templates, copies, labels),
        "largest difference of a copy": f"{np.abs(thin - broad[labels]).max():.2f}",
        "smallest difference of two templates": f"{min(between):.2f}",
    }


def draw_picture(templates: Image, copies: Image, labels: NDArray[np.int64]) -> "Figure":
    """Draw the templates, some of their copies, and the mNR-CDT of all of them."""
    from matplotlib.figure import Figure

    from radoncdt import plot

    shown = 4
    figure = Figure(figsize=(11, 5.2), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.05], squeeze=False)[0]
    grid = left.subplots(len(templates), shown + 1)
    for k, (name, row) in enumerate(zip(SHAPES, grid)):
        for column, (image, ax) in enumerate(zip([templates[k], *copies[labels == k][:shown]], row)):
            plot.measure(image, ax=ax).set(xticks=[], yticks=[], title="")
            for side in ax.spines.values():
                side.set(color=f"C{k}", linewidth=2 if column == 0 else 0.5)
        row[0].set_ylabel(name, color=f"C{k}", rotation=0, ha="right", va="center", fontsize=11)
    grid[0, 0].set_title("template", fontsize=11)
    grid[0, (shown + 1) // 2].set_title("affine copies", fontsize=11, loc="center")
    names = np.array(list(SHAPES))
    ax = plot.pooled(
        radoncdt.max_nrcdt(copies),
        names[labels],
        templates=radoncdt.max_nrcdt(templates),
        template_labels=names,
        ax=right.subplots(),
    )
    ax.set_title(f"mNR-CDT of each template and its {np.sum(labels == 0)} copies", fontsize=11)
    return figure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=50, metavar="N", help="random copies of each shape (default 50)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the random maps (default 0)")
    parser.add_argument("--picture", metavar="FILE.png", help="also draw a picture")
    options = parser.parse_args()
    if options.copies < 1:
        parser.error(f"--copies must be at least 1, got {options.copies}")

    data = make_copies(options.copies, options.seed)
    print(f"{len(data[1])} random affine copies of {len(SHAPES)} shapes, classified by the nearest template\n")
    print(f"{'features':28s}{'accuracy':>9s}")
    for name, share in measure_accuracies(*data).items():
        print(f"{name:28s}{share:>9s}")
    if options.picture:
        from radoncdt import plot

        plot.save(draw_picture(*data), options.picture, compute_facts(*data), dpi=110)
        print(f"\npicture written to {options.picture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

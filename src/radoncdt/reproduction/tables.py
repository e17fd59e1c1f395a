"""Tables 2, 3 and 4 of the paper as data: the printed figures, the cells, and variants of the protocol.

The figures of the authors' robustness study are here as well.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from radoncdt import datasets
from radoncdt.reproduction.labels import find_row
from radoncdt.reproduction.measurement import Measurand, Printed
from radoncdt.reproduction.protocol import LOOSE_TOLERANCE, METRICS, N_SHARED_MAPS, SOURCES, Cell
from radoncdt.reproduction.robustness import Trial

__all__ = ["TABLES", "Table", "Variant", "find_printed", "list_variants"]

# number of angles; academic ‖·‖∞ and ‖·‖₂; LinMNIST ‖·‖∞ and ‖·‖₂
_TABLE_2 = """
2   0.76 1.00  0.540±0.126 0.591±0.130
4   0.83 0.93  0.565±0.104 0.642±0.105
8   1.00 1.00  0.644±0.120 0.726±0.119
16  1.00 1.00  0.654±0.115 0.726±0.120
32  1.00 1.00  0.655±0.121 0.721±0.120
64  1.00 1.00  0.656±0.119 0.724±0.119
128 1.00 1.00  0.656±0.121 0.721±0.116
"""

# class size; Euclidean; R-CDT with 2, 4, 8 and 16 angles; mNR-CDT with the same
_TABLE_3 = """
10  0.489±0.097  0.644±0.112 0.572±0.079 0.567±0.086 0.561±0.076  0.872±0.114 0.806±0.092 0.944±0.082 0.989±0.023
30  0.520±0.092  0.825±0.128 0.728±0.089 0.704±0.065 0.704±0.080  0.956±0.094 0.979±0.051 1.000±0.000 1.000±0.000
90  0.551±0.028  0.962±0.036 0.952±0.056 0.974±0.043 0.982±0.041  0.996±0.008 0.990±0.009 1.000±0.000 1.000±0.000
270 0.610±0.021  0.997±0.006 0.999±0.001 1.000±0.000 1.000±0.000  1.000±0.000 1.000±0.000 1.000±0.000 1.000±0.000
"""

# class size; Euclidean; R-CDT with 4, 8, 16 and 32 angles; mNR-CDT with the same
_TABLE_4 = """
10   0.478±0.070  0.611±0.047 0.556±0.027 0.556±0.035 0.556±0.027  0.794±0.064 0.833±0.091 0.816±0.059 0.822±0.063
20   0.528±0.057  0.583±0.023 0.583±0.037 0.583±0.027 0.583±0.026  0.842±0.050 0.883±0.039 0.877±0.035 0.881±0.039
50   0.653±0.044  0.756±0.037 0.844±0.060 0.878±0.072 0.822±0.047  0.890±0.044 0.927±0.024 0.932±0.025 0.936±0.022
250  0.898±0.024  0.945±0.025 0.949±0.016 0.953±0.010 0.957±0.012  0.955±0.013 0.962±0.008 0.964±0.005 0.966±0.005
500  0.940±0.010  0.948±0.010 0.950±0.006 0.949±0.005 0.952±0.007  0.950±0.005 0.961±0.009 0.963±0.005 0.964±0.005
1000 0.959±0.005  0.939±0.007 0.945±0.008 0.948±0.008 0.949±0.009  0.949±0.006 0.961±0.007 0.965±0.005 0.966±0.006
5000 0.977±0.003  0.947±0.003 0.956±0.002 0.958±0.002 0.962±0.002  0.956±0.002 0.969±0.001 0.973±0.001 0.974±0.004
"""

# set; training images per class; 1-NN accuracy of R-CDT, mNR-CDT and aNR-CDT: the authors' stored runs of arXiv
# 2506.08761, mean of 20 repetitions, Euclidean norm; their images of salt and all had no shear at that time
_ROBUSTNESS = """
aff        5  0.122 1.000 0.901
aff        10 0.132 1.000 0.960
elastic    5  0.121 0.990 0.906
elastic    10 0.134 0.996 0.962
salt       5  0.172 0.570 0.645
salt       10 0.203 0.659 0.726
all        5  0.168 0.540 0.634
all        10 0.192 0.625 0.718
linmnist10 11 0.128 0.554 0.390
linmnist10 25 0.144 0.601 0.421
linmnist10 50 0.162 0.628 0.447
"""


def _parse_figure(text: str) -> Printed:
    mean, _, std = text.partition("±")
    return Printed(float(mean), float(std) if std else None, len(mean.partition(".")[2]))


def _parse_rows(text: str) -> dict[int, list[Printed]]:
    """Parse the figures of a table, by the number in its first column."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {int(first): [_parse_figure(figure) for figure in figures] for first, *figures in rows}


@dataclass(frozen=True)
class Table:
    """The columns and rows of one of the Tables 2, 3 and 4."""

    name: str
    classifier: str  # "nearest" or "svm"
    angles: tuple[int, ...]
    sizes: dict[str, tuple[int, ...]]  # class sizes of each dataset

    def list_cells(
        self,
        protocol: str = "published",
        *,
        angles: Sequence[int] | None = None,
        sizes: Sequence[int] | None = None,
        mnist: datasets.Mnist | None = None,
    ) -> list[Cell]:
        """List all cells, with other numbers of angles and class sizes if these are given.

        By default, class sizes are limited by the digits at hand. A table with one class size ignores `sizes`.
        """
        most = SOURCES[self.name].count_digits(mnist) if mnist else 0
        cells = []
        for dataset, own in self.sizes.items():
            default = [size for size in own if dataset == "academic" or size <= most]
            for size in default if sizes is None or len(own) == 1 else sizes:
                cells += self.list_row(protocol, dataset, size, angles or self.angles)
        return cells

    def list_row(self, protocol: str, dataset: str, size: int, angles: Sequence[int]) -> list[Cell]:
        """List the cells of one dataset and class size."""
        columns: list[tuple[str, str | None, int | None]]
        if self.classifier == "nearest":
            columns = [("mnrcdt", norm, n) for norm in METRICS for n in angles]
        else:
            columns = [("euclidean", None, None), *((f, None, n) for f in ("rcdt", "mnrcdt") for n in angles)]
        return [Cell(self.name, protocol, dataset, f, norm, self.classifier, n, size) for f, norm, n in columns]


_ROWS = {"table2": _parse_rows(_TABLE_2), "table3": _parse_rows(_TABLE_3), "table4": _parse_rows(_TABLE_4)}
TABLES = {
    "table2": Table("table2", "nearest", tuple(_ROWS["table2"]), {"academic": (10,), "linmnist": (50,)}),
    "table3": Table("table3", "svm", (2, 4, 8, 16), {"academic": tuple(_ROWS["table3"])}),
    "table4": Table("table4", "svm", (4, 8, 16, 32), {"linmnist": tuple(_ROWS["table4"])}),
}


def _collect_printed() -> dict[Measurand, Printed]:
    printed: dict[Measurand, Printed] = {}
    for table in TABLES.values():
        places = [(dataset, size) for dataset, sizes in table.sizes.items() for size in sizes]
        cells = [cell for place in places for cell in table.list_row("published", *place, table.angles)]
        for row, figures in _ROWS[table.name].items():
            printed |= zip([cell for cell in cells if find_row(cell) == row], figures, strict=True)
    for line in _ROBUSTNESS.strip().splitlines():
        name, n_train, *means = line.split()
        trials = [Trial(name, 0, int(n_train), method, 1, 0) for method in ("rcdt", "mnrcdt", "anrcdt")]
        printed |= zip(trials, map(_parse_figure, means), strict=True)
    return printed


_PRINTED = _collect_printed()


def find_printed(measurand: Measurand) -> Printed | None:
    """Find the figure that the authors have for a cell, whatever the protocol and the variant, or for a trial."""
    if isinstance(measurand, Cell):
        measurand = measurand.published
    elif isinstance(measurand, Trial):
        measurand = replace(measurand, class_size=0, repetitions=0)
    return _PRINTED.get(measurand)


# ---------------------------------------------------------------- variants of the protocol


@dataclass(frozen=True)
class Variant:
    """A single change of the protocol: something that the paper's text leaves open and that changes its figures."""

    title: str
    published: str  # the protocol, in words
    otherwise: str  # the change, in words
    pairs: list[tuple[Cell, Cell]]  # cells, each with its changed counterpart


def list_variants(
    angles: Sequence[int] | None, sizes: Sequence[int] | None, mnist: datasets.Mnist | None
) -> list[Variant]:
    """List all comparisons of cells with the given numbers of angles and class sizes."""
    two, three, four = (table.list_cells(angles=angles, sizes=sizes, mnist=mnist) for table in TABLES.values())
    fine_three, fine_four = map(_select_most_angles, (three, four))
    small_three, small_four, large_four = _select_size(three, min), _select_size(four, min), _select_size(four, max)
    grid = dict.fromkeys([*two, *small_three, *small_four, *large_four])

    def vary(cells: Iterable[Cell], **change: Any) -> list[tuple[Cell, Cell]]:
        return [(cell, replace(cell, **change)) for cell in cells]

    shared, tolerance = f"{N_SHARED_MAPS} maps for all images", f"LIBLINEAR, tolerance {LOOSE_TOLERANCE}"
    canvas, enlarged = "the canvas stays as it is", "enlarged by each step, and resized"
    return [
        Variant("Shared maps", shared, "a map for each image", vary(fine_four, protocol="independent")),
        Variant("Canvas", canvas, enlarged, vary([*fine_three, *fine_four], variant="fit canvas")),
        Variant("Full circle", "maximum over the circle", "over [0, π) alone", vary(two, variant="half circle")),
        Variant(
            "Grid of angles", "πk/n in [0, π)", "n angles from 0 to π, both included", vary(grid, variant="closed grid")
        ),
        Variant("Solver", "solved to the end", tolerance, vary(small_four, variant="loose solver")),
    ]


def _select_most_angles(cells: Sequence[Cell]) -> list[Cell]:
    """Select the cells of the pixels, and those of both transforms with the largest number of angles."""
    return [cell for cell in cells if cell.feature == "euclidean" or cell.n_angles == cells[-1].n_angles]


def _select_size(cells: Sequence[Cell], choose: Callable[[Iterable[int]], int]) -> list[Cell]:
    """Select the cells of the mNR-CDT with the smallest or the largest class size."""
    chosen = [cell for cell in cells if cell.feature == "mnrcdt"]
    return [cell for cell in chosen if cell.class_size == choose(cell.class_size for cell in chosen)]

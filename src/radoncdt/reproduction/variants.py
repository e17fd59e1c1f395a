"""What the paper's text leaves open and moves its figures: the same cells with one thing done otherwise."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from radoncdt import datasets
from radoncdt.reproduction import svm, table2, table3, table4
from radoncdt.reproduction.cells import Cell
from radoncdt.reproduction.protocol import CLOSED_GRID, FIT_CANVAS, HALF_CIRCLE, LOOSE_SOLVER, N_SHARED_MAPS


@dataclass(frozen=True)
class Variant:
    """One thing done otherwise."""

    title: str
    published: str
    """As the protocol has it."""
    otherwise: str
    cells: list[Cell]
    change: Callable[[Cell], Cell]

    def pairs(self) -> list[tuple[Cell, Cell]]:
        """Every cell, and the same with the change."""
        return [(cell, self.change(cell)) for cell in self.cells]


def variants(angles: Sequence[int] | None, sizes: Sequence[int] | None, mnist: datasets.Mnist | None) -> list[Variant]:
    """All comparisons, of the angles and class sizes chosen."""
    two, three, four = (module.TABLE.cells("published", angles, sizes, mnist) for module in (table2, table3, table4))

    def variant(name: str) -> Callable[[Cell], Cell]:
        return lambda cell: replace(cell, variant=name)

    return [
        Variant(
            "Shared maps",
            f"{N_SHARED_MAPS} maps for all images",
            "a map for each image",
            _with_most_angles(four),
            lambda cell: replace(cell, protocol="independent"),
        ),
        Variant(
            "Canvas",
            "the canvas stays as it is",
            "enlarged by each step, and resized",
            [*_with_most_angles(three), *_with_most_angles(four)],
            variant(FIT_CANVAS),
        ),
        Variant("Full circle", "maximum over the circle", "over [0, π) alone", two, variant(HALF_CIRCLE)),
        Variant(
            "Grid of angles",
            "πk/n in [0, π)",
            "n angles from 0 to π, both included",
            list(
                dict.fromkeys([*two, *_of(three, "mnrcdt", min), *_of(four, "mnrcdt", min), *_of(four, "mnrcdt", max)])
            ),
            variant(CLOSED_GRID),
        ),
        Variant(
            "Solver",
            "solved to the end",
            f"LIBLINEAR, tolerance {svm.LOOSE_TOLERANCE}",
            _of(four, "mnrcdt", min),
            variant(LOOSE_SOLVER),
        ),
    ]


def _with_most_angles(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of the pixels, and those of both transforms with the largest number of angles."""
    return [cell for cell in cells if cell.feature == "euclidean" or cell.n_angles == cells[-1].n_angles]


def _of(cells: Sequence[Cell], feature: str, which: Callable[[Iterable[int]], int]) -> list[Cell]:
    """Cells of one feature and of the smallest or the largest class size; none of none."""
    chosen = [cell for cell in cells if cell.feature == feature]
    return [cell for cell in chosen if cell.class_size == which(cell.class_size for cell in chosen)]

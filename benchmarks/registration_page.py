"""Write the tables of docs/results/registration.md from benchmarks/registration.json.

python -m benchmarks registration_page
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.registration import N_CASES, NEAR, RESULTS, WORSE
from benchmarks.report import insert_passages, make_parser, make_table, write_text
from radoncdt.matching.registration import CREDIBLE_DISTANCE

PAGE = Path(__file__).parent.parent / "docs" / "results" / "registration.md"

Figures = dict[str, float]
"""All stored results, by their titles."""

MAPS = {
    "symbols, 256 px": "twelve symbols, 256 × 256 pixels",
    "digits except 1, 56 px": "digits except 1, enlarged to 56 × 56",
    "digits except 1, 28 px": "digits except 1, 28 × 28",
    "ones, 56 px": "ones, enlarged to 56 × 56",
    "symbols, rotation ±20° and shift only": "twelve symbols, only rotated by up to 20° and shifted",
}
ACCURACY = (
    "symbols, sampled",
    "motifs, sampled",
    "symbols, moved",
    "motifs, moved",
    "motifs, stretched",
    "polylines, stretched",
    "motifs, redrawn, by similarities",
    "motifs, redrawn, by moderate maps",
    "motifs, redrawn, by wide maps",
)
ROTATIONS = {
    "digits, another person, exact, with reflections": ("digits of one class by different people", "exact", "yes"),
    "digits, another person, exact, without reflections": ("digits of one class by different people", "exact", "no"),
    "digits, bent, specks, robust, with reflections": ("a digit, bent, with specks", "robust", "yes"),
    "symbols, bent, specks, robust, without reflections": ("a symbol, bent, with specks", "robust", "no"),
    "marks, redrawn, exact, with reflections": ("a mark, redrawn", "exact", "yes"),
    "marks, bent, specks, robust, with reflections": ("a mark, bent, with specks, another pen", "robust", "yes"),
}
UNRELATED = ("two symbols", "motifs of two kinds", "two digits", "a symbol and a motif", "a motif and a digit")
COPIES = {
    "a mark and its drawing": "exact moments",
    "a mark and its drawing, robust": "robust moments",
    "a mark and its specks, robust": "with specks, robust moments",
}


def load_figures() -> Figures:
    """Load the results of all parts."""
    parts = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {name: figure for part in parts.values() for name, figure in part.items()}


def find(figures: Figures, beginning: str) -> float:
    """Find the only result whose title has this beginning."""
    (title,) = (title for title in figures if title.startswith(beginning))
    return figures[title]


def tabulate_maps(figures: Figures) -> str:
    """Make the table of the shares of maps that are found, by registration and by ORB."""
    rows = [
        [
            label,
            f"{figures[f'{name}: solved, of {N_CASES}']:.3f}",
            f"{find(figures, f'{name}: solved by ORB and RANSAC, of'):.3f}",
            f"{figures[f'{name}: solved by ORB and RANSAC, with ten times the tolerance']:.3f}",
        ]
        for name, label in MAPS.items()
    ]
    return make_table(["images", "`register`", "ORB and RANSAC", "… with ten times the tolerance"], rows)


def tabulate_accuracy(figures: Figures) -> str:
    """Make the table of the errors before and after refinement."""
    rows = []
    for name in ACCURACY:
        cells, near = [], []
        for when in ("before", "after"):
            errors = [
                figures[f"{name}: error in pixels {when} refinement, {statistic}"]
                for statistic in ("median", "90 % quantile", "largest")
            ]
            cells.append(" / ".join(f"{error:.3f}" if error < 9.9995 else f"{error:.1f}" for error in errors))
            near.append(f"{find(figures, f'{name}: share within {NEAR} pixel {when} refinement'):.2f}")
        worse = figures[f"{name}: share whose error grows by more than {WORSE} pixels"]
        rows.append([name.replace(", by ", ", "), *cells, " / ".join(near), f"{worse:.2f}"])
    statistics = "median / 90 % / maximum"
    shares = [f"within {NEAR} pixel, before / after", f"worse by more than {WORSE}"]
    return make_table(["drawing and copy", f"before: {statistics}", f"after: {statistics}", *shares], rows)


def tabulate_rotations(figures: Figures) -> str:
    """Make the table of right rotations."""
    rows = [
        [
            *labels,
            f"{find(figures, f'{name}: right rotations, of'):.3f}",
            f"{figures[f'{name}: right rotations, refined']:.3f}",
            f"{figures[f'{name}: standard error of the difference']:.3f}",
        ]
        for name, labels in ROTATIONS.items()
    ]
    header = ["pairs", "moments", "reflections", "right rotations", "with `refine=True`"]
    return make_table([*header, "standard error of the difference"], rows)


def tabulate_unrelated(figures: Figures) -> str:
    """Make the table of distances between unrelated shapes."""
    return make_table(["unrelated pairs", *_DISTANCES], [[name, *_show_distances(figures, name)] for name in UNRELATED])


def tabulate_copies(figures: Figures) -> str:
    """Make the table of distances between marks and copies that are redrawn, moved and bent."""
    rows = [[label, *_show_distances(figures, name)] for name, label in COPIES.items()]
    return make_table(["200 marks that were redrawn, moved and bent", *_DISTANCES], rows)


_DISTANCES = (f"share above {CREDIBLE_DISTANCE}", "median distance")


def _show_distances(figures: Figures, name: str) -> list[str]:
    share = figures[f"{name}: share beyond {CREDIBLE_DISTANCE}"]
    return [f"{share:.3f}", f"{figures[f'{name}: distance, median']:.2f}"]


TABLES: dict[str, Callable[[Figures], str]] = {
    "maps": tabulate_maps,
    "accuracy": tabulate_accuracy,
    "rotations": tabulate_rotations,
    "unrelated": tabulate_unrelated,
    "copies": tabulate_copies,
}
"""The functions that make the tables of the page."""


def insert_tables(text: str, figures: Figures) -> str:
    """Replace the tables in the text of the page, which are between marks."""
    passages = {name: make(figures) for name, make in TABLES.items()}
    return insert_passages(text, "registration", passages)


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    write_text(PAGE, insert_tables(PAGE.read_text(encoding="utf-8"), load_figures()))
    print(PAGE)
    return 0

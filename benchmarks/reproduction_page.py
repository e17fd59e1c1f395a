"""Write the tables of docs/results/reproduction.md and docs/results/robustness.md from stored results.

python -m benchmarks reproduction_page
python -m benchmarks reproduction_page --results DIR …    # first take over the results of reports
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.report import add_results, insert_passages, make_parser, make_table, take_over, write_text
from radoncdt.reproduction import Cell, Summary, labels
from radoncdt.reproduction.robustness import STUDIES
from radoncdt.reproduction.tables import TABLES, find_printed, list_variants

DOCS = Path(__file__).parent.parent / "docs" / "results"
RESULTS = Path(__file__).parent / "reproduction.json"
PARTS = {"results": "cells", "variants": "variants", "robustness": "robustness"}  # reports' files, and our keys

Records = list[dict[str, Any]]

SHOWN: dict[str, Callable[[dict[str, Any]], bool]] = {
    "Shared maps": lambda r: r["class_size"] != 20,
    "Canvas": lambda r: (
        r["class_size"] == {"table3": 30, "table4": 250}[r["table"]]
        or (r["feature"] == "euclidean" and r["class_size"] != 20)
    ),
    "Full circle": lambda r: r["n_angles"] in ((8, 32, 128) if r["dataset"] == "linmnist" else (8, 16, 32, 64, 128)),
    "Grid of angles": lambda r: r["n_angles"] <= 8 or r["class_size"] == 500,
    "Solver": lambda _: True,
}
"""The rows that the page shows of each variant. The report of `radoncdt reproduce variants` has all."""


def load_cells(records: Records) -> dict[Cell, Summary[Cell]]:
    """Return the stored summaries by cell."""
    names = [field.name for field in fields(Summary)[2:]]
    found = {}
    for record in records:
        cell = Cell(**{field.name: record[field.name] for field in fields(Cell) if field.name in record})
        found[cell] = Summary(cell, find_printed(cell), *(record[name] for name in names))
    return found


# ---------------------------------------------------------------- docs/results/reproduction.md


def tabulate_summary(records: Records) -> str:
    """Make the first table of the page: pixels and mNR-CDT with 32 angles in both protocols of Table 4."""
    found = load_cells(records)
    rows = []
    for size in (10, 50, 500):
        columns = [("published", "mnrcdt", 32), ("published", "euclidean", None)]
        columns += [("independent", "mnrcdt", 32), ("independent", "euclidean", None)]
        cells = [found[Cell("table4", p, "linmnist", feature, None, "svm", n, size)] for p, feature, n in columns]
        rows.append([str(size), labels.format_printed_mean(cells[0].paper), *(f"{cell.mean:.3f}" for cell in cells)])
    ours = ["ours, mNR-CDT", "ours, pixels"]
    return make_table(["class size", "paper, mNR-CDT", *ours, *(f"{name}, independent maps" for name in ours)], rows)


def tabulate_table(records: Records, name: str) -> str:
    """Make one of the paper's tables in the published protocol, with the paper's figures in brackets."""
    found = {
        (labels.find_row(cell), labels.label_column(cell)): summary
        for cell, summary in load_cells(records).items()
        if (cell.table, cell.protocol) == (name, "published")
    }
    rows, columns = sorted({row for row, _ in found}), list(dict.fromkeys(column for _, column in found))
    header = ["angles" if name == "table2" else "class size", *columns]
    return make_table(header, [[str(row), *(_compare(found[row, column]) for column in columns)] for row in rows])


def _compare(found: Summary[Cell]) -> str:
    largest = "" if found.fold_maximum is None else f", max {found.fold_maximum:.3f}"
    return f"{found.mean:.3f}{largest} ({labels.format_printed_mean(found.paper)})" + ("*" if found.flag else "")


def tabulate_variant(records: Records, title: str) -> str:
    """Make the table that compares the protocol with a single change."""
    (variant,) = (each for each in list_variants(None, None, None) if each.title == title)
    rows = []
    for record in (each for each in records if each["variant"] == title and SHOWN[title](each)):
        classifier = TABLES[record["table"]].classifier
        names = ("table", "dataset", "feature", "norm", "n_angles", "class_size")
        cell = Cell(protocol="published", classifier=classifier, **{name: record[name] for name in names})
        feature = labels.FEATURES[cell.feature] if cell.norm is None else labels.label_column(cell)
        angles = "–" if cell.n_angles is None else str(cell.n_angles)
        means = (f"{record[name]:.3f}" for name in ("published_mean", "otherwise_mean"))
        printed = labels.format_printed_mean(find_printed(cell))
        rows.append([cell.table[-1], feature, angles, str(cell.class_size), printed, *means])
    header = ["table", "feature", "angles", "class size", "paper", variant.published, variant.otherwise]
    return make_table(header, rows)


def tabulate_ties(records: Records) -> str:
    """Make the table of the shares of ties of the pixels in Table 4."""
    found = load_cells(records)
    rows = []
    for size in (10, 20, 50, 250):
        cells = [Cell("table4", p, "linmnist", "euclidean", None, "svm", None, size) for p in labels.PROTOCOLS]
        rows.append([str(size), *(f"{100 * (found[cell].ties or 0):.1f} %" for cell in cells)])
    return make_table(["class size", "ties, 10 maps for all images", "ties, a map for each image"], rows)


# ---------------------------------------------------------------- docs/results/robustness.md


def tabulate_robustness(records: Records) -> str:
    """Make the table of accuracies of the nearest neighbour, with the authors' in brackets."""
    found = {(r["dataset"], r["method"], r["n_train"]): r for r in records if r["k"] == 1}

    def show(dataset: str, method: str) -> str:
        chosen = [found[dataset, method, n] for n in STUDIES[dataset].n_train]
        ours, authors = ([r[name] for r in chosen] for name in ("mean", "authors"))
        text = " / ".join(f"{mean:.3f}" for mean in ours)
        return text if None in authors else f"{text} ({' / '.join(f'{mean:.3f}' for mean in authors)})"

    header = [f"{name} {' / '.join(map(str, STUDIES[key].n_train))}" for key, name in labels.SETS.items()]
    methods = {key: name for key, name in labels.METHODS.items() if ("aff", key, STUDIES["aff"].n_train[0]) in found}
    return make_table(["method", *header], [[name, *(show(s, m) for s in labels.SETS)] for m, name in methods.items()])


# ---------------------------------------------------------------- the pages

Stored = dict[str, Any]
"""The records of all parts."""

PAGES: dict[str, dict[str, Callable[[Stored], str]]] = {
    "reproduction.md": {
        "summary": lambda stored: tabulate_summary(stored["cells"]),
        "table2": lambda stored: tabulate_table(stored["cells"], "table2"),
        "table3": lambda stored: tabulate_table(stored["cells"], "table3"),
        "table4": lambda stored: tabulate_table(stored["cells"], "table4"),
        "shared maps": lambda stored: tabulate_variant(stored["variants"], "Shared maps"),
        "ties": lambda stored: tabulate_ties(stored["cells"]),
        "canvas": lambda stored: tabulate_variant(stored["variants"], "Canvas"),
        "pixels": lambda stored: make_table(stored["pixels"][0], stored["pixels"][1:]),
        "full circle": lambda stored: tabulate_variant(stored["variants"], "Full circle"),
        "grid of angles": lambda stored: tabulate_variant(stored["variants"], "Grid of angles"),
        "solver": lambda stored: tabulate_variant(stored["variants"], "Solver"),
    },
    "robustness.md": {"robustness": lambda stored: tabulate_robustness(stored["robustness"])},
}
"""The functions that make the tables of a page from the stored records."""


def load_stored() -> Stored:
    """Load the records of all parts."""
    stored: Stored = json.loads(RESULTS.read_text(encoding="utf-8"))
    return stored


def insert_tables(name: str, text: str, stored: Stored) -> str:
    """Replace the tables in the text of a page, which are between marks."""
    passages = {table: make(stored) for table, make in PAGES[name].items()}
    return insert_passages(text, "reproduction", passages)


def main(arguments: Sequence[str]) -> int:
    parser = make_parser(__name__, __doc__)
    add_results(parser, "reports with all parts of the paper, or the part robustness")
    take_over(RESULTS, parser.parse_args(arguments).results, PARTS)
    stored = load_stored()
    for name in PAGES:
        write_text(DOCS / name, insert_tables(name, (DOCS / name).read_text(encoding="utf-8"), stored))
        print(DOCS / name)
    return 0

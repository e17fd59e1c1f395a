"""Tables of ``radoncdt reproduce`` on the terminal: our figures, and the published ones below them."""

from collections.abc import Sequence
from typing import Any, TextIO

from radoncdt._extras import require
from radoncdt.reproduction import Cell, Outcome, Summary, Trial, labels
from radoncdt.reproduction.measurement import NOTABLE
from radoncdt.reproduction.tables import TABLES

_WIDTH = 100  # columns where the output is not a terminal
_STYLES = {-1: "bold red", 0: "bold", 1: "bold green"}
_DIM = "not bold default dim"

_CELLS = (
    "\nOurs: mean over the draws ± standard deviation within a draw; size: images per class.\n"
    f"Red and green, in the published protocol: at least {NOTABLE:g} standard errors below and above the paper. "
    "max: the largest of the folds, which is what the paper prints for the R-CDT in Table 4."
)
_TRIALS = "\nRobustness: accuracy of the nearest training image, mean over the repetitions; below, the authors' figure."

_Table = Any  # of rich, which is loaded when something is printed


def print_tables(outcome: Outcome, file: TextIO) -> None:
    """Print all tables of an outcome."""
    rich = require("rich.console", "printing tables", extra="reproduce")
    console = rich.Console(file=file, width=None if file.isatty() else _WIDTH, highlight=False)
    for table in _make_tables(outcome):
        console.print()
        console.print(table)
    if outcome.cells:
        console.print(_CELLS)
    if outcome.trials:
        console.print(_TRIALS)


def _make_tables(outcome: Outcome) -> list[_Table]:
    tables = []
    if outcome.checks:
        tables.append(_show_table1(outcome))
    for name in TABLES:
        for protocol in outcome.choice.protocols:
            if cells := outcome.select_cells(name, protocol):
                show = _show_nearest if name == "table2" else _show_folds
                tables.append(show(f"{labels.TABLES[name]}, {protocol}", cells))
    if any(pairs for _, pairs in outcome.comparisons):
        tables.append(_show_variants(outcome))
    nearest = [s for s in outcome.trials if s.measurand.k == 1 and not s.measurand.varied]
    for title, is_digits in (("symbols", False), ("digits", True)):
        if chosen := [s for s in nearest if (s.measurand.dataset == "linmnist10") == is_digits]:
            tables.append(_show_trials(f"Robustness, {title}", chosen))
    return tables


def _new_table(title: str, *columns: str, left: int = 0) -> _Table:
    """A table without rows, whose first columns are aligned to the left."""
    table = require("rich.table", "printing tables").Table(title=title, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i < left else "right")
    return table


def _new_text(*parts: tuple[str, str]) -> Any:
    """Lines of text, each with a style."""
    text = require("rich.text", "printing tables").Text
    return text("\n").join(text(content, style=style) for content, style in parts)


def _show_cell(summary: Summary[Cell] | None) -> Any:
    if summary is None:
        return ""
    lines = [(labels.format_figure(summary.mean, summary.std), _STYLES[summary.flag])]
    if summary.fold_maximum is not None:
        lines.append((f"max {summary.fold_maximum:.3f}", _STYLES[summary.flag]))
    if summary.paper:
        lines.append((f"paper {labels.format_printed(summary.paper)}", _DIM))
    return _new_text(*((text.replace(" ± ", "±"), style) for text, style in lines))


def _show_nearest(title: str, cells: Sequence[Summary[Cell]]) -> _Table:
    places = {(s.measurand.n_angles, labels.label_column(s.measurand)): s for s in cells}
    columns = list(dict.fromkeys(column for _, column in places))
    table = _new_table(title, "angles", *columns)
    for n_angles in dict.fromkeys(n_angles for n_angles, _ in places):
        table.add_row(str(n_angles), *(_show_cell(places.get((n_angles, column))) for column in columns))
    return table


def _show_folds(title: str, cells: Sequence[Summary[Cell]]) -> _Table:
    table = _new_table(title, "size", *labels.FEATURES.values(), "angles")
    places = {(s.measurand.class_size, s.measurand.feature, s.measurand.n_angles): s for s in cells}
    counts = list(dict.fromkeys(n_angles for _, _, n_angles in places if n_angles is not None))
    for size in dict.fromkeys(size for size, _, _ in places):
        for i, n_angles in enumerate(counts):
            pixels = _show_cell(places.get((size, "euclidean", None))) if i == 0 else ""
            transforms = [_show_cell(places.get((size, feature, n_angles))) for feature in ("rcdt", "mnrcdt")]
            is_last = i == len(counts) - 1
            table.add_row(f"{size:,}" if i == 0 else "", pixels, *transforms, str(n_angles), end_section=is_last)
    return table


def _show_table1(outcome: Outcome) -> _Table:
    table = _new_table("Table 1: largest error in pixels", "transformation", "of points", "of an image", left=1)
    for check in outcome.checks:
        errors = f"{check.points_error:.1e}", f"{check.image_error:.3f}"
        table.add_row(check.transformation, *errors, style="" if check.holds else "red")
    return table


def _show_variants(outcome: Outcome) -> _Table:
    table = _new_table("What matters in the protocol", "", "as published", "otherwise", "largest difference", left=3)
    for variant, pairs in outcome.comparisons:
        if pairs:
            worst, other = max(pairs, key=lambda pair: abs(pair[1].mean - pair[0].mean))
            cell = worst.measurand
            angles = f", {cell.n_angles} angles" if cell.norm else ""
            place = f"Table {cell.table[-1]}, {labels.label_column(cell)}{angles}, {cell.class_size:,} per class"
            change = f"{worst.mean:.3f} → {other.mean:.3f}\n{place}"
            table.add_row(variant.title, variant.published, variant.otherwise, change)
    return table


def _show_trials(title: str, trials: Sequence[Summary[Trial]]) -> _Table:
    places = {(s.measurand.method, s.measurand.dataset, s.measurand.n_train): s for s in trials}
    columns = list(dict.fromkeys((dataset, n_train) for _, dataset, n_train in places))
    table = _new_table(title, "method", *(f"{labels.SETS[name]}\n{n}" for name, n in columns), left=1)
    for method in dict.fromkeys(method for method, _, _ in places):
        table.add_row(labels.METHODS[method], *(_show_trial(places.get((method, *column))) for column in columns))
    return table


def _show_trial(summary: Summary[Trial] | None) -> Any:
    if summary is None:
        return ""
    authors = [(f"{summary.paper.mean:.3f}", _DIM)] if summary.paper else []
    return _new_text((f"{summary.mean:.3f}", "bold"), *authors)

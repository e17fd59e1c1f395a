"""The outcome as tables in a terminal: ours above, the paper's below."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from radoncdt.reproduction import names
from radoncdt.reproduction.cells import Result
from radoncdt.reproduction.page import NOTABLE, column, figure, mark, printed
from radoncdt.reproduction.run import TABLES, Outcome
from radoncdt.reproduction.trials import TrialResult

WIDTH = 100
"""Where there is no terminal to ask."""

STYLES = {-1: "bold red", 0: "bold", 1: "bold green"}


def show(outcome: Outcome, file: Any) -> None:
    """Print all tables."""
    console = Console(file=file, width=None if file.isatty() else WIDTH, highlight=False)
    for table in _tables(outcome):
        console.print()
        console.print(table)
    if outcome.results:
        console.print("\nOurs: mean over the draws ± standard deviation within a draw; size: images of a class.")
        console.print(
            f"Red and green, as published: {NOTABLE:g} standard errors and more below and above the paper. "
            "max: the largest of the folds, which is what the paper prints for the R-CDT in Table 4."
        )
    if outcome.trials:
        console.print(
            "\nRobustness: the nearest training image, mean over the repetitions; below, the authors' figure."
        )


def _tables(outcome: Outcome) -> list[Table]:
    tables = []
    if outcome.checks:
        tables.append(_table1(outcome))
    for name, table in TABLES.items():
        for protocol in outcome.choice.protocols:
            results = outcome.of(name, protocol)
            if results:
                shape = _nearest if name == "table2" else _folds
                tables.append(shape(f"{table.caption}, {protocol}", results))
    if any(pairs for _, pairs in outcome.comparisons):
        tables.append(_variants(outcome))
    nearest = [r for r in outcome.trials if r.trial.k == 1 and not r.trial.varied]
    for digits in (False, True):
        chosen = [r for r in nearest if (r.trial.dataset == "linmnist10") == digits]
        if chosen:
            tables.append(_robustness("digits" if digits else "symbols", chosen))
    return tables


def _new(title: str, *columns: str, left: int = 0) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i < left else "right")
    return table


def _entry(result: Result | None) -> Text:
    if result is None:
        return Text("")
    ours, errors = _short(figure(result.mean, result.std)), result.standard_errors
    if result.fold_maximum is not None:
        ours += f"\nmax {result.fold_maximum:.3f}"
        errors = result.fold_maximum_standard_errors
    style = STYLES[mark(errors) if result.cell.protocol == "published" else 0]
    text = Text(ours, style=style)
    return (
        text.append(f"\npaper {_short(printed(result.paper))}", style="not bold default dim") if result.paper else text
    )


def _short(text: str) -> str:
    return text.replace(" ", "")


def _nearest(title: str, results: Sequence[Result]) -> Table:
    columns = list(dict.fromkeys(column(result.cell) for result in results))
    table = _new(title, "angles", *columns)
    places = {(result.cell.n_angles, column(result.cell)): result for result in results}
    for n_angles in dict.fromkeys(result.cell.n_angles for result in results):
        table.add_row(str(n_angles), *(_entry(places.get((n_angles, name))) for name in columns))
    return table


def _folds(title: str, results: Sequence[Result]) -> Table:
    table = _new(title, "size", *names.FEATURES.values(), "angles")
    places = {(r.cell.class_size, r.cell.feature, r.cell.n_angles): r for r in results}
    counts = list(dict.fromkeys(r.cell.n_angles for r in results if r.cell.n_angles is not None))
    for size in dict.fromkeys(result.cell.class_size for result in results):
        for i, n_angles in enumerate(counts):
            pixels = _entry(places.get((size, "euclidean", None))) if i == 0 else ""
            transformed = [_entry(places.get((size, feature, n_angles))) for feature in ("rcdt", "mnrcdt")]
            last = i == len(counts) - 1
            table.add_row(f"{size:,}" if i == 0 else "", pixels, *transformed, str(n_angles), end_section=last)
    return table


def _table1(outcome: Outcome) -> Table:
    table = _new("Table 1: largest error in pixels", "transformation", "of points", "of an image", left=1)
    for check in outcome.checks:
        errors = f"{check.points_error:.1e}", f"{check.image_error:.3f}"
        table.add_row(check.transformation, *errors, style="" if check.holds else "red")
    return table


def _variants(outcome: Outcome) -> Table:
    table = _new("What matters in the protocol", "", "as published", "otherwise", "largest difference", left=3)
    for variant, pairs in outcome.comparisons:
        if pairs:
            worst, other = max(pairs, key=lambda pair: abs(pair[1].mean - pair[0].mean))
            cell = worst.cell
            angles = f", {cell.n_angles} angles" if cell.norm else ""
            where = f"Table {cell.table[-1]}, {column(cell)}{angles}, {cell.class_size:,} a class"
            change = f"{worst.mean:.3f} → {other.mean:.3f}\n{where}"
            table.add_row(variant.title, variant.published, variant.otherwise, change)
    return table


def _robustness(title: str, results: Sequence[TrialResult]) -> Table:
    places = {(r.trial.method, r.trial.dataset, r.trial.n_train): r for r in results}
    columns = list(dict.fromkeys((dataset, n_train) for _, dataset, n_train in places))
    table = _new(f"Robustness, {title}", "method", *(f"{names.SETS[name]}\n{n}" for name, n in columns), left=1)
    for method in dict.fromkeys(method for method, _, _ in places):
        table.add_row(names.METHODS[method], *(_trial(places.get((method, *column))) for column in columns))
    return table


def _trial(result: TrialResult | None) -> Text:
    if result is None:
        return Text("")
    text = Text(f"{result.mean:.3f}", style="bold")
    return text if result.authors is None else text.append(f"\n{result.authors:.3f}", style="not bold default dim")

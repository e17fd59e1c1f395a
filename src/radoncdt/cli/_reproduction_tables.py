"""Tables of ``radoncdt reproduce`` on the terminal: our figures, and the published ones below them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TextIO

from radoncdt._extras import require
from radoncdt.reproduction import Cell, Outcome, Summary, Trial, labels
from radoncdt.reproduction.measurement import NOTABLE
from radoncdt.reproduction.recognition import few_shot_tables, tables
from radoncdt.reproduction.tables import TABLES

__all__ = ["print_tables"]

_WIDTH = 100  # columns where the output is not a terminal
_STYLES = {-1: "bold red", 0: "bold", 1: "bold green"}  # styles of our figures, by their flag
_DIM = "not bold default dim"  # the style of published figures

_CELLS = (
    "\nOurs: mean over the draws ± standard deviation within a draw; size: images per class.\n"
    f"Red and green, in the published protocol: at least {NOTABLE:g} standard errors below and above the paper. "
    "max: the largest of the folds, which is what the paper prints for the R-CDT in Table 4."
)
_TRIALS = "\nRobustness: accuracy of the nearest training image, mean over the repetitions; below, the authors' result."

_Table = Any  # a table of rich, which is loaded when something is printed


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


def _make_tables(outcome: Outcome) -> Iterator[_Table]:
    """Yield the tables of all parts that were measured."""
    if outcome.checks:
        yield _make_table1(outcome)
    for name in TABLES:
        for protocol in outcome.choice.protocols:
            if cells := outcome.select_cells(name, protocol):
                make = _make_nearest if name == "table2" else _make_folds
                yield make(f"{labels.TABLES[name]}, {protocol}", cells)
    if any(pairs for _, pairs in outcome.comparisons):
        yield _make_variants(outcome)
    nearest = [s for s in outcome.trials if s.measurand.k == 1 and not s.measurand.varied]
    for title, is_digits in (("symbols", False), ("digits", True)):
        if chosen := [s for s in nearest if (s.measurand.dataset == "linmnist10") == is_digits]:
            yield _make_trials(f"Robustness, {title}", chosen)
    records = few_shot_tables.list_records(outcome)
    for dataset in dict.fromkeys(record["dataset"] for record in records):
        header, rows = few_shot_tables.list_accuracies(records, dataset)
        yield _make_study(few_shot_tables.SET_LABELS[dataset], header, rows)
    if outcome.glyphs:
        header, rows = tables.list_glyphs([asdict(figures) for figures in outcome.glyphs])
        fonts, wanted, n_characters, n_queries = rows[0][:4]
        title = f"{n_characters} characters of {fonts}, {n_queries} queries in {wanted}"
        yield _make_study(title, header[4:], [row[4:] for row in rows])
    if outcome.one_shot:
        header, rows = tables.list_one_shot([asdict(figures) for figures in outcome.one_shot])
        yield _make_study("Omniglot, one example per character", header, rows, left=3)


def _make_study(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> _Table:
    """Return a table of one of the studies of recognition."""
    table = _make_table(title, *header, left=left)
    for row in rows:
        table.add_row(*(text.replace("`", "") for text in row))
    return table


def _make_table(title: str, *columns: str, left: int = 0) -> _Table:
    """Return a table without rows, whose first columns are aligned to the left."""
    table = require("rich.table", "printing tables").Table(title=title, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i < left else "right")
    return table


def _make_grid(title: str, corner: str, texts: Mapping[tuple[str, str], str], *, left: int = 0) -> _Table:
    """Return a table of texts by row and column, in the order in which these appear."""
    columns = list(dict.fromkeys(column for _, column in texts))
    table = _make_table(title, corner, *columns, left=left)
    for row in dict.fromkeys(row for row, _ in texts):
        table.add_row(row, *(texts.get((row, column), "") for column in columns))
    return table


def _make_nearest(title: str, cells: Sequence[Summary[Cell]]) -> _Table:
    """Return a table with one row per number of angles."""
    texts = {(str(s.measurand.n_angles), labels.label_column(s.measurand)): _format_cell(s) for s in cells}
    return _make_grid(title, "angles", texts)


def _make_trials(title: str, trials: Sequence[Summary[Trial]]) -> _Table:
    """Return a table with one row per method, and the authors' figures below ours."""
    texts = {}
    for summary in trials:
        trial = summary.measurand
        authors = f"\n[{_DIM}]{summary.paper.mean:.3f}[/]" if summary.paper else ""
        place = labels.METHODS[trial.method], f"{labels.SETS[trial.dataset]}\n{trial.n_train}"
        texts[place] = f"[bold]{summary.mean:.3f}[/]{authors}"
    return _make_grid(title, "method", texts, left=1)


def _make_folds(title: str, cells: Sequence[Summary[Cell]]) -> _Table:
    """Return a table with one row per class size and number of angles."""
    table = _make_table(title, "size", *labels.FEATURES.values(), "angles")
    texts = {(s.measurand.class_size, s.measurand.feature, s.measurand.n_angles): _format_cell(s) for s in cells}
    counts = list(dict.fromkeys(n_angles for _, _, n_angles in texts if n_angles is not None))
    for size in dict.fromkeys(size for size, _, _ in texts):
        first = f"{size:,}", texts.get((size, "euclidean", None), "")
        for n_angles in counts:
            transforms = [texts.get((size, feature, n_angles), "") for feature in ("rcdt", "mnrcdt")]
            table.add_row(*first, *transforms, str(n_angles))
            first = "", ""
        table.add_section()
    return table


def _format_cell(summary: Summary[Cell]) -> str:
    """Return our figure and the paper's below it, with the styles of rich."""
    ours, style = labels.format_figure(summary.mean, summary.std), _STYLES[summary.flag]
    if summary.fold_maximum is not None:
        ours += f"\nmax {summary.fold_maximum:.3f}"
    paper = f"\n[{_DIM}]paper {labels.format_printed(summary.paper)}[/]" if summary.paper else ""
    return f"[{style}]{ours}[/]{paper}".replace(" ± ", "±")


def _make_table1(outcome: Outcome) -> _Table:
    table = _make_table("Table 1: largest error in pixels", "transformation", "of points", "of an image", left=1)
    for check in outcome.checks:
        errors = f"{check.points_error:.1e}", f"{check.image_error:.3f}"
        table.add_row(check.transformation, *errors, style="" if check.holds else "red")
    return table


def _make_variants(outcome: Outcome) -> _Table:
    table = _make_table("The effect of the protocol", "", "as published", "otherwise", "largest difference", left=3)
    for variant, pairs in outcome.comparisons:
        if pairs:
            worst, other = max(pairs, key=lambda pair: abs(pair[1].mean - pair[0].mean))
            cell = worst.measurand
            angles = f", {cell.n_angles} angles" if cell.norm else ""
            place = f"Table {cell.table[-1]}, {labels.label_column(cell)}{angles}, {cell.class_size:,} per class"
            change = f"{worst.mean:.3f} → {other.mean:.3f}\n{place}"
            table.add_row(variant.title, variant.published, variant.otherwise, change)
    return table

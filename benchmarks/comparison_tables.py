"""Tables of the comparison with other libraries."""

from collections.abc import Callable, Iterable
from typing import Any

from benchmarks.comparison import OURS, Record
from benchmarks.comparison.speed import Case
from benchmarks.report import make_table

Show = Callable[[Record, list[Record]], str]
"""Formats the figure of a record, given all records of its column."""

MAIN = Case._field_defaults
"""The values of a case of the speed measurements that do not vary."""

ROUNDING = {"mass": 2e-6, "spread": 1e-5, "largest": 1e-5}
"""Figures below these are due to rounding, and count as 0."""


def select(records: Iterable[Record], **values: Any) -> list[Record]:
    """Select the records that have these values."""
    return [r for r in records if all(r.get(key) == value for key, value in values.items())]


def label(record: Record) -> str:
    """Name the library and the form of a record."""
    plain = record["peer"] == OURS and record["form"] == "as shipped"
    return record["peer"] if plain else f"{record['peer']}, {record['form']}"


def tabulate(records: list[Record], column: Callable[[Record], str], show: Show) -> str:
    """Make a table with one row per library and form, and one column per case."""
    columns: dict[str, list[Record]] = {}
    for record in records:
        columns.setdefault(column(record), []).append(record)
    rows = []
    for name in dict.fromkeys(label(record) for record in records):
        cells = [next((show(r, case) for r in case if label(r) == name), "–") for case in columns.values()]
        rows.append([name, *cells])
    return make_table(["", *columns], rows)


def show_least(figure: str, digits: str) -> Show:
    """Format the figure, in bold if no figure of the column is smaller."""

    def show(record: Record, case: list[Record]) -> str:
        if record.get(figure) is None:
            return "–"
        text = f"{record[figure]:{digits}}"
        return f"**{text}**" if label(record) in find_best(case, figure) else text

    return show


def find_best(case: list[Record], figure: str) -> list[str]:
    """Find the libraries with the smallest figure of a case, up to rounding."""
    measured = [r for r in case if r.get(figure) is not None]
    limit = max(min(r[figure] for r in measured) * (1 + 1e-9), ROUNDING.get(figure, 0.0))
    return [label(r) for r in measured if r[figure] <= limit]


def compare_speed(records: list[Record], **case: Any) -> tuple[float, str, float, dict[str, float]]:
    """Return our milliseconds, the fastest other library with its ratio to ours, and the ratios of all libraries."""
    chosen = [r for r in select(records, part="speed", **MAIN | case) if "milliseconds" in r]
    ours = next(r["milliseconds"] for r in chosen if label(r) == OURS)
    others: dict[str, float] = {}
    for r in chosen:
        if r["peer"] != OURS:
            others[r["peer"]] = min(others.get(r["peer"], float("inf")), r["milliseconds"] / ours)
    name = min(others, key=lambda peer: others[peer])
    return ours, name, others[name], others


def show_times(record: Record, case: list[Record]) -> str:
    """Format milliseconds, and their ratio to ours."""
    if "left_out" in record:
        return "–"
    ours = next(other["milliseconds"] for other in case if label(other) == OURS)
    text = f"{record['milliseconds']:.3g}" if record["milliseconds"] < 1000 else f"{record['milliseconds']:.0f}"
    return text if record["peer"] == OURS else f"{text} (× {record['milliseconds'] / ours:.0f})"


def show_close_times(record: Record, case: list[Record]) -> str:
    """Format milliseconds, and their ratio to ours with two decimals."""
    ours = next(other["milliseconds"] for other in case if other["peer"] == OURS)
    text = f"{record['milliseconds']:.3g}"
    return text if record["peer"] == OURS else f"{text} (× {record['milliseconds'] / ours:.2f})"


def tabulate_part(records: list[Record], part: str, show: Show) -> str:
    """Make the table of a part, with one column per case."""
    return tabulate(select(records, part=part), lambda r: r["case"], show)


def fold(title: str, *blocks: str) -> str:
    """Fold blocks away under a title."""
    return "\n\n".join([f":::{{dropdown}} {title}", *blocks, ":::"])

"""What is known of a mark beside its shape: columns of a CSV file, of which some have a type."""

import csv
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Value = str | float | int | None

FILE = "file"
"""The column that says which image a row belongs to."""


class MetadataError(ValueError):
    """A table of metadata that cannot be used; the message names the file, the line and the column."""


class Column(NamedTuple):
    """A column that has a type."""

    type: str
    """In SQL."""
    what: str
    """In words, for messages and documents."""
    read: Callable[[str], Value]


def _text(value: str) -> Value:
    return value


def _millimetres(value: str) -> Value:
    number = float(value.removesuffix("mm").strip().replace(",", "."))
    if not 0 < number < 1e5:
        raise ValueError
    return number


_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")


def _year(value: str) -> Value:
    found = _YEAR.search(value)
    if found is None:
        raise ValueError
    return int(found[0])


KNOWN = {
    "motif": Column("TEXT", "text", _text),
    "date": Column(
        "INTEGER", "a year, such as 1475, c. 1475, 1475-03-01 or 1470-1480, of which the first is kept", _year
    ),
    "place": Column("TEXT", "text", _text),
    "reference": Column("TEXT", "text", _text),
    "chain_distance_mm": Column("REAL", "millimetres", _millimetres),
    "height_mm": Column("REAL", "millimetres", _millimetres),
    "width_mm": Column("REAL", "millimetres", _millimetres),
    "link": Column("TEXT", "text", _text),
}
"""Columns that every catalogue has. Any others hold text."""

OWN = ("entry", FILE, "width_px", "height_px", "note")
"""Columns of every entry that are no metadata; in a table that was exported they are passed over, but for the file."""

SHOWN = 5
"""Problems of a table that are named at once."""

MOST = 500
"""Columns of a catalogue."""


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def column_name(title: str) -> str:
    """The title of a column as one writes it after --where: small letters, no blanks."""
    return re.sub(r"\W+", "_", title.strip().lower()).strip("_")


def read_table(path: str | os.PathLike[str]) -> dict[str, dict[str, Value]]:
    """Rows of a CSV file by the image they belong to, empty cells left out.

    The first line has titles, one of which is "file"; commas, semicolons and tabs separate. UTF-8, or else Windows'
    Latin alphabet.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise MetadataError(f"{path}: cannot be read: {error.strerror or error}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise MetadataError(f"{path}: is no table of text")
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    table: dict[str, dict[str, Value]] = {}
    problems: list[str] = []
    try:
        titles = [column_name(title) for title in next(lines, [])]
        _check_titles(path, titles)
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            where = f"{path}, line {lines.line_num}"
            row = {title: cell.strip() for title, cell in zip(titles, cells)}
            name = row.get(FILE, "").replace("\\", "/").removeprefix("./")
            if len(cells) > len(titles):
                problems.append(f"{where}: has {len(cells)} cells, but there are {len(titles)} columns")
            elif not name:
                problems.append(f"{where}: names no file")
            elif name in table:
                problems.append(f"{where}: the file {name!r} has a line already")
            else:
                table[name] = _values(row, where, problems)
    except csv.Error as error:
        raise MetadataError(f"{path}, line {lines.line_num}: {error}") from None
    if problems:
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise MetadataError("; ".join(problems[:SHOWN]) + more)
    return table


def _values(row: dict[str, str], where: str, problems: list[str]) -> dict[str, Value]:
    """Cells that are not empty, each with its type."""
    values: dict[str, Value] = {}
    for title, cell in row.items():
        if cell and title not in OWN:
            try:
                values[title] = typed(title, cell, where)
            except MetadataError as error:
                problems.append(str(error))
    return values


def _check_titles(path: object, titles: list[str]) -> None:
    if FILE not in titles:
        raise MetadataError(f"{path}: must have a column {FILE!r}, got {', '.join(titles) or 'an empty file'}")
    for title in titles:
        if titles.count(title) > 1 or not title:
            why = "is there twice" if titles.count(title) > 1 else "is empty"
            raise MetadataError(f"{path}: the title {title!r} of a column {why}")
    if len(titles) > MOST:
        raise MetadataError(f"{path}: must not have more than {MOST} columns, got {len(titles)}")


def typed(title: str, cell: str, where: str) -> Value:
    """The value of a cell."""
    if title not in KNOWN:
        return cell
    try:
        return KNOWN[title].read(cell)
    except ValueError:
        raise MetadataError(f"{where}: {title} must be {KNOWN[title].what}, got {cell!r}") from None


def row_of(table: dict[str, dict[str, Value]], file: Path) -> tuple[str, dict[str, Value]] | None:
    """The name and the row of an image: its path, the end of it, its name, or that without the ending."""
    parts = file.parts
    names = [file.as_posix(), *("/".join(parts[k:]) for k in range(len(parts))), file.stem]
    return next(((name, table[name]) for name in names if name in table), None)

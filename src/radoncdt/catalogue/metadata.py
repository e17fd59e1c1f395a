"""What is known of a mark beside its shape: columns of a CSV file, of which some have a type."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from radoncdt._csv import unguard
from radoncdt._text import shorten

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
"""Columns of every entry that are not metadata; in a table that was exported only the file is read of them."""

SHOWN = 5
"""Problems of a table that are named at once."""

MOST_COLUMNS = 500
"""Columns of a catalogue."""

LONGEST = 10_000
"""Characters of a cell that is stored."""

LONGEST_TITLE = 200
"""Characters of the title of a column."""

LARGEST = 2**28
"""Bytes of a table."""


def quoted(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def column_name(title: str) -> str:
    """The title of a column as one writes it after --where: small letters, no blanks."""
    return re.sub(r"\W+", "_", title.strip().lower()).strip("_")


class Table(dict[str, dict[str, Value]]):
    """Rows of a table of metadata by the names of their images, as they are written there."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}
        """These names by their plain form, see `_plain`."""


def read_table(path: str | os.PathLike[str]) -> Table:
    """Rows of a CSV file by the image they belong to, empty cells left out.

    The first line has titles, one of which is "file"; commas, semicolons and tabs separate. UTF-8, or else Windows'
    Latin alphabet. Apostrophes that an export put before formulas are removed.
    """
    text = _text_of(path)
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    rows = _rows(path, text, separator)
    titles = [column_name(title) for title in next(rows, (1, []))[1]]
    _check_titles(path, titles)
    table, problems = Table(), list[str]()
    for line, cells in rows:
        where = f"{path}, line {line}"
        if len(cells) > len(titles):
            problems.append(f"{where}: has {len(cells)} cells, but there are {len(titles)} columns")
            continue
        row = {title: unguard(cell) for title, cell in zip(titles, cells)}
        name = row.get(FILE, "")
        if not name.strip():
            problems.append(f"{where}: names no file")
        elif name in table:
            problems.append(f"{where}: the file {shorten(repr(name))} has a line already")
        else:
            table[name] = _values(row, where, problems)
            table.written.setdefault(_plain(name), name)
    if problems:
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise MetadataError("; ".join(problems[:SHOWN]) + more)
    return table


def _text_of(path: str | os.PathLike[str]) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise MetadataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST:
        raise MetadataError(f"{path}: must have at most {LARGEST:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise MetadataError(f"{path}: is not a table of text")
    return text


def _rows(path: object, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not empty, each with the number of its first line; no cell is too long."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    titles: list[str] = []
    while True:
        before = reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:  # a cell is longer than the module csv reads
            lines = islice(io.StringIO(text, newline=""), before, reader.line_num)
            column = _long_cell("".join(lines), separator)
            if column is None:
                raise MetadataError(f"{path}, line {before + 1}: {error}") from None
            raise MetadataError(_too_long(path, before + 1, titles, column)) from None
        if cells is None:
            return
        if column := next((k for k, cell in enumerate(cells, 1) if len(cell) > LONGEST), 0):
            raise MetadataError(_too_long(path, before + 1, titles, column - 1, len(cells[column - 1])))
        if any(cell.strip() for cell in cells):
            titles = titles or cells
            yield before + 1, cells


def _long_cell(record: str, separator: str) -> int | None:
    """Which cell of the beginning of a row is too long."""
    cell = re.compile(f'"[^"]*(?:""[^"]*)*"?[^{separator}\r\n]*|[^{separator}\r\n]*')
    start = column = 0
    while start < len(record) and (found := cell.match(record, start)):
        if found.end() - start > LONGEST:
            return column
        start, column = found.end() + 1, column + 1
    return None


def _too_long(path: object, line: int, titles: list[str], column: int, count: int | None = None) -> str:
    name = repr(shorten(titles[column])) if column < len(titles) else str(column + 1)
    got = "" if count is None else f", got {count:,}"
    return f"{path}, line {line}: the cell in column {name} must have at most {LONGEST:,} characters{got}"


def _values(row: dict[str, str], where: str, problems: list[str]) -> dict[str, Value]:
    """Cells that are not empty, each with its type."""
    values: dict[str, Value] = {}
    for title, cell in row.items():
        if cell.strip() and title not in OWN:
            try:
                values[title] = typed(title, cell, where)
            except MetadataError as error:
                problems.append(str(error))
    return values


def _check_titles(path: object, titles: list[str]) -> None:
    if FILE not in titles:
        got = shorten(", ".join(titles)) or "an empty file"
        raise MetadataError(f"{path}: must have a column {FILE!r}, got {got}")
    if len(titles) > MOST_COLUMNS:
        raise MetadataError(f"{path}: must not have more than {MOST_COLUMNS} columns, got {len(titles)}")
    for title in titles:
        if titles.count(title) > 1 or not title:
            why = "is there twice" if titles.count(title) > 1 else "is empty"
            raise MetadataError(f"{path}: the title {shorten(repr(title))} of a column {why}")
        _check_title(title, str(path))


def _check_title(title: str, where: str) -> None:
    if len(title) > LONGEST_TITLE:
        raise MetadataError(
            f"{where}: the title of a column must have at most {LONGEST_TITLE} characters, got {shorten(repr(title))}"
        )


def typed(title: str, cell: str, where: str) -> Value:
    """The value of a cell without the blanks around it; None if nothing is left.

    Raises
    ------
    MetadataError
        When the column has a type that the cell does not have, or a text is too long, or has characters that neither
        a CSV file nor a condition can hold.
    """
    _check_title(title, where)
    text = cell.strip()
    if len(text) > LONGEST:
        raise MetadataError(f"{where}: {title} must have at most {LONGEST:,} characters, got {len(text):,}")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise MetadataError(f"{where}: {title} must be text in UTF-8 without NUL characters, got {shorten(repr(text))}")
    if not text or title not in KNOWN:
        return text or None
    try:
        return KNOWN[title].read(text)
    except ValueError:
        raise MetadataError(f"{where}: {title} must be {KNOWN[title].what}, got {shorten(repr(text))}") from None


def _plain(name: str) -> str:
    """A file name without the blanks around it, with slashes for the backslashes of Windows."""
    return name.strip().replace("\\", "/").removeprefix("./")


def row_of(table: dict[str, dict[str, Value]], file: Path) -> tuple[str, dict[str, Value]] | None:
    """The name and the row of an image: its path, the end of it, its name, or that without the ending.

    A name that is written exactly so comes first. Bytes that are not UTF-8 are written as \\x escapes.
    """
    parts = file.parts
    paths = [file.as_posix(), *("/".join(parts[k:]) for k in range(len(parts))), file.stem]
    names = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths]
    written = [name for name in names if name in table]
    if isinstance(table, Table):
        written += [table.written[plain] for plain in map(_plain, names) if plain in table.written]
    return (written[0], table[written[0]]) if written else None

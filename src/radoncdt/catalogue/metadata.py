"""Metadata of entries: the columns, and CSV files that contain them."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from radoncdt._csv import unguarded
from radoncdt._text import shortened

__all__ = [
    "ENTRY_COLUMNS",
    "MAX_CELL_LENGTH",
    "MAX_COLUMNS",
    "MAX_TITLE_LENGTH",
    "STANDARD_COLUMNS",
    "MetadataError",
    "Table",
    "Value",
    "find_row",
    "normalise_title",
    "parse_cell",
    "quote_name",
    "read_table",
]

Value = str | float | int | None

FILE = "file"  # the column that names the image of a row


class MetadataError(ValueError):
    """Metadata are invalid. The message names the file, the line and the column."""


class _Column(NamedTuple):
    """A standard column."""

    type: str
    """The type in SQL."""
    expected: str
    """The valid values in words, for messages."""
    parse: Callable[[str], Value]


def _parse_millimetres(text: str) -> Value:
    number = float(text.removesuffix("mm").strip().replace(",", "."))
    if not 0 < number < 1e5:
        raise ValueError
    return number


_YEAR = re.compile(r"(?<!\d)\d{3,4}(?!\d)")


def _parse_year(text: str) -> Value:
    found = _YEAR.search(text)
    if found is None:
        raise ValueError
    return int(found[0])


_TEXT = _Column("TEXT", "text", lambda text: text)
_YEAR_COLUMN = _Column(
    "INTEGER", "a year, such as 1475, c. 1475, 1475-03-01 or 1470-1480 (the first is stored)", _parse_year
)
_LENGTH = _Column("REAL", "millimetres", _parse_millimetres)

STANDARD_COLUMNS = {
    "motif": _TEXT,
    "date": _YEAR_COLUMN,
    "place": _TEXT,
    "reference": _TEXT,
    "chain_distance_mm": _LENGTH,
    "height_mm": _LENGTH,
    "width_mm": _LENGTH,
    "link": _TEXT,
}
"""The metadata columns of every catalogue. All other columns contain text."""

ENTRY_COLUMNS = ("entry", FILE, "width_px", "height_px", "note")
"""Columns of every entry that are not metadata. When an exported table is read, only the file is used."""

MAX_PROBLEMS = 5  # problems of a table that one message names
MAX_COLUMNS = 500  # metadata columns of a catalogue
MAX_CELL_LENGTH = 10_000  # characters of a cell
MAX_TITLE_LENGTH = 200  # characters of a column title
MAX_TABLE_SIZE = 2**28  # bytes of a CSV file


def quote_name(name: str) -> str:
    """Quote any column name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def normalise_title(title: str) -> str:
    """Turn a column title into the name used in conditions: lower case, with underscores instead of spaces."""
    return re.sub(r"\W+", "_", title.strip().lower()).strip("_")


class Table(dict[str, dict[str, Value]]):
    """Rows of a CSV file by the name of their image, as it is written there."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}
        """The names as they are written, by their normalised form; see `_normalise_path`."""


def read_table(path: str | os.PathLike[str]) -> Table:
    """Read the rows of a CSV file by image, without empty cells.

    The first line contains titles, one of which is "file". Commas, semicolons and tabs are recognised as separators.
    The encoding is UTF-8, or else Windows-1252. Apostrophes that an export put before formulas are removed.
    """
    text = _read_text(path)
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    rows = _read_rows(path, text, separator)
    titles = [normalise_title(title) for title in next(rows, (1, []))[1]]
    _check_titles(path, titles)
    table, problems = Table(), list[str]()
    for line, cells in rows:
        where = f"{path}, line {line}"
        if len(cells) > len(titles):
            problems.append(f"{where}: has {len(cells)} cells, but there are {len(titles)} columns")
            continue
        row = {title: unguarded(cell) for title, cell in zip(titles, cells)}
        name = row.get(FILE, "")
        if not name.strip():
            problems.append(f"{where}: does not name a file")
        elif name in table:
            problems.append(f"{where}: the file {shortened(repr(name))} already has a line")
        else:
            table[name] = _parse_row(row, where, problems)
            table.written.setdefault(_normalise_path(name), name)
    if problems:
        more = f"; and {len(problems) - MAX_PROBLEMS} more" if len(problems) > MAX_PROBLEMS else ""
        raise MetadataError("; ".join(problems[:MAX_PROBLEMS]) + more)
    return table


def _read_text(path: str | os.PathLike[str]) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_TABLE_SIZE + 1)
    except OSError as error:
        raise MetadataError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > MAX_TABLE_SIZE:
        raise MetadataError(f"{path}: must have at most {MAX_TABLE_SIZE:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if "\0" in text:
        raise MetadataError(f"{path}: is not a text file")
    return text


def _read_rows(path: object, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-empty rows, each with the number of its first line. Refuse cells that are too long."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    titles: list[str] = []
    while True:
        before = reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:  # a cell exceeds the limit of the csv module
            lines = islice(io.StringIO(text, newline=""), before, reader.line_num)
            column = _find_long_cell("".join(lines), separator)
            if column is None:
                raise MetadataError(f"{path}, line {before + 1}: {error}") from None
            raise MetadataError(_say_too_long(path, before + 1, titles, column)) from None
        if cells is None:
            return
        if column := next((k for k, cell in enumerate(cells, 1) if len(cell) > MAX_CELL_LENGTH), 0):
            raise MetadataError(_say_too_long(path, before + 1, titles, column - 1, len(cells[column - 1])))
        if any(cell.strip() for cell in cells):
            titles = titles or cells
            yield before + 1, cells


def _find_long_cell(record: str, separator: str) -> int | None:
    """Return the column of the cell that is too long, from the beginning of a row."""
    cell = re.compile(f'"[^"]*(?:""[^"]*)*"?[^{separator}\r\n]*|[^{separator}\r\n]*')
    start = column = 0
    while start < len(record) and (found := cell.match(record, start)):
        if found.end() - start > MAX_CELL_LENGTH:
            return column
        start, column = found.end() + 1, column + 1
    return None


def _say_too_long(path: object, line: int, titles: list[str], column: int, length: int | None = None) -> str:
    name = repr(shortened(titles[column])) if column < len(titles) else str(column + 1)
    got = "" if length is None else f", got {length:,}"
    return f"{path}, line {line}: the cell in column {name} must have at most {MAX_CELL_LENGTH:,} characters{got}"


def _parse_row(row: dict[str, str], where: str, problems: list[str]) -> dict[str, Value]:
    """Return the values of the non-empty cells. Problems are appended to the list."""
    values: dict[str, Value] = {}
    for title, cell in row.items():
        if cell.strip() and title not in ENTRY_COLUMNS:
            try:
                values[title] = parse_cell(title, cell, where)
            except MetadataError as error:
                problems.append(str(error))
    return values


def _check_titles(path: object, titles: list[str]) -> None:
    if FILE not in titles:
        got = shortened(", ".join(titles)) or "an empty file"
        raise MetadataError(f"{path}: must have a column {FILE!r}, got {got}")
    if len(titles) > MAX_COLUMNS:
        raise MetadataError(f"{path}: must not have more than {MAX_COLUMNS} columns, got {len(titles)}")
    for title in titles:
        if titles.count(title) > 1 or not title:
            problem = "occurs twice" if titles.count(title) > 1 else "is empty"
            raise MetadataError(f"{path}: the column title {shortened(repr(title))} {problem}")
        _check_title(title, str(path))


def _check_title(title: str, where: str) -> None:
    if len(title) > MAX_TITLE_LENGTH:
        raise MetadataError(
            f"{where}: a column title must have at most {MAX_TITLE_LENGTH} characters, got {shortened(repr(title))}"
        )


def parse_cell(title: str, cell: str, where: str) -> Value:
    """Return the value of a cell without surrounding spaces, None if nothing is left.

    Raises
    ------
    MetadataError
        If the cell does not have the type of its column, is too long, or contains characters that neither a CSV file
        nor a condition can contain. `where` says in the message where the cell is.
    """
    _check_title(title, where)
    text = cell.strip()
    if len(text) > MAX_CELL_LENGTH:
        raise MetadataError(f"{where}: {title} must have at most {MAX_CELL_LENGTH:,} characters, got {len(text):,}")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise MetadataError(
            f"{where}: {title} must be text in UTF-8 without NUL characters, got {shortened(repr(text))}"
        )
    if not text or title not in STANDARD_COLUMNS:
        return text or None
    column = STANDARD_COLUMNS[title]
    try:
        return column.parse(text)
    except ValueError:
        raise MetadataError(f"{where}: {title} must be {column.expected}, got {shortened(repr(text))}") from None


def _normalise_path(name: str) -> str:
    """Remove surrounding spaces and a leading "./", and replace backslashes by slashes."""
    return name.strip().replace("\\", "/").removeprefix("./")


def find_row(table: Table, file: Path) -> tuple[str, dict[str, Value]] | None:
    """Return the name and the row of an image, None if there is none.

    A row may name the path of the image, the end of the path, the file name, or the file name without its suffix. An
    exact match comes first. Bytes that are not UTF-8 are written as \\x escapes.
    """
    parts = file.parts
    paths = [file.as_posix(), *("/".join(parts[k:]) for k in range(len(parts))), file.stem]
    names = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths]
    written = [name for name in names if name in table]
    written += [table.written[plain] for plain in map(_normalise_path, names) if plain in table.written]
    return (written[0], table[written[0]]) if written else None

"""Metadata of entries: the columns, and CSV files that contain them."""

import csv
import io
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from radoncdt._csv import unguard
from radoncdt._text import shorten

__all__ = [
    "ENTRY_COLUMNS",
    "MAX_CELL_LENGTH",
    "MAX_COLUMNS",
    "MAX_TABLE_SIZE",
    "MAX_TITLE_LENGTH",
    "STANDARD_COLUMNS",
    "MetadataError",
    "Row",
    "Value",
    "match_rows",
    "normalise_title",
    "parse_cell",
    "parse_values",
    "quote_name",
    "read_table",
]

Value = str | float | int | None
Row = dict[str, Value]  # values by the names of their columns
_Key = TypeVar("_Key")

_FILE = "file"  # the column that names the image of a row


class MetadataError(ValueError):
    """Metadata are invalid. The message names the file, the line and the column.

    See Also
    --------
    Catalogue : The catalogue, whose entries have metadata.

    Examples
    --------
    With the catalogue in the example of `Catalogue`, and a file ``wrong.csv`` that has a date in words:

    >>> from radoncdt.catalogue import MetadataError
    >>> try:
    ...     catalogue.update("wrong.csv")
    ... except MetadataError as error:
    ...     print(error)
    wrong.csv, line 2: date must be a year, such as 1475, c. 1475, 1475-03-01 or 1470-1480 (the first is stored),
    got 'old'
    """


class _Column(NamedTuple):
    """A standard column: its type in SQL, its valid values in words, and the function that parses a cell."""

    type: str
    expected: str
    parse: Callable[[str], Value]


def _parse_millimetres(text: str) -> Value:
    number = float(text.removesuffix("mm").strip().replace(",", "."))
    if not 0 < number < 1e5:
        raise ValueError
    return number


def _parse_year(text: str) -> Value:
    found = re.search(r"(?<!\d)\d{3,4}(?!\d)", text)
    if found is None:
        raise ValueError
    return int(found[0])


_TEXT = _Column("TEXT", "text", lambda text: text)
_DATE = _Column("INTEGER", "a year, such as 1475, c. 1475, 1475-03-01 or 1470-1480 (the first is stored)", _parse_year)
_LENGTH = _Column("REAL", "millimetres", _parse_millimetres)

STANDARD_COLUMNS = {
    "motif": _TEXT,
    "date": _DATE,
    "place": _TEXT,
    "reference": _TEXT,
    "chain_distance_mm": _LENGTH,
    "height_mm": _LENGTH,
    "width_mm": _LENGTH,
    "link": _TEXT,
}
"""The metadata columns of every catalogue. All other columns contain text."""

ENTRY_COLUMNS = ("entry", _FILE, "width_px", "height_px", "note")
"""Columns of every entry that are not metadata. When an exported table is read, only the file is used."""

_MAX_PROBLEMS = 5  # problems of a table that one message names
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


def read_table(path: str | os.PathLike[str]) -> dict[str, Row]:
    """Read the rows of a CSV file by the name of their image, as it is written there, without empty cells.

    The first line contains titles, one of which is "file". Commas, semicolons and tabs are recognised as separators.
    The encoding is UTF-8, or else Windows-1252. Apostrophes that an export put before formulas are removed.
    """
    text = _read_text(path)
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    (_, titles), *rows = _read_rows(path, text, separator) or [(1, [])]
    titles = [normalise_title(title) for title in titles]
    _check_titles(path, titles)
    table, problems = dict[str, Row](), list[str]()
    for line, cells in rows:
        where = f"{path}, line {line}"
        if len(cells) > len(titles):
            problems.append(f"{where}: has {len(cells)} cells, but there are {len(titles)} columns")
            continue
        row = {title: unguard(cell) for title, cell in zip(titles, cells)}
        name = row.get(_FILE, "")
        if not name.strip():
            problems.append(f"{where}: does not name a file")
        elif name in table:
            problems.append(f"{where}: the file {shorten(repr(name))} already has a line")
        else:
            table[name] = _parse_row(row, where, problems)
    if problems:
        more = f"; and {len(problems) - _MAX_PROBLEMS} more" if len(problems) > _MAX_PROBLEMS else ""
        raise MetadataError("; ".join(problems[:_MAX_PROBLEMS]) + more)
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


_csv_limit_lock = threading.Lock()


def _read_rows(path: object, text: str, separator: str) -> list[tuple[int, list[str]]]:
    """Return the non-empty rows, each with the number of its first line. Refuse cells that are too long."""
    rows: list[tuple[int, list[str]]] = []
    with _csv_limit_lock:  # the module csv has one limit for all threads, which is too low to name a cell
        before = csv.field_size_limit(MAX_TABLE_SIZE)
        try:
            reader, line = csv.reader(io.StringIO(text, newline=""), delimiter=separator), 1
            for cells in reader:
                _check_lengths(cells, rows[0][1] if rows else [], f"{path}, line {line}")
                if any(cell.strip() for cell in cells):
                    rows.append((line, cells))
                line = reader.line_num + 1
        except csv.Error as error:
            raise MetadataError(f"{path}, line {line}: {error}") from None
        finally:
            csv.field_size_limit(before)
    return rows


def _check_lengths(cells: list[str], titles: list[str], where: str) -> None:
    for k, cell in enumerate(cells):
        if len(cell) > MAX_CELL_LENGTH:
            name = repr(shorten(titles[k])) if k < len(titles) else str(k + 1)
            limit = f"{MAX_CELL_LENGTH:,} characters, got {len(cell):,}"
            raise MetadataError(f"{where}: the cell in column {name} must have at most {limit}")


def _parse_row(row: dict[str, str], where: str, problems: list[str]) -> Row:
    """Return the values of the non-empty cells. Problems are appended to the list."""
    values: Row = {}
    for title, cell in row.items():
        if cell.strip() and title not in ENTRY_COLUMNS:
            try:
                values[title] = parse_cell(title, cell, where)
            except MetadataError as error:
                problems.append(str(error))
    return values


def _check_titles(path: object, titles: list[str]) -> None:
    if _FILE not in titles:
        got = shorten(", ".join(titles)) or "an empty file"
        raise MetadataError(f"{path}: must have a column {_FILE!r}, got {got}")
    if len(titles) > MAX_COLUMNS:
        raise MetadataError(f"{path}: must not have more than {MAX_COLUMNS} columns, got {len(titles)}")
    for title in titles:
        if not title:
            raise MetadataError(f"{path}: the title of column {titles.index(title) + 1} is empty")
        if titles.count(title) > 1:
            raise MetadataError(f"{path}: the column title {shorten(repr(title))} occurs twice")
        _check_title(title, str(path))


def _check_title(title: str, where: str) -> None:
    if len(title) > MAX_TITLE_LENGTH:
        got = shorten(repr(title))
        raise MetadataError(f"{where}: a column title must have at most {MAX_TITLE_LENGTH} characters, got {got}")


def parse_cell(title: str, cell: str, where: str) -> Value:
    """Return the value of a cell without surrounding spaces, None if nothing is left.

    A MetadataError, which says where the cell is, is raised if the cell does not have the type of its column, is too
    long, or contains characters that neither a CSV file nor a condition can contain.
    """
    _check_title(title, where)
    text = cell.strip()
    if len(text) > MAX_CELL_LENGTH:
        raise MetadataError(f"{where}: {title} must have at most {MAX_CELL_LENGTH:,} characters, got {len(text):,}")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise MetadataError(f"{where}: {title} must be UTF-8 text without NUL characters, got {shorten(repr(text))}")
    column = STANDARD_COLUMNS.get(title, _TEXT)
    try:
        return column.parse(text) if text else None
    except ValueError:
        raise MetadataError(f"{where}: {title} must be {column.expected}, got {shorten(repr(text))}") from None


def parse_values(values: dict[str, str | None], where: str) -> Row:
    """Return values for metadata columns, given by title. None stays None."""
    names = {title: normalise_title(title) for title in values}
    for title, name in names.items():
        if not name or name in ENTRY_COLUMNS:
            raise MetadataError(f"{where}: {title!r} is not a valid name of a metadata column")
    return {
        names[title]: None if value is None else parse_cell(names[title], str(value), where)
        for title, value in values.items()
    }


def match_rows(table: dict[str, Row], files: Mapping[_Key, Path]) -> tuple[dict[_Key, Row], tuple[str, ...]]:
    """Return the rows of image files, both by some key, and the names in the table that belong to none of them.

    A row may name the path of the image, the end of the path, the file name, or the file name without its suffix. An
    exact match comes first. Bytes that are not UTF-8 are written as \\x escapes.
    """
    written: dict[str, str] = {}  # names in the table by their normalised form
    for name in table:
        written.setdefault(_normalise_path(name), name)
    found: dict[_Key, str] = {}
    for key, file in files.items():
        paths = [file.as_posix(), *("/".join(file.parts[k:]) for k in range(len(file.parts))), file.stem]
        names = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths]
        similar = [written[plain] for plain in map(_normalise_path, names) if plain in written]
        for name in [*(name for name in names if name in table), *similar][:1]:
            found[key] = name
    used = set(found.values())
    return {key: table[name] for key, name in found.items()}, tuple(name for name in table if name not in used)


def _normalise_path(name: str) -> str:
    """Remove surrounding spaces and a leading "./", and replace backslashes by slashes."""
    return name.strip().replace("\\", "/").removeprefix("./")

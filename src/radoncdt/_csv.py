"""Tables as CSV files that are safe to open in a spreadsheet program.

A spreadsheet program takes a cell that begins with =, +, - or @ for a formula and runs it, unless it is a number. Such
a text gets an apostrophe in front. So does a text that begins with apostrophes before such a formula: reading removes
one apostrophe in exactly these cases, and every text is restored.
"""

import csv
import io
import re
from collections.abc import Iterable

_FORMULA = re.compile("'*(?![+-][0-9]+(?:[.,][0-9]+)?\\Z)[=+\\-@\t\r\n＝＋－＠]")
"""The beginning of a formula that is not a number, after any number of apostrophes."""


def guarded(text: str) -> str:
    """A text as a cell that no program takes for a formula.

    >>> from radoncdt._csv import guarded
    >>> guarded("=1+1"), guarded("'=1+1"), guarded("'tis"), guarded("a=b"), guarded("-5.2")
    ("'=1+1", "''=1+1", "'tis", 'a=b', '-5.2')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(cell: str) -> str:
    """The text of a cell; the inverse of `guarded`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_row(row: Iterable[object]) -> list[object]:
    """A row for `csv.writer`: texts are guarded, and numbers stay numbers."""
    return [guarded(cell) if isinstance(cell, str) else cell for cell in row]


def csv_table(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """A CSV file in UTF-8; names of files that are not UTF-8 keep their bytes."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(csv_row(titles))
    writer.writerows(map(csv_row, rows))
    return text.getvalue().encode("utf-8", "surrogateescape")

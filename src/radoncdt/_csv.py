"""CSV tables that are safe to open in a spreadsheet program.

A spreadsheet program runs a cell that begins with =, +, - or @ as a formula, unless the cell is a number. An apostrophe
in front of such a text prevents this. A text that consists of apostrophes followed by a formula gets another one, so
that reading can remove one apostrophe in exactly these cases and restore every text.
"""

import csv
import io
import re
from collections.abc import Iterable

__all__ = ["encode_table", "guard", "guard_row", "unguard"]

# the beginning of a formula that is not a number, after any number of apostrophes
_FORMULA = re.compile("'*(?![+-][0-9]+(?:[.,][0-9]+)?\\Z)[=+\\-@\t\r\n＝＋－＠]")


def guard(text: str) -> str:
    """Return a cell for a text that no spreadsheet program runs as a formula.

    >>> from radoncdt._csv import guard
    >>> guard("=1+1"), guard("'=1+1"), guard("'tis"), guard("a=b"), guard("-5.2")
    ("'=1+1", "''=1+1", "'tis", 'a=b', '-5.2')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def unguard(cell: str) -> str:
    """Return the text of a cell; the inverse of `guard`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def guard_row(row: Iterable[object]) -> list[object]:
    """Guard the texts of a row for `csv.writer`; numbers remain numbers."""
    return [guard(cell) if isinstance(cell, str) else cell for cell in row]


def encode_table(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Encode a table as a CSV file in UTF-8; file names that are not UTF-8 keep their bytes."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(guard_row(titles))
    writer.writerows(map(guard_row, rows))
    return text.getvalue().encode("utf-8", "surrogateescape")

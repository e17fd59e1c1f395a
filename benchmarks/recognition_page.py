"""Write the tables of docs/recognition.md from benchmarks/recognition.json.

python -m benchmarks recognition_page
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.priors import RESULTS, make_prior_table
from benchmarks.report import make_parser, replace_between, write_text
from radoncdt.reproduction.recognition.tables import make_glyph_table, make_one_shot_table

PAGE = Path(__file__).parent.parent / "docs" / "recognition.md"
END = "<!-- end -->"  # marks the end of a generated table

TABLES: dict[str, Callable[[Sequence[dict[str, Any]]], str]] = {
    "glyphs": make_glyph_table,
    "omniglot": make_one_shot_table,
    "priors": make_prior_table,
}
"""The functions that make the tables from the records of the same name."""


def mark_begin(name: str) -> str:
    """Return the comment that marks the beginning of a generated table."""
    return f"<!-- {name}: from benchmarks/recognition.json, by benchmarks/recognition_page.py -->"


def load_records() -> dict[str, list[dict[str, Any]]]:
    """Load the records of all studies."""
    records: dict[str, list[dict[str, Any]]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return records


def insert_tables(text: str, records: dict[str, list[dict[str, Any]]]) -> str:
    """Replace the tables of the page, which are between marks, by those of the given records."""
    for name, make in TABLES.items():
        text = replace_between(text, mark_begin(name), END, make(records[name]))
    return text


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    write_text(PAGE, insert_tables(PAGE.read_text(encoding="utf-8"), load_records()))
    print(PAGE)
    return 0

"""Figures with limits, on the terminal, in JSON files and in documents."""

import argparse
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from radoncdt._files import write_atomically

__all__ = [
    "END",
    "Parts",
    "Row",
    "add_parts",
    "add_results",
    "check_parts",
    "insert_passages",
    "make_parser",
    "make_table",
    "mark_begin",
    "replace_between",
    "run_parts",
    "take_over",
    "write_json",
    "write_text",
]

Row = tuple[str, float, str, float]
"""The title of a figure, the figure, "≤" or "≥", and its limit; ±∞ means that there is no limit."""

Parts = dict[str, list[Callable[[], Iterator[Row]]]]
"""The functions that measure the figures of each part, by the name of the part."""


def make_parser(module: str, doc: str | None) -> argparse.ArgumentParser:
    """Make the argument parser for the command of a module such as "benchmarks.core"."""
    prog = f"python -m {module.replace('.', ' ')}"
    return argparse.ArgumentParser(prog, description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_parts(parser: argparse.ArgumentParser, parts: Sequence[str]) -> None:
    """Add a positional argument for the names of parts."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of {', '.join(parts)}; default: all")


def check_parts(parser: argparse.ArgumentParser, chosen: Sequence[str], parts: Sequence[str]) -> None:
    """Exit with an error if an unknown part is chosen."""
    if unknown := [part for part in chosen if part not in parts]:
        parser.error(f"unknown part {unknown[0]!r}; choose from {', '.join(parts)}")


def run_parts(
    module: str,
    doc: str | None,
    parts: Parts,
    arguments: Sequence[str],
    results: Path | None = None,
    *,
    store_times: bool = True,
) -> int:
    """Measure the parts that the arguments name, by default all, and print which figures miss their limits.

    If there is a file of results, the figures of a part replace the earlier ones once all of them are measured; with
    `store_times=False`, those that do not depend on the machine.
    The exit code is 1 if a figure misses its limit, and 0 otherwise.
    """
    parser = make_parser(module, doc)
    add_parts(parser, list(parts))
    chosen = parser.parse_args(arguments).parts or list(parts)
    check_parts(parser, chosen, list(parts))
    warnings.simplefilter("error")
    missed = 0
    for part in chosen:
        figures: dict[str, float] = {}
        for measure in parts[part]:
            for name, figure, sign, limit in measure():
                good = figure <= limit if sign == "≤" else figure >= limit
                missed += not good
                verdict = "      " if np.isinf(limit) else "ok    " if good else "MISSED"
                against = "" if np.isinf(limit) else f"{sign} {limit:g}"
                print(f"{verdict} {name:72s} {figure:10.3g}  {against}", flush=True)
                if results is not None and name in figures:
                    raise ValueError(f"the titles of figures must differ, got {name!r} twice")
                if store_times or "second" not in name:
                    figures[name] = float(f"{figure:.6g}")
        if results is not None:
            known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
            known[part] = figures
            write_json(results, known)
    return 1 if missed else 0


def make_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def replace_between(text: str, begin: str, end: str, new: str) -> str:
    """Replace the lines of a document between a begin mark, which must occur once, and the next end mark."""
    before, *after = text.split(f"{begin}\n")
    if len(after) != 1 or f"\n{end}" not in after[0]:
        raise ValueError(f"there must be one place between {begin!r} and {end!r}")
    return f"{before}{begin}\n{new}\n{end}{after[0].split(end, 1)[1]}"


END = "<!-- end -->"
"""Marks the end of a generated passage of a document."""


def mark_begin(name: str, results: str) -> str:
    """Return the comment that marks the beginning of a passage that NAME_page.py writes from NAME.json."""
    return f"<!-- {name}: from benchmarks/{results}.json, by benchmarks/{results}_page.py -->"


def insert_passages(text: str, results: str, passages: Mapping[str, str]) -> str:
    """Replace the passages of a document that are between marks."""
    for name, passage in passages.items():
        text = replace_between(text, mark_begin(name, results), END, passage)
    return text


def add_results(parser: argparse.ArgumentParser, reports: str) -> None:
    """Add the option for the folders of reports whose results replace the stored ones."""
    text = f"folders of {reports}, whose results replace the stored ones"
    parser.add_argument("--results", type=Path, nargs="+", default=[], metavar="DIR", help=text)


def take_over(stored: Path, folders: Sequence[Path], parts: Mapping[str, str]) -> None:
    """Replace stored records by those in the folders of reports, where `parts` has their key for the name of a file.

    Records of one part in several folders are put together. Parts without records stay as they are. A folder without
    any of the files is refused.
    """
    for folder in folders:
        if not any((folder / f"{name}.json").exists() for name in parts):
            raise ValueError(f"`folders` must hold reports with {' or '.join(parts)}, got {str(folder)!r}")
    known = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else {}
    for name, key in parts.items():
        paths = (path for folder in folders if (path := folder / f"{name}.json").exists())
        if records := [record for path in paths for record in json.loads(path.read_text(encoding="utf-8"))]:
            known[key] = records
    write_json(stored, known)


def write_json(path: Path, value: object) -> None:
    """Write a JSON file completely or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    write_atomically(path, partial(_write, text))


def _write(text: str, file: IO[bytes]) -> None:
    file.write(text.encode())

"""Make the tables of docs/catalogue.md and docs/scale.md of benchmarks/catalogue.json, so that no figure is typed.

python -m benchmarks catalogue_page
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.catalogue import LEVELS, LIMITS, QUERIES, RESULTS
from benchmarks.page import table
from benchmarks.report import make_parser, replace_between, write_text

DOCS = Path(__file__).parent.parent / "docs"

Figures = dict[str, float]

LARGE = "100,000 entries"
KINDS = dict(zip(LIMITS, ("drawings", "with specks", "photographs")))
END = "<!-- end -->"


def begin(name: str) -> str:
    return f"<!-- {name}: from benchmarks/catalogue.json, by benchmarks/catalogue_page.py -->"


def measured_figures() -> Figures:
    """Of all parts."""
    parts = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {name: figure for part in parts.values() for name, figure in part.items()}


def share(figure: float) -> str:
    """A share with three digits."""
    return f"{figure:.3f}"


def number(figure: float, digits: int = 2) -> str:
    """A figure with some significant digits."""
    return f"{float(f'{figure:.{digits}g}'):,.10g}"


# ---------------------------------------------------------------- docs/catalogue.md


def found(figures: Figures) -> str:
    def cells(kind: str, method: str) -> str:
        first = figures.get(f"{kind}, {method}: the right mark is the first, of {QUERIES}")
        ten = figures.get(f"{kind}, {method}: it is among the first ten")
        return "" if first is None or ten is None else f"{share(first)}, {share(ten)}"

    methods = ("search", "mNR-CDT of the same ink", "mNR-CDT of the image")
    rows = []
    for kind, title in KINDS.items():
        twin = share(figures[f"{kind}, search: its near-twin is the first instead"])
        rows.append([title, cells(kind, "search"), twin, *(cells(kind, method) for method in methods[1:])])
    return table(["queries", "search", "its near-twin is the first instead", *methods[1:]], rows)


def found_in_large(figures: Figures) -> str:
    drawings, photographs = (
        share(figures[f"{LARGE}: the right mark is the first in it, {kind}, of 60"])
        for kind in ("drawing", "photograph")
    )
    return (
        "In the catalogue of 100,000 marks of [scale.md](scale.md), drawn at 128 pixels, the mark is the first for "
        f"{drawings} of 60 drawings and {photographs} of 60\nphotographs."
    )


def p_values(figures: Figures) -> str:
    def row(title: str, key: str) -> list[str]:
        distances = [share(value) for name, value in figures.items() if name.startswith(f"{key}: Kolmogorov distance")]
        return [title, *(share(figures[f"{key}: p-value up to {level:g}"]) for level in LEVELS), *(distances or ["–"])]

    rows = [["uniform", *map(number, LEVELS), "0"]]
    rows += [row(f"not there: {title}", f"{kind} of a mark that is not there") for kind, title in KINDS.items()]
    rows += [row(f"there: {title}", f"{kind} of a mark that is there") for kind, title in KINDS.items()]
    return table(["marks", *(f"up to {number(level)}" for level in LEVELS), "Kolmogorov distance"], rows)


# ---------------------------------------------------------------- docs/scale.md


def measured(figures: Figures) -> str:
    def two(title: str) -> str:
        return ", ".join(
            f"{number(1000 * figures[title.format(n)], 3)} MB"
            if "gigabytes" in title
            else f"{number(figures[title.format(n)])} s"
            for n in ("100,000", "1,000,000")
        )

    def searching(kind: str) -> str:
        times = (figures[f"{LARGE}: searching it, {kind}, ink included, {w}"] for w in ("median s", "ninth of ten, s"))
        return ", ".join(f"{number(seconds)} s" for seconds in times)

    def compared(kind: str) -> str:
        return number(figures[f"{LARGE}: entries compared, {kind}, median"], 3)

    rows = [
        [
            "drawings of 512 × 512 pixels added, decoding included, two processes",
            f"{number(figures['drawings of 512 × 512 added a second, two processes'], 3)} a second",
        ],
        [
            "the catalogue, an entry of these: descriptor, picture, metadata and indices",
            f"{number(figures['kilobytes of the catalogue an entry'])} kB",
        ],
        ["opening a catalogue of 100,000", f"{number(figures[f'{LARGE}: opening it, s'])} s"],
        ["calibrating it with 200 marks", f"{number(figures[f'{LARGE}: calibrating it, s'])} s"],
        ["searching it for a drawing, its ink included: median, nine of ten", searching("drawing")],
        ["entries whose descriptors are compared, of 100,000, median", compared("drawing")],
        ["searching it for a photograph: median, nine of ten", searching("photograph")],
        ["entries whose descriptors are compared, median", compared("photograph")],
        [
            "memory of the searching process, at most",
            f"{number(figures[f'{LARGE}: memory of the process at most, GB'], 3)} GB",
        ],
        ["bounds of all entries and their order: 100,000, 1,000,000", two("bounds and order of {} entries, s")],
        ["summaries in memory: 100,000, 1,000,000", two("gigabytes of the summaries of {} entries")],
    ]
    return table(["", ""], rows)


def follows(figures: Figures) -> str:
    rate = figures["drawings of 512 × 512 added a second, two processes"]
    kilobytes = figures["kilobytes of the catalogue an entry"]
    memory = 1e9 * figures["gigabytes of the summaries of 1,000,000 entries"] / 1e6 + 24
    seconds = figures["bounds and order of 1,000,000 entries, s"]
    counts = {"100,000": 1e5, "1 million": 1e6, "100 million": 1e8}

    def duration(hours: float) -> str:
        if hours < 1 / 60:
            return f"{number(3600 * hours)} seconds"
        if hours < 1:
            return f"{number(60 * hours)} minutes"
        return f"{number(hours)} hours" if hours < 48 else f"{number(hours / 24)} days"

    def size(bytes_: float) -> str:
        return f"{number(bytes_ / 1e6)} MB" if bytes_ < 1e8 else f"{number(bytes_ / 1e9)} GB"

    few, all_ = (figures[f"{LARGE}: entries compared of {which} of it, drawing, mean"] for which in ("a tenth", "all"))
    power = np.log10(all_ / few)
    compared = {title: all_ * (n / 1e5) ** power for title, n in counts.items()}
    bounds = {title: seconds * n / 1e6 for title, n in counts.items()}
    bounds["100,000"] = figures["bounds and order of 100,000 entries, s"]
    nearest = figures[f"{LARGE}: finding the nearest in it, drawing, mean s"]
    cost = max(nearest - bounds["100,000"], 0) / all_
    rest = figures[f"{LARGE}: searching it, drawing, ink included, mean s"] - nearest
    searches = {title: max(rest, 0) + bounds[title] + cost * compared[title] for title in counts}
    calibrating = figures[f"{LARGE}: calibrating it, s"]
    hours = {title: n / rate / 3600 for title, n in counts.items()}
    rows = [
        [
            f"reading the images, core-hours (2 cores · n / {rate:.0f} / 3,600 s)",
            *(number(2 * each) for each in hours.values()),
        ],
        ["… on two cores", *(duration(each) for each in hours.values())],
        ["… on a cluster of 200 cores", *(duration(each / 100) for each in hours.values())],
        [f"disk ({number(kilobytes)} kB an entry)", *(size(1000 * kilobytes * n) for n in counts.values())],
        [
            f"memory of a search, beyond the program ({memory - 24:.0f} bytes an entry, and 24 for bounds and order)",
            *(size(memory * n) for n in counts.values()),
        ],
        ["a search: bounds of all entries and their order", *(f"{number(time)} s" for time in bounds.values())],
        [
            f"… descriptors that are compared for a drawing, on average (as n to the power of {number(power)})",
            *(number(count, 3) for count in compared.values()),
        ],
        [
            "… in all, with ink and fits, on average",
            *(f"{number(time)} s" for time in searches.values()),
        ],
        [
            "calibrating it (200 more searches)",
            *(duration((calibrating + 200 * (time - searches["100,000"])) / 3600) for time in searches.values()),
        ],
    ]
    return table(["", *counts], rows)


TABLES: dict[str, dict[str, Callable[[Figures], str]]] = {
    "catalogue.md": {"found": found, "large": found_in_large, "p-values": p_values},
    "scale.md": {"measured": measured, "follows": follows},
}


def with_tables(text: str, page: str, figures: Figures) -> str:
    """A page with the tables of these figures between the marks."""
    for name, made in TABLES[page].items():
        text = replace_between(text, begin(name), END, made(figures))
    return text


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    figures = measured_figures()
    new = {DOCS / name: with_tables((DOCS / name).read_text(encoding="utf-8"), name, figures) for name in TABLES}
    for path, text in new.items():
        write_text(path, text)
        print(path)
    return 0

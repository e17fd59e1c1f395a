"""Write the tables of docs/results/catalogues.md and docs/howto/large-collections.md from benchmarks/catalogue.json.

python -m benchmarks catalogue_page
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.catalogue import FRAMES, LEVELS, LIMITS, N_LARGE_QUERIES, N_QUERIES, RESULTS
from benchmarks.report import insert_passages, make_parser, make_table, write_text

DOCS = Path(__file__).parent.parent / "docs"

Figures = dict[str, float]
"""All measured figures, by their titles."""

LARGE = "100,000 entries"  # beginning of the titles of figures of the large catalogue
ORDERING = 24  # bytes per entry that a search uses for bounds and their order
KINDS = dict(zip(LIMITS, ("drawings", "with specks", "photographs")))  # names of the kinds of queries in the tables


def load_figures() -> Figures:
    """Load the figures of all parts."""
    parts = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {name: figure for part in parts.values() for name, figure in part.items()}


def format_share(figure: float) -> str:
    """Format a share with three decimals."""
    return f"{figure:.3f}"


def format_number(figure: float, digits: int = 2) -> str:
    """Format a figure with the given number of significant digits."""
    return f"{float(f'{figure:.{digits}g}'):,.10g}"


# ---------------------------------------------------------------- docs/results/catalogues.md


def tabulate_recognition(figures: Figures) -> str:
    """Make the table of the shares of queries whose mark is found."""

    def format_cell(kind: str, method: str) -> str:
        first = figures.get(f"{kind}, {method}: the right mark is ranked first, of {N_QUERIES}")
        ten = figures.get(f"{kind}, {method}: it is among the first ten")
        return "" if first is None or ten is None else f"{format_share(first)}, {format_share(ten)}"

    methods = ("search", "mNR-CDT of the same ink", "mNR-CDT of the image")
    rows = []
    for kind, title in KINDS.items():
        twin = format_share(figures[f"{kind}, search: its near-twin is ranked first instead"])
        rows.append([title, format_cell(kind, "search"), twin, *(format_cell(kind, method) for method in methods[1:])])
    return make_table(["queries", "search", "its near-twin is ranked first instead", *methods[1:]], rows)


def tabulate_ranking(figures: Figures) -> str:
    """Make the table of two ways to rank the nearest entries."""
    names = ["line fits", *(f"distortion distances, {side} × {side}, ±{window}" for side, window in FRAMES)]

    def format_cell(kind: str, name: str) -> str:
        title = f"{kind}, ranked by {name}"
        first, ten = (
            format_share(figures[f"{title}: {what}"])
            for what in (f"the right mark is first, of {2 * N_QUERIES}", "it is among the first ten")
        )
        error = figures[f"{title}: standard error of the difference from line fits"]
        return f"{first}, {ten}" + (f" (± {format_share(error)})" if name != names[0] else "")

    def format_time(name: str) -> str:
        times = (figures[f"{kind}, ranked by {name}: milliseconds per query"] for kind in KINDS)
        return f"{format_number(float(np.median(list(times))))} ms"

    rows = [[name, *(format_cell(kind, name) for kind in KINDS), format_time(name)] for name in names]
    return make_table(["ranked by", *KINDS.values(), "time per query"], rows)


def state_recognition_in_large(figures: Figures) -> str:
    """Write the sentence about recognition in the large catalogue."""
    drawings, photographs = (
        format_share(figures[f"{LARGE}: the right mark is ranked first, {kind}, of {N_LARGE_QUERIES}"])
        for kind in ("drawing", "photograph")
    )
    return (
        "In the catalogue of 100,000 marks of [Search large collections](../howto/large-collections.md), drawn at 128\n"
        f"pixels, the share of queries whose mark is ranked first is {drawings} for {N_LARGE_QUERIES} drawings and\n"
        f"{photographs} for {N_LARGE_QUERIES} photographs."
    )


def tabulate_p_values(figures: Figures) -> str:
    """Make the table of the distribution of p-values."""

    def make_row(title: str, key: str) -> list[str]:
        distances = [
            format_share(value) for name, value in figures.items() if name.startswith(f"{key}: Kolmogorov distance")
        ]
        return [
            title,
            *(format_share(figures[f"{key}: p-value up to {level:g}"]) for level in LEVELS),
            *(distances or ["–"]),
        ]

    rows = [["uniform", *map(format_number, LEVELS), "0"]]
    rows += [make_row(f"absent: {title}", f"{kind} of a mark that is absent") for kind, title in KINDS.items()]
    rows += [make_row(f"present: {title}", f"{kind} of a mark that is present") for kind, title in KINDS.items()]
    return make_table(["marks", *(f"up to {format_number(level)}" for level in LEVELS), "Kolmogorov distance"], rows)


# ---------------------------------------------------------------- docs/howto/large-collections.md


def tabulate_measurements(figures: Figures) -> str:
    """Make the table of what was measured."""

    def format_both(title: str) -> str:
        return ", ".join(
            f"{format_number(1000 * figures[title.format(n)], 3)} MB"
            if "gigabytes" in title
            else f"{format_number(figures[title.format(n)])} s"
            for n in ("100,000", "1,000,000")
        )

    def format_times(kind: str) -> str:
        prefix = f"{LARGE}: seconds per search, {kind}, including ink detection"
        times = (figures[f"{prefix}, {statistic}"] for statistic in ("median", "90 % quantile"))
        return ", ".join(f"{format_number(seconds)} s" for seconds in times)

    def format_compared(kind: str) -> str:
        return format_number(figures[f"{LARGE}: entries compared, {kind}, median"], 3)

    rows = [
        [
            "drawings of 512 × 512 pixels added, including decoding, two processes",
            f"{format_number(figures['drawings of 512 × 512 pixels added per second, two processes'], 3)} per second",
        ],
        [
            "size of an entry: descriptor, thumbnail, metadata and indices",
            f"{format_number(figures['kilobytes of the catalogue per entry'])} kB",
        ],
        ["opening a catalogue of 100,000 entries", f"{format_number(figures[f'{LARGE}: seconds to open'])} s"],
        ["calibrating it with 200 marks", f"{format_number(figures[f'{LARGE}: seconds to calibrate'])} s"],
        ["searching it for a drawing, including ink detection: median, 90 % quantile", format_times("drawing")],
        ["entries whose descriptors are compared for a drawing, median", format_compared("drawing")],
        ["searching it for a photograph: median, 90 % quantile", format_times("photograph")],
        ["entries whose descriptors are compared for a photograph, median", format_compared("photograph")],
        [
            "peak memory of the searching process",
            f"{format_number(figures[f'{LARGE}: peak memory of the process, GB'], 3)} GB",
        ],
        [
            "bounds and order of all entries: 100,000, 1,000,000",
            format_both("seconds for bounds and order of {} entries"),
        ],
        ["summaries in memory: 100,000, 1,000,000", format_both("gigabytes of the summaries of {} entries")],
    ]
    return make_table(["", ""], rows)


def tabulate_estimates(figures: Figures) -> str:
    """Make the table of what follows from the measurements for larger catalogues."""
    rate = figures["drawings of 512 × 512 pixels added per second, two processes"]
    kilobytes = figures["kilobytes of the catalogue per entry"]
    summary = 1e9 * figures["gigabytes of the summaries of 1,000,000 entries"] / 1e6  # bytes per entry
    seconds = figures["seconds for bounds and order of 1,000,000 entries"]
    counts = {"100,000": 1e5, "1 million": 1e6, "100 million": 1e8}

    def format_duration(hours: float) -> str:
        if hours < 1 / 60:
            return f"{format_number(3600 * hours)} seconds"
        if hours < 1:
            return f"{format_number(60 * hours)} minutes"
        return f"{format_number(hours)} hours" if hours < 48 else f"{format_number(hours / 24)} days"

    def format_size(bytes_: float) -> str:
        return f"{format_number(bytes_ / 1e6)} MB" if bytes_ < 1e8 else f"{format_number(bytes_ / 1e9)} GB"

    few, all_ = (
        figures[f"{LARGE}: entries compared in {which} of the catalogue, drawing, mean"] for which in ("a tenth", "all")
    )
    power = np.log10(all_ / few)
    compared = {title: all_ * (n / 1e5) ** power for title, n in counts.items()}
    bounds = {title: seconds * n / 1e6 for title, n in counts.items()}
    bounds["100,000"] = figures["seconds for bounds and order of 100,000 entries"]
    nearest = figures[f"{LARGE}: seconds to find the nearest, drawing, mean"]
    cost = max(nearest - bounds["100,000"], 0) / all_
    rest = figures[f"{LARGE}: seconds per search, drawing, including ink detection, mean"] - nearest
    searches = {title: max(rest, 0) + bounds[title] + cost * compared[title] for title in counts}
    calibration = figures[f"{LARGE}: seconds to calibrate"]
    hours = {title: n / rate / 3600 for title, n in counts.items()}
    rows = [
        [
            f"reading the images, core-hours (2 cores · n / {rate:.0f} / 3,600 s)",
            *(format_number(2 * each) for each in hours.values()),
        ],
        ["… on two cores", *(format_duration(each) for each in hours.values())],
        ["… on a cluster of 200 cores", *(format_duration(each / 100) for each in hours.values())],
        [
            f"disk ({format_number(kilobytes)} kB per entry)",
            *(format_size(1000 * kilobytes * n) for n in counts.values()),
        ],
        [
            f"memory of a search beyond the program ({summary:.0f} + {ORDERING} bytes per entry)",
            *(format_size((summary + ORDERING) * n) for n in counts.values()),
        ],
        ["search: bounds and order of all entries", *(f"{format_number(time)} s" for time in bounds.values())],
        [
            f"… descriptors compared for a drawing, on average (grows as n to the power of {format_number(power)})",
            *(format_number(count, 3) for count in compared.values()),
        ],
        [
            "… in total, including ink detection and fits, on average",
            *(f"{format_number(time)} s" for time in searches.values()),
        ],
        [
            "calibration (200 searches)",
            *(format_duration((calibration + 200 * (time - searches["100,000"])) / 3600) for time in searches.values()),
        ],
    ]
    return make_table(["", *counts], rows)


TABLES: dict[str, dict[str, Callable[[Figures], str]]] = {
    "results/catalogues.md": {
        "recognition": tabulate_recognition,
        "ranking": tabulate_ranking,
        "large": state_recognition_in_large,
        "p-values": tabulate_p_values,
    },
    "howto/large-collections.md": {"measurements": tabulate_measurements, "estimates": tabulate_estimates},
}


def insert_tables(text: str, page: str, figures: Figures) -> str:
    """Replace the tables of a page, which are between marks, by those of the given figures."""
    passages = {name: make(figures) for name, make in TABLES[page].items()}
    return insert_passages(text, "catalogue", passages)


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    figures = load_figures()
    new = {DOCS / name: insert_tables((DOCS / name).read_text(encoding="utf-8"), name, figures) for name in TABLES}
    for path, text in new.items():
        write_text(path, text)
        print(path)
    return 0

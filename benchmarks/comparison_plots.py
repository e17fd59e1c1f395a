"""Draw the pictures of docs/results/benchmarks.md from benchmarks/results.json, with the figures in their metadata.

python -m benchmarks comparison_plots
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

from benchmarks.comparison import OURS, RESULTS, Record
from benchmarks.comparison_page import PAGE
from benchmarks.comparison_tables import MAIN, select
from benchmarks.report import make_parser
from radoncdt import plot

Picture = tuple[dict[str, Any], Callable[[], Figure]]
"""The facts that a picture shows, and the function that draws it."""

KINDS = {"dense": "dense images", "drawing": "line drawings"}  # titles of the kinds of images
INK = "rows, columns and runs of ink"  # the quantity that measures the ink
ALONG = ("side", "angles", "images at once", INK, "threads")  # the quantities on the x axes


def set_whole_ticks(axis: Any, ticks: list[float]) -> None:
    """Label an axis at the given whole numbers only."""
    axis.set_ticks(ticks)
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_locator(NullLocator())


def plot_speed(records: list[Record]) -> Picture:
    """Plot the milliseconds per image over the side, for each library in its faster form."""
    same = {key: value for key, value in MAIN.items() if key != "side"}
    chosen = [r for r in select(records, part="speed", **same) if "milliseconds" in r]
    peers = list(dict.fromkeys(r["peer"] for r in chosen))  # the order fixes the colours of both panels
    facts: dict[str, Any] = {title: {peer: {} for peer in peers} for title in KINDS.values()}
    for r in chosen:
        best = facts[KINDS[r["kind"]]][r["peer"]]
        best[r["side"]] = min(best.get(r["side"], float("inf")), r["milliseconds"])

    def draw_figure() -> Figure:
        figure = Figure(figsize=(10, 4.2), layout="constrained")
        axes = figure.subplots(1, 2, sharey=True)
        for ax, (title, curves) in zip(axes, facts.items()):
            for peer, best in curves.items():
                style = {"color": "black", "linewidth": 2.5, "zorder": 3} if peer == OURS else {}
                ax.loglog(list(best), list(best.values()), marker="o", label=peer, **style)
            set_whole_ticks(ax.xaxis, sorted({r["side"] for r in chosen}))
            ax.set(title=title, xlabel="side, pixels")
            ax.grid(alpha=0.3)
        axes[0].set_ylabel("milliseconds per image")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
        figure.suptitle("mNR-CDT with 128 angles, one thread, the faster form of each library")
        return figure

    return facts, draw_figure


def plot_scaling(records: list[Record]) -> Picture:
    """Plot the milliseconds of radoncdt over the side, the angles, the images at once, the ink and the threads."""
    facts = {
        along: {r["kind"]: {"x": r["x"], "milliseconds": r["milliseconds"]} for r in chosen}
        for along in ALONG
        for chosen in [select(records, part="scaling", along=along)]
    }

    def draw_figure() -> Figure:
        figure = Figure(figsize=(15, 3.6), layout="constrained")
        axes = figure.subplots(1, len(ALONG))
        for ax, (along, curves) in zip(axes, facts.items()):
            for kind, curve in curves.items():
                ax.plot(curve["x"], curve["milliseconds"], marker="o", label=kind)
            if along not in ("threads", INK):
                ax.set(xscale="log", yscale="log")
                ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
                ax.yaxis.set_major_formatter("{x:g}")
                ax.yaxis.set_minor_locator(NullLocator())
            if along != INK:
                set_whole_ticks(ax.xaxis, next(iter(curves.values()))["x"])
            ax.set(xlabel=along)
            if ax.get_yscale() != "log":
                ax.set_ylim(bottom=0)
            ax.grid(alpha=0.3)
            ax.legend(fontsize=8)
        axes[0].set_ylabel("milliseconds")
        figure.suptitle(
            "radoncdt: 256 × 256 pixels, 128 angles, one image and one thread, except for the quantity on the x axis; "
            "threads share 64 images; fastest turns"
        )
        return figure

    return facts, draw_figure


PICTURES = {"speed": plot_speed, "scaling": plot_scaling}
"""The functions that make the pictures, by the ends of the names of their files."""


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    records = json.loads(RESULTS.read_text(encoding="utf-8"))["records"]
    for name, make in PICTURES.items():
        facts, draw_figure = make(records)
        path = PAGE.parents[1] / "pictures" / f"benchmarks_{name}.png"
        plot.save(draw_figure(), path, facts, dpi=110)
        print(path)
    return 0

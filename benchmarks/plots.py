"""Draw the pictures of docs/benchmarks.md of benchmarks/results.json.

python benchmarks/plots.py
"""

import json
from typing import Any

import matplotlib.pyplot as plt
from comparison import OURS, RESULTS, Record
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter
from page import MAIN, PAGE, where

ALONG = ("side", "angles", "images at once", "rows, columns and runs of ink", "threads")


def whole_numbers(axis: Any, ticks: list[float]) -> None:
    axis.set_ticks(ticks)
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_locator(NullLocator())


def speed(records: list[Record]) -> Figure:
    """Of each library the faster form, over the side."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    same = {key: value for key, value in MAIN.items() if key != "side"}
    chosen = [r for r in where(records, part="speed", **same) if "milliseconds" in r]
    for ax, kind in zip(axes, ("dense", "drawing")):
        for peer in dict.fromkeys(r["peer"] for r in chosen):
            best: dict[int, float] = {}
            for r in where(chosen, kind=kind, peer=peer):
                best[r["side"]] = min(best.get(r["side"], float("inf")), r["milliseconds"])
            style = {"color": "black", "linewidth": 2.5, "zorder": 3} if peer == OURS else {}
            ax.loglog(list(best), list(best.values()), marker="o", label=peer, **style)
        whole_numbers(ax.xaxis, sorted({r["side"] for r in chosen}))
        ax.set(title={"dense": "dense images", "drawing": "line drawings"}[kind], xlabel="side, pixels")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("milliseconds an image")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
    figure.suptitle("mNR-CDT with 128 angles, one thread, the faster form of each library")
    return figure


def scaling(records: list[Record]) -> Figure:
    figure, axes = plt.subplots(1, len(ALONG), figsize=(15, 3.6), layout="constrained")
    for ax, along in zip(axes, ALONG):
        chosen = where(records, part="scaling", along=along)
        for r in chosen:
            ax.plot(r["x"], r["milliseconds"], marker="o", label=r["kind"])
        if along not in ("threads", "rows, columns and runs of ink"):
            ax.set(xscale="log", yscale="log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter("{x:g}")
            ax.yaxis.set_minor_locator(NullLocator())
        if along != "rows, columns and runs of ink":
            whole_numbers(ax.xaxis, chosen[0]["x"])
        ax.set(xlabel=along)
        if ax.get_yscale() != "log":
            ax.set_ylim(bottom=0)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    axes[0].set_ylabel("milliseconds")
    figure.suptitle(
        "radoncdt: 256 × 256 pixels, 128 angles, one image and one thread, but for what varies; "
        "threads share 64 images; fastest turns"
    )
    return figure


if __name__ == "__main__":
    records = json.loads(RESULTS.read_text(encoding="utf-8"))["records"]
    for draw in (speed, scaling):
        path = PAGE.with_name(f"benchmarks_{draw.__name__}.png")
        draw(records).savefig(path, dpi=110)
        print(path)

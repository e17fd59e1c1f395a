"""The figures of the report: Figures 2, 3 and 4 of the paper, curves of accuracy, and the robustness study."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._extras import require
from radoncdt.reproduction import robustness
from radoncdt.reproduction.labels import DATASETS, FEATURES, METHODS, NORMS, SETS, TABLES, VARIED, find_row
from radoncdt.reproduction.measurement import Summary
from radoncdt.reproduction.protocol import SOURCES, Cell, Draw, compute_features, draw_images
from radoncdt.reproduction.robustness import Curve, Trial
from radoncdt.reproduction.runner import Outcome

__all__ = ["CAPTIONS", "draw_figures"]

_N_SHOWN = 4  # images per class in Figures 2 and 3, besides the first one
_N_ANGLES = 128  # number of angles in Figure 4
_COLOURS = {"published": "C0", "independent": "C1"}
_LEGEND = (
    "Lines: our mean over the draws. Bands: the standard deviation within a draw, or between draws where a draw has a "
    "single figure. Crosses: the paper."
)

CAPTIONS = {
    "figure2": "Figure 2: samples of the academic dataset, one row per class, with the template first.",
    "figure3": "Figure 3: samples of LinMNIST, one row per class.",
    "figure4": f"Figure 4: mNR-CDT of the academic dataset with {_N_ANGLES} angles. Broad lines: the templates.",
    **{f"accuracy_{name}": f"{title}. {_LEGEND}" for name, title in TABLES.items()},
    "robustness_images": "The first image of each class in every set, with the templates at the top.",
    "robustness_curves": "Accuracy of the nearest training image. Lines: mean over the repetitions. Bands: their "
    "standard deviation.",
}
CAPTIONS["accuracy_table4"] += " Dots: our largest fold, which is what the paper prints for the R-CDT."


def draw_figures(outcome: Outcome, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """All figures of an outcome, by name."""
    figures, parts, seed = {}, outcome.choice.parts, outcome.choice.seed
    if "figures" in parts:
        samples = {dataset: _draw_samples(dataset, seed, mnist) for dataset in DATASETS}
        figures["figure2"] = _show_samples(*samples["academic"])
        figures["figure3"] = _show_samples(*samples["linmnist"])
        figures["figure4"] = _plot_features(*samples["academic"])
    for table in TABLES:
        if cells := outcome.select_cells(table):
            figures[f"accuracy_{table}"] = (_plot_over_angles if table == "table2" else _plot_over_sizes)(cells)
    if "robustness" in parts:
        figures["robustness_images"] = _show_sets(seed, mnist)
    curves = {c: found for c in robustness.CURVES if (found := outcome.select_trials(c.dataset, c.varied))}
    if curves:
        figures["robustness_curves"] = _plot_over_levels(curves)
    return figures


def _make_figure(width: float, height: float) -> Any:
    figure = require("matplotlib.figure", "drawing figures", extra="reproduce")
    return figure.Figure(figsize=(width, height), layout="constrained")


# ---------------------------------------------------------------- Figures 2, 3 and 4


def _draw_samples(dataset: str, seed: int, mnist: datasets.Mnist | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The images of the first draw of Table 2 in the published protocol, with the template of each symbol first."""
    cell = Cell("table2", "published", dataset, "mnrcdt", None, "nearest", _N_ANGLES, 10)
    images, labels = draw_images(cell, Draw(seed, 0, mnist))
    if dataset == "academic":
        drawn = datasets.templates(SOURCES["table2"].classes[dataset], canvas=images.shape[-1])
        images = np.concatenate([np.stack([drawn[name], *images[labels == name]]) for name in drawn])
        labels = np.repeat(list(drawn), cell.class_size + 1)
    return images, labels


def _show_samples(images: NDArray[Any], labels: NDArray[Any]) -> Any:
    from radoncdt import plot

    classes, n = list(dict.fromkeys(labels.tolist())), _N_SHOWN + 1
    figure = _make_figure(1.5 * n, 1.55 * len(classes))
    for name, row in zip(classes, figure.subplots(len(classes), n)):
        for image, ax in zip(images[labels == name], row):
            plot.measure(image, ax=ax).set(xticks=[], yticks=[], title="")
        row[0].set_ylabel(str(name))
    return figure


def _plot_features(images: NDArray[Any], labels: NDArray[Any]) -> Any:
    from radoncdt import plot

    cell = Cell("table2", "published", "academic", "mnrcdt", None, "nearest", _N_ANGLES, 10)
    values = compute_features(cell, images)
    first = np.array([np.flatnonzero(labels == name)[0] for name in dict.fromkeys(labels.tolist())])
    figure = _make_figure(6, 4)
    plot.pooled(
        np.delete(values, first, axis=0),
        np.delete(labels, first),
        templates=values[first],
        template_labels=labels[first],
        level_grid="uniform",
        ax=figure.subplots(),
    )
    return figure


# ---------------------------------------------------------------- curves of accuracy


def _plot_band(ax: Any, places: Sequence[float], means: Sequence[float], stds: Sequence[float], **line: Any) -> None:
    """Draw a line with a band of one standard deviation on either side, between 0 and 1."""
    low, high = np.maximum(np.subtract(means, stds), 0), np.minimum(np.add(means, stds), 1)
    ax.plot(places, means, marker="o", markersize=3, **line)
    ax.fill_between(places, low, high, color=line["color"], alpha=0.12, linewidth=0)


def _plot_ours(ax: Any, cells: Sequence[Summary[Cell]], colour: str, label: str) -> None:
    cells = sorted(cells, key=lambda s: find_row(s.measurand))
    places = [find_row(s.measurand) for s in cells]
    stds = [s.std_between_draws or 0.0 if s.std is None else s.std for s in cells]
    _plot_band(ax, places, [s.mean for s in cells], stds, color=colour, label=label)
    maxima = [s.fold_maximum for s in cells if s.fold_maximum is not None]
    if maxima:
        ax.plot(places, maxima, color=colour, linestyle=":", linewidth=1)


def _plot_paper(ax: Any, cells: Sequence[Summary[Cell]], colour: str, label: str | None) -> None:
    printed = sorted({(find_row(s.measurand), s.paper.mean) for s in cells if s.paper})
    if printed:
        ax.plot(*zip(*printed), linestyle="", marker="x", color=colour, markersize=7, label=label)


def _finish_panel(ax: Any, cells: Sequence[Summary[Cell]], label: str, title: str) -> None:
    ticks = sorted({find_row(s.measurand) for s in cells})
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
    ax.minorticks_off()
    ax.set(xlabel=label)
    ax.set_title(title, fontsize=10)
    ax.set_ylim(top=1.02, auto=None)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8, loc="lower right")
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def _plot_over_angles(cells: Sequence[Summary[Cell]]) -> Any:
    """Table 2: accuracy over the number of angles, one panel per dataset and norm."""
    figure = _make_figure(10, 5.6)
    for row, dataset in zip(figure.subplots(2, 2), DATASETS):
        for ax, norm in zip(row, NORMS):
            chosen = [s for s in cells if (s.measurand.dataset, s.measurand.norm) == (dataset, norm)]
            for protocol, colour in _COLOURS.items():
                if mine := [s for s in chosen if s.measurand.protocol == protocol]:
                    _plot_ours(ax, mine, colour, f"ours, {protocol}")
            _plot_paper(ax, chosen, "black", "paper")
            _finish_panel(ax, chosen, "angles", f"{DATASETS[dataset]}, {NORMS[norm]}")
        row[0].set_ylabel("accuracy")
    return figure


def _plot_over_sizes(cells: Sequence[Summary[Cell]]) -> Any:
    """Tables 3 and 4: accuracy over the class size, one row per protocol and one panel per feature."""
    protocols = list(dict.fromkeys(s.measurand.protocol for s in cells))
    figure = _make_figure(11, 3.3 * len(protocols))
    axes = figure.subplots(len(protocols), len(FEATURES), sharey=True, squeeze=False)
    counts = sorted({s.measurand.n_angles for s in cells if s.measurand.n_angles is not None})
    colours: dict[int | None, str] = {None: "C7", **{n: f"C{k}" for k, n in enumerate(counts)}}
    for row, protocol in zip(axes, protocols):
        for ax, feature in zip(row, FEATURES):
            chosen = [s for s in cells if (s.measurand.protocol, s.measurand.feature) == (protocol, feature)]
            for n_angles in sorted({s.measurand.n_angles for s in chosen}, key=lambda n: n or 0):
                mine = [s for s in chosen if s.measurand.n_angles == n_angles]
                label = "pixels" if n_angles is None else f"{n_angles} angles"
                _plot_ours(ax, mine, colours[n_angles], label)
                is_last = n_angles == chosen[-1].measurand.n_angles
                _plot_paper(ax, mine, colours[n_angles], "paper" if is_last else None)
            _finish_panel(ax, chosen, "class size", f"{FEATURES[feature]}, {protocol}")
        row[0].set_ylabel("accuracy")
    return figure


# ---------------------------------------------------------------- the robustness study


def _show_sets(seed: int, mnist: datasets.Mnist | None) -> Any:
    rows = {"templates": np.stack(list(datasets.templates(canvas=datasets.SYMBOL_CANVAS).values()))}
    for name, label in SETS.items():
        rows[label] = robustness.draw_set(Trial(name, 1, 1, "", 1, 1), seed, mnist)[0]
    most = max(len(images) for images in rows.values())
    figure = _make_figure(most, 1.03 * len(rows))
    for (name, images), ax in zip(rows.items(), figure.subplots(len(rows), 1)):
        n, side, _ = images.shape
        ax.imshow(np.concatenate(list(images), axis=1), cmap="gray_r", vmin=0, vmax=1, extent=(0, n, 0, 1))
        ax.vlines(range(n + 1), 0, 1, color="0.7", linewidth=0.8)
        ax.hlines((0, 1), 0, n, color="0.7", linewidth=0.8)
        ax.set(xlim=(0, most), xticks=[], yticks=[])
        ax.set_ylabel(f"{name}\n{side} px", fontsize=8)
        ax.spines[:].set_visible(False)
    return figure


def _plot_over_levels(curves: dict[Curve, list[Summary[Trial]]]) -> Any:
    """Accuracy over the level of a distortion, one panel per curve."""
    figure = _make_figure(11, 4)
    for (curve, trials), ax in zip(curves.items(), figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]):
        for i, method in enumerate(robustness.CURVE_METHODS):
            mine = [s for s in trials if s.measurand.method == method]
            levels, stds = [s.measurand.level or 0.0 for s in mine], [s.std or 0.0 for s in mine]
            _plot_band(ax, levels, [s.mean for s in mine], stds, color=f"C{i}", label=METHODS[method])
        title = f"{SETS[curve.dataset]}, {curve.n_train} of {curve.class_size} images per class to train on"
        ax.set(xlabel=VARIED[curve.varied], ylim=(0, 1.02))
        ax.set_title(title, fontsize=10)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[-1].legend(frameon=False, fontsize=8, loc="best")
    return figure

"""The figures of the report: Figures 2, 3 and 4 of the paper, curves of accuracy, and the robustness study."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt._extras import require
from radoncdt.reproduction import robustness
from radoncdt.reproduction.labels import DATASETS, FEATURES, METHODS, NORMS, SETS, TABLES, VARIED, find_row
from radoncdt.reproduction.measurement import Summary, group_by
from radoncdt.reproduction.outcome import Outcome
from radoncdt.reproduction.protocol import SOURCES, Cell, Draw, compute_features, draw_images
from radoncdt.reproduction.recognition import few_shot_tables
from radoncdt.reproduction.robustness import Curve, Trial

__all__ = ["CAPTIONS", "PLOTTED", "draw_few_shot", "draw_figures"]

_N_SHOWN = 4  # images per class in Figures 2 and 3, besides the first one
_N_ANGLES = 128  # number of angles in Figure 4
_NAMES = {**DATASETS, **NORMS, **FEATURES}  # what panels show
_SAMPLES = Cell("table2", "published", "academic", "mnrcdt", None, "nearest", _N_ANGLES, 10)  # images of Figures 2 to 4
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
    "few_shot": "Accuracy over the number of training images per class. Lines: mean over the draws. Bands: the "
    "standard error.",
}
CAPTIONS["accuracy_table4"] += " Dots: our largest fold, which is what the paper prints for the R-CDT."


def draw_figures(outcome: Outcome, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """Draw all figures of an outcome, by name."""
    figures, parts, seed = {}, outcome.choice.parts, outcome.choice.seed
    if "figures" in parts:
        samples = {dataset: _draw_samples(dataset, seed, mnist) for dataset in DATASETS}
        figures["figure2"] = _show_samples(*samples["academic"])
        figures["figure3"] = _show_samples(*samples["linmnist"])
        figures["figure4"] = _plot_features(*samples["academic"])
    for table in TABLES:
        if cells := outcome.select_cells(table):
            figures[f"accuracy_{table}"] = _plot_accuracy(cells)
    if "robustness" in parts:
        figures["robustness_images"] = _show_sets(seed, mnist)
    curves = {c: found for c in robustness.CURVES if (found := outcome.select_trials(c.dataset, c.varied))}
    if curves:
        figures["robustness_curves"] = _plot_over_levels(curves)
    if outcome.recognitions:
        figures["few_shot"] = draw_few_shot(few_shot_tables.list_records(outcome))
    return figures


def _make_figure(width: float, height: float) -> Any:
    figure = require("matplotlib.figure", "drawing figures", extra="reproduce")
    return figure.Figure(figsize=(width, height), layout="constrained")


# ---------------------------------------------------------------- Figures 2, 3 and 4


def _draw_samples(dataset: str, seed: int, mnist: datasets.Mnist | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first draw of Table 2 in the published protocol, with the template of each symbol first."""
    images, labels = draw_images(replace(_SAMPLES, dataset=dataset), Draw(seed, 0, mnist))
    if dataset == "academic":
        drawn = datasets.templates(SOURCES["table2"].classes[dataset], canvas=images.shape[-1])
        images = np.concatenate([np.stack([drawn[name], *images[labels == name]]) for name in drawn])
        labels = np.repeat(list(drawn), _SAMPLES.class_size + 1)
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

    values = compute_features(_SAMPLES, images)
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


def _plot_cells(ax: Any, cells: Sequence[Summary[Cell]], colour: str, label: str, paper_colour: str) -> None:
    """Draw our figures as a line and the paper's as crosses."""
    cells = sorted(cells, key=lambda s: find_row(s.measurand))
    places = [find_row(s.measurand) for s in cells]
    stds = [s.std_between_draws or 0.0 if s.std is None else s.std for s in cells]
    _plot_band(ax, places, [s.mean for s in cells], stds, color=colour, label=label)
    if maxima := [s.fold_maximum for s in cells if s.fold_maximum is not None]:
        ax.plot(places, maxima, color=colour, linestyle=":", linewidth=1)
    if printed := [(place, s.paper.mean) for place, s in zip(places, cells) if s.paper]:
        ax.plot(*zip(*printed), linestyle="", marker="x", color=paper_colour, markersize=7)


def _finish_panel(ax: Any, title: str, label: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.set(xlabel=label)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def _plot_accuracy(cells: Sequence[Summary[Cell]]) -> Any:
    """Plot accuracy over the number of angles (Table 2) or over the class size (Tables 3 and 4).

    Table 2 has one row of panels per dataset, one column per norm and one line per protocol. Tables 3 and 4 have one
    row of panels per protocol, one column per feature and one line per number of angles.
    """
    is_nearest = cells[0].measurand.norm is not None
    names = ("dataset", "norm", "protocol") if is_nearest else ("protocol", "feature", "n_angles")
    get_row, get_column, get_line = (attrgetter(f"measurand.{name}") for name in names)
    rows, n_columns = group_by(cells, get_row), len(set(map(get_column, cells)))
    lines = [line for line in dict.fromkeys(map(get_line, cells)) if line is not None]
    colours = {None: "C7", **{line: f"C{k}" for k, line in enumerate(lines)}}  # None stands for pixels
    figure = _make_figure(11, 3 * len(rows))
    for row, axes in zip(rows, figure.subplots(len(rows), n_columns, sharey=not is_nearest, squeeze=False)):
        axes[0].set_ylabel("accuracy")
        for panel, ax in zip(group_by(row, get_column), axes):
            for cells_of_line in group_by(panel, get_line):
                line = get_line(cells_of_line[0])
                label = f"ours, {line}" if is_nearest else "pixels" if line is None else f"{line} angles"
                paper_colour = "black" if is_nearest else colours[line]
                _plot_cells(ax, cells_of_line, colours[line], label, paper_colour)
            ticks = sorted({find_row(s.measurand) for s in panel})
            ax.set_xscale("log", base=2)
            ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
            ax.minorticks_off()
            ax.set_ylim(top=1.02, auto=None)
            ax.legend(frameon=False, fontsize=8, loc="lower right")
            place = (str(get(panel[0])) for get in (get_row, get_column))
            title = ", ".join(_NAMES.get(name, name) for name in place)
            _finish_panel(ax, title, "angles" if is_nearest else "class size")
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
    """Plot accuracy over the level of a distortion, one panel per curve."""
    figure = _make_figure(11, 4)
    for (curve, trials), ax in zip(curves.items(), figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]):
        for i, method in enumerate(robustness.CURVE_METHODS):
            mine = [s for s in trials if s.measurand.method == method]
            levels, stds = [s.measurand.level or 0.0 for s in mine], [s.std or 0.0 for s in mine]
            _plot_band(ax, levels, [s.mean for s in mine], stds, color=f"C{i}", label=METHODS[method])
        title = f"{SETS[curve.dataset]}, {curve.n_train} of {curve.class_size} images per class to train on"
        _finish_panel(ax, title, VARIED[curve.varied])
        ax.set_ylim(0, 1.02)
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[-1].legend(frameon=False, fontsize=8, loc="best")
    return figure


# ---------------------------------------------------------------- the few-shot study

PLOTTED = {
    "few-shot": ("C3", "-"),
    "registered": ("C1", "-"),
    "registered robust": ("C1", "--"),
    "fourier robust": ("C2", "--"),
    "mnrcdt": ("C0", "-"),
    "network": ("0.4", "-"),
    "product": ("C4", ":"),
    "pretrained": ("0.7", "-"),
}
"""The colours and styles of the methods in the figure of the few-shot study."""


def draw_few_shot(records: Sequence[Mapping[str, Any]]) -> Any:
    """Plot accuracy over the number of examples from the records of the few-shot study, one panel per set."""
    figure = _make_figure(11, 7)
    names = dict.fromkeys(record["dataset"] for record in records)
    for name, ax in zip(names, figure.subplots(2, 2, sharey=True).flat):
        for method, (colour, style) in PLOTTED.items():
            mine = sorted(
                (record for record in records if (record["dataset"], record["method"]) == (name, method)),
                key=lambda record: record["n_train"],
            )
            if mine:
                sizes, means = [record["n_train"] for record in mine], [record["mean"] for record in mine]
                errors = [record["standard_error"] or 0.0 for record in mine]
                label = few_shot_tables.METHOD_LABELS[method].replace("`", "")
                _plot_band(ax, sizes, means, errors, color=colour, linestyle=style, label=label)
        ticks = sorted({record["n_train"] for record in records if record["dataset"] == name})
        ax.set_xscale("log")
        ax.set_xticks(ticks, map(str, ticks))
        ax.minorticks_off()
        ax.set_ylim(0, 1.02)
        _finish_panel(ax, few_shot_tables.SET_LABELS[name], "training images per class")
    for ax in figure.axes[::2]:
        ax.set_ylabel("accuracy")
    figure.legend(
        *figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9, frameon=False
    )
    return figure

"""Figures 2, 3 and 4 of the paper, and the accuracies of its tables as curves. Needs matplotlib."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radoncdt import datasets
from radoncdt.reproduction import robustness_figures, table2
from radoncdt.reproduction.cells import Cell, Result
from radoncdt.reproduction.names import DATASETS, FEATURES, NORMS
from radoncdt.reproduction.protocol import features
from radoncdt.reproduction.run import TABLES, Outcome

NAMES = ("figure2", "figure3", "figure4", *(f"accuracy_{table}" for table in TABLES), *robustness_figures.CAPTIONS)
N_SHOWN = 4
N_ANGLES = 128
COLOURS = {"published": "C0", "independent": "C1"}


def draw(outcome: Outcome, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """All figures of an outcome, by name."""
    figures = {}
    if "figures" in outcome.choice.parts:
        seed = outcome.choice.seed
        samples = {dataset: _samples(dataset, seed, mnist) for dataset in table2.TABLE.classes}
        figures["figure2"] = _sample_figure(*samples["academic"])
        figures["figure3"] = _sample_figure(*samples["linmnist"])
        figures["figure4"] = _curves(*samples["academic"])
    for table in TABLES:
        results = [result for result in outcome.results if result.cell.table == table]
        if results:
            figures[f"accuracy_{table}"] = (_nearest if table == "table2" else _folds)(results)
    return figures | robustness_figures.draw(outcome, mnist)


def caption(name: str) -> str:
    """What a figure shows."""
    if name in robustness_figures.CAPTIONS:
        return robustness_figures.CAPTIONS[name]
    if name.startswith("accuracy_"):
        return (
            f"{TABLES[name.removeprefix('accuracy_')].caption}. Lines: ours, mean over the draws. Bands: the standard "
            "deviation within a draw, or between draws where a draw gives a single figure. Crosses: the paper."
            + (
                " Dots: ours, the largest of the folds, as the paper has it for the R-CDT."
                if name.endswith("4")
                else ""
            )
        )
    return {
        "figure2": "Figure 2: samples of the academic dataset, a row a class, its template first.",
        "figure3": "Figure 3: samples of LinMNIST, a row a class.",
        "figure4": f"Figure 4: mNR-CDT of the academic dataset with {N_ANGLES} angles; broad, those of the templates.",
    }[name]


# ---------------------------------------------------------------- Figures 2, 3 and 4


def _samples(dataset: str, seed: int, mnist: datasets.Mnist | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The images of the first draw of Table 2, as published; of drawings the template first."""
    table = table2.TABLE
    (size,) = table.sizes[dataset]
    images, labels = table.images(dataset, "published", size, seed, 0, mnist)
    if dataset == "academic":
        drawn = datasets.templates(table.classes[dataset], canvas=images.shape[-1])
        images = np.concatenate([np.stack([drawn[name], *images[labels == name]]) for name in drawn])
        labels = np.repeat(list(drawn), size + 1)
    return images, labels


def _sample_figure(images: NDArray[Any], labels: NDArray[Any]) -> Any:
    from matplotlib.figure import Figure

    from radoncdt import plot

    classes, n = list(dict.fromkeys(labels.tolist())), N_SHOWN + 1
    figure = Figure(figsize=(1.5 * n, 1.55 * len(classes)), layout="constrained")
    for name, row in zip(classes, figure.subplots(len(classes), n)):
        for image, ax in zip(images[labels == name], row):
            plot.measure(image, ax=ax).set(xticks=[], yticks=[], title="")
        row[0].set_ylabel(str(name))
    return figure


def _curves(images: NDArray[Any], labels: NDArray[Any]) -> Any:
    from matplotlib.figure import Figure

    from radoncdt import plot

    cell = Cell("table2", "published", "academic", "mnrcdt", None, "nearest", N_ANGLES, 10)
    values = features(cell, images)
    first = np.array([np.flatnonzero(labels == name)[0] for name in dict.fromkeys(labels.tolist())])
    figure = Figure(figsize=(6, 4), layout="constrained")
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


def _panel(
    ax: Any, results: Sequence[Result], x: Callable[[Cell], int], colour: str, label: str, dash: str = "-"
) -> None:
    """Ours as a line with a band."""
    results = sorted(results, key=lambda result: x(result.cell))
    places = [x(result.cell) for result in results]
    means = np.array([r.mean for r in results])
    stds = np.array([r.std_between_draws or 0.0 if r.std is None else r.std for r in results])
    ax.plot(places, means, color=colour, label=label, linestyle=dash, marker="o", markersize=3)
    ax.fill_between(places, means - stds, np.minimum(means + stds, 1), color=colour, alpha=0.12, linewidth=0)
    maxima = [r.fold_maximum for r in results if r.fold_maximum is not None]
    if maxima:
        ax.plot(places, maxima, color=colour, linestyle=":", linewidth=1)


def _crosses(ax: Any, results: Iterable[Result], x: Callable[[Cell], int], colour: str, label: str | None) -> None:
    """The paper's figures."""
    printed = sorted({(x(r.cell), r.paper.mean) for r in results if r.paper})
    if printed:
        ax.plot(*zip(*printed), linestyle="", marker="x", color=colour, markersize=7, label=label)


def _finish(ax: Any, places: Iterable[int], label: str) -> None:
    ticks = sorted(set(places))
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks], fontsize=8)
    ax.minorticks_off()
    ax.set(xlabel=label)
    ax.set_ylim(top=1.02, auto=None)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=8, loc="lower right")
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)


def _nearest(results: Sequence[Result]) -> Any:
    """Table 2: accuracy over the number of angles, a panel for each dataset and norm."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    axes = figure.subplots(2, 2)
    for row, dataset in zip(axes, DATASETS):
        for ax, norm in zip(row, NORMS):
            chosen = [r for r in results if (r.cell.dataset, r.cell.norm) == (dataset, norm)]
            for protocol, colour in COLOURS.items():
                mine = [r for r in chosen if r.cell.protocol == protocol]
                if mine:
                    _panel(ax, mine, _angles, colour, f"ours, {protocol}")
            _crosses(ax, chosen, _angles, "black", "paper")
            _finish(ax, [_angles(r.cell) for r in chosen], "angles")
            ax.set_title(f"{DATASETS[dataset]}, {NORMS[norm]}", fontsize=10)
        row[0].set_ylabel("accuracy")
    return figure


def _folds(results: Sequence[Result]) -> Any:
    """Tables 3 and 4: accuracy over the class size, a row for each protocol and a panel for each feature."""
    from matplotlib.figure import Figure

    protocols = list(dict.fromkeys(r.cell.protocol for r in results))
    figure = Figure(figsize=(11, 3.3 * len(protocols)), layout="constrained")
    axes = figure.subplots(len(protocols), len(FEATURES), sharey=True, squeeze=False)
    counts = sorted({r.cell.n_angles for r in results if r.cell.n_angles is not None})
    colours: dict[int | None, str] = {None: "C7", **{n: f"C{k}" for k, n in enumerate(counts)}}
    for row, protocol in zip(axes, protocols):
        for ax, feature in zip(row, FEATURES):
            chosen = [r for r in results if (r.cell.protocol, r.cell.feature) == (protocol, feature)]
            for n_angles in sorted({r.cell.n_angles for r in chosen}, key=lambda n: n or 0):
                mine = [r for r in chosen if r.cell.n_angles == n_angles]
                label = "pixels" if n_angles is None else f"{n_angles} angles"
                _panel(ax, mine, _size, colours[n_angles], label)
                _crosses(ax, mine, _size, colours[n_angles], "paper" if n_angles == chosen[-1].cell.n_angles else None)
            _finish(ax, [_size(r.cell) for r in chosen], "class size")
            ax.set_title(f"{FEATURES[feature]}, {protocol}", fontsize=10)
        row[0].set_ylabel("accuracy")
    return figure


def _angles(cell: Cell) -> int:
    return cell.n_angles or 0


def _size(cell: Cell) -> int:
    return cell.class_size

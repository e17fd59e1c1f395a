"""Figures of the study of robustness: examples of its images, and accuracy over the noise. Needs matplotlib."""

from typing import Any

import numpy as np

from radoncdt import datasets
from radoncdt.reproduction import robustness
from radoncdt.reproduction.names import METHODS, SETS, VARIED
from radoncdt.reproduction.run import Outcome
from radoncdt.reproduction.trials import Trial, TrialResult

CAPTIONS = {
    "robustness_images": "Images of every set, the first of each class; at the top, the templates.",
    "robustness_curves": "Accuracy of the nearest training image. Lines: mean over the repetitions. Bands: their "
    "standard deviation.",
}


def draw(outcome: Outcome, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """All figures of an outcome, by name."""
    figures = {}
    if "robustness" in outcome.choice.parts:
        figures["robustness_images"] = _images(outcome.choice.seed, mnist)
    curves = {curve: found for curve in robustness.CURVES if (found := outcome.trials_of(curve.dataset, curve.varied))}
    if curves:
        figures["robustness_curves"] = _curves(curves)
    return figures


def _images(seed: int, mnist: datasets.Mnist | None) -> Any:
    from matplotlib.figure import Figure

    rows = {"templates": np.stack(list(datasets.templates(canvas=datasets.SYMBOL_CANVAS).values()))}
    for name in SETS:
        rows[SETS[name]] = robustness.draw(Trial(name, 1, 1, "", 1, 1), seed, mnist)[0]
    most = max(len(images) for images in rows.values())
    figure = Figure(figsize=(most, 1.03 * len(rows)), layout="constrained")
    for (name, images), ax in zip(rows.items(), figure.subplots(len(rows), 1)):
        n, side, _ = images.shape
        ax.imshow(np.concatenate(list(images), axis=1), cmap="gray_r", vmin=0, vmax=1, extent=(0, n, 0, 1))
        ax.vlines(range(n + 1), 0, 1, color="0.7", linewidth=0.8)
        ax.hlines((0, 1), 0, n, color="0.7", linewidth=0.8)
        ax.set(xlim=(0, most), xticks=[], yticks=[])
        ax.set_ylabel(f"{name}\n{side} px", fontsize=8)
        ax.spines[:].set_visible(False)
    return figure


def _curves(curves: dict[robustness.Curve, list[TrialResult]]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    for (curve, results), ax in zip(curves.items(), figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]):
        for i, method in enumerate(robustness.CURVE_METHODS):
            mine = [result for result in results if result.trial.method == method]
            levels = [result.trial.level for result in mine]
            means, stds = np.array([r.mean for r in mine]), np.array([r.std or 0.0 for r in mine])
            ax.plot(levels, means, color=f"C{i}", label=METHODS[method], marker="o", markersize=3)
            low, high = np.maximum(means - stds, 0), np.minimum(means + stds, 1)
            ax.fill_between(levels, low, high, color=f"C{i}", alpha=0.12, linewidth=0)
        ax.set(xlabel=VARIED[curve.varied], ylim=(0, 1.02))
        ax.set_title(
            f"{SETS[curve.dataset]}, {curve.n_train} of {curve.class_size} images of each class to train on",
            fontsize=10,
        )
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[-1].legend(frameon=False, fontsize=8, loc="best")
    return figure

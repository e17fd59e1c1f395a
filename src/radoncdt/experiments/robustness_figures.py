"""Figures of the study of robustness: examples of its images, and accuracy over the noise. Needs matplotlib."""

from typing import Any

import numpy as np

from radoncdt import datasets
from radoncdt.experiments import robustness
from radoncdt.experiments.names import METHODS, SETS, VARIED
from radoncdt.experiments.run import Outcome
from radoncdt.experiments.trials import Trial, TrialResult

CAPTIONS = {
    "robustness_images": "Images of every set, the first of each class; of the symbols, the template above.",
    "robustness_curves": "Accuracy of the nearest of {n_train} training images of each class. Lines: mean over the "
    "repetitions. Bands: their standard deviation.",
}
N_SHOWN = 12


def draw(outcome: Outcome, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """All figures of an outcome, by name."""
    figures = {}
    if "robustness" in outcome.choice.parts:
        figures["robustness_images"] = _images(outcome.choice.seed, mnist)
    curves = {curve: found for curve in robustness.CURVES if (found := outcome.trials_of(curve.dataset, curve.varied))}
    if curves:
        figures["robustness_curves"] = _curves(curves)
    return figures


def caption(name: str) -> str:
    """What a figure shows."""
    return CAPTIONS[name].format(n_train=robustness.CURVES[0].n_train)


def _images(seed: int, mnist: datasets.Mnist | None) -> Any:
    from matplotlib.figure import Figure

    from radoncdt import plot

    rows: dict[str, list[Any]] = {"template": list(datasets.templates(canvas=datasets.SYMBOL_CANVAS).values())}
    for name in SETS:
        rows[SETS[name]] = list(robustness.draw(Trial(name, 1, 1, "", 1, 1), seed, mnist)[0])
    figure = Figure(figsize=(N_SHOWN, 1.03 * len(rows)), layout="constrained")
    for (name, images), axes in zip(rows.items(), figure.subplots(len(rows), N_SHOWN)):
        for ax in axes[len(images) :]:
            ax.set_axis_off()
        for image, ax in zip(images, axes):
            plot.measure(image, ax=ax).set(xticks=[], yticks=[], title="", xlabel="", ylabel="")
        axes[0].set_ylabel(name)
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
        ax.set_title(f"set {SETS[curve.dataset]}, otherwise as it is", fontsize=10)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("accuracy")
    figure.axes[-1].legend(frameon=False, fontsize=8, loc="best")
    return figure

"""What the study of robustness measures: a method on a set of images, and what its repetitions sum up to."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from radoncdt.reproduction.rivals import LIBRARIES


@dataclass(frozen=True)
class Trial:
    """The vote of nearest neighbours on one set. Two trials that differ in nothing here are the same measurement."""

    dataset: str
    """Of `radoncdt.datasets.FEW_SHOT`."""
    class_size: int
    """Images of a class, those to train on and those to test on."""
    n_train: int
    """Images of a class to train on."""
    method: str
    """Of `radoncdt.reproduction.names.METHODS`."""
    k: int
    """Neighbours that vote."""
    repetitions: int
    """Random choices of the images to train on."""
    varied: str | None = None
    """Of a curve: "dots" or "amplitude", which every image has so many or so much of."""
    level: float | None = None
    """Of a curve: how many, or how much."""

    @property
    def n_accuracies(self) -> int:
        return self.repetitions

    @property
    def setup(self) -> str:
        """Which set-up decides the figures."""
        source = "linmnist" if self.dataset == "linmnist10" else "academic"
        return f"{source}, {LIBRARIES[self.method]}" if self.method in LIBRARIES else source


@dataclass(frozen=True)
class TrialResult:
    """A trial measured, beside the authors' figure."""

    trial: Trial
    authors: float | None
    mean: float
    std: float | None
    """Over the repetitions; none of a single one."""

    @property
    def difference(self) -> float | None:
        """Ours minus the authors'."""
        return None if self.authors is None else self.mean - self.authors

    def record(self) -> dict[str, Any]:
        """All of it as one flat record."""
        trial = asdict(self.trial)
        curve = {key: trial.pop(key) for key in ("varied", "level")}
        return {
            **trial,
            **(curve if self.trial.varied else {}),
            "mean": self.mean,
            "std": self.std,
            "authors": self.authors,
            "difference": self.difference,
        }


def sum_up(trial: Trial, authors: float | None, accuracies: Sequence[float]) -> TrialResult:
    """Sum up the accuracies of every repetition."""
    std = float(np.std(accuracies, ddof=1)) if len(accuracies) > 1 else None
    return TrialResult(trial, authors, float(np.mean(accuracies)), std)

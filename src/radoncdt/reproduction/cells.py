"""What is measured: a cell of a table, its accuracies in every random draw, and what they sum up to."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

N_FOLDS = 10


class Measurement(NamedTuple):
    """What one draw of a cell, or a trial, gives."""

    accuracies: list[float]
    """One per fold, reference or repetition."""
    ties: float | None = None
    """Share of the test samples with a score of exactly 0; None where the classifier has no scores."""


@dataclass(frozen=True)
class Cell:
    """One figure of a table. Two cells that differ in nothing here are the same measurement."""

    table: str
    """"table2", "table3" or "table4"."""
    protocol: str
    """"published" or "independent"."""
    dataset: str
    """"academic" or "linmnist"."""
    feature: str
    """"euclidean", "rcdt" or "mnrcdt"."""
    norm: str | None
    """Of a nearest neighbour: "inf" or "2"."""
    classifier: str
    """"nearest" or "svm"."""
    n_angles: int | None
    class_size: int
    variant: str | None = None
    """What is done otherwise than the protocol says; see `radoncdt.reproduction.variants`."""

    @property
    def n_accuracies(self) -> int:
        """How many a draw gives: one for each fold, or for each image that is a reference, or one in all."""
        if self.classifier == "svm":
            return N_FOLDS
        return 1 if self.dataset == "academic" else self.class_size

    @property
    def setup(self) -> str:
        """Which set-up decides the figures."""
        return self.dataset

    @property
    def published(self) -> "Cell":
        """The cell that the paper prints."""
        return replace(self, protocol="published", variant=None)


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it."""

    mean: float
    std: float | None
    digits: int
    """Behind the point."""


@dataclass(frozen=True)
class Result:
    """A cell measured, beside the paper."""

    cell: Cell
    paper: Printed | None
    draws: int
    mean: float
    """Over the draws, of the mean over the folds or references of a draw."""
    std: float | None
    """Over the folds or references of a draw, averaged over the draws; none where a draw gives a single figure."""
    std_between_draws: float | None
    """Of the means of the draws; none of a single draw."""
    fold_maximum: float | None
    """Over the draws, of the largest of the folds: what the paper's Table 4 prints for the R-CDT."""
    fold_maximum_between_draws: float | None
    ties: float | None
    """Share of the scores that are exactly 0, over all folds and draws; None where the classifier has no scores."""

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else self.mean - self.paper.mean

    @property
    def standard_errors(self) -> float | None:
        """The difference over its standard error; see `_in_standard_errors`."""
        return self._in_standard_errors(self.difference, self.std_between_draws)

    @property
    def fold_maximum_difference(self) -> float | None:
        if self.paper is None or self.fold_maximum is None:
            return None
        return self.fold_maximum - self.paper.mean

    @property
    def fold_maximum_standard_errors(self) -> float | None:
        return self._in_standard_errors(self.fold_maximum_difference, self.fold_maximum_between_draws)

    def _in_standard_errors(self, difference: float | None, between: float | None) -> float | None:
        """The paper prints one draw, rounded; ours is the mean of several, so that if both did the same, the variance
        of the difference would be that between draws times 1 + 1/draws, plus that of rounding."""
        if self.paper is None or difference is None or between is None:
            return None
        rounding = 10.0 ** (-2 * self.paper.digits) / 12
        return difference / float(np.sqrt(between**2 * (1 + 1 / self.draws) + rounding))

    def record(self) -> dict[str, Any]:
        """All of it as one flat record."""
        cell = asdict(self.cell)
        variant = cell.pop("variant")
        return {
            **cell,
            **({"variant": variant} if variant else {}),
            "paper_mean": self.paper and self.paper.mean,
            "paper_std": self.paper and self.paper.std,
            "mean": self.mean,
            "std": self.std,
            "std_between_draws": self.std_between_draws,
            "draws": self.draws,
            "difference": self.difference,
            "standard_errors": self.standard_errors,
            "fold_maximum": self.fold_maximum,
            "fold_maximum_difference": self.fold_maximum_difference,
            "fold_maximum_standard_errors": self.fold_maximum_standard_errors,
            "ties": self.ties,
        }


def summarise(cell: Cell, paper: Printed | None, draws: Mapping[int, Measurement]) -> Result:
    """Sum up the measurements of every draw."""
    runs = [np.array(draws[draw].accuracies) for draw in sorted(draws)]
    ties = [draw.ties for draw in draws.values() if draw.ties is not None]
    maxima = _maxima(cell, runs)
    return Result(
        cell,
        paper,
        draws=len(runs),
        mean=_mean([run.mean() for run in runs]),
        std=_mean([run.std(ddof=1) for run in runs]) if runs[0].size > 1 else None,
        std_between_draws=_std([run.mean() for run in runs]),
        fold_maximum=_mean(maxima) if maxima else None,
        fold_maximum_between_draws=_std(maxima) if maxima else None,
        ties=_mean(ties) if ties else None,
    )


def _maxima(cell: Cell, runs: Sequence[Any]) -> list[float]:
    if (cell.table, cell.feature) != ("table4", "rcdt"):
        return []
    return [float(run.max()) for run in runs]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def _std(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None

"""What is measured, the measurements of it, and their summary beside the published figure."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

__all__ = ["NOTABLE", "Measurand", "Measurement", "Printed", "Summary", "group_by", "summarise"]

NOTABLE = 2.0  # standard errors: differences from the paper of at least this size are flagged

_Item = TypeVar("_Item")


class Measurement(NamedTuple):
    """The accuracies of one random draw.

    Parameters
    ----------
    accuracies : list of float
        The accuracies, one per fold, reference or repetition.
    ties : float, optional
        Share of the test samples whose score is exactly 0; None for classifiers without scores.

    See Also
    --------
    Summary : The measurements of all random draws.

    Examples
    --------
    >>> reproduction.Measurement([0.8, 0.9]).accuracies
    [0.8, 0.9]
    """

    accuracies: list[float]
    ties: float | None = None


@dataclass(frozen=True)
class Printed:
    """A figure as its authors print it.

    Parameters
    ----------
    mean : float
        The mean accuracy.
    std : float or None
        The standard deviation, None if none is printed.
    digits : int
        Number of decimal places.

    See Also
    --------
    Summary : Our measurements beside a printed figure.

    Examples
    --------
    >>> reproduction.Printed(0.872, 0.114, 3).mean
    0.872
    """

    mean: float
    std: float | None
    digits: int


@dataclass(frozen=True)
class Measurand(ABC):
    """What is measured: a cell of a table, a trial of the robustness study, or a recognition of the few-shot study.

    Equal measurands in equal random draws have equal measurements.
    """

    COLUMNS: ClassVar[Mapping[str, str] | None] = None
    """The names of the figures in a record, and the attributes of `Summary` that contain them; None for all figures."""
    OPTIONAL: ClassVar[tuple[str, ...]]  # fields that a record omits where they are None

    @property
    def has_ties(self) -> bool:
        """Whether a measurement includes a share of ties."""
        return False

    @property
    def has_fold_maximum(self) -> bool:
        """Whether the authors print the largest of the folds instead of their mean."""
        return False

    @property
    def is_as_published(self) -> bool:
        """Whether the protocol is the published one, so that a difference from the paper is worth a flag."""
        return False

    @property
    @abstractmethod
    def n_accuracies(self) -> int:
        """Number of accuracies in one random draw."""

    @property
    @abstractmethod
    def requirements(self) -> frozenset[str]:
        """What the figures depend on besides the code, the seed and the libraries that all measurements need."""

    def record(self) -> dict[str, Any]:
        """Return the fields, without optional ones that are None.

        Returns
        -------
        dict
            The values by name.

        Examples
        --------
        >>> cell = reproduction.Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 32, 10)
        >>> list(cell.record())
        ['table', 'protocol', 'dataset', 'feature', 'norm', 'classifier', 'n_angles', 'class_size']
        """
        return {name: v for name, v in asdict(self).items() if v is not None or name not in self.OPTIONAL}


_M = TypeVar("_M", bound=Measurand)
_M_co = TypeVar("_M_co", bound=Measurand, covariant=True)


@dataclass(frozen=True)
class Summary(Generic[_M_co]):
    """The measurements of all random draws, beside the published figure.

    Parameters
    ----------
    measurand : Cell or Trial
        What was measured.
    paper : Printed or None
        The published figure, if there is one.
    mean : float
        Mean over the draws of the mean accuracy in each draw.
    std : float or None
        Standard deviation within a draw, averaged over the draws; None if a draw has a single accuracy.
    std_between_draws : float or None
        Standard deviation of the means of the draws; None for a single draw.
    draws : int
        Number of random draws.
    difference : float or None
        Our mean minus the paper's figure.
    standard_errors : float or None
        The difference divided by its standard error. The paper prints one draw, rounded to d decimal places. If both
        measure the same, the variance of the difference is s²(1 + 1/draws) + 10^(−2d)/12, where s is
        `std_between_draws`.
    fold_maximum : float or None
        Mean over the draws of the largest accuracy, where the authors print that one.
    fold_maximum_difference : float or None
        Our largest accuracy minus the paper's figure.
    fold_maximum_standard_errors : float or None
        The difference of the largest accuracy divided by its standard error.
    ties : float or None
        Mean share of ties; None for classifiers without scores.

    See Also
    --------
    Measurement : The accuracies of one draw.
    Printed : The published figure.

    Examples
    --------
    A summary of made-up measurements:

    >>> cell = reproduction.Cell("table3", "published", "academic", "mnrcdt", None, "svm", 2, 10)
    >>> paper = reproduction.Printed(0.872, 0.114, 3)
    >>> summary = reproduction.Summary(cell, paper, 0.85, 0.11, 0.04, 4, -0.022, -0.49, None, None, None, 0.0)
    >>> summary.paper_mean, summary.standard_error, summary.ours, summary.flag
    (0.872, 0.02, 0.85, 0)
    """

    measurand: _M_co
    paper: Printed | None
    mean: float
    std: float | None
    std_between_draws: float | None
    draws: int
    difference: float | None
    standard_errors: float | None
    fold_maximum: float | None
    fold_maximum_difference: float | None
    fold_maximum_standard_errors: float | None
    ties: float | None

    @property
    def paper_mean(self) -> float | None:
        """The mean that the paper prints, None if there is none."""
        return self.paper.mean if self.paper else None

    @property
    def standard_error(self) -> float | None:
        """The standard error of the mean over the draws, None for a single draw."""
        return None if self.std_between_draws is None else self.std_between_draws / float(np.sqrt(self.draws))

    @property
    def ours(self) -> float:
        """The figure to compare with the paper's: the mean, or the largest accuracy if the authors print that one."""
        return self.mean if self.fold_maximum is None else self.fold_maximum

    @property
    def flag(self) -> int:
        """−1 or 1 if our figure is notably smaller or larger than the paper's; 0 otherwise, and for other protocols.

        A difference of at least two standard errors is notable.
        """
        errors = self.standard_errors if self.fold_maximum is None else self.fold_maximum_standard_errors
        if errors is None or not self.measurand.is_as_published or round(abs(errors), 1) < NOTABLE:
            return 0
        return 1 if errors > 0 else -1

    def record(self) -> dict[str, Any]:
        """Return the summary as one flat record.

        Returns
        -------
        dict
            The fields of the measurand, the paper's mean and standard deviation, and our figures, by name.

        Examples
        --------
        >>> cell = reproduction.Cell("table3", "published", "academic", "mnrcdt", None, "svm", 2, 10)
        >>> paper = reproduction.Printed(0.872, 0.114, 3)
        >>> summary = reproduction.Summary(cell, paper, 0.85, 0.11, 0.04, 4, -0.022, -0.49, None, None, None, 0.0)
        >>> record = summary.record()
        >>> record["feature"], record["paper_std"], record["mean"]
        ('mnrcdt', 0.114, 0.85)
        """
        figures = {"paper_mean": self.paper_mean, "paper_std": self.paper.std if self.paper else None}
        figures |= {field.name: getattr(self, field.name) for field in fields(self)[2:]}
        if columns := self.measurand.COLUMNS:
            figures = {column: figures[name] for column, name in columns.items()}
        return {**self.measurand.record(), **figures}


def summarise(measurand: _M, paper: Printed | None, draws: Mapping[int, Measurement]) -> Summary[_M]:
    """Summarise the measurements of all random draws."""
    runs = [np.array(draws[draw].accuracies) for draw in sorted(draws)]
    means = [run.mean() for run in runs]
    maxima = [run.max() for run in runs] if measurand.has_fold_maximum else []
    return Summary(
        measurand,
        paper,
        float(np.mean(means)),
        _mean([run.std(ddof=1) for run in runs if run.size > 1]),
        _std(means),
        len(runs),
        *_compare(means, paper),
        _mean(maxima),
        *_compare(maxima, paper),
        _mean([draw.ties for draw in draws.values() if draw.ties is not None]),
    )


def _compare(ours: Sequence[float], paper: Printed | None) -> tuple[float | None, float | None]:
    """Return the difference of our mean over the draws from the paper's figure, and its size in standard errors.

    The paper prints one draw, rounded. If both measure the same, the variance of the difference is the variance between
    draws times 1 + 1/draws, plus the variance of rounding.
    """
    if paper is None or not ours:
        return None, None
    difference = float(np.mean(ours)) - paper.mean
    between = _std(ours)
    if between is None:
        return difference, None
    return difference, difference / float(np.sqrt(between**2 * (1 + 1 / len(ours)) + 10.0 ** (-2 * paper.digits) / 12))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _std(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def group_by(items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> list[list[_Item]]:
    """Group items with the same key, in the order in which the keys appear.

    >>> from radoncdt.reproduction.measurement import group_by
    >>> group_by([1, 2, 3, 5], lambda number: number % 2)
    [[1, 3, 5], [2]]
    """
    groups: dict[Hashable, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())

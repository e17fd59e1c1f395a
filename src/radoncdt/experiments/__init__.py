"""The experiments of the paper and of its follow-up, beside their figures: ``radoncdt reproduce``."""

from radoncdt.experiments.cells import Cell, Printed, Result
from radoncdt.experiments.protocol import PROTOCOLS
from radoncdt.experiments.reproduce import ALL, Interrupted, execute, prepare, reproduce
from radoncdt.experiments.run import MORE_PARTS, PARTS, Choice, Outcome, Run
from radoncdt.experiments.trials import Trial, TrialResult

__all__ = [
    "ALL",
    "MORE_PARTS",
    "PARTS",
    "PROTOCOLS",
    "Cell",
    "Choice",
    "Interrupted",
    "Outcome",
    "Printed",
    "Result",
    "Run",
    "Trial",
    "TrialResult",
    "execute",
    "prepare",
    "reproduce",
]

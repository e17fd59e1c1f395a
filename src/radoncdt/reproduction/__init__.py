"""The experiments of the paper and of its follow-up, beside their figures: ``radoncdt reproduce``."""

from radoncdt.reproduction.cells import Cell, Printed, Result
from radoncdt.reproduction.protocol import PROTOCOLS
from radoncdt.reproduction.reproduce import ALL, Interrupted, execute, prepare, reproduce
from radoncdt.reproduction.run import MORE_PARTS, PARTS, Choice, Outcome, Run
from radoncdt.reproduction.trials import Trial, TrialResult

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

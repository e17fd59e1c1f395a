"""The experiments of the paper, beside its figures: ``radoncdt reproduce``."""

from radoncdt.experiments.cells import Cell, Printed, Result
from radoncdt.experiments.protocol import PROTOCOLS
from radoncdt.experiments.reproduce import ALL, Interrupted, execute, prepare, reproduce
from radoncdt.experiments.run import PARTS, Choice, Outcome, Run

__all__ = [
    "ALL",
    "PARTS",
    "PROTOCOLS",
    "Cell",
    "Choice",
    "Interrupted",
    "Outcome",
    "Printed",
    "Result",
    "Run",
    "execute",
    "prepare",
    "reproduce",
]

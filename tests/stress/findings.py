"""Counts of a part of the stress tests, and the broken requirements that it found."""

import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import radoncdt

PACKAGE = Path(radoncdt.__file__).parent
INTERVAL = 10.0  # seconds between two lines of progress
DETAIL = 400  # characters of an example that are kept


@dataclass
class Findings:
    """Counts of what was done, and of broken requirements, with one example of each."""

    counts: Counter = field(default_factory=Counter)
    broken: Counter = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def count(self, what: str, n: int = 1) -> None:
        self.counts[what] += n

    def fail(self, reason: str, example: str = "") -> None:
        self.broken[reason] += 1
        self.examples.setdefault(reason, example.strip()[-DETAIL:])

    def require(self, holds: bool, reason: str, example: str = "") -> bool:
        if not holds:
            self.fail(reason, example)
        return holds

    def merge(self, other: "Findings") -> None:
        self.counts += other.counts
        self.broken += other.broken
        self.examples = other.examples | self.examples
        self.remarks += other.remarks


def describe_error(error: BaseException) -> str:
    """Name the type of an exception, and the innermost function of the package that it passed through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(PACKAGE)]
    place = f"{Path(frames[-1].filename).relative_to(PACKAGE)}, {frames[-1].name}" if frames else "outside the package"
    return f"{type(error).__name__} in {place}"


class Progress:
    """Progress as lines on the terminal, one at the start and one every ten seconds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.begun = self.printed = time.monotonic()

    def say(self, text: str) -> None:
        now = time.monotonic()
        if now - self.printed >= INTERVAL:
            self.printed = now
            print(f"  {self.name}: {text}, {now - self.begun:.0f} s", flush=True)

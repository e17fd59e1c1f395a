"""Measurements on disk, so that a second run goes on where the first one stopped.

`runs.jsonl` has a line for each set-up, for each cell of each draw, and for each trial. Lines are only ever added, and
lines of other set-ups are left alone, so neither an interrupted run nor another seed loses what was measured.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from radoncdt._validation import ArgumentValueError
from radoncdt.reproduction.cells import Cell, Measurement
from radoncdt.reproduction.trials import Trial

NAME = "runs.jsonl"

KINDS: dict[str, type[Cell] | type[Trial]] = {"cell": Cell, "trial": Trial}
"""What a line can hold a measurement of. A trial has one draw only, the first."""


class Store:
    """Measurements by cell or trial, and draw, of one set-up of each name."""

    def __init__(self, folder: Path, setups: Mapping[str, Mapping[str, Any]]) -> None:
        self.path = folder / NAME
        self.keys = {name: _key(setup) for name, setup in setups.items()}
        self._lock = threading.Lock()
        self._runs: dict[tuple[Cell | Trial, int], Measurement] = {}
        self._seconds: dict[tuple[Cell | Trial, int], float] = {}
        known, cut_off = self._read()
        if cut_off:  # the last line, by an interruption
            self._append("\n")
        for setup in setups.values():
            if _key(setup) not in known:
                self._append(json.dumps({"setup": _key(setup), "is": dict(setup)}) + "\n")
                known.add(_key(setup))

    def _read(self) -> tuple[set[str], bool]:
        """Load what is there; tell which set-ups are known, and whether the last line is without an end.

        A line that cannot be what was written is left alone: what it stood for is measured again.
        """
        text = self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
        known: set[str] = set()
        for line in text.splitlines():
            try:
                record = json.loads(line)
                known.add(record["setup"])
                for kind in KINDS.keys() & record.keys():
                    cell, draw = KINDS[kind](**record[kind]), int(record["draw"])
                    found = _measurement(cell, record)
                    if found and record["setup"] == self.keys[cell.setup]:
                        self._runs[cell, draw], self._seconds[cell, draw] = found, float(record["seconds"])
            except (ValueError, TypeError, KeyError):
                continue
        if text.strip() and not known and not '{"setup": '.startswith(text[:10]):
            raise ArgumentValueError(
                "out",
                f"must not hold a file {NAME} of something else, and {self.path} is one: "
                "move it away, or choose another folder",
            )
        return known, bool(text) and not text.endswith("\n")

    def _append(self, text: str) -> None:
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(text)

    def __contains__(self, place: tuple[Cell | Trial, int]) -> bool:
        return place in self._runs

    def add(self, cell: Cell | Trial, draw: int, measurement: Measurement, seconds: float) -> None:
        """Keep the measurement of a cell in a draw, or of a trial, and how long it took."""
        (kind,) = (name for name, type_ in KINDS.items() if isinstance(cell, type_))
        record = {kind: asdict(cell), "draw": draw, **measurement._asdict(), "seconds": round(seconds, 4)}
        self._append(json.dumps({"setup": self.keys[cell.setup], **record}) + "\n")
        self._runs[cell, draw], self._seconds[cell, draw] = measurement, seconds

    def draws_of(self, cell: Cell | Trial, n: int) -> dict[int, Measurement]:
        """Measurements of a cell in those of the first n draws that are done."""
        return {draw: self._runs[cell, draw] for draw in range(n) if (cell, draw) in self._runs}

    def seconds_of(self, cell: Cell | Trial, n: int) -> float:
        """How long the first n draws of a cell took."""
        return sum(self._seconds.get((cell, draw), 0.0) for draw in range(n))


def _measurement(cell: Cell | Trial, record: Mapping[str, Any]) -> Measurement | None:
    """The measurement in a line; None if it cannot be one of the cell or trial.

    A support vector machine has a share of ties. Lines without it were written when ties counted as errors.
    """
    accuracies = [float(value) for value in record["accuracies"]]
    shares = list(accuracies)
    ties = None
    if isinstance(cell, Cell) and cell.classifier == "svm":
        ties = float(record["ties"])
        shares.append(ties)
    valid = len(accuracies) == cell.n_accuracies and all(0 <= share <= 1 for share in shares)
    return Measurement(accuracies, ties) if valid else None


def _key(setup: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()[:16]

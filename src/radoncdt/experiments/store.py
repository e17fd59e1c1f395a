"""Accuracies on disk, so that a second run goes on where the first one stopped.

`runs.jsonl` has a line for each set-up and for each cell of each draw. Lines are only ever added, and lines of other
set-ups are left alone, so neither an interrupted run nor another seed loses what was measured.
"""

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from radoncdt.experiments.cells import Cell

NAME = "runs.jsonl"


class Store:
    """Accuracies by cell and draw, of one set-up."""

    def __init__(self, folder: Path, setup: Mapping[str, Any]) -> None:
        self.path = folder / NAME
        self.key = hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()[:16]
        self._lock = threading.Lock()
        self._runs: dict[tuple[Cell, int], list[float]] = {}
        self._seconds: dict[tuple[Cell, int], float] = {}
        setups, cut_off = self._read()
        if self.key not in setups:
            self._append({"setup": self.key, "is": dict(setup)}, after_cut=cut_off)
        elif cut_off:
            self._append({}, after_cut=True)

    def _read(self) -> tuple[dict[str, Any], bool]:
        """Load what is there; tell the set-ups, and whether the last line was cut off by an interruption."""
        setups: dict[str, Any] = {}
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        lines = text.splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                if record.get("setup") == self.key and "cell" in record:
                    place = Cell(**record["cell"]), int(record["draw"])
                    self._runs[place] = [float(value) for value in record["accuracies"]]
                    self._seconds[place] = float(record["seconds"])
                elif "is" in record:
                    setups[record["setup"]] = record["is"]
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                if line.endswith("\n") and not _is_cut(line):
                    raise ValueError(f"{self.path}, line {number}: not written by radoncdt: {error}") from error
        return setups, bool(text) and not text.endswith("\n")

    def _append(self, record: Mapping[str, Any], after_cut: bool = False) -> None:
        line = json.dumps(record) + "\n" if record else ""
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(("\n" if after_cut else "") + line)

    def __contains__(self, place: tuple[Cell, int]) -> bool:
        return place in self._runs

    def add(self, cell: Cell, draw: int, accuracies: Sequence[float], seconds: float) -> None:
        """Keep the accuracies of a cell in a draw, and how long they took."""
        record = {"cell": asdict(cell), "draw": draw, "accuracies": list(accuracies), "seconds": round(seconds, 4)}
        self._append({"setup": self.key, **record})
        self._runs[cell, draw], self._seconds[cell, draw] = list(accuracies), seconds

    def draws_of(self, cell: Cell, n: int) -> dict[int, list[float]]:
        """Accuracies of a cell in those of the first n draws that are done."""
        return {draw: self._runs[cell, draw] for draw in range(n) if (cell, draw) in self._runs}

    def seconds_of(self, cell: Cell, n: int) -> float:
        """How long the first n draws of a cell took."""
        return sum(self._seconds.get((cell, draw), 0.0) for draw in range(n))


def _is_cut(line: str) -> bool:
    """Whether a line is the beginning of a record, left by an interruption and ended by the run after it."""
    return line.startswith("{") and not line.rstrip().endswith("}")

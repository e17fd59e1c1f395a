"""Ten processes that use one catalogue at the same time.

Every writer adds and updates its own images, and removes entries of any writer. The entries that must exist at the end
follow from the commands that were acknowledged, and from their times.
"""

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radoncdt.catalogue import Catalogue
from stress import commands, images
from stress.findings import INTERVAL, Findings, Progress

WRITERS = 10
OWN_IMAGES = 6  # images per writer
BASE_IMAGES = 34  # images that no writer removes; enough to calibrate
PATIENCE = 240.0  # seconds that writers may exceed their time, including the start of the processes
MIX = {
    "add": 26,
    "remove": 14,
    "update": 14,
    "search": 12,
    "report": 8,
    "export": 14,
    "list": 4,
    "show": 3,
    "check": 3,
    "calibrate": 2,
}
"""Frequencies of the commands, in percent."""


@dataclass(frozen=True)
class Event:
    """A command that a writer ran. Times are those of a clock that all processes share."""

    writer: int
    kind: str
    start: float
    end: float
    outcome: commands.Outcome
    files: tuple[str, ...] = ()  # files to be added, updated or removed
    numbers: tuple[int, ...] = ()  # entries to be removed
    token: str = ""
    written: Path | None = None

    @property
    def acknowledged(self) -> bool:
        return self.outcome.status == 0


class Writer:
    """A process that draws commands and runs them."""

    def __init__(self, folder: Path, number: int, seed: int) -> None:
        self.folder, self.number = folder, number
        self.db = folder / "marks.db"
        self.own = sorted((folder / "marks").glob(f"w{number}_*.png"))
        self.base = sorted((folder / "marks").glob("base*.png"))
        self.random = np.random.default_rng([seed, number])
        self.events: list[Event] = []

    def step(self) -> None:
        kind = str(self.random.choice(list(MIX), p=np.array(list(MIX.values())) / sum(MIX.values())))
        getattr(self, kind)()

    def _run(self, kind: str, arguments: list[str], **details) -> Event:
        start = time.monotonic()
        outcome = commands.call(arguments)
        self.events.append(Event(self.number, kind, start, time.monotonic(), outcome, **details))
        return self.events[-1]

    def _path(self, ending: str) -> Path:
        return self.folder / "out" / f"{self.number}_{len(self.events)}{ending}"

    def _own(self) -> list[Path]:
        return list(self.random.choice(self.own, self.random.integers(1, 4), replace=False))

    def _table(self, files: list[Path]) -> tuple[Path, str]:
        token = f"{self.number}_{len(self.events)}"
        columns = {images.TOKEN: token}
        if self.random.uniform() < 0.3:  # a column that no other writer has
            columns[f"extra_{self.number}_{self.random.integers(4)}"] = token
        return images.save_table(self._path(".csv"), files, **columns), token

    def add(self) -> None:
        files = self._own()
        table, token = self._table(files)
        arguments = commands.add(self.db, *files, metadata=table)
        self._run("add", arguments, files=_names(files), token=token)

    def update(self) -> None:
        files = self._own()
        table, token = self._table(files)
        self._run("update", commands.update(self.db, table), files=_names(files), token=token)

    def list(self) -> dict[int, str]:
        return commands.read_files(self._run("list", commands.list_entries(self.db)).outcome.out)

    def remove(self) -> None:
        there = {number: file for number, file in self.list().items() if "base" not in file}
        if not there:
            return
        mine = {number: file for number, file in there.items() if f"w{self.number}_" in file}
        pool = mine if mine and self.random.uniform() < 0.5 else there
        numbers = self.random.choice(list(pool), min(len(pool), self.random.integers(1, 3)), replace=False).tolist()
        files = tuple(there[number] for number in numbers)
        self._run("remove", commands.remove(self.db, *numbers), files=files, numbers=tuple(numbers))

    def show(self) -> None:
        numbers = list(self.list())
        if numbers:
            self._run("show", commands.show(self.db, int(self.random.choice(numbers))))

    def search(self) -> None:
        image = self.random.choice([*self.own, *self.base])
        self._run("search", commands.search(self.db, image))

    def report(self) -> None:
        page = self._path(".html")
        arguments = commands.search(self.db, self.random.choice(self.own), report=page)
        self._run("report", arguments, written=page)

    def export(self) -> None:
        out = self._path(str(self.random.choice([".npz", ".npz", ".csv", ".json"])))
        self._run("export", commands.export(self.db, out), written=out)

    def check(self) -> None:
        self._run("check", commands.check(self.db))

    def calibrate(self) -> None:
        self._run("calibrate", commands.calibrate(self.db))


def _names(files: list[Path]) -> tuple[str, ...]:
    return tuple(f"marks/{file.name}" for file in files)


def make(folder: Path, seed: int) -> images.Descriptors:
    """Make a folder with images and a catalogue of some of them; return the descriptors of all."""
    own = [f"w{writer}_{k}" for writer in range(WRITERS) for k in range(OWN_IMAGES)]
    files = images.save_marks(folder / "marks", [*(f"base{k:02}" for k in range(BASE_IMAGES)), *own], seed)
    (folder / "out").mkdir()
    commands.must(commands.add(folder / "all.db", folder / "marks"))
    commands.must(commands.export(folder / "all.db", folder / "all.npz"))
    commands.must(commands.add(folder / "marks.db", *files[:BASE_IMAGES]))
    commands.must(commands.calibrate(folder / "marks.db"))
    return images.load_descriptors(folder / "all.npz")


def run(folder: Path, seconds: float, seed: int) -> Findings:
    """Run all writers at once, then check the catalogue that they leave."""
    progress, findings = Progress("a"), Findings()
    reference = make(folder, seed)
    context = multiprocessing.get_context("spawn")
    events: list[Event] = []
    with ProcessPoolExecutor(WRITERS, context, _together, [context.Barrier(WRITERS)]) as pool:
        futures = [pool.submit(_write, folder, number, seed, seconds) for number in range(WRITERS)]
        remaining = set(futures)
        while remaining and time.monotonic() - progress.begun < seconds + PATIENCE:
            remaining = wait(remaining, INTERVAL).not_done
            progress.say(f"{len(remaining)} writers at work")
        for future in remaining:
            findings.fail("a writer did not end")
            future.cancel()
        for process in pool._processes.values() if remaining else ():
            process.kill()
        for future in set(futures) - remaining:
            events += future.result()
    judge(folder, events, reference, findings)
    return findings


def _together(barrier) -> None:
    global _barrier
    _barrier = barrier


def _write(folder: Path, number: int, seed: int, seconds: float) -> list[Event]:
    """Run one writer."""
    writer = Writer(folder, number, seed)
    commands.call(commands.search(writer.db, writer.own[0]))  # loads everything before the start
    _barrier.wait()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        writer.step()
    return writer.events


def judge(folder: Path, events: list[Event], reference: images.Descriptors, findings: Findings) -> None:
    """Compare what commands have acknowledged with the content of the catalogue."""
    for event in events:
        _judge_one(event, reference, findings)
    commands.passes(folder / "marks.db", findings, "at the end")
    with Catalogue(folder / "marks.db") as catalogue:
        entries = catalogue.entries()
    by_file = {entry["file"]: entry for entry in entries}
    findings.count("entries at the end", len(entries))
    findings.require(len(by_file) == len(entries), "a file has two entries")
    base = [file for file in reference if "base" in file]
    findings.require(all(file in by_file for file in base), "an entry that nobody removed is lost")
    removed = {number for event in events if event.kind == "remove" and event.acknowledged for number in event.numbers}
    findings.count("acknowledged removals", len(removed))
    back = removed.intersection(entry["entry"] for entry in entries)
    findings.require(not back, "a removed entry is there again", str(back))
    for file in sorted({file for event in events for file in event.files}):
        _judge_file(file, [event for event in events if file in event.files], by_file.get(file), findings)


def _judge_one(event: Event, reference: images.Descriptors, findings: Findings) -> None:
    outcome = event.outcome
    findings.count("commands")
    findings.count(f"{event.kind}")
    findings.count("waited too long", outcome.busy)
    unused = event.kind == "update" and outcome.status == 1  # some rows belong to images that are not in the catalogue
    gone = event.kind in ("remove", "show") and outcome.status == 2  # another writer removed the entry
    findings.count("entries that were gone", gone and not outcome.busy)
    if outcome.problem:
        findings.fail(f"{event.kind}: {outcome.problem}", outcome.err)
    elif outcome.status != 0 and not (unused or gone or outcome.busy):
        findings.fail(f"{event.kind} is refused", outcome.text)
    if event.written is not None and event.acknowledged:
        findings.count("written files")
        if event.kind == "export":
            fault = images.find_fault(event.written, reference)
            findings.require(not fault, f"exported {event.written.suffix} is inconsistent", fault)
        else:
            findings.require(
                event.written.read_text(encoding="utf-8").startswith("<!doctype html>"), "a report is not a page"
            )


def _judge_file(file: str, events: list[Event], entry: dict | None, findings: Findings) -> None:
    """Check that the entry of one file, or None if there is none, is what was acknowledged."""
    added = [event for event in events if event.kind == "add" and event.acknowledged]
    findings.count("acknowledged adds", len(added))
    findings.count("acknowledged updates", sum(event.kind == "update" and event.acknowledged for event in events))
    if not added:
        return
    last = max(added, key=lambda event: event.end)
    removals = [event for event in events if event.kind == "remove" and event.end >= last.start]
    if not removals and not findings.require(entry is not None, "an acknowledged entry is lost", file):
        return
    writes = [event for event in events if event.kind in ("add", "update")]
    final = max(writes, key=lambda event: event.end)
    if entry is not None and final.acknowledged and final.start >= last.start and not removals:
        found = entry.get(images.TOKEN)
        findings.require(found == final.token, "acknowledged metadata are lost", f"{file}: {found} for {final.token}")

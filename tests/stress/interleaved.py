"""Two concurrent commands, deterministically: the second runs completely before a chosen statement of the first."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from radoncdt.catalogue import Catalogue
from stress import commands, images
from stress.findings import Findings

N_ENTRIES = 31  # enough to calibrate after one is removed
REMOVED = 5  # the entry that the second command removes, and some of the first commands use

FIRST = ("add", "remove", "update", "search", "report", "export", "table", "show", "check", "calibrate")
SECOND = ("remove", "add")


@contextmanager
def before_statement(number: int, action: Callable[[], object]) -> Iterator[list[str]]:
    """Call `action` once, before a statement of SQLite, counted from 0; yield the statements so far.

    Connections that the action opens do not wait for others, because they would wait for this one.
    """
    connect, statements, acting = sqlite3.connect, list[str](), False

    def traced(statement: str) -> None:
        nonlocal acting
        if acting:
            return
        statements.append(statement)
        if len(statements) == number + 1:
            acting = True
            action()
            acting = False

    def connect_traced(*arguments, **options):
        if acting:
            return connect(*arguments, **(options | {"timeout": 0}))
        db = connect(*arguments, **options)
        db.set_trace_callback(traced)
        return db

    sqlite3.connect = connect_traced
    try:
        yield statements
    finally:
        sqlite3.connect = connect


@dataclass
class Bench:
    """A folder with a catalogue that is copied for every pair of commands."""

    folder: Path
    reference: images.Descriptors

    @property
    def db(self) -> Path:
        return self.folder / "marks.db"

    def arguments(self, name: str) -> list[str]:
        db, folder = self.db, self.folder
        return {
            "add": lambda: commands.add(db, folder / "more" / "first.png", metadata=folder / "first.csv"),
            "remove": lambda: commands.remove(db, REMOVED, REMOVED + 1),
            "update": lambda: commands.update(db, folder / "first.csv"),
            "search": lambda: commands.search(db, folder / "query.png"),
            "report": lambda: commands.search(db, folder / "query.png", report=folder / "out.html"),
            "export": lambda: commands.export(db, folder / "out.npz"),
            "table": lambda: commands.export(db, folder / "out.csv"),
            "show": lambda: commands.show(db, REMOVED),
            "check": lambda: commands.check(db),
            "calibrate": lambda: commands.calibrate(db),
        }[name]()

    def second(self, name: str) -> list[str]:
        if name == "add":
            return commands.add(self.db, self.folder / "more" / "second.png")
        return commands.remove(self.db, REMOVED)

    def restore(self) -> None:
        for old in self.folder.glob("marks.db*"):
            old.unlink()
        shutil.copyfile(self.folder / "whole.db", self.db)


def make(folder: Path, seed: int) -> Bench:
    names = [f"{k:03}" for k in range(N_ENTRIES)]
    files = images.save_marks(folder / "marks", [*names, "first", "second"], seed)
    (folder / "more").mkdir()
    files[N_ENTRIES:] = [file.rename(folder / "more" / file.name) for file in files[N_ENTRIES:]]
    shutil.copyfile(files[REMOVED - 1], folder / "query.png")  # so that a search finds the entry that is removed
    images.save_table(folder / "first.csv", [files[REMOVED - 1], files[N_ENTRIES]], token="first", extra="new")
    commands.must(commands.add(folder / "all.db", folder / "marks", folder / "more"))
    commands.must(commands.export(folder / "all.db", folder / "all.npz"))
    commands.must(commands.add(folder / "whole.db", folder / "marks"))
    commands.must(commands.calibrate(folder / "whole.db"))
    return Bench(folder, images.load_descriptors(folder / "all.npz"))


def run(bench: Bench, *, most: int, slow: int) -> Findings:
    """Run all pairs of commands, the second before some of the statements of the first, evenly spaced.

    `most` is the largest number of statements, and `slow` that for calibrate, which takes a second or two.
    """
    findings = Findings()
    for first in FIRST:
        bench.restore()
        with before_statement(-1, lambda: None) as statements:
            commands.call(bench.arguments(first))
        places = min(len(statements), slow if first == "calibrate" else most)
        for second in SECOND:
            for place in np.unique(np.linspace(0, len(statements) - 1, places).astype(int)).tolist():
                bench.restore()
                _pair(bench, first, second, place, findings)
    return findings


def _pair(bench: Bench, first: str, second: str, place: int, findings: Findings) -> None:
    intruder: list[commands.Outcome] = []
    with before_statement(place, lambda: intruder.append(commands.call(bench.second(second)))):
        outcome = commands.call(bench.arguments(first))
    pair = f"{first}, with {second} before statement {place}"
    findings.count("pairs")
    for which, ended in (("first", outcome), *(("second", other) for other in intruder)):
        if ended.problem:
            findings.fail(f"{first} meets {second}: the {which}, {ended.problem}", f"{pair}: {ended.err}")
    done = bool(intruder) and intruder[0].status == 0
    findings.count("second commands that were done", done)
    gone = done and second == "remove" and first in ("remove", "show")  # the first may find no entry
    unused = first == "update"  # the table has a row for an image that is not in the catalogue
    allowed = (0, 2) if gone else (0, 1) if unused else (0,)
    if not outcome.problem:
        findings.require(outcome.status in allowed, f"{first} fails with {second}", f"{pair}: {outcome.text}")
    if outcome.status == 0 and first in ("export", "table"):
        fault = images.find_fault(bench.folder / ("out.npz" if first == "export" else "out.csv"), bench.reference)
        findings.require(not fault, f"export is inconsistent with {second}", f"{pair}: {fault}")
    commands.passes(bench.db, findings, f"after {first} with {second}")
    _judge(bench, first, outcome.status == 0, second, done, findings)


def _judge(bench: Bench, first: str, first_done: bool, second: str, second_done: bool, findings: Findings) -> None:
    """Check that acknowledged changes are stored, and that nothing else is missing."""
    with Catalogue(bench.db) as catalogue:
        entries = {entry["file"]: entry for entry in catalogue.entries()}
    removed = {REMOVED} if second == "remove" and second_done else set()
    removed |= {REMOVED, REMOVED + 1} if first == "remove" and first_done else set()
    expected = {f"marks/{k:03}.png" for k in range(N_ENTRIES)} - {f"marks/{k - 1:03}.png" for k in removed}
    expected |= {"more/first.png"} if first == "add" and first_done else set()
    expected |= {"more/second.png"} if second == "add" and second_done else set()
    pair = f"{first} with {second}"
    findings.require(set(entries) == expected, f"entries are lost or back after {pair}", str(set(entries) ^ expected))
    if first == "add" and first_done and "more/first.png" in entries:
        token = entries["more/first.png"].get(images.TOKEN)
        findings.require(token == "first", f"metadata are lost after {pair}", str(token))

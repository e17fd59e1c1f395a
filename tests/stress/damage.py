"""Damaged files: pages that are zeroed, bits that are flipped."""

import faulthandler
import functools
import multiprocessing
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from radoncdt.catalogue import Catalogue, CatalogueError, MetadataError
from stress import commands, images
from stress.findings import Findings, Progress, describe_error

N_ENTRIES = 40
PROCESSES = 2  # processes that examine damaged files
CHUNK = 20  # damaged files that a process examines at a time
PATIENCE = 120.0  # seconds per chunk; a process that takes longer prints its stacks and ends
AIMED = 0.3  # share of the flipped bits that are aimed at the summaries
PIECE = 32  # bytes that identify a place in the file

PAGE_COMMANDS = ("list", "show", "search", "export", "add")
FLIP_COMMANDS = ("export", "add")
"""Commands that are tried besides check: all on a zeroed page; search and one of the others on a flipped bit."""

Damage = tuple[str, int]
"""A kind, "page" or "bit", and the number of the page or of the bit."""


@dataclass
class Specimen:
    """An intact catalogue, and its answers."""

    folder: Path
    data: bytes
    answers: dict[tuple[str, int], Any] = field(default_factory=dict)

    @property
    def db(self) -> Path:
        return self.folder / "marks.db"

    def write(self, data: bytes) -> None:
        for old in self.folder.glob("marks.db*"):  # including journals
            old.unlink()
        self.db.write_bytes(data)

    def arguments(self, name: str, number: int) -> list[str]:
        query, new = self.folder / "query.png", self.folder / "new.png"
        return {
            "list": lambda: commands.list_entries(self.db),
            "show": lambda: commands.show(self.db, number, self.folder / "out.png"),
            "search": lambda: commands.search(self.db, query),
            "export": lambda: commands.export(self.db, self.folder / "out.npz"),
            "add": lambda: commands.add(self.db, new),
        }[name]()

    def run(self, data: bytes, name: str, number: int) -> tuple[commands.Outcome, Any]:
        """Run a command on a file with some content; return how it ended, and its answer."""
        self.write(data)
        outs = self.folder / "out.npz", self.folder / "out.png"
        for out in outs:
            out.unlink(missing_ok=True)
        outcome = commands.call(self.arguments(name, number))
        answer = [outcome.status, outcome.out.replace(str(self.folder), "")]
        answer += [
            images.load_arrays(out) if out.suffix == ".npz" else out.read_bytes() for out in outs if out.exists()
        ]
        if name == "add" and outcome.status == 0:
            lines = commands.call(commands.list_entries(self.db)).out.splitlines()
            answer.append([line.partition("  ")[2] for line in lines])  # a new entry may have any number
        return outcome, answer

    def answer(self, name: str, number: int) -> Any:
        """Return the answer of the undamaged file."""
        key = name, number if name == "show" else 0
        if key not in self.answers:
            outcome, self.answers[key] = self.run(self.data, name, number)
            if outcome.status != 0:
                raise RuntimeError(f"{name} fails without damage: {outcome.text}")
        return self.answers[key]


def make(folder: Path, seed: int, n: int = N_ENTRIES) -> Path:
    """Make a folder with a calibrated catalogue of small marks, a query, and an image to be added."""
    names = [f"{k:03}" for k in range(n)]
    files = images.save_marks(folder / "marks", [*names, "new", "query"], seed)
    for file in files[n:]:
        file.rename(folder / file.name)
    table = images.save_table(folder / "marks.csv", files[:n], motif="anchor", date=1475, token="first")
    commands.must(commands.add(folder / "marks.db", folder / "marks", metadata=table))
    commands.must(commands.calibrate(folder / "marks.db"))
    return folder


@functools.cache
def copy_specimen(folder: Path, process: int) -> Specimen:
    """Copy a folder for one process."""
    copy = folder.with_name(f"{folder.name}-{process}")
    shutil.copytree(folder, copy)
    return Specimen(copy, (copy / "marks.db").read_bytes())


def page_size(data: bytes) -> int:
    size = int.from_bytes(data[16:18], "big")
    return 65536 if size == 1 else size


def pages(data: bytes) -> list[Damage]:
    return [("page", k) for k in range(len(data) // page_size(data))]


def flips(db: Path, n: int, seed: int) -> list[Damage]:
    """Draw bits from the whole file, and a share of them from the summaries."""
    random, data, summaries = np.random.default_rng(seed), db.read_bytes(), _summaries(db)
    found = []
    while len(found) < n:
        if summaries and random.uniform() < AIMED:
            start = int(random.integers(max(1, len(summaries) - PIECE)))
            place = data.find(summaries[start : start + PIECE])
            if place < 0:  # it is split between two pages
                continue
        else:
            place = int(random.integers(len(data)))
        found.append(("bit", 8 * place + int(random.integers(8))))
    return found


def _summaries(db: Path) -> bytes:
    """Return the stored summaries, or nothing if there is no such table."""
    connection = sqlite3.connect(db)
    try:
        rows = connection.execute("SELECT * FROM summaries").fetchall()
    except sqlite3.OperationalError:
        rows = []
    connection.close()
    return max((cell for row in rows for cell in row if isinstance(cell, bytes)), key=len, default=b"")


def make_damaged(data: bytes, damage: Damage) -> bytes:
    kind, where = damage
    changed = bytearray(data)
    if kind == "page":
        size = page_size(data)
        changed[where * size : (where + 1) * size] = bytes(size)
    else:
        changed[where // 8] ^= 1 << where % 8
    return bytes(changed)


def run(name: str, folder: Path, damages: Sequence[Damage]) -> Findings:
    """Examine damaged files in a few processes. If one ends or hangs, the remaining files are examined one by one."""
    progress, findings = Progress(name), Findings()
    left = _examine_chunks(folder, [damages[k : k + CHUNK] for k in range(0, len(damages), CHUNK)], findings, progress)
    for damage in [damage for chunk in left for damage in chunk]:
        if _examine_chunks(folder, [[damage]], findings, progress):
            findings.fail("a process ended or hung", f"{damage[0]} {damage[1]}; its stacks are above")
    return findings


def _examine_chunks(
    folder: Path, chunks: Sequence[Sequence[Damage]], findings: Findings, progress: Progress
) -> list[Sequence[Damage]]:
    """Examine chunks in processes; return the damages that a process did not finish."""
    left = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(PROCESSES, len(chunks)), context) as pool:
        futures = {pool.submit(_examine_in_time, folder, chunk): chunk for chunk in chunks}
        for future in as_completed(futures):
            try:
                findings.merge(future.result())
            except BrokenProcessPool:
                left.append(futures[future])
            progress.say(f"{findings.counts['files']} files")
    return left


def _examine_in_time(folder: Path, damages: Sequence[Damage]) -> Findings:
    faulthandler.dump_traceback_later(PATIENCE, exit=True)
    findings = examine(folder, damages)
    faulthandler.cancel_dump_traceback_later()
    return findings


def examine(folder: Path, damages: Sequence[Damage]) -> Findings:
    """Try check, other commands, and the methods of a catalogue on files with one damage each."""
    findings = Findings()
    specimen = copy_specimen(folder, os.getpid())
    for k, damage in enumerate(damages):
        names = PAGE_COMMANDS if damage[0] == "page" else ("search", FLIP_COMMANDS[k % len(FLIP_COMMANDS)])
        _examine(specimen, damage, names, findings)
    return findings


def _examine(specimen: Specimen, damage: Damage, names: Sequence[str], findings: Findings) -> None:
    number = 1 + damage[1] % N_ENTRIES
    expected = {name: specimen.answer(name, number) for name in names}
    data, where = make_damaged(specimen.data, damage), f"{damage[0]} {damage[1]}"
    specimen.write(data)
    checked = commands.call(commands.check(specimen.db))
    outcomes = [checked]
    findings.count("files")
    findings.count("files that pass check", checked.status == 0)
    for name in names:
        outcome, answer = specimen.run(data, name, number)
        outcomes.append(outcome)
        same = answer == expected[name]
        findings.count("answers as without damage", same)
        if checked.status == 0 and not same:
            findings.fail(f"{name} answers differently while check passes", f"{where}: {outcome.text}")
    for outcome in outcomes:
        findings.count("commands")
        findings.count("refusals", outcome.status == 2)
        if outcome.problem:
            findings.fail(f"{outcome.name}: {outcome.problem}", f"{where}: {outcome.err}")
    specimen.write(data)
    _try_methods(specimen, number, where, findings)


def _try_methods(specimen: Specimen, number: int, where: str, findings: Findings) -> None:
    """Check that methods raise only errors of catalogues and of files."""
    try:
        catalogue = Catalogue(specimen.db)
    except (CatalogueError, OSError):
        return
    except Exception as error:
        findings.fail(f"Catalogue(): {describe_error(error)}", f"{where}: {error}")
        return
    methods: dict[str, Callable[[], object]] = {
        "len": lambda: len(catalogue),
        "entries": catalogue.entries,
        "entry": lambda: catalogue.entry(number),
        "failures": catalogue.failures,
        "thumbnail": lambda: catalogue.thumbnail(number),
        "ink_options": lambda: catalogue.ink_options(number),
        "calibrated": lambda: catalogue.calibrated,
    }
    with catalogue:
        for name, method in methods.items():
            findings.count("methods")
            try:
                method()
            except (CatalogueError, MetadataError, OSError):
                pass
            except Exception as error:
                findings.fail(f"Catalogue.{name}: {describe_error(error)}", f"{where}: {error}")

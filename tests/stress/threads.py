"""Threads that share one catalogue object."""

import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from radoncdt.catalogue import Catalogue
from stress import commands, images
from stress.findings import Findings, Progress, describe_error

N_ENTRIES = 24
N_THREADS = 4
N_QUERIES = 3
PATIENCE = 120.0  # seconds after which a thread is considered to hang

Answer = tuple
"""The result of a search, by file, because the number of an entry that is added repeatedly changes."""


def make(folder: Path, seed: int) -> Path:
    """Make a folder with a catalogue, queries, and an image to be added that the queries find."""
    names = [f"{k:03}" for k in range(N_ENTRIES)]
    files = images.save_marks(folder / "marks", [*names, "new"], seed)
    commands.must(commands.add(folder / "all.db", folder / "marks"))
    commands.must(commands.export(folder / "all.db", folder / "all.npz"))
    commands.must(commands.add(folder / "marks.db", *files[:-1]))
    return folder


def find_answer(catalogue: Catalogue, query: Path) -> Answer:
    found = catalogue.search(query, top=5, n_jobs=1)
    matches = ((match.rank, match.file, match.misfit, match.distance) for match in found.matches)
    return (found.searched, *matches)


class Shared:
    """A catalogue used by several threads, and the answers that a single thread got."""

    def __init__(self, folder: Path, catalogue: Catalogue, findings: Findings) -> None:
        self.folder, self.catalogue, self.findings = folder, catalogue, findings
        self.new = folder / "marks" / "new.png"
        self.reference = images.load_descriptors(folder / "all.npz")
        self.queries = [self.new, *sorted((folder / "marks").glob("0*.png"))[: N_QUERIES - 1]]
        without = {query: find_answer(catalogue, query) for query in self.queries}
        self.number = self._add()
        with_new = {query: find_answer(catalogue, query) for query in self.queries}
        catalogue.remove([self.number])
        self.number = None
        self.answers = {query: {without[query], with_new[query]} for query in self.queries}
        self.lock = threading.Lock()

    def _add(self) -> int:
        self.catalogue.add(self.new, n_jobs=1)
        return max(entry["entry"] for entry in self.catalogue.entries())

    def search(self, thread: int, k: int) -> None:
        query = self.queries[k % len(self.queries)]
        self._require(find_answer(self.catalogue, query) in self.answers[query], "a search answers differently")

    def list(self, thread: int, k: int) -> None:
        files = [entry["file"] for entry in self.catalogue.entries()]
        self._require(len(files) in (N_ENTRIES, N_ENTRIES + 1) and len(set(files)) == len(files), "a list is wrong")

    def thumbnail(self, thread: int, k: int) -> None:
        number = 1 + k % N_ENTRIES
        self._require(self.catalogue.thumbnail(number).startswith(b"\x89PNG"), "a thumbnail is not a PNG file")
        self._require(self.catalogue.entry(number)["entry"] == number, "an entry has another number")

    def export(self, thread: int, k: int) -> None:
        out = self.folder / f"out{thread}{('.npz', '.csv', '.json')[k % 3]}"
        self.catalogue.export(out)
        fault = images.find_fault(out, self.reference)
        self._require(not fault, f"exported {out.suffix} is inconsistent", fault)

    def change(self, thread: int, k: int) -> None:
        """Add the image, or remove it; only one thread does so."""
        if self.number is None:
            self.number = self._add()
        else:
            self.catalogue.remove([self.number])
            self.number = None

    def _require(self, holds: bool, reason: str, example: str = "") -> None:
        with self.lock:
            self.findings.require(holds, reason, example)

    def step(self, thread: int, k: int, changes: bool) -> None:
        """Run one operation. With `changes`, the first thread also changes the catalogue."""
        actions: list[Callable[[int, int], None]] = [self.search, self.list, self.thumbnail, self.export]
        if changes and thread == 0:
            actions.insert(1, self.change)
        action = actions[(k + thread) % len(actions)]
        try:
            action(thread, k)
        except Exception as error:
            text = traceback.format_exc()
            with self.lock:
                self.findings.fail(f"{action.__name__}: {describe_error(error)}", text)
        with self.lock:
            self.findings.count("operations")
            self.findings.count(action.__name__)


def run(folder: Path, seed: int, *, seconds: float | None = None, steps: int = 0) -> Findings:
    """Run threads that only read, then threads of which one writes, each for some seconds or some steps."""
    findings, progress = Findings(), Progress("e")
    make(folder, seed)
    with Catalogue(folder / "marks.db", write=True) as catalogue:
        shared = Shared(folder, catalogue, findings)
        for changes in (False, True):
            end = time.monotonic() + seconds if seconds is not None else np.inf
            begin = threading.Barrier(N_THREADS)

            def work(thread: int, end: float = end, begin: threading.Barrier = begin, changes: bool = changes) -> None:
                begin.wait()
                k = 0
                while (k < steps or seconds is not None) and time.monotonic() < end:
                    shared.step(thread, k, changes)
                    k += 1
                    if thread == 0:
                        progress.say(f"{k} operations of the first thread")

            threads = [threading.Thread(target=work, args=(thread,), daemon=True) for thread in range(N_THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE + (seconds or 0))
            if not findings.require(not any(thread.is_alive() for thread in threads), "a thread does not end"):
                return findings
        commands.passes(folder / "marks.db", findings, "at the end")
    return findings

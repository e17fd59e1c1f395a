"""Adding images to a catalogue: workers read them, and one writer stores them."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.catalogue.metadata import Value
from radoncdt.catalogue.paths import hash_file, make_stored_name
from radoncdt.catalogue.records import Failure, ReadResult, parse_ink_options
from radoncdt.catalogue.store import Store
from radoncdt.catalogue.workers import Task, Workers
from radoncdt.ink import InkOptions

__all__ = ["Added", "add_images"]

BATCH_SIZE, BATCH_SECONDS = 256, 2.0  # images are stored after this many, or after this time


class Added(NamedTuple):
    """The numbers of images that were added, known and refused."""

    added: int
    known: int
    """Images whose content was already in the catalogue, or that occur twice."""
    failures: tuple[Failure, ...]
    """Images that could not be read, each with the reason."""
    unused: tuple[str, ...] = ()
    """Names in the metadata table that do not belong to any image."""
    different_options: int = 0
    """Known images that had been read with different ink options. They stay as they are."""


def add_images(
    store: Store,
    files: list[Path],
    metadata: dict[str, dict[str, Value]],
    ink: InkOptions,
    workers: Workers,
    on_progress: OnProgress | None,
) -> Added:
    """Read the images that a catalogue does not have, and store them in their order.

    `metadata` contains the metadata of images by their stored name.
    """
    job = _Import(store, metadata, ink)
    counter = Counter(on_progress, len(files), "reading images")
    waiting, since = list[ReadResult](), time.monotonic()
    try:
        for images in workers.read(job.make_tasks(files, workers.task_size, counter)):
            waiting += images
            counter.advance(len(images))
            if len(waiting) >= BATCH_SIZE or time.monotonic() - since > BATCH_SECONDS:
                job.put(waiting)
                waiting, since = [], time.monotonic()
    finally:  # after an interrupt, nothing that was read is lost
        job.put(waiting)
    return job.finish(len(files))


class _Import:
    """The state of one call of `add_images`."""

    def __init__(self, store: Store, metadata: dict[str, dict[str, Value]], ink: InkOptions) -> None:
        with store.snapshot() as snapshot:
            self.known, self.settings = snapshot.hashes(), snapshot.settings
        self.store, self.metadata, self.ink, self.folder = store, metadata, ink, store.path.parent
        self.seen: dict[str, list[str]] = {}  # files by the hash of their content
        self.failures: list[Failure] = []
        self.n_added = 0

    def make_tasks(self, files: list[Path], size: int, counter: Counter) -> Iterator[Task]:
        """Yield tasks with the files whose content is new; the others are counted as done."""
        new: list[tuple[str, str]] = []
        for file in map(os.path.abspath, files):  # workers may have another working directory
            digest = hash_file(Path(file))
            if digest:
                self.seen.setdefault(digest, []).append(file)
            if digest and (digest in self.known or len(self.seen[digest]) > 1):
                counter.advance()
                continue
            new.append((file, digest))
            if len(new) == size:
                yield Task(tuple(new), self.ink, self.settings, self.folder)
                new = []
        if new:
            yield Task(tuple(new), self.ink, self.settings, self.folder)

    def put(self, images: list[ReadResult]) -> None:
        """Store images."""
        if images:
            with self.store.transaction() as transaction:
                self.n_added += transaction.put([(image, self.metadata.get(image.file, {})) for image in images])
            self.failures += [image for image in images if isinstance(image, Failure)]

    def finish(self, n_files: int) -> Added:
        """Store the failures of copies, and the metadata and files of known images."""
        reasons = {failure.hash: failure.reason for failure in self.failures if failure.hash}
        copies = [
            Failure(make_stored_name(file, self.folder), digest, reasons[digest])
            for digest, files in self.seen.items()
            if digest in reasons
            for file in files[1:]
        ]
        known = {
            self.known[digest]: [make_stored_name(file, self.folder) for file in files]
            for digest, files in self.seen.items()
            if digest in self.known
        }
        with self.store.transaction() as transaction:
            transaction.put([(failure, {}) for failure in copies])
            transaction.set_metadata((number, self.metadata.get(names[0], {})) for number, names in known.items())
            transaction.update_files(known.items())
            entries = transaction.entries(known, missing_ok=True)
        failures = (*self.failures, *copies)
        n_different = sum(parse_ink_options(entry.ink) != self.ink for entry in entries)
        return Added(self.n_added, n_files - self.n_added - len(failures), failures, different_options=n_different)

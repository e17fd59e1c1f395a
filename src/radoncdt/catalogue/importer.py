"""Adding images to a catalogue: workers read them, and one writer stores them."""

import os
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.catalogue.metadata import Row
from radoncdt.catalogue.records import Failure, ReadResult, hash_file, make_stored_name, parse_ink_options
from radoncdt.catalogue.store import Store
from radoncdt.catalogue.workers import Task, Workers
from radoncdt.ink import InkOptions

__all__ = ["Added", "Import"]

BATCH_SIZE, BATCH_SECONDS = 256, 2.0  # images are stored after this many, or after this time


class Added(NamedTuple):
    """The numbers of images that were added, known and refused: the result of `Catalogue.add`.

    Parameters
    ----------
    added : int
        Number of images that were added.
    known : int
        Number of images whose content was already in the catalogue, or that occur twice.
    failures : tuple of (file, hash, reason)
        Images that could not be read, as named tuples with the `reason`.
    unused : tuple of str, default ()
        Names in the metadata table that do not belong to any image.
    different_options : int, default 0
        Number of known images that had been read with different ink options. They stay as they are.

    See Also
    --------
    Catalogue : The catalogue to which images are added.

    Examples
    --------
    >>> from radoncdt.catalogue import Added
    >>> Added(added=12, known=3, failures=()).added
    12
    """

    added: int
    known: int
    failures: tuple[Failure, ...]
    unused: tuple[str, ...] = ()
    different_options: int = 0


class Import:
    """The import of images that a catalogue does not have. `metadata` contains their metadata by their stored names."""

    def __init__(self, store: Store, metadata: dict[str, Row], ink: InkOptions) -> None:
        with store.snapshot() as snapshot:
            self._known: dict[str, int] = dict(snapshot.rows("SELECT hash, id FROM entries"))
            self._settings = snapshot.settings
        self._store, self._metadata, self._ink, self._folder = store, metadata, ink, store.path.parent
        self._seen: dict[str, list[str]] = {}  # files by the hash of their content
        self._failures: list[Failure] = []
        self._n_added = 0

    def run(self, files: list[Path], workers: Workers, on_progress: OnProgress | None) -> Added:
        """Read images, and store them in their order. After an interrupt, nothing that was read is lost."""
        counter = Counter(on_progress, len(files), "reading images")
        waiting, since = list[ReadResult](), time.monotonic()
        try:
            for images in workers.read(self._make_tasks(files, workers.task_size, counter)):
                waiting += images
                counter.advance(len(images))
                if len(waiting) >= BATCH_SIZE or time.monotonic() - since > BATCH_SECONDS:
                    self._put(waiting)
                    waiting, since = [], time.monotonic()
        finally:
            self._put(waiting)
        return self._finish(len(files))

    def _make_tasks(self, files: list[Path], size: int, counter: Counter) -> Iterator[Task]:
        new = self._find_new(files, counter)
        while some := tuple(islice(new, size)):
            yield Task(some, self._ink, self._settings, self._folder)

    def _find_new(self, files: list[Path], counter: Counter) -> Iterator[tuple[str, str]]:
        """Yield the files whose content is new, with their hashes; the others are counted as done."""
        for file in map(os.path.abspath, files):  # workers may have another working directory
            digest = hash_file(Path(file))
            if digest:
                self._seen.setdefault(digest, []).append(file)
            if digest and (digest in self._known or len(self._seen[digest]) > 1):
                counter.advance()
            else:
                yield file, digest

    def _put(self, images: list[ReadResult]) -> None:
        if images:
            with self._store.transaction() as transaction:
                self._n_added += transaction.put([(image, self._metadata.get(image.file, {})) for image in images])
            self._failures += [image for image in images if isinstance(image, Failure)]

    def _finish(self, n_files: int) -> Added:
        """Store the failures of copies, and the metadata and files of known images."""
        reasons = {failure.hash: failure.reason for failure in self._failures if failure.hash}
        copies = [
            Failure(make_stored_name(file, self._folder), digest, reasons[digest])
            for digest, files in self._seen.items()
            if digest in reasons
            for file in files[1:]
        ]
        known = {
            self._known[digest]: [make_stored_name(file, self._folder) for file in files]
            for digest, files in self._seen.items()
            if digest in self._known
        }
        with self._store.transaction() as transaction:
            transaction.put([(failure, {}) for failure in copies])
            transaction.set_metadata((number, self._metadata.get(names[0], {})) for number, names in known.items())
            transaction.update_files(known.items())
            entries = transaction.entries(known, missing_ok=True)
        failures = (*self._failures, *copies)
        n_different = sum(parse_ink_options(entry.ink) != self._ink for entry in entries)
        return Added(self._n_added, n_files - self._n_added - len(failures), failures, different_options=n_different)

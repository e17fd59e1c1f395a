"""Reading many images into a catalogue: in processes of one machine, or by workers of a Dask cluster; one writer."""

import hashlib
import json
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from radoncdt import _threads
from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.catalogue.line_fit import PICTURE_SIDE
from radoncdt.catalogue.metadata import Value
from radoncdt.catalogue.records import EntryRow, packed
from radoncdt.catalogue.store import Entry, Failure, Store, stored_name
from radoncdt.ink import InkError, InkOptions
from radoncdt.ink.files import open_picture, read_bytes
from radoncdt.ink.kinds import doubt, steps_of
from radoncdt.matching.descriptors import DescriptorSettings, describe_batch
from radoncdt.measures import Batch

Result = Entry | Failure

CHUNK = 32
"""Images that a worker of a cluster reads at a time."""

PATIENCE = "20s"
"""How long to wait for a cluster to answer."""

WORTH_PROCESSES = 100
"""Images; fewer are read before processes have started."""

DEATHS = 4
"""Of processes, one after the other, each with one image to read, after which no more are tried."""

BATCH, SECONDS = 256, 2.0
"""Results are stored when there are so many, or after so long."""


class Added(NamedTuple):
    """What became of the images that were to be added."""

    added: int
    known: int
    """Whose content the catalogue had already, or that are there twice."""
    failures: tuple[Failure, ...]
    """Images that cannot be read, each with the reason."""
    unused: tuple[str, ...] = ()
    """Lines of the table of metadata that belong to none of the images."""
    otherwise: int = 0
    """Of those that are there already, how many were read with other options; they stay as they are."""


def add_images(
    store: Store,
    files: list[Path],
    metadata: dict[str, dict[str, Value]],
    ink: InkOptions,
    workers: "Workers",
    on_progress: OnProgress | None,
) -> Added:
    """Read the images that a catalogue does not have and store them, in their order, with their metadata."""
    with store.snapshot() as snapshot:
        known, settings = snapshot.known(), snapshot.settings
    seen: dict[str, list[str]] = {}  # files by the hash of their content
    failures: list[Failure] = []
    added = 0
    folder = store.path.parent
    counter = Counter(on_progress, len(files), "reading images")

    def tasks() -> Iterator[Task]:
        some: list[tuple[str, str]] = []
        for file in map(os.path.abspath, files):  # workers may be in another folder
            digest = hash_of(Path(file))
            if digest:
                seen.setdefault(digest, []).append(file)
            if digest and (digest in known or len(seen[digest]) > 1):
                counter.advance()
                continue
            some.append((file, digest))
            if len(some) == workers.chunk:
                yield Task(tuple(some), ink, settings, folder)
                some = []
        if some:
            yield Task(tuple(some), ink, settings, folder)

    waiting: list[Result] = []

    def put() -> int:
        if not waiting:
            return 0
        with store.transaction() as transaction:
            new = transaction.put([(result, metadata.get(result.file, {})) for result in waiting])
        waiting.clear()
        return new

    since = time.monotonic()
    try:
        for results in workers.examine(tasks()):
            waiting += results
            failures += [result for result in results if isinstance(result, Failure)]
            counter.advance(len(results))
            if len(waiting) >= BATCH or time.monotonic() - since > SECONDS:
                added += put()
                since = time.monotonic()
    finally:  # an interrupt loses nothing that was done
        added += put()
    reasons = {failure.hash: failure.reason for failure in failures if failure.hash}
    copies = [(file, digest) for digest, same in seen.items() if digest in reasons for file in same[1:]]
    again = [Failure(stored_name(file, folder), digest, reasons[digest]) for file, digest in copies]
    there = {digest: [stored_name(file, folder) for file in same] for digest, same in seen.items() if digest in known}
    numbers = [known[digest] for digest in there]
    with store.transaction() as transaction:
        transaction.put([(failure, {}) for failure in again])
        transaction.set_metadata([(known[digest], metadata.get(names[0], {})) for digest, names in there.items()])
        transaction.seen_again([(known[digest], names) for digest, names in there.items()])
        otherwise = sum(entry.ink != how(ink) for entry in transaction.entries(numbers, missing_ok=True))
    n_known = len(files) - added - len(failures) - len(again)
    return Added(added, n_known, (*failures, *again), otherwise=otherwise)


def how(ink: InkOptions) -> str:
    """Options as they are stored."""
    return json.dumps({name: value for name, value in asdict(ink).items() if value is not None})


class Task(NamedTuple):
    """Images to be read, and how."""

    files: tuple[tuple[str, str], ...]
    """Paths, and hashes of their content, "" where it could not be read."""
    ink: InkOptions
    settings: DescriptorSettings
    folder: Path
    """Of the catalogue."""


def hash_of(path: Path) -> str:
    """SHA-256 of the content of a file, "" if it cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def examine(task: Task) -> list[Result]:
    """Read the images of a task, one after the other; one that fails does not stop the rest."""
    return [_examine(file, digest, task) for file, digest in task.files]


def _examine(file: str, digest: str, task: Task) -> Result:
    name = stored_name(file, task.folder)
    try:
        data = read_bytes(Path(file))
        digest = hashlib.sha256(data).hexdigest()  # of what is read now
        picture = open_picture(file, data)
        ink = steps_of(picture, np.ones(picture.grey.shape, bool), task.ink, file)[-1].image
        curves, numbers = packed(describe_batch(Batch.read(ink), task.settings, 1))
    except (InkError, MemoryError) as error:
        return Failure(name, digest, str(error).removeprefix(f"{file}: ") or "not enough memory")
    except (ValueError, ArithmeticError) as error:  # a measure that has no descriptor
        return Failure(name, digest, f"its ink cannot be described: {error}")
    height, width = ink.shape
    note = "; ".join(text for text in (picture.note, doubt(ink, task.ink)) if text)
    row = EntryRow(0, digest, name, how(task.ink), width, height, *box_of(ink), note)
    return Entry(row, picture_of_ink(ink), curves, numbers)


def box_of(ink: NDArray[np.float32]) -> tuple[int, int]:
    """Width and height of the box around all ink."""
    columns, rows = (np.flatnonzero(ink.any(axis=axis)) for axis in (0, 1))
    return int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1)


def picture_of_ink(ink: NDArray[np.float32]) -> bytes:
    """A small PNG, dark ink on white."""
    from PIL import Image

    factor = -(-max(ink.shape) // PICTURE_SIDE)
    small = np.asarray(Image.fromarray(ink.astype(np.float32)).reduce(factor)) if factor > 1 else ink
    small = np.clip(small / max(float(small.max()), 1e-9), 0, 1)
    buffer = BytesIO()
    Image.fromarray(np.rint(255 * (1 - small)).astype(np.uint8)).save(buffer, "PNG", compress_level=6)
    return buffer.getvalue()


class Workers(Protocol):
    """Who examines tasks."""

    chunk: int

    def examine(self, tasks: Iterable[Task]) -> Iterator[list[Result]]:
        """Results of the tasks, in their order."""


class OneByOne:
    """This process."""

    chunk = 1

    def examine(self, tasks: Iterable[Task]) -> Iterator[list[Result]]:
        """See `Workers`."""
        return (examine(task) for task in tasks)


class Processes:
    """Processes of this machine; threads would wait for each other half of the time."""

    chunk = 8

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def examine(self, tasks: Iterable[Task]) -> Iterator[list[Result]]:
        """See `Workers`.

        A process may be ended by the system, for want of memory. Images that had been handed out then are read again,
        one at a time; one that ends its process again is refused, and the rest goes on. If all do, it is no fault of
        theirs.
        """
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        remaining, lock = iter(tasks), threading.Lock()

        def handed_out(given: deque[Task], ended: threading.Event) -> Iterator[Any]:
            while True:
                with lock:
                    task = None if ended.is_set() else next(remaining, None)
                    if task is None:
                        return
                    given.append(task)
                yield delayed(examine)(task)

        while True:
            given, ended = deque[Task](), threading.Event()  # tasks without a result yet
            try:
                with closing(Parallel(self.n_jobs, return_as="generator")(handed_out(given, ended))) as done:
                    for results in done:
                        given.popleft()
                        yield results
                return
            except TerminatedWorkerError:
                with lock:
                    ended.set()
                yield from _one_at_a_time(given)
            finally:
                ended.set()


def _one_at_a_time(tasks: Iterable[Task]) -> Iterator[list[Result]]:
    """Read the images of tasks that one of them ended."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    deaths = 0
    for task in tasks:
        for file, digest in task.files:
            try:
                (results,) = Parallel(2)([delayed(examine)(task._replace(files=((file, digest),)))])
                deaths = 0
            except TerminatedWorkerError:
                deaths += 1
                if deaths == DEATHS:
                    raise MemoryError(
                        "processes that read images were ended again and again, most likely for want of memory; the "
                        "same command goes on where it stopped, and fewer --jobs need less"
                    ) from None
                reason = "reading it ended the process, most likely for want of memory"
                results = [Failure(stored_name(file, task.folder), digest, reason)]
            yield results


def workers_for(count: int, n_jobs: int | None, dask: str | None) -> Workers:
    """Who reads so many images."""
    several = _threads.n_workers(n_jobs, count * _threads.WORTH_A_THREAD) > 1
    if dask is not None:
        return Dask(dask)
    return Processes(n_jobs) if several and count >= WORTH_PROCESSES else OneByOne()


class Dask:
    """Workers of a cluster that see the same files. A task of a worker that dies is given to another."""

    def __init__(self, address: str) -> None:
        self.chunk = CHUNK
        try:
            from distributed import Client
        except ImportError:
            raise ImportError("a cluster needs Dask: pip install 'radoncdt[dask]'") from None
        try:
            self.client = Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConnectionError(f"there is no Dask scheduler at {address}: {error}") from error

    def examine(self, tasks: Iterable[Task]) -> Iterator[list[Result]]:
        """See `Workers`."""
        most = max(4, 2 * sum(self.client.nthreads().values()))
        waiting: deque[Any] = deque()
        try:
            for task in tasks:
                waiting.append(self.client.submit(examine, task, pure=False, retries=3))
                if len(waiting) >= most:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            self.client.close()

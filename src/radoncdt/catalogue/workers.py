"""Reading image files into entries: by this process, by processes of this machine, or by a Dask cluster."""

import hashlib
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from radoncdt import _threads
from radoncdt._extras import require
from radoncdt._geometry import ink_box
from radoncdt._thumbnails import make_thumbnail
from radoncdt.catalogue import records
from radoncdt.catalogue.records import Entry, Failure, NewEntry, ReadResult
from radoncdt.ink import InkError, InkOptions
from radoncdt.ink.extraction import assess_ink, extract_steps
from radoncdt.ink.files import read_bytes, read_image
from radoncdt.matching.descriptors import describe_batch
from radoncdt.matching.settings import DescriptorSettings
from radoncdt.measures import Batch

__all__ = ["Task", "Workers", "choose_workers"]

DASK_TASK_SIZE = 32  # images per task of a Dask worker
DASK_TIMEOUT = "20s"  # time to wait for a Dask scheduler to answer
_MIN_IMAGES = 100  # images that are worth starting processes for
_MAX_CRASHES = 4  # consecutive worker crashes before giving up


class Task(NamedTuple):
    """Image files to read, and how to read them."""

    files: tuple[tuple[str, str], ...]  # paths and hashes of their content; "" for files that could not be read
    ink: InkOptions
    settings: DescriptorSettings
    folder: Path  # the folder of the catalogue


def read_images(task: Task) -> list[ReadResult]:
    """Read the images of a task. A failure does not stop the others."""
    return [_read_image(file, digest, task) for file, digest in task.files]


def _read_image(file: str, digest: str, task: Task) -> ReadResult:
    name = records.make_stored_name(file, task.folder)
    try:
        data = read_bytes(Path(file))
        digest = hashlib.sha256(data).hexdigest()  # the file may have changed since it was hashed
        image = read_image(BytesIO(data), name=file)
        ink = extract_steps(image, task.ink)[-1].image
        curves, moments = records.pack_descriptor(describe_batch(Batch.read(ink), task.settings, 1))
    except (InkError, MemoryError) as error:
        return Failure(name, digest, str(error).removeprefix(f"{file}: ") or "not enough memory")
    except (ValueError, ArithmeticError) as error:  # the measure has no descriptor
        return Failure(name, digest, f"its ink cannot be described: {error}")
    (height, width), (box_height, box_width) = ink.shape, ink[ink_box(ink)].shape
    note = "; ".join(text for text in (image.note, assess_ink(ink, task.ink)) if text)
    entry = Entry(0, digest, name, records.format_ink_options(task.ink), width, height, box_width, box_height, note)
    return NewEntry(entry, make_thumbnail(ink), curves, moments)


class Processes:
    """Processes of this machine, or this process if `n_jobs` is 1. Threads would block each other half of the time."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs, self.task_size = n_jobs, 1 if n_jobs == 1 else 8  # images per task

    def read(self, tasks: Iterable[Task]) -> Iterator[list[ReadResult]]:
        """Yield the results of each task, in the order of the tasks.

        The operating system may kill a process if memory runs out. The unfinished images are then read again one at a
        time. An image that crashes its process again is a failure, and the others continue.
        """
        from joblib import Parallel, delayed
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        remaining, lock = iter(tasks), threading.Lock()

        def submit(unfinished: deque[Task], stopped: threading.Event) -> Iterator[Any]:
            while True:
                with lock:
                    task = None if stopped.is_set() else next(remaining, None)
                    if task is None:
                        return
                    unfinished.append(task)
                yield delayed(read_images)(task)

        while True:
            unfinished, stopped = deque[Task](), threading.Event()
            try:
                with closing(Parallel(self.n_jobs, return_as="generator")(submit(unfinished, stopped))) as finished:
                    for images in finished:
                        unfinished.popleft()
                        yield images
                return
            except TerminatedWorkerError:
                with lock:
                    stopped.set()
                yield from _read_one_at_a_time(unfinished)
            finally:
                stopped.set()


def _read_one_at_a_time(tasks: Iterable[Task]) -> Iterator[list[ReadResult]]:
    """Read the images of tasks after a worker has crashed, each in its own process."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    n_crashes = 0
    for task in tasks:
        for file, digest in task.files:
            try:
                (images,) = Parallel(2)([delayed(read_images)(task._replace(files=((file, digest),)))])
                n_crashes = 0
            except TerminatedWorkerError:
                n_crashes += 1
                if n_crashes == _MAX_CRASHES:
                    raise MemoryError(
                        "worker processes crashed repeatedly, most likely because memory ran out; add the images "
                        "again with a smaller `n_jobs` to continue"
                    ) from None
                reason = "reading it crashed the process, most likely because memory ran out"
                images = [Failure(records.make_stored_name(file, task.folder), digest, reason)]
            yield images


class Dask:
    """Workers of a Dask cluster read the images. They must see the same files."""

    def __init__(self, address: str) -> None:
        self.task_size = DASK_TASK_SIZE
        distributed = require("distributed", "reading images on a Dask cluster")
        try:
            self.client = distributed.Client(address, timeout=DASK_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConnectionError(f"there is no Dask scheduler at {address}: {error}") from error

    def read(self, tasks: Iterable[Task]) -> Iterator[list[ReadResult]]:
        """Yield the results of each task, in the order of the tasks. Tasks of lost workers are repeated."""
        max_waiting = max(4, 2 * sum(self.client.nthreads().values()))
        waiting: deque[Any] = deque()
        try:
            for task in tasks:
                waiting.append(self.client.submit(read_images, task, pure=False, retries=3))
                if len(waiting) >= max_waiting:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
            self.client.close()


Workers = Processes | Dask


def choose_workers(n_images: int, n_jobs: int | None, dask: str | None) -> Workers:
    """Return workers for a number of images; `dask` is the address of a Dask scheduler."""
    several = _threads.count_workers(n_jobs, n_images * _threads.WORK_PER_THREAD) > 1
    if dask is not None:
        return Dask(dask)
    return Processes(n_jobs if several and n_images >= _MIN_IMAGES else 1)

"""One-shot classification of handwritten characters: the tasks of Omniglot.

A task has one image of each of 20 characters of an alphabet, drawn by one person. The images to classify are the same
characters, drawn by another person. The 20 official tasks are in the file ``all_runs.zip`` of the data set. Tasks for
development are drawn in the same way from the images of the background alphabets.
"""

import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np
from numpy.typing import NDArray

from radoncdt import _validation
from radoncdt._extras import require
from radoncdt._pooling import max_nrcdt
from radoncdt._threads import count_threads
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.estimators import AffineNeighbors, FewShotClassifier
from radoncdt.reproduction.recognition.stopwatch import Stopwatch

__all__ = [
    "N_CHARACTERS",
    "ONE_SHOT_METHODS",
    "REQUIREMENTS",
    "Archive",
    "OneShotFigures",
    "OneShotTask",
    "digest_tasks",
    "draw_tasks",
    "measure_one_shot",
    "read_runs",
    "read_tasks",
]

N_CHARACTERS = 20
"""Characters of a task."""

ONE_SHOT_METHODS = ("mnrcdt", "registered", "any", "upright")
"""The nearest feature of the paper; the nearest registered image; and `FewShotClassifier` with two priors."""

REQUIREMENTS = ("omniglot sources", "omniglot data")
"""The entries of a set-up that the figures of Omniglot depend on."""

FRAME: dict[str, Any] = {"frame_size": 32, "window": 3, "n_candidate_classes": N_CHARACTERS}
"""Options of `FewShotClassifier`: the frame was chosen on background alphabets, and all characters are compared."""

_N_BACKGROUND = 60  # tasks that are drawn from background alphabets
_LABELS = "class_labels.txt"  # the file that pairs the images of a run
_BACKGROUND = re.compile(r"(?:^|/)([^/]+)/(character\d+)/\d+_(\d+)\.png$")  # alphabet, character, person


class Archive:
    """The files of a folder or of a zip file, by their paths."""

    def __init__(self, path: str | os.PathLike[str], name: str = "path") -> None:
        self.path, self.name = Path(path), name
        if self.path.is_dir():
            files = (file for file in self.path.rglob("*") if file.is_file())
            self.files = sorted(file.relative_to(self.path).as_posix() for file in files)
            return
        if not self.path.is_file():
            raise ArgumentValueError(name, f"must be a folder or a zip file, got {str(path)!r}, which does not exist")
        if not is_zipfile(self.path):
            raise ArgumentValueError(name, f"must be a folder or a zip file, got {str(path)!r}")
        with ZipFile(self.path) as archive:
            self.files = sorted(file for file in archive.namelist() if not file.startswith("__MACOSX/"))

    def read(self, files: Sequence[str]) -> Iterator[bytes]:
        """Yield the contents of files."""
        if self.path.is_dir():
            yield from ((self.path / file).read_bytes() for file in files)
            return
        with ZipFile(self.path) as archive:
            for file in files:
                try:
                    yield archive.read(file)
                except (KeyError, BadZipFile) as problem:
                    raise ArgumentValueError(self.name, f"must contain {file}, got {str(self.path)!r}") from problem

    def read_images(self, files: Sequence[str]) -> list[NDArray[np.float32]]:
        """Read images of dark ink on bright paper. Ink becomes 1 and paper 0."""
        images = require("PIL.Image", "reading image files")
        found = []
        for file, content in zip(files, self.read(files)):
            try:
                with images.open(io.BytesIO(content)) as image:
                    grey = np.asarray(image.convert("L"), np.float32)
            except OSError as problem:
                raise ArgumentValueError(
                    self.name, f"must contain images, got {str(self.path)!r}, where {file} is none that Pillow can read"
                ) from problem
            found.append(np.subtract(1, grey / 255, dtype=np.float32))
        return found


@dataclass(frozen=True)
class OneShotTask:
    """One image of each character, and images to classify."""

    name: str
    training: list[NDArray[np.float32]]
    test: list[NDArray[np.float32]]
    answers: NDArray[np.intp]
    """The index of the training image of each test image."""
    source: str = "background"  # or "official"


def read_tasks(paths: Sequence[str | os.PathLike[str]], seed: int) -> list[OneShotTask]:
    """Read the official tasks if they are there, or else draw tasks from images of whole alphabets."""
    try:
        if len(paths) == 1 and any(PurePosixPath(file).name == _LABELS for file in Archive(paths[0]).files):
            return read_runs(paths[0])
        return draw_tasks(paths, _N_BACKGROUND, rng=seed)
    except ArgumentValueError as error:  # the argument of `Choice` has another name
        raise ArgumentValueError("data", error.problem) from None


def digest_tasks(tasks: Sequence[OneShotTask]) -> str:
    """Describe tasks by their number and a hash of their images and answers."""
    digest = hashlib.sha256()
    for task in tasks:
        digest.update(f"{task.name} {task.answers.tolist()} ".encode())
        for image in (*task.training, *task.test):
            digest.update(f"{image.shape} ".encode() + image.tobytes())
    return f"{len(tasks)} {tasks[0].source} tasks, SHA-256 {digest.hexdigest()[:16]}"


def read_runs(path: str | os.PathLike[str]) -> list[OneShotTask]:
    """Read the official tasks from ``all_runs.zip``, or from a folder with its contents.

    Every run has a file ``class_labels.txt``. Each of its lines names a test image and the training image of the same
    character, with paths that begin with the folder of the run: ``run01/test/item01.png run01/training/class14.png``.

    Parameters
    ----------
    path : path

    Returns
    -------
    list of OneShotTask
        In the order of the names of the runs.
    """
    archive = Archive(path)
    tasks = []
    for file in archive.files:
        labels = PurePosixPath(file)
        if labels.name != _LABELS:
            continue
        (content,) = archive.read([file])
        lines = [line.split() for line in content.decode("utf-8", "replace").splitlines() if line.strip()]
        if bad := next((line for line in lines if len(line) != 2), None):
            raise ArgumentValueError("path", f"must have two paths in every line of {file}, got {' '.join(bad)!r}")
        if not lines:
            raise ArgumentValueError("path", f"must have two paths in every line of {file}, got an empty file")
        folder = labels.parent.parent  # the folder of all runs
        tests, answers = ([str(folder / line[k]) for line in lines] for k in (0, 1))
        missing = sorted({*tests, *answers} - set(archive.files))
        if missing:
            raise ArgumentValueError("path", f"must contain the images that {file} names, got none at {missing[0]}")
        places = {PurePosixPath(answer).parent for answer in answers}  # training images that no line names count, too
        training = [other for other in archive.files if PurePosixPath(other).parent in places]
        right = np.array([training.index(answer) for answer in answers])
        images = archive.read_images(training), archive.read_images(tests)
        tasks.append(OneShotTask(labels.parent.name, *images, right, "official"))
    if not tasks:
        raise ArgumentValueError("path", f"must contain runs with a file {_LABELS}, got {str(path)!r}")
    return tasks


def draw_tasks(
    paths: Sequence[str | os.PathLike[str]],
    n: int,
    *,
    rng: np.random.Generator | int,
    alphabets: Sequence[str] | None = None,
) -> list[OneShotTask]:
    """Draw tasks from images of whole alphabets, such as the background set of Omniglot.

    Each task takes a random alphabet with at least 20 characters, 20 of its characters, and two of the people who drew
    all of them.

    Parameters
    ----------
    paths : sequence of paths
        Zip files or folders with files ``ALPHABET/characterNN/NUMBER_PERSON.png``, such as
        ``images_background_small1.zip``.
    n : int
        Number of tasks.
    rng : numpy Generator or int
    alphabets : sequence of str, optional
        Only these alphabets.

    Returns
    -------
    list of OneShotTask
        The first tasks do not depend on n.
    """
    _validation.check_count(n, "n", 1)
    there: dict[str, dict[str, dict[str, tuple[Archive, str]]]] = {}  # of alphabets, of characters, of people
    for path in _validation.check_sequence(paths, "paths"):
        archive = Archive(path, "paths")
        for file in archive.files:
            if found := _BACKGROUND.search(file):
                alphabet, character, person = found.groups()
                there.setdefault(alphabet, {}).setdefault(character, {})[person] = (archive, file)
    if alphabets is not None:
        for alphabet in _validation.check_sequence(alphabets, "alphabets"):
            _validation.check_choice(alphabet, "alphabets", sorted(there))
    wanted = sorted(there if alphabets is None else set(alphabets))
    usable = [alphabet for alphabet in wanted if len(there[alphabet]) >= N_CHARACTERS]
    if not usable:
        raise ArgumentValueError(
            "paths", f"must have an alphabet of at least {N_CHARACTERS} characters, got {[str(path) for path in paths]}"
        )
    random = np.random.default_rng(rng)
    return [_draw_task(there, usable[random.integers(len(usable))], random) for _ in range(n)]


def _draw_task(
    there: dict[str, dict[str, dict[str, tuple[Archive, str]]]], alphabet: str, random: np.random.Generator
) -> OneShotTask:
    characters = sorted(there[alphabet])
    chosen = [there[alphabet][characters[i]] for i in random.permutation(len(characters))[:N_CHARACTERS]]
    people = sorted(set.intersection(*(set(each) for each in chosen)))
    if len(people) < 2:
        raise ArgumentValueError("paths", f"must have two people who drew all characters of {alphabet}, got {people}")
    pair = [people[i] for i in random.permutation(len(people))[:2]]
    training, test = (
        [archive.read_images([file])[0] for archive, file in (each[person] for each in chosen)] for person in pair
    )
    return OneShotTask(f"{alphabet} {pair[0]} {pair[1]}", training, test, np.arange(N_CHARACTERS))


# ---------------------------------------------------------------- methods


@dataclass(frozen=True)
class OneShotFigures:
    """How well a method classifies, and how long it takes."""

    source: str  # "official", or "background"
    method: str
    tasks: int
    accuracy: float
    error: float  # standard error of the mean over tasks; 0 for a single one
    seconds: float  # for all tasks
    cpu_seconds: float  # the same in processor time, summed over the threads; other programs hardly matter
    threads: int


def classify_once(task: OneShotTask, method: str, n_jobs: int | None) -> NDArray[np.intp]:
    """Return the index of the training image that each test image is assigned to."""
    found: NDArray[Any]
    if method == "mnrcdt":
        options: dict[str, Any] = {"directions": "equispaced", "n_jobs": n_jobs}
        examples, queries = (max_nrcdt(images, **options) for images in (task.training, task.test))
        found = np.linalg.norm(queries[:, None] - examples, axis=2).argmin(axis=1)
    elif method == "registered":
        model = AffineNeighbors(1, reflections=False, n_jobs=n_jobs).fit(task.training)
        found = model.kneighbors(task.test, return_distance=False)[:, 0]
    else:
        classifier = FewShotClassifier(prior=method, n_jobs=n_jobs, **FRAME)
        found = classifier.fit(task.training, np.arange(len(task.training))).predict(task.test)
    return found


def measure_one_shot(
    tasks: Sequence[OneShotTask],
    method: str,
    *,
    n_jobs: int | None = -1,
    on_progress: OnProgress | None = None,
) -> OneShotFigures:
    """Measure the accuracy of a method, mean over tasks.

    Parameters
    ----------
    tasks : sequence of OneShotTask
        The result of `read_runs` or `draw_tasks`.
    method : str
        One of `ONE_SHOT_METHODS`.
    n_jobs : int or None
        Threads, as in scikit-learn. All figures except the time are the same for any number.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)``.

    Returns
    -------
    OneShotFigures
    """
    _validation.check_choice(method, "method", ONE_SHOT_METHODS)
    accuracies, watch = [], Stopwatch()
    for k, task in enumerate(_validation.check_sequence(tasks, "tasks")):
        if on_progress:
            on_progress(k, len(tasks), method)
        with watch:
            accuracies.append(float((classify_once(task, method, n_jobs) == task.answers).mean()))
    n = len(accuracies)
    if on_progress:
        on_progress(n, n, method)
    error = float(np.std(accuracies, ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    mean = float(np.mean(accuracies))
    threads = count_threads(n_jobs)
    return OneShotFigures(tasks[0].source, method, n, mean, error, watch.seconds, watch.cpu_seconds, threads)

"""Run the experiments: what to measure (`Choice`), measuring it (`Run`), and the results (`Outcome`)."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from radoncdt import _threads, _validation, datasets
from radoncdt._extras import require
from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.reproduction import baselines, classifiers, robustness, table1
from radoncdt.reproduction.measurement import Measurand, Measurement, Summary, group_by, summarise
from radoncdt.reproduction.protocol import N_FOLDS, PROTOCOLS, SOURCES, Cell, Draw, count_digits
from radoncdt.reproduction.robustness import Trial
from radoncdt.reproduction.store import RunStore, describe_setup
from radoncdt.reproduction.tables import TABLES, Variant, find_printed, list_variants

__all__ = ["MORE_PARTS", "PARTS", "Choice", "Outcome", "Run", "prepare"]

PARTS = ("table1", *TABLES, "figures", "variants")  # the parts of the paper, which "all" stands for
MORE_PARTS = ("robustness",)  # parts that take long and run only on request

_M = TypeVar("_M", bound=Measurand)


@dataclass(frozen=True)
class Choice:
    """What to reproduce.

    Parameters
    ----------
    parts : sequence of str
        Some of `PARTS` and `MORE_PARTS`. "all", the default, stands for all `PARTS`.
    protocols : sequence of str
        "published", "independent", or "both", the default.
    draws : int
        Number of random draws of every dataset.
    seed : int
        Seed of all random numbers.
    angles : sequence of int, optional
        Numbers of angles, instead of the paper's.
    sizes : sequence of int, optional
        Class sizes of Tables 3 and 4, multiples of ten, instead of the paper's.
    repetitions : int
        Number of random choices of the training images in the robustness study.
    """

    parts: Sequence[str] | str = "all"
    protocols: Sequence[str] | str = "both"
    draws: int = 10
    seed: int = 0
    angles: Sequence[int] | None = None
    sizes: Sequence[int] | None = None
    repetitions: int = 20

    def __post_init__(self) -> None:
        for name, options, more, every in (
            ("parts", PARTS, MORE_PARTS, "all"),
            ("protocols", PROTOCOLS, (), "both"),
        ):
            given = _validation.check_sequence(getattr(self, name), name, allow_string=True)
            for value in given:
                _validation.check_choice(value, name, (*options, *more, every))
            wanted = {*given, *(options if every in given else ())}
            object.__setattr__(self, name, tuple(option for option in (*options, *more) if option in wanted))
        for name, least in (("draws", 1), ("repetitions", 1), ("seed", 0)):
            _validation.check_count(getattr(self, name), name, least)
        for name, least in (("angles", 1), ("sizes", N_FOLDS)):
            if getattr(self, name) is not None:
                given = _validation.check_sequence(getattr(self, name), name)
                values = tuple(_validation.check_count(value, name, least) for value in given)
                if len(set(values)) < len(values):
                    raise ArgumentValueError(name, f"must be different numbers, got {list(values)}")
                object.__setattr__(self, name, values)
        for size in self.sizes or ():
            if size % N_FOLDS:
                raise ArgumentValueError("sizes", f"must be multiples of {N_FOLDS}, one part for each fold, got {size}")

    @property
    def needs_digits(self) -> bool:
        return bool({"table2", "table4", "figures", "variants", "robustness"} & set(self.parts))

    def check_digits(self, mnist: datasets.Mnist) -> None:
        """Raise an error if the digits do not suffice."""
        two, four = (
            (SOURCES[name].classes["linmnist"], min(TABLES[name].sizes["linmnist"])) for name in ("table2", "table4")
        )
        every = tuple(range(10)), robustness.DIGITS.class_size
        needs = {"table2": two, "table4": four, "figures": two, "variants": two, "robustness": every}
        chosen = {part: need for part, need in needs.items() if part in self.parts}
        for part, (digits, least) in chosen.items():
            n = min(int((mnist.labels == digit).sum()) for digit in digits)
            if n < least:
                problem = f"must have at least {least} images of each digit for {part}, got {n} in {mnist.source}"
                raise ArgumentValueError("mnist", problem)
        used = {digit for digits, _ in (two, four, *chosen.values()) for digit in digits}
        if not mnist.images[np.isin(mnist.labels, list(used))].any(axis=(1, 2)).all():
            raise ArgumentValueError("mnist", f"must have ink in every image, got an empty one in {mnist.source}")
        most = count_digits("table4", mnist)
        if self.sizes and {"table4", "variants"} & set(self.parts) and max(self.sizes) > most:
            reason = f"because {mnist.source} has only {most} images of one of the digits"
            raise ArgumentValueError("sizes", f"must be at most {most}, {reason}, got {max(self.sizes)}")


@dataclass(frozen=True)
class Outcome:
    """The results of a run, as far as it was measured."""

    choice: Choice
    setup: dict[str, Any]
    cells: list[Summary[Cell]]
    """Summaries of the cells of the tables."""
    comparisons: list[tuple[Variant, list[tuple[Summary[Cell], Summary[Cell]]]]]
    """The variants, with summaries of their pairs of cells over the same random draws."""
    trials: list[Summary[Trial]]
    """Summaries of the trials of the robustness study."""
    checks: list[table1.Check]
    """The rows of Table 1."""
    seconds: dict[str, float]
    """Time of each step; steps that run in several threads add up to more than the whole run."""
    missing: int
    """Number of missing measurements, of a cell in a draw or of a trial; Table 1 counts as one."""

    def select_cells(self, table: str, protocol: str | None = None) -> list[Summary[Cell]]:
        """The cells of a table, in one protocol or in all."""
        return [s for s in self.cells if s.measurand.table == table and protocol in (None, s.measurand.protocol)]

    def select_trials(self, dataset: str, varied: str | None = None) -> list[Summary[Trial]]:
        """The trials of a set, or of the curve for one parameter of it."""
        return [s for s in self.trials if (s.measurand.dataset, s.measurand.varied) == (dataset, varied)]


def prepare(out: str | os.PathLike[str], choice: Choice, mnist: datasets.Mnist | None) -> "Run":
    """Check the choice against the digits, make the folder, and read earlier measurements in it."""
    for package in ("matplotlib", "jinja2"):  # needed at the end, and missed better at the beginning
        require(package, "the reproduction", extra="reproduce")
    if mnist and choice.needs_digits:
        choice.check_digits(mnist)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    return Run(choice, mnist, folder)


class Run:
    """Measures everything that the folder does not hold yet. `done` of `total` measurements were there before."""

    def __init__(self, choice: Choice, mnist: datasets.Mnist | None, folder: Path) -> None:
        self.choice, self.mnist, self.folder = choice, mnist, folder
        self.trials = robustness.list_trials(choice.repetitions) if "robustness" in choice.parts else []
        self.setup = describe_setup(choice.seed, mnist) | (baselines.find_versions() if self.trials else {})
        self.store = RunStore(folder, self.setup)
        chosen: dict[str, Any] = {"angles": choice.angles, "sizes": choice.sizes, "mnist": mnist}
        tables = [table for name, table in TABLES.items() if name in choice.parts]
        self.cells = [c for table in tables for p in choice.protocols for c in table.list_cells(p, **chosen)]
        self.variants = list_variants(**chosen) if "variants" in choice.parts else []
        varied = [cell for variant in self.variants for pair in variant.pairs for cell in pair]
        self._wanted = list(dict.fromkeys([*self.cells, *varied]))
        self._checks: list[table1.Check] = []
        self._seconds: dict[str, float] = {}
        self.began = time.perf_counter()
        self.total = len(self._wanted) * choice.draws + len(self.trials)
        self.done = self.total - len(self._list_missing_cells()) - len(self._list_missing_trials())

    def _list_missing_cells(self) -> list[tuple[Cell, int]]:
        """Cells and draws that are not measured yet."""
        draws = range(self.choice.draws)
        return [(cell, draw) for cell in self._wanted for draw in draws if (cell, draw) not in self.store]

    def _list_missing_trials(self) -> list[Trial]:
        return [trial for trial in self.trials if (trial, 0) not in self.store]

    def measure(self, *, n_jobs: int | None = -1, on_progress: OnProgress | None = None) -> None:
        """Measure everything that is missing. The figures do not depend on the number of threads.

        After an interrupt, everything that was measured before it is in the folder.
        """
        import scipy.linalg  # noqa: F401  # loads its own BLAS, which can be limited only once it is loaded
        from threadpoolctl import threadpool_limits

        self.began = time.perf_counter()
        stop = threading.Event()
        tasks = self._list_tasks()
        trials = self._list_missing_trials()
        total = sum(_estimate_cost(cell) for _, cells in tasks for cell in cells) + sum(map(_estimate_cost, trials))
        workers = _threads.count_workers(n_jobs, len(tasks) * _threads.WORK_PER_THREAD)
        counter = Counter(on_progress, total, "measuring")
        with threadpool_limits(1):  # matrix products in several threads may be rounded differently

            def work(task: tuple[int, list[Cell]]) -> None:
                number, cells = task
                draw = Draw(self.choice.seed, number, self.mnist)
                for cell in self._keep(classifiers.measure_cells(cells, draw), number):
                    counter.advance(_estimate_cost(cell), f"{cell.table}, {cell.protocol}, draw {number + 1}")
                    if stop.is_set():
                        return

            _threads.for_each(work, tasks, workers, stop)
            for group in robustness.group_by_set(trials):  # one set after the other, each in several threads
                for trial in self._keep(robustness.measure_trials(group, self.choice.seed, self.mnist, n_jobs), 0):
                    counter.advance(_estimate_cost(trial), f"robustness, {trial.dataset}")
        if "table1" in self.choice.parts:
            before = time.perf_counter()
            self._checks = table1.check_table1(self.choice.seed)
            self._seconds["table1"] = time.perf_counter() - before

    def _list_tasks(self) -> list[tuple[int, list[Cell]]]:
        """Draws and cells of one table and protocol, the first draw of all tables first.

        The largest classes come first, because the first measurement waits for the images and should count for more.
        """
        missing = sorted(self._list_missing_cells(), key=lambda m: (m[1], m[0].table, m[0].protocol, -m[0].class_size))
        groups = group_by(missing, lambda m: (m[1], m[0].table, m[0].protocol))
        return [(group[0][1], [cell for cell, _ in group]) for group in groups]

    def _keep(self, measurements: Iterator[tuple[_M, Measurement]], draw: int) -> Iterator[_M]:
        """Add measurements to the store."""
        began = time.perf_counter()
        for measurand, measurement in measurements:
            now = time.perf_counter()
            self.store.add(measurand, draw, measurement, now - began)
            began = now
            yield measurand

    def summarise(self) -> Outcome:
        """Summarise everything that is measured. Cells without any draw are left out."""
        draws = {cell: self.store.read_draws(cell, self.choice.draws) for cell in self._wanted}

        def summarise_pair(cell: Cell, other: Cell) -> tuple[Summary[Cell], Summary[Cell]] | None:
            common = draws[cell].keys() & draws[other].keys()
            one, two = (_summarise(c, {draw: draws[c][draw] for draw in common}) for c in (cell, other))
            return (one, two) if one and two else None

        return Outcome(
            self.choice,
            {"digits_source": self.mnist.source if self.mnist else None, **self.setup},
            [summary for cell in self.cells if (summary := _summarise(cell, draws[cell]))],
            [(v, [summaries for pair in v.pairs if (summaries := summarise_pair(*pair))]) for v in self.variants],
            [trial for t in self.trials if (trial := _summarise(t, self.store.read_draws(t, 1)))],
            self._checks,
            self._add_up_seconds() | self._seconds,
            len(self._list_missing_cells())
            + len(self._list_missing_trials())
            + int("table1" in self.choice.parts and not self._checks),
        )

    def _add_up_seconds(self) -> dict[str, float]:
        """The time of each step in all threads."""
        steps: dict[str, float] = {}
        for cell in self._wanted:
            step = f"{cell.table}, {cell.protocol}" if cell.variant is None else f"variant, {cell.variant}"
            steps[step] = steps.get(step, 0.0) + self.store.read_seconds(cell, self.choice.draws)
        for trial in self.trials:
            step = f"robustness, {trial.dataset}" + (", curve" if trial.varied else "")
            steps[step] = steps.get(step, 0.0) + self.store.read_seconds(trial, 1)
        return steps


def _summarise(measurand: _M, draws: dict[int, Measurement]) -> Summary[_M] | None:
    """Summarise a measurand beside its published figure; None without any draw."""
    return summarise(measurand, find_printed(measurand), draws) if draws else None


def _estimate_cost(measurand: Cell | Trial) -> int:
    """A rough estimate, for the progress, of the time that a measurement takes."""
    if isinstance(measurand, Trial):
        return 300 * measurand.class_size
    return measurand.class_size * (8 + (measurand.n_angles or 16))

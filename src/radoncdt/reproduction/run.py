"""Measure the cells that were asked for, and sum up."""

import hashlib
import platform
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import radoncdt
from radoncdt import _kernels, _threads, _validation, datasets
from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt._validation import ArgumentValueError
from radoncdt.reproduction import paper, rivals, robustness, table1, table2, table3, table4
from radoncdt.reproduction.cells import N_FOLDS, Cell, Measurement, Result, summarise
from radoncdt.reproduction.protocol import PROTOCOLS
from radoncdt.reproduction.store import Store
from radoncdt.reproduction.trials import Trial, TrialResult, sum_up
from radoncdt.reproduction.variants import Variant, variants

TABLES = {module.TABLE.name: module.TABLE for module in (table2, table3, table4)}
PARTS = ("table1", *TABLES, "figures", "variants")
"""Those of the paper, which "all" is."""
MORE_PARTS = ("robustness",)
"""Those that take their time, and are run only when asked for by name."""
LIBRARIES = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Choice:
    """What to reproduce.

    Parameters
    ----------
    parts : sequence of str
        Of `PARTS` and `MORE_PARTS`; by default, and for "all", those of `PARTS`.
    protocols : sequence of str
        "published" and "independent", or one of them.
    draws : int
        Random draws of every dataset.
    seed : int
    angles : sequence of int, optional
        Numbers of angles, instead of the paper's.
    sizes : sequence of int, optional
        Class sizes of Tables 3 and 4, instead of the paper's: multiples of ten.
    repetitions : int
        Random choices, in the study of robustness, of the images to train on.
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
        _validation.check_count(self.draws, "draws", 1)
        _validation.check_count(self.repetitions, "repetitions", 1)
        _validation.check_count(self.seed, "seed", 0)
        for name, least in (("angles", 1), ("sizes", N_FOLDS)):
            if getattr(self, name) is not None:
                values = tuple(
                    _validation.check_count(v, name, least)
                    for v in _validation.check_sequence(getattr(self, name), name)
                )
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
        """Refuse what there are not enough digits for."""
        needs = {
            "table2": (table2.TABLE.classes["linmnist"], min(table2.TABLE.sizes["linmnist"])),
            "table4": (table4.TABLE.classes["linmnist"], min(table4.TABLE.sizes["linmnist"])),
            "robustness": (tuple(range(10)), robustness.DIGITS.class_size),
        }
        needs |= dict.fromkeys(("figures", "variants"), needs["table2"])
        for part, (digits, least) in needs.items():
            if part not in self.parts:
                continue
            there = min(int((mnist.labels == digit).sum()) for digit in digits)
            if there < least:
                raise ValueError(f"{part} needs {least} images of each digit, and {mnist.source} have {there}")
        used = {digit for part in {*self.parts, "table2", "table4"} & needs.keys() for digit in needs[part][0]}
        if not mnist.images[np.isin(mnist.labels, list(used))].any(axis=(1, 2)).all():
            raise ValueError(f"every digit must have ink, and some image of {mnist.source} has none")
        most = table4.TABLE.most(mnist)
        if self.sizes and {"table4", "variants"} & set(self.parts) and max(self.sizes) > most:
            raise ArgumentValueError(
                "sizes",
                f"must be at most {most}, for of some digit there are no more in {mnist.source}, got {max(self.sizes)}",
            )

    def cells(self, mnist: datasets.Mnist | None) -> list[Cell]:
        """All cells of the tables."""
        return [
            cell
            for name, table in TABLES.items()
            for protocol in self.protocols
            for cell in table.cells(protocol, self.angles, self.sizes, mnist)
            if name in self.parts
        ]

    def trials(self) -> list[Trial]:
        """All trials of the study of robustness."""
        return robustness.trials(self.repetitions) if "robustness" in self.parts else []

    def variants(self, mnist: datasets.Mnist | None) -> list[Variant]:
        return variants(self.angles, self.sizes, mnist) if "variants" in self.parts else []


@dataclass(frozen=True)
class Outcome:
    """What came out, as far as it was measured."""

    choice: Choice
    setup: dict[str, Any]
    results: list[Result]
    """Of the tables."""
    comparisons: list[tuple[Variant, list[tuple[Result, Result]]]]
    """Of the variants."""
    trials: list[TrialResult]
    """Of the study of robustness."""
    checks: list[table1.Check]
    """Of Table 1."""
    seconds: dict[str, float]
    """By step; the steps of a run in several threads add up to more than the run took."""
    missing: int
    """Measurements, of a cell in a draw or of a trial, that are not done; Table 1 is one."""

    def of(self, table: str, protocol: str) -> list[Result]:
        """Results of one table and protocol."""
        return [result for result in self.results if (result.cell.table, result.cell.protocol) == (table, protocol)]

    def trials_of(self, dataset: str, varied: str | None = None) -> list[TrialResult]:
        """Results of one set of the study of robustness, or of the curve where something about it is varied."""
        return [result for result in self.trials if (result.trial.dataset, result.trial.varied) == (dataset, varied)]


def setup_of(seed: int, mnist: datasets.Mnist | None) -> dict[str, Any]:
    """All that decides the figures of a cell in a draw: runs with the same set-up have the same figures."""
    sources = hashlib.sha256()
    root = Path(radoncdt.__file__).parent
    for path in sorted(root.rglob("*.py")):
        sources.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return {
        "seed": seed,
        "radoncdt": radoncdt.__version__,
        "sources": sources.hexdigest()[:16],
        "kernels": _kernels.identify(),
        "digits": mnist.digest()[:16] if mnist else None,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


class Run:
    """Measures what a store lacks.

    Of `total` measurements, of a cell in a draw or of a trial, `done` were there before.
    """

    def __init__(self, choice: Choice, mnist: datasets.Mnist | None, folder: Path) -> None:
        self.choice, self.mnist = choice, mnist
        if mnist and choice.needs_digits:
            choice.check_digits(mnist)
        self.cells, self.variants = choice.cells(mnist), choice.variants(mnist)
        self.trials = choice.trials()
        self.setup = setup_of(choice.seed, mnist)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        setups = {"linmnist": self.setup, "academic": {**self.setup, "digits": None}}
        if self.trials:
            others = rivals.versions()
            setups |= {f"{n}, {other}": {**s, other: others[other]} for n, s in setups.items() for other in others}
            self.setup = {**self.setup, **others}
        self.store = Store(folder, setups)
        compared = [cell for variant in self.variants for pair in variant.pairs() for cell in pair]
        self.wanted = list(dict.fromkeys([*self.cells, *compared]))
        self.total = len(self.wanted) * choice.draws + len(self.trials)
        self.done = self.total - len(self.missing()) - len(self.missing_trials())

    def missing(self) -> list[tuple[Cell, int]]:
        """Cells and draws that are not measured yet."""
        draws = range(self.choice.draws)
        return [(cell, draw) for cell in self.wanted for draw in draws if (cell, draw) not in self.store]

    def missing_trials(self) -> list[Trial]:
        """Trials that are not measured yet."""
        return [trial for trial in self.trials if (trial, 0) not in self.store]

    def _tasks(self) -> list[tuple[int, list[Cell]]]:
        """Cells that share their images, and the draw; the first draw of all tables first.

        The largest classes come first, so that the first measurement, which waits for the images, counts for much.
        """
        tasks: dict[tuple[int, str, str], list[Cell]] = {}
        for cell, draw in self.missing():
            tasks.setdefault((draw, cell.table, cell.protocol), []).append(cell)
        return [(key[0], sorted(tasks[key], key=lambda cell: -cell.class_size)) for key in sorted(tasks)]

    def measure(self, n_jobs: int | None, on_progress: OnProgress | None) -> None:
        """Measure all that is missing. The figures do not depend on the number of threads.

        After an interrupt what was measured is in the store.
        """
        import scipy.linalg  # noqa: F401  # brings a library of its own, which can be limited only once it is loaded
        from threadpoolctl import threadpool_limits

        stop = threading.Event()
        tasks = self._tasks()
        total = sum(_cost(cell) for _, cells in tasks for cell in cells) + sum(map(_cost, self.missing_trials()))
        workers = _threads.count_workers(n_jobs, len(tasks) * _threads.WORK_PER_THREAD)
        counter = Counter(on_progress, total, "measuring")
        with threadpool_limits(1):  # products of matrices in several threads may round otherwise

            def work(task: tuple[int, list[Cell]]) -> None:
                for cell in self._measure(*task):
                    counter.advance(_cost(cell), f"{cell.table}, {cell.protocol}, draw {task[0] + 1}")
                    if stop.is_set():
                        return

            _threads.for_each(work, tasks, workers, stop)
            for trial in self._measure_trials(n_jobs):
                counter.advance(_cost(trial), f"robustness, {trial.dataset}")

    def _measure_trials(self, n_jobs: int | None) -> Iterator[Trial]:
        """One set of images after the other, each in several threads."""
        for trials in robustness.by_images(self.missing_trials()):
            began = time.perf_counter()
            for trial, accuracies in robustness.run(trials, self.choice.seed, self.mnist, n_jobs):
                now = time.perf_counter()
                self.store.add(trial, 0, Measurement(accuracies), now - began)
                began = now
                yield trial

    def _measure(self, draw: int, cells: list[Cell]) -> Iterator[Cell]:
        table, began = TABLES[cells[0].table], time.perf_counter()
        for cell, measurement in table.run(table, cells, self.choice.seed, draw, self.mnist):
            now = time.perf_counter()
            self.store.add(cell, draw, measurement, now - began)
            began = now
            yield cell

    def outcome(self, checks: list[table1.Check], seconds: dict[str, float]) -> Outcome:
        """Sum up what is measured; a cell without any draw is left out."""
        draws = {cell: self.store.draws_of(cell, self.choice.draws) for cell in self.wanted}

        def result(cell: Cell, among: Collection[int]) -> Result:
            chosen = {draw: measurement for draw, measurement in draws[cell].items() if draw in among}
            return summarise(cell, paper.figure_of(cell), chosen)

        def compared(cell: Cell, other: Cell) -> tuple[Result, Result] | None:
            common = draws[cell].keys() & draws[other].keys()
            return (result(cell, common), result(other, common)) if common else None

        steps: dict[str, float] = {}
        for cell in self.wanted:
            step = f"{cell.table}, {cell.protocol}" if cell.variant is None else f"variant, {cell.variant}"
            steps[step] = steps.get(step, 0.0) + self.store.seconds_of(cell, self.choice.draws)
        trials = {trial: self.store.draws_of(trial, 1) for trial in self.trials}
        for trial in trials:
            step = f"robustness, {trial.dataset}" + (", curve" if trial.varied else "")
            steps[step] = steps.get(step, 0.0) + self.store.seconds_of(trial, 1)
        return Outcome(
            self.choice,
            {"digits_source": self.mnist.source if self.mnist else None, **self.setup},
            [result(cell, draws[cell]) for cell in self.cells if draws[cell]],
            [(variant, [pair for p in variant.pairs() if (pair := compared(*p))]) for variant in self.variants],
            [sum_up(trial, paper.authors_of(trial), runs[0].accuracies) for trial, runs in trials.items() if runs],
            checks,
            {**steps, **seconds},
            len(self.missing()) + len(self.missing_trials()) + int("table1" in self.choice.parts and not checks),
        )


def _cost(cell: Cell | Trial) -> int:
    """Roughly how long a cell or a trial takes, for the progress bar."""
    if isinstance(cell, Trial):
        return 300 * cell.class_size
    return cell.class_size * (8 + (cell.n_angles or 16))

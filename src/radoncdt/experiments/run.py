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
from radoncdt import _checks, _parallel, datasets
from radoncdt.experiments import paper, table1, table2, table3, table4
from radoncdt.experiments.cells import N_FOLDS, Cell, Result, summarise
from radoncdt.experiments.protocol import PROTOCOLS
from radoncdt.experiments.store import Store
from radoncdt.experiments.variants import Variant, variants

TABLES = {module.TABLE.name: module.TABLE for module in (table2, table3, table4)}
PARTS = ("table1", *TABLES, "figures", "variants")
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn")


@dataclass(frozen=True)
class Choice:
    """What to reproduce.

    Parameters
    ----------
    parts : sequence of str
        Of `PARTS`; all of them by default.
    protocols : sequence of str
        "published" and "independent", or one of them.
    draws : int
        Random draws of every dataset.
    seed : int
    angles : sequence of int, optional
        Numbers of angles, instead of the paper's.
    sizes : sequence of int, optional
        Class sizes of Tables 3 and 4, instead of the paper's: multiples of ten.
    """

    parts: Sequence[str] | str = "all"
    protocols: Sequence[str] | str = "both"
    draws: int = 10
    seed: int = 0
    angles: Sequence[int] | None = None
    sizes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        for name, options, every in (("parts", PARTS, "all"), ("protocols", PROTOCOLS, "both")):
            given = _checks.sequence(getattr(self, name), name, alone=True)
            for value in given:
                _checks.choice(value, name, (*options, every))
            chosen = options if every in given else tuple(option for option in options if option in given)
            object.__setattr__(self, name, chosen)
        _checks.count(self.draws, "draws", 1)
        _checks.count(self.seed, "seed", 0)
        for name, least in (("angles", 1), ("sizes", N_FOLDS)):
            if getattr(self, name) is not None:
                values = tuple(_checks.count(v, name, least) for v in _checks.sequence(getattr(self, name), name))
                if len(set(values)) < len(values):
                    raise ValueError(f"`{name}` must be different numbers, got {list(values)}")
                object.__setattr__(self, name, values)
        for size in self.sizes or ():
            if size % N_FOLDS:
                raise ValueError(f"`sizes` must be multiples of {N_FOLDS}, one part for each fold, got {size}")

    @property
    def needs_digits(self) -> bool:
        return bool({"table2", "table4", "figures", "variants"} & set(self.parts))

    def check_digits(self, mnist: datasets.Mnist) -> None:
        """Refuse what there are not enough digits for."""
        for part, table in (("table2", table2), ("figures", table2), ("variants", table2), ("table4", table4)):
            if part in self.parts:
                least, there = min(table.TABLE.sizes["linmnist"]), table.TABLE.most(mnist)
                if there < least:
                    raise ValueError(f"{part} needs {least} images of each digit, and {mnist.source} have {there}")
        used = np.isin(mnist.labels, (*table2.TABLE.classes["linmnist"], *table4.TABLE.classes["linmnist"]))
        if not mnist.images[used].any(axis=(1, 2)).all():
            raise ValueError(f"every digit must have ink, and some image of {mnist.source} has none")
        most = table4.TABLE.most(mnist)
        if self.sizes and {"table4", "variants"} & set(self.parts) and max(self.sizes) > most:
            raise ValueError(
                f"`sizes` must be at most {most}, for of some digit there are no more in {mnist.source}, "
                f"got {max(self.sizes)}"
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
    checks: list[table1.Check]
    """Of Table 1."""
    seconds: dict[str, float]
    """By step; the steps of a run in several threads add up to more than the run took."""
    missing: int
    """Measurements, of a cell in a draw, that are not done; Table 1 is one."""

    def of(self, table: str, protocol: str) -> list[Result]:
        """Results of one table and protocol."""
        return [result for result in self.results if (result.cell.table, result.cell.protocol) == (table, protocol)]


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
        "digits": mnist.digest()[:16] if mnist else None,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


class Run:
    """Measures what a store lacks. Of `total` measurements, of a cell in a draw, `done` were there before."""

    def __init__(self, choice: Choice, mnist: datasets.Mnist | None, folder: Path) -> None:
        self.choice, self.mnist = choice, mnist
        if mnist and choice.needs_digits:
            choice.check_digits(mnist)
        self.cells, self.variants = choice.cells(mnist), choice.variants(mnist)
        self.setup = setup_of(choice.seed, mnist)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.store = Store(folder, {"linmnist": self.setup, "academic": {**self.setup, "digits": None}})
        compared = [cell for variant in self.variants for pair in variant.pairs() for cell in pair]
        self.wanted = list(dict.fromkeys([*self.cells, *compared]))
        self.total = len(self.wanted) * choice.draws
        self.done = self.total - len(self.missing())

    def missing(self) -> list[tuple[Cell, int]]:
        """Cells and draws that are not measured yet."""
        draws = range(self.choice.draws)
        return [(cell, draw) for cell in self.wanted for draw in draws if (cell, draw) not in self.store]

    def _tasks(self) -> list[tuple[int, list[Cell]]]:
        """Cells that share their images, and the draw; the first draw of all tables first.

        The largest classes come first, so that the first measurement, which waits for the images, counts for much.
        """
        tasks: dict[tuple[int, str, str], list[Cell]] = {}
        for cell, draw in self.missing():
            tasks.setdefault((draw, cell.table, cell.protocol), []).append(cell)
        return [(key[0], sorted(tasks[key], key=lambda cell: -cell.class_size)) for key in sorted(tasks)]

    def measure(self, n_jobs: int | None, progress: bool) -> None:
        """Measure all that is missing. The figures do not depend on the number of threads.

        After an interrupt what was measured is in the store.
        """
        import scipy.linalg  # noqa: F401  # brings a library of its own, which can be limited only once it is loaded
        from threadpoolctl import threadpool_limits
        from tqdm import tqdm

        stop = threading.Event()
        tasks = self._tasks()
        total = sum(_cost(cell) for _, cells in tasks for cell in cells)
        workers = _parallel.n_workers(n_jobs, len(tasks) * _parallel.WORTH_A_THREAD)
        form = "{desc} {percentage:3.0f}%|{bar}| {elapsed} gone, {remaining} to go"
        with (
            threadpool_limits(1),  # products of matrices in several threads may round otherwise
            tqdm(total=total, bar_format=form, delay=2, smoothing=0, disable=None if progress else True) as bar,
        ):

            def work(task: tuple[int, list[Cell]]) -> None:
                for cell in self._measure(*task):
                    bar.set_description_str(f"{cell.table}, {cell.protocol}, draw {task[0] + 1}", refresh=False)
                    bar.update(_cost(cell))
                    if stop.is_set():
                        return

            _parallel.for_each(work, tasks, workers, stop)

    def _measure(self, draw: int, cells: list[Cell]) -> Iterator[Cell]:
        table, began = TABLES[cells[0].table], time.perf_counter()
        for cell, accuracies in table.run(table, cells, self.choice.seed, draw, self.mnist):
            now = time.perf_counter()
            self.store.add(cell, draw, accuracies, now - began)
            began = now
            yield cell

    def outcome(self, checks: list[table1.Check], seconds: dict[str, float]) -> Outcome:
        """Sum up what is measured; a cell without any draw is left out."""
        draws = {cell: self.store.draws_of(cell, self.choice.draws) for cell in self.wanted}

        def result(cell: Cell, among: Collection[int]) -> Result:
            chosen = {draw: accuracies for draw, accuracies in draws[cell].items() if draw in among}
            return summarise(cell, paper.figure_of(cell), chosen)

        def compared(cell: Cell, other: Cell) -> tuple[Result, Result] | None:
            common = draws[cell].keys() & draws[other].keys()
            return (result(cell, common), result(other, common)) if common else None

        steps: dict[str, float] = {}
        for cell in self.wanted:
            step = f"{cell.table}, {cell.protocol}" if cell.variant is None else f"variant, {cell.variant}"
            steps[step] = steps.get(step, 0.0) + self.store.seconds_of(cell, self.choice.draws)
        return Outcome(
            self.choice,
            {"digits_source": self.mnist.source if self.mnist else None, **self.setup},
            [result(cell, draws[cell]) for cell in self.cells if draws[cell]],
            [(variant, [pair for p in variant.pairs() if (pair := compared(*p))]) for variant in self.variants],
            checks,
            {**steps, **seconds},
            len(self.missing()) + int("table1" in self.choice.parts and not checks),
        )


def _cost(cell: Cell) -> int:
    """Roughly how long a cell takes, for the progress bar."""
    return cell.class_size * (8 + (cell.n_angles or 16))

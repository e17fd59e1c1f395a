"""Run the experiments of a choice, and summarise what was measured."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from radoncdt import _threads, datasets
from radoncdt._extras import require
from radoncdt._progress import Counter
from radoncdt._typing import OnProgress
from radoncdt.reproduction import baselines, robustness, table1
from radoncdt.reproduction.choice import Choice
from radoncdt.reproduction.measurement import Measurand, Measurement, Summary, group_by, summarise
from radoncdt.reproduction.outcome import Outcome
from radoncdt.reproduction.protocol import Cell, Draw, measure_cells
from radoncdt.reproduction.recognition import few_shot, glyph_study, networks, omniglot
from radoncdt.reproduction.recognition.few_shot import Recognition
from radoncdt.reproduction.recognition.glyph_study import (
    GLYPH_METHODS,
    GlyphFigures,
    GlyphStudy,
    draw_glyphs,
    measure_glyphs,
)
from radoncdt.reproduction.recognition.omniglot import (
    ONE_SHOT_METHODS,
    OneShotFigures,
    digest_tasks,
    measure_one_shot,
    read_tasks,
)
from radoncdt.reproduction.robustness import Trial
from radoncdt.reproduction.store import Figures, RunStore, describe_setup, digest_fonts, hash_module
from radoncdt.reproduction.tables import TABLES, find_printed, list_variants

__all__ = ["Run", "prepare"]

_M = TypeVar("_M", bound=Measurand)


def prepare(out: str | os.PathLike[str], choice: Choice, mnist: datasets.Mnist | None) -> Run:
    """Prepare a run: check the choice against the digits, make the folder, and read earlier measurements in it.

    Parameters
    ----------
    out : path
        Folder of the report, which is made if it does not exist.
    choice : Choice
        What to reproduce.
    mnist : Mnist or None
        The digits; None if the choice needs none.

    Returns
    -------
    Run
        The run, which can measure what is missing.

    Raises
    ------
    ValueError
        If the digits do not suffice for the choice.
    ImportError
        If a package that the report needs is missing.

    See Also
    --------
    reproduce : Prepare, measure and write the report in one call.

    Examples
    --------
    >>> choice = reproduction.Choice(("table3",), ("published",), draws=1, angles=(2,), sizes=(10,))
    >>> run = reproduction.prepare("reproduction", choice, None)
    >>> run.done, run.total
    (0, 3)
    """
    for package in ("matplotlib", "jinja2"):  # the report needs them; complain before measuring, not after it
        require(package, "the reproduction", extra="reproduce")
    if mnist and choice.needs_digits:
        choice.check_digits(mnist)
    run = Run(choice, mnist, Path(out))
    run.folder.mkdir(parents=True, exist_ok=True)
    return run


class Run:
    """A run, which measures everything that the folder does not hold yet.

    `done` of `total` measurements were there before. `prepare` makes a run.

    Parameters
    ----------
    choice : Choice
        What to reproduce.
    mnist : Mnist or None
        The digits; None if the choice needs none.
    folder : Path
        Folder of the report, which exists.

    See Also
    --------
    prepare : Check the choice and make the folder before.
    write_report : Write the report of a run.

    Examples
    --------
    >>> choice = reproduction.Choice(("table3",), ("published",), draws=1, angles=(2,), sizes=(10,))
    >>> run = reproduction.prepare("reproduction", choice, None)
    >>> run.measure()
    >>> run.summarise().missing, reproduction.prepare("reproduction", choice, None).done
    (0, 3)
    """

    def __init__(self, choice: Choice, mnist: datasets.Mnist | None, folder: Path) -> None:
        self.began = time.perf_counter()
        self.choice, self.mnist, self.folder = choice, mnist, folder
        self.trials = robustness.list_trials(choice.repetitions) if "robustness" in choice.parts else []
        self.recognitions: list[Recognition] = []
        self.setup = describe_setup(choice.seed, mnist) | (baselines.find_versions() if self.trials else {})
        if "few-shot" in choice.parts:
            self.fonts = datasets.list_fonts()
            self.recognitions = few_shot.list_recognitions((1, 5) if choice.quick else few_shot.SIZES)
            self.setup |= {"fonts": digest_fonts(self.fonts), "network sources": hash_module(networks.__name__)}
            self.setup |= networks.find_versions()
        self.tasks = read_tasks(choice.data, choice.seed) if "omniglot" in choice.parts else []
        if self.tasks:
            sources, tasks = omniglot.REQUIREMENTS
            self.setup |= {sources: hash_module(omniglot.__name__), tasks: digest_tasks(self.tasks)}
        if study := self._glyph_study:
            sources, settings, fonts = glyph_study.REQUIREMENTS
            numbers = f"{study.n_characters} characters, {study.n_queries} queries, {study.refined} refined"
            self.setup |= {
                sources: hash_module(glyph_study.__name__),
                settings: f"{numbers}, {study.size} pixels, seed {study.seed}",
                fonts: digest_fonts([study.font, study.query_font]),
            }
        self.store = RunStore(folder, self.setup)
        chosen: dict[str, Any] = {"angles": choice.angles, "sizes": choice.sizes, "mnist": mnist}
        tables = [table for name, table in TABLES.items() if name in choice.parts]
        self.cells = [c for table in tables for p in choice.protocols for c in table.list_cells(p, **chosen)]
        self.variants = list_variants(**chosen) if "variants" in choice.parts else []
        varied = [cell for variant in self.variants for pair in variant.pairs for cell in pair]
        every = dict.fromkeys([*self.cells, *varied])
        self._cells = [(cell, draw) for cell in every for draw in range(choice.draws)]  # each cell in each draw
        self._trials = [(trial, 0) for trial in self.trials]
        self.n_recognition_draws = 1 if choice.quick else few_shot.N_DRAWS
        draws = range(self.n_recognition_draws)
        self._recognitions = [(recognition, draw) for recognition in self.recognitions for draw in draws]
        self._checks: list[table1.Check] = []
        self._seconds: dict[str, float] = {}
        wanted = len(self._cells) + len(self._trials) + len(self._recognitions)
        self.total = wanted + sum(len(methods) for methods in self._studies.values())
        self.done = self.total - self._count_missing()

    @property
    def _glyph_study(self) -> GlyphStudy | None:
        return self.choice.glyphs if "glyphs" in self.choice.parts else None

    @property
    def _studies(self) -> dict[str, Sequence[str]]:
        """The methods of the chosen studies that have no random draws."""
        methods = {"glyphs": GLYPH_METHODS, "omniglot": ONE_SHOT_METHODS}
        return {part: methods[part] for part in methods if part in self.choice.parts}

    def _list_missing_methods(self, part: str) -> list[str]:
        methods = self._studies.get(part, ())
        found = self.store.read_figures(part, methods)
        return [method for method in methods if method not in found]

    def _list_missing(self, wanted: list[tuple[_M, int]]) -> list[tuple[_M, int]]:
        return [place for place in wanted if place not in self.store]

    def _count_missing(self) -> int:
        every: list[tuple[Measurand, int]] = [*self._cells, *self._trials, *self._recognitions]
        methods = sum(len(self._list_missing_methods(part)) for part in self._studies)
        return len(self._list_missing(every)) + methods

    def measure(self, *, n_jobs: int | None = -1, on_progress: OnProgress | None = None) -> None:
        """Measure everything that is missing. The figures do not depend on the number of threads.

        After an interrupt, the folder holds what was stored before it: each measurement of a table, and the
        measurements of the few-shot study that come from a finished draw. Only Table 1, which takes seconds, is
        measured again.

        Parameters
        ----------
        n_jobs : int or None, default -1
            Number of threads, as in scikit-learn; −1 means all cores.
        on_progress : callable, optional
            Called as ``on_progress(done, total, task)`` during the work.

        Examples
        --------
        With the run in the example of `Run`:

        >>> run.measure(n_jobs=1)  # everything was measured before
        >>> len(run.summarise().cells)
        3
        """
        import scipy.linalg  # noqa: F401  # loads its own BLAS, which can be limited only once it is loaded
        from threadpoolctl import threadpool_limits

        stop = threading.Event()
        tasks = self._list_tasks()
        trials = [trial for trial, _ in self._list_missing(self._trials)]
        recognitions = self._list_missing(self._recognitions)
        measurands: list[Cell | Trial | Recognition] = [cell for _, cells in tasks for cell in cells]
        measurands += [*trials, *(recognition for recognition, _ in recognitions)]
        total = sum(_estimate_cost(measurand) for measurand in measurands)
        workers = _threads.count_workers(n_jobs, len(tasks) * _threads.WORK_PER_THREAD)
        counter = Counter(on_progress if total else None, total, "measuring")
        with threadpool_limits(1):  # matrix products in several threads may be rounded differently

            def work(task: tuple[int, list[Cell]]) -> None:
                number, cells = task
                draw = Draw(self.choice.seed, number, self.mnist)
                for cell in self._keep(measure_cells(cells, draw), number):
                    counter.advance(_estimate_cost(cell), f"{cell.table}, {cell.protocol}, draw {number + 1}")
                    if stop.is_set():
                        return

            _threads.for_each(work, tasks, workers, stop)
            for trial in self._keep(robustness.measure_trials(trials, self.choice.seed, self.mnist, n_jobs), 0):
                counter.advance(_estimate_cost(trial), f"robustness, {trial.dataset}")
            if recognitions:
                self._measure_recognitions(recognitions, n_jobs, counter)
            self._measure_studies(n_jobs, on_progress)
        if "table1" in self.choice.parts:
            before = time.perf_counter()
            self._checks = table1.check_table1(self.choice.seed)
            self._seconds["table1"] = time.perf_counter() - before

    def _measure_recognitions(
        self, missing: list[tuple[Recognition, int]], n_jobs: int | None, counter: Counter
    ) -> None:
        measure = few_shot.measure_recognitions(missing, self.choice.seed, self.mnist, self.fonts, n_jobs)
        with warnings.catch_warnings():
            # joblib replaces workers that have grown, such as after training a network
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
            for recognition, draw, measurement, seconds in measure:
                self.store.add(recognition, draw, measurement, seconds)
                counter.advance(_estimate_cost(recognition), f"few-shot, {recognition.dataset}, draw {draw + 1}")

    def _measure_studies(self, n_jobs: int | None, on_progress: OnProgress | None) -> None:
        """Measure the studies that have no random draws, method by method."""
        measured: Iterator[Figures]
        study, missing = self._glyph_study, self._list_missing_methods("glyphs")
        if study and missing:
            drawn = draw_glyphs(study)
            measured = (measure_glyphs(study, drawn, m, n_jobs=n_jobs, on_progress=on_progress) for m in missing)
            self._keep_figures("glyphs", measured)
        missing = self._list_missing_methods("omniglot")
        measured = (measure_one_shot(self.tasks, m, n_jobs=n_jobs, on_progress=on_progress) for m in missing)
        self._keep_figures("omniglot", measured)

    def _keep_figures(self, part: str, measured: Iterator[Figures]) -> None:
        """Add figures to the store, with the time that each took."""
        began = time.perf_counter()
        for figures in measured:
            now = time.perf_counter()
            self.store.add_figures(part, figures, now - began)
            began = now

    def _list_tasks(self) -> list[tuple[int, list[Cell]]]:
        """List draws and cells of one table and protocol, the first draw of all tables first.

        The largest classes come first: the first measurement of a group also creates the images, which takes longest.
        """
        missing = self._list_missing(self._cells)
        missing.sort(key=lambda m: (m[1], m[0].table, m[0].protocol, -m[0].class_size))
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
        """Summarise everything that is measured. Cells without any draw are left out.

        Returns
        -------
        Outcome
            The summaries.

        Examples
        --------
        With the run in the example of `Run`:

        >>> run.summarise().missing
        0
        """
        seconds: dict[str, float] = {}
        wanted: list[tuple[Cell | Trial | Recognition, int]] = [*self._cells, *self._trials, *self._recognitions]
        for measurand, draw in wanted:
            step = _name_step(measurand)
            seconds[step] = seconds.get(step, 0.0) + self.store.read_seconds(measurand, draw)
        studies = {part: self.store.read_figures(part, methods) for part, methods in self._studies.items()}
        seconds |= {part: sum(spent for _, spent in figures.values()) for part, figures in studies.items()}
        return Outcome(
            self.choice,
            {"digits_source": self.mnist.source if self.mnist else None, **self.setup},
            [summary for cell in self.cells for summary in self._summarise(cell)],
            [(v, [found for pair in v.pairs if (found := self._summarise(*pair))]) for v in self.variants],
            [summary for trial in self.trials for summary in self._summarise(trial)],
            [s for recognition in self.recognitions for s in self._summarise(recognition, n=self.n_recognition_draws)],
            self._list_accuracies(),
            self._average_seconds(),
            [figures for figures, _ in studies.get("glyphs", {}).values() if isinstance(figures, GlyphFigures)],
            [figures for figures, _ in studies.get("omniglot", {}).values() if isinstance(figures, OneShotFigures)],
            self._checks,
            seconds | self._seconds,
            self._count_missing() + ("table1" in self.choice.parts and not self._checks),
        )

    def _list_accuracies(self) -> dict[Recognition, dict[str, float]]:
        """List the accuracies by draw. Numbers of draws are texts, as the keys of JSON are."""
        found: dict[Recognition, dict[str, float]] = {}
        for recognition in self.recognitions:
            draws = self.store.read_draws(recognition, self.n_recognition_draws)
            found[recognition] = {str(draw): measurement.accuracies[0] for draw, measurement in draws.items()}
        return found

    def _average_seconds(self) -> dict[Recognition, float]:
        found: dict[Recognition, float] = {}
        for recognition in self.recognitions:
            draws = self.store.read_draws(recognition, self.n_recognition_draws)
            if draws:
                found[recognition] = float(np.mean([self.store.read_seconds(recognition, draw) for draw in draws]))
        return found

    def _summarise(self, *measurands: _M, n: int | None = None) -> list[Summary[_M]]:
        """Summarise measurands over the random draws that all of them have; empty if there are none."""
        measured = [self.store.read_draws(measurand, n or self.choice.draws) for measurand in measurands]
        common = [draw for draw in measured[0] if all(draw in draws for draws in measured)]
        if not common:
            return []
        chosen = ({draw: draws[draw] for draw in common} for draws in measured)
        return [summarise(measurand, find_printed(measurand), draws) for measurand, draws in zip(measurands, chosen)]


def _name_step(measurand: Cell | Trial | Recognition) -> str:
    """Name the step in which a measurement is done, for the times in the report."""
    if isinstance(measurand, Recognition):
        return f"few-shot, {measurand.dataset}"
    if isinstance(measurand, Trial):
        return f"robustness, {measurand.dataset}" + (", curve" if measurand.varied else "")
    return f"variant, {measurand.variant}" if measurand.variant else f"{measurand.table}, {measurand.protocol}"


def _estimate_cost(measurand: Cell | Trial | Recognition) -> int:
    """Estimate roughly, for the progress, how long a measurement takes."""
    if isinstance(measurand, Recognition):
        return few_shot.estimate_cost(measurand)
    if isinstance(measurand, Trial):
        return 300 * measurand.class_size
    return measurand.class_size * (8 + (measurand.n_angles or 16))

"""The whole of it: measure, draw, report."""

import os
import time
from pathlib import Path

from radoncdt import datasets
from radoncdt._typing import OnProgress
from radoncdt.reproduction import figures, report, table1
from radoncdt.reproduction.run import Choice, Outcome, Run

ALL = "the whole run, by the clock"
"""The last of the steps."""


class Interrupted(KeyboardInterrupt):
    """An interrupt after which a partial report was written."""


def reproduce(
    out: str | os.PathLike[str],
    choice: Choice | None = None,
    *,
    mnist: datasets.Mnist | None = None,
    n_jobs: int | None = -1,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Run the experiments of the paper and write a report that puts our figures beside the paper's.

    What was measured before in the same folder, with the same set-up, is not measured again. An interrupt leaves a
    report of what was done, which says that it is partial, and is raised again as `Interrupted`.

    Parameters
    ----------
    out : path
        Folder of the report; made if it is not there.
    choice : Choice, optional
        Which parts, protocols, draws, seed, angles and class sizes; all of the paper's by default.
    mnist : Mnist, optional
        The digits; by default those of `load_mnist`, if they are needed.
    n_jobs : int or None
        Threads, as in scikit-learn. The figures do not depend on it, bit for bit.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` while the work goes on.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> choice = reproduction.Choice(parts=("table2",), draws=3)
    >>> outcome = reproduction.reproduce("folder", choice)  # doctest: +SKIP
    >>> outcome.results[0].mean, outcome.results[0].paper.mean  # doctest: +SKIP
    """
    choice = choice or Choice()
    if mnist is None and choice.needs_digits:
        mnist = datasets.load_mnist()
    return execute(prepare(out, choice, mnist), n_jobs=n_jobs, on_progress=on_progress)


def prepare(out: str | os.PathLike[str], choice: Choice, mnist: datasets.Mnist | None) -> Run:
    """Check the choice against the digits, make the folder, and find what was measured in it before."""
    return Run(choice, mnist, Path(out))


def execute(run: Run, *, n_jobs: int | None = -1, on_progress: OnProgress | None = None) -> Outcome:
    """Measure what is missing, and write the report."""
    began = time.perf_counter()
    checks: list[table1.Check] = []
    seconds: dict[str, float] = {}

    def finish() -> Outcome:
        before = time.perf_counter()
        drawn = figures.draw(run.outcome(checks, {}), run.mnist)
        seconds["drawing"] = time.perf_counter() - before
        seconds[ALL] = time.perf_counter() - began
        outcome = run.outcome(checks, seconds)
        report.write(run.folder, outcome, drawn)
        return outcome

    try:
        run.measure(n_jobs, on_progress)
        if "table1" in run.choice.parts:
            before = time.perf_counter()
            checks += table1.check(run.choice.seed)
            seconds["table1"] = time.perf_counter() - before
    except KeyboardInterrupt as error:
        finish()
        raise Interrupted from error
    return finish()

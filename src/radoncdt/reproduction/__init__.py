"""The experiments of the paper and of its follow-up, beside the published figures: ``radoncdt reproduce``.

`Choice` says what to reproduce. `prepare` makes a `Run` of it, which measures the cells of the tables and the trials of
the robustness study, and summarises them as an `Outcome`. `write_report` puts them beside the published figures.
`reproduce` does all of this in one call.
"""

import os

from radoncdt import datasets
from radoncdt._typing import OnProgress
from radoncdt.reproduction.measurement import Measurement, Printed, Summary
from radoncdt.reproduction.protocol import PROTOCOLS, Cell
from radoncdt.reproduction.recognition.glyph_study import GlyphStudy
from radoncdt.reproduction.report import WHOLE_RUN, write_report
from radoncdt.reproduction.robustness import Trial
from radoncdt.reproduction.runner import MORE_PARTS, PARTS, Choice, Outcome, Run, prepare

__all__ = [
    "MORE_PARTS",
    "PARTS",
    "PROTOCOLS",
    "WHOLE_RUN",
    "Cell",
    "Choice",
    "GlyphStudy",
    "Measurement",
    "Outcome",
    "Printed",
    "Run",
    "Summary",
    "Trial",
    "prepare",
    "reproduce",
    "write_report",
]


def reproduce(
    out: str | os.PathLike[str],
    choice: Choice | None = None,
    *,
    mnist: datasets.Mnist | None = None,
    n_jobs: int | None = -1,
    on_progress: OnProgress | None = None,
) -> Outcome:
    """Run the experiments of the paper and write a report that puts our figures beside the paper's.

    Measurements that the folder already has, with the same set-up, are not repeated. An interrupt leaves a partial
    report of what was measured before it.

    Parameters
    ----------
    out : path
        Folder of the report, which is made if it does not exist.
    choice : Choice, optional
        Parts, protocols, draws, seed, angles and class sizes; those of the paper by default.
    mnist : Mnist, optional
        The digits; those of `radoncdt.datasets.load_mnist` by default.
    n_jobs : int or None
        Number of threads, as in scikit-learn. The figures do not depend on it, bit for bit.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` during the work.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> choice = reproduction.Choice(parts=("table2",), draws=3)
    >>> outcome = reproduction.reproduce("folder", choice)  # doctest: +SKIP
    >>> outcome.cells[0].mean, outcome.cells[0].paper.mean  # doctest: +SKIP
    """
    choice = choice or Choice()
    if mnist is None and choice.needs_digits:
        mnist = datasets.load_mnist()
    run = prepare(out, choice, mnist)
    try:
        run.measure(n_jobs=n_jobs, on_progress=on_progress)
    except KeyboardInterrupt:
        write_report(run)
        raise
    return write_report(run)

"""The experiments of the paper and of its follow-up, beside the published figures: ``radoncdt reproduce``.

`Choice` says what to reproduce. `prepare` makes a `Run` of it, which measures the cells of the tables and the trials of
the robustness study, and summarises them as an `Outcome`. `write_report` puts them beside the published figures.
`reproduce` does all of this in one call.
"""

import os

from radoncdt import datasets
from radoncdt._typing import OnProgress
from radoncdt.reproduction.choice import MORE_PARTS, PARTS, Choice
from radoncdt.reproduction.measurement import Measurement, Printed, Summary
from radoncdt.reproduction.outcome import Outcome
from radoncdt.reproduction.protocol import PROTOCOLS, Cell
from radoncdt.reproduction.recognition.glyph_study import GlyphStudy
from radoncdt.reproduction.report import WHOLE_RUN, write_report
from radoncdt.reproduction.robustness import Trial
from radoncdt.reproduction.runner import Run, prepare

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

    The paper is [1]_. Measurements that the folder already has, with the same set-up, are not repeated. An interrupt
    leaves a partial report of what was measured before it.

    Parameters
    ----------
    out : path
        Folder of the report, which is made if it does not exist.
    choice : Choice, optional
        Parts, protocols, draws, seed, angles and class sizes; those of the paper by default.
    mnist : Mnist, optional
        The digits; those of `radoncdt.datasets.load_mnist` by default.
    n_jobs : int or None, default -1
        Number of threads, as in scikit-learn; −1 means all cores. The figures do not depend on it, bit for bit.
    on_progress : callable, optional
        Called as ``on_progress(done, total, task)`` during the work.

    Returns
    -------
    Outcome
        The figures of the report.

    Raises
    ------
    TypeError, ValueError
        If the digits do not suffice for the choice.
    ImportError
        If a package of the extra "reproduce" is missing.

    See Also
    --------
    prepare : The first step, which reads earlier measurements.
    write_report : The last step.

    References
    ----------
    .. [1] M. Beckmann, R. Beinert, J. Bresch, "Max-normalized Radon cumulative distribution transform for limited data
           classification", Scale Space and Variational Methods in Computer Vision (SSVM), 2025. arXiv:2411.16282.

    Examples
    --------
    A small part of Table 3, with one random draw instead of ten:

    >>> from pathlib import Path
    >>> choice = reproduction.Choice(("table3",), ("published",), draws=1, angles=(2,), sizes=(10,))
    >>> outcome = reproduction.reproduce("reproduction", choice)
    >>> Path("reproduction/report.html").exists()
    True
    >>> [(summary.measurand.feature, summary.paper.mean) for summary in outcome.cells]
    [('euclidean', 0.489), ('rcdt', 0.644), ('mnrcdt', 0.872)]
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

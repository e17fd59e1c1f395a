"""The results of a run, as far as it was measured."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from radoncdt.reproduction import table1
from radoncdt.reproduction.choice import Choice
from radoncdt.reproduction.measurement import Summary
from radoncdt.reproduction.protocol import Cell
from radoncdt.reproduction.recognition.few_shot import Recognition
from radoncdt.reproduction.recognition.glyph_study import GlyphFigures
from radoncdt.reproduction.recognition.omniglot import OneShotFigures
from radoncdt.reproduction.robustness import Trial
from radoncdt.reproduction.tables import Variant

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """The results of a run, as far as it was measured.

    Parameters
    ----------
    choice : Choice
        What was chosen.
    setup : dict
        Everything that decides a figure: the seed, the digits, the versions of the libraries, and a hash of the code.
    cells : list of Summary
        Summaries of the cells of Tables 2 to 4; the measurand of each is a `Cell`.
    comparisons : list of (variant, pairs)
        The variants of the protocol, each with the two summaries of each pair of cells over the same random draws.
    trials : list of Summary
        Summaries of the trials of the robustness study; the measurand of each is a `Trial`.
    recognitions : list of Summary
        Summaries of the few-shot study.
    accuracies : dict of dicts
        The accuracies of the few-shot study: by measurand, and by number of the draw.
    recognition_seconds : dict of float
        Mean times of training and testing in the few-shot study, by measurand.
    glyphs : list
        The figures of the glyph study, one per method.
    one_shot : list
        The figures of Omniglot, one per method.
    checks : list
        The rows of Table 1.
    seconds : dict of str to float
        Time of each step; steps that run in several threads add up to more than the whole run, which is "the whole run,
        by the clock".
    missing : int
        Number of missing measurements: cells in a draw, trials, and methods of a study. Table 1 counts as one.

    See Also
    --------
    reproduce : Run the experiments.
    Run : The run, which summarises its measurements as an outcome.

    Examples
    --------
    With the run in the example of `Run`:

    >>> outcome = run.summarise()
    >>> len(outcome.cells), outcome.missing
    (3, 0)
    """

    choice: Choice
    setup: dict[str, Any]
    cells: list[Summary[Cell]]
    comparisons: list[tuple[Variant, list[list[Summary[Cell]]]]]
    trials: list[Summary[Trial]]
    recognitions: list[Summary[Recognition]]
    accuracies: dict[Recognition, dict[str, float]]
    recognition_seconds: dict[Recognition, float]
    glyphs: list[GlyphFigures]
    one_shot: list[OneShotFigures]
    checks: list[table1.Check]
    seconds: dict[str, float]
    missing: int

    def select_cells(self, table: str, protocol: str | None = None) -> list[Summary[Cell]]:
        """Select the cells of a table, in one protocol or in all.

        Parameters
        ----------
        table : str
            The table: "table2", "table3" or "table4".
        protocol : {"published", "independent"}, optional
            The protocol. The default is all protocols.

        Returns
        -------
        list of Summary
            The summaries of the cells.

        Examples
        --------
        With the run in the example of `Run`:

        >>> outcome = run.summarise()
        >>> len(outcome.select_cells("table3")), len(outcome.select_cells("table3", "independent"))
        (3, 0)
        """
        return [s for s in self.cells if s.measurand.table == table and protocol in (None, s.measurand.protocol)]

    def select_trials(self, dataset: str, varied: str | None = None) -> list[Summary[Trial]]:
        """Select the trials of a set, or of the curve for one parameter of it.

        Parameters
        ----------
        dataset : str
            The set: "aff", "elastic", "salt", "all" or "linmnist10".
        varied : {"dots", "amplitude"}, optional
            The parameter of the curve. By default the trials of no curve are selected.

        Returns
        -------
        list of Summary
            The summaries of the trials.

        Examples
        --------
        With the run in the example of `Run`:

        >>> run.summarise().select_trials("salt")  # the robustness study was not chosen
        []
        """
        return [s for s in self.trials if (s.measurand.dataset, s.measurand.varied) == (dataset, varied)]

    def describe(self) -> dict[str, Any]:
        """Describe what was measured, and with what.

        Returns
        -------
        dict
            The fields of the choice, and the set-up.

        Examples
        --------
        With the run in the example of `Run`:

        >>> described = run.summarise().describe()
        >>> described["parts"], described["draws"], described["seed"]
        (('table3',), 1, 0)
        """
        chosen = {field.name: getattr(self.choice, field.name) for field in fields(self.choice)}
        glyphs = self.choice.glyphs
        described = f"{glyphs.font.name}, queries in {glyphs.query_font.name}" if glyphs else None
        data = tuple(Path(path).name for path in self.choice.data)
        return {**chosen, "glyphs": described, "data": data or None, **self.setup}

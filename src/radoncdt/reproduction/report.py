"""The report of a run: HTML, Markdown, CSV, JSON and figures."""

import base64
import io
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from operator import methodcaller
from typing import Any

from radoncdt._csv import encode_table
from radoncdt._files import write_atomically
from radoncdt._templates import load_template
from radoncdt.reproduction.figures import CAPTIONS, draw_figures
from radoncdt.reproduction.measurement import Summary
from radoncdt.reproduction.outcome import Outcome
from radoncdt.reproduction.protocol import Cell
from radoncdt.reproduction.recognition import few_shot_tables
from radoncdt.reproduction.runner import Run
from radoncdt.reproduction.sections import list_sections
from radoncdt.reproduction.tables import TABLES

__all__ = ["WHOLE_RUN", "render", "write_report"]

WHOLE_RUN = "the whole run, by the clock"
"""The name of the last of the steps in `Outcome.seconds`."""

_TITLE = "The experiments of the paper, run by radoncdt"


def write_report(run: Run) -> Outcome:
    """Write all files of the report into the folder of the run, each as a whole or not at all.

    The report covers everything that is measured so far. Tables and figures of an earlier report that this one does not
    have are removed; their measurements stay in the folder.

    Parameters
    ----------
    run : Run
        The run.

    Returns
    -------
    Outcome
        The figures of the report, with the times of all steps.

    See Also
    --------
    reproduce : Prepare, measure and write the report in one call.

    Examples
    --------
    With the run in the example of `Run`:

    >>> outcome = reproduction.write_report(run)
    >>> sorted(path.name for path in run.folder.glob("table*"))
    ['table3.csv', 'table3.json']
    """
    outcome = run.summarise()
    began = time.perf_counter()
    figures = draw_figures(outcome, run.mnist)
    now = time.perf_counter()
    steps = {**outcome.seconds, "drawing": now - began, WHOLE_RUN: now - run.began}
    outcome = replace(outcome, seconds={step: round(seconds, 2) for step, seconds in steps.items()})
    files = {f"figures/{name}.{form}": _save_figure(f, form) for name, f in figures.items() for form in ("png", "svg")}
    tables = _list_records(outcome)
    for name, records in tables.items():
        if records:
            files[f"{name}.csv"] = encode_table(records[0], (record.values() for record in records))
            files[f"{name}.json"] = _encode_json(records)
    files["results.json"] = _encode_json([summary.record() for summary in outcome.cells])
    progress = {"complete": outcome.missing == 0, "missing_measurements": outcome.missing}
    files["setup.json"] = _encode_json({**progress, **outcome.describe(), "seconds": outcome.seconds})
    svgs = {name: files[f"figures/{name}.svg"] for name in figures}
    files |= {name: render(name, outcome, svgs).encode() for name in ("report.md", "report.html")}
    if figures:
        (run.folder / "figures").mkdir(exist_ok=True)
    for name, content in files.items():
        write_atomically(run.folder / name, methodcaller("write", content))
    possible = {f"{name}.{form}" for name in tables for form in ("csv", "json")}
    possible |= {f"figures/{name}.{form}" for name in CAPTIONS for form in ("png", "svg")}
    for name in possible - files.keys():
        (run.folder / name).unlink(missing_ok=True)
    return outcome


def render(name: str, outcome: Outcome, svgs: Mapping[str, bytes]) -> str:
    """Render the template of "report.html" or "report.md"; `svgs` holds the figures by name."""
    return load_template("radoncdt.reproduction", name, extra="reproduce").render(
        title=_TITLE,
        sections=list_sections(outcome, list(svgs)),
        captions=CAPTIONS,
        pictures={name: base64.b64encode(svg).decode() for name, svg in svgs.items()},
    )


def _list_records(outcome: Outcome) -> dict[str, list[dict[str, Any]]]:
    """List the rows of every table, by name."""
    tables = {table: [summary.record() for summary in outcome.select_cells(table)] for table in TABLES}
    tables["table1"] = [asdict(check) for check in outcome.checks]
    tables["variants"] = [_compare(variant.title, *pair) for variant, pairs in outcome.comparisons for pair in pairs]
    tables["robustness"] = [s.record() for s in outcome.trials if s.measurand.varied is None]
    tables["robustness_curves"] = [s.record() for s in outcome.trials if s.measurand.varied is not None]
    tables["few_shot"] = few_shot_tables.list_records(outcome)
    tables["glyphs"] = [asdict(figures) for figures in outcome.glyphs]
    tables["omniglot"] = [asdict(figures) for figures in outcome.one_shot]
    return tables


def _compare(title: str, published: Summary[Cell], otherwise: Summary[Cell]) -> dict[str, Any]:
    names = ("table", "dataset", "feature", "norm", "n_angles", "class_size")
    return {
        "variant": title,
        **{name: getattr(published.measurand, name) for name in names},
        "paper_mean": published.paper_mean,
        "published_mean": published.mean,
        "otherwise_mean": otherwise.mean,
        "difference": otherwise.mean - published.mean,
        "draws": min(published.draws, otherwise.draws),
    }


def _save_figure(figure: Any, form: str) -> bytes:
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "radoncdt"}):  # equal figures give equal files
        figure.savefig(file, format=form, dpi=130, metadata={"Date": None} if form == "svg" else None)
    return file.getvalue()


def _encode_json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()

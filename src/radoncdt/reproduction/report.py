"""The report of an outcome: HTML, Markdown, CSV, JSON, figures."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from radoncdt._files import write_atomically
from radoncdt.reproduction.cells import Result
from radoncdt.reproduction.figures import NAMES
from radoncdt.reproduction.render import html, markdown
from radoncdt.reproduction.run import TABLES, Outcome

ROBUSTNESS = ("robustness", "robustness_curves")


def write(folder: Path, outcome: Outcome, figures: Mapping[str, Any]) -> list[Path]:
    """Write all files of the report, each as a whole or not at all, and return their paths.

    Tables and figures of an earlier report that this one does not have are removed: what was measured for them is still
    in the store.
    """
    files: dict[str, bytes] = {}
    for name, figure in figures.items():
        files[f"figures/{name}.png"] = _drawn(figure, "png")
        files[f"figures/{name}.svg"] = _drawn(figure, "svg")
    for name, records in _records(outcome).items():
        files[f"{name}.csv"], files[f"{name}.json"] = _csv(records), _json(records)
    files["results.json"] = _json([result.record() for result in outcome.results])
    files["setup.json"] = _json(_setup(outcome))
    files["report.md"] = markdown(outcome, list(figures)).encode()
    svgs = {name: files[f"figures/{name}.svg"] for name in figures}
    files["report.html"] = html(outcome, svgs).encode()
    if figures:
        (folder / "figures").mkdir(exist_ok=True)
    for name, content in files.items():
        write_atomically(folder / name, partial(_put, content))
    for name in _possible() - files.keys():
        (folder / name).unlink(missing_ok=True)
    return [folder / name for name in files]


def _possible() -> set[str]:
    """Tables and figures that a report can have."""
    tables = {f"{name}.{form}" for name in ("table1", *TABLES, "variants", *ROBUSTNESS) for form in ("csv", "json")}
    return tables | {f"figures/{name}.{form}" for name in NAMES for form in ("png", "svg")}


def _put(content: bytes, file: Any) -> None:
    file.write(content)


def _records(outcome: Outcome) -> dict[str, list[dict[str, Any]]]:
    """The rows of every table, by name."""
    tables = {"table1": [check.record() for check in outcome.checks]}
    for table in TABLES:
        tables[table] = [result.record() for result in outcome.results if result.cell.table == table]
    tables["variants"] = [_compared(*pair, variant.title) for variant, pairs in outcome.comparisons for pair in pairs]
    for name, curves in zip(ROBUSTNESS, (False, True)):
        tables[name] = [result.record() for result in outcome.trials if (result.trial.varied is not None) == curves]
    return {name: records for name, records in tables.items() if records}


def _compared(published: Result, otherwise: Result, title: str) -> dict[str, Any]:
    cell = published.cell
    return {
        "variant": title,
        "table": cell.table,
        "dataset": cell.dataset,
        "feature": cell.feature,
        "norm": cell.norm,
        "n_angles": cell.n_angles,
        "class_size": cell.class_size,
        "paper_mean": published.paper and published.paper.mean,
        "published_mean": published.mean,
        "otherwise_mean": otherwise.mean,
        "difference": otherwise.mean - published.mean,
        "draws": min(published.draws, otherwise.draws),
    }


def _setup(outcome: Outcome) -> dict[str, Any]:
    choice = outcome.choice
    return {
        "complete": outcome.missing == 0,
        "missing_measurements": outcome.missing,
        "parts": choice.parts,
        "protocols": choice.protocols,
        "draws": choice.draws,
        "angles": choice.angles,
        "sizes": choice.sizes,
        "repetitions": choice.repetitions,
        **outcome.setup,
        "seconds": {step: round(seconds, 2) for step, seconds in outcome.seconds.items()},
    }


def _drawn(figure: Any, form: str) -> bytes:
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "radoncdt"}):  # the same figure, the same file
        figure.savefig(file, format=form, dpi=130, metadata={"Date": None} if form == "svg" else None)
    return file.getvalue()


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _csv(records: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(records[0]))
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()

"""Write the tables and the picture about recognition in the documents from stored results.

python -m benchmarks recognition_page
python -m benchmarks recognition_page --results DIR …    # first take over the figures of reports
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.priors import RESULTS, make_prior_table
from benchmarks.report import add_results, insert_passages, make_parser, make_table, take_over, write_text
from benchmarks.training import make_training_table
from radoncdt import plot
from radoncdt.reproduction.figures import PLOTTED, draw_few_shot
from radoncdt.reproduction.recognition.few_shot_tables import (
    METHOD_LABELS,
    SET_LABELS,
    SHORT_SET_LABELS,
    describe_wins,
    list_accuracies,
    list_times,
)
from radoncdt.reproduction.recognition.tables import list_glyphs, list_one_shot

DOCS = Path(__file__).parent.parent / "docs"
PICTURE = DOCS / "pictures" / "recognition_few_shot.png"
STUDIES = ("few_shot", "glyphs", "omniglot")  # the studies of `radoncdt reproduce`

Records = list[dict[str, Any]]


def make_few_shot_tables(records: Records) -> str:
    """Make the tables of accuracies, and the sentences about what is better than the few-shot classifier."""
    blocks = []
    for dataset, title in SET_LABELS.items():
        blocks += [f"**{title}**", make_table(*list_accuracies(records, dataset))]
    times = make_table(*list_times(records, "digits"))
    blocks += ["**Seconds of processor time for 500 digits**, training and testing, in one thread", times]
    blocks.append(
        "Better than `FewShotClassifier` by more than one standard error of the difference on the same draws:"
    )
    blocks.append("\n".join(f"- {sentence}" for sentence in describe_wins(records)))
    return "\n\n".join(blocks)


def make_choice(records: Records) -> str:
    """Make the table for choosing features: accuracies with one and with fifty examples on all sets, and times."""
    found = {(each["method"], each["dataset"], each["n_train"]): each for each in records}
    rows = [
        [
            METHOD_LABELS[method],
            *(", ".join(f"{found[method, name, n]['mean']:.3f}" for n in (1, 50)) for name in SET_LABELS),
            ", ".join(f"{found[method, 'digits', n]['seconds']:.1f}" for n in (1, 50)),
        ]
        for method in METHOD_LABELS
        if all((method, name, n) in found for name in SET_LABELS for n in (1, 50))
    ]
    return make_table(["features and classifier", *SHORT_SET_LABELS.values(), "seconds"], rows)


PAGES: dict[Path, dict[str, Callable[[Records], str]]] = {
    DOCS / "results" / "recognition.md": {
        "few_shot": make_few_shot_tables,
        "glyphs": lambda records: make_table(*list_glyphs(records)),
        "omniglot": lambda records: make_table(*list_one_shot(records)),
        "priors": make_prior_table,
        "training": make_training_table,
    },
    DOCS / "howto" / "choose-features.md": {"few_shot": make_choice},
}
"""The functions that make the tables of a page from the records of the same name."""


def load_records() -> dict[str, Records]:
    """Load the records of all studies."""
    records: dict[str, Records] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return records


def insert_tables(page: Path, text: str, records: dict[str, Records]) -> str:
    """Replace the tables in the text of a page, which are between marks, by those of the given records."""
    passages = {name: make(records[name]) for name, make in PAGES[page].items()}
    return insert_passages(text, "recognition", passages)


def list_facts(records: Records) -> dict[str, Any]:
    """List the figures that the picture shows: accuracies by set, method and number of examples."""
    facts: dict[str, Any] = {}
    for record in records:
        if record["method"] in PLOTTED:
            methods = facts.setdefault(SET_LABELS[record["dataset"]], {})
            curve = methods.setdefault(METHOD_LABELS[record["method"]], {})
            curve[str(record["n_train"])] = round(record["mean"], 3)
    return facts


def main(arguments: Sequence[str]) -> int:
    parser = make_parser(__name__, __doc__)
    add_results(parser, "reports with the parts few-shot, glyphs or omniglot")
    take_over(RESULTS, parser.parse_args(arguments).results, dict(zip(STUDIES, STUDIES)))
    records = load_records()
    for page in PAGES:
        write_text(page, insert_tables(page, page.read_text(encoding="utf-8"), records))
    plot.save(draw_few_shot(records["few_shot"]), PICTURE, list_facts(records["few_shot"]))
    print(*PAGES, PICTURE, sep="\n")
    return 0

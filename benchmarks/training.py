"""Compare the network of `radoncdt reproduce few-shot` with the same network after twice as many training steps.

    python -m benchmarks training [--draws N]

The number of steps is a setting, which must not be chosen on the draws of the study. These draws have another seed, and
the same images for both networks. The records are written to benchmarks/recognition.json, from which
`python -m benchmarks recognition_page` makes the table in the documents. This needs the extra deep.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks.priors import RESULTS
from benchmarks.report import make_parser, make_table, write_json
from radoncdt import datasets
from radoncdt.datasets.fonts import Font
from radoncdt.reproduction.recognition import networks
from radoncdt.reproduction.recognition.few_shot_tables import SHORT_SET_LABELS
from radoncdt.reproduction.recognition.sets import draw_set

SEED = 99  # that of the study is 0
SIZES = (1, 10)  # examples per class
FACTORS = (1, 2)  # the chosen number of steps, and twice as many


def count_steps(dataset: str, n_train: int) -> int:
    """Return the number of training steps in the study."""
    return max(steps for least, steps in networks.N_STEPS[dataset].items() if least <= n_train)


def measure(dataset: str, n_train: int, draw: int, mnist: datasets.Mnist, fonts: list[Font]) -> list[float]:
    """Measure the accuracies of networks in one draw, for all factors."""
    drawn = draw_set(dataset, SEED, draw, mnist, fonts)
    (train, labels), (test, truth) = drawn.choose(n_train), drawn.tested
    steps, variants = count_steps(dataset, n_train), networks.VARIANTS[dataset]
    accuracies = []
    with threadpool_limits(1):
        for factor in FACTORS:
            predict = networks.train(train, labels, variants, n_steps=factor * steps, seed=draw)
            accuracies.append(float(np.mean(predict(test).argmax(axis=1) == truth)))
    return accuracies


def measure_all(n_draws: int) -> list[dict[str, Any]]:
    """Measure all sets and sizes; return one record for each."""
    mnist, fonts = datasets.load_mnist(), datasets.list_fonts()
    places = [(dataset, n) for n in reversed(SIZES) for dataset in SHORT_SET_LABELS]  # the longest first
    work = (delayed(measure)(*place, draw, mnist, fonts) for place in places for draw in range(n_draws))
    found = Parallel(n_jobs=-1)(work)
    return [
        {"dataset": dataset, "n_train": n, "steps": count_steps(dataset, n), "accuracies": found[k : k + n_draws]}
        for k, (dataset, n) in zip(range(0, len(found), n_draws), places)
    ][::-1]


def make_training_table(records: Sequence[Mapping[str, Any]]) -> str:
    """Make the table of mean accuracies, and of the difference with its standard error."""
    rows = []
    for record in sorted(records, key=lambda r: (list(SHORT_SET_LABELS).index(r["dataset"]), r["n_train"])):
        once, twice = np.transpose(record["accuracies"])
        error = (twice - once).std(ddof=1) / np.sqrt(len(once))
        name, steps = SHORT_SET_LABELS[record["dataset"]], record["steps"]
        difference = f"{(twice - once).mean():+.3f} ± {error:.3f}"
        rows.append(
            [name, str(record["n_train"]), f"{steps:,}", f"{once.mean():.3f}", f"{twice.mean():.3f}", difference]
        )
    return make_table(["set", "examples", "steps", "accuracy", "with twice as many steps", "difference"], rows)


def main(arguments: Sequence[str]) -> int:
    parser = make_parser(__name__, __doc__)
    parser.add_argument(
        "--draws", type=int, default=3, metavar="N", help="number of random draws (default %(default)s)"
    )
    n_draws = parser.parse_args(arguments).draws
    if n_draws < 2:  # one draw has no standard error
        parser.error(f"--draws must be at least 2, got {n_draws}")
    records = measure_all(n_draws)
    write_json(RESULTS, json.loads(RESULTS.read_text(encoding="utf-8")) | {"training": records})
    print(make_training_table(records))
    return 0

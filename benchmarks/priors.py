"""Choose the penalties of the named priors on development data.

    python -m benchmarks priors [--omniglot FILE …] [--tasks N]

Every task has one example per class. The sets for "upright" are digits and capitals that are rotated by at most 15°,
and tasks from the background alphabets of Omniglot, if their files are given. Digits and capitals that are rotated by
at most a radian are measured too, to show where the prior ends, but they are not upright, and nothing is chosen by
them. The sets for "photograph" are digits, capitals and synthetic watermarks with any rotation.

Penalties are varied on a grid. To see whether another choice is better, the tasks of every set are divided in two
halves, those of Omniglot by alphabets. The best penalties of one half are compared with the current ones on the other
half. The penalties should be changed if this gains more than one standard error. The records are written to
benchmarks/recognition.json, from which `python -m benchmarks recognition_page` makes the table in the documents.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import make_parser, make_table, write_text
from radoncdt import DescriptorSettings, Plausible, datasets
from radoncdt.datasets import AffineDistribution
from radoncdt.matching.framed import Frame, Framed
from radoncdt.matching.prior import PRIORS, MapPrior
from radoncdt.matching.turns import compute_map_features, find_turns
from radoncdt.measures import Batch
from radoncdt.reproduction.recognition.omniglot import OneShotTask, draw_tasks

RESULTS = Path(__file__).parent / "recognition.json"

UPRIGHT = AffineDistribution(scale=(0.75, 1.25), isotropic=False, rotation=15, shear=5)
NEAR = AffineDistribution(scale=(0.75, 1.25), isotropic=False, rotation=np.rad2deg(1), shear=5)
ANY = AffineDistribution(scale=(0.6, 1.0), isotropic=False, rotation=180, shear=20)

ASPECTS, BENT_ASPECTS = (0.0, 0.002, 0.006, 0.02), (0.0, 0.1, 0.3, 1.0)
ROTATIONS, BENT_ROTATIONS = (0.0, 0.01, 0.03, 0.1), (0.0, 1.0, 3.0, 10.0)
N_TASKS = 16  # of each set
N_QUERIES = 8  # images to classify per digit
N_MARKS, N_MARK_QUERIES = 60, 40
CANVAS = 128  # pixels; digits and capitals are enlarged to about a third of it

Images = list[NDArray[np.float32]]


@dataclass(frozen=True)
class DevelopmentSet:
    """Tasks, and the frame on which their images are compared."""

    name: str
    tasks: list[OneShotTask]
    halves: list[int]  # 0 or 1 for each task
    frame: Frame
    decides: bool = True  # whether penalties are chosen by this set


class Choice(NamedTuple):
    """The accuracies of all penalties in all tasks of all sets."""

    penalties: list[MapPrior]
    accuracies: dict[str, NDArray[np.float64]]  # for each set, (n_tasks, n_penalties)
    halves: dict[str, NDArray[np.int64]]
    deciding: list[str]  # the sets by which penalties are chosen


# ---------------------------------------------------------------- development data


def _put(image: NDArray[Any], height: int) -> NDArray[np.float32]:
    """Enlarge an image to a height in pixels, and put it on a canvas."""
    from scipy.ndimage import zoom

    large = np.clip(zoom(image.astype(np.float32), height / image.shape[0], order=1), 0, 1)
    margins = [((CANVAS - n) // 2, CANVAS - n - (CANVAS - n) // 2) for n in large.shape]
    return np.pad(large, margins)


def _move(images: Images, maps: AffineDistribution, random: np.random.Generator) -> Images:
    return list(datasets.random_affine(np.stack(images), maps, random)[0])


def make_digits(n: int, maps: AffineDistribution, seed: int) -> list[OneShotTask]:
    """Make tasks with one example of each digit. All images are moved."""
    mnist, random = datasets.load_mnist(), np.random.default_rng([1, seed])
    tasks = []
    for k in range(n):
        chosen = [random.permutation(500)[: 1 + N_QUERIES] for _ in range(10)]
        pictures = [[_put(mnist.first(d, 500)[i] / 255, 48) for i in chosen[d]] for d in range(10)]
        training = _move([each[0] for each in pictures], maps, random)
        test = _move([image for each in pictures for image in each[1:]], maps, random)
        tasks.append(OneShotTask(f"digits {k}", training, test, np.repeat(np.arange(10), N_QUERIES)))
    return tasks


def make_capitals(n: int, maps: AffineDistribution, seed: int) -> list[OneShotTask]:
    """Make tasks with the capitals of one font as examples, and those of another one to classify. All are moved."""
    fonts, random = datasets.list_fonts(system=False), np.random.default_rng([2, seed])
    tasks = []
    for _ in range(n):
        pair = [fonts[i] for i in random.permutation(len(fonts))[:2]]
        drawn = (datasets.glyphs(font, map(chr, range(65, 91)), size=64) for font in pair)
        training, test = (_move([_put(image, 48) for image in each], maps, random) for each in drawn)
        tasks.append(OneShotTask(" / ".join(font.name for font in pair), training, test, np.arange(26)))
    return tasks


def make_marks(n: int, seed: int) -> list[OneShotTask]:
    """Make tasks with synthetic watermarks, to be found from bent, moved drawings."""
    tasks = []
    for k in range(n):
        marks = datasets.watermarks(N_MARKS, seed + k)
        queries = marks.queries(N_MARK_QUERIES, rng=seed + k)
        tasks.append(OneShotTask(f"marks {k}", [mark.image() for mark in marks], list(queries.images), queries.marks))
    return tasks


def make_sets(name: str, n: int, omniglot: Sequence[str], seed: int = 0) -> Iterator[DevelopmentSet]:
    """Make the development sets of a named prior."""
    halves = [k % 2 for k in range(n)]
    small = Frame.read(28, None)
    every_maps = {"upright": {"15°": UPRIGHT, "57°": NEAR}, "photograph": {"180°": ANY}}[name]
    for angle, maps in every_maps.items():
        decides = maps is not NEAR
        yield DevelopmentSet(f"digits, ±{angle}", make_digits(n, maps, seed), halves, small, decides)
        yield DevelopmentSet(f"capitals, ±{angle}", make_capitals(n, maps, seed), halves, small, decides)
    if name == "photograph":
        yield DevelopmentSet("marks", make_marks(n // 4, seed), halves[: n // 4], Frame.read(56, None))
    elif omniglot:
        tasks = draw_tasks(omniglot, 2 * n, rng=seed)
        alphabets = sorted({task.name.split()[0] for task in tasks})
        by_alphabet = [alphabets.index(task.name.split()[0]) % 2 for task in tasks]
        yield DevelopmentSet("Omniglot", tasks, by_alphabet, Frame.read(32, 3))


# ---------------------------------------------------------------- measuring


def list_penalties(name: str) -> list[MapPrior]:
    """List the penalties that are tried, the current ones first. "photograph" has no penalty of rotation."""
    is_upright = name == "upright"
    grid = itertools.product(
        ASPECTS, ROTATIONS if is_upright else (0.0,), BENT_ASPECTS, BENT_ROTATIONS if is_upright else (0.0,)
    )
    others = (MapPrior(aspect=a, rotation=r, bent_aspect=b, bent_rotation=s) for a, r, b, s in grid)
    return [PRIORS[name], *(prior for prior in others if prior != PRIORS[name])]


def measure_task(
    task: OneShotTask, frame: Frame, penalties: Sequence[MapPrior], n_jobs: int | None
) -> NDArray[np.float64]:
    """Return the accuracy of the nearest example for all penalties."""
    settings, shape = DescriptorSettings(), (len(task.test), len(task.training))
    test, training = (
        Framed.describe(Batch.read(images), settings, frame, n_jobs) for images in (task.test, task.training)
    )
    pairs = np.argwhere(np.ones(shape, bool))
    found: dict[tuple[float, float], tuple[Any, Any]] = {}
    accuracies = []
    for prior in penalties:
        key = prior.aspect, prior.rotation
        if key not in found:
            limits, both = Plausible(reflections=False), (test.descriptors, training.descriptors)
            turns = find_turns(*both, limits=limits, prior=prior, n_jobs=n_jobs)[1].ravel()
            bent = test.compare(training, pairs, turns, n_jobs).distances
            found[key] = bent, np.array(compute_map_features(*both, pairs, turns))
        distances, features = found[key]
        costs = (distances + prior.bent_penalties @ features).reshape(shape)
        accuracies.append((costs.argmin(axis=1) == task.answers).mean())
    return np.array(accuracies)


def measure_prior(name: str, n: int, omniglot: Sequence[str], n_jobs: int | None = -1) -> Choice:
    """Measure all penalties on the development sets of a named prior."""
    penalties, accuracies, halves, deciding = list_penalties(name), {}, {}, []
    for each in make_sets(name, n, omniglot):
        accuracies[each.name] = np.array([measure_task(task, each.frame, penalties, n_jobs) for task in each.tasks])
        halves[each.name] = np.array(each.halves)
        deciding += [each.name] * each.decides
    return Choice(penalties, accuracies, halves, deciding)


def choose(choice: Choice, half: int | None = None) -> int:
    """Return the index of the penalties with the largest mean accuracy over the deciding sets; ties go to the first
    ones.

    Only the tasks of one half count, if it is given.
    """
    means = []
    for name in choice.deciding:
        each = choice.accuracies[name]
        means.append(each if half is None else each[choice.halves[name] == half])
    return int(np.round(np.mean([each.mean(axis=0) for each in means], axis=0), 9).argmax())


def validate(choice: Choice) -> tuple[float, float]:
    """Return the mean gain of penalties that are chosen on one half of the tasks, on the other half; and its error."""
    gains, variances = [], []
    for name in choice.deciding:
        each = choice.accuracies[name]
        best = np.array([choose(choice, 1 - half) for half in choice.halves[name]])
        differences = each[np.arange(len(each)), best] - each[:, 0]
        gains.append(differences.mean())
        variances.append(differences.var(ddof=1) / len(differences))
    return float(np.mean(gains)), float(np.sqrt(np.sum(variances)) / len(variances))


def make_record(name: str, choice: Choice) -> dict[str, Any]:
    """Return the results of a named prior as a record."""
    any_map, best = choice.penalties.index(PRIORS["any"]), choose(choice)
    gain, error = validate(choice)
    return {
        "prior": name,
        "sets": {
            each: {
                "tasks": len(found),
                "any": found[:, any_map].mean(),
                "current": found[:, 0].mean(),
                "error": found[:, 0].std(ddof=1) / np.sqrt(len(found)),
                "best": found[:, best].mean(),
            }
            for each, found in choice.accuracies.items()
        },
        "current": list(astuple(choice.penalties[0])),
        "best": list(astuple(choice.penalties[best])),
        "gain": gain,
        "gain_error": error,
    }


def make_prior_table(records: Sequence[dict[str, Any]]) -> str:
    """Make the table of the priors from records."""
    rows = []
    for record in records:
        for name, found in record["sets"].items():
            rows.append(
                [
                    f'"{record["prior"]}"',
                    name,
                    str(found["tasks"]),
                    *(f"{found[key]:.3f}" for key in ("any", "current", "error", "best")),
                ]
            )
        rows.append(
            [
                f'"{record["prior"]}"',
                "gain of penalties chosen on the other half",
                "",
                "",
                "",
                f"{record['gain_error']:.3f}",
                f"{record['gain']:+.3f}",
            ]
        )
    header = ["prior", "set", "tasks", "no prior", "prior", "standard error", "best penalties"]
    return make_table(header, rows)


def main(arguments: Sequence[str]) -> int:
    parser = make_parser(__name__, __doc__)
    parser.add_argument("--omniglot", nargs="+", default=[], metavar="FILE", help="zip files of background images")
    parser.add_argument("--tasks", type=int, default=N_TASKS, metavar="N", help="tasks of a set, at least 8")
    chosen = parser.parse_args(arguments)
    if chosen.tasks < 8:
        parser.error(f"--tasks must be at least 8, got {chosen.tasks}")
    records = []
    for name in ("upright", "photograph"):
        choice = measure_prior(name, chosen.tasks, chosen.omniglot)
        records.append(make_record(name, choice))
        best = choice.penalties[choose(choice)]
        gain, error = records[-1]["gain"], records[-1]["gain_error"]
        verdict = "change the penalties" if gain > error else "keep the penalties"
        print(f'"{name}": now {PRIORS[name]}; best: {best}; gain {gain:+.4f} ± {error:.4f}: {verdict}', flush=True)
    print(make_prior_table(records))
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known["priors"] = json.loads(json.dumps(records), parse_float=lambda text: float(f"{float(text):.6g}"))
    write_text(RESULTS, json.dumps(known, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    return 0

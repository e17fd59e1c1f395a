"""Make docs/benchmarks.md and the figures of README.md of benchmarks/results.json, so that none of them is typed.

python benchmarks/page.py
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from comparison import OURS, RESULTS, Record
from comparison.speed import Case
from reporting import between

HERE = Path(__file__).parent
PAGE, README = HERE.parent / "docs" / "benchmarks.md", HERE.parent / "README.md"

Show = Callable[[Record, list[Record]], str]

USUAL = ("scikit-image", "PyTransKit", "torchcdt")
MAIN = Case._field_defaults
"""Where libraries are compared."""
ROUNDING = {"mass": 2e-6, "spread": 1e-5, "largest": 1e-5}
"""Below, figures are those of rounding: as good as 0."""


def where(records: Iterable[Record], **values: Any) -> list[Record]:
    return [r for r in records if all(r.get(key) == value for key, value in values.items())]


# ---------------------------------------------------------------- tables


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def label(record: Record) -> str:
    plain = record["peer"] == OURS and record["form"] == "as shipped"
    return record["peer"] if plain else f"{record['peer']}, {record['form']}"


def by(records: list[Record], column: Callable[[Record], str], show: Show) -> str:
    """A row for each library and form, a column for each case; `show` is given the record and all of its column."""
    columns: dict[str, list[Record]] = {}
    for record in records:
        columns.setdefault(column(record), []).append(record)
    rows = []
    for name in dict.fromkeys(label(record) for record in records):
        cells = [next((show(r, case) for r in case if label(r) == name), "–") for case in columns.values()]
        rows.append([name, *cells])
    return table(["", *columns], rows)


def least(figure: str, digits: str) -> Show:
    """The figure, bold where none is smaller."""

    def show(record: Record, case: list[Record]) -> str:
        if record.get(figure) is None:
            return "–"
        text = f"{record[figure]:{digits}}"
        return f"**{text}**" if label(record) in best(case, figure) else text

    return show


def best(case: list[Record], figure: str) -> list[str]:
    """Who has the least figure of a case, up to rounding."""
    measured = [r for r in case if r.get(figure) is not None]
    limit = max(min(r[figure] for r in measured) * (1 + 1e-9), ROUNDING.get(figure, 0.0))
    return [label(r) for r in measured if r[figure] <= limit]


def times(record: Record, case: list[Record]) -> str:
    """Milliseconds, and how many times as long as ours."""
    if "left_out" in record:
        return "–"
    ours = next(other["milliseconds"] for other in case if label(other) == OURS)
    text = f"{record['milliseconds']:.3g}" if record["milliseconds"] < 1000 else f"{record['milliseconds']:.0f}"
    return text if record["peer"] == OURS else f"{text} (× {record['milliseconds'] / ours:.0f})"


def times_to_a_tenth(record: Record, case: list[Record]) -> str:
    """Milliseconds, and how many times as long as ours, for libraries that may be faster."""
    ours = next(other["milliseconds"] for other in case if other["peer"] == OURS)
    text = f"{record['milliseconds']:.3g}"
    return text if record["peer"] == OURS else f"{text} (× {record['milliseconds'] / ours:.2f})"


# ---------------------------------------------------------------- sentences


def faster(records: list[Record], **case: Any) -> tuple[float, str, float, dict[str, float]]:
    """Milliseconds of ours, the fastest other library and how many times as long it takes, and so for all of them."""
    chosen = [r for r in where(records, part="speed", **MAIN | case) if "milliseconds" in r]
    ours = next(r["milliseconds"] for r in chosen if label(r) == OURS)
    others: dict[str, float] = {}
    for r in chosen:
        if r["peer"] != OURS:
            others[r["peer"]] = min(others.get(r["peer"], float("inf")), r["milliseconds"] / ours)
    name = min(others, key=lambda peer: others[peer])
    return ours, name, others[name], others


def claim(records: list[Record], **case: Any) -> str:
    ours, name, ratio, others = faster(records, **case)
    usual = ", ".join(f"{others[peer]:.0f} times as fast as {peer}" for peer in USUAL if peer in others)
    return f"{ours:.2f} ms: {ratio:.1f} times as fast as the fastest other library, {name}; {usual}"


def winners(records: list[Record], part: str, figures: dict[str, str]) -> str:
    """In how many cases a form of ours has the least figure, alone or up to rounding, and who has it in the others."""
    n, lost = 0, []
    for figure, name in figures.items():
        for case in dict.fromkeys(r["case"] for r in where(records, part=part)):
            chosen = where(records, part=part, case=case)
            first = best(chosen, figure)
            n += 1
            if not any(r["peer"] == OURS and label(r) in first for r in chosen):
                measured = [r for r in chosen if r.get(figure) is not None]
                ours = min(r[figure] for r in measured if r["peer"] == OURS)
                theirs = min(r[figure] for r in measured)
                lost.append(f"{name + ', ' if name else ''}{case} ({first[0]}: {theirs:.3g}, ours {ours:.3g})")
    behind = ". In the others it is less: " + "; ".join(lost) if lost else ""
    return f"in {n - len(lost)} of {n} cases none is less than ours, up to rounding{behind}."


def fitted(records: list[Record], kind: str, along: str) -> Record:
    return where(records, part="scaling", kind=kind, along=along)[0]


ACCURACY = {
    "mass": "largest error of the mass, relative",
    "rcdt_largest": "largest error of the R-CDT, pixels",
    "rcdt_mean": "mean error of the R-CDT, pixels",
    "nrcdt_largest": "largest error of the NR-CDT",
    "nrcdt_mean": "mean error of the NR-CDT",
}


def crossing(records: list[Record], kind: str, what: str) -> str:
    """From how many angles on adrt is faster, among those measured."""
    chosen = where(records, part="angles", kind=kind, what=what)
    ours = {r["n_angles"]: r["milliseconds"] for r in chosen if r["peer"] == OURS}
    theirs = {r["n_angles"]: r["milliseconds"] for r in chosen if r["peer"] != OURS}
    faster = [n for n in theirs if theirs[n] < ours[n]]
    if not faster:
        n = max(ours)
        return f"it is not faster for any of them; for {n} angles it takes {theirs[n] / ours[n]:.1f} times as long"
    n = min(faster)
    return f"it is faster from {n} angles on, where it takes {theirs[n] / ours[n]:.2f} times as long"


def all_directions(records: list[Record]) -> str:
    """What adrt is good at."""
    lines = [
        f"- {'Dense images' if kind == 'dense' else 'Drawings'}, {what}: {crossing(records, kind, what)}."
        for what in ("projections", "features")
        for kind in ("dense", "drawing")
    ]
    return "\n".join(lines)


def summary(records: list[Record]) -> str:
    over = max(r["over_bound"] for r in where(records, part="stages"))
    side, angles = fitted(records, "dense", "side"), fitted(records, "dense", "angles")
    ink = fitted(records, "drawing", "rows, columns and runs of ink")
    return "\n".join(
        [
            "256 × 256 pixels, 128 angles, features included:",
            "",
            f"- A dense image takes {claim(records, kind='dense')}.",
            f"- A line drawing takes {claim(records, kind='drawing')}.",
            f"- In float64, a dense image takes {claim(records, kind='dense', dtype='float64')}.",
            f"- In float64, a line drawing takes {claim(records, kind='drawing', dtype='float64')}.",
            f"- The projection takes {over:.2f} times the bound or less: the time of a plain loop that streams the\n"
            "  same rows three-tap into sums of the same size, and does nothing else.",
            "",
            "Besides:",
            "",
            f"- The time grows as the side to the power {side['exponent']:.2f} and the angles to the power\n"
            f"  {angles['exponent']:.2f} (dense, from the middle of the range on). For drawings of one size it is a\n"
            f"  linear function of the rows, columns and runs of ink, with deviations of {ink['linear']:.0%} at most.",
            f"- Accuracy: {winners(records, 'accuracy', ACCURACY)}",
            f"- Invariance, of the best form of ours: {winners(records, 'invariance', {'spread': ''})}",
        ]
    )


def readme(results: Record) -> str:
    """What README.md says."""
    records = results["records"]
    dense, drawing = faster(records, kind="dense"), faster(records, kind="drawing")
    usual = [peer for peer in USUAL if peer in dense[3]]
    ratios = [found[3][peer] for found in (dense, drawing) for peer in usual]
    return (
        f"On one core, the features of a dense 256 × 256 image take {dense[0]:.1f} ms with 128 directions, those of a\n"
        f"line drawing {drawing[0]:.1f} ms. That is {min(ratios):.0f} to {max(ratios):.0f} times as fast as with "
        f"{', '.join(usual[:-1])} or {usual[-1]},\n"
        f"and {dense[2]:.1f} and {drawing[2]:.1f} times as fast as with the fastest other library, "
        f"{' and '.join(dict.fromkeys((dense[1], drawing[1])))}\n"
        "([docs/benchmarks.md](docs/benchmarks.md), `make bench`)."
    )


MARKS = "<!-- from benchmarks/results.json, by benchmarks/page.py -->", "<!-- end -->"


def with_figures(text: str, results: Record) -> str:
    """README.md with the figures of these results between the marks."""
    return between(text, *MARKS, readme(results))


# ---------------------------------------------------------------- the page


def setups(results: Record) -> str:
    """What was measured with; of all parts together, if they were measured with the same."""
    lines: dict[str, list[str]] = {}
    for part, setup in results["setups"].items():
        versions = ", ".join(f"{name} {number}" for name, number in setup["versions"].items() if number)
        missing = "".join(f"\n- {name} could not be imported: {why}" for name, why in setup["missing"].items())
        kernels = f"compiled kernels for {setup['kernels']}"
        text = f"Python {setup['python']}, {setup['processor']} ({setup['machine']}), {kernels}; {versions}.{missing}"
        lines.setdefault(text, []).append(part)
    if len(lines) == 1:
        return next(iter(lines))
    return "\n\n".join(f"For {', '.join(parts)}: {text}" for text, parts in lines.items())


def by_case(records: list[Record], part: str, show: Show) -> str:
    return by(where(records, part=part), lambda r: r["case"], show)


def page(results: Record) -> str:
    records = results["records"]
    speed, stages = where(records, part="speed"), where(records, part="stages")
    left_out = dict.fromkeys(f"- {label(r)}, {r['case']}: {r['left_out']}" for r in records if "left_out" in r)

    def along(varied: str, kind: str, title: str) -> str:
        same = {key: value for key, value in MAIN.items() if key != varied}
        ordered = sorted(where(speed, kind=kind, **same), key=lambda r: r[varied])
        return by(ordered, lambda r: title.format(r[varied]), times)

    def other(title: str, **case: Any) -> str:
        return by(where(speed, **MAIN | case), lambda r: title.format(**r), times)

    def chosen(kind: str, what: str) -> list[Record]:
        return where(records, part="angles", kind=kind, what=what)

    def spreads() -> str:
        def show(record: Record, _: list[Record]) -> str:
            if "left_out" in record:
                return "–"
            low, high = record["spread"]
            return f"{record['milliseconds']:.3g} ({low:.3g} to {high:.3g})"

        return by(where(speed, **MAIN), lambda r: r["kind"], show)

    names = list(stages[0]["stages"])
    stage_rows = [
        [
            r["case"],
            *(f"{r['stages'][name]:.3f}" for name in names),
            *(f"{r[figure]:.3f}" for figure in ("milliseconds", "bound")),
            f"{r['over_bound']:.2f}",
        ]
        for r in stages
    ]
    blocks = [
        "# Beside other libraries",
        "`make bench` measures this page, one thread each; `benchmarks/page.py` writes it from\n"
        "`benchmarks/results.json`. Each library sits in a file of `benchmarks/peers`, as shipped, the way its\n"
        "documentation leads, with plain glue where it gives projections alone, and tuned, with all the care we know:\n"
        "masses on bins with edges, exact moments of the image, levels that leave the ends out, the full circle.\n"
        "Features are the mNR-CDT. What is measured is in `benchmarks/comparison`, one file a part.",
        setups(results),
        summary(records),
        "## Speed",
        "![Milliseconds per image over its side, dense on the left, drawings on the right](benchmarks_speed.png)",
        "Milliseconds an image (and times ours), medians of interleaved turns: seven, or three of calls that take\n"
        "more than half a second. Of 256 × 256 pixels, 128 angles, float32 and one image one is varied at a time.\n"
        "What libraries prepare once for a size, such as the matrix of ASTRA, is not counted.",
        "Dense images, 128 angles:",
        along("side", "dense", "{0} × {0}"),
        "Line drawings, 128 angles:",
        along("side", "drawing", "{0} × {0}"),
        "Dense images, 256 × 256:",
        along("n_angles", "dense", "{} angles"),
        "Line drawings, 256 × 256:",
        along("n_angles", "drawing", "{} angles"),
        "float64:",
        other("{kind}", dtype="float64"),
        "Many images in one call, 64 × 64:",
        other("{kind}, {batch} images", side=64, batch=64),
        "Projections alone, without quantiles and pooling; those of ours are the exact masses that `radon` gives:",
        other("{kind}", what="projections"),
        "### Many angles",
        "adrt computes the projections of all of its directions at once, 1024 for 256 × 256 pixels, whatever the\n"
        "number of angles that are wanted, and approximates lines by broken ones. Ours takes time for each angle. So\n"
        "adrt is faster if there are enough of them. Milliseconds for 256 × 256 pixels in float32, with the faster\n"
        "form of adrt:",
        *(
            f"{'Dense image' if kind == 'dense' else 'Drawing'}, {what}:\n\n"
            + by(
                [r | {"form": "as shipped" if r["peer"] == OURS else "faster form"} for r in chosen(kind, what)],
                lambda r: f"{r['n_angles']} angles",
                times_to_a_tenth,
            )
            for what in ("projections", "features")
            for kind in ("dense", "drawing")
        ),
        f"Among the numbers of angles that were measured:\n\n{all_directions(records)}",
        "### Spread",
        "Median, fastest and slowest turn:",
        spreads(),
        *(["Left out:\n\n" + "\n".join(left_out)] if left_out else []),
        "### Where the time goes",
        "Milliseconds of the stages of ours, 256 × 256, 128 angles, of the fastest turns: reading (copy, box and\n"
        "runs of the ink, transposed copy, moments), projection, quantiles, pooling (normalisation and maximum), and\n"
        "Python (arguments). They are differences of times that were measured, so hundredths are noise.",
        table(["", *names, "together", "bound", "projection over bound"], stage_rows),
        "### How it grows",
        "![Milliseconds of ours over the side, angles, images at once, ink and threads](benchmarks_scaling.png)",
        "## Memory",
        "The most that the features of one image take beyond what was there before, with what is prepared for the\n"
        "size, MB:",
        by_case(records, "memory", least("megabytes", ".1f")),
        "## Accuracy",
        "128 × 128 images in float64, 32 angles, levels between 0.02 and 0.98, against closed forms. The mass is that\n"
        "of a projection; PyTransKit and POT show none, and below 2e-6 its error is rounding (ASTRA has float32).",
        *(
            f"{title[0].upper()}{title[1:]}:\n\n" + by_case(records, "accuracy", least(figure, ".2g"))
            for figure, title in ACCURACY.items()
        ),
        "## Invariance",
        "Change of a symbol's features over the distance to the next symbol, 256 × 256, 128 angles, root mean square\n"
        "over the symbols and their copies; about 1, symbols are taken for others, and below 1e-5 it is rounding.\n"
        "Copies are such as a camera would see: a pixel has the mean of what falls on it.",
        by_case(records, "invariance", least("spread", ".2g")),
        "The largest instead of the root mean square:",
        by_case(records, "invariance", least("largest", ".2g")),
        "## Recognition",
        "The nearest of one template a class, 128 × 128, 32 angles; milliseconds an image, of one call for all copies:",
        by_case(
            records,
            "recognition",
            lambda r, _: "–" if "left_out" in r else f"{r['accuracy']:.3f}, {r['milliseconds']:.3g} ms",
        ),
    ]
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    new = {
        PAGE: page(results),
        README: with_figures(README.read_text(encoding="utf-8"), results),
    }  # before either is written
    for path, text in new.items():
        path.write_text(text, encoding="utf-8")
        print(path)

"""Make docs/benchmarks.md and the figures of README.md of benchmarks/results.json, so that none of them is typed.

python benchmarks/page.py
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS, PAGE, README = HERE / "results.json", HERE.parent / "docs" / "benchmarks.md", HERE.parent / "README.md"

Record = dict[str, Any]
Show = Callable[[Record, list[Record]], str]

OURS = "radoncdt"
USUAL = ("scikit-image", "PyTransKit", "torchcdt")
MAIN = {"side": 256, "n_angles": 128, "dtype": "float32", "batch": 1}
"""Where libraries are compared."""
ROUNDING = {"mass": 1e-9, "spread": 1e-5}
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
        if record[figure] is None:
            return "–"
        text = f"{record[figure]:{digits}}"
        return f"**{text}**" if label(record) in best(case, figure) else text

    return show


def best(case: list[Record], figure: str) -> list[str]:
    """Who has the least figure of a case, up to rounding."""
    smallest = min(r[figure] for r in case if r[figure] is not None)
    limit = max(smallest * (1 + 1e-9), ROUNDING.get(figure, 0.0))
    return [label(r) for r in case if r[figure] is not None and r[figure] <= limit]


def times(record: Record, case: list[Record]) -> str:
    """Milliseconds, and how many times as long as ours."""
    if "left_out" in record:
        return "–"
    ours = next(other["milliseconds"] for other in case if label(other) == OURS)
    text = f"{record['milliseconds']:.3g}" if record["milliseconds"] < 1000 else f"{record['milliseconds']:.0f}"
    return text if record["peer"] == OURS else f"{text} (× {record['milliseconds'] / ours:.0f})"


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
    """In how many rows ours has the least figure, alone or up to rounding, and who has it in the others."""
    n, lost = 0, []
    for figure, name in figures.items():
        for case in dict.fromkeys(r["case"] for r in where(records, part=part)):
            chosen = where(records, part=part, case=case)
            first = best(chosen, figure)
            n += 1
            if not any(r["peer"] == OURS and label(r) in first for r in chosen):
                ours = min(r[figure] for r in chosen if r["peer"] == OURS)
                theirs = min(r[figure] for r in chosen if label(r) in first)
                lost.append(f"{name + ', ' if name else ''}{case} ({first[0]}: {theirs:.3g}, ours {ours:.3g})")
    behind = "; in the others: " + "; ".join(lost) if lost else ""
    return f"ours is smallest, or equal up to rounding, in {n - len(lost)} of {n} rows{behind}."


def fitted(records: list[Record], kind: str, along: str) -> Record:
    return where(records, part="scaling", kind=kind, along=along)[0]


ACCURACY = {
    "mass": "mass",
    "rcdt_largest": "R-CDT, largest error",
    "rcdt_mean": "R-CDT, mean error",
    "nrcdt_largest": "NR-CDT, largest error",
    "nrcdt_mean": "NR-CDT, mean error",
}


def summary(records: list[Record]) -> str:
    stages = where(records, part="stages")
    over = max(r["over_bound"] for r in stages)
    side, angles = fitted(records, "dense", "side"), fitted(records, "dense", "angles")
    ink = fitted(records, "drawing", "rows, columns and runs of ink")
    return "\n".join(
        [
            f"- A dense image takes {claim(records, kind='dense')}.",
            f"- A line drawing takes {claim(records, kind='drawing')}.",
            f"- In float64, dense, {claim(records, kind='dense', dtype='float64')}.",
            f"- In float64, a drawing, {claim(records, kind='drawing', dtype='float64')}.",
            f"- The projection takes {over:.2f} times the bound or less: the time of a plain loop that streams the\n"
            "  same rows three-tap into sums of the same size, and does nothing else.",
            f"- The time grows as the side to the power {side['exponent']:.2f} and the angles to the power\n"
            f"  {angles['exponent']:.2f} (dense, from the middle of the range on), and for drawings of one size\n"
            f"  linearly in the rows, columns and runs of ink, up to {ink['linear']:.0%}.",
            f"- Accuracy: {winners(records, 'accuracy', ACCURACY)}",
            f"- Invariance: {winners(records, 'invariance', {'spread': ''})}",
        ]
    )


def readme(results: Record) -> str:
    """What README.md says."""
    records = results["records"]
    dense, drawing = faster(records, kind="dense"), faster(records, kind="drawing")
    usual = [others[peer] for *_, others in (dense, drawing) for peer in USUAL if peer in others]
    return (
        f"On one core, the features of a 256 × 256 image take {dense[0]:.1f} ms with 128 directions, those of a line\n"
        f"drawing {drawing[0]:.1f} ms: {min(usual):.0f} to {max(usual):.0f} times as fast as with scikit-image,\n"
        f"PyTransKit or torchcdt, and {dense[2]:.1f} and {drawing[2]:.1f} times as fast as with the fastest other\n"
        f"library, {dense[1]} ([docs/benchmarks.md](docs/benchmarks.md), `make bench`)."
    )


MARKS = "<!-- from benchmarks/results.json, by benchmarks/page.py -->", "<!-- end -->"


def with_figures(text: str, results: Record) -> str:
    """README.md with the figures of these results between the marks."""
    begin, end = MARKS
    found = re.compile(rf"(?<={re.escape(begin)}\n).*?(?=\n{re.escape(end)})", re.DOTALL)
    if len(found.findall(text)) != 1:
        raise ValueError(f"README.md must have one place between {begin!r} and {end!r}")
    return found.sub(lambda _: readme(results), text)


# ---------------------------------------------------------------- the page


def page(results: Record) -> str:
    records, setup = results["records"], results["setup"]
    speed = where(records, part="speed")
    versions = ", ".join(f"{name} {number}" for name, number in setup["versions"].items() if number)
    missing = [f"- {name} could not be imported: {why}" for name, why in setup["missing"].items()]
    left_out = [f"- {label(r)}: {r['case']} {r['left_out']}" for r in speed if "left_out" in r]

    def sizes(kind: str) -> str:
        chosen = where(speed, kind=kind, n_angles=128, dtype="float32", batch=1)
        return by(chosen, lambda r: f"{r['side']} × {r['side']}", times)

    def angles(kind: str) -> str:
        chosen = where(speed, kind=kind, side=256, dtype="float32", batch=1)
        return by(sorted(chosen, key=lambda r: r["n_angles"]), lambda r: f"{r['n_angles']} angles", times)

    def rest() -> str:
        chosen = [
            r for r in speed if r["dtype"] == "float64" or r["batch"] > 1 or (r["side"] == 64 and r["n_angles"] == 128)
        ]
        what = {"float64": "float64, 256 × 256", "float32": "64 × 64, {batch} at once"}
        return by(chosen, lambda r: f"{r['kind']}, " + what[r["dtype"]].format(**r), times)

    def spreads() -> str:
        chosen = [r for r in where(speed, **MAIN) if "spread" in r]
        return by(
            chosen,
            lambda r: r["kind"],
            lambda r, _: f"{r['milliseconds']:.3g} ({r['spread'][0]:.3g} to {r['spread'][1]:.3g})",
        )

    stages = where(records, part="stages")
    names = list(stages[0]["stages"])
    stage_rows = [
        [
            r["case"],
            *(f"{r['stages'][n]:.3f}" for n in names),
            f"{r['milliseconds']:.3f}",
            f"{r['bound']:.3f}",
            f"{r['over_bound']:.2f}",
        ]
        for r in stages
    ]
    blocks = [
        "# Beside other libraries",
        "`make bench` measures this page, one thread each, in one run; `benchmarks/page.py` writes it from\n"
        "`benchmarks/results.json`. Each library sits behind one function in a file of `benchmarks/peers`, as\n"
        "shipped, the way its documentation leads, and tuned, with all the care we know: masses on bins with edges,\n"
        "exact moments of the image, levels that leave the ends out, the full circle. Features are the mNR-CDT.\n"
        "Images are float32 unless said. Times are medians of interleaved turns. What is measured is in\n"
        "`benchmarks/comparison`, one file a part.",
        f"Python {setup['python']}, {setup['machine']}; {versions}.",
        *missing,
        "256 × 256 pixels, 128 angles, features included:",
        summary(records),
        "## Speed",
        "![Milliseconds an image over its side, for all libraries](benchmarks_speed.png)",
        "Milliseconds an image, 128 angles (and times ours), dense:",
        sizes("dense"),
        "Line drawings:",
        sizes("drawing"),
        *(["Left out:\n\n" + "\n".join(left_out)] if left_out else []),
        "256 × 256, dense:",
        angles("dense"),
        "256 × 256, line drawings:",
        angles("drawing"),
        "128 angles, other precision and many images in one call:",
        rest(),
        "256 × 256, 128 angles, median, fastest and slowest turn:",
        spreads(),
        "### Where the time goes",
        "Milliseconds of the stages of ours, 256 × 256, 128 angles, of the fastest turns: reading (copy, box and\n"
        "blocks of the ink, transposed copy, moments), projection, quantiles, pooling (normalisation and maximum),\n"
        "and Python (arguments).",
        table(["", *names, "together", "bound", "projection over bound"], stage_rows),
        "### How it grows",
        "![Milliseconds over side, angles, images at once, ink and threads](benchmarks_scaling.png)",
        "## Memory",
        "The most that the features of one image take beyond what was there before, MB:",
        by(where(records, part="memory"), lambda r: r["case"], least("megabytes", ".1f")),
        "## Accuracy",
        "128 × 128 images in float64, 32 angles, levels between .01 and .99, against closed forms. Largest error\n"
        "of the mass of a projection, relative; PyTransKit and POT show no projections:",
        by(where(records, part="accuracy"), lambda r: r["case"], least("mass", ".1e")),
        "Largest error of the R-CDT, pixels:",
        by(where(records, part="accuracy"), lambda r: r["case"], least("rcdt_largest", ".4f")),
        "Mean error of the R-CDT, pixels:",
        by(where(records, part="accuracy"), lambda r: r["case"], least("rcdt_mean", ".4f")),
        "Largest error of the NR-CDT:",
        by(where(records, part="accuracy"), lambda r: r["case"], least("nrcdt_largest", ".4f")),
        "Mean error of the NR-CDT:",
        by(where(records, part="accuracy"), lambda r: r["case"], least("nrcdt_mean", ".5f")),
        "## Invariance",
        "Change of a symbol's features over the distance to the next symbol, root mean square over the symbols,\n"
        "256 × 256, 128 angles; about 1, symbols are taken for others. Below 1e-5 it is rounding.",
        by(where(records, part="invariance"), lambda r: r["case"], least("spread", ".2g")),
        "## Recognition",
        "The nearest of one template a class, 128 × 128, 32 angles; milliseconds an image:",
        by(
            where(records, part="recognition"),
            lambda r: r["case"],
            lambda r, _: f"{r['accuracy']:.3f}, {r['milliseconds']:.3g} ms",
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

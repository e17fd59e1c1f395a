"""Make docs/benchmarks.md of benchmarks/results.json, so that no figure in it is typed.

python benchmarks/page.py
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results.json", HERE.parent / "docs" / "benchmarks.md"

Record = dict[str, Any]

OURS = "radoncdt"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_case(records: list[Record], part: str, show: Callable[[Record, list[Record]], str]) -> str:
    """A row for each library and form, a column for each case; `show` is given the record and all of its case."""
    records = [record for record in records if record["part"] == part]
    cases = list(dict.fromkeys(record["case"] for record in records))
    places = {(record["peer"], record["form"], record["case"]): record for record in records}
    rows = []
    for peer, form in dict.fromkeys((record["peer"], record["form"]) for record in records):
        cells = []
        for case in cases:
            found = places.get((peer, form, case))
            cells.append(show(found, [r for r in records if r["case"] == case]) if found else "–")
        rows.append([f"{peer}, {form}" if form != "as shipped" or peer != OURS else peer, *cells])
    return table(["", *cases], rows)


def least(figure: str, digits: str) -> Callable[[Record, list[Record]], str]:
    """The figure, bold where none is smaller."""

    def show(record: Record, case: list[Record]) -> str:
        text = f"{record[figure]:{digits}}"
        return f"**{text}**" if record[figure] <= min(other[figure] for other in case) * (1 + 1e-9) else text

    return show


def times(record: Record, case: list[Record]) -> str:
    """Milliseconds, and how many times as long as ours."""
    ours = min(other["milliseconds"] for other in case if other["peer"] == OURS)
    text = f"{record['milliseconds']:.3g}"
    return text if record["peer"] == OURS else f"{text} (× {record['milliseconds'] / ours:.0f})"


def fastest(records: list[Record], kind: str) -> str:
    """How much faster ours is than the fastest peer, and than those that compute R-CDTs or that most people use."""
    case = [r for r in records if r["part"] == "speed" and (r["kind"], r["side"], r["n_angles"]) == (kind, 256, 128)]
    ours = min(r["milliseconds"] for r in case if r["peer"] == OURS)
    others = {r["peer"]: min(o["milliseconds"] for o in case if o["peer"] == r["peer"]) for r in case}
    del others[OURS]
    name = min(others, key=lambda peer: others[peer])
    usual = min(others[peer] for peer in ("scikit-image", "PyTransKit", "torchcdt") if peer in others)
    return (
        f"- {kind}: {others[name] / ours:.0f} times as fast as the fastest of the others, {name}, and "
        f"{usual / ours:.0f} times as fast as the fastest of scikit-image, PyTransKit and torchcdt"
    )


def page(results: Record) -> str:
    records, setup = results["records"], results["setup"]
    speed = [r for r in records if r["part"] == "speed"]
    of_sizes = [r for r in speed if r["n_angles"] == 128]
    of_angles = [r for r in speed if r["side"] == 256]
    versions = ", ".join(f"{name} {number}" for name, number in setup["versions"].items() if number)
    missing = [f"- {name} could not be imported: {why}" for name, why in setup["missing"].items()]
    blocks = [
        "# Beside other libraries",
        "`make bench` measures this page, one thread each, in one run; `benchmarks/page.py` writes it from\n"
        "`benchmarks/results.json`. Each library sits behind one function in a file of `benchmarks/peers`, as\n"
        "shipped, the way its documentation leads, and tuned, with all the care we know: masses on bins with edges,\n"
        "exact moments of the image, levels that leave the ends out, the full circle. Features are the mNR-CDT.\n"
        "Times are medians of interleaved rounds.",
        f"Python {setup['python']}, {setup['machine']}; {versions}.",
        *missing,
        "## Speed",
        "Milliseconds an image, 256 × 256, 128 angles, features included:",
        "\n".join(fastest(records, kind) for kind in ("dense", "drawing")),
        "Sizes, 128 angles, milliseconds (and times ours):",
        by_case([r for r in of_sizes if r["kind"] == "dense"], "speed", times),
        by_case([r for r in of_sizes if r["kind"] == "drawing"], "speed", times),
        "Angles, 256 × 256:",
        by_case([r for r in of_angles if r["kind"] == "dense"], "speed", times),
        by_case([r for r in of_angles if r["kind"] == "drawing"], "speed", times),
        "## Accuracy",
        "Largest error of the NR-CDT of 128 × 128 images, 32 angles, levels between .01 and .99, against closed forms:",
        by_case(records, "accuracy", least("largest", ".4f")),
        "Mean error:",
        by_case(records, "accuracy", least("mean", ".5f")),
        "## Invariance",
        "Largest change of a symbol's features over the distance to the next symbol; from 1 on symbols are confused:",
        by_case(records, "invariance", least("spread", ".3g")),
        "## Recognition",
        "The nearest of one template a class, 32 angles; milliseconds an image:",
        by_case(records, "recognition", lambda r, _: f"{r['accuracy']:.3f}, {r['milliseconds']:.3g} ms"),
    ]
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RESULTS.read_text(encoding="utf-8"))), encoding="utf-8")
    print(PAGE)

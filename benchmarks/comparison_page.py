"""Write docs/results/benchmarks.md from benchmarks/results.json.

python -m benchmarks comparison_page
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.comparison import OURS, RESULTS, Record
from benchmarks.comparison_tables import (
    MAIN,
    compare_speed,
    find_best,
    fold,
    label,
    select,
    show_close_times,
    show_least,
    show_times,
    tabulate,
    tabulate_part,
)
from benchmarks.report import make_parser, make_table, write_text

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "results" / "benchmarks.md"


# ---------------------------------------------------------------- sentences


def state_speed(records: list[Record], **case: Any) -> str:
    """Write a sentence about our times, and how many times as long the fastest other library takes."""
    dense, drawing = (compare_speed(records, kind=kind, **case) for kind in ("dense", "drawing"))
    return (
        f"A dense image takes {dense[0]:.2f} ms and a line drawing {drawing[0]:.2f} ms, {dense[2]:.1f} and "
        f"{drawing[2]:.1f} times\n  as fast as with the fastest other library, "
        f"{' and '.join(dict.fromkeys((dense[1], drawing[1])))}."
    )


def count_wins(records: list[Record], part: str, figures: dict[str, str]) -> str:
    """Count the cases in which a form of ours has the smallest figure, up to rounding, and list the others."""
    n, lost = 0, []
    for figure, name in figures.items():
        for case in dict.fromkeys(r["case"] for r in select(records, part=part)):
            chosen = select(records, part=part, case=case)
            first = find_best(chosen, figure)
            n += 1
            if not any(r["peer"] == OURS and label(r) in first for r in chosen):
                measured = [r for r in chosen if r.get(figure) is not None]
                ours = min(r[figure] for r in measured if r["peer"] == OURS)
                theirs = min(r[figure] for r in measured)
                lost.append(f"{name + ', ' if name else ''}{case} ({first[0]}: {theirs:.3g}, ours {ours:.3g})")
    behind = ". In the others, another library has a smaller one: " + "; ".join(lost) if lost else ""
    return f"in {n - len(lost)} of {n} cases, no library has a smaller value than ours, up to rounding{behind}."


def find_fit(records: list[Record], kind: str, along: str) -> Record:
    """Find the record of how the time grows along a quantity."""
    return select(records, part="scaling", kind=kind, along=along)[0]


ACCURACY = {  # titles of the tables of errors
    "mass": "largest error of the mass, relative",
    "rcdt_largest": "largest error of the R-CDT, pixels",
    "rcdt_mean": "mean error of the R-CDT, pixels",
    "nrcdt_largest": "largest error of the NR-CDT",
    "nrcdt_mean": "mean error of the NR-CDT",
}


def state_crossing(records: list[Record], kind: str, what: str) -> str:
    """Write a sentence about the number of angles from which adrt is faster, among those measured."""
    chosen = select(records, part="angles", kind=kind, what=what)
    ours = {r["n_angles"]: r["milliseconds"] for r in chosen if r["peer"] == OURS}
    theirs = {r["n_angles"]: r["milliseconds"] for r in chosen if r["peer"] != OURS}
    faster = [n for n in theirs if theirs[n] < ours[n]]
    if not faster:
        n = max(ours)
        return f"it is not faster for any of them; for {n} angles it takes {theirs[n] / ours[n]:.1f} times as long"
    n = min(faster)
    return f"it is faster from {n} angles on, where it takes {theirs[n] / ours[n]:.2f} times as long"


def list_crossings(records: list[Record]) -> str:
    """List the numbers of angles from which adrt is faster, for each kind of image."""
    lines = [
        f"- {'Dense images' if kind == 'dense' else 'Drawings'}, {what}: {state_crossing(records, kind, what)}."
        for what in ("projections", "features")
        for kind in ("dense", "drawing")
    ]
    return "\n".join(lines)


def summarise(records: list[Record]) -> str:
    """Write the sentences at the beginning of the page."""
    over = max(r["over_bound"] for r in select(records, part="stages"))
    side, angles = find_fit(records, "dense", "side"), find_fit(records, "dense", "angles")
    ink = find_fit(records, "drawing", "rows, columns and runs of ink")
    return "\n".join(
        [
            f"- **Speed.** {state_speed(records)}",
            f"- **Speed in float64.** {state_speed(records, dtype='float64')}",
            f"- **Compared with a plain loop.** The projection takes at most {over:.2f} times as long as a loop that\n"
            "  only filters the same rows with three taps and adds them to sums of the same size.",
            f"- **Growth.** The time grows as the side to the power {side['exponent']:.2f} and the angles to the\n"
            f"  power {angles['exponent']:.2f} (dense, from the middle of the range on). For drawings of one size it\n"
            "  is a linear function of the rows, columns and runs of ink, with deviations of "
            f"{ink['linear']:.0%} at most.",
            f"- **Accuracy**, in our best form. {capitalise(count_wins(records, 'accuracy', ACCURACY))}",
            "- **Invariance**, root mean square change in our best form. "
            + capitalise(count_wins(records, "invariance", {"spread": ""})),
            "- **Many angles.** adrt computes all of its projections at once. For projections of dense images,\n"
            f"  {state_crossing(records, 'dense', 'projections')} ([Many angles](#many-angles)).",
        ]
    )


def capitalise(sentence: str) -> str:
    """Begin a sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


# ---------------------------------------------------------------- the page


def describe_setups(results: Record) -> str:
    """Describe the machine and the versions, once if they are the same for all parts."""
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


def tabulate_main_figures(records: list[Record]) -> str:
    """Make the table at the beginning of the page, with one row per library in its best form."""
    forms = {r["peer"]: "as shipped" if r["peer"] == OURS else "tuned" for r in records}

    def select_figures(peer: str, figure: str, **values: Any) -> list[float]:
        chosen = select(records, peer=peer, form=forms[peer], **values)
        return [r[figure] for r in chosen if r.get(figure) is not None]

    def show_time(peer: str, kind: str) -> str:
        case = select(records, part="speed", **MAIN | {"kind": kind})
        return show_times(select(case, peer=peer, form=forms[peer])[0], case)

    def show_largest(peer: str, figure: str, digits: str, **values: Any) -> str:
        found = select_figures(peer, figure, **values)
        return f"{max(found):{digits}}" if found else "–"

    columns: dict[str, Callable[[str], str]] = {
        "dense image, ms": lambda peer: show_time(peer, "dense"),
        "line drawing, ms": lambda peer: show_time(peer, "drawing"),
        "memory, MB": lambda peer: show_largest(peer, "megabytes", ".1f", part="memory", kind="dense"),
        "largest error of the NR-CDT": lambda peer: show_largest(peer, "nrcdt_largest", ".2g", part="accuracy"),
        "recognised": lambda peer: show_largest(peer, "accuracy", ".3f", part="recognition"),
    }
    rows = [[peer if peer == OURS else f"{peer}, tuned", *(show(peer) for show in columns.values())] for peer in forms]
    return make_table(["", *columns], rows)


def describe_shipped_recognition(records: list[Record]) -> str:
    """Write a sentence about the recognition of other libraries as they are shipped."""
    others = [r for r in select(records, part="recognition", form="as shipped") if r["peer"] != OURS]
    found = [r["accuracy"] for r in others if "accuracy" in r]
    return (
        "The tuned forms need code that the libraries do not contain. As shipped, the other libraries recognise\n"
        f"{min(found):.3f} to {max(found):.3f} of the copies ([table](#recognition))."
    )


def write_speed(records: list[Record]) -> list[str]:
    """Write the section about speed."""
    speed = select(records, part="speed")

    def tabulate_along(varied: str, kind: str, title: str) -> str:
        same = {key: value for key, value in MAIN.items() if key != varied}
        ordered = sorted(select(speed, kind=kind, **same), key=lambda r: r[varied])
        return tabulate(ordered, lambda r: title.format(r[varied]), show_times)

    def tabulate_case(title: str, **case: Any) -> str:
        return tabulate(select(speed, **MAIN | case), lambda r: title.format(**r), show_times)

    def show_spread(record: Record, _: list[Record]) -> str:
        if "left_out" in record:
            return "–"
        low, high = record["spread"]
        return f"{record['milliseconds']:.3g} ({low:.3g} to {high:.3g})"

    left_out = dict.fromkeys(f"- {label(r)}, {r['case']}: {r['left_out']}" for r in records if "left_out" in r)
    return [
        "## Speed",
        "![Milliseconds per image over its side: dense left, drawings right](../pictures/benchmarks_speed.png)",
        "The tables show milliseconds per image, and their ratio to ours in brackets. Times are medians of seven\n"
        "interleaved rounds, or of three for calls that take more than half a second. The default is 256 × 256\n"
        "pixels, 128 angles, float32 and one image; each table varies one of these.\n"
        "Work that a library does once per size, such as computing the matrix of ASTRA, is not included.",
        fold("Dense images of 64 × 64 to 1024 × 1024 pixels", tabulate_along("side", "dense", "{0} × {0}")),
        fold("Line drawings of 64 × 64 to 1024 × 1024 pixels", tabulate_along("side", "drawing", "{0} × {0}")),
        fold("Dense images, 16 to 256 angles", tabulate_along("n_angles", "dense", "{} angles")),
        fold("Line drawings, 16 to 256 angles", tabulate_along("n_angles", "drawing", "{} angles")),
        fold("float64", tabulate_case("{kind}", dtype="float64")),
        fold("Many images in one call, 64 × 64", tabulate_case("{kind}, {batch} images", side=64, batch=64)),
        fold(
            "Projections alone",
            "Times without quantiles and pooling. Those of radoncdt are for the exact masses that `radon` returns.",
            tabulate_case("{kind}", what="projections"),
        ),
        fold("Median, fastest and slowest round", tabulate(select(speed, **MAIN), lambda r: r["kind"], show_spread)),
        *([fold("Omitted measurements", "\n".join(left_out))] if left_out else []),
    ]


def write_many_angles(records: list[Record]) -> list[str]:
    """Write the section about many angles, for which adrt may be faster."""

    def tabulate_angles(kind: str, what: str) -> str:
        chosen = select(records, part="angles", kind=kind, what=what)
        named = [r | {"form": "as shipped" if r["peer"] == OURS else "faster form"} for r in chosen]
        return tabulate(named, lambda r: f"{r['n_angles']} angles", show_close_times)

    return [
        "### Many angles",
        "adrt computes the projections along all of its directions at once, 1024 for 256 × 256 pixels, for any\n"
        "number of angles, and approximates straight lines by broken ones. The time of radoncdt grows with the number\n"
        "of angles, so adrt may be faster if there are many. For the measured numbers of angles:",
        list_crossings(records),
        "The tables show milliseconds for 256 × 256 pixels in float32, with the faster form of adrt.",
        *(
            fold(f"{'Dense image' if kind == 'dense' else 'Line drawing'}, {what}", tabulate_angles(kind, what))
            for what in ("projections", "features")
            for kind in ("dense", "drawing")
        ),
    ]


def write_stages(records: list[Record]) -> list[str]:
    """Write the sections about the stages of our method and how their time grows."""
    stages = select(records, part="stages")
    names = list(stages[0]["stages"])
    rows = [
        [
            r["case"],
            *(f"{r['stages'][name]:.3f}" for name in names),
            *(f"{r[figure]:.3f}" for figure in ("milliseconds", "bound")),
            f"{r['over_bound']:.2f}",
        ]
        for r in stages
    ]
    return [
        "### Where the time goes",
        "The table shows milliseconds of the stages of radoncdt for 256 × 256 pixels and 128 angles, in the fastest\n"
        "rounds: reading (copy, box and runs of the ink, transposed copy, moments), projection, quantiles, pooling\n"
        "(normalisation and maximum), and Python (arguments). The values are differences of measured times, so\n"
        "hundredths are noise. The plain loop only filters the same rows with three taps and adds them to sums of the\n"
        "same size.",
        make_table(["", *names, "together", "plain loop", "projection over plain loop"], rows),
        "### How the time grows",
        "![Milliseconds over the side, angles, images at once, ink and threads](../pictures/benchmarks_scaling.png)",
    ]


def write_quality(records: list[Record]) -> list[str]:
    """Write the sections about memory, accuracy, invariance and recognition."""

    def show_recognition(record: Record, _: list[Record]) -> str:
        return "–" if "left_out" in record else f"{record['accuracy']:.3f}, {record['milliseconds']:.3g} ms"

    return [
        "## Memory",
        "The table shows the peak memory for the features of one image, in addition to the memory in use before. It\n"
        "includes work that a library does once per size.",
        fold("Peak memory in MB", tabulate_part(records, "memory", show_least("megabytes", ".1f"))),
        "## Accuracy",
        "The tables compare the results for images of 128 × 128 pixels in float64 with closed forms, for 32 angles\n"
        "and levels between 0.02 and 0.98. The mass is that of a projection; PyTransKit and POT do not return\n"
        "projections. Errors of the mass below 2e-6 are due to rounding (ASTRA uses float32). The smallest values\n"
        "are in bold.",
        *(
            fold(capitalise(title), tabulate_part(records, "accuracy", show_least(figure, ".2g")))
            for figure, title in ACCURACY.items()
        ),
        "## Invariance",
        "The tables show the change of the features of a symbol, divided by the distance to the nearest other symbol,\n"
        "with 256 × 256 pixels and 128 angles. If this ratio is about 1, symbols are confused. Changes below 1e-5 are\n"
        "due to rounding. Copies are rendered as by a camera: the value of a pixel is the mean over its area.",
        fold(
            "Root mean square over the symbols and their copies",
            tabulate_part(records, "invariance", show_least("spread", ".2g")),
        ),
        fold("Largest change", tabulate_part(records, "invariance", show_least("largest", ".2g"))),
        "## Recognition",
        "Images of 128 × 128 pixels are assigned to the nearest of one template per class, with 32 angles.",
        fold(
            "Share of recognised copies, and milliseconds per image in one call for all copies",
            tabulate_part(records, "recognition", show_recognition),
        ),
    ]


def make_page(results: Record) -> str:
    """Write the page docs/results/benchmarks.md."""
    records = results["records"]
    blocks = [
        "# Comparison with other libraries",
        "This page compares the speed, accuracy and invariance of the features of radoncdt with those that can be\n"
        "computed with six other libraries. The features are the mNR-CDT.",
        "## Main results",
        tabulate_main_figures(records),
        "Times are for computing features from 256 × 256 pixels with 128 angles in one thread; their ratio to ours is\n"
        "in brackets. Memory is the peak for a dense image of 512 × 512 pixels. The error is the largest one over\n"
        "four shapes with closed forms. *Recognised* is the share of affine copies of 12 symbols\n"
        "whose nearest template is the right one.",
        describe_shipped_recognition(records),
        summarise(records),
        "## How the results are measured",
        "`make bench` measures all results on this page; `python -m benchmarks comparison_page` writes it from\n"
        "`benchmarks/results.json`. `benchmarks/comparison` has one module per part. Each library has a module in\n"
        "`benchmarks/peers` and is used in two forms:",
        "- *As shipped* follows the documentation of the library, with the simplest additional code if the library\n"
        "  computes only projections.\n"
        "- *Tuned* is the best form that we know: masses in bins with edges, exact moments of the image, levels\n"
        "  without the ends, and the full circle.",
        describe_setups(results),
        *write_speed(records),
        *write_many_angles(records),
        *write_stages(records),
        *write_quality(records),
    ]
    return "\n\n".join(blocks) + "\n"


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    write_text(PAGE, make_page(results))
    print(PAGE)
    return 0

"""Write the table of measured claims in README.md from the stored results of all benchmarks and studies.

python -m benchmarks readme_page
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import catalogue_page, comparison, priors
from benchmarks.catalogue import N_LARGE_QUERIES
from benchmarks.comparison_tables import compare_speed
from benchmarks.report import make_parser, make_table, replace_between, write_text
from radoncdt.reproduction.recognition.glyph_study import GLYPH_METHODS

__all__ = ["MARKS", "README", "insert_claims", "list_claims", "main"]

README = Path(__file__).parent.parent / "README.md"
USUAL = ("scikit-image", "PyTransKit", "torchcdt")  # the libraries in common use
MARKS = "<!-- from benchmarks/*.json, by benchmarks/readme_page.py -->", "<!-- end -->"


def list_claims() -> list[list[str]]:
    """List the rows of the table: what was measured, the figures, and where they come from."""
    recognition = json.loads(priors.RESULTS.read_text(encoding="utf-8"))
    return [
        _claim_speed(json.loads(comparison.RESULTS.read_text(encoding="utf-8"))),
        _claim_digits(recognition["few_shot"]),
        _claim_glyphs(recognition["glyphs"]),
        _claim_search(catalogue_page.load_figures()),
    ]


def _claim_speed(results: dict[str, Any]) -> list[str]:
    dense, drawing = (compare_speed(results["records"], kind=kind) for kind in ("dense", "drawing"))
    ratios = [found[3][peer] for found in (dense, drawing) for peer in USUAL]
    return [
        "Features of a 256 × 256 image, 128 directions, one core",
        f"{dense[0]:.1f} ms for a dense image and {drawing[0]:.1f} ms for a drawing, {min(ratios):.0f} to "
        f"{max(ratios):.0f} times as fast as with {', '.join(USUAL[:-1])} or {USUAL[-1]}, and {dense[2]:.1f} and "
        f"{drawing[2]:.1f} times as fast as with the fastest other library, "
        f"{' and '.join(dict.fromkeys((dense[1], drawing[1])))}",
        "[Comparison with other libraries](docs/results/benchmarks.md), `make bench`",
    ]


def _claim_digits(records: list[dict[str, Any]]) -> list[str]:
    found = {(r["method"], r["n_train"]): r["mean"] for r in records if r["dataset"] == "digits"}
    ours, paper, network = (
        ", ".join(f"{found[method, n]:.2f}" for n in (1, 5, 50)) for method in ("few-shot", "mnrcdt", "network")
    )
    return [
        "Ten handwritten digits under random affine maps, accuracy",
        f"{ours} from one, five and fifty examples of each; the paper's features: {paper}; a small network, trained "
        f"with affine variants: {network}",
        "[Recognition from few examples](docs/results/recognition.md), `radoncdt reproduce few-shot`",
    ]


def _claim_glyphs(records: list[dict[str, Any]]) -> list[str]:
    faces: dict[str, dict[str, float]] = {}  # shares of queries in faces of another typeface, by the style of the face
    for r in records:
        if r["font"] != r["query_font"]:
            faces.setdefault(r["query_font"].split()[-1].lower(), {})[r["method"]] = r["first"]
    first = {method: " and ".join(f"{found[method]:.1%}" for found in faces.values()) for method in GLYPH_METHODS}
    return [
        f"One Chinese character among {records[0]['characters']:,}, from one template each in another typeface, "
        f"{' and '.join(faces)}",
        f"found first by `AffineNeighbors(refine=100, frame_size=56)` in {first['refined']} of the cases, with even "
        f"ink, whose settings were chosen on the bold faces, in {first['even refined']}; "
        f"with the paper's features in {first['mnrcdt']}",
        "[Recognition from few examples](docs/results/recognition.md), `radoncdt reproduce glyphs`",
    ]


def _claim_search(figures: catalogue_page.Figures) -> list[str]:
    def find(title: str, kind: str) -> float:
        return figures[f"{catalogue_page.LARGE}: {title}".format(kind)]

    first = {kind: find(f"the right mark is ranked first, {{}}, of {N_LARGE_QUERIES}", kind) for kind in _KINDS}
    seconds = {kind: find("seconds per search, {}, including ink detection, median", kind) for kind in _KINDS}
    return [
        "One synthetic watermark among 100,000",
        f"ranked first for {first['drawing']:.0%} of drawings, in {seconds['drawing']:.2f} s, and for "
        f"{first['photograph']:.0%} of synthetic photographs, in {seconds['photograph']:.2f} s",
        "[Catalogues of watermarks](docs/results/catalogues.md), `python -m benchmarks catalogue`",
    ]


_KINDS = ("drawing", "photograph")


def insert_claims(text: str) -> str:
    """Replace the table in the text of the README."""
    return replace_between(text, *MARKS, make_table(["task", "result", "source and command"], list_claims()))


def main(arguments: Sequence[str]) -> int:
    make_parser(__name__, __doc__).parse_args(arguments)
    write_text(README, insert_claims(README.read_text(encoding="utf-8")))
    print(README)
    return 0

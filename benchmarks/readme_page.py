"""Write the table of measured claims in README.md from the stored results of all benchmarks and studies.

python -m benchmarks readme_page
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import comparison_page, priors
from benchmarks.comparison import RESULTS
from benchmarks.report import make_parser, make_table, replace_between, write_text
from radoncdt.reproduction.recognition.glyph_study import GLYPH_METHODS

__all__ = ["MARKS", "README", "insert_claims", "list_claims", "main"]

README = Path(__file__).parent.parent / "README.md"
USUAL = ("scikit-image", "PyTransKit", "torchcdt")  # the libraries in common use
MARKS = "<!-- from benchmarks/*.json, by benchmarks/readme_page.py -->", "<!-- end -->"


def list_claims() -> list[list[str]]:
    """List the rows of the table: what was measured, the figures, and where they come from."""
    recognition = json.loads(priors.RESULTS.read_text(encoding="utf-8"))
    catalogue = json.loads((README.parent / "benchmarks" / "catalogue.json").read_text(encoding="utf-8"))
    return [
        _claim_speed(json.loads(RESULTS.read_text(encoding="utf-8"))),
        _claim_digits(recognition["few_shot"]),
        _claim_glyphs(recognition["glyphs"]),
        _claim_search(catalogue["large"]),
    ]


def _claim_speed(results: dict[str, Any]) -> list[str]:
    dense, drawing = (comparison_page.compare_speed(results["records"], kind=kind) for kind in ("dense", "drawing"))
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
    ours, paper = ([f"{found[method, n]:.2f}" for n in (1, 5, 50)] for method in ("few-shot", "mnrcdt"))
    return [
        "Ten handwritten digits under random affine maps, accuracy",
        f"{ours[0]} from one example of each, {ours[1]} from five, {ours[2]} from fifty; the paper's features: "
        f"{paper[0]}, {paper[1]}, {paper[2]}",
        "[recognition](docs/results/recognition.md), `radoncdt reproduce few-shot`",
    ]


def _claim_glyphs(records: list[dict[str, Any]]) -> list[str]:
    others = [r for r in records if r["font"] != r["query_font"] and r["method"] in GLYPH_METHODS[:3]]
    best = max(others, key=lambda r: (r["characters"], r["first"]))
    paper = next(r for r in others if r["method"] == "mnrcdt" and r["query_font"] == best["query_font"])
    return [
        f"One Chinese character among {best['characters']:,}, from one template each in another typeface",
        f"found first in {best['first']:.1%} of the cases; with the paper's features in {paper['first']:.1%}",
        "[recognition](docs/results/recognition.md), `radoncdt reproduce glyphs`",
    ]


def _claim_search(figures: dict[str, float]) -> list[str]:
    prefix = "100,000 entries: "
    first = {kind: figures[f"{prefix}the right mark is ranked first, {kind}, of 60"] for kind in _KINDS}
    seconds = {kind: figures[f"{prefix}seconds per search, {kind}, including ink detection, median"] for kind in _KINDS}
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

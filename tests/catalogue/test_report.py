"""Reports of searches: the page and the table."""

import csv
import re
from html.parser import HTMLParser

import pytest
from files import run
from hypothesis import given
from hypothesis import strategies as st
from marks import MARKS, save, save_marks

from radoncdt import datasets
from radoncdt.catalogue import Catalogue, report
from radoncdt.catalogue.calibration import Calibration
from radoncdt.catalogue.report import MATCH_COLUMNS, make_unique_titles
from radoncdt.cli import search


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """An open catalogue of 30 marks, and the results of six searches."""
    folder = tmp_path_factory.mktemp("report")
    marks = datasets.watermarks(30, seed=7)
    for k, mark in enumerate(marks):
        save(folder / "marks" / f"{k:03}.png", mark.image())
    with Catalogue(folder / "marks.db", create=True) as catalogue:
        catalogue.add(folder / "marks")
        catalogue._calibration = Calibration(30, 30, (1.2, 1.5, 1.8, *[2.0] * 40))
        files = [
            save(folder / "queries" / f"q{k}.png", image) for k, image in enumerate(marks.queries(6, rng=4).images)
        ]
        yield catalogue, [catalogue.search(file, top=4) for file in files]


class Page(HTMLParser):
    """Elements of a page by tag, with their attributes; elements must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def find(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def test_a_page_has_a_summary_with_thumbnails_and_all_pictures(searched):
    catalogue, results = searched
    text = report.html(catalogue, results)
    page = Page(text)
    pictures = [image["src"] for image in page.find("img")]
    assert len(pictures) == 6 * 2 + 6 * (2 + 2 * 4)  # the summary, and the section of each query
    assert all(source.startswith("data:image/png;base64,") for source in pictures)
    assert len(page.find("h2")) == 6
    links = [link["href"] for link in page.find("a")]
    assert links == [f"#{heading['id']}" for heading in page.find("h2")]
    assert "how often a catalogue without this mark would yield a best match at least as prominent" in page.text
    assert "not calibrated" not in page.text


def test_the_page_and_the_command_say_when_no_entry_stands_out(searched, capsys):
    catalogue, results = searched
    plain, prominent = (
        [result._replace(matches=[match._replace(p_value=p) for match in result.matches]) for result in results[:1]]
        for p in (0.3, 0.05)
    )
    sentence = "No entry stands out: no p-value is 0.05 or less."
    assert sentence in report.html(catalogue, plain)
    assert sentence not in report.html(catalogue, prominent)
    for found, count in ((plain, 1), (prominent, 0)):
        search._print_matches(found[0], 4, with_name=False)
        assert capsys.readouterr().out.count("no entry stands out: no p-value is 0.05 or less") == count


def test_p_values_are_highlighted(searched):
    catalogue, results = searched
    page = Page(report.html(catalogue, results))
    classes = [row["class"] for row in page.find("tr")[1:]]
    p_values = [result.matches[0].p_value for result in results]
    assert min(p_values) < 0.05
    assert classes == ["clear" if p <= 0.05 else "weak" if p > 0.2 else "" for p in p_values]
    assert any("match" in each.get("class", "") and "weak" in each["class"] for each in page.find("div"))


def test_a_catalogue_without_calibration_has_a_note(searched):
    catalogue, results = searched
    uncalibrated = [result._replace(calibrated=False) for result in results]
    page = report.html(catalogue, uncalibrated)
    note = "The catalogue is not calibrated for these searches, so there are no p-values."
    assert page.count("p-value") == page.count(note) == 1
    text = report.html(catalogue, uncalibrated, note="Run <this> first.")
    assert "Run &lt;this&gt; first." in text
    assert "is not calibrated" not in text
    assert "first." not in report.html(catalogue, results, note="Run <this> first.")


def test_a_page_of_one_search_has_no_summary(searched):
    catalogue, results = searched
    page = Page(report.html(catalogue, results[:1], [("bad\x1b.png", "is <empty>")]))
    assert page.find("table") == []
    assert "bad\\x1b.png: is <empty>" in page.text
    assert page.text.strip().startswith("Search for q0.png")


def test_a_search_without_matches_says_why(searched):
    catalogue, results = searched
    empty = results[0]._replace(matches=(), thumbnails={})
    assert "No plausible map reaches any of them." in report.html(catalogue, [empty])
    text = Page(report.html(catalogue, [empty._replace(searched=0), results[1]])).text
    assert "No entry satisfies the conditions." in text
    assert "no match" in text


def test_pictures_are_small(searched):
    """At most 5 MB for 50 queries with 10 matches each, which have 24 pictures per query."""
    catalogue, results = searched
    pictures = [image["src"] for image in Page(report.html(catalogue, results)).find("img")]
    assert sum(map(len, pictures)) / len(pictures) < 5e6 / (50 * 24)


def test_a_report_shows_entries_that_were_removed_since(stored):
    with Catalogue("marks.db", write=True) as catalogue:
        found = catalogue.search("marks/003.png")
        catalogue.remove([match.entry for match in found.matches])
        assert "marks/003.png" in report.html(catalogue, [found])


def test_names_and_metadata_are_not_html(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("marks/<b>&\"quotes'.png", MARKS[0].image())
    save("marks/ordinary.png", MARKS[1].image())
    lines = ["file,motif,link,Source", "ordinary,<script>alert(1)</script>,javascript:alert(1),https://a.example/?b&c"]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    with Catalogue("m.db", create=True) as catalogue:
        catalogue.add("marks", metadata="t.csv")
    assert run("search", "m.db", "marks/ordinary.png", "--report", "r.html") == 0
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<script" not in text
    assert "<b>&" not in text
    assert [link["href"] for link in Page(text).find("a")] == ["https://a.example/?b&c"]


# ---------------------------------------------------------------- the table


def test_the_command_writes_a_page_and_a_table(stored, tmp_path):
    save_marks("queries", 2)
    assert run("search", "marks.db", "queries", "--report", "r.html", "--csv", "found.csv", "--top", 4) == 0
    assert (tmp_path / "r.html").read_text("utf-8").startswith("<!doctype html>")
    with open("found.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert {"query", "rank", "entry", "distance", "p_value", "map", "motif"} <= set(rows[0])


NAMES = [*MATCH_COLUMNS, *(f"metadata_{name}" for name in MATCH_COLUMNS), "metadata_rank_", "motif"]


@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_titles_of_a_table_are_unique(names):
    titles = make_unique_titles(names)
    assert list(titles) == names
    assert len({*MATCH_COLUMNS, *titles.values()}) == len(MATCH_COLUMNS) + len(names)
    assert all(title == name for name, title in titles.items() if name not in MATCH_COLUMNS)


def test_no_metadata_are_lost_in_a_table(made, stored):
    made.set(1, rank="first", metadata_rank="second", score="=third", motif="fourth")
    head, *rows = csv.reader(report.csv([made.search("marks/000.png")]).decode().splitlines())
    assert len(set(head)) == len(head)
    assert head[:9] == ["query", "rank", "entry", "file", "score", "misfit", "distance", "p_value", "map"]
    best = dict(zip(head, rows[0]))
    assert (best["rank"], best["metadata_rank_"], best["metadata_rank"]) == ("1", "first", "second")
    assert (best["metadata_score"], best["motif"]) == ("'=third", "fourth")
    numbers = [float(best[name]) for name in ("score", "misfit", "distance", "a00", "a01", "a10", "a11", "y0", "y1")]
    assert numbers[0] == pytest.approx(numbers[1] + numbers[2] / 4, abs=1e-5)
    assert re.fullmatch(r"(mirrored, )?scaled by .*", best["map"])


def test_a_page_of_fifty_queries_is_small(searched):
    catalogue, results = searched
    full = [result._replace(matches=(result.matches * 10)[:10]) for result in results if result.matches]
    assert len(report.html(catalogue, (full * 50)[:50])) < 5_000_000

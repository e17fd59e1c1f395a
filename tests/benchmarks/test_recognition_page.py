"""The tables and the picture of the document about recognition."""

import json

import pytest

from benchmarks import recognition_page
from benchmarks.report import END
from radoncdt import plot


@pytest.mark.parametrize("page", recognition_page.PAGES, ids=lambda page: page.stem)
def test_the_tables_show_the_results(page):
    records = recognition_page.load_records()
    text = page.read_text(encoding="utf-8")
    assert recognition_page.insert_tables(page, text, records) == text
    with pytest.raises(ValueError, match="there must be one place between"):
        recognition_page.insert_tables(page, text.replace(END, ""), records)


def test_the_picture_shows_the_results():
    shown = plot.read_facts(recognition_page.PICTURE)
    facts = recognition_page.list_facts(recognition_page.load_records()["few_shot"])
    assert json.dumps(shown) == json.dumps(facts)


def test_figures_of_a_report_replace_the_stored_ones(tmp_path, monkeypatch):
    stored = tmp_path / "stored.json"
    stored.write_text(json.dumps({"few_shot": [1], "glyphs": [2], "omniglot": [3], "priors": [4]}), encoding="utf-8")
    monkeypatch.setattr(recognition_page, "RESULTS", stored)
    parts = {name: name for name in recognition_page.STUDIES}
    folders = tmp_path / "sans", tmp_path / "serif"
    for k, folder in enumerate(folders):
        folder.mkdir()
        (folder / "omniglot.json").write_text("[]", encoding="utf-8")
        (folder / "glyphs.json").write_text(f"[{k + 5}]", encoding="utf-8")
    recognition_page.take_over(stored, folders, parts)
    assert recognition_page.load_records() == {"few_shot": [1], "glyphs": [5, 6], "omniglot": [3], "priors": [4]}
    with pytest.raises(ValueError, match=r"`folders` must hold reports with few_shot or glyphs .*, got '.*none'"):
        recognition_page.take_over(stored, [tmp_path / "none"], parts)
    recognition_page.take_over(stored, [], parts)
    assert recognition_page.load_records()["glyphs"] == [5, 6]

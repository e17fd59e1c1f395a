"""The tables of the document about registration."""

import pytest

from benchmarks import registration_page
from benchmarks.report import END


def test_the_tables_show_the_results():
    figures = registration_page.load_figures()
    text = registration_page.PAGE.read_text(encoding="utf-8")
    assert registration_page.insert_tables(text, figures) == text
    with pytest.raises(ValueError, match="there must be one place between"):
        registration_page.insert_tables(text.replace(END, ""), figures)


def test_titles_are_found_by_their_beginning():
    assert registration_page.find({"a, of 3": 1.0, "b": 2.0}, "a, of") == 1
    with pytest.raises(ValueError, match="unpack"):
        registration_page.find({"a, of 3": 1.0}, "c")

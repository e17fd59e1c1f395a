"""The tables of the document about recognition."""

import pytest

from benchmarks import recognition_page


def test_the_tables_show_the_results():
    records = recognition_page.load_records()
    text = recognition_page.PAGE.read_text(encoding="utf-8")
    assert recognition_page.insert_tables(text, records) == text
    with pytest.raises(ValueError, match="there must be one place between"):
        recognition_page.insert_tables(text.replace(recognition_page.END, ""), records)

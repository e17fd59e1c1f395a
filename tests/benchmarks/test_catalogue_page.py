"""The tables of the documents about catalogues."""

import pytest

from benchmarks import catalogue_page
from benchmarks.report import END


@pytest.mark.parametrize("name", catalogue_page.TABLES)
def test_the_tables_show_the_results(name):
    figures = catalogue_page.load_figures()
    text = (catalogue_page.DOCS / name).read_text(encoding="utf-8")
    assert catalogue_page.insert_tables(text, name, figures) == text
    with pytest.raises(ValueError, match="there must be one place between"):
        catalogue_page.insert_tables(text.replace(END, ""), name, figures)

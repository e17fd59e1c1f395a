"""The measured claims of the README."""

import pytest

from benchmarks import readme_page


def test_the_readme_shows_the_results():
    text = readme_page.README.read_text(encoding="utf-8")
    assert readme_page.insert_claims(text) == text
    with pytest.raises(ValueError, match="must be one place between"):
        readme_page.insert_claims(text.replace(readme_page.MARKS[1], ""))


def test_rows_have_figures_links_and_commands():
    for what, measured, how in readme_page.list_claims():
        assert what[0].isupper()
        assert any(char.isdigit() for char in measured)
        page = how.partition("](")[2].partition(")")[0]
        assert (readme_page.README.parent / page).exists()
        assert how.endswith("`")

"""Fixtures of the tests of commands."""

import pytest
from files import save_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with good and bad image files."""
    monkeypatch.chdir(tmp_path)
    save_files(tmp_path)
    return tmp_path

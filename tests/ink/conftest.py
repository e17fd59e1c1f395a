"""Image files for the tests of ink."""

import pytest
from files import save_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Drawings and files that are not images, in the working folder."""
    monkeypatch.chdir(tmp_path)
    save_files(tmp_path)
    return tmp_path

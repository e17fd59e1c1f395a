"""Folders with images of marks, and catalogues of them."""

import shutil

import pytest
from marks import save_marks

from radoncdt.catalogue import Catalogue


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A folder with twelve marks, their metadata, and a catalogue of them."""
    folder = tmp_path_factory.mktemp("whole")
    save_marks(folder / "marks", 12)
    with Catalogue(folder / "marks.db", create=True) as catalogue:
        catalogue.add(folder / "marks", metadata=folder / "marks.csv")
    return folder


@pytest.fixture
def folder(whole, tmp_path, monkeypatch):
    """The current folder, with the marks and their metadata."""
    shutil.copytree(whole / "marks", tmp_path / "marks")
    shutil.copy(whole / "marks.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def stored(whole, folder):
    """The same with the catalogue."""
    shutil.copy(whole / "marks.db", folder)
    return folder


@pytest.fixture
def made(stored):
    """The open catalogue in the current folder."""
    with Catalogue("marks.db", write=True) as catalogue:
        yield catalogue


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """A folder with 24 marks and a file that is not an image, and a catalogue of them in another folder."""
    folder = tmp_path_factory.mktemp("many")
    save_marks(folder / "marks", 24)
    (folder / "marks" / "bad.png").write_text("no image", encoding="utf-8")
    (folder / "reference").mkdir()
    with Catalogue(folder / "reference" / "whole.db", create=True) as catalogue:
        catalogue.add(folder / "marks", metadata=folder / "marks.csv")
    return folder

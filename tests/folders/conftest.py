"""Folders of examples and of images to classify."""

import shutil

import numpy as np
import pytest
from marks import MARKS, save

CHOSEN = [1, 2, 4]


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Files of three classes with one to three examples each, and four queries per class."""
    root = tmp_path_factory.mktemp("images")
    for n_examples, k in enumerate(CHOSEN, 1):
        for number in range(n_examples):
            save(root / f"train/class {k}/{number}.png", np.rot90(MARKS[k].image(), number))
    queries = MARKS.queries(240, rng=3)
    for k in CHOSEN:
        for number, image in enumerate(queries.images[queries.marks == k][:4]):
            save(root / f"test/class {k}/{number}.png", image)
    return root


@pytest.fixture
def folder(images, tmp_path, monkeypatch):
    """A copy of the images in the working folder."""
    shutil.copytree(images, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path

"""Digits, and a small run of all parts of the paper that several modules look at."""

import json
from contextlib import contextmanager

import numpy as np
import pytest

from radoncdt import datasets, reproduction
from radoncdt.reproduction.store import RunStore


@pytest.fixture(scope="session")
def digits():
    return datasets.load_mnist()


@pytest.fixture(scope="session")
def make_digits():
    """A function that makes n digits of the kinds 1, 5 and 7, and one of each other kind."""

    def make(n):
        labels = np.concatenate([np.arange(10), np.repeat([1, 5, 7], n - 1)]).astype(np.uint8)
        return datasets.Mnist(np.ones((len(labels), 28, 28), np.uint8), labels, "a test")

    return make


@pytest.fixture(scope="session")
def small():
    """Few draws, angles and class sizes."""
    return reproduction.Choice(draws=2, angles=(2, 8), sizes=(10, 20))


@pytest.fixture(scope="session")
def report(tmp_path_factory, digits, small):
    """The folder and the outcome of a small run. Tests that write into the folder copy it first."""
    folder = tmp_path_factory.mktemp("report") / "new" / "folder"
    return folder, reproduction.reproduce(folder, small, mnist=digits, n_jobs=1)


@pytest.fixture(scope="session")
def read_records():
    """A function that reads the records of a table, or of all tables, in a folder."""

    def read(folder, name="results"):
        return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))

    return read


@pytest.fixture(scope="session")
def interrupt_after():
    """A context in which an interrupt comes after n measurements."""

    @contextmanager
    def interrupt(n):
        add, count = RunStore.add, iter(range(1000))

        def interrupted(*arguments):
            if next(count) == n:
                raise KeyboardInterrupt
            add(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RunStore, "add", interrupted)
            with pytest.raises(KeyboardInterrupt):
                yield

    return interrupt

"""Connections: addresses of files, waiting for others, and folders that are read only."""

import os
import sqlite3
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from files import run
from marks import checked_content

from radoncdt.catalogue import Catalogue, connection


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/home/a b/m.db"), "file:///home/a%20b/m.db"),
        (PureWindowsPath("C:/marks/m.db"), "file:///C:/marks/m.db"),
        (PureWindowsPath(r"\\server\share\m.db"), "file:////server/share/m.db"),
    ],
)
def test_paths_become_addresses_that_sqlite_takes(path, uri):
    assert connection._make_uri(path) == uri


def test_a_writer_that_waits_too_long_says_so(many, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.05)
    path = tmp_path / "m.db"
    Catalogue(path, create=True).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert run("catalogue", "add", path, many / "marks") == 2
    assert "another process has been using it for 0.05 seconds; try again later" in capsys.readouterr().err
    other.execute("ROLLBACK")
    other.close()
    assert run("catalogue", "add", path, many / "marks", "--metadata", many / "marks.csv") == 1
    assert checked_content(path) == checked_content(many / "reference" / "whole.db")


def test_read_only_folders_are_read(stored):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    Path("marks.db").chmod(0o400)
    with Catalogue("marks.db") as catalogue:
        assert len(catalogue) == 12

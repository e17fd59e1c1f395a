"""Completion in shells: the scripts are valid, and complete commands, actions, options, choices and files."""

import os
import shutil
import subprocess
import sys

import pytest
from files import run

from radoncdt import cli
from radoncdt.reproduction import PARTS

SHELLS = ("bash", "zsh", "fish")

ASK_BASH = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p radoncdt | sed 's/.*-F \([^ ]*\).*/\1/')
printf '%s\n' "${COMPREPLY[@]}"
"""
"""Ask bash for the completions of the last word, as it does itself when the Tab key is pressed."""

ASK_FISH = 'source $argv[1]; complete --do-complete (string join " " -- $argv[2..])'


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """Write the scripts of all shells to a folder."""
    folder = tmp_path_factory.mktemp("scripts")
    for shell in SHELLS:
        command = [sys.executable, "-m", "radoncdt", "completion", shell]
        (folder / shell).write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    return folder


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work in a folder with two files and a folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a mark.png").touch()
    (tmp_path / "marks.db").touch()
    (tmp_path / "tracings").mkdir()


def find(shell):
    """Return the path of a shell, or skip the test."""
    path = shutil.which(shell)
    if path is None or sys.platform == "win32":  # there, bash may be a program that starts another system
        pytest.skip(f"{shell} is not installed")
    return path


def complete(shell, script, *words):
    """Return what a shell offers for the last of some words, without descriptions."""
    if shell == "bash":
        command = [find("bash"), "--norc", "-c", ASK_BASH, "bash", script, *words]
    else:
        command = [find("fish"), "--no-config", "-c", ASK_FISH, script, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | {"LC_ALL": "C"})
    assert done.stderr == ""
    return {line.partition("\t")[0].removesuffix("/") for line in done.stdout.splitlines()} - {""}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_valid(scripts, shell):
    assert (scripts / shell).stat().st_size > 1000
    command = [find(shell), "-n", scripts / shell]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | {"LC_ALL": "C"})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s", {"search", "show"}),
        ("catalogue m", {"migrate"}),
        ("search --ma", {"--mask", "--max-aspect", "--max-shear", "--max-side"}),
        ("catalogue add --me", {"--metadata"}),
        ("transform --directions ", {"auto", "equispaced", "whitened"}),
        ("ink --kind w", {"watermark"}),
        ("search --prior p", {"photograph"}),
        ("completion f", {"fish"}),
        ("reproduce table", {part for part in PARTS if part.startswith("table")}),
        ("reproduce table1 table2 table3 --pro", {"--protocol"}),
    ],
)
def test_names_are_completed(scripts, files, shell, line, expected):
    assert complete(shell, scripts / shell, "radoncdt", *line.split(" ")) == expected


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_every_command_is_offered(scripts, files, shell):
    assert set(cli.COMMANDS) <= complete(shell, scripts / shell, "radoncdt", "")


def test_files_and_folders_are_completed(scripts, files):
    everything = {"a mark.png", "marks.db", "tracings"}
    for line in ("ink ", "search ", "search marks.db ", "search --mask ", "classify tracings ", "catalogue add m.db "):
        assert complete("bash", scripts / "bash", "radoncdt", *line.split(" ")) == everything
    for line in ("classify ", "classify --copy-to ", "reproduce --mnist-dir "):
        assert complete("bash", scripts / "bash", "radoncdt", *line.split(" ")) == {"tracings"}
    assert complete("bash", scripts / "bash", "radoncdt", "search", "--report", "t") == {"tracings"}
    assert complete("bash", scripts / "bash", "radoncdt", "reproduce", "--font", "a") == {"a mark.png"}


def test_the_script_needs_no_other_optional_package(monkeypatch, capsys):
    for package in ("PIL", "matplotlib", "skimage", "jinja2", "rich", "tifffile", "mahotas", "mlxtend", "dask"):
        monkeypatch.setitem(sys.modules, package, None)
    assert run("completion", "zsh") == 0
    assert capsys.readouterr().out.startswith("#compdef radoncdt\n")


def test_a_missing_package_is_named_with_its_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert run("completion", "bash") == 2
    assert "pip install 'radoncdt[completion]'" in capsys.readouterr().err


def test_an_unknown_shell_is_refused(capsys):
    assert run("completion", "fihs") == 2
    assert "SHELL must be one of bash, zsh, fish, got 'fihs'; did you mean 'fish'?" in capsys.readouterr().err

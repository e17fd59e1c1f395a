"""The command ``python -m benchmarks``."""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks
from benchmarks.__main__ import NAMES, main


def test_without_a_name_all_benchmarks_are_listed(capsys):
    for arguments in ([], ["--help"]):
        assert main(arguments) == 0
        shown = capsys.readouterr().out
        assert all(f"\n  {name} " in shown for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_has_a_help_text(name, capsys):
    with pytest.raises(SystemExit) as exit_:
        main([name, "--help"])
    assert exit_.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: python -m benchmarks {name} ")
    assert shown.count(f"python -m benchmarks {name}") >= 2  # also in the description


def test_every_module_with_a_command_is_listed():
    modules = {path.stem for path in Path(benchmarks.__file__).parent.glob("*.py")} - {"__init__", "__main__"}
    scripts = {"memory_of_features", "memory_of_peer"}  # these run in separate processes
    assert {name for name in modules - scripts if hasattr(import_module(f"benchmarks.{name}"), "main")} == set(NAMES)


def test_a_similar_name_is_suggested(capsys):
    assert main(["corr"]) == 2
    assert "unknown benchmark 'corr'; did you mean 'core'?" in capsys.readouterr().err
    assert main(["zzz"]) == 2
    assert "unknown benchmark 'zzz'; choose from compare, comparison_page" in capsys.readouterr().err

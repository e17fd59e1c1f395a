"""Names and numbers as tables and figures show them."""

from dataclasses import replace

import pytest

from radoncdt import datasets
from radoncdt.reproduction import Cell, Printed, baselines, labels, robustness
from radoncdt.reproduction.protocol import PROTOCOLS, SOURCES
from radoncdt.reproduction.tables import TABLES

NEAREST = Cell("table2", "published", "linmnist", "mnrcdt", "2", "nearest", 4, 50)
FOLDS = Cell("table4", "published", "linmnist", "rcdt", None, "svm", 8, 5000)


def test_methods_and_sets_have_labels():
    assert list(robustness.METHODS) == list(labels.METHODS)
    assert list(datasets.FEW_SHOT) == list(labels.SETS)
    assert set(baselines.BASELINES) == set(baselines.LIBRARIES) < set(labels.METHODS)
    assert set(robustness.CURVE_METHODS) <= set(labels.METHODS)


def test_everything_has_a_label(make_digits):
    assert set(TABLES) == set(SOURCES) == set(labels.TABLES)
    assert set(PROTOCOLS) == set(labels.PROTOCOLS)
    for table in TABLES.values():
        for cell in table.list_cells(mnist=make_digits(50)):
            assert labels.label_column(cell)
            assert cell.dataset in labels.DATASETS


def test_rows_and_columns_are_those_of_the_paper():
    assert (labels.label_column(NEAREST), labels.find_row(NEAREST)) == ("LinMNIST ‖·‖₂", 4)
    assert (labels.label_column(FOLDS), labels.find_row(FOLDS)) == ("R-CDT 8", 5000)
    assert (labels.label_row(NEAREST), labels.label_row(FOLDS)) == ("4 angles", "class size 5,000")
    assert labels.label_column(replace(FOLDS, feature="euclidean", n_angles=None)) == "Euclidean"


def test_figures_have_the_digits_of_the_paper():
    assert labels.format_printed(Printed(0.9, None, 2)) == "0.90"
    assert labels.format_printed(Printed(0.565, 0.1, 3)) == "0.565 ± 0.100"
    assert labels.format_printed(None) == "–"


@pytest.mark.parametrize(
    ("difference", "errors", "text"),
    [
        (None, None, ""),
        (0.02, None, "+0.020"),
        (-0.0001, None, "+0.000"),
        (-0.02, -1.26, "-0.020 (-1.3 s.e.)"),
        (0.02, 12.0, "+0.020 (> 10 s.e.)"),
        (-0.02, -12.0, "-0.020 (< -10 s.e.)"),
        (0.0, 0.0, "equal"),
    ],
)
def test_differences_have_a_sign_and_a_size_in_standard_errors(difference, errors, text):
    assert labels.format_difference(difference, errors) == text

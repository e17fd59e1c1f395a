"""Summaries of measurements: means, deviations, differences from the paper, flags, records."""

from dataclasses import replace

import numpy as np
import pytest

from radoncdt.reproduction import Cell, Measurement, Printed, Trial
from radoncdt.reproduction.measurement import summarise

CELL = Cell("table4", "published", "linmnist", "rcdt", None, "svm", 8, 50)
TRIAL = Trial("linmnist10", 500, 50, "mnrcdt", 1, 2)


def test_means_and_deviations_are_within_and_between_draws():
    draws = {0: Measurement([0.5, 0.7], 0.1), 1: Measurement([0.8, 0.8], 0.3)}
    summary = summarise(CELL, Printed(0.75, 0.04, 3), draws)
    assert summary.draws == 2
    assert summary.ties == summary.record()["ties"] == pytest.approx(0.2)
    assert summary.mean == pytest.approx(0.7)
    assert summary.std == pytest.approx(np.std([0.5, 0.7], ddof=1) / 2)
    assert summary.std_between_draws == pytest.approx(np.std([0.6, 0.8], ddof=1))
    assert summary.difference == pytest.approx(-0.05)
    error = np.sqrt(summary.std_between_draws**2 * 1.5 + 0.001**2 / 12)
    assert summary.standard_errors == pytest.approx(-0.05 / error)
    assert summary.fold_maximum == summary.ours == pytest.approx(0.75)
    assert summary.fold_maximum_difference == pytest.approx(0)


def test_only_the_rcdt_of_table_4_has_a_maximum_of_folds():
    for change in ({"table": "table3"}, {"feature": "mnrcdt"}):
        summary = summarise(replace(CELL, **change), None, {0: Measurement([0.5, 0.7])})
        assert summary.fold_maximum is None
        assert summary.ours == summary.mean


def test_one_draw_and_one_figure_have_no_deviation():
    summary = summarise(CELL, Printed(0.75, None, 2), {0: Measurement([0.5])})
    assert (summary.std, summary.std_between_draws, summary.standard_errors, summary.ties) == (None, None, None, None)
    assert summary.difference == pytest.approx(-0.25)
    assert summarise(CELL, None, {0: Measurement([0.5])}).difference is None


def test_equal_draws_leave_the_error_of_rounding():
    equal = Measurement([1.0])
    summary = summarise(CELL, Printed(1.0, None, 2), {0: equal, 1: equal})
    assert (summary.difference, summary.standard_errors) == (0, 0)


def flag(cell, ours):
    draws = {i: Measurement([ours + error] * 10) for i, error in enumerate((-0.01, 0.01))}
    return summarise(cell, Printed(0.5, 0.1, 3), draws).flag


def test_notable_differences_are_flagged_in_the_published_protocol_only():
    cell = replace(CELL, feature="mnrcdt")
    assert [flag(cell, ours) for ours in (0.4, 0.49, 0.5, 0.51, 0.6)] == [-1, 0, 0, 0, 1]
    assert flag(replace(cell, protocol="independent"), 0.6) == 0


def test_the_largest_fold_is_flagged_where_the_paper_prints_it():
    draws = {i: Measurement([0.1, 0.5 + error]) for i, error in enumerate((-0.01, 0.01))}
    assert summarise(CELL, Printed(0.5, None, 3), draws).flag == 0
    assert summarise(replace(CELL, feature="mnrcdt"), Printed(0.5, None, 3), draws).flag == -1


def test_a_trial_is_summarised_over_its_repetitions():
    summary = summarise(TRIAL, Printed(0.628, None, 3), {0: Measurement([0.6, 0.7])})
    assert (summary.mean, summary.difference) == (pytest.approx(0.65), pytest.approx(0.022))
    assert summary.std == pytest.approx(np.std([0.6, 0.7], ddof=1))
    assert summary.flag == 0
    assert summarise(TRIAL, None, {0: Measurement([0.6])}).std is None


def test_records_have_the_fields_and_the_figures():
    cell = summarise(CELL, None, {0: Measurement([0.5, 0.7])}).record()
    fields = "table protocol dataset feature norm classifier n_angles class_size"
    figures = "paper_mean paper_std mean std std_between_draws draws difference standard_errors fold_maximum"
    more = "fold_maximum_difference fold_maximum_standard_errors ties"
    assert list(cell) == f"{fields} {figures} {more}".split()
    varied = summarise(replace(CELL, variant="fit canvas"), None, {0: Measurement([0.5])}).record()
    assert list(varied) == f"{fields} variant {figures} {more}".split()
    trial = summarise(TRIAL, Printed(0.628, None, 3), {0: Measurement([0.6, 0.7])}).record()
    fields, figures = "dataset class_size n_train method k repetitions", "mean std authors difference"
    assert list(trial) == f"{fields} {figures}".split()
    assert trial["authors"] == 0.628
    curve = summarise(replace(TRIAL, varied="dots", level=0), None, {0: Measurement([0.6, 0.7])}).record()
    assert list(curve) == f"{fields} varied level {figures}".split()

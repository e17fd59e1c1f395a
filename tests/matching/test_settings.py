"""Settings of descriptors."""

import math
from dataclasses import asdict

import pytest

import radoncdt
from radoncdt.matching.settings import NU, ROBUST, DescriptorSettings


def test_the_defaults_are_those_of_describe():
    assert radoncdt.describe([[1, 1]]).settings == DescriptorSettings()
    assert radoncdt.describe([[1, 1]], **ROBUST).settings == DescriptorSettings(**ROBUST)


def test_exact_moments_have_no_degrees_of_freedom_of_their_own():
    assert DescriptorSettings(nu=7) == DescriptorSettings()
    assert DescriptorSettings(moments="robust", nu=7) != DescriptorSettings(moments="robust")


def test_levels_are_trimmed_at_both_ends():
    levels = DescriptorSettings(n_levels=16, trim=0.125).levels
    assert levels.tolist() == [(k + 0.5) / 16 for k in range(2, 14)]


def test_a_step_of_the_circle_bounds_the_distance_of_copies():
    assert DescriptorSettings(16).grid_distance == pytest.approx(2 * math.sin(math.pi / 64), rel=1e-15)


@pytest.mark.parametrize("settings", [DescriptorSettings(), DescriptorSettings(8, 12, **ROBUST)])
def test_records_restore_settings(settings):
    assert DescriptorSettings.from_record(asdict(settings)) == settings


def test_older_records_have_no_degrees_of_freedom_for_exact_moments():
    assert DescriptorSettings.from_record({**asdict(DescriptorSettings()), "nu": 0.0}).nu == NU


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_angles": 0}, "`n_angles` must be at least 1, got 0"),
        ({"n_levels": 2.5}, "`n_levels` must be an integer, got 2.5"),
        ({"moments": "levels"}, "`moments` must be one of 'exact', 'robust', got 'levels'"),
        ({"moments": "robust", "nu": -1}, "`nu` must be a positive number, got -1"),
        ({"trim": 0.5}, "`trim` must be a number from 0 to below 0.5, got 0.5"),
    ],
)
def test_wrong_settings_are_refused_by_name(wrong, message):
    with pytest.raises((TypeError, ValueError), match=message):
        DescriptorSettings(**wrong)

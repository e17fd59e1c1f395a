"""Synthetic watermarks."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.ndimage import gaussian_filter

import radoncdt
from radoncdt import datasets
from radoncdt.datasets.marks import CONTRAST, LAID, QUERY_KINDS


def test_the_first_marks_do_not_depend_on_their_number():
    few, many = datasets.watermarks(25, seed=3), datasets.watermarks(31, seed=3)
    for a, b in zip(few, many):
        assert a.motif == b.motif
        assert_array_equal(a.image(), b.image())
    assert not np.array_equal(datasets.watermarks(1, seed=4)[0].image(), few[0].image())


def test_marks_are_all_different():
    """No two marks are as close as copies of one mark. Near-twins are closer than other marks."""
    marks = datasets.watermarks(100, seed=2)
    distances = radoncdt.affine_distances([mark.image() for mark in marks])
    np.fill_diagonal(distances, np.inf)
    assert distances.min() > 0.004
    twins = np.flatnonzero(marks.twins >= 0)
    assert len(twins) == 20
    assert np.mean(distances[twins].argmin(axis=1) == marks.twins[twins]) > 0.8


def test_near_twins_differ_in_one_part():
    marks = datasets.watermarks(50, seed=5)
    for first, second in ((k, marks.twins[k]) for k in range(50) if marks.twins[k] > k):
        a, b = marks[first], marks[second]
        moved = [k for k, (p, q) in enumerate(zip(a.parts, b.parts)) if not np.array_equal(p[0], q[0])]
        assert len(moved) == 1
        assert a.motif == b.motif
        shift = b.parts[moved[0]][0][0] - a.parts[moved[0]][0][0]
        size = np.ptp(np.concatenate(a.lines), axis=0).max()
        assert 0.03 <= np.linalg.norm(shift) / size <= 0.06


def test_queries_are_moved_marks():
    marks = datasets.watermarks(12, seed=6)
    queries = marks.queries(8, rng=0)
    assert len(set(queries.marks.tolist())) == 8
    entries = radoncdt.describe([mark.image() for mark in marks])
    distances = radoncdt.affine_distances(radoncdt.describe(queries.images), entries)
    assert_array_equal(distances.argmin(axis=1), queries.marks)
    edges = [queries.images[:, 0], queries.images[:, -1], queries.images[:, :, 0], queries.images[:, :, -1]]
    assert not np.concatenate(edges, axis=1).any()


def test_kinds_of_queries_share_marks_and_maps():
    marks = datasets.watermarks(5)
    drawings, specks, photographs = (marks.queries(3, kind=kind, rng=1) for kind in QUERY_KINDS)
    assert_array_equal(drawings.marks, photographs.marks)
    assert_array_equal(drawings.maps.matrices, specks.maps.matrices)
    extra = specks.images - drawings.images
    assert extra.min() >= 0
    areas = extra.sum(axis=(1, 2)) / (np.pi * 1.5**2)
    assert (areas <= 10.5).all()
    assert areas.mean() > 8


def test_photographs_have_the_right_contrast_and_laid_lines():
    marks = datasets.watermarks(3)
    drawing = marks.queries(3, rng=1).images
    grey = marks.queries(3, kind="photograph", rng=1).images
    for mark, photograph in zip(drawing, grey):
        flat = photograph - gaussian_filter(photograph, 12)
        contrast = flat[mark > 0.9].mean() - flat[mark == 0].mean()
        assert 0.5 * CONTRAST < contrast < 1.2 * CONTRAST
        spectrum = np.abs(np.fft.fft2(flat - flat.mean())) ** 2
        row, column = np.unravel_index(spectrum[:160, :].argmax(), (160, 320))
        assert np.hypot(row / 320, min(column, 320 - column) / 320) == pytest.approx(1 / LAID, rel=0.02)


def test_invalid_arguments_are_refused():
    with pytest.raises(ValueError, match="`n` must be at least 1"):
        datasets.watermarks(0)
    with pytest.raises(ValueError, match="`kind` must be one of"):
        datasets.watermarks(1).queries(1, kind="sketch", rng=0)
    assert len(datasets.watermarks(2).queries(5, rng=0).images) == 5

"""Ink of the kind "watermark"."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.ndimage import binary_dilation

from radoncdt import datasets
from radoncdt.ink import InkError, find_ink


def test_the_lines_of_a_mark_are_found_in_photographs():
    """Most of the mark's lines are found, and little else."""
    marks = datasets.watermarks(12, seed=5)
    drawings = marks.queries(6, kind="drawing", rng=3).images
    photographs = marks.queries(6, kind="photograph", rng=3).images
    for drawing, photograph in zip(drawings, photographs):
        ink = find_ink(np.uint8(255 * photograph), kind="watermark") > 0
        near = binary_dilation(drawing > 0.2, iterations=3)
        found = binary_dilation(ink, iterations=3)
        assert (ink & near).sum() > 0.8 * ink.sum()
        assert (found & (drawing > 0.5)).sum() > 0.7 * (drawing > 0.5).sum()


def test_a_dark_mark_is_the_negative_of_a_bright_one():
    page = datasets.watermarks(1).queries(1, kind="photograph", rng=0).images[0]
    bright, dark = np.float32(page), np.float32(1) - np.float32(page)
    expected = find_ink(bright, kind="watermark") > 0
    assert (expected == (find_ink(dark, kind="watermark", ink="dark") > 0)).mean() > 0.999
    assert_array_equal(find_ink(bright, kind="watermark", ink="bright") > 0, expected)


def test_weaker_ridges_continue_strong_ones():
    page = np.uint8(255 * datasets.watermarks(1).queries(1, kind="photograph", rng=0).images[0])
    areas = [
        (find_ink(page, kind="watermark", threshold=6, low=low, specks=0) > 0).sum() for low in (None, 3.0, 6.0, 0.5)
    ]
    assert areas[0] == areas[1] > areas[2]
    assert areas[3] > areas[1]


def test_paper_without_a_mark_has_no_ink():
    with pytest.raises(InkError, match=r"no line rises above the noise; try a threshold below 5$"):
        find_ink(np.full((320, 320), 127, np.uint8), kind="watermark")

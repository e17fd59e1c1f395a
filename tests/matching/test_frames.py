"""Canvases of measures, and their maps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from radoncdt import PointCloud, describe
from radoncdt._numpy.distortion import sample_frame
from radoncdt.matching.frames import REACH, make_canvases
from radoncdt.measures import Batch


def frames_of(measures, side=28):
    batch = Batch.read(measures)
    canvases = make_canvases(batch, describe(batch, n_angles=4, n_levels=4), side, 1)
    maps = canvases.maps(np.arange(len(batch)))
    return canvases, np.array([sample_frame(p, m, side, REACH) for p, m in zip(canvases.pixels, maps)])


def draw_gaussian(size, deviations, angle=0.4):
    c, s = np.cos(angle), np.sin(angle)
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    along, across = c * x - s * y, s * x + c * y  # rows point down
    return np.exp(-(along**2) / 2 / deviations[0] ** 2 - across**2 / 2 / deviations[1] ** 2)


@pytest.mark.parametrize(("size", "deviations"), [(80, (6, 10)), (300, (20, 40)), (401, (60, 35))])
def test_a_gaussian_becomes_the_standard_one(size, deviations):
    _, (frame,) = frames_of([draw_gaussian(size, deviations)])
    places = REACH * ((2 * np.arange(28) + 1) / 28 - 1)
    x, y = np.meshgrid(places, -places)
    expected = np.exp(-(x**2 + y**2) / 2)
    assert_allclose(frame / frame.max(), expected, atol=0.03)


def test_large_images_are_reduced():
    canvases, _ = frames_of([draw_gaussian(400, (60, 60)), draw_gaussian(40, (4, 4))])
    large, small = canvases.pixels
    assert max(large.shape) < 120
    assert small.shape == (40, 40)


def test_padding_changes_nothing():
    image = draw_gaussian(50, (5, 8)) > 0.5
    _, frames = frames_of([image.astype(float), np.pad(image, ((3, 8), (11, 2))).astype(float)])
    assert_allclose(frames[0], frames[1], atol=1e-6)


def test_clouds_are_drawn_in_their_own_frame():
    rng = np.random.default_rng(0)
    cloud = PointCloud(rng.normal(size=(4000, 2)) @ [[3.0, 1.0], [0.0, 0.5]])
    _, (frame,) = frames_of([cloud])
    y, x = np.mgrid[13.5:-14:-1, -13.5:14] * (2 * REACH / 28)
    weights = frame / frame.sum()
    assert_allclose([(weights * x).sum(), (weights * y).sum()], 0, atol=0.05)
    assert_allclose([(weights * x * x).sum(), (weights * y * y).sum()], 1, atol=0.12)

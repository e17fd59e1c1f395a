"""Canonical images."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rows import OfRows, list_checks
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from radoncdt import PointCloud, WhitenedImages, push_forward
from radoncdt.matching.frames import REACH


def draw_flag():
    flag = np.zeros((90, 90))
    flag[20:70, 30:40] = flag[20:44, 40:66] = 1
    return flag


def test_a_canonical_image_has_the_unit_covariance():
    (row,) = WhitenedImages(64).fit_transform([draw_flag()])
    assert row.max() == 1
    frame = row.reshape(64, 64)
    y, x = np.mgrid[31.5:-32:-1, -31.5:32] * (2 * REACH / 64)
    weights = frame / frame.sum()
    moments = [(weights * each).sum() for each in (x, y, x * x, x * y, y * y)]
    assert_allclose(moments, [0, 0, 1, 0, 1], atol=0.02)


def test_shifts_sizes_and_brightness_do_not_matter():
    flag = draw_flag()
    copies = [flag, push_forward(flag, 1.7 * np.eye(2), [4.3, -2.1], shape=(200, 220)), 7 * flag]
    frames = WhitenedImages(28).fit_transform(copies)
    assert_allclose(frames[1], frames[0], atol=0.12)
    assert_allclose(frames[2], frames[0], atol=1e-6)


def test_specks_hardly_move_robust_images():
    flag = draw_flag()
    spotted = np.pad(flag, 60)
    clean = spotted.copy()
    spotted[5:9, 5:9] = spotted[200:204, 10:14] = 1
    exact, robust = (
        np.abs(np.subtract(*WhitenedImages(28, moments=moments).fit_transform([spotted, clean]))).mean()
        for moments in ("exact", "robust")
    )
    assert robust < 0.25 * exact


def test_it_sits_in_a_pipeline():
    rng = np.random.default_rng(0)
    images = [np.pad(np.ones((8 + k, 8 + k)), 3) for k in range(6)] + [np.tri(9 + k) for k in range(6)]
    labels = np.repeat(["square", "triangle"], 6)
    model = make_pipeline(WhitenedImages(12), LogisticRegression()).fit(images, labels)
    assert model.score(images, labels) == 1
    names = model[0].get_feature_names_out()
    assert_array_equal(names[[0, 13]], ["row0_column0", "row1_column1"])
    assert model[0].transform([PointCloud(rng.normal(size=(20, 2)))]).shape == (1, 144)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"frame_size": 3}, "`frame_size` must be at least 8, got 3"),
        ({"moments": "levels"}, "`moments` must be one of 'exact', 'robust', got 'levels'"),
        ({"n_jobs": 0}, "`n_jobs` must not be 0"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        WhitenedImages(**parameters).fit([np.ones((4, 4))])


class WhitenedOfRows(OfRows, WhitenedImages):
    pass


@pytest.mark.parametrize(("estimator", "check"), [*list_checks(WhitenedOfRows(frame_size=8))])
def test_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)

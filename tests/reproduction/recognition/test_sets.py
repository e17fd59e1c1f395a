"""The sets of the few-shot study."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from radoncdt import datasets
from radoncdt.reproduction.recognition import sets

FONTS = datasets.list_fonts(system=False)


@pytest.fixture(scope="module", autouse=True)
def small():
    """Draw few images."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sets, "MAX_TRAIN", 3)
        patch.setattr(sets, "N_TEST", 2)
        yield


@pytest.fixture(scope="module")
def drawn(small):
    return {name: sets.draw_set(name, 0, 0, None, FONTS) for name in sets.SETS}


@pytest.mark.parametrize(
    ("name", "n_classes", "side", "n_test"),
    [("digits", 10, 48, 2), ("turned digits", 10, 48, 2), ("capitals", 26, 80, 1), ("symbols", 12, 128, 2)],
)
def test_every_class_has_images_to_train_on_and_others_to_test(drawn, name, n_classes, side, n_test):
    draw = drawn[name]
    assert draw.train.shape == (n_classes, 3, side, side)
    assert draw.test.shape == (n_classes, n_test, side, side)
    for images in draw:
        assert images.dtype == np.float32
        assert images.min() >= 0
        assert (images.sum(axis=(2, 3)) > 0).all()


def test_images_are_not_cut_off_by_their_canvas(drawn):
    for name in ("digits", "turned digits", "capitals"):
        for images in drawn[name]:
            border = np.concatenate([images[..., [0, -1], :], images[..., [0, -1]].swapaxes(2, 3)], axis=2)
            assert border.max() < 0.05, name


def test_smaller_training_sets_are_part_of_larger_ones(drawn):
    images, labels = drawn["digits"].choose(2)
    assert_array_equal(labels, np.repeat(np.arange(10), 2))
    assert_array_equal(images.reshape(10, 2, 48, 48)[:, :1], drawn["digits"].train[:, :1])
    assert_array_equal(drawn["capitals"].tested[1], np.arange(26))


def test_draws_are_independent_and_repeatable(drawn):
    again = sets.draw_set("digits", 0, 0, datasets.load_mnist(), FONTS)
    assert_array_equal(again.train, drawn["digits"].train)
    for other in (sets.draw_set("digits", 0, 1, None, FONTS), sets.draw_set("digits", 1, 0, None, FONTS)):
        assert (other.train != again.train).any()


def test_fonts_of_test_images_are_not_seen_in_training():
    drawn = [sets._draw_alphabet(font) for font in FONTS]
    groups = {font.name: group for font, group in zip(FONTS, sets.group_fonts(FONTS, drawn))}
    assert groups["DejaVu Sans Book"] == groups["DejaVu Sans Bold"]
    assert groups["cmr10 Regular"] == groups["cmmi10 Regular"]  # some letters are only slanted
    assert len({groups[name] for name in ("DejaVu Sans Book", "STIXGeneral Regular", "cmr10 Regular")}) == 3


def test_capitals_need_two_families():
    with pytest.raises(ValueError, match="`fonts` must have fonts of at least two different families, got 1 fonts"):
        sets.draw_set("capitals", 0, 0, None, FONTS[:1])

"""The data sets of the few-shot study of robustness."""

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets


@pytest.fixture(scope="module")
def digits():
    return datasets.load_mnist()


def test_there_are_five_data_sets():
    assert list(datasets.FEW_SHOT) == ["aff", "elastic", "salt", "all", "linmnist10"]
    for distortion in datasets.FEW_SHOT.values():
        maps = distortion.maps
        assert (maps.isotropic, maps.rotation, maps.shift) == (False, 180, 20)
        assert maps.circular
        assert maps.whole_pixels
    assert datasets.FEW_SHOT["elastic"].maps.scale == (0.5, 1.25)
    assert datasets.FEW_SHOT["all"].maps.shear == 5


def test_symbols_are_on_a_canvas_of_256_pixels_in_the_order_of_classes():
    images, labels = datasets.few_shot("aff", 1, rng=0)
    assert images.shape == (12, 256, 256)
    assert images.dtype == np.float32
    assert labels.tolist() == list(datasets.TEMPLATES)


def test_the_first_images_do_not_depend_on_how_many_there_are():
    options = {"rng": 3, "classes": ["circle-star1", "shield-square"]}
    few, many = (datasets.few_shot("all", n, **options)[0] for n in (1, 3))
    np.testing.assert_array_equal(few, many[[0, 3]])


def test_salt_is_added_after_the_map_and_images_are_bent_before_it():
    """Without dots, the images of "salt" are only moved. Dots are round, because they are added after the map."""
    one = {"rng": 5, "classes": ["circle-star1"]}
    clean = datasets.few_shot("salt", 4, dots=(0, 0), **one)[0]
    salted = datasets.few_shot("salt", 4, dots=(3, 3), **one)[0]
    assert (salted >= clean).all()
    specks = np.where(clean == 0, salted, 0).sum(axis=(1, 2))
    assert (specks <= 3 * np.pi * 1.5**2 * 1.05).all()
    assert specks.max() > 2 * np.pi * 1.5**2
    bent, straight = (datasets.few_shot("elastic", 2, amplitude=(a, a), **one)[0] for a in (20, 0))
    np.testing.assert_array_equal(straight, datasets.few_shot("aff", 2, **one)[0])
    assert np.abs(bent - straight).max() > 0.5
    distances = radoncdt.affine_distances(np.concatenate([bent, straight]))
    assert distances[0, 2] > 3 * distances[2, 3]  # no affine map can undo bending


def test_noise_can_be_added_to_data_sets_without_it():
    clean, salted = (datasets.few_shot("aff", 1, rng=1, classes=["square"], dots=d)[0] for d in (None, (9, 9)))
    assert salted.sum() > clean.sum() + 20


def test_dark_pixels_of_digits_are_removed_and_digits_are_enlarged(digits, monkeypatch):
    still = datasets.FEW_SHOT["linmnist10"]._replace(maps=datasets.AffineDistribution())
    monkeypatch.setitem(datasets.FEW_SHOT, "linmnist10", still)
    images, labels = datasets.few_shot("linmnist10", 2, rng=0, mnist=digits)
    assert images.shape == (20, 128, 128)
    assert labels.tolist() == np.repeat(range(10), 2).tolist()
    grey = digits.first(7, 2).astype(float)
    kept = np.where(grey >= 0.666 * grey.max(axis=(1, 2), keepdims=True), grey, 0)
    found = images[labels == 7]
    np.testing.assert_allclose(found.sum(axis=(1, 2)), 4 * (kept / 255).sum(axis=(1, 2)), rtol=0.01)
    np.testing.assert_allclose(radoncdt.mean(found), 2 * radoncdt.mean(kept), atol=1e-5)
    assert found.max() <= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "pepper"}, "`name` must be one of 'aff', .*, got 'pepper'"),
        ({"n": 0}, "`n` must be at least 1, got 0"),
        ({"classes": ["heart"]}, "`classes` must be one of .*, got 'heart'"),
        ({"classes": []}, "`classes` must not be empty"),
        ({"dots": (3, 2)}, "`dots` must be a pair 0 ≤ low ≤ high"),
        ({"amplitude": (-1, 2)}, "`amplitude` must be a pair 0 ≤ low ≤ high"),
        ({"name": "linmnist10", "classes": [10]}, "`classes` must be digits, got 10"),
        ({"name": "linmnist10", "n": 501}, "`n` must be at most 500"),
        ({"name": "linmnist10", "mnist": 3}, "`mnist` must be of the type Mnist"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        datasets.few_shot(**{"name": "aff", "n": 1, "rng": 0, **arguments})

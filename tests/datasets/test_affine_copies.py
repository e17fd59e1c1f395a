"""The two data sets of the paper."""

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.datasets import NARROW, WIDE, AffineDistribution, AffineMaps


@pytest.fixture(scope="module")
def digits():
    """Make a substitute for MNIST: rectangles of random sizes at random places."""
    rng = np.random.default_rng(0)
    images = np.zeros((90, 28, 28), np.uint8)
    for image in images:
        i, j = rng.integers(6, 16, 2)
        image[i : i + rng.integers(3, 7), j : j + rng.integers(3, 7)] = rng.integers(100, 256)
    return datasets.Mnist(images, np.tile([1, 7, 5], 30).astype(np.uint8), "blots")


def test_academic_images_are_moved_templates():
    images, labels, maps = datasets.academic(4, rng=0, size=64, canvas=128, line_width=3)
    assert images.shape == (12, 128, 128)
    assert isinstance(maps, AffineMaps)
    assert list(dict.fromkeys(labels)) == ["circle-star1", "square-star4", "shield-triangle"]
    drawings = datasets.templates(labels[::4], size=64, canvas=128, line_width=3)
    for image, label, matrix, shift in zip(images, labels, *maps):
        expected = radoncdt.mean(drawings[label]) @ matrix.T + shift
        np.testing.assert_allclose(radoncdt.mean(image), expected, atol=0.2)


@pytest.mark.parametrize("n_maps", [None, 10])
def test_the_first_images_do_not_depend_on_the_class_size(digits, n_maps):
    options = {"rng": 3, "n_maps": n_maps}
    few, many = (datasets.lin_mnist([1, 7], n, mnist=digits, **options)[0] for n in (3, 12))
    np.testing.assert_array_equal(few, many[[0, 1, 2, 12, 13, 14]])
    few, many = (datasets.academic(n, size=32, canvas=64, **options)[0] for n in (2, 4))
    np.testing.assert_array_equal(few, many[[0, 1, 4, 5, 8, 9]])


def test_the_state_of_a_generator_is_used_and_advances(digits):
    for n_maps in (None, 3):
        rng = np.random.default_rng(5)
        state = rng.bit_generator.state
        first, second = (datasets.lin_mnist([1, 5], 3, rng=rng, mnist=digits, n_maps=n_maps)[2] for _ in range(2))
        assert (first.matrices != second.matrices).any()
        rng.bit_generator.state = state
        again = datasets.lin_mnist([1, 5], 3, rng=rng, mnist=digits, n_maps=n_maps)[2]
        np.testing.assert_array_equal(first.matrices, again.matrices)


def test_shared_maps_are_shared(digits):
    _, labels, maps = datasets.lin_mnist([1, 5], 25, rng=3, mnist=digits, n_maps=10)
    assert len(np.unique(maps.matrices.reshape(50, 4), axis=0)) == 10
    for k in range(25):
        np.testing.assert_array_equal(maps.matrices[k], maps.matrices[k % 10])
        np.testing.assert_array_equal(maps.matrices[25 + k], maps.matrices[k])
    _, _, own = datasets.lin_mnist([1, 5], 25, rng=3, mnist=digits)
    assert len(np.unique(own.matrices.reshape(50, 4), axis=0)) == 50
    np.testing.assert_array_equal(labels, np.repeat([1, 5], 25))


def test_digits_are_the_first_of_their_class_padded_with_values_up_to_one(digits):
    images, _, _ = datasets.lin_mnist([7], 5, rng=0, mnist=digits, distribution=AffineDistribution())
    expected = digits.images[digits.labels == 7][:5].astype(float)
    np.testing.assert_allclose(images[:, 14:42, 14:42], expected / expected.max(axis=(1, 2), keepdims=True), atol=1e-6)
    assert images.shape == (5, 56, 56)
    moved = datasets.lin_mnist([7], 5, rng=0, mnist=digits)[0]
    np.testing.assert_array_equal(moved.max(axis=(1, 2)), 1)


def test_the_maps_of_the_paper_are_those_of_its_tables():
    assert (NARROW.scale, WIDE.scale) == ((0.75, 1.0), (0.75, 1.25))
    assert np.deg2rad([NARROW.rotation, WIDE.rotation]) == pytest.approx([0.5, 1.0])
    assert (NARROW.shift, WIDE.shift) == (5, 15)
    for maps in (NARROW, WIDE):
        assert (maps.isotropic, maps.shear, maps.whole_degrees, maps.whole_pixels, maps.circular) == (
            True,
            5,
            *[True] * 3,
        )


def test_more_digits_than_available_are_refused(digits):
    with pytest.raises(ValueError, match="`n` must be at most 30, the number of images of digit 5 in blots, got 31"):
        datasets.lin_mnist([5], 31, rng=0, mnist=digits)
    with pytest.raises(ValueError, match="`n` must be at most 0, the number of images of digit 2 in blots, got 1"):
        datasets.lin_mnist([2], 1, rng=0, mnist=digits)
    with pytest.raises(ValueError, match="`canvas` must be at least 28, got 20"):
        datasets.lin_mnist([5], 1, rng=0, mnist=digits, canvas=20)
    with pytest.raises(ValueError, match="`digits` must be digits, got 10"):
        datasets.lin_mnist([10], 1, rng=0, mnist=digits)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.academic(2, rng=0, classes=[]), "`classes` must not be empty"),
        (lambda: datasets.academic(2, rng=0, classes=["a"]), "`classes` must be one of 'circle-star1'"),
        (
            lambda: datasets.academic(2, rng=0, distribution=None),
            "`distribution` must be of the type AffineDistribution",
        ),
        (lambda: datasets.lin_mnist(1, 2, rng=0), "`digits` must be a sequence, got 1"),
        (lambda: datasets.lin_mnist([1], 2, rng=0, mnist=3), "`mnist` must be of the type Mnist, got 3"),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_warning_about_lost_ink_names_the_line_of_the_caller():
    with pytest.warns(UserWarning, match="lost more than") as warned:
        datasets.academic(2, rng=0, canvas=128, distribution=AffineDistribution(scale=(2, 3)))
    assert warned[0].filename == __file__

"""The networks of the few-shot study."""

import numpy as np
import pytest

from radoncdt import datasets
from radoncdt._extras import MissingExtraError
from radoncdt.reproduction.recognition import networks


def make_bars(n, rng):
    """Upright and level bars."""
    images = np.zeros((2 * n, 24, 24), np.float32)
    for k, image in enumerate(images):
        at, length = rng.integers(4, 16), rng.integers(10, 18)
        image[(slice(4, 4 + length), slice(at, at + 3))[:: 1 if k < n else -1]] = 1
    return images, np.repeat([0, 1], n)


@pytest.mark.skipif(networks.is_installed(), reason="the extra deep is installed")
def test_the_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"training networks needs the package torch.*radoncdt\[deep\]"):
        networks.train(np.ones((2, 9, 9)), np.array([0, 1]), networks.VARIANTS["digits"], n_steps=1, seed=0)
    assert None in networks.find_versions().values()


def test_a_network_learns_and_repeats_itself():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    (train, labels), (test, truth) = make_bars(5, rng), make_bars(10, rng)
    variants = networks.VARIANTS["digits"]._replace(rotation=0.1)
    first, again = (networks.train(train, labels, variants, seed=3, n_steps=40)(test) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first.sum(axis=1), 1)
    assert (first.argmax(axis=1) == truth).mean() >= 0.9


def test_variants_keep_their_ink():
    torch = pytest.importorskip("torch")
    images = networks._prepare(datasets.load_mnist().images[::250].astype(np.float32))
    generator = torch.Generator().manual_seed(0)
    for variants in (*networks.VARIANTS.values(), networks.WHITENED):
        varied = torch.cat([networks._vary(images, variants, generator, unchanged=0.0) for _ in range(20)])
        assert varied.shape == (20 * len(images), 1, networks.SIDE, networks.SIDE)
        border = torch.cat([varied[..., [0, -1], :].flatten(1), varied[..., [0, -1]].flatten(1)], dim=1)
        assert border.mean() < 0.1 * varied.mean()  # little ink is cut off


def test_images_are_cropped_to_their_ink():
    pytest.importorskip("torch")
    image = np.zeros((40, 60), np.float32)
    image[10:30, 5:15] = 3
    first, second = networks._prepare(np.stack([image, np.roll(image, (4, 30), axis=(0, 1))]))
    np.testing.assert_allclose(first, second)
    assert first.max() == 1


def test_pretrained_features_do_not_depend_on_the_place_of_the_ink():
    pytest.importorskip("efficientnet_lite_pytorch")
    image = np.zeros((40, 60), np.float32)
    image[10:30, 5:15] = 3
    first, moved, other = networks.pretrained_features(np.stack([image, np.roll(image, (4, 30), (0, 1)), image + 1]))
    assert first.shape == (1280,)
    np.testing.assert_allclose(first, moved, atol=1e-5)
    assert np.abs(first - other).max() > 0.01

"""Lazy transforms of Dask arrays."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import radoncdt

da = pytest.importorskip("dask.array")


IMAGES = np.random.default_rng(0).random((6, 2, 9, 11))


@pytest.mark.parametrize("name", ["rcdt", "nrcdt", "max_nrcdt", "mean_nrcdt", "pooled_nrcdt"])
@pytest.mark.parametrize("chunks", [(2, 1, 9, 11), (6, 2, 4, 5), (1, 2, 9, 3)])
def test_transforms_of_dask_arrays_are_lazy_and_equal(name, chunks):
    transform = getattr(radoncdt, name)
    options = {"n_angles": 6, "n_levels": 8} | ({"pool": "median"} if name == "pooled_nrcdt" else {})
    if name in ("mean_nrcdt", "pooled_nrcdt"):
        options["directions"] = "whitened"
    lazy = transform(da.from_array(IMAGES, chunks=chunks), **options)
    expected = transform(IMAGES, **options)
    assert isinstance(lazy, da.Array)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    assert_array_equal(lazy.compute(), expected)


def test_nothing_is_computed_before_it_is_requested():
    def fail(_):
        raise AssertionError

    images = da.from_array(IMAGES[:, 0], chunks=(1, 9, 11)).map_blocks(fail, dtype=float, meta=np.empty((0, 0, 0)))
    lazy = radoncdt.rcdt(images, n_angles=4)
    assert lazy.shape == (6, 4, 64)
    with pytest.raises(AssertionError):
        lazy.compute()


def test_a_single_image_is_transformed():
    image = da.from_array(IMAGES[0, 0], chunks=4)
    assert_array_equal(radoncdt.nrcdt(image, n_angles=4).compute(), radoncdt.nrcdt(IMAGES[0, 0], n_angles=4))


def test_images_are_positional_only_as_for_other_arrays():
    for images in (IMAGES, da.from_array(IMAGES, chunks=2)):
        with pytest.raises(TypeError, match="positional"):
            radoncdt.nrcdt(images=images)


def test_invalid_options_are_refused_immediately():
    images = da.from_array(IMAGES, chunks=2)
    with pytest.raises(ValueError, match="`n_angles` must be at least 1"):
        radoncdt.rcdt(images, n_angles=0)
    with pytest.raises(ValueError, match=r"`images` must have shape \(H, W\)"):
        radoncdt.rcdt(da.ones(3))
    with pytest.raises(TypeError, match="positional"):
        radoncdt.rcdt(images, 8)
    with pytest.raises(ValueError, match="`images` must have a known height and width"):
        radoncdt.rcdt(images[0, 0][images[0, 0, :, 0] > 0.5])
    with pytest.raises(TypeError, match="`images` must hold"):
        radoncdt.rcdt(images.astype(complex))

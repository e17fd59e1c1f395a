"""Images in colours are refused; dark ink on bright paper causes a warning."""

import re
import warnings

import numpy as np
import pytest
from drawn import images
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.ndimage import gaussian_filter

import radoncdt
from radoncdt import datasets
from radoncdt._bright_paper import on_paper
from radoncdt.ink import find_ink

INK = np.zeros((40, 50))
INK[10:30, 20:23] = INK[18:21, 12:40] = 1
PAGE = 1 - INK
RGB = np.stack([PAGE] * 3, axis=-1)
RNG = np.random.default_rng(0)

CALLS = {
    "radon": radoncdt.radon,
    "rcdt": radoncdt.rcdt,
    "nrcdt": radoncdt.nrcdt,
    "max_nrcdt": radoncdt.max_nrcdt,
    "mean_nrcdt": radoncdt.mean_nrcdt,
    "pooled_nrcdt": radoncdt.pooled_nrcdt,
    "describe": radoncdt.describe,
    "affine_distances": radoncdt.affine_distances,
    "sliced_wasserstein_distances": radoncdt.sliced_wasserstein_distances,
    "mass": radoncdt.mass,
    "mean": radoncdt.mean,
    "covariance": radoncdt.covariance,
    "push_forward": lambda images: radoncdt.push_forward(images, np.eye(2)),
    "RadonCDT": radoncdt.RadonCDT().fit,
    "NormalizedRadonCDT": radoncdt.NormalizedRadonCDT().fit,
    "AffineNeighbors": radoncdt.AffineNeighbors().fit,
    "AffineNeighborsClassifier": lambda images: radoncdt.AffineNeighborsClassifier().fit(images, [0] * len(images)),
    "random_affine": lambda images: datasets.random_affine(images, datasets.AffineDistribution(), 0),
}


# ---------------------------------------------------------------- colours


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(40, 50, 3), (40, 50, 4), (5, 5, 3)])
def test_images_in_colours_are_refused(name, shape):
    with pytest.raises(
        ValueError, match=r"`(images|measure|X|A)` must .* which looks like .* `radoncdt\.ink\.find_ink`"
    ):
        CALLS[name](np.ones(shape))


@pytest.mark.parametrize("function", [radoncdt.register, radoncdt.sliced_wasserstein, radoncdt.interpolate])
def test_pairs_in_colours_are_refused(function):
    more = (0.5,) if function is radoncdt.interpolate else ()
    for pair, name in (((RGB, INK), "moving|mu|a"), ((INK, RGB), "fixed|nu|b")):
        with pytest.raises(ValueError, match=rf"`({name})` must .* looks like an image in colours"):
            function(*pair, *more)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (np.stack([RGB, RGB]), "images"),
        ([RGB, RGB], r"images\[0\]"),
        ([INK, RGB], r"images\[1\]"),
        (RGB.tolist(), "images"),
    ],
    ids=["batch", "list", "mixed", "nested lists"],
)
def test_several_in_colours_are_refused(wrong, name):
    with pytest.raises(ValueError, match=f"`{name}` must .* looks like an image in colours"):
        radoncdt.max_nrcdt(wrong)


@pytest.mark.parametrize("shape", [(4, 50, 3), (3, 40, 4), (40, 4, 3), (3, 40, 50), (6, 5, 5), (7, 6, 2)])
def test_other_stacks_are_stacks(shape):
    assert radoncdt.max_nrcdt(np.ones(shape), n_angles=4).shape == (shape[0], 64)


def test_a_list_is_the_way_to_pass_narrow_images():
    stack = RNG.random((6, 9, 3))
    expected = np.stack([radoncdt.max_nrcdt(image, n_angles=4) for image in stack])
    assert_array_equal(radoncdt.max_nrcdt(list(stack), n_angles=4), expected)
    assert_array_equal(radoncdt.NormalizedRadonCDT(4).fit_transform(list(stack)), expected)
    table = radoncdt.NormalizedRadonCDT(4, image_shape=(9, 3)).fit_transform(stack.reshape(6, -1))
    assert_array_equal(table, expected)
    assert len(radoncdt.AffineNeighbors(1, image_shape=(9, 3)).fit(stack.reshape(6, -1)).descriptors_) == 6


def test_dask_arrays_in_colours_are_refused_at_once():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"`images` must .* looks like an image in colours"):
        radoncdt.max_nrcdt(da.ones((40, 50, 3), chunks=10))
    assert radoncdt.max_nrcdt(da.ones((4, 50, 3), chunks=2), n_angles=4).compute().shape == (4, 64)


# ---------------------------------------------------------------- paper

PAGES = {
    "black on white": PAGE,
    "of whole numbers": (230 - 190 * INK).astype(np.uint8),
    "of bits": PAGE > 0,
    "grey ink": 200 - 80 * INK,
    "noise and uneven light": (230 - 180 * INK) * np.linspace(0.85, 1, 50) + RNG.normal(0, 4, PAGE.shape),
    "thin lines": 1 - np.eye(60),
    "tiny": 1e-30 * PAGE.astype(np.float32),
    "huge": 1e300 * PAGE,
}


@pytest.mark.parametrize("name", PAGES)
def test_ink_on_paper_is_found(name):
    assert on_paper(PAGES[name])
    assert not on_paper(find_ink(PAGES[name]))
    with pytest.warns(UserWarning, match=r"`images` looks like dark ink on bright paper.*`radoncdt\.ink\.find_ink`"):
        radoncdt.max_nrcdt(PAGES[name], n_angles=4)


WARN = ("rcdt", "nrcdt", "max_nrcdt", "mean_nrcdt", "pooled_nrcdt", "describe", "affine_distances")


@pytest.mark.parametrize(
    "name", [*WARN, "sliced_wasserstein_distances", "AffineNeighbors", "AffineNeighborsClassifier"]
)
def test_there_is_one_warning_per_batch(name):
    with pytest.warns(UserWarning, match=r"`(images|A|X)\[1\]` and 1 more of 4 images look like dark ink") as found:
        CALLS[name](np.stack([INK, PAGE, INK, PAGE]))
    assert len(found) == 1
    assert found[0].filename == __file__


@pytest.mark.parametrize("estimator", [radoncdt.RadonCDT(4), radoncdt.NormalizedRadonCDT(4)], ids=str)
def test_estimators_warn_once_when_they_transform(estimator):
    with pytest.warns(UserWarning, match=r"`X\[1\]` looks like dark ink") as found:
        estimator.fit_transform([INK, PAGE])
    assert len(found) == 1
    assert found[0].filename == __file__


@pytest.mark.parametrize("function", [radoncdt.register, radoncdt.sliced_wasserstein, radoncdt.interpolate])
def test_pairs_are_named(function):
    more = (0.5,) if function is radoncdt.interpolate else ()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(PAGE, INK, *more)  # `register` also warns that one is not a copy of the other
    named = [re.match("`(moving|mu|a)` looks like dark ink", str(each.message)) for each in found]
    assert sum(match is not None for match in named) == 1


@pytest.mark.parametrize("name", ["radon", "mass", "mean", "covariance", "push_forward", "random_affine"])
def test_what_only_adds_or_moves_mass_does_not_warn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CALLS[name](np.stack([PAGE, PAGE]))


NOISE = {
    "uniform": lambda rng, shape: rng.random(shape),
    "bright": lambda rng, shape: 0.55 + 0.45 * rng.random(shape),
    "normal": lambda rng, shape: np.maximum(1 + 0.15 * rng.normal(size=shape), 0),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "counts": lambda rng, shape: rng.poisson(20, shape),
    "smooth": lambda rng, shape: gaussian_filter(rng.random(shape), 3),
    **{f"{p:.0%} ones": lambda rng, shape, p=p: rng.random(shape) < p for p in (0.5, 0.9, 0.95, 0.98, 0.995)},
}


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("side", [16, 24, 60])
def test_noise_is_no_paper(name, side):
    rng = np.random.default_rng(side)
    assert not any(on_paper(NOISE[name](rng, (side, side + 7))) for _ in range(200))


@given(images(), st.integers(1, 4))
def test_drawings_on_zeros_are_no_paper(image, margin):
    assert not on_paper(image)
    assert not on_paper(np.pad(image.max() - image, margin))


@pytest.mark.parametrize(
    "image",
    [
        np.ones((40, 40)),
        np.tri(60),
        np.pad(np.ones((40, 40)), 12),
        np.add.outer(np.arange(30.0), np.arange(40.0)),
        PAGE[:15],
        np.where(np.arange(1600).reshape(40, 40) == 800, 0, 1.0),
        np.full((20, 20), np.nan),
        np.full((20, 20), np.inf),
        -PAGE,
    ],
    ids=["full", "triangle", "square", "slope", "low", "hole", "nan", "infinite", "negative"],
)
def test_legitimate_measures_are_no_paper(image):
    assert not on_paper(image)

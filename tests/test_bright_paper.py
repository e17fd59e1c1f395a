"""Dark ink on bright paper causes a warning; drawings and noise do not."""

import re
import warnings

import calls
import numpy as np
import pytest
from calls import CALLS
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from strategies import images

import radoncdt
from radoncdt._bright_paper import is_ink_on_paper
from radoncdt.ink import find_ink

INK = np.zeros((40, 50))
INK[10:30, 20:23] = INK[18:21, 12:40] = 1
PAGE = 1 - INK
RNG = np.random.default_rng(0)


PAGES = {
    "black on white": PAGE,
    "integers": (230 - 190 * INK).astype(np.uint8),
    "bits": PAGE > 0,
    "grey ink": 200 - 80 * INK,
    "noise and uneven light": (230 - 180 * INK) * np.linspace(0.85, 1, 50) + RNG.normal(0, 4, PAGE.shape),
    "thin lines": 1 - np.eye(60),
    "tiny": 1e-30 * PAGE.astype(np.float32),
    "huge": 1e300 * PAGE,
}


@pytest.mark.parametrize("name", PAGES)
def test_ink_on_paper_is_detected(name):
    assert is_ink_on_paper(PAGES[name])
    assert not is_ink_on_paper(find_ink(PAGES[name]))
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
    assert found[0].filename in (__file__, calls.__file__)


@pytest.mark.parametrize("estimator", [radoncdt.RadonCDT(4), radoncdt.NormalizedRadonCDT(4)], ids=str)
def test_estimators_warn_once_when_they_transform(estimator):
    with pytest.warns(UserWarning, match=r"`X\[1\]` looks like dark ink") as found:
        estimator.fit_transform([INK, PAGE])
    assert len(found) == 1
    assert found[0].filename == __file__


@pytest.mark.parametrize("function", [radoncdt.register, radoncdt.sliced_wasserstein, radoncdt.interpolate])
def test_a_warning_about_a_pair_names_the_argument(function):
    more = (0.5,) if function is radoncdt.interpolate else ()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(PAGE, INK, *more)  # `register` also warns that neither is a copy of the other
    named = [re.match("`(moving|mu|a)` looks like dark ink", str(each.message)) for each in found]
    assert sum(match is not None for match in named) == 1


@pytest.mark.parametrize("name", ["radon", "mass", "mean", "covariance", "push_forward", "random_affine"])
def test_functions_that_only_add_or_move_mass_do_not_warn(name):
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
def test_noise_is_not_paper(name, side):
    rng = np.random.default_rng(side)
    assert not any(is_ink_on_paper(NOISE[name](rng, (side, side + 7))) for _ in range(200))


@given(images(), st.integers(1, 4))
def test_drawings_on_zeros_are_not_paper(image, margin):
    assert not is_ink_on_paper(image)
    assert not is_ink_on_paper(np.pad(image.max() - image, margin))


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
def test_legitimate_measures_are_not_paper(image):
    assert not is_ink_on_paper(image)

"""Other libraries are used correctly, and missing ones are named."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.closed_forms import CLOSED_FORMS, sample
from benchmarks.peers import load_peers

INSTALLED = [peer for peer in load_peers() if not peer.missing]
FORMS = [pytest.param(f, n, id=f"{p.name}, {n}") for p in INSTALLED for n, f in p.forms.items()]
TWO_DISCS = CLOSED_FORMS[-1]


def test_libraries_that_the_tests_need_are_installed():
    assert {"radoncdt", "scikit-image", "POT"} <= {peer.name for peer in INSTALLED}


@pytest.mark.parametrize(("form", "name"), FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_libraries_are_used_correctly(form, name, dtype):
    """Two discs away from the centre reveal a wrong angle, sign or centre.

    Libraries as shipped may be wrong by half a pixel. torchcdt also includes the ends of the projection.
    """
    rough = name == "as shipped" and form is not INSTALLED[0].forms[name]
    images = sample(TWO_DISCS.density, 64)[None].astype(dtype)
    values, angles, levels = form.rcdt(images, 8)
    assert values.shape == (1, 8, len(levels))
    inside = (levels > 0.05) & (levels < 0.95)
    truth = TWO_DISCS.rcdt(angles, levels[inside], 64)
    assert np.abs(values[0][:, inside] - truth).mean() < (1.0 if rough else 0.2)

    values, angles, levels = form.nrcdt(images, 8)
    truth = TWO_DISCS.nrcdt(angles, levels[inside])
    assert np.abs(values[0][:, inside] - truth).mean() < (0.25 if rough else 0.02)

    features = form.features(images, 8)
    assert features.dtype == np.float64
    assert np.isfinite(features).all()
    if not rough and name != "whitened directions":  # the features are different
        full_circle = np.maximum(truth.max(axis=0), -truth.min(axis=0)[::-1])
        assert np.abs(features[0, inside] - full_circle).mean() < 0.03

    if form.project is not None:
        masses, middles, angles = form.project(images[0], 8)
        assert_allclose(masses.sum(axis=1), images.sum(), rtol=2e-3)
        means = (masses * middles).sum(axis=1) / masses.sum(axis=1)
        assert_allclose(means, 64 * TWO_DISCS.moments(angles)[0], atol=0.05)


def test_a_library_that_cannot_be_imported_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "benchmarks.peers.pot", None)
    pot = next(peer for peer in load_peers() if peer.name == "POT")
    assert pot.package == "POT"
    assert not pot.forms
    assert pot.missing.startswith("ModuleNotFoundError: ")

"""The benchmarks beside other libraries: that these are used rightly, and that the page is what was measured."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import page  # noqa: E402
from closed_forms import CLOSED_FORMS, sampled  # noqa: E402
from peers import peers  # noqa: E402

INSTALLED = [peer for peer in peers() if not peer.missing]
FORMS = [pytest.param(f, n, id=f"{p.name}, {n}") for p in INSTALLED for n, f in p.forms.items()]
LEVELS = np.array([0.02, 0.2, 0.5, 0.8, 0.98])


def test_those_that_the_tests_install_are_there():
    assert {"radoncdt", "scikit-image", "POT"} <= {peer.name for peer in INSTALLED}


@pytest.mark.parametrize("closed", CLOSED_FORMS, ids=lambda closed: closed.name)
def test_closed_forms_are_quantile_functions_of_the_images(closed):
    """Against sums over pixels, cut into strips, of a fine image."""
    image = sampled(closed.density, 400, factor=2)
    i, j = np.nonzero(image)
    points = np.stack([j - 199.5, 199.5 - i])
    weights = image[i, j] / image.sum()
    for angle in (0.0, 0.7, 2.5):
        places = np.cos(angle) * points[0] + np.sin(angle) * points[1]
        order = np.argsort(places)
        mean = weights @ places
        std = np.sqrt(weights @ (places - mean) ** 2)
        quantiles = np.interp(LEVELS, np.cumsum(weights[order]), (places[order] - mean) / std)
        np.testing.assert_allclose(closed.nrcdt(np.array([angle]), LEVELS)[0], quantiles, atol=0.02)


@pytest.mark.parametrize(("form", "name"), FORMS)
def test_libraries_are_used_rightly(form, name):
    """Two discs off the centre: with an angle, a sign or a centre wrong, the NR-CDT is another."""
    closed = CLOSED_FORMS[-1]
    images = sampled(closed.density, 64)[None].astype(np.float32)
    values, angles, levels = form.nrcdt(images, 8)
    assert values.shape == (1, 8, len(levels))
    inside = (levels > 0.05) & (levels < 0.95)
    errors = np.abs(values[0][:, inside] - closed.nrcdt(angles, levels[inside]))
    assert errors.mean() < (0.02 if name == "tuned" else 0.2)
    features = form.features(images, 8)
    assert features.shape == (1, len(levels)) or name != "tuned"
    assert np.isfinite(features).all()


def test_the_page_is_what_was_measured():
    results = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    assert page.page(results) == page.PAGE.read_text(encoding="utf-8")
    assert {record["part"] for record in results["records"]} == {"speed", "accuracy", "invariance", "recognition"}

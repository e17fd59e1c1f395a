"""The images of a random draw, and their features."""

from dataclasses import replace

import numpy as np
import pytest

import radoncdt
from radoncdt import datasets
from radoncdt.reproduction import protocol
from radoncdt.reproduction.protocol import PROTOCOLS, SOURCES, Cell, Draw, compute_features, draw_images

SYMBOLS = Cell("table3", "published", "academic", "rcdt", None, "svm", 4, 30)
DIGITS = Cell("table4", "published", "linmnist", "mnrcdt", None, "svm", 8, 2)


def count_distinct(images):
    return len(np.unique(images.reshape(len(images), -1), axis=0))


def test_published_classes_of_symbols_share_their_maps(monkeypatch):
    seen = []
    monkeypatch.setattr(datasets, "academic", lambda n, **options: (seen.append((n, options)), None))
    for name in PROTOCOLS:
        draw_images(replace(SYMBOLS, protocol=name), Draw(0, 0, None))
    (n, published), (_, independent) = seen
    assert (n, published["n_maps"], independent["n_maps"]) == (30, 30, None)
    assert published["classes"] == ("circle-star1", "square-star4")
    assert published["distribution"] is datasets.WIDE
    assert SOURCES["table2"].distribution is datasets.NARROW


def test_the_canvas_grows_in_one_variant_only(monkeypatch):
    seen = []
    monkeypatch.setattr(datasets, "academic", lambda n, **options: (seen.append(options["distribution"]), None))
    for variant in (None, "fit canvas", "closed grid"):
        draw_images(replace(SYMBOLS, variant=variant), Draw(0, 0, None))
    assert seen == [datasets.WIDE, replace(datasets.WIDE, fit_canvas=True), datasets.WIDE]


def test_published_digits_share_ten_maps(digits, monkeypatch):
    seen = []
    real = datasets.lin_mnist
    monkeypatch.setattr(datasets, "lin_mnist", lambda *a, **k: (found := real(*a, **k), seen.append(found[2]))[0])
    for name in PROTOCOLS:
        draw_images(replace(DIGITS, protocol=name, class_size=25), Draw(0, 0, digits))
    assert [count_distinct(maps.matrices) for maps in seen] == [10, 50]


def test_draws_seeds_tables_and_protocols_have_their_own_images(digits, monkeypatch):
    monkeypatch.setitem(SOURCES, "table3", SOURCES["table4"])
    images = [
        draw_images(DIGITS, Draw(0, 0, digits))[0],
        draw_images(DIGITS, Draw(0, 1, digits))[0],
        draw_images(DIGITS, Draw(1, 0, digits))[0],
        draw_images(replace(DIGITS, protocol="independent"), Draw(0, 0, digits))[0],
        draw_images(replace(DIGITS, table="table3"), Draw(0, 0, digits))[0],
    ]
    assert count_distinct(np.concatenate(images)) == 20
    np.testing.assert_array_equal(images[0], draw_images(DIGITS, Draw(0, 0, digits))[0])


def test_a_larger_class_begins_with_the_smaller_one(digits):
    for name in PROTOCOLS:
        few, many = (draw_images(replace(DIGITS, protocol=name, class_size=n), Draw(0, 0, digits))[0] for n in (3, 20))
        np.testing.assert_array_equal(few, many[[0, 1, 2, 20, 21, 22]])


def test_table_4_needs_no_fives(make_digits):
    fives = make_digits(30)
    few = fives._replace(labels=np.where(fives.labels == 5, 4, fives.labels))
    assert SOURCES["table4"].count_digits(few) == 30
    assert SOURCES["table2"].count_digits(few) == 0
    assert SOURCES["table3"].count_digits(few) == 0


def test_features_are_the_authors_up_to_discretisation(digits):
    images = draw_images(DIGITS, Draw(0, 0, digits))[0]
    nr = radoncdt.nrcdt(images, n_angles=8, n_levels=160, level_grid="uniform", moments="levels")
    circle = np.concatenate([nr, -nr[..., ::-1]], axis=1)
    np.testing.assert_allclose(compute_features(DIGITS, images), circle.max(axis=1), atol=1e-12)
    half = compute_features(replace(DIGITS, variant="half circle"), images)
    np.testing.assert_allclose(half, nr.max(axis=1), atol=1e-12)
    closed = compute_features(replace(DIGITS, variant="closed grid"), images)
    options = {"n_levels": 160, "level_grid": "uniform", "moments": "levels"}
    expected = radoncdt.max_nrcdt(images, angles=np.pi * np.arange(8) / 7, **options)
    np.testing.assert_allclose(closed, expected, atol=1e-12)
    pixels = compute_features(replace(DIGITS, feature="euclidean", n_angles=None), images)
    np.testing.assert_array_equal(pixels, images.reshape(4, -1))


def test_the_rcdt_is_in_units_of_the_unit_disc():
    image = np.zeros((1, 256, 256))
    image[0, 0, 0] = 1  # a corner, at distance 1 from the middle
    values = compute_features(SYMBOLS, image).reshape(4, 363)
    assert values[3].mean() == pytest.approx(1, abs=0.005)  # along 135°
    assert values.size == 4 * protocol._LEVELS["academic"]

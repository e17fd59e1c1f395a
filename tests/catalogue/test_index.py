"""The index of a catalogue: it finds what comparing all entries would find, and damaged summaries are not used."""

import sqlite3
from contextlib import closing
from dataclasses import asdict

import numpy as np
import pytest
from marks import MARKS, save
from numpy.testing import assert_array_equal

import radoncdt
from radoncdt import datasets
from radoncdt.catalogue import Catalogue
from radoncdt.catalogue.index import _parse_summaries, update_summaries
from radoncdt.ink import find_ink
from radoncdt.matching.index import Coordinates
from radoncdt.matching.prior import read_prior


@pytest.mark.parametrize("prior", ["any", "upright", "photograph", (0.0, 0.001)])
def test_it_finds_exactly_what_comparing_all_would_find(many, prior):
    with Catalogue(many / "reference" / "whole.db") as catalogue, catalogue._open_index() as (snapshot, index):
        everything = snapshot.descriptors(index.numbers)
        for image in MARKS.queries(6, rng=4).images:
            ink = find_ink(np.uint8(np.rint(255 * (1 - image))))
            query = radoncdt.describe(ink, **asdict(index.settings)).astype(np.float32)
            distances = radoncdt.affine_distances(query, everything, prior=prior)[0]
            order = np.lexsort([index.numbers, distances])
            found = index.find_nearest(snapshot, query, 5, prior=read_prior(prior))
            assert_array_equal(found.numbers, index.numbers[order[:5]])
            assert_array_equal(found.distances, distances[order[:5]])
            among = index.numbers[::2]
            assert_array_equal(np.sort(index.find_nearest(snapshot, query, 30, among=among).numbers), among)


def test_entries_are_left_out_by_their_bounds_with_a_prior_too(tmp_path):
    """Few of many entries are compared, and they are the nearest of all."""
    for k, mark in enumerate(datasets.watermarks(240, seed=9)):
        save(tmp_path / "all" / f"{k:03}.png", mark.image())
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "all")
        with catalogue._open_index() as (snapshot, index):
            query, everything = snapshot.descriptors([123]), snapshot.descriptors(index.numbers)
            found = index.find_nearest(snapshot, query, 3, prior=read_prior("upright"))
    assert found.n_compared < 240
    distances = radoncdt.affine_distances(query.astype(np.float32), everything, prior="upright")[0]
    assert_array_equal(found.distances, np.sort(distances)[:3])


def test_entries_are_left_out_by_their_bounds(tmp_path):
    """Few of many entries are compared, also when entries were added in several steps."""
    marks = datasets.watermarks(240, seed=9)
    for k, mark in enumerate(marks):
        save(tmp_path / "all" / f"{k // 60}" / f"{k}.png", mark.image())
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        for part in range(4):
            catalogue.add(tmp_path / "all" / f"{part}")
        result = catalogue.search(tmp_path / "all" / "2" / "122.png", top=1)
        assert result.matches[0].distance < 1e-3
        assert result.compared < 240


def test_summaries_are_read_as_they_were_written_unless_they_are_damaged(made):
    with made._store.snapshot() as snapshot:
        summaries = update_summaries(snapshot)
    size = summaries.coordinates.middle.size
    again = _parse_summaries(summaries.to_bytes(), size)
    for before, after in zip(summaries.coordinates + summaries[1:], again.coordinates + again[1:]):
        assert_array_equal(after, before)
    middle, axes = summaries.coordinates
    damaged = [
        summaries._replace(n_chosen_from=0),
        summaries._replace(numbers=summaries.numbers[::-1]),
        summaries._replace(numbers=summaries.numbers[1:]),
        summaries._replace(values=summaries.values.astype(np.float64)),
        summaries._replace(values=summaries.values * np.nan),
        summaries._replace(coordinates=Coordinates(middle, axes[1:])),
        summaries._replace(coordinates=Coordinates(middle[1:], axes[1:])),
    ]
    for each in damaged:
        assert _parse_summaries(each.to_bytes(), size) is None
    for data in (b"", b"PK", summaries.to_bytes()[:-40]):
        assert _parse_summaries(data, size) is None


def test_stray_rows_of_summaries_are_removed(tmp_path):
    for i in range(3):
        save(tmp_path / f"{i}.png", MARKS[i].image())
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path)
        with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            db.execute('INSERT INTO summaries SELECT 2, arrays, "row checksum" FROM summaries')
        assert catalogue.check()
        catalogue.remove([1])
        assert catalogue.check() == []

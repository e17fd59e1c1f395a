"""Calibration: what p-values are, and how a calibration is computed and stored."""

import json
import shutil

import numpy as np
import pytest
from files import run
from marks import change, save
from numpy.testing import assert_allclose
from scipy import stats

from radoncdt import datasets
from radoncdt.catalogue import Catalogue, CatalogueError, calibration, schema
from radoncdt.catalogue.calibration import MAX_BEND, Calibration, redraw
from radoncdt.catalogue.search import N_NEAREST, compute_prominence

MARKS = datasets.watermarks(40, seed=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a catalogue of 40 marks that is calibrated with all of them, and with a query."""
    folder = tmp_path_factory.mktemp("calibration")
    for k, mark in enumerate(MARKS):
        save(folder / "marks" / f"{k:03}.png", mark.image())
    save(folder / "queries" / "q.png", MARKS.queries(1, rng=5).images[0])
    with Catalogue(folder / "marks.db", create=True) as catalogue:
        assert not catalogue.can_be_calibrated
        catalogue.add(folder / "marks")
        assert catalogue.can_be_calibrated
        assert not catalogue.calibrated
        assert catalogue.calibrate(n_marks=1000) > 30
        assert catalogue.calibrated
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of it, to be changed."""
    shutil.copy(made / "marks.db", tmp_path)
    shutil.copytree(made / "queries", tmp_path / "queries")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def forget(path):
    """Delete the calibration of a catalogue."""
    change(path, "DELETE FROM settings WHERE name = 'calibration'")


def current(catalogue):
    with catalogue._store.snapshot() as snapshot:
        return catalogue._find_calibration(snapshot, snapshot.numbers())


def best(catalogue, images):
    """P-values of the best matches."""
    found = [catalogue.search(np.uint8(np.rint(255 * (1 - image)))).matches[0] for image in images]
    return np.array([match.p_value for match in found])


# ---------------------------------------------------------------- what p-values are


@pytest.mark.parametrize("m", [1, 4, 200])
def test_p_values_of_exchangeable_marks_are_uniform(m):
    """Each of m + 1 prominences, against the others, has another one of the p-values 1/(m + 1), …, 1."""
    prominences = np.random.default_rng(m).lognormal(size=m + 1)
    others = (tuple(np.sort(np.delete(prominences, k))) for k in range(m + 1))
    found = [Calibration(9, 9, rest).p_value(prominence) for rest, prominence in zip(others, prominences)]
    assert_allclose(np.sort(found), np.arange(1, m + 2) / (m + 1))


def test_equal_prominences_count_as_larger():
    assert Calibration(9, 9, (1.0, 2.0, 2.0)).p_value(2.0) == 3 / 4


def test_a_prominence_has_no_unit_and_a_copy_has_the_largest():
    scores = np.random.default_rng(0).uniform(0.05, 0.15, N_NEAREST)
    assert_allclose(compute_prominence(0.02, scores), compute_prominence(0.2, 10 * scores))
    assert compute_prominence(0.0, scores) > 1e6
    assert np.isfinite(compute_prominence(0.0, scores))
    assert compute_prominence(np.median(scores), scores) == 1


@pytest.mark.parametrize(
    ("numbers", "outdated"),
    [
        (range(1, 101), False),
        (range(1, 200), False),
        (range(1, 201), True),  # twice as many
        (range(50, 101), False),
        (range(51, 101), True),  # half of them are gone
        (range(101, 201), True),  # none is left
        (range(40, 161), False),
        (range(40, 162), True),  # half of all are new
    ],
)
def test_a_calibration_of_other_entries_is_outdated(numbers, outdated):
    assert Calibration(100, 100, (1.0,)).is_outdated(np.array(numbers)) == outdated


# ---------------------------------------------------------------- p-values of searches


def test_p_values_are_uniform_for_marks_that_are_not_there(made):
    images = datasets.watermarks(120, seed=4).queries(40, rng=0).images
    with Catalogue(made / "marks.db") as catalogue:
        found = best(catalogue, images)
        n_marks = len(current(catalogue).prominences)
    expected = np.arange(1, n_marks + 2) / (n_marks + 1)
    assert stats.ks_2samp(found, expected).pvalue > 0.05
    assert np.mean(found <= 0.1) <= 0.2


def test_p_values_are_small_for_marks_that_are_there(made):
    with Catalogue(made / "marks.db") as catalogue:
        assert np.median(best(catalogue, MARKS.queries(30, rng=1).images)) <= 0.1


def test_p_values_grow_with_the_rank_and_do_not_depend_on_the_number_of_matches(made):
    """The marks are not in the catalogue, so that the best entries may not be the nearest."""
    with Catalogue(made / "marks.db") as catalogue:
        for image in datasets.watermarks(120, seed=4).queries(8, rng=0).images:
            page = np.uint8(np.rint(255 * (1 - image)))
            one, ten, many = (catalogue.search(page, top=top).matches for top in (1, 10, 40))
            assert [match.p_value for match in one] == [match.p_value for match in ten[:1]]
            p_values = [match.p_value for match in many]
            assert p_values == sorted(p_values)
            assert p_values[-1] > 0.9


@pytest.mark.parametrize("drawn", ["as copies", "by other hands"])
def test_other_drawings_of_a_mark_are_not_taken_for_other_marks(made, tmp_path, drawn):
    """The calibration of a catalogue with every mark twice is that of a catalogue with every mark once, up to chance.

    Drawings by other hands are only known to show the same mark if they have the same reference.
    """
    again, lines = MARKS.queries(40, rng=1), ["file,reference"]
    for k, mark in enumerate(MARKS):
        image, number = np.pad(mark.image()[::2, ::2], 1), k
        if drawn == "by other hands":
            image, number = again.images[k], again.marks[k]
        save(tmp_path / "marks" / f"once-{k}.png", mark.image()[::2, ::2])
        save(tmp_path / "marks" / f"again-{k}.png", image)
        lines += [f"once-{k}.png,{k}", f"again-{k}.png,{number}"]
    (tmp_path / "marks.csv").write_text("\n".join(lines), encoding="utf-8")
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks", metadata=tmp_path / "marks.csv" if drawn == "by other hands" else None)
        assert catalogue.calibrate(n_marks=30) > 25
        twice = current(catalogue).prominences
    with Catalogue(made / "marks.db") as catalogue:
        once = current(catalogue).prominences
    assert np.quantile(twice, 0.8) < 1.25 * np.quantile(once, 0.8)


def test_copies_of_one_mark_give_no_p_values(tmp_path):
    for k in range(30):
        save(tmp_path / "marks" / f"{k}.png", np.pad(MARKS[0].image()[::2, ::2], k))
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks")
        assert catalogue.calibrate() == 0
    with Catalogue(tmp_path / "m.db") as catalogue:
        assert catalogue.calibrated
        result = catalogue.search(tmp_path / "marks" / "0.png")
        assert result.calibrated
        assert result.matches[0].p_value is None


def test_a_mark_is_redrawn_within_its_frame():
    image = MARKS[0].image()
    drawn = redraw(image, np.random.default_rng(0))
    assert_allclose(drawn.sum(), image.sum(), rtol=0.05)
    assert np.abs(drawn).max() <= image.max() + 1e-6
    rows, columns = np.nonzero(image)
    most = MAX_BEND * max(np.ptp(rows), np.ptp(columns)) + 3
    assert np.abs(np.array(drawn.shape) - [np.ptp(rows), np.ptp(columns)]).max() <= 2 * most


# ---------------------------------------------------------------- how a calibration is computed and stored


def test_a_search_never_writes_and_never_calibrates(folder):
    forget("marks.db")
    before = (folder / "marks.db").read_bytes()
    with Catalogue("marks.db", write=True) as catalogue:
        result = catalogue.search("queries/q.png")
        assert not result.calibrated
        assert [match.p_value for match in result.matches] == [None] * 10
        assert not catalogue.calibrated
    assert (folder / "marks.db").read_bytes() == before


def test_a_calibration_is_stored(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        catalogue.remove(range(31, 41))
        catalogue.calibrate()
        first = catalogue.search("queries/q.png").matches[0].p_value
        assert first is not None
    with Catalogue("marks.db") as catalogue:
        assert catalogue.calibrated
        result = catalogue.search("queries/q.png")
        assert result.calibrated
        assert result.matches[0].p_value == first


def test_an_outdated_calibration_is_not_used(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        before = current(catalogue)
        calibration.store_calibration(catalogue._store, before._replace(n_entries=100, last_entry=100))
        assert not catalogue.calibrated
        assert not catalogue.search("queries/q.png").calibrated
        assert all("its file" in problem.what for problem in catalogue.check())


def test_a_catalogue_that_is_only_read_does_not_change(folder):
    forget("marks.db")
    before = (folder / "marks.db").read_bytes()
    with Catalogue("marks.db") as catalogue:
        assert catalogue.calibrate(n_marks=20, n_jobs=1) == 20
        one = catalogue._calibration
        catalogue.calibrate(n_marks=20, n_jobs=2)
        assert catalogue._calibration == one
        assert catalogue.search("queries/q.png").matches[0].p_value is not None
    assert (folder / "marks.db").read_bytes() == before


def test_the_calibration_of_an_earlier_version_is_read_and_replaced(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        expected = current(catalogue)
        old = json.dumps(dict(zip(("entries", "last", "stands"), expected)))
        with catalogue._store.transaction() as transaction:
            transaction.put_value(schema.SETTINGS, "chances", old)
            transaction.put_value(schema.SETTINGS, "calibration", None)
        assert current(catalogue) == expected
        assert catalogue.search("queries/q.png").calibrated
        catalogue.calibrate(n_marks=20)
        with catalogue._store.snapshot() as snapshot:
            assert snapshot.setting("chances") is None
            assert len(calibration.load_calibration(snapshot).prominences) == 20


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"n_entries": 0, "last_entry": 9, "prominences": [1]}',
        '{"n_entries": 120, "last_entry": 9, "prominences": [1]}',
        '{"n_entries": Infinity, "last_entry": 120, "prominences": [1]}',
        '{"n_entries": 120, "last_entry": 120, "prominences": [NaN]}',
        '{"n_entries": 120, "last_entry": 120, "prominences": "x"}',
        '{"n_entries": 120, "last_entry": 120, "prominences": [[1]]}',
        "[" * 100_000,
    ],
)
@pytest.mark.parametrize("setting", ["calibration", "chances"])
def test_a_damaged_calibration_is_ignored(folder, value, setting):
    forget("marks.db")
    with Catalogue("marks.db", write=True) as catalogue:
        with catalogue._store.transaction() as transaction:
            transaction.put_value(schema.SETTINGS, setting, value)
        assert not catalogue.calibrated
        assert "the calibration is damaged" in catalogue.check()[-1].what


def test_a_calibration_skips_damaged_entries(folder):
    def damage(entry):
        change("marks.db", "UPDATE pictures SET picture = x'00' WHERE entry = ?", [entry])

    with Catalogue("marks.db", write=True) as catalogue:
        found = sorted(catalogue.search("queries/q.png", top=40).matches, key=lambda match: match.distance)
        nearest, farthest = found[0].entry, found[-1].entry
        before = len(current(catalogue).prominences)
        damage(farthest)
        assert before - 3 < catalogue.calibrate() < before
        assert catalogue.search("queries/q.png").matches[0].p_value is not None
        damage(nearest)
        with pytest.raises(CatalogueError, match=f"marks.db: entry {nearest} is damaged: pictures: the checksum"):
            catalogue.search("queries/q.png")


def test_the_calibration_with_more_marks_is_used(folder, monkeypatch):
    def constant(open_index, n_marks, n_jobs, on_progress):
        return Calibration(40, 40, (1.5,) * n_marks)

    monkeypatch.setattr(calibration, "calibrate", constant)
    with Catalogue("marks.db", write=True) as catalogue, Catalogue("marks.db") as reader:
        reader.calibrate(n_marks=20)
        assert len(current(reader).prominences) > 30  # the stored one
        catalogue.calibrate(n_marks=300)
        assert len(current(reader).prominences) == 300


def test_the_next_calibration_is_based_on_as_many_marks(folder, monkeypatch):
    counts = []

    def constant(open_index, n_marks, n_jobs, on_progress):
        counts.append(n_marks)
        return Calibration(40, 40, (1.5,) * n_marks)

    monkeypatch.setattr(calibration, "calibrate", constant)
    with Catalogue("marks.db", write=True) as catalogue:
        for n_marks in (20, None, 300, None):
            catalogue.calibrate(n_marks=n_marks)
    assert counts == [20, calibration.DEFAULT_N_MARKS, 300, 300]


def test_few_entries_have_no_p_values(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        few = catalogue.search("queries/q.png", where=f"entry <= {N_NEAREST - 1}").matches
        enough = catalogue.search("queries/q.png", where=f"entry <= {N_NEAREST}").matches
        assert [match.p_value for match in few] == [None] * len(few)
        assert None not in [match.p_value for match in enough]
        catalogue.remove(range(30, 41))
        assert not catalogue.can_be_calibrated
        assert not catalogue.calibrated
        result = catalogue.search("queries/q.png")
        assert not result.calibrated
        assert result.matches[0].p_value is None
        with pytest.raises(CatalogueError, match="must have at least 30 entries to be calibrated, got 29"):
            catalogue.calibrate()


def test_a_calibration_that_cannot_be_stored_is_an_error(folder, monkeypatch):
    def fail(store, found):
        raise OSError("the disk is full")

    monkeypatch.setattr(calibration, "store_calibration", fail)
    monkeypatch.setattr(calibration, "calibrate", lambda *_: Calibration(40, 40, (1.5, 2.0)))
    with Catalogue("marks.db", write=True) as catalogue, pytest.raises(OSError, match="the disk is full"):
        catalogue.calibrate(n_marks=20)


@pytest.mark.parametrize("options", [{"n_marks": 19}, {"n_marks": 2.5}, {"n_jobs": 0}])
def test_bad_options_are_refused(folder, options):
    with Catalogue("marks.db") as catalogue, pytest.raises((ValueError, TypeError), match=f"`{next(iter(options))}`"):
        catalogue.calibrate(**options)


# ---------------------------------------------------------------- the command


def test_the_command_calibrates_and_searches_show_p_values(folder, capsys):
    forget("marks.db")
    assert run("search", "marks.db", "queries/q.png", "--top", 1) == 0
    assert "p-value" not in capsys.readouterr().out
    assert run("catalogue", "calibrate", "marks.db", "--marks", 20) == 0
    assert capsys.readouterr().out == "marks.db: calibrated with 20 marks\n"
    assert run("search", "marks.db", "queries/q.png", "--top", 1) == 0
    assert "p-value 0." in capsys.readouterr().out


def test_the_command_refuses_too_few_marks_and_missing_files(folder, capsys):
    assert run("catalogue", "calibrate", "marks.db", "--marks", 3) == 2
    assert "--marks must be at least 20, got 3" in capsys.readouterr().err
    assert run("catalogue", "calibrate", "none.db") == 2
    assert "there is no such catalogue" in capsys.readouterr().err

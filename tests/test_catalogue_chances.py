"""How unusual matches are: what chances are, how they are learnt, kept and shown."""

import shutil

import numpy as np
import pytest
from files import run
from marks import change, save
from numpy.testing import assert_allclose
from scipy import stats

from radoncdt import datasets
from radoncdt.catalogue import Catalogue, CatalogueError
from radoncdt.catalogue import catalogue as catalogues
from radoncdt.catalogue.calibration import BEND, bent
from radoncdt.catalogue.p_values import NEAREST, Chances, stand

MARKS = datasets.watermarks(40, seed=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A catalogue of 40 marks that has learnt chances from all of them, and a folder with a query."""
    folder = tmp_path_factory.mktemp("chances")
    for k, mark in enumerate(MARKS):
        save(folder / "marks" / f"{k:03}.png", mark.image())
    save(folder / "queries" / "q.png", MARKS.queries(1, rng=5).images[0])
    with Catalogue(folder / "marks.db", create=True) as catalogue:
        catalogue.add(folder / "marks")
        assert not catalogue.calibrated
        assert catalogue.calibrate(marks=1000) > 30
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
    """Chances that a catalogue has learnt."""
    change(path, "DELETE FROM settings WHERE name = 'chances'")


def known(catalogue):
    with catalogue._opened() as opened:
        return catalogue._known_chances(*opened)


def best(catalogue, images):
    """Chances of the best entries."""
    found = [catalogue.search(np.uint8(np.rint(255 * (1 - image)))).matches[0] for image in images]
    return np.array([match.chance for match in found])


# ---------------------------------------------------------------- what they are


@pytest.mark.parametrize("m", [1, 4, 200])
def test_chances_of_exchangeable_marks_are_uniform(m):
    """Each of m + 1 stands, against the others, has another one of the chances 1/(m + 1), …, 1."""
    stands = np.random.default_rng(m).lognormal(size=m + 1)
    found = [Chances(9, 9, tuple(np.sort(np.delete(stands, k)))).of(stands[k]) for k in range(m + 1)]
    assert_allclose(np.sort(found), np.arange(1, m + 2) / (m + 1))


def test_equal_stands_count_as_more():
    assert Chances(9, 9, (1.0, 2.0, 2.0)).of(2.0) == 3 / 4


def test_a_stand_has_no_unit_and_a_copy_the_largest():
    scores = np.random.default_rng(0).uniform(0.05, 0.15, NEAREST)
    assert_allclose(stand(0.02, scores), stand(0.2, 10 * scores))
    assert stand(0.0, scores) > 1e6
    assert np.isfinite(stand(0.0, scores))
    assert stand(np.median(scores), scores) == 1


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
def test_chances_of_another_catalogue_are_outdated(numbers, outdated):
    assert Chances(100, 100, (1.0,)).outdated(np.array(numbers)) == outdated


# ---------------------------------------------------------------- what they say


def test_they_are_uniform_for_marks_that_are_not_there(made):
    images = datasets.watermarks(120, seed=4).queries(40, rng=0).images
    with Catalogue(made / "marks.db") as catalogue:
        found = best(catalogue, images)
        learnt = len(known(catalogue).stands)
    expected = np.arange(1, learnt + 2) / (learnt + 1)
    assert stats.ks_2samp(found, expected).pvalue > 0.05
    assert np.mean(found <= 0.1) <= 0.2


def test_they_are_small_for_marks_that_are(made):
    with Catalogue(made / "marks.db") as catalogue:
        assert np.median(best(catalogue, MARKS.queries(30, rng=1).images)) <= 0.1


def test_they_grow_with_the_rank_and_do_not_depend_on_how_many_are_shown(made):
    """Of marks that are not there, whose best entries may not be the nearest."""
    with Catalogue(made / "marks.db") as catalogue:
        for image in datasets.watermarks(120, seed=4).queries(8, rng=0).images:
            page = np.uint8(np.rint(255 * (1 - image)))
            one, ten, many = (catalogue.search(page, top=top).matches for top in (1, 10, 40))
            assert [match.chance for match in one] == [match.chance for match in ten[:1]]
            chances = [match.chance for match in many]
            assert chances == sorted(chances)
            assert chances[-1] > 0.9


@pytest.mark.parametrize("drawn", ["as copies", "by other hands"])
def test_other_drawings_of_a_mark_are_not_taken_for_other_marks(made, tmp_path, drawn):
    """A catalogue that has every mark twice learns what one that has it once does, up to what chance does.

    Drawings by other hands are only known to be of the same mark if they have the same reference.
    """
    again, lines = MARKS.queries(40, rng=1), ["file,reference"]
    for k, mark in enumerate(MARKS):
        image, number = np.pad(mark.image()[::2, ::2], 1), k
        if drawn == "by other hands":
            image, number = again.images[k], again.marks[k]
        save(tmp_path / "marks" / f"once-{k}.png", mark.image()[::2, ::2])
        save(tmp_path / "marks" / f"again-{k}.png", image)
        lines += [f"once-{k}.png,{k}", f"again-{k}.png,{number}"]
    (tmp_path / "marks.csv").write_text("\n".join(lines))
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks", metadata=tmp_path / "marks.csv" if drawn == "by other hands" else None)
        assert catalogue.calibrate(marks=30) > 25
        twice = known(catalogue).stands
    with Catalogue(made / "marks.db") as catalogue:
        once = known(catalogue).stands
    assert np.quantile(twice, 0.8) < 1.25 * np.quantile(once, 0.8)


def test_of_copies_of_one_mark_nothing_is_learnt(tmp_path):
    for k in range(30):
        save(tmp_path / "marks" / f"{k}.png", np.pad(MARKS[0].image()[::2, ::2], k))
    with Catalogue(tmp_path / "m.db", create=True) as catalogue:
        catalogue.add(tmp_path / "marks")
        assert catalogue.calibrate() == 0
    with Catalogue(tmp_path / "m.db") as catalogue:
        assert catalogue.calibrated
        assert catalogue.search(tmp_path / "marks" / "0.png").matches[0].chance is None


def test_a_mark_is_drawn_again_within_its_frame():
    image = MARKS[0].image()
    drawn = bent(image, np.random.default_rng(0))
    assert_allclose(drawn.sum(), image.sum(), rtol=0.05)
    assert np.abs(drawn).max() <= image.max() + 1e-6
    rows, columns = np.nonzero(image)
    most = BEND * max(np.ptp(rows), np.ptp(columns)) + 3
    assert np.abs(np.array(drawn.shape) - [np.ptp(rows), np.ptp(columns)]).max() <= 2 * most


# ---------------------------------------------------------------- how they are learnt and kept


def test_the_first_search_learns_and_keeps_them(folder):
    forget("marks.db")
    with Catalogue("marks.db", write=True) as catalogue:
        catalogue.remove(range(31, 41))
        first = catalogue.search("queries/q.png").matches[0].chance
        assert first is not None
    with Catalogue("marks.db") as catalogue:
        assert catalogue.calibrated
        assert catalogue.search("queries/q.png").matches[0].chance == first


def test_a_catalogue_that_is_only_read_does_not_change(folder):
    forget("marks.db")
    before = (folder / "marks.db").read_bytes()
    with Catalogue("marks.db") as catalogue:
        assert catalogue.calibrate(marks=20, n_jobs=1) == 20
        one = catalogue._chances
        catalogue.calibrate(marks=20, n_jobs=2)
        assert catalogue._chances == one
        assert catalogue.search("queries/q.png").matches[0].chance is not None
    assert (folder / "marks.db").read_bytes() == before


def test_they_need_not_be_learnt(folder):
    forget("marks.db")
    with Catalogue("marks.db") as catalogue:
        assert catalogue.search("queries/q.png", chances=False).matches[0].chance is None
        assert not catalogue.calibrated


@pytest.mark.parametrize(
    "value",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"entries": 0, "last": 9, "stands": [1]}',
        '{"entries": 120, "last": 9, "stands": [1]}',
        '{"entries": Infinity, "last": 120, "stands": [1]}',
        '{"entries": 120, "last": 120, "stands": [NaN]}',
        '{"entries": 120, "last": 120, "stands": "x"}',
        '{"entries": 120, "last": 120, "stands": [[1]]}',
        "[" * 100_000,
    ],
)
def test_damaged_chances_are_no_chances(folder, value):
    with Catalogue("marks.db", write=True) as catalogue:
        with catalogue._store.transaction() as transaction:
            transaction.put_setting("chances", value)
        assert not catalogue.calibrated
        assert "what was learnt of chances is damaged" in catalogue.check()[-1].what


def test_a_damaged_entry_teaches_nothing_and_is_no_obstacle(folder):
    def damage(entry):
        change("marks.db", "UPDATE pictures SET picture = x'00' WHERE entry = ?", [entry])

    with Catalogue("marks.db", write=True) as catalogue:
        found = sorted(catalogue.search("queries/q.png", top=40).matches, key=lambda match: match.distance)
        nearest, farthest = found[0].entry, found[-1].entry
        learnt = len(known(catalogue).stands)
        damage(farthest)
        assert learnt - 3 < catalogue.calibrate() < learnt
        assert catalogue.search("queries/q.png").matches[0].chance is not None
        damage(nearest)
        with pytest.raises(CatalogueError, match=f"marks.db: entry {nearest} is damaged: pictures: the checksum"):
            catalogue.search("queries/q.png")


def test_those_from_more_marks_are_taken_and_no_fewer_are_learnt_again(folder, monkeypatch):
    asked = []

    def learnt(opened, marks, n_jobs, progress):
        asked.append(marks)
        return Chances(40, 40, (1.5,) * min(marks, 300))

    monkeypatch.setattr(catalogues, "calibrate", learnt)
    with Catalogue("marks.db", write=True) as catalogue, Catalogue("marks.db") as reader:
        reader.calibrate(marks=20)
        assert len(known(reader).stands) > 30  # those of the file
        catalogue.calibrate(marks=300)
        assert len(known(reader).stands) == 300
        forget("marks.db")
        catalogue._chances = Chances(400, 400, (1.5,) * 300)  # outdated
        assert catalogue.search("queries/q.png").matches[0].chance is not None
    assert asked == [20, 300, 300]


def test_few_entries_have_none(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        few = catalogue.search("queries/q.png", where=f"entry <= {NEAREST - 1}").matches
        enough = catalogue.search("queries/q.png", where=f"entry <= {NEAREST}").matches
        assert [match.chance for match in few] == [None] * len(few)
        assert None not in [match.chance for match in enough]
        catalogue.remove(range(30, 41))
        assert catalogue.calibrated  # nothing can be learnt
        assert catalogue.search("queries/q.png").matches[0].chance is None
        with pytest.raises(CatalogueError, match="has 29 entries, too few to learn chances; 30 are enough"):
            catalogue.calibrate()


def test_a_search_succeeds_if_they_cannot_be_kept(folder, monkeypatch):
    def full(store, chances):
        raise OSError("the disk is full")

    forget("marks.db")
    monkeypatch.setattr(catalogues, "store_chances", full)
    monkeypatch.setattr(catalogues, "calibrate", lambda *_: Chances(40, 40, (1.5, 2.0)))
    with Catalogue("marks.db", write=True) as catalogue:
        with pytest.warns(UserWarning, match="chances were learnt, but not kept: the disk is full"):
            assert catalogue.search("queries/q.png").matches[0].chance == 1 / 3
        with pytest.raises(OSError, match="the disk is full"):
            catalogue.calibrate(marks=20)


@pytest.mark.parametrize("options", [{"marks": 19}, {"marks": 2.5}, {"n_jobs": 0}])
def test_bad_options_are_refused(folder, options):
    with Catalogue("marks.db") as catalogue, pytest.raises((ValueError, TypeError), match=f"`{next(iter(options))}`"):
        catalogue.calibrate(**options)


# ---------------------------------------------------------------- the command


def test_the_command_learns_and_shows_them(folder, capsys):
    assert run("catalogue", "calibrate", "marks.db", "--marks", 20) == 0
    assert capsys.readouterr().out == "marks.db: chances learnt from 20 marks\n"
    assert run("search", "marks.db", "queries/q.png", "--top", 1) == 0
    assert "chance 0." in capsys.readouterr().out
    assert run("search", "marks.db", "queries/q.png", "--top", 1, "--no-chances") == 0
    assert "chance – " in capsys.readouterr().out


def test_the_command_refuses_what_cannot_be(folder, capsys):
    assert run("catalogue", "calibrate", "marks.db", "--marks", 3) == 2
    assert "--marks must be at least 20, got 3" in capsys.readouterr().err
    assert run("catalogue", "calibrate", "none.db") == 2
    assert "there is no such catalogue" in capsys.readouterr().err

"""The catalogue as users see it: entries, removing, wrong calls, threads."""

import threading

import pytest
from files import run
from marks import MARKS, save
from PIL import Image

from radoncdt.catalogue import Catalogue, CatalogueError
from radoncdt.catalogue import snapshot as snapshots


def test_entries_are_listed_and_shown(made, folder, capsys):
    made.close()
    assert run("catalogue", "list", "marks.db") == 0
    assert len(capsys.readouterr().out.splitlines()) == 12
    assert run("catalogue", "list", "marks.db", "--where", "date < 1430") == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert run("catalogue", "show", "marks.db", 2, "--picture", "two.png") == 0
    out = capsys.readouterr().out
    assert MARKS[1].motif in out
    assert "kind drawing" in out
    with Image.open("two.png") as picture:
        assert max(picture.size) <= 256
    assert run("catalogue", "show", "marks.db", 99) == 2
    assert "there is no entry 99" in capsys.readouterr().err


def test_entries_are_removed(made, folder, capsys):
    made.close()
    assert run("catalogue", "remove", "marks.db", 3, 5) == 0
    assert "2 removed; 10 entries" in capsys.readouterr().out
    assert run("catalogue", "remove", "marks.db", 5, 6) == 2
    assert "there is no entry 5" in capsys.readouterr().err
    with Catalogue("marks.db") as catalogue:
        assert len(catalogue) == 10
        assert catalogue.check() == []
        assert (folder / "marks" / "002.png").exists()
        assert all(match.entry not in (3, 5) for match in catalogue.search("marks/002.png").matches)


def test_an_empty_catalogue_works(folder, capsys):
    Catalogue("empty.db", create=True).close()
    for action in ("list", "check"):
        assert run("catalogue", action, "empty.db") == 0
    for name in ("out.csv", "out.json", "out.npz"):
        assert run("catalogue", "export", "empty.db", name) == 0
    assert run("search", "empty.db", "marks/001.png") == 2
    assert "has no entries" in capsys.readouterr().err


def test_a_catalogue_may_be_emptied(made):
    made.remove(range(1, 13))
    assert len(made) == 0
    assert made.check() == []


def test_a_relative_path_means_the_folder_it_was_opened_in(made, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert made.entry(1)["motif"] == MARKS[0].motif


def test_wrong_calls_are_refused(made):
    with pytest.raises(CatalogueError, match="no entry 77"):
        made.thumbnail(77)
    with pytest.raises(ValueError, match="`kind` must be one of"):
        made.add("marks", kind="sketch")
    with pytest.raises(TypeError, match="unexpected keyword"):
        made.add("marks", colour="red")


def test_outputs_never_replace_what_a_command_reads(made, folder, capsys):
    made.close()
    save(folder / "classes" / "one" / "0.png", MARKS[0].image())
    before = {path: path.read_bytes() for path in [folder / "marks.db", folder / "marks" / "001.png"]}
    for command in (
        ("catalogue", "show", "marks.db", 2, "--picture", "marks.db"),
        ("catalogue", "show", "marks.db", 2, "--picture", "marks/001.png"),
        ("catalogue", "export", "marks.db", "marks.db", "--force"),
        ("search", "marks.db", "marks/001.png", "--report", "marks.db"),
        ("ink", "marks/001.png", "--kind", "drawing", "--out", "marks/001.png"),
        ("show", "marks/001.png", "--out", "marks/001.png"),
        ("register", "marks/000.png", "marks/001.png", "--out", "marks/001.png"),
        ("classify", "classes", "marks", "--out", "out.csv", "--confusion", "marks/001.png"),
        ("ink", "marks/001.png", "--kind", "drawing", "--out", "two.png", "--show", "two.png"),
    ):
        assert run(*command) == 2, command
    assert "must not replace" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before


def test_a_list_without_entries_says_so(made, capsys):
    made.close()
    assert run("catalogue", "list", "marks.db", "--where", "motif = 'no such motif'") == 0
    assert "no entry satisfies the condition" in capsys.readouterr().err


def test_threads_share_a_catalogue(stored):
    expected = {}
    with Catalogue("marks.db", write=True) as catalogue:
        for k in range(4):
            expected[k] = [(m.entry, m.score) for m in catalogue.search(f"marks/{k:03}.png").matches]
        failures = []

        def work(k):
            try:
                for _ in range(3):
                    found = catalogue.search(f"marks/{k:03}.png", n_jobs=2).matches
                    assert [(m.entry, m.score) for m in found] == expected[k]
                    assert len(catalogue.entries()) == len(catalogue) == 12
                    catalogue.thumbnail(k + 1)
                    catalogue.set(k + 1, place=f"place {k}")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=[k]) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert [catalogue.entry(k + 1)["place"] for k in range(4)] == [f"place {k}" for k in range(4)]
        assert catalogue.check() == []


def test_any_number_of_entries_can_be_named(stored, monkeypatch):
    """A statement of SQL has a limited length, so entries are named some at a time."""
    with Catalogue("marks.db", write=True) as catalogue:
        before, numbers = catalogue.entries(), range(1, 13)
        monkeypatch.setattr(snapshots, "MAX_NUMBERS", 5)
        assert catalogue.entries("entry > 0") == before
        with catalogue._store.snapshot() as snapshot:
            assert list(snapshot.metadata(numbers)) == list(snapshot.thumbnails(numbers)) == [*numbers]
            assert len(snapshot.descriptors(numbers)) == 12
        assert catalogue.check() == []
        catalogue.remove(numbers)
        assert len(catalogue) == 0


@pytest.mark.parametrize("number", ["x", None, 1.0, True, "1) or (1=1"])
def test_numbers_that_are_not_numbers_are_refused(stored, number):
    with Catalogue("marks.db", write=True) as catalogue:
        for method in (
            catalogue.entry,
            catalogue.thumbnail,
            catalogue.ink_options,
            lambda n: catalogue.set(n, place="x"),
        ):
            with pytest.raises(TypeError, match="`number` must be the number of an entry"):
                method(number)


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**30])
def test_numbers_that_no_entry_has_are_refused(stored, number):
    with Catalogue("marks.db") as catalogue, pytest.raises(CatalogueError, match=f"there is no entry {number}"):
        catalogue.entry(number)

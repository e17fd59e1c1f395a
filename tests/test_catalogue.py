"""Catalogues: adding, metadata, listing, changing, exporting, checking."""

import csv
import json
import re

import numpy as np
import pytest
from files import run
from marks import MARKS, change, content, save, save_marks
from numpy.testing import assert_array_equal
from PIL import Image

import radoncdt
from radoncdt.catalogue import Catalogue, CatalogueError, MetadataError
from radoncdt.catalogue.metadata import read_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_marks("marks")
    return tmp_path


@pytest.fixture
def made(folder):
    with Catalogue("marks.db", create=True) as catalogue:
        catalogue.add("marks", metadata="marks.csv")
        yield catalogue


# ---------------------------------------------------------------- adding


def test_images_are_added_once(folder):
    with Catalogue("marks.db", create=True) as catalogue:
        assert catalogue.add("marks")[:2] == (12, 0)
        assert catalogue.add("marks")[:2] == (0, 12)
        (folder / "copies").mkdir()
        (folder / "copies" / "other.png").write_bytes((folder / "marks" / "003.png").read_bytes())
        assert catalogue.add("copies")[:2] == (0, 1)  # content counts, not names
        assert len(catalogue) == 12
        assert [entry["entry"] for entry in catalogue.entries()] == list(range(1, 13))


def test_a_catalogue_does_not_depend_on_how_it_was_made(folder):
    def made(path, *calls, **options):
        with Catalogue(path, create=True) as catalogue:
            for images in calls:
                catalogue.add(images, metadata="marks.csv", **options)
        return content(path)

    files = sorted((folder / "marks").iterdir())
    relative = [file.relative_to(folder) for file in files]
    whole = made("a.db", "marks", n_jobs=1)
    assert made("b.db", "marks", n_jobs=2) == whole
    assert made("c.db", relative[:5], "marks") == whole
    assert made("d.db", relative[:5], relative[5:8], relative[3:9], "marks", n_jobs=3) == whole


def test_no_processes_are_refused(tmp_path):
    files, _ = save_marks(tmp_path / "marks", 2)
    with (
        Catalogue(tmp_path / "m.db", create=True) as catalogue,
        pytest.raises(ValueError, match="`n_jobs` must not be"),
    ):
        catalogue.add(files, n_jobs=0)


def test_descriptors_are_those_of_the_ink(made):
    ink = radoncdt.ink.read_ink("marks/004.png", kind="drawing")
    with made._store.snapshot() as snapshot:
        settings, stored = snapshot.settings, snapshot.descriptors([5])
    expected = radoncdt.describe(ink, **settings._asdict())
    assert_array_equal(stored.values, expected.values.astype(np.float16).astype(np.float32))
    assert_array_equal(stored.covariances, expected.covariances)
    assert_array_equal(stored.frames, expected.frames)


def test_a_bad_file_is_noted_and_the_rest_goes_on(folder, capsys):
    (folder / "marks" / "bad.png").write_text("no image")
    assert run("catalogue", "add", "marks.db", "marks") == 1
    out, err = capsys.readouterr()
    assert "marks.db: 12 added, 0 there already, 1 refused; 12 entries" in out
    assert "marks/bad.png: unrecognised image format" in err
    assert run("catalogue", "list", "marks.db", "--failures") == 0
    assert "marks/bad.png: unrecognised image format" in capsys.readouterr().out
    save("marks/bad.png", MARKS[20].image())
    assert run("catalogue", "add", "marks.db", "marks") == 0
    assert "1 added, 12 there already, 0 refused; 13 entries" in capsys.readouterr().out
    with Catalogue("marks.db") as catalogue:
        assert catalogue.failures() == []


def test_nothing_to_add_is_refused(folder, capsys):
    (folder / "empty").mkdir()
    assert run("catalogue", "add", "marks.db", "empty") == 2
    assert "there are no image files in empty" in capsys.readouterr().err
    assert run("catalogue", "add", "marks.db", "missing") == 2
    assert run("catalogue", "add", "marks.db", "marks", "--metadata", "missing.csv") == 2
    assert not (folder / "marks.db").exists()
    assert run("catalogue", "add", "nowhere/marks.db", "marks") == 2
    assert "must be in a folder that exists" in capsys.readouterr().err
    assert run("catalogue", "add", "marks.db", "marks", "--jobs", 0) == 2


def test_pages_that_were_left_out_are_noted(folder):
    pages = [Image.fromarray(np.uint8(255 - 255 * MARKS[k].image())) for k in (20, 21)]
    pages[0].save("marks/pages.tif", save_all=True, append_images=pages[1:])
    with Catalogue("marks.db", create=True) as catalogue:
        catalogue.add("marks/pages.tif")
        assert catalogue.entries()[0]["note"] == "only the first of 2 pages is read"


# ---------------------------------------------------------------- metadata


def test_metadata_have_types(made):
    entry = made.entry(3)
    assert entry["motif"] == MARKS[2].motif
    assert entry["date"] == 1420
    assert entry["place"] is None


def test_any_column_is_kept(folder):
    (folder / "more.csv").write_text(
        'file;Place;Call number;height mm\n"marks/001.png";Köln;"f. 3; r";42,5\n002;;"x ""y""";\n', "utf-8"
    )
    with Catalogue("marks.db", create=True) as catalogue:
        done = catalogue.add("marks", metadata="more.csv")
        assert done.unused == ()
        first, second = catalogue.entry(2), catalogue.entry(3)
        assert (first["place"], first["call_number"], first["height_mm"]) == ("Köln", "f. 3; r", 42.5)
        assert (second["place"], second["call_number"], second["height_mm"]) == (None, 'x "y"', None)
        assert [e["entry"] for e in catalogue.entries("call_number like 'f.%'")] == [2]


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("1475", 1475),
        ("c. 1475", 1475),
        ("ca. 1475?", 1475),
        ("1475-03-01", 1475),
        ("1470-1480", 1470),
        ("1470–80", 1470),
        (" 980 ", 980),
        ("nach 1490", 1490),
        ("14.3.1475", 1475),
    ],
)
def test_years_are_read(tmp_path, text, year):
    (tmp_path / "t.csv").write_text(f"file,date\na,{text}\n", "utf-8")
    assert read_table(tmp_path / "t.csv") == {"a": {"date": year}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have a column 'file', got an empty file"),
        ("name,motif\na,b\n", "must have a column 'file', got name, motif"),
        ("file,motif,motif\n", "the title 'motif' of a column is there twice"),
        ("file,\na,b\n", "the title '' of a column is empty"),
        ("file,date\na,soon\nb,never\n", "line 2: date must be a year, .* got 'soon'; .*line 3: .* got 'never'"),
        ("file,width_mm\na,-3\n", "line 2: width_mm must be millimetres, got '-3'"),
        ("file,motif\na,b,c\n", "line 2: has 3 cells, but there are 2 columns"),
        ("file,motif\n,b\n", "line 2: names no file"),
        ("file,motif\na,b\na,c\n", "line 3: the file 'a' has a line already"),
        ("file\0", "is not a table of text"),
    ],
)
def test_tables_that_are_none_are_refused_before_anything_is_added(folder, text, message):
    (folder / "bad.csv").write_text(text)
    with Catalogue("marks.db", create=True) as catalogue:
        with pytest.raises(MetadataError, match=f"bad.csv.*{message}"):
            catalogue.add("marks", metadata="bad.csv")
        assert len(catalogue) == 0
    assert run("catalogue", "add", "marks.db", "marks", "--metadata", "missing.csv") == 2


def test_titles_may_be_anything(folder):
    """Also those of our own tables, and words of SQL."""
    titles = ["Height", "width", "picture", "hash", "id", "moments", "group", "select", "Ink", 'a "b"', "entry", "note"]
    (folder / "odd.csv").write_text(
        ",".join(["file", *(f'"{t}"' for t in titles)]).replace('a "b"', 'a ""b""')
        + "\n001,"
        + ",".join("7" * len(titles))
        + "\n"
    )
    with Catalogue("marks.db", create=True) as catalogue:
        catalogue.add("marks", metadata="odd.csv")
        entry = catalogue.entry(2)
        assert (entry["height"], entry["picture"], entry["id"], entry["a_b"]) == ("7", "7", "7", "7")
        assert (entry["entry"], entry["note"]) == (2, "")
        assert [e["entry"] for e in catalogue.entries("height = '7' and \"group\" = '7'")] == [2]
        assert catalogue.search("marks/001.png", size_mm=(30, 40), where="width = '7'").matches[0].entry == 2
        assert catalogue.check() == []
        catalogue.export("out.csv")
        assert catalogue.update("out.csv") == (0, ())  # what was exported is what is there


def test_names_of_files_may_be_those_of_windows(folder):
    (folder / "w.csv").write_text("file,motif\n.\\marks\\001.png,a\n")
    with Catalogue("marks.db", create=True) as catalogue:
        assert catalogue.add("marks", metadata="w.csv").unused == ()
        assert catalogue.entry(2)["motif"] == "a"


def test_of_copies_the_first_line_counts_always(folder):
    (folder / "marks" / "copy.png").write_bytes((folder / "marks" / "001.png").read_bytes())
    (folder / "t.csv").write_text("file,motif\n001,first\ncopy,second\n")
    with Catalogue("marks.db", create=True) as catalogue:
        for _ in range(2):
            assert sum(catalogue.add("marks", metadata="t.csv")[:2]) == 13
            assert catalogue.entry(2)["motif"] == "first"


def test_copies_of_bad_files_are_refused_each(folder):
    for name in ("x.png", "y.png"):
        (folder / "marks" / name).write_text("no image")
    with Catalogue("marks.db", create=True) as catalogue:
        assert len(catalogue.add("marks").failures) == 2
        assert [file for file, _ in catalogue.failures()] == ["marks/x.png", "marks/y.png"]
        (folder / "marks" / "x.png").write_bytes((folder / "marks" / "001.png").read_bytes())
        assert len(catalogue.add("marks").failures) == 1
        assert [file for file, _ in catalogue.failures()] == ["marks/y.png"]


def test_entries_follow_their_files(folder):
    with Catalogue("marks.db", create=True) as catalogue:
        catalogue.add("marks")
        (folder / "marks").rename(folder / "drawings")
        assert len(catalogue.check()) == 12
        assert catalogue.add("drawings")[:2] == (0, 12)
        assert catalogue.check() == []
        assert catalogue.entry(1)["file"] == "drawings/000.png"


def test_other_options_for_what_is_there_are_noticed(folder, capsys):
    assert run("catalogue", "add", "marks.db", "marks") == 0
    assert run("catalogue", "add", "marks.db", "marks", "--threshold", 0.8) == 0
    assert "12 existing entries were read with different options" in capsys.readouterr().err


def test_metadata_can_be_changed(made, folder, capsys):
    (folder / "new.csv").write_text("file,place,shelf\n003.png,Basel,7\nnobody.png,Bern,8\n")
    made.close()
    assert run("catalogue", "update", "marks.db", "--metadata", "new.csv") == 1
    out, err = capsys.readouterr()
    assert "1 of 12 entries changed, 1 lines unused" in out
    assert "no entry is named 'nobody.png'" in err
    with Catalogue("marks.db", write=True) as catalogue:
        entry = catalogue.entry(4)
        assert (entry["place"], entry["shelf"], entry["motif"]) == ("Basel", "7", MARKS[3].motif)
        catalogue.set(4, place=None, date="1502")
        assert (catalogue.entry(4)["place"], catalogue.entry(4)["date"]) == (None, 1502)
        with pytest.raises(MetadataError, match="entry 4: date must be a year"):
            catalogue.set(4, date="late")


def test_adding_again_changes_metadata_only(folder, capsys):
    assert run("catalogue", "add", "marks.db", "marks") == 0
    assert run("catalogue", "add", "marks.db", "marks", "--metadata", "marks.csv") == 0
    assert "0 added, 12 there already" in capsys.readouterr().out
    with Catalogue("marks.db") as catalogue:
        assert catalogue.entry(12)["motif"] == MARKS[11].motif


# ---------------------------------------------------------------- listing, removing, exporting


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


def test_catalogues_are_exported(made, folder, capsys):
    made.close()
    for name in ("out.csv", "out.json", "out.npz"):
        assert run("catalogue", "export", "marks.db", name) == 0
    with open("out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["motif"] for row in rows] == [mark.motif for mark in MARKS[:12]]
    assert json.loads((folder / "out.json").read_text())[3]["date"] == 1430
    descriptors = radoncdt.Descriptors.load("out.npz")
    assert len(descriptors) == 12
    with np.load("out.npz") as arrays:
        assert_array_equal(arrays["numbers"], np.arange(1, 13))
    assert run("catalogue", "export", "marks.db", "out.csv") == 2
    assert "must not be there yet" in capsys.readouterr().err
    assert run("catalogue", "export", "marks.db", "out.csv", "--force") == 0
    assert run("catalogue", "export", "marks.db", "out.txt") == 2
    assert "must end in .csv, .json, .npz" in capsys.readouterr().err


def test_an_empty_catalogue_works(folder, capsys):
    Catalogue("empty.db", create=True).close()
    for action in ("list", "check"):
        assert run("catalogue", action, "empty.db") == 0
    for name in ("out.csv", "out.json", "out.npz"):
        assert run("catalogue", "export", "empty.db", name) == 0
    assert run("search", "empty.db", "marks/001.png") == 2
    assert "has no entries" in capsys.readouterr().err


# ---------------------------------------------------------------- checking


def test_a_whole_catalogue_has_no_problems(made, folder, capsys):
    made.close()
    assert run("catalogue", "check", "marks.db") == 0
    assert "12 entries, 0 problems" in capsys.readouterr().out


def test_files_that_changed_or_are_gone_are_found(made, folder, capsys):
    save("marks/002.png", MARKS[20].image())
    (folder / "marks" / "004.png").unlink()
    made.close()
    assert run("catalogue", "check", "marks.db") == 1
    out = capsys.readouterr().out
    assert "entry 3: its file has changed since" in out
    assert "entry 5: its file is not there any more" in out


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE descriptors SET curves = x'00' WHERE entry = 2", "entry 2: descriptors: the checksum does not fit"),
        ("DELETE FROM descriptors WHERE entry = 2", "entry 2: its row is missing from the table 'descriptors'"),
        ("UPDATE descriptors SET curves = 'text' WHERE entry = 2", "entry 2: descriptors: 'curves' must be 1 to"),
        ("UPDATE pictures SET picture = x'1234' WHERE entry = 2", "entry 2: pictures: the checksum does not fit"),
        ("UPDATE entries SET ink = '{}}' WHERE id = 2", "entry 2: entries: 'ink' must be options of ink as JSON"),
        ("UPDATE entries SET width = 0 WHERE id = 2", "entry 2: entries: 'width' must be a whole number from 1"),
        ("UPDATE entries SET file = x'00' WHERE id = 2", "entry 2: entries: 'file' must be text"),
        ("UPDATE metadata SET motif = 'cross' WHERE entry = 2", "entry 2: metadata: the checksum does not fit"),
        ("DELETE FROM metadata WHERE entry = 2", "entry 2: its row is missing from the table 'metadata'"),
        ("UPDATE settings SET value = '{}'", "catalogue: .*settings"),
        ("UPDATE entries SET id = 77 WHERE id = 12", "entry 12: descriptors without an entry"),
        ("ALTER TABLE metadata ADD COLUMN more", "catalogue: the definitions of its tables are damaged"),
    ],
)
def test_damaged_rows_are_found(made, folder, capsys, statement, message):
    made.close()
    change("marks.db", statement)
    assert run("catalogue", "check", "marks.db") == 1
    assert re.search(message, capsys.readouterr().out)


def test_summaries_are_checked_and_computed_again(made, folder):
    from radoncdt.catalogue.index import summaries_of

    with made._store.transaction() as transaction:
        wrong = summaries_of(transaction)
        wrong.values[3] += 1
        transaction.put_summaries(wrong.saved())
    assert "are not those of the entries" in made.check()[0].what
    (folder / "marks" / "000.png").rename(folder / "moved.png")
    assert len(made.check()) == 2  # a file that is missing hides nothing
    (folder / "moved.png").rename(folder / "marks" / "000.png")
    change("marks.db", "UPDATE summaries SET arrays = x'00'")
    assert "are damaged" in made.check()[0].what
    assert made.search("marks/003.png").matches[0].entry == 4
    made.add("marks/003.png")
    assert made.check() == []


def test_a_catalogue_may_be_emptied(made):
    made.remove(range(1, 13))
    assert len(made) == 0
    assert made.check() == []


def test_a_relative_path_means_the_folder_it_was_opened_in(made, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert made.entry(1)["motif"] == MARKS[0].motif


def test_wrong_calls_are_refused(made):
    with pytest.raises(CatalogueError, match="no entry 77"):
        made.picture(77)
    with pytest.raises(ValueError, match="`kind` must be one of"):
        made.add("marks", kind="sketch")
    with pytest.raises(TypeError, match="unexpected keyword"):
        made.add("marks", colour="red")


# ---------------------------------------------------------------- what the commands say and refuse


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


def test_an_update_counts_what_changed_and_names_new_columns(made, folder, capsys):
    made.close()
    (folder / "more.csv").write_text(f"file,motif,refrence\n000.png,{MARKS[0].motif},\n001.png,,Briquet 1\n")
    assert run("catalogue", "update", "marks.db", "--metadata", "more.csv") == 0
    out, err = capsys.readouterr()
    assert "1 of 12 entries changed" in out
    assert "'refrence' is a new column of metadata; did you mean 'reference'?" in err


def test_a_list_without_entries_says_so(made, capsys):
    made.close()
    assert run("catalogue", "list", "marks.db", "--where", "motif = 'no such motif'") == 0
    assert "no entry fulfils the condition" in capsys.readouterr().err


def test_damaged_entries_can_be_left_out_of_an_export(made, folder, capsys):
    made.close()
    change("marks.db", "UPDATE metadata SET motif = 'damaged' WHERE entry = 4")
    assert run("catalogue", "export", "marks.db", "out.npz") == 2
    assert run("catalogue", "export", "marks.db", "out.npz", "--skip-damaged") == 1
    out, err = capsys.readouterr()
    assert "out.npz: 11 entries" in out
    assert "left out: " in err
    assert "entry 4 is damaged" in err
    assert len(radoncdt.Descriptors.load("out.npz")) == 11
    change("marks.db", "UPDATE descriptors SET curves = x'00' WHERE entry = 5")
    assert run("catalogue", "export", "marks.db", "out.csv", "--skip-damaged") == 1
    assert "out.csv: 11 entries" in capsys.readouterr().out  # a table has no descriptors

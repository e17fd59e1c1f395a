"""Tables of metadata: limits, and exported tables that restore every cell."""

import csv
import os
import re
import shutil
from pathlib import Path

import pytest
from files import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import MARKS, SCHEMA1, change, save, save_marks

from radoncdt.catalogue import Catalogue, MetadataError, metadata
from radoncdt.catalogue.metadata import (
    MAX_CELL_LENGTH,
    MAX_TITLE_LENGTH,
    match_rows,
    normalise_title,
    parse_cell,
    read_table,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """An open catalogue of two entries."""
    folder = tmp_path_factory.mktemp("metadata")
    save_marks(folder / "marks", 2)
    with Catalogue(folder / "m.db", create=True) as catalogue:
        catalogue.add(folder / "marks")
        yield catalogue


# ---------------------------------------------------------------- limits


def table_of(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8", newline="")
    return path


LONG = [
    ("file,motif\na,b\nc,{}\n", MAX_CELL_LENGTH + 1, 3, "'motif'"),
    ("file,motif\na,{}\n", 131_073, 2, "'motif'"),  # longer than the default limit of the module csv
    ('file,motif,place\n"a ""x"",\nb","y",{}\n', 200_000, 2, "'place'"),
    ('file,motif,place\na,"{}"\n', 200_000, 2, "'motif'"),
    ('file;motif\na;"b,\n{}', 200_000, 2, "'motif'"),  # the quotes are never closed
    ('file\tmotif\na\tb\n"{}"\n', 200_000, 3, "'file'"),
    ("file,note\na,{}\n", MAX_CELL_LENGTH + 1, 2, "'note'"),
    ("file,motif\na,b,{}\n", 200_000, 2, "3"),
    ("file,{}\n", 200_000, 1, "2"),
]


@pytest.mark.parametrize(("form", "count", "line", "column"), LONG)
def test_cells_that_are_too_long_are_named(tmp_path, form, count, line, column):
    path = table_of(tmp_path, form.format("x" * count))
    length = count + len("b,\n") * ('"b' in form)
    problem = f"the cell in column {column} must have at most 10,000 characters, got {length:,}"
    limit = csv.field_size_limit()
    with pytest.raises(MetadataError, match=f"^{re.escape(f'{path}, line {line}: {problem}')}$"):
        read_table(path)
    assert csv.field_size_limit() == limit


def test_the_command_names_a_cell_that_is_too_long(small, tmp_path, capsys):
    path = table_of(tmp_path, f"file,motif\n000,{'x' * 150_000}\n")
    assert run("catalogue", "update", small.path, "--metadata", path) == 2
    assert f"{path}, line 2: the cell in column 'motif' must have at most 10,000" in capsys.readouterr().err


def test_tables_that_are_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(metadata, "MAX_TABLE_SIZE", 20)
    path = table_of(tmp_path, "file,motif\na,b\n")
    assert read_table(path) == {"a": {"motif": "b"}}
    table_of(tmp_path, "file,motif\na,b\n" * 2)
    with pytest.raises(MetadataError, match=f"{re.escape(str(path))}: must have at most 20 bytes"):
        read_table(path)


def test_titles_that_are_too_long_are_refused(tmp_path):
    assert read_table(table_of(tmp_path, f"file,{'x' * MAX_TITLE_LENGTH}\n")) == {}
    with pytest.raises(MetadataError, match=r"a column title must have at most 200 characters, got 'xxx.*…"):
        read_table(table_of(tmp_path, f"file,{'x' * (MAX_TITLE_LENGTH + 1)}\n"))


def test_the_same_limits_hold_for_single_values(small):
    with pytest.raises(MetadataError, match="entry 1: motif must have at most 10,000 characters, got 10,001"):
        small.set(1, motif="x" * (MAX_CELL_LENGTH + 1))
    with pytest.raises(MetadataError, match=r"entry 1: date must be a year, .*, got 'xxxx.*…$"):
        small.set(1, date="x" * MAX_CELL_LENGTH)
    for text in ("a\0b", "\udce9", "\ud800"):
        with pytest.raises(MetadataError, match="entry 1: motif must be UTF-8 text without NUL"):
            small.set(1, motif=text)
    with pytest.raises(MetadataError, match="column title must have at most 200"):
        small.set(1, **{"x" * 201: "a"})


def test_whatever_can_be_stored_can_be_searched_for(small):
    """The longest texts, of the longest characters, in several columns of one entry."""
    longest = "𝄞" * MAX_CELL_LENGTH
    columns = {f"long_{k}": longest for k in range(12)}
    small.set(2, **columns)
    assert [entry["entry"] for entry in small.entries("long_3 like '𝄞%' and length(long_11) = 10000")] == [2]
    assert [entry["entry"] for entry in small.entries("long_1 = long_2 and trim(long_2) = long_7")] == [2]
    assert [entry["entry"] for entry in small.entries(f"long_5 = '{longest}'")] == [2]
    small.set(2, **dict.fromkeys(columns))


# ---------------------------------------------------------------- export and back

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
ODD = st.text(st.sampled_from("'=+-@\t\r\n ,;\"0.5é\u2028\x1c"), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(CELLS, ODD), min_size=3, max_size=3), st.integers(100, 9999), st.floats(1e-9, 99999))
def test_an_exported_table_restores_every_cell(small, texts, year, size):
    own = {"motif": texts[0], "place": texts[1], "call_number": texts[2], "date": str(year), "width_mm": str(size)}
    small.set(1, **own)
    before = small.entry(1)
    assert before["motif"] == (texts[0].strip() or None)
    assert (before["date"], before["width_mm"]) == (year, size)
    path = small.path.with_name("out.csv")
    small.export(path)
    small.set(1, **dict.fromkeys(own))
    assert small.update(path)[1] == ()
    assert small.entry(1) == before


@pytest.mark.parametrize("text", ["-5", "+49 30", "=1+1", "@x", "'", "'-5", "''=x", "'tis", "- a list", "\t"])
def test_texts_that_look_like_formulas_or_numbers_stay_texts(small, tmp_path, text):
    small.set(1, motif=text)
    small.export(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        cell = next(csv.DictReader(file))["motif"]
    assert cell == "-5" or not cell.startswith(tuple("=+-@\t\r"))  # a number is not a formula
    with Catalogue(small.path.with_name("again.db"), create=True) as again:
        again.add(small.path.parent / "marks", metadata=tmp_path / "out.csv")
        assert again.entry(1)["motif"] == (text.strip() or None)
        with again._store.snapshot() as snapshot:
            kind = snapshot.rows("SELECT typeof(motif) FROM metadata WHERE entry = 1")[0][0]
        assert kind == ("text" if text.strip() else "null")
        again.set(1, motif=None)


def test_names_of_files_are_restored_too(tmp_path, monkeypatch):
    """Names with blanks around them, backslashes, formulas, quotes, line breaks, and bytes that are not UTF-8."""
    monkeypatch.chdir(tmp_path)
    names = [" a.png", "a.png", "b\\c.png", "b/c.png", "=d.png", "'=d.png", 'e",;.png', "f\r\n.png", "g\\x41.png"]
    names.append(os.fsdecode(b"caf\xe9.png"))
    for k, name in enumerate(names):
        save(Path("marks", name), MARKS[k].image())
    with Catalogue("m.db", create=True) as catalogue:
        assert catalogue.add("marks").added == len(names)
        for entry in catalogue.entries():
            catalogue.set(entry["entry"], motif=f"mark {entry['entry']}", place="=x")
        before = catalogue.entries()
        catalogue.export("out.csv")
        for entry in before:
            catalogue.set(entry["entry"], motif=None, place=None)
        assert catalogue.update("out.csv") == (len(names), ())
        assert catalogue.entries() == before
    with Catalogue("again.db", create=True) as catalogue:
        assert catalogue.add("marks", metadata="out.csv").unused == ()
        assert catalogue.entries() == before


def test_names_in_a_table_by_hand_may_have_blanks_and_backslashes(tmp_path):
    table = read_table(table_of(tmp_path, "file,motif\n .\\marks\\001.png ,a\nmarks/002,b\n./marks/003.png,c\n"))
    names = ["marks/001.png", "marks/002", "marks/003.png", "marks/004.png"]
    rows, unused = match_rows(table, {name: Path(name) for name in names})
    assert {name: row["motif"] for name, row in rows.items()} == dict(zip(names, "abc"))
    assert unused == ()


def test_lines_are_counted_from_where_a_row_begins(tmp_path):
    with pytest.raises(MetadataError, match=r"line 4: date must be a year, .* got 'soon'"):
        read_table(table_of(tmp_path, 'file,date,motif\n\na,1475,b\nc,soon,"two\nlines"\n'))


def test_blanks_around_a_value_do_not_count():
    assert parse_cell("motif", " \t crown ", "here") == "crown"
    assert parse_cell("motif", "  ", "here") is None
    assert parse_cell("date", "", "here") is None


@given(st.text())
def test_names_of_columns_stay_names_of_columns(title):
    assert normalise_title(normalise_title(title)) == normalise_title(title)


# ---------------------------------------------------------------- metadata of entries


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
        ("file,motif,motif\n", "the column title 'motif' occurs twice"),
        ("file,\na,b\n", "the title of column 2 is empty"),
        ("file,date\na,soon\nb,never\n", "line 2: date must be a year, .* got 'soon'; .*line 3: .* got 'never'"),
        ("file,width_mm\na,-3\n", "line 2: width_mm must be millimetres, got '-3'"),
        ("file,motif\na,b,c\n", "line 2: has 3 cells, but there are 2 columns"),
        ("file,motif\n,b\n", "line 2: does not name a file"),
        ("file,motif\na,b\na,c\n", "line 3: the file 'a' already has a line"),
        ("file\0", "is not a text file"),
    ],
)
def test_tables_that_are_none_are_refused_before_anything_is_added(folder, text, message):
    (folder / "bad.csv").write_text(text, encoding="utf-8")
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
        + "\n",
        encoding="utf-8",
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
    (folder / "w.csv").write_text("file,motif\n.\\marks\\001.png,a\n", encoding="utf-8")
    with Catalogue("marks.db", create=True) as catalogue:
        assert catalogue.add("marks", metadata="w.csv").unused == ()
        assert catalogue.entry(2)["motif"] == "a"


def test_metadata_can_be_changed(made, folder, capsys):
    (folder / "new.csv").write_text("file,place,shelf\n003.png,Basel,7\nnobody.png,Bern,8\n", encoding="utf-8")
    made.close()
    assert run("catalogue", "update", "marks.db", "--metadata", "new.csv") == 1
    out, err = capsys.readouterr()
    assert "1 of 12 entries changed, 1 line unused" in out
    assert "no entry is named 'nobody.png'" in err
    with Catalogue("marks.db", write=True) as catalogue:
        entry = catalogue.entry(4)
        assert (entry["place"], entry["shelf"], entry["motif"]) == ("Basel", "7", MARKS[3].motif)
        catalogue.set(4, place=None, date="1502")
        assert (catalogue.entry(4)["place"], catalogue.entry(4)["date"]) == (None, 1502)
        with pytest.raises(MetadataError, match="entry 4: date must be a year"):
            catalogue.set(4, date="late")


def test_an_update_counts_what_changed_and_names_new_columns(made, folder, capsys):
    made.close()
    (folder / "more.csv").write_text(
        f"file,motif,refrence\n000.png,{MARKS[0].motif},\n001.png,,Briquet 1\n", encoding="utf-8"
    )
    assert run("catalogue", "update", "marks.db", "--metadata", "more.csv") == 0
    out, err = capsys.readouterr()
    assert "1 of 12 entries changed" in out
    assert "'refrence' is a new metadata column; did you mean 'reference'?" in err


def test_long_cells_of_old_catalogues_are_read(tmp_path):
    """Older versions stored cells of any length."""
    shutil.copytree(SCHEMA1, tmp_path / "old")
    path, text = tmp_path / "old" / "catalogue.db", "ä" * 120_000
    change(path, "UPDATE metadata SET place = ? WHERE entry = 1", [text])
    for _ in range(2):
        with Catalogue(path) as catalogue:
            assert catalogue.entry(1)["place"] == text
            assert [entry["entry"] for entry in catalogue.entries("place like 'ää%'")] == [1]
            assert catalogue.check() == []
        Catalogue.migrate(path)
    with Catalogue(path, write=True) as catalogue:
        catalogue.set(1, place="Basel")
        assert catalogue.entry(1)["place"] == "Basel"


def test_a_catalogue_has_a_limited_number_of_columns(stored):
    with Catalogue("marks.db", write=True) as catalogue:
        catalogue.set(1, **{f"c{k}": "x" for k in range(metadata.MAX_COLUMNS - len(metadata.STANDARD_COLUMNS))})
        with pytest.raises(MetadataError, match="must not have more than 500 metadata columns, got 500 and 1 new"):
            catalogue.set(1, another="x")
        assert len(catalogue.entries("c17 = 'x' and motif is not null")) == 1
        assert catalogue.check() == []

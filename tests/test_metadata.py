"""Tables of metadata: limits, exported tables that restore every cell, titles of reports."""

import csv
import os
import re
from pathlib import Path

import pytest
from files import run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from marks import MARKS, save, save_marks

from radoncdt.catalogue import Catalogue, MetadataError, metadata
from radoncdt.catalogue.metadata import LONGEST, LONGEST_TITLE, column_name, read_table, row_of, typed
from radoncdt.catalogue.report import OWN, unique_titles


@pytest.fixture(scope="module")
def made(tmp_path_factory):
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
    ("file,motif\na,b\nc,{}\n", LONGEST + 1, 3, "'motif'", ", got 10,001"),
    ("file,motif\na,{}\n", 131_073, 2, "'motif'", ""),  # longer than the module csv reads
    ('file,motif,place\n"a ""x"",\nb","y",{}\n', 200_000, 2, "'place'", ""),
    ('file,motif,place\na,"{}"\n', 200_000, 2, "'motif'", ""),
    ('file;motif\na;"b,\n{}', 200_000, 2, "'motif'", ""),  # the quotes are never closed
    ('file\tmotif\na\tb\n"{}"\n', 200_000, 3, "'file'", ""),
    ("file,note\na,{}\n", LONGEST + 1, 2, "'note'", ", got 10,001"),
    ("file,motif\na,b,{}\n", 200_000, 2, "3", ""),
    ("file,{}\n", 200_000, 1, "2", ""),
]


@pytest.mark.parametrize(("form", "count", "line", "column", "got"), LONG)
def test_cells_that_are_too_long_are_named(tmp_path, form, count, line, column, got):
    path = table_of(tmp_path, form.format("x" * count))
    message = f"{path}, line {line}: the cell in column {column} must have at most 10,000 characters{got}"
    with pytest.raises(MetadataError, match=f"^{re.escape(message)}$"):
        read_table(path)


def test_the_command_names_a_cell_that_is_too_long(made, tmp_path, capsys):
    path = table_of(tmp_path, f"file,motif\n000,{'x' * 150_000}\n")
    assert run("catalogue", "update", made.path, "--metadata", path) == 2
    assert f"{path}, line 2: the cell in column 'motif' must have at most 10,000" in capsys.readouterr().err


def test_tables_that_are_too_large_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(metadata, "LARGEST", 20)
    path = table_of(tmp_path, "file,motif\na,b\n")
    assert read_table(path) == {"a": {"motif": "b"}}
    table_of(tmp_path, "file,motif\na,b\n" * 2)
    with pytest.raises(MetadataError, match=f"{re.escape(str(path))}: must have at most 20 bytes"):
        read_table(path)


def test_titles_that_are_too_long_are_refused(tmp_path):
    assert read_table(table_of(tmp_path, f"file,{'x' * LONGEST_TITLE}\n")) == {}
    with pytest.raises(MetadataError, match=r"the title of a column must have at most 200 characters, got 'xxx.*…"):
        read_table(table_of(tmp_path, f"file,{'x' * (LONGEST_TITLE + 1)}\n"))


def test_the_same_limits_hold_for_single_values(made):
    with pytest.raises(MetadataError, match="entry 1: motif must have at most 10,000 characters, got 10,001"):
        made.set(1, motif="x" * (LONGEST + 1))
    with pytest.raises(MetadataError, match=r"entry 1: date must be a year, .*, got 'xxxx.*…$"):
        made.set(1, date="x" * LONGEST)
    for text in ("a\0b", "\udce9", "\ud800"):
        with pytest.raises(MetadataError, match="entry 1: motif must be text in UTF-8 without NUL"):
            made.set(1, motif=text)
    with pytest.raises(MetadataError, match="title of a column must have at most 200"):
        made.set(1, **{"x" * 201: "a"})


def test_whatever_can_be_stored_can_be_searched_for(made):
    """The longest texts, of the longest characters, in several columns of one entry."""
    longest = "𝄞" * LONGEST
    columns = {f"long_{k}": longest for k in range(12)}
    made.set(2, **columns)
    assert [entry["entry"] for entry in made.entries("long_3 like '𝄞%' and length(long_11) = 10000")] == [2]
    assert [entry["entry"] for entry in made.entries("long_1 = long_2 and trim(long_2) = long_7")] == [2]
    assert [entry["entry"] for entry in made.entries(f"long_5 = '{longest}'")] == [2]
    made.set(2, **dict.fromkeys(columns))


# ---------------------------------------------------------------- export and back

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
ODD = st.text(st.sampled_from("'=+-@\t\r\n ,;\"0.5é\u2028\x1c"), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(CELLS, ODD), min_size=3, max_size=3), st.integers(100, 9999), st.floats(1e-9, 99999))
def test_an_exported_table_restores_every_cell(made, texts, year, size):
    own = {"motif": texts[0], "place": texts[1], "call_number": texts[2], "date": str(year), "width_mm": str(size)}
    made.set(1, **own)
    before = made.entry(1)
    assert before["motif"] == (texts[0].strip() or None)
    assert (before["date"], before["width_mm"]) == (year, size)
    path = made.path.with_name("out.csv")
    made.export(path)
    made.set(1, **dict.fromkeys(own))
    assert made.update(path)[1] == ()
    assert made.entry(1) == before


@pytest.mark.parametrize("text", ["-5", "+49 30", "=1+1", "@x", "'", "'-5", "''=x", "'tis", "- a list", "\t"])
def test_texts_that_look_like_formulas_or_numbers_stay_texts(made, tmp_path, text):
    made.set(1, motif=text)
    made.export(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        cell = next(csv.DictReader(file))["motif"]
    assert cell == "-5" or not cell.startswith(tuple("=+-@\t\r"))  # a number is not a formula
    with Catalogue(made.path.with_name("again.db"), create=True) as again:
        again.add(made.path.parent / "marks", metadata=tmp_path / "out.csv")
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
    names = {"marks/001.png": "a", "marks/002": "b", "marks/003.png": "c"}
    assert {name: row_of(table, Path(name))[1]["motif"] for name in names} == names
    assert row_of(table, Path("marks/004.png")) is None


def test_lines_are_counted_from_where_a_row_begins(tmp_path):
    with pytest.raises(MetadataError, match=r"line 4: date must be a year, .* got 'soon'"):
        read_table(table_of(tmp_path, 'file,date,motif\n\na,1475,b\nc,soon,"two\nlines"\n'))


def test_blanks_around_a_value_do_not_count():
    assert typed("motif", " \t crown ", "here") == "crown"
    assert typed("motif", "  ", "here") is None
    assert typed("date", "", "here") is None


@given(st.text())
def test_names_of_columns_stay_names_of_columns(title):
    assert column_name(column_name(title)) == column_name(title)


# ---------------------------------------------------------------- titles of reports


@given(st.lists(st.sampled_from([*OWN, *(f"metadata_{name}" for name in OWN), "metadata_rank_", "motif"]), unique=True))
def test_titles_of_a_report_are_unique(names):
    titles = unique_titles(names)
    assert list(titles) == names
    assert len({*OWN, *titles.values()}) == len(OWN) + len(names)
    assert all(title == name for name, title in titles.items() if name not in OWN)


def test_no_metadata_are_lost_in_a_report(made, tmp_path):
    values = {"rank": "first", "metadata_rank": "second", "score": "=third", "motif": "fourth"}
    made.set(1, **values)
    table = tmp_path / "found.csv"
    assert run("search", made.path, made.path.parent / "marks" / "000.png", "--csv", table, "--quiet") == 0
    with table.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert len(set(head)) == len(head)
    assert head[:9] == ["query", "rank", "entry", "file", "score", "misfit", "distance", "chance", "map"]
    best = dict(zip(head, rows[0]))
    assert (best["rank"], best["metadata_rank_"], best["metadata_rank"]) == ("1", "first", "second")
    assert (best["metadata_score"], best["motif"]) == ("'=third", "fourth")
    numbers = [float(best[name]) for name in ("score", "misfit", "distance", "a00", "a01", "a10", "a11", "y0", "y1")]
    assert numbers[0] == pytest.approx(numbers[1] + numbers[2] / 4, abs=1e-5)
    made.set(1, **dict.fromkeys(values))

"""Conditions on metadata: quoted names, messages, limits."""

import sqlite3

import pytest
from files import run
from marks import MARKS, save_marks

from radoncdt.catalogue import Catalogue, CatalogueError, conditions
from radoncdt.catalogue.connection import limit_steps


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A catalogue of three entries."""
    folder = tmp_path_factory.mktemp("where")
    save_marks(folder / "marks", 3)
    rows = ['000,crown,1475,"text ""quoted"" inside",a', "001,it's,1480,[x] -- `y` /*,b", "002,,1490,,c"]
    (folder / "t.csv").write_text("\n".join(["file,motif,date,remark,Größe", *rows]) + "\n", "utf-8")
    with Catalogue(folder / "m.db", create=True) as catalogue:
        catalogue.add(folder / "marks", metadata=folder / "t.csv")
        yield catalogue


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("\"motif\" = 'crown'", [1]),
        ("[motif] = 'crown' or `date` = 1480", [1, 2]),
        ("\"MOTIF\" = 'crown'", [1]),
        ("\"größe\" = 'a'", [1]),
        ("\"file\" like '%001.png' and \"note\" = ''", [2]),
        ('"entry" = 3', [3]),
        ("remark = 'text \"quoted\" inside'", [1]),
        ("remark like '%\"quoted\"%'", [1]),
        ("remark = '[x] -- `y` /*'", [2]),
        ("motif = 'it''s' and \"date\" = 1480", [2]),
        ("motif = 'it''s \"x\"'", []),
        ('date = 1475 -- "no column" [here] `or here`', [1]),
        ('date /* "nor here", it\'s [a] */ = 1475', [1]),
        ("date = 1475 /* it's */ and \"motif\" = 'crown' -- it's \"x\"", [1]),
        ('"motif"=\'crown\'and"date"=1475', [1]),
        ('EXISTS (SELECT 1 FROM metadata m WHERE "m"."date" = 1490) and date = 1475', [1]),
        ("motif = ''", []),
        ("motif is null", [3]),
        ("'\"' = '\"' and '' = '' and date = 1475", [1]),
    ],
)
def test_names_of_columns_may_be_quoted(made, condition, numbers):
    assert [entry["entry"] for entry in made.entries(condition)] == numbers


@pytest.mark.parametrize(
    ("condition", "name", "hint"),
    [
        ("\"mtoif\" = 'crown'", "mtoif", "motif"),
        ("\"mtoif\" != 'crown'", "mtoif", "motif"),
        ('motif = "crown"', "crown", None),
        ("motif = 'it''s' or \"dat\" < 1500", "dat", "date"),
        ("[mtoif] = 'crown'", "mtoif", "motif"),
        ("`mtoif` = 'crown'", "mtoif", "motif"),
        ("mtoif = 'crown'", "mtoif", "motif"),
        ("e.mtoif = 'crown'", "e.mtoif", "motif"),
        ("'\"' = motif or \"chain_distance\" > 3 or motif = '\"'", "chain_distance", "chain_distance_mm"),
        ('date = 1475 -- it\'s\n and "mtoif" = 1', "mtoif", "motif"),
        ('date = 1475 /* it\'s */ and "mtoif" = 1', "mtoif", "motif"),
        ('"id" = 1', "id", None),
        ('"rowid" = 1', "rowid", None),
        ("\"GRÖßE\" = 'a'", "GRÖßE", "größe"),  # SQLite folds the letters of ASCII alone
        ('"say ""motif""" = 1', 'say "motif"', "motif"),
        ('"" = motif', "", None),
    ],
)
def test_names_that_are_not_columns_are_refused(made, condition, name, hint):
    with pytest.raises(CatalogueError) as error:
        made.entries(condition)
    text = str(error.value)
    assert text.startswith("`where` must be a condition on metadata")
    assert f": no such column: {name}" in text
    assert " (columns: file, motif, date, place, " in text
    assert ("did you mean" in text) == bool(hint)
    assert hint is None or f": no such column: {name}; did you mean {hint!r}? (columns: " in text


@pytest.mark.parametrize("condition", ["\"motif = 'crown'", "motif = 'crown", "[motif = 1", "date = 1475 /* and", "`"])
def test_quotes_that_are_not_closed_are_refused(made, condition):
    with pytest.raises(CatalogueError, match="`where` must be a condition"):
        made.entries(condition)


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize(
    "condition",
    [
        "motif = '" + "x" * 40_000,
        "x" * 40_000 + " = 1",
        '"' + "x" * 40_000 + '" = 1',
        "f" * 40_000 + "(motif)",
        "motif = '\udce9" + "x" * 40_000,
        "(" * 20_000,
        "x" * 1_000_000,
    ],
)
def test_long_conditions_are_not_repeated_whole(made, condition, capsys):
    with pytest.raises(CatalogueError) as error:
        made.entries(condition)
    assert len(str(error.value)) < 1000
    assert run("catalogue", "list", made.path, "--where", condition) == 2
    assert len(capsys.readouterr().err) < 1000


def test_messages_show_control_characters(made, capsys):
    for condition in ("\x1b[31mred = 1", '"\x1b[31mred" = 1', "[\u202e\n] = 1"):
        assert run("catalogue", "list", made.path, "--where", condition) == 2
        message, hint = capsys.readouterr().err.splitlines()
        assert message.isprintable()
        assert hint == "Run `radoncdt catalogue list --help` for help."


def test_conditions_of_any_length_up_to_the_limit_are_read(made):
    condition = "date = 1475 or".ljust(conditions.MAX_CONDITION_SIZE - 11) + "date = 1480"
    assert [entry["entry"] for entry in made.entries(condition)] == [1, 2]
    with pytest.raises(CatalogueError, match="`where` must be a condition of at most 50,000 bytes, got 50,001"):
        made.entries("date = 1475".ljust(conditions.MAX_CONDITION_SIZE + 1))


# ---------------------------------------------------------------- connections and work


def test_a_condition_leaves_the_connection_as_it_was(made):
    """The limits and what is allowed hold for the condition alone."""
    for condition in ("date = 1475", "mtoif = 1", "date =", "hex(date) = 1"):
        with made._store.snapshot() as snapshot:
            limit = snapshot.db.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
            try:
                conditions.select_entries(snapshot, condition)
            except CatalogueError:
                pass
            assert snapshot.db.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == limit
            assert snapshot.rows("SELECT hex(entry) FROM descriptors LIMIT 1")


def test_a_file_that_is_damaged_is_not_the_fault_of_the_condition(made, tmp_path):
    with sqlite3.connect(made.path) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'metadata'").fetchone()
    db.close()
    data = bytearray(made.path.read_bytes())
    data[(page - 1) * size : page * size] = bytes(size)
    (tmp_path / "damaged.db").write_bytes(data)
    with Catalogue(tmp_path / "damaged.db") as catalogue, pytest.raises(CatalogueError, match="is damaged: ") as caught:
        catalogue.entries("date = 1475")
    assert "--where" not in str(caught.value)


@pytest.mark.parametrize("condition", ["[" * 49_000, '"' * 49_999, "`" * 49_999, "'" * 49_999, "/*" * 20_000])
def test_unfinished_tokens_are_read_in_one_pass(condition):
    """Each character is looked at a few times at most, so this ends at once."""
    assert len(list(conditions._find_quoted_names(condition))) <= 1


def test_names_of_collations_are_not_columns(made):
    assert made.entries('motif collate "nocase" = motif') == made.entries("motif is not null")


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_statements_that_never_end_are_interrupted():
    db = sqlite3.connect(":memory:")
    for _ in range(2):  # each block has all its steps
        with pytest.raises(sqlite3.OperationalError, match="interrupted"), limit_steps(db, 100_000):
            db.execute(ENDLESS).fetchall()
        with limit_steps(db, 100_000):
            assert db.execute(f"{ENDLESS.replace('FROM n)', 'FROM n WHERE i < 1000)')}").fetchall() == [(1000,)]
    assert db.execute(f"{ENDLESS.replace('FROM n)', 'FROM n WHERE i < 99999)')}").fetchall() == [(99999,)]
    db.close()


# ---------------------------------------------------------------- searches


def test_conditions_choose_entries(stored):
    with Catalogue("marks.db") as catalogue:
        motif = MARKS[3].motif
        result = catalogue.search("marks/005.png", where=f"motif = '{motif}' and date < 1500")
        assert result.searched == sum(mark.motif == motif for mark in MARKS[:10])
        assert all(match.metadata["motif"] == motif for match in result.matches)
        assert catalogue.search("marks/005.png", where="date > 3000").matches == ()


@pytest.mark.parametrize(
    "condition",
    [
        "1); DROP TABLE entries; --",
        "1) UNION SELECT name FROM sqlite_master --",
        "motif = (SELECT value FROM settings)",
        "id IN (SELECT entry FROM descriptors)",
        "hash = 'x'",
        "picture IS NOT NULL",
        "load_extension('x')",
        "writefile('x', 'y')",
        "randomblob(1000000000) = 1",
        "id IN (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n)",
        "EXISTS (SELECT 1 FROM pragma_database_list)",
        "PRAGMA user_version = 7",
        "ATTACH 'other.db' AS other",
        "replace(" * 5 + "'aaaaaaaaaa'" + ", 'a', 'aaaaaaaaaa')" * 5 + " = motif",
        "motif like '%" + "a" * 300 + "'",
        "motif = '\udcff'",
        "",
        "motif =",
        "colour = 'red'",
        "motif = 'crown\0'",
    ],
)
def test_conditions_can_only_compare(stored, condition):
    before = (stored / "marks.db").read_bytes()
    with Catalogue("marks.db") as catalogue, pytest.raises(CatalogueError, match="`where` must be a condition"):
        catalogue.search("marks/005.png", where=condition)
    assert (stored / "marks.db").read_bytes() == before


def test_conditions_may_not_take_for_ever(stored):
    """The product of many copies of a table."""
    names = "abcdefghi"
    tables, total = ", ".join(f"metadata {name}" for name in names), " + ".join(f"{name}.date" for name in names)
    condition = f"EXISTS (SELECT 1 FROM {tables} WHERE {total} < 0)"
    with Catalogue("marks.db") as catalogue, pytest.raises(CatalogueError, match="interrupted"):
        catalogue.search("marks/005.png", where=condition)

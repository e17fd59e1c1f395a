"""Catalogues that are shared, linked, empty, damaged or made by somebody who means harm."""

import os
import shutil
import sqlite3
import threading
from contextlib import closing
from io import BytesIO
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np
import pytest
from files import run
from marks import MARKS, change, content, save, save_marks
from PIL import Image

from radoncdt.catalogue import (
    Catalogue,
    CatalogueError,
    MetadataError,
    connection,
    integrity,
    limits,
    metadata,
    records,
    report,
    schema,
    store,
)

OLD = Path(__file__).parent / "data" / "schema1"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    save_marks(folder / "marks", 12)
    with Catalogue(folder / "marks.db", create=True) as catalogue:
        catalogue.add(folder / "marks", metadata=folder / "marks.csv")
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sign(path, table):
    """Give the rows of a table the checksums of what they hold now, as somebody who means harm would."""
    with Catalogue(path) as catalogue, catalogue._store.snapshot() as snapshot:
        kinds = [*vars(records).values(), snapshot.metadata_kind]
    kind = next(each for each in kinds if isinstance(each, records.Kind) and each.table == table)
    names = ", ".join(f'"{name}"' for name in kind.fields)
    with closing(sqlite3.connect(path)) as db, db:
        for row in db.execute(f"SELECT {names} FROM {table}").fetchall():
            total = records.checksum(kind, row)
            db.execute(f'UPDATE {table} SET "{schema.CHECKSUM}" = ? WHERE "{kind.key}" = ?', [total, row[0]])


# ---------------------------------------------------------------- threads and other processes


def test_threads_share_a_catalogue(folder):
    expected = {}
    with Catalogue("marks.db", write=True) as catalogue:
        for k in range(4):
            expected[k] = [(m.entry, m.score) for m in catalogue.search(f"marks/{k:03}.png", chances=False).matches]
        failures = []

        def work(k):
            try:
                for _ in range(3):
                    found = catalogue.search(f"marks/{k:03}.png", chances=False, n_jobs=2).matches
                    assert [(m.entry, m.score) for m in found] == expected[k]
                    assert len(catalogue.entries()) == len(catalogue) == 12
                    catalogue.picture(k + 1)
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


def test_what_is_read_together_belongs_together(folder):
    """Another process removes an entry while a snapshot is open."""
    other = Catalogue("marks.db", write=True)
    with Catalogue("marks.db") as catalogue, catalogue._store.snapshot() as snapshot:
        numbers = snapshot.numbers()
        with other._store._connection("BEGIN IMMEDIATE") as (db, _):
            db.execute("DELETE FROM entries WHERE id = 3")  # is not committed before the reader is done
            assert len(snapshot.descriptors(numbers)) == len(snapshot.entries()) == 12
    other.close()


def test_a_report_shows_entries_that_were_removed_since(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        found = catalogue.search("marks/003.png", chances=False)
        catalogue.remove([match.entry for match in found.matches])
        assert "marks/003.png" in report.html(catalogue, [found])


def test_exports_hold_what_belongs_together(folder, monkeypatch):
    """An entry that is removed while entries are exported is there as a whole or not at all."""
    from radoncdt.catalogue import export

    save_descriptors, other = export._save_descriptors, Catalogue("marks.db", write=True)

    def interrupted(*arguments):
        with pytest.raises(CatalogueError, match="another process"):
            other.remove([3])
        return save_descriptors(*arguments)

    monkeypatch.setattr(connection, "WAIT", 0.01)
    other.close()
    other = Catalogue("marks.db", write=True)
    monkeypatch.setattr(export, "_save_descriptors", interrupted)
    with Catalogue("marks.db") as catalogue:
        assert catalogue.export("out.npz") == 12
    other.close()
    with np.load("out.npz") as arrays:
        assert len(arrays["numbers"]) == len(arrays["values"]) == 12


def test_a_closed_catalogue_says_so(folder):
    catalogue = Catalogue("marks.db")
    catalogue.close()
    with pytest.raises(CatalogueError, match="was closed"):
        catalogue.entries()


def test_a_catalogue_that_is_read_is_not_changed(folder):
    with Catalogue("marks.db") as catalogue, pytest.raises(CatalogueError, match="opened to be read only"):
        catalogue.remove([1])


def test_refused_files_are_closed(folder, monkeypatch):
    opened = []
    connect = sqlite3.connect

    def noted(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    change("marks.db", "PRAGMA user_version = 99")
    with pytest.raises(CatalogueError, match="newer"):
        Catalogue("marks.db")
    for db in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")


# ---------------------------------------------------------------- links and empty files


def test_a_link_to_a_catalogue_is_the_catalogue(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    link = elsewhere / "link.db"
    link.symlink_to(folder / "marks.db")
    before = content("marks.db")
    with Catalogue(link, write=True) as catalogue:
        assert catalogue.check() == []
        assert catalogue.add(folder / "marks")[:2] == (0, 12)
        assert catalogue.path == folder / "marks.db"
    assert content("marks.db") == before
    assert [path.name for path in elsewhere.iterdir()] == ["link.db"]


def test_folders_that_are_links_are_what_they_lead_to(folder, tmp_path_factory):
    linked = tmp_path_factory.mktemp("elsewhere") / "linked"
    linked.symlink_to(folder, target_is_directory=True)
    save(folder / "marks" / "new.png", MARKS[20].image())
    with Catalogue(linked / "marks.db", write=True) as catalogue:
        catalogue.add(linked / "marks")
        assert catalogue.entry(13)["file"] == "marks/new.png"


@pytest.mark.parametrize("command", ["list", "check", "export", "search", "remove", "update", "add"])
def test_an_empty_file_is_an_empty_catalogue(folder, command, capsys):
    """Such as a process leaves that is killed before its first commit."""
    Path("empty.db").touch()
    more = {"export": ["out.csv"], "search": ["marks/000.png"], "remove": [1], "update": ["--metadata", "marks.csv"]}
    name = ["search"] if command == "search" else ["catalogue", command]
    status = run(*name, "empty.db", *more.get(command, ["marks"] if command == "add" else []))
    out, err = capsys.readouterr()
    expected = {"search": (2, "has no entries"), "remove": (2, "there is no entry 1"), "update": (1, "")}
    assert (status, expected.get(command, (0, ""))[1] in err) == (expected.get(command, (0, ""))[0], True)
    if command == "add":
        assert "12 added" in out


def test_an_empty_file_that_is_opened_for_changes_keeps_them(folder):
    Path("empty.db").touch()
    with Catalogue("empty.db", write=True) as catalogue:
        assert catalogue.add("marks").added == len(catalogue) == 12
    with Catalogue("empty.db") as catalogue:
        assert len(catalogue) == 12
        assert catalogue.check() == []


def test_a_search_leaves_an_empty_file_as_it_is(folder):
    Path("empty.db").touch()
    assert run("search", "empty.db", "marks/000.png") == 2
    assert Path("empty.db").stat().st_size == 0


def test_an_empty_file_may_be_filled_meanwhile(folder):
    Path("empty.db").touch()
    with Catalogue("empty.db") as reader:
        assert len(reader) == 0
        with Catalogue("empty.db", create=True) as writer:
            writer.add("marks/000.png")
        assert len(reader) == 1


# ---------------------------------------------------------------- rows that mean harm


def bomb():
    buffer = BytesIO()
    Image.new("1", (20_000, 20_000)).save(buffer, "PNG")
    return buffer.getvalue()


HARMFUL = {
    "file: NULL bytes": ("entries", "UPDATE entries SET file = x'ff00' WHERE id = 4", []),
    "file: endless": ("entries", "UPDATE entries SET file = ? WHERE id = 4", ["x" * 2_000_000]),
    "ink: nested": ("entries", "UPDATE entries SET ink = ? WHERE id = 4", ["[" * 50_000]),
    "ink: list": ("entries", "UPDATE entries SET ink = '[1]' WHERE id = 4", []),
    "ink: unknown option": ("entries", """UPDATE entries SET ink = '{"colour": 1}' WHERE id = 4""", []),
    "width: 0": ("entries", "UPDATE entries SET width = 0 WHERE id = 4", []),
    "height: real": ("entries", "UPDATE entries SET height = 1.5 WHERE id = 4", []),
    "width: huge": ("entries", "UPDATE entries SET width = 9223372036854775807 WHERE id = 4", []),
    "hash: short": ("entries", "UPDATE entries SET hash = 'abc' WHERE id = 4", []),
    "note: blob": ("entries", "UPDATE entries SET note = x'00' WHERE id = 4", []),
    "motif: blob": ("metadata", "UPDATE metadata SET motif = x'00' WHERE entry = 4", []),
    "date: text": ("metadata", "UPDATE metadata SET date = 'soon' WHERE entry = 4", []),
    "width_mm: negative": ("metadata", "UPDATE metadata SET width_mm = -1 WHERE entry = 4", []),
    "picture: text": ("pictures", "UPDATE pictures SET picture = 'text' WHERE entry = 4", []),
    "picture: no PNG": ("pictures", "UPDATE pictures SET picture = x'1234' WHERE entry = 4", []),
    "picture: bomb": ("pictures", "UPDATE pictures SET picture = ? WHERE entry = 4", [bomb()]),
    "curves: text": ("descriptors", "UPDATE descriptors SET curves = 'text' WHERE entry = 4", []),
    "curves: short": ("descriptors", "UPDATE descriptors SET curves = x'00' WHERE entry = 4", []),
    "curves: infinite": ("descriptors", "UPDATE descriptors SET curves = ? WHERE entry = 4", [b"\x00\x7c" * 1792]),
    "moments: zero": ("descriptors", "UPDATE descriptors SET moments = zeroblob(48) WHERE entry = 4", []),
    "settings: nested": ("settings", "UPDATE settings SET value = ? WHERE name = 'descriptors'", ['{"a":' * 30_000]),
    "settings: huge": (
        "settings",
        "UPDATE settings SET value = replace(value, '64', '64000000') WHERE name = 'descriptors'",
        [],
    ),
    "settings: types": (
        "settings",
        "UPDATE settings SET value = replace(value, '10.0', '[]') WHERE name = 'descriptors'",
        [],
    ),
    "no descriptor": ("descriptors", "DELETE FROM descriptors WHERE entry = 4", []),
    "no metadata": ("metadata", "DELETE FROM metadata WHERE entry = 4", []),
    "no picture": ("pictures", "DELETE FROM pictures WHERE entry = 4", []),
    "descriptor without entry": ("descriptors", "UPDATE descriptors SET entry = 99 WHERE entry = 4", []),
}


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_rows_are_refused_by_name(folder, name, signed, capsys):
    """Whether the checksum fits or not, no command ends otherwise than with a status and a line that says why."""
    table, statement, values = HARMFUL[name]
    change("marks.db", statement, values)
    if signed:
        sign("marks.db", table)
    commands = [
        ("catalogue", "list", "marks.db"),
        ("catalogue", "show", "marks.db", 4),
        ("search", "marks.db", "marks/003.png", "--no-chances"),
        ("catalogue", "export", "marks.db", "out.npz"),
        ("catalogue", "update", "marks.db", "--metadata", "marks.csv"),
    ]
    statuses = [run(*command) for command in commands]
    assert set(statuses) <= {0, 2}
    assert 2 in statuses
    err = capsys.readouterr().err
    assert "entry 4 is damaged" in err or "settings" in err
    assert len(err) < 5000
    assert run("catalogue", "check", "marks.db") == 1
    if table != "settings":
        assert run("catalogue", "remove", "marks.db", 4) == 0
        assert run("catalogue", "add", "marks.db", "marks", "--metadata", "marks.csv") == 0
    capsys.readouterr()


def zero_page_of_summaries(path):
    """Damage the last page that holds nothing but summaries."""
    with closing(sqlite3.connect(path)) as db:
        (size,), (data,) = (
            db.execute("PRAGMA page_size").fetchone(),
            db.execute("SELECT arrays FROM summaries").fetchone(),
        )
    content = bytearray(Path(path).read_bytes())
    place = content.find(data[len(data) // 2 : len(data) // 2 + 64]) // size * size
    assert place > 0
    content[place : place + size] = bytes(size)
    Path(path).write_bytes(content)


@pytest.mark.parametrize("version", [1, 2])
def test_summaries_on_a_damaged_page_are_computed_again(folder, tmp_path, version):
    """Whatever is derived from the entries is never needed to read or to change them."""
    shutil.copytree(OLD, tmp_path / "old")
    path = tmp_path / "old" / "catalogue.db"
    if version == 2:
        Catalogue.migrate(path)
    with Catalogue(path) as catalogue:
        expected = [(m.entry, m.score) for m in catalogue.search("marks/003.png", chances=False).matches]
    zero_page_of_summaries(path)
    with Catalogue(path) as catalogue:
        assert catalogue.check()
        assert [(m.entry, m.score) for m in catalogue.search("marks/003.png", chances=False).matches] == expected
    with Catalogue(path, write=True) as catalogue:
        assert catalogue.add("marks/003.png").added == 1
        assert catalogue.search("marks/003.png", chances=False).matches[0].file == str(folder / "marks" / "003.png")
        catalogue.remove([1])


def test_parts_of_an_entry_that_is_gone_can_be_removed(folder):
    change("marks.db", "DELETE FROM entries WHERE id = 3")
    with Catalogue("marks.db", write=True) as catalogue:
        assert {problem.entry for problem in catalogue.check()} >= {3}
        catalogue.remove([3])
        assert catalogue.check() == []
        with pytest.raises(CatalogueError, match="there is no entry 3"):
            catalogue.remove([3])


def zero_page(path, table):
    """Damage the root page of a table or an index."""
    with closing(sqlite3.connect(path)) as db:
        (size,) = db.execute("PRAGMA page_size").fetchone()
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    content = bytearray(Path(path).read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    Path(path).write_bytes(content)


def test_a_damaged_index_is_not_needed(folder):
    with Catalogue("marks.db") as catalogue:
        before = catalogue.entries(), catalogue.search("marks/003.png", chances=False).matches[0].score
    zero_page("marks.db", "entries_by_file")
    Path("marks/005.png").unlink()
    with Catalogue("marks.db") as catalogue:
        assert (catalogue.entries(), catalogue.search("marks/003.png", chances=False).matches[0].score) == before
        assert len(catalogue) == 12
        assert 6 in {problem.entry for problem in catalogue.check()}


def test_check_goes_on_after_every_problem(folder):
    """A missing row, a page that cannot be read and damaged settings hide nothing else."""
    change("marks.db", "DELETE FROM pictures WHERE entry = 5")
    change("marks.db", "UPDATE metadata SET motif = 'other' WHERE entry = 7")
    change("marks.db", "UPDATE settings SET value = '{}' WHERE name = 'descriptors'")
    zero_page("marks.db", "descriptors")
    for name in ("004", "010"):
        Path(f"marks/{name}.png").unlink()
    with Catalogue("marks.db") as catalogue:
        found = catalogue.check()
    said = {(problem.entry, problem.what.split(":")[0]) for problem in found}
    assert (5, "its row is missing from the table 'pictures'") in said
    assert {(5, "its file is not there any more"), (11, "its file is not there any more")} <= said
    assert (7, "metadata") in said
    assert sum("settings" in problem.what for problem in found) <= 3
    assert len(found) < 40


def test_others_may_write_while_a_catalogue_is_checked(folder, monkeypatch):
    """The files are compared between snapshots."""
    monkeypatch.setattr(connection, "WAIT", 0.1)
    with Catalogue("marks.db") as catalogue, Catalogue("marks.db", write=True) as other:
        compared = integrity.hash_of

        def changed_meanwhile(path):
            other.set(1, place=path.name)
            return compared(path)

        monkeypatch.setattr(integrity, "hash_of", changed_meanwhile)
        assert catalogue.check() == []


def test_long_cells_of_old_catalogues_are_read(tmp_path):
    """Older versions stored cells of any length."""
    shutil.copytree(OLD, tmp_path / "old")
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


def test_a_catalogue_has_a_limited_number_of_columns(folder):
    with Catalogue("marks.db", write=True) as catalogue:
        catalogue.set(1, **{f"c{k}": "x" for k in range(metadata.MOST_COLUMNS - len(metadata.KNOWN))})
        with pytest.raises(MetadataError, match="must not have more than 500 columns of metadata, got 500 and 1 new"):
            catalogue.set(1, another="x")
        assert len(catalogue.entries("c17 = 'x' and motif is not null")) == 1
        assert catalogue.check() == []


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/home/a b/m.db"), "file:///home/a%20b/m.db"),
        (PureWindowsPath("C:/marks/m.db"), "file:///C:/marks/m.db"),
        (PureWindowsPath(r"\\server\share\m.db"), "file:////server/share/m.db"),
    ],
)
def test_paths_become_addresses_that_sqlite_takes(path, uri):
    assert connection.uri_of(path) == uri


STRUCTURES = {
    "a view for a table": ["DROP TABLE failures", "CREATE VIEW failures AS SELECT 1 AS file, 2 AS hash, 3 AS reason"],
    "a view that never ends": [
        "DROP TABLE failures",
        "CREATE VIEW failures AS WITH RECURSIVE n(file) AS (SELECT 1 UNION ALL SELECT file + 1 FROM n) "
        "SELECT file, 'h' AS hash, 'r' AS reason, 0 AS c FROM n",
    ],
    "a trigger": ["CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END"],
    "a table is missing": ["DROP TABLE pictures"],
    "another column": ["ALTER TABLE entries ADD COLUMN more"],
    "another name": ["ALTER TABLE descriptors RENAME COLUMN curves TO bends"],
    "a virtual table": ["DROP TABLE failures", "CREATE VIRTUAL TABLE failures USING fts5(file, hash, reason)"],
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_other_structures_are_refused(folder, name, capsys):
    for statement in STRUCTURES[name]:
        try:
            change("marks.db", statement)
        except sqlite3.OperationalError as error:
            if "no such module" in str(error):
                pytest.skip("SQLite has no such tables here")
            raise
    before = Path("marks.db").read_bytes()
    for command in (("catalogue", "list", "marks.db"), ("catalogue", "add", "marks.db", "marks")):
        assert run(*command) == 2
        assert "marks.db: " in capsys.readouterr().err
    assert Path("marks.db").read_bytes() == before


def test_statements_have_a_limit(folder, monkeypatch):
    """Whatever a file makes of a statement, it ends."""
    with Catalogue("marks.db") as catalogue:
        monkeypatch.setattr(limits, "TICK", 1)
        monkeypatch.setattr(store, "STEPS", 100)
        monkeypatch.setattr(store, "STEPS_PER_BYTE", 0)
        for method in (catalogue.entries, lambda: catalogue.search("marks/000.png"), lambda: catalogue.export("x.csv")):
            with pytest.raises(CatalogueError, match="takes more steps than its size"):
                method()


def test_rows_that_repeat_themselves_are_refused(folder, monkeypatch):
    with Catalogue("marks.db") as catalogue:
        monkeypatch.setattr(store, "SIZE", -2 * Path("marks.db").stat().st_size + 100)
        with pytest.raises(CatalogueError, match="is damaged: it repeats itself"):
            catalogue.entries()


def test_any_number_of_entries_can_be_named(folder, monkeypatch):
    """A statement of SQL has a limited length, so entries are named some at a time."""
    with Catalogue("marks.db", write=True) as catalogue:
        before, numbers = catalogue.entries(), range(1, 13)
        monkeypatch.setattr(store, "CHUNK", 5)
        assert catalogue.entries("entry > 0") == before
        with catalogue._store.snapshot() as snapshot:
            assert list(snapshot.metadata(numbers)) == list(snapshot.pictures(numbers)) == [*numbers]
            assert len(snapshot.descriptors(numbers)) == 12
        assert catalogue.check() == []
        catalogue.remove(numbers)
        assert len(catalogue) == 0


@pytest.mark.parametrize("number", ["x", None, 1.0, True, "1) or (1=1"])
def test_numbers_that_are_not_numbers_are_refused(folder, number):
    with Catalogue("marks.db", write=True) as catalogue:
        for method in (
            catalogue.entry,
            catalogue.picture,
            catalogue.ink_options,
            lambda n: catalogue.set(n, place="x"),
        ):
            with pytest.raises(TypeError, match="`number` must be the number of an entry"):
                method(number)


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**30])
def test_numbers_that_no_entry_has_are_refused(folder, number):
    with Catalogue("marks.db") as catalogue, pytest.raises(CatalogueError, match=f"there is no entry {number}"):
        catalogue.entry(number)


def test_read_only_folders_are_read(folder):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    Path("marks.db").chmod(0o400)
    with Catalogue("marks.db") as catalogue:
        assert len(catalogue) == 12

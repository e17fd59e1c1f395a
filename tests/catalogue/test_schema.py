"""Tables: rows that are damaged or hostile, and structures that are not those of a catalogue."""

import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest
from files import run
from marks import change
from PIL import Image

from radoncdt.catalogue import Catalogue, schema


def sign(path, table):
    """Give the rows of a table the checksums of what they hold now, as somebody who means harm would."""
    with Catalogue(path) as catalogue, catalogue._store.snapshot() as snapshot:
        kinds = [*vars(schema).values(), snapshot.metadata_table]
    kind = next(each for each in kinds if isinstance(each, schema.TableSchema) and each.name == table)
    names = ", ".join(f'"{name}"' for name in kind.fields)
    with closing(sqlite3.connect(path)) as db, db:
        for row in db.execute(f"SELECT {names} FROM {table}").fetchall():
            total = kind.compute_checksum(row)
            db.execute(f'UPDATE {table} SET "{schema.CHECKSUM}" = ? WHERE "{kind.key}" = ?', [total, row[0]])


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
def test_harmful_rows_are_refused_by_name(stored, name, signed, capsys):
    """Whether the checksum fits or not, no command ends otherwise than with a status and a line that says why."""
    table, statement, values = HARMFUL[name]
    change("marks.db", statement, values)
    if signed:
        sign("marks.db", table)
    commands = [
        ("catalogue", "list", "marks.db"),
        ("catalogue", "show", "marks.db", 4),
        ("search", "marks.db", "marks/003.png"),
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
def test_other_structures_are_refused(stored, name, capsys):
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

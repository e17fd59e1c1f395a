"""Texts from outside: on a terminal, in messages, and in tables that spreadsheet programs open."""

import csv
import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radoncdt._csv import csv_table, guarded, unguarded
from radoncdt._text import printable, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("водяной знак, 透かし, 'é', ±", "водяной знак, 透かし, 'é', ±"),
        ("a\u00a0b\u3000c", "a\u00a0b\u3000c"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("two\nlines\r\t", r"two\nlines\r\t"),
        ("\u202egnp.exe\u2066\u200f", r"\u202egnp.exe\u2066\u200f"),
        ("\x85\x9b31m\u2028", r"\x85\x9b31m\u2028"),
        (os.fsdecode(b"caf\xe9.png"), r"caf\xe9.png"),
        ("\ud800", r"\ud800"),
        (r"C:\new", r"C:\new"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text, shown):
    assert printable(text) == shown


@given(st.text(st.characters(codec=None)))
def test_printable_text_is_harmless_and_stays(text):
    shown = printable(text)
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    assert printable(shown) == shown
    shown.encode()


def test_long_texts_end_in_an_ellipsis():
    assert shortened("a" * 200) == "a" * 200
    assert shortened("a" * 201) == "a" * 199 + "…"
    assert shortened("\n" * 10**6, 10) == r"\n\n\n\n\…"


# ---------------------------------------------------------------- formulas


@pytest.mark.parametrize("start", "=+-@\t\r\n＝＋－＠")
def test_formulas_are_guarded(start):
    assert guarded(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"
    assert guarded(f"'{start}") == f"''{start}"


def test_other_texts_stay():
    for text in ("", "'", "'tis", "a=b", "3-5", " x", "''", "\u2212"):
        assert guarded(text) == text == unguarded(text)


@given(st.text(st.sampled_from("'=+-@\t\r\n a\"é")))
def test_guarded_texts_are_restored(text):
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(tuple("=+-@\t\r\n"))


def test_numbers_stay_numbers():
    table = csv_table(["a", "-b"], [[-3.5, "-3.5"], [None, os.fsdecode(b"=\xe9")]])
    assert table == b"a,'-b\r\n-3.5,-3.5\r\n,'=\xe9\r\n"  # a number is not a formula
    rows = list(csv.reader(io.StringIO(table.decode("utf-8", "surrogateescape"), newline="")))
    assert [[unguarded(cell) for cell in row] for row in rows[1:]] == [["-3.5", "-3.5"], ["", os.fsdecode(b"=\xe9")]]

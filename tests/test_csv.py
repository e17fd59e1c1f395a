"""CSV tables: formulas are guarded, and every text is restored."""

import csv
import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radoncdt._csv import encode_table, guard, unguard


@pytest.mark.parametrize("start", "=+-@\t\r\n＝＋－＠")
def test_formulas_are_guarded(start):
    assert guard(f"{start}cmd|' /C calc'!A0") == f"'{start}cmd|' /C calc'!A0"
    assert guard(f"'{start}") == f"''{start}"


def test_other_texts_are_unchanged():
    for text in ("", "'", "'tis", "a=b", "3-5", " x", "''", "\u2212"):
        assert guard(text) == text == unguard(text)


@given(st.text(st.sampled_from("'=+-@\t\r\n a\"é")))
def test_guarded_texts_are_restored(text):
    assert unguard(guard(text)) == text
    assert not guard(text).startswith(tuple("=+-@\t\r\n"))


def test_numbers_are_not_guarded():
    table = encode_table(["a", "-b"], [[-3.5, "-3.5"], [None, os.fsdecode(b"=\xe9")]])
    assert table == b"a,'-b\r\n-3.5,-3.5\r\n,'=\xe9\r\n"  # a number is not a formula
    rows = list(csv.reader(io.StringIO(table.decode("utf-8", "surrogateescape"), newline="")))
    assert [[unguard(cell) for cell in row] for row in rows[1:]] == [["-3.5", "-3.5"], ["", os.fsdecode(b"=\xe9")]]

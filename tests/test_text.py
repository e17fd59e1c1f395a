"""Untrusted text on a terminal and in messages."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from radoncdt._text import escape_unprintable, shorten


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
def test_control_characters_are_shown_instead_of_obeyed(text, shown):
    assert escape_unprintable(text) == shown


@given(st.text(st.characters(codec=None)))
def test_printable_text_is_harmless_and_unchanged(text):
    shown = escape_unprintable(text)
    assert len(shown.splitlines()) <= 1
    assert "\x1b" not in shown
    assert escape_unprintable(shown) == shown
    shown.encode()


def test_long_texts_end_in_an_ellipsis():
    assert shorten("a" * 200) == "a" * 200
    assert shorten("a" * 201) == "a" * 199 + "…"
    assert shorten("\n" * 10**6, 10) == r"\n\n\n\n\…"

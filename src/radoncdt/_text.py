"""Text in messages: untrusted text, such as file names and metadata, in a safe form, and suggestions."""

import os
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["MAX_LENGTH", "escape_unprintable", "format_count", "shorten", "suggest"]

MAX_LENGTH = 200  # characters of a text that a message repeats


def escape_unprintable(text: str | os.PathLike[str]) -> str:
    r"""Replace line breaks, control characters, directional marks and undecodable bytes by escapes.

    All other text remains unchanged, so that calling the function twice has no further effect.

    >>> from radoncdt._text import escape_unprintable
    >>> print(escape_unprintable("Kreuz \x1b[31m\n.png"))
    Kreuz \x1b[31m\n.png
    """
    return "".join(map(_escape_character, os.fspath(text)))


def _escape_character(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


def shorten(text: str, max_length: int = MAX_LENGTH) -> str:
    """Escape a text and limit its length; an ellipsis marks an omitted end."""
    shown = escape_unprintable(text[: max_length + 1])
    return shown if len(shown) <= max_length else f"{shown[: max_length - 1]}…"


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun, in the singular or plural.

    >>> from radoncdt._text import format_count
    >>> format_count(1, "draw"), format_count(1200, "entry", "entries")
    ('1 draw', '1,200 entries')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def suggest(name: str, known: Iterable[str]) -> str:
    """Return a question to append to a message about a mistyped name; empty if no known name is similar.

    >>> from radoncdt._text import suggest
    >>> suggest("serach", ["search", "show"]), suggest("x", ["search"])
    ("; did you mean 'search'?", '')
    """
    close = get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""

"""Text from outside, such as file names and metadata, as a terminal can show it."""

import os
import unicodedata

LONGEST = 200
"""Characters of a text that a message repeats."""


def printable(text: str | os.PathLike[str]) -> str:
    r"""A text on one line, with control characters, directional marks and undecodable bytes as escapes.

    Text without them stays as it is, so that applying this twice does no harm.

    >>> from radoncdt._text import printable
    >>> print(printable("Kreuz \x1b[31m\n.png"))
    Kreuz \x1b[31m\n.png
    """
    return "".join(map(_visible, os.fspath(text)))


def _visible(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode()


def shortened(text: str, most: int = LONGEST) -> str:
    """A printable text of limited length, which ends in an ellipsis where something was left out."""
    shown = printable(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"

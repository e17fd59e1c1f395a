"""Lines on the terminal. This module loads nothing heavy, so that ``radoncdt --help`` is quick."""

import argparse
import sys
from typing import NoReturn

from radoncdt._text import escape_unprintable


class Parser(argparse.ArgumentParser):
    """A parser whose messages show control characters, and do not send them to the terminal."""

    def error(self, message: str) -> NoReturn:
        """Print a message and exit with status 2."""
        super().error(escape_unprintable(message))


def say(line: str) -> None:
    """Print a line with names or other texts from outside."""
    print(escape_unprintable(line))


def complain(message: str) -> None:
    """Print a line on stderr that says what is wrong."""
    print(f"radoncdt: {escape_unprintable(message)}", file=sys.stderr)

"""Messages of the command line. This module loads nothing heavy, so that ``radoncdt --help`` is quick."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from radoncdt._text import escape_unprintable

if TYPE_CHECKING:
    from radoncdt._validation import ArgumentError

__all__ = ["CommandError", "Parser", "complain", "say", "suggest"]

_RENAMED = {
    "folder": ("copy_to", "mnist_dir"),
    "mnist": ("mnist_dir",),
    "protocols": ("protocol",),
    "reflections": ("no_mirror",),
}
"""Arguments of the library whose options have other names. Options leave out the prefix ``n_`` of all arguments."""


class CommandError(Exception):
    """Ends a command with one line and an exit status."""

    def __init__(self, message: object, *, status: int = 2) -> None:
        super().__init__(str(message))
        self.status = status


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, and suggests a name for one that is mistyped."""

    def __init__(self, **settings: Any) -> None:
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(**{"formatter_class": layout, "exit_on_error": False, **settings})

    def error(self, message: str) -> NoReturn:
        """Print a message and where to find help, and exit with status 2."""
        complain(message)
        self.exit(2, f"Run `{self.prog} --help` for help.\n")

    def refuse(self, error: "ArgumentError") -> NoReturn:
        """Report an invalid argument of the library under the name of its option."""
        name = self._find_name(error.argument.partition("[")[0])
        self.error(f"{name} {error.problem}" if name else str(error))

    def _find_name(self, argument: str) -> str | None:
        """The option, or the positional argument, that holds an argument of the library."""
        wanted = argument.removeprefix("n_"), *_RENAMED.get(argument, ())
        for action in self._actions:
            if action.dest in wanted:
                return action.option_strings[-1] if action.option_strings else str(action.metavar)
        return None

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse all arguments, and refuse those that no option takes."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser: Parser = getattr(options, "parser", self)
            parser._refuse_unknown(next((text for text in unknown if text.startswith("-")), unknown[0]))
        return options

    def _refuse_unknown(self, text: str) -> NoReturn:
        name = text.partition("=")[0]
        if not name.startswith("-"):
            self.error(f"unexpected argument {name!r}")
        known = [option for action in self._actions for option in action.option_strings]
        self.error(f"{name} is not an option of `{self.prog}`{suggest(name, known)}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments that are known; an error ends the program."""
        try:
            return super().parse_known_args(args, namespace)
        except argparse.ArgumentError as error:
            name = error.argument_name
            between = " " if error.message.startswith("must") else ": "
            self.error(f"{name}{between}{error.message}" if name else error.message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not among the choices of an action."""
        if action.choices is None or value in action.choices:
            return
        names = list(map(str, action.choices))
        if action.nargs == argparse.PARSER:
            self.error(f"{value!r} is not {_with_article(str(action.metavar).lower())}{suggest(value, names)}")
        raise argparse.ArgumentError(action, f"must be one of {', '.join(names)}, got {value!r}{suggest(value, names)}")


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def suggest(name: str, known: Iterable[str]) -> str:
    """A question that follows a message about a mistyped name; empty if no known name is similar.

    >>> from radoncdt.cli.messages import suggest
    >>> suggest("serach", ["search", "show"]), suggest("x", ["search"])
    ("; did you mean 'search'?", '')
    """
    close = get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def say(line: str) -> None:
    """Print a line that may hold names and other texts from outside."""
    _write(escape_unprintable(line), sys.stdout)


def complain(message: str) -> None:
    """Print a problem or a remark on stderr."""
    _write(f"radoncdt: {escape_unprintable(message)}", sys.stderr)


def _write(line: str, file: TextIO | None) -> None:
    """Print a line, for which progress bars make room."""
    if file is None:  # a program without a console
        return
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.write(line, file=file)
    else:
        print(line, file=file)

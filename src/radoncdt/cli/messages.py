"""Messages of the command line. This module loads nothing heavy, so that ``radoncdt --help`` is quick."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from radoncdt._text import escape_unprintable, suggest

if TYPE_CHECKING:
    from radoncdt._validation import ArgumentError

__all__ = ["CommandError", "Parser", "complain", "say"]

_RENAMED = {
    "folder": ("copy_to", "mnist_dir"),
    "image": ("images",),
    "mnist": ("mnist_dir",),
    "protocols": ("protocol",),
    "reflections": ("no_mirror",),
}
"""Arguments of the library whose options have other names. The names of options never have the prefix ``n_``."""


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
        argument = error.argument.partition("[")[0]
        wanted = argument.removeprefix("n_"), *_RENAMED.get(argument, ())
        for action in self._actions:
            if action.dest in wanted:
                name = action.option_strings[-1] if action.option_strings else str(action.metavar)
                self.error(f"{name} {error.problem}")
        self.error(str(error))

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse all arguments, and refuse those that no option takes."""
        options, unknown = self.parse_known_args(args, namespace)
        parser: Parser = options.parser
        parser._check_options(unknown)
        if unknown:
            parser.error(f"unexpected argument {unknown[0]!r}")
        return options

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments that are known; an error ends the program."""
        if self._subparsers is None:  # the parser of a command or an action, and not one of those above it
            self._check_options([text for text in args if text.startswith("--")])
        try:
            return super().parse_known_args(args, namespace)
        except argparse.ArgumentError as error:
            name = error.argument_name
            between = " " if error.message.startswith("must") else ": "
            self.error(f"{name}{between}{error.message}" if name else error.message)

    def _check_options(self, texts: Iterable[str]) -> None:
        """Refuse the first text that is meant to be an option but is not one, not even an abbreviated one."""
        known = [option for action in self._actions for option in action.option_strings]
        for text in texts:
            name = text.partition("=")[0]
            if name == "--":  # no options follow
                return
            if name.startswith("-") and " " not in name and not any(option.startswith(name) for option in known):
                self.error(f"{name} is not an option of `{self.prog}`{suggest(name, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not among the choices of an action."""
        if action.choices is None or value in action.choices:
            return
        names = list(map(str, action.choices))
        if action.nargs == argparse.PARSER:
            noun = "an action" if action.metavar == "ACTION" else "a command"
            self.error(f"{value!r} is not {noun}{suggest(value, names)}")
        raise argparse.ArgumentError(action, f"must be one of {', '.join(names)}, got {value!r}{suggest(value, names)}")


def say(line: str) -> None:
    """Print a line that may hold names and other texts from outside."""
    _write(escape_unprintable(line), sys.stdout)


def complain(message: str) -> None:
    """Print a problem or a remark on stderr."""
    _write(f"radoncdt: {escape_unprintable(message)}", sys.stderr)


def _write(line: str, file: TextIO | None) -> None:
    """Print a line above the progress bar, if there is one."""
    if file is None:  # a program without a console
        return
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.write(line, file=file)
    else:
        print(line, file=file)

"""``radoncdt completion``: print a script that completes commands, options and files in a shell."""

import argparse
import io
import re
import sys
from pathlib import Path

from radoncdt._extras import require
from radoncdt.cli import make_parser
from radoncdt.reproduction import MORE_PARTS, PARTS

__all__ = ["EPILOG", "add_options", "run"]

_SHELLS = ("bash", "zsh", "fish")

_WORDS = {"PART": ("all", *PARTS, *MORE_PARTS)}
"""Words that complete an argument whose parser has no choices, by the placeholder of the argument."""

EPILOG = """\
Save the script once, and again after each update of radoncdt. It takes effect in new terminals.

bash, if the package bash-completion is installed:
  mkdir -p ~/.local/share/bash-completion/completions
  radoncdt completion bash > ~/.local/share/bash-completion/completions/radoncdt

zsh, with the lines "fpath=(~/.zfunc $fpath)" and "autoload -Uz compinit && compinit" in ~/.zshrc:
  mkdir -p ~/.zfunc
  radoncdt completion zsh > ~/.zfunc/_radoncdt

fish:
  mkdir -p ~/.config/fish/completions
  radoncdt completion fish > ~/.config/fish/completions/radoncdt.fish

examples:
  radoncdt completion bash
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument of the command."""
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=f"the shell: {', '.join(_SHELLS)}")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    shtab = require("shtab", "shell completion")
    parser = make_parser((), with_all_options=True)
    _mark_values(parser, shtab.FILE, shtab.DIRECTORY)
    script = shtab.complete(parser, shell=options.shell)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # shells on Windows refuse carriage returns
    print(script)


def _mark_values(parser: argparse.ArgumentParser, file: object, folder: object) -> None:
    """Mark arguments that are files or folders, and add choices that only the placeholder of an argument names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                _mark_values(child, file, folder)
            continue
        placeholder = str(action.metavar)
        if names := re.match(r"\{(.+?)\}", placeholder):  # {drawing,watermark,grey}, or {any,upright}|ASPECT,ROTATION
            action.choices = names[1].split(",")
        elif placeholder in _WORDS:
            action.choices = _WORDS[placeholder]
        elif action.type is Path or placeholder.startswith("FILE"):
            is_folder = placeholder.endswith("DIR") and action.nargs is None  # several may be files or folders
            action.complete = folder if is_folder else file  # type: ignore[attr-defined]

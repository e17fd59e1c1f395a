"""A directive that documents a command of the command line from its parser: ``.. command-line:: search``."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from radoncdt import cli


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class CommandLine(SphinxDirective):
    """One section per command and per action of it: what it does, its arguments, and the end of its help."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        for path in [__file__, *Path(cli.__file__).parent.glob("*.py")]:
            self.env.note_dependency(str(path))
        return [self._describe(name, _list_choices(cli.make_parser([name]))[name])]

    def _describe(self, name: str, parser: argparse.ArgumentParser) -> nodes.Node:
        section = nodes.section(ids=[nodes.make_id(f"radoncdt {name}")])
        section += nodes.title("", f"radoncdt {name}")
        self.state.document.note_explicit_target(section, section)
        section += nodes.paragraph("", parser.description or "")
        usage = _format_usage(parser)
        section += nodes.literal_block(usage, usage, language="none")
        for group in parser._action_groups:
            section += _list_arguments(group)
        if parser.epilog:
            section += nodes.literal_block(parser.epilog, parser.epilog, language="none")
        for action, child in _list_choices(parser).items():
            section += self._describe(f"{name} {action}", child)
        return section


def _format_usage(parser: argparse.ArgumentParser) -> str:
    """Return the usage as a terminal of 80 columns shows it, whatever the terminal of the build is."""
    formatter = argparse.HelpFormatter(parser.prog, width=80)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups, prefix="")
    return formatter.format_help()


def _list_choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of commands, or of actions, by their names."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= action.choices
    return found


def _list_arguments(group: argparse._ArgumentGroup) -> Iterator[nodes.Node]:
    """Yield the title of a group of arguments, and the list of them with their help."""
    items = nodes.definition_list()
    for action in group._group_actions:
        if action.help is not argparse.SUPPRESS and not isinstance(action, argparse._SubParsersAction):
            items += _describe_argument(action)
    if items.children:
        yield nodes.rubric("", (group.title or "").capitalize())
        if group.description:
            yield nodes.paragraph("", group.description)
        yield items


def _describe_argument(action: argparse.Action) -> nodes.Node:
    formatter = argparse.HelpFormatter("radoncdt", width=10_000)
    words = formatter._format_action_invocation(action).split(", ")
    term = nodes.term()
    term += _join(nodes.literal("", word) for word in words)
    text = formatter._expand_help(action) if action.help else ""
    return nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", text)))


def _join(parts: Iterable[nodes.Node]) -> list[nodes.Node]:
    joined: list[nodes.Node] = []
    for part in parts:
        joined += [nodes.Text(", "), part] if joined else [part]
    return joined

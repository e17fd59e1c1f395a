"""Inline literals that name a public object, such as ``max_nrcdt``, become links to its page in the reference."""

from typing import Any

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

PACKAGE = "radoncdt."
PAGES = "reference/api/"
OTHER_MEANINGS = {"mean"}
"""Short names that are also values of parameters."""
NO_LINKS_IN = (nodes.title, nodes.rubric, nodes.reference, pending_xref, desc_signature)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    app.add_post_transform(LinkLiterals)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class LinkLiterals(SphinxPostTransform):
    """Replaces literals by links once all pages are read."""

    default_priority = 5

    def run(self, **options: Any) -> None:
        page = self.env.docname
        names = find_names(self.env.domains.python_domain.objects)
        for literal in list(self.document.findall(nodes.literal)):
            found = names.get(literal.astext().removesuffix("()"))
            if found is None or found[1].docname == page or _is_inside(literal, NO_LINKS_IN):
                continue
            name, entry = found
            link = make_refnode(self.app.builder, page, entry.docname, entry.node_id, literal.deepcopy(), name)
            literal.replace_self(link)


def find_names(objects: dict[str, ObjectEntry]) -> dict[str, tuple[str, ObjectEntry]]:
    """Return the public objects by all names that mean exactly one of them.

    ``radoncdt.ink.read_ink`` can be called ``ink.read_ink`` and ``read_ink`` too. Single words in lower case, such as
    ``save``, only mean functions of the package itself.
    """
    public = {name: entry for name, entry in objects.items() if entry.docname.startswith(PAGES)}
    found: dict[str, list[str]] = {}
    for name in public:
        short = name.removeprefix(PACKAGE)
        found.setdefault(name, []).append(name)
        found.setdefault(short, []).append(name)
        module, _, last = short.partition(".")
        if module.islower() and (not last.islower() or "_" in last or "." in last):
            found.setdefault(last, []).append(name)
    names = {short: full for short, full in found.items() if short not in OTHER_MEANINGS}
    return {short: (full[0], public[full[0]]) for short, full in names.items() if len(set(full)) == 1}


def _is_inside(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False

"""Check the pages of the documentation: ``python tools/check_site.py docs/_build/html``.

Links inside the site and their anchors must exist, every page must be reachable from index.html, images need a text
that describes them, and pages must not load anything from outside. The exit status is 1 if something is wrong.
"""

import posixpath
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

START = "index.html"
THEME = "_static"  # folder of parts of pages, which are not pages themselves
CSS_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)(?:"([^"]*)"|'([^']*)'|([^\s"'();]+))""")
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "video": "src",
}
"""Elements of which a browser loads a file, and the attribute with its address."""


class Page(HTMLParser):
    """What a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.undescribed: list[str] = []  # images without a text
        self.in_style = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the addresses and the anchor of an element."""
        values = {name: value or "" for name, value in attrs}
        self.in_style = tag == "style"
        if tag == "a" and "name" in values:
            self.anchors.add(values["name"])
        if "id" in values:
            self.anchors.add(values["id"])
        if tag in ("a", "area") and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and "href" in values:
            page = urlsplit(values["href"]).path.endswith(".html") and "stylesheet" not in values.get("rel", "")
            (self.links if page and not is_outside(values["href"]) else self.loaded).append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            self.loaded.append(values[LOADED[tag]])
        self.loaded += [part.split()[0] for part in values.get("srcset", "").split(",") if part.strip()]
        self.loaded += list_css_addresses(values.get("style", ""))
        if tag == "img" and not _is_description(values.get("alt"), values.get("src", "")):
            self.undescribed.append(values.get("src", ""))

    def handle_data(self, data: str) -> None:
        """Collect the addresses in a style sheet inside the page."""
        if self.in_style:
            self.loaded += list_css_addresses(data)

    def handle_endtag(self, tag: str) -> None:
        """Note the end of a style sheet."""
        self.in_style = False


def _is_description(text: str | None, source: str) -> bool:
    """Tell whether a text describes an image. Empty texts mark decoration. Sphinx takes the file name by default."""
    return text is not None and (text == "" or PurePosixPath(text.strip()).name != PurePosixPath(source).name)


def list_css_addresses(text: str) -> list[str]:
    """Return the addresses that a style sheet loads."""
    return ["".join(found) for found in CSS_ADDRESS.findall(CSS_COMMENT.sub("", text))]


def is_outside(address: str) -> bool:
    """Tell whether an address leads out of the site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme not in ("", "data", "javascript", "about")


def find_target(path: str, address: str) -> tuple[str, str] | None:
    """Return the file and the anchor that an address inside the site means, or None if it leads elsewhere."""
    parts = urlsplit(address)
    if is_outside(address) or parts.scheme:
        return None
    if not parts.path:
        return path, unquote(parts.fragment)
    target = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), unquote(parts.path))).lstrip("/")
    if not target or parts.path.endswith("/"):
        target = posixpath.join(target, START)
    return target, unquote(parts.fragment)


def check_site(root: Path) -> list[str]:
    """Return one line for everything that is wrong with the pages of a folder."""
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    pages = {
        name: Page(path.read_text("utf-8"))
        for name, path in sorted(files.items())
        if path.suffix == ".html" and not name.startswith(f"{THEME}/")
    }
    if START not in pages:
        return [f"{START}: there is no such page"]
    loaded = [(name, address) for name, page in pages.items() for address in page.loaded]
    for name, path in sorted(files.items()):
        if path.suffix == ".css":
            loaded += [(name, address) for address in list_css_addresses(path.read_text("utf-8"))]
    return [
        *_check_loaded(loaded, set(files)),
        *_check_links(pages, set(files)),
        *(f"{name}: {source} has no alternative text" for name, page in pages.items() for source in page.undescribed),
        *(f"{name}: not reachable from {START}" for name in sorted(pages.keys() - _find_reachable(pages))),
    ]


def _check_loaded(loaded: list[tuple[str, str]], files: set[str]) -> Iterator[str]:
    for name, address in loaded:
        target = find_target(name, address)
        if is_outside(address):
            yield f"{name}: loads {address} from outside"
        elif target and target[0] not in files:
            yield f"{name}: loads {address}, which does not exist"


def _check_links(pages: dict[str, Page], files: set[str]) -> Iterator[str]:
    for name, page in pages.items():
        for address in dict.fromkeys(page.links):
            path, anchor = find_target(name, address) or (name, "")
            if path not in files:
                yield f"{name}: links to {address}, which does not exist"
            elif anchor and path in pages and anchor not in pages[path].anchors:
                yield f"{name}: links to {address}, which has no such anchor"


def _find_reachable(pages: dict[str, Page]) -> set[str]:
    reached, waiting = {START}, [START]
    while waiting:
        name = waiting.pop()
        targets = {target[0] for address in pages[name].links if (target := find_target(name, address))}
        new = (targets & pages.keys()) - reached
        reached |= new
        waiting += new
    return reached


def main() -> int:
    """Check the folder that is given, and print what is wrong."""
    if len(sys.argv) != 2:
        print("usage: python tools/check_site.py FOLDER", file=sys.stderr)
        return 2
    problems = check_site(Path(sys.argv[1]))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{sys.argv[1]}: {len(problems)} problems" if problems else f"{sys.argv[1]}: the site is in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""The blocks of the report, written as Markdown or as HTML."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from radoncdt.reproduction.page import Block, Entry, Grid, Heading, Picture, Text, blocks
from radoncdt.reproduction.run import Outcome

# ---------------------------------------------------------------- Markdown


def markdown(outcome: Outcome, pictures: Sequence[str]) -> str:
    """The report as Markdown, figures being files beside it."""
    return "\n\n".join(_markdown(block) for block in blocks(outcome, pictures)) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text, warning):
            return f"**{text}**" if warning else text
        case Picture(name, caption):
            return f"![{caption}](figures/{name}.png)\n\n{caption}"
        case Grid(header, rows):
            lines = [header, ["---"] * len(header), *([_markdown_entry(item) for item in row] for row in rows)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _markdown_entry(item: Entry) -> str:
    lines = [line.replace("|", "\\|") for line in item.lines]
    if item.mark:
        lines[-1] = f"**{lines[-1]}**"
    return "<br>".join(lines)


# ---------------------------------------------------------------- HTML

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1500px; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin: 2rem 0 .6rem; }
h3 { font-weight: 600; font-size: 1rem; color: #555; }
.warning { background: #fff3cd; border: 1px solid #e0b100; padding: .6rem 1rem; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #ddd; padding: .3rem .5rem; text-align: left; vertical-align: top; }
td { white-space: nowrap; }
th { border-bottom: 2px solid #888; }
td span { color: #666; }
td.less { background: #fde8e4; }
td.more { background: #e5f3e6; }
figure { margin: 1.5rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption { color: #555; font-size: 13px; }
"""


def html(outcome: Outcome, pictures: Mapping[str, bytes]) -> str:
    """The report as one HTML file, figures included."""
    body = "\n".join(_html(block, pictures) for block in blocks(outcome, list(pictures)))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The experiments of the paper, run by radoncdt</title>
<style>{STYLE}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _html(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{escape(text)}</h{level}>"
        case Text(text, warning):
            return f'<p class="warning">{escape(text)}</p>' if warning else f"<p>{escape(text)}</p>"
        case Picture(name, caption):
            data = base64.b64encode(pictures[name]).decode()
            source = f"data:image/svg+xml;base64,{data}"
            alt = escape(caption, quote=True)
            return f'<figure><img src="{source}" alt="{alt}"><figcaption>{escape(caption)}</figcaption></figure>'
        case Grid(header, rows):
            lines = [_html_row("th", [escape(text) for text in header], [""] * len(header)) if any(header) else ""]
            lines += [_html_row("td", map(_html_entry, items), map(_class, items)) for items in rows]
            return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _html_row(tag: str, contents: Iterable[str], classes: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}{c}>{content}</{tag}>' for content, c in zip(contents, classes))}</tr>"


def _html_entry(item: Entry) -> str:
    first, *rest = (escape(line) for line in item.lines)
    lines = [f"<b>{first}</b>" if item.strong else first, *(f"<span>{line}</span>" for line in rest)]
    return "<br>".join(lines)


def _class(item: Entry) -> str:
    return {-1: ' class="less"', 0: "", 1: ' class="more"'}[item.mark]

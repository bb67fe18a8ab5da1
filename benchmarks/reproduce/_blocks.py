"""The parts of a report, and how they are written in Markdown and in HTML."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# What a mark at the end of a table's cell is drawn as in HTML.
_CLASSES = {"▲": "above", "=": "same", "▼": "below", "missing": "missing"}

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #888; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin-top: 2.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
caption { text-align: left; color: var(--quiet); padding-bottom: .4rem; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
td { white-space: nowrap; }
.words td, .words th { text-align: left; vertical-align: top; white-space: normal; }
.above { background: #1a9e4b2e; } .below { background: #d5520038; } .same { background: #8881; }
.missing { color: var(--quiet); font-style: italic; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; background: white; }
figcaption { color: var(--quiet); }
"""


@dataclass(frozen=True)
class Heading:
    """A heading of level 1, 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list of plain texts."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows of plain texts, the first column naming them. Words are set to the left."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    words: bool = False


@dataclass(frozen=True)
class Figure:
    """A picture in a file beside the report."""

    path: Path
    caption: str


Block: TypeAlias = Heading | Paragraph | Items | Table | Figure


def to_markdown(blocks: Sequence[Block], folder: Path) -> str:
    """Write the blocks as Markdown; pictures are linked, as seen from the folder."""
    return "\n\n".join(_markdown(block, folder) for block in blocks) + "\n"


def to_html(blocks: Sequence[Block], title: str) -> str:
    """Write the blocks as one page that needs no other file."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _markdown(block: Block, folder: Path) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Items(texts):
            return "\n".join(f"* {text}" for text in texts)
        case Table(header, rows, caption):
            lines = [_row(header), "|---" * len(header) + "|", *map(_row, rows)]
            return "\n".join([f"{caption}\n", *lines] if caption else lines)
        case Figure(path, caption):
            return f"![{caption}]({path.relative_to(folder).as_posix()})\n\n{caption}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{html.escape(text)}</p>"
        case Items(texts):
            return "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in texts) + "</ul>"
        case Table():
            return _html_table(block)
        case Figure(path, caption):
            data = base64.b64encode(path.read_bytes()).decode()
            text = html.escape(caption)
            return (
                f'<figure id="{path.stem}"><img alt="{text}" src="data:image/png;base64,{data}">'
                f"<figcaption>{text}</figcaption></figure>"
            )


def _html_table(table: Table) -> str:
    header = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table.header)
    rows = "\n".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in table.rows)
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    kind = ' class="words"' if table.words else ""
    return (
        f'<div class="wide"><table{kind}>{caption}<thead><tr>{header}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _html_cell(text: str) -> str:
    mark = text.rpartition(" ")[2]
    css = f' class="{_CLASSES[mark]}"' if mark in _CLASSES else ""
    return f"<td{css}>{html.escape(text)}</td>"

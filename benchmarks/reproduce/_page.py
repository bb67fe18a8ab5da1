"""The report as one HTML page that needs no other file."""

from __future__ import annotations

import base64
import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from dtsne.runtime._document import Document

# The classes of cells, by the word or mark that these end with.
_CLASSES = {"▲": "above", "=": "same", "▼": "below", "missing": "missing"}
_MARKED = re.compile(rf"<td([^>]*)>([^<]*?({'|'.join(_CLASSES)}))</td>")
_IMAGE = re.compile(r'<p><img src="([^"]*)" alt="([^"]*)" /></p>\n<p>(.*?)</p>')

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --quiet: #888; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin-top: 2.2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0;
        display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .7rem; text-align: left; }
.above { background: #1a9e4b2e; } .below { background: #d5520038; } .same { background: #8881; }
.missing { color: var(--quiet); font-style: italic; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; background: white; }
figcaption { color: var(--quiet); }
"""


def to_page(document: Document, folder: Path) -> str:
    """Return the page of a document whose images lie in the folder."""

    def figure(found: re.Match[str]) -> str:
        path = folder / found[1]
        data = base64.b64encode(path.read_bytes()).decode()
        return (
            f'<figure id="{path.stem}"><img alt="{found[2]}" src="data:image/png;base64,{data}">'
            f"<figcaption>{found[3]}</figcaption></figure>"
        )

    body = _IMAGE.sub(figure, document.html(folder))
    body = _MARKED.sub(
        lambda cell: f'<td{cell[1]} class="{_CLASSES[cell[3]]}">{cell[2]}</td>', body
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(document.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )


def _with_class(cell: re.Match[str]) -> str:
    style, text, mark = cell.groups()
    return f'<td{style} class="{_CLASSES[mark]}">{text}</td>'

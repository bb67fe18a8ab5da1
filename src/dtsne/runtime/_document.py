"""Documents of sections: one content as plain text, as Markdown and as HTML."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Characters that a line of plain text has at most; tables may be wider.
WIDTH = 96
# "nan" and the dash of a missing value stand among numbers.
_NUMBER = re.compile(r"[–+-]?([0-9]|nan)|–$")
_MARKUP = re.compile(r"([\\`*_\[\]|])")


@dataclass(frozen=True)
class Items:
    """A list of plain texts."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows of plain texts; columns of numbers are aligned to the right."""

    rows: Sequence[Sequence[str]]
    header: Sequence[str] = ()
    caption: str = ""

    def text(self) -> str:
        """Return the table with aligned columns."""
        rows = [[_on_one_line(cell) for cell in row] for row in self._all_rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        to_right = self._columns_of_numbers()
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, to_right, strict=True)
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*textwrap.wrap(self.caption, WIDTH), *lines])

    def markdown(self) -> str:
        """Return the table as Markdown, below its caption."""
        first, *rest = (f"| {' | '.join(map(_escape, row))} |" for row in self._all_rows())
        rule = "".join("|---:" if right else "|---" for right in self._columns_of_numbers())
        table = "\n".join([first, f"{rule}|", *rest])
        return f"{_escape(self.caption)}\n\n{table}" if self.caption else table

    def _all_rows(self) -> Sequence[Sequence[str]]:
        return [self.header, *self.rows] if self.header else self.rows

    def _columns_of_numbers(self) -> list[bool]:
        columns = zip(*self.rows, strict=True) if self.rows else [[""]] * len(self.header)
        return [all(_NUMBER.match(cell) for cell in column) for column in columns]


@dataclass(frozen=True)
class Figure:
    """An image in a file."""

    path: Path
    caption: str


# A string is a paragraph.
Block: TypeAlias = str | Items | Table | Figure


@dataclass(frozen=True)
class Section:
    """Blocks under a heading of level 2 or 3; an empty title has no heading."""

    title: str
    blocks: Sequence[Block]
    level: int = 2


@dataclass(frozen=True)
class Document:
    """Sections under a title."""

    title: str
    sections: Sequence[Section]

    def text(self) -> str:
        """Return plain text for a terminal."""
        parts = [_underlined(self.title, "=")]
        for section in self.sections:
            heading = [_underlined(section.title, "-")] if section.title else []
            parts.append("\n".join(heading + [_block_as_text(block) for block in section.blocks]))
        return "\n\n".join(parts)

    def markdown(self, folder: Path | None = None) -> str:
        """Return Markdown; images are linked relative to the folder that it is written to."""
        parts = [f"# {_escape(self.title)}"]
        for section in self.sections:
            if section.title:
                parts.append(f"{'#' * section.level} {_escape(section.title)}")
            parts += [_block_as_markdown(block, folder) for block in section.blocks]
        return "\n\n".join(parts) + "\n"

    def html(self, folder: Path | None = None) -> str:
        """Return the elements of the body of an HTML page, by markdown-it-py."""
        from markdown_it import MarkdownIt

        body: str = MarkdownIt("commonmark").enable("table").render(self.markdown(folder))
        return body


def _block_as_text(block: Block) -> str:
    match block:
        case str():
            return textwrap.fill(block, WIDTH)
        case Items(texts):
            return "\n".join(
                textwrap.fill(text, WIDTH, initial_indent="* ", subsequent_indent="  ")
                for text in texts
            )
        case Table():
            return block.text()
        case Figure(path, caption):
            return textwrap.fill(f"{path}: {caption}", WIDTH)


def _block_as_markdown(block: Block, folder: Path | None) -> str:
    match block:
        case str():
            return _escape(block)
        case Items(texts):
            return "\n".join(f"* {_escape(text)}" for text in texts)
        case Table():
            return block.markdown()
        case Figure(path, caption):
            link = (path if folder is None else path.relative_to(folder)).as_posix()
            return f"![{_escape(caption)}]({link})\n\n{_escape(caption)}"


def _underlined(title: str, line: str) -> str:
    return f"{title}\n{line * len(title)}"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    """Keep plain text from being taken for Markdown or HTML."""
    plain = _on_one_line(text).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKUP.sub(r"\\\1", plain)

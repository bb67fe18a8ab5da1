"""Documents as text, Markdown and HTML."""

from pathlib import Path

import pytest

from dtsne.runtime._document import Document, Figure, Items, Section, Table

TABLE = Table([("a|b", "1,000"), ("<c>", "nan"), ("d\ne", "–")], header=("name", "n"))
DOCUMENT = Document(
    "Title & all",
    [
        Section("", ["Before * the first."]),
        Section("Part", [Items(["one " * 40, "two"]), TABLE, "Note."], level=3),
        Section("Last", [Figure(Path("out/map.png"), "A map")]),
    ],
)


def test_plain_text_has_short_lines_and_aligned_tables():
    lines = DOCUMENT.text().splitlines()
    assert lines[:5] == ["Title & all", "===========", "", "Before * the first.", ""]
    assert lines[5:7] == ["Part", "----"]
    assert max(map(len, lines)) <= 96
    assert lines[7].startswith("* one one")
    assert lines[8].startswith("  one one")
    first = lines.index("name      n")
    rows = ["a|b   1,000", "<c>     nan", "d e       –"]
    assert lines[first + 1 : first + 5] == [*rows, "Note."]
    assert lines[-1] == "out/map.png: A map"


def test_plain_text_in_markdown_is_escaped():
    markdown = DOCUMENT.markdown(Path("out"))
    assert markdown.startswith("# Title &amp; all\n\nBefore \\* the first.\n\n### Part\n\n* one")
    table = "| name | n |\n|---|---:|\n| a\\|b | 1,000 |\n| &lt;c> | nan |\n| d e | – |"
    assert f"\n\n{table}\n\nNote.\n" in markdown
    assert markdown.endswith("## Last\n\n![A map](map.png)\n\nA map\n")


def test_html_has_the_same_content():
    pytest.importorskip("markdown_it")
    html = DOCUMENT.html()
    assert "<h1>Title &amp; all</h1>" in html
    assert "<h3>Part</h3>" in html
    assert "<td>a|b</td>" in html
    assert "<td>&lt;c&gt;</td>" in html
    assert '<td style="text-align:right">1,000</td>' in html
    assert '<img src="out/map.png" alt="A map" />' in html
    assert html.count("<li>") == 2


def test_a_table_needs_neither_header_nor_rows():
    assert Table([("a", "b")]).text() == "a  b"
    assert Table([], header=("a", "b"), caption="None.").text() == "None.\na  b"
    assert Table([], header=("a", "b")).markdown() == "| a | b |\n|---|---|"

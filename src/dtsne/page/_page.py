"""A page, and the two ways to one."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtsne.page._header import make_header
from dtsne.page._html import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Page:
    """A page that shows itself in a notebook and can be saved.

    Attributes
    ----------
    html : str
        The whole page.
    height : int
        Its height in a notebook, in pixels.
    """

    html: str = field(repr=False)
    height: int = 640

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, and return its path."""
        from dtsne.runtime._atomic import atomic_write

        path = Path(path)
        with atomic_write(path) as part:
            part.write_text(self.html, encoding="utf-8", newline="\n")
        return path

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, apart from the notebook around it."""
        return (
            '<iframe sandbox="allow-scripts allow-downloads allow-forms" allow="clipboard-write" '
            f'style="width: 100%; height: {self.height}px; border: 0" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


def make_page(
    maps: Mapping[str, ArrayLike],
    columns: Mapping[str, ArrayLike | Mapping[str, ArrayLike]],
    *,
    ids: ArrayLike | None = None,
    title: str = "Map",
    account: Mapping[str, Any] | None = None,
    notes: str | Sequence[str] = (),
) -> Page:
    """Make an interactive page of one or more maps of the same points.

    Parameters
    ----------
    maps : mapping of str to array-like of shape (n, 2)
        The maps by name, in the order of the slider. Each is centred, and turned and mirrored
        onto the first, but never scaled.
    columns : mapping of str to array-like of shape (n,), or to such by name of map
        What is known of the points: the page shows, colours, filters and searches by it. Strings,
        booleans, pandas' categories, and integers and dates with at most 20 different values are
        categories, of which the 50 most frequent have a colour of their own; all else is a number
        or a date (give floats to have numbers, and strings to have categories). A column with
        "residual" in its name is coloured around 0. Missing values (None, NaN, NaT, pandas.NA) may
        occur. What is known of a point in one map, and not in the data, is given by the name of the
        map, ``{"density residual": {"dtSNE": r}}``, and shown with that map.
    ids : array-like of shape (n,), optional
        What tells the points apart, for search and export. By default the number of the row.
    title : str
        What stands above the map.
    account : mapping, optional
        What is known of the map as a whole: names and values, shown beside it. The value of
        ``"unit"`` is what one unit of the map is in the data's own distance; a scale bar shows it.
        Of several maps, an account for each by the name of the map, which may have texts as its
        ``"notes"``; or one for all, with units by name of map.
    notes : str or sequence of str
        Paragraphs of text that stand below the account.

    Returns
    -------
    Page
        Call its ``save``, or leave it to a notebook to show.
    """
    header = make_header(maps, columns, ids=ids, title=title, account=account, notes=notes)
    return Page(render(header))


def write_page(
    path: str | PathLike[str],
    maps: Mapping[str, ArrayLike],
    columns: Mapping[str, ArrayLike | Mapping[str, ArrayLike]],
    *,
    ids: ArrayLike | None = None,
    title: str = "Map",
    account: Mapping[str, Any] | None = None,
    notes: str | Sequence[str] = (),
) -> Path:
    """Write an interactive page of one or more maps to an HTML file that opens offline.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    maps, columns, ids, title, account, notes
        As for :func:`make_page`.

    Returns
    -------
    Path
        The file.
    """
    page = make_page(maps, columns, ids=ids, title=title, account=account, notes=notes)
    return page.save(path)

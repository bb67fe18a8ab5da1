"""A page, and the two ways to make one."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from dtsne.page._header import make_header
from dtsne.page._html import render
from dtsne.runtime._atomic import atomic_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from typing import Unpack

    from numpy.typing import ArrayLike

    from dtsne.page._columns import Columns


class PageOptions(TypedDict, total=False):
    """Options of :func:`make_page`, which documents them."""

    ids: ArrayLike | None
    title: str
    report: Mapping[str, object] | None
    notes: str | Sequence[str]


@dataclass(frozen=True)
class Page:
    """A page that shows itself in a notebook and can be saved.

    Attributes
    ----------
    html : str
        The whole page.
    height : int, default 640
        Its height in a notebook, in pixels.

    See Also
    --------
    make_page : Makes one.
    """

    html: str = field(repr=False)
    height: int = 640

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path-like
            The file to write.

        Returns
        -------
        Path
            The file.
        """
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
    columns: Columns,
    *,
    ids: ArrayLike | None = None,
    title: str = "Map",
    report: Mapping[str, object] | None = None,
    notes: str | Sequence[str] = (),
) -> Page:
    """Make an interactive page of one or more maps of the same points.

    Parameters
    ----------
    maps : mapping of str to array-like of shape (n, 2)
        The embeddings by name, in the order of the slider. Each is centred, and turned and mirrored
        onto the first, but never scaled.
    columns : mapping of str to array-like of shape (n,), or to a mapping of such by map name
        Values of the points: the page shows, colours, filters and searches by them. Strings,
        booleans, categorical columns, and integers and dates with at most 20 distinct values are
        categories, of which the 50 most frequent have a colour of their own. All else is a number
        or a date; pass floats to have numbers, and strings to have categories. A column with
        "residual" in its name is coloured around 0. Missing values (None, NaN, NaT, pandas.NA) may
        occur. Values that depend on the map are passed by the name of the map,
        ``{"density residual": {"dtSNE": r}}``, and shown with that map.
    ids : array-like of shape (n,), optional
        Unique names of the points, for search and export; by default the row numbers.
    title : str, default "Map"
        Title above the map.
    report : mapping, optional
        Figures of the map as a whole, shown next to it: names and values. The value of ``"unit"``
        is the distance in the data that is one unit of the map; a scale bar shows it. For several
        maps, a report of each by the name of the map, which may have texts as its ``"notes"``; or
        one for all, with units by map name.
    notes : str or sequence of str, default ()
        Paragraphs of text below the report.

    Returns
    -------
    Page
        The page: a notebook shows it, and its ``save`` writes it to a file.

    See Also
    --------
    write_page : Writes it to a file at once.
    dtsne.DTSNE.explore : The page of a fitted model and its report.

    Examples
    --------
    >>> from dtsne.page import make_page
    >>> page = make_page({"dtSNE": [[0.0, 1.0], [2.0, 3.0]]}, {"label": ["a", "b"]})
    """
    header = make_header(maps, columns, ids=ids, title=title, report=report, notes=notes)
    return Page(render(header))


def write_page(
    path: str | PathLike[str],
    maps: Mapping[str, ArrayLike],
    columns: Columns,
    **options: Unpack[PageOptions],
) -> Path:
    """Write an interactive page of one or more maps to an HTML file that opens offline.

    Parameters
    ----------
    path : str or path-like
        The file to write.
    maps : mapping of str to array-like of shape (n, 2)
        The embeddings by name, as for :func:`make_page`.
    columns : mapping of str to array-like of shape (n,), or to a mapping of such by map name
        Values of the points, as for :func:`make_page`.
    **options
        `ids`, `title`, `report` and `notes` of :func:`make_page`.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    make_page : Makes a page for a notebook.
    dtsne.DTSNE.explore : The page of a fitted model and its report.

    Examples
    --------
    >>> from dtsne.page import write_page
    >>> write_page("map.html", {"dtSNE": Y}, {"label": labels})  # doctest: +SKIP
    """
    return make_page(maps, columns, **options).save(path)

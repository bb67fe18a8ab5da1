"""An interactive page of a map: one HTML file that opens offline, in a browser or a notebook.

:func:`write_page` writes it, :func:`make_page` gives a :class:`Page` that a notebook shows. The
page draws the points with WebGL (regl-scatterplot, of which a copy lies in ``vendor/``) and asks
nothing of the network. It needs numpy and the standard library alone.
"""

from dtsne.page._from_report import explore_embedding
from dtsne.page._page import Page, make_page, write_page

__all__ = ["Page", "explore_embedding", "make_page", "write_page"]

"""Pictures and pages: what their files are called, and how large pictures are."""

from __future__ import annotations

PICTURES, PAGES = (".png", ".pdf", ".svg"), (".html", ".htm")
SIZE, DPI = 6.0, 150.0  # inches, and dots per inch

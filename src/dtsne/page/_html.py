"""The text of the page, from a header of JSON.

Text of users reaches the page in two places alone: the title, escaped, and a block of JSON that no
browser takes for markup. The page writes it as text, never as HTML; and its security policy, which
lets only the page's own scripts run, holds even if one of these should fail.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files

from dtsne.labels._format import printable

# Joined in this order into one script; each uses only what stands before it.
_SCRIPTS = (
    *("data", "colours", "plot", "filters", "details", "selection", "search"),
    *("legend", "slider", "touch", "view", "main"),
)


def render(header: dict[str, object]) -> str:
    """Fill the template."""
    vendor = _vendored("regl-scatterplot.min.js")
    script = _script()
    parts = {
        "policy": _policy(vendor, script),
        "title": html.escape(printable(str(header["title"]))),
        "style": _asset("page.css"),
        "data": as_json(header),
        "licences": _vendored("LICENSES.txt"),
        "vendor": vendor,
        "script": script,
    }
    # In one pass: nothing that is filled in is looked at again.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _asset("page.html"))


def as_json(header: dict[str, object]) -> str:
    """Write JSON that cannot end the script element it stands in, nor open a comment there."""
    return json.dumps(header, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _policy(*scripts: str) -> str:
    """Allow the page's own scripts and nothing else, least of all the network.

    'unsafe-eval' is for regl, which writes its draw calls as functions; styles are set by the
    library, and workers are its own, for more than a million points.
    """
    hashes = " ".join(f"'sha256-{_sha256(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


@cache
def _asset(name: str) -> str:
    return files("dtsne.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    body = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();'


@cache
def _vendored(name: str) -> str:
    return files("dtsne.page").joinpath("vendor", name).read_text(encoding="utf-8")

"""Reading a page that was made."""

from __future__ import annotations

import base64
import gzip
import json
import re

import numpy as np


def header_of(page: str) -> dict:
    return json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S)[1])


def unpacked(packed: dict):
    raw = base64.b64decode(packed["data"])
    raw = gzip.decompress(raw) if packed["gzip"] else raw
    return json.loads(raw) if packed["dtype"] == "json" else np.frombuffer(raw, packed["dtype"])


def texts_of(column: dict) -> list[str]:
    categories = [*unpacked(column["categories"]), "missing"]
    return [categories[code] for code in unpacked(column["codes"])]

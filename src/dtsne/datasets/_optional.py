"""Packages that only downloads need."""

from __future__ import annotations

from functools import partial

from dtsne.runtime._optional import optional

for_download = partial(optional, extra="data", purpose="downloading this data set")

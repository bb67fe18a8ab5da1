"""The public name `dtsne.tables` of :mod:`dtsne.io`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import dtsne.io

if TYPE_CHECKING:
    from dtsne.io import *  # noqa: F403

sys.modules[__name__] = dtsne.io

"""The public name `dtsne.account` of :mod:`dtsne.report`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import dtsne.report

if TYPE_CHECKING:
    from dtsne.report import *  # noqa: F403

sys.modules[__name__] = dtsne.report

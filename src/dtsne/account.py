"""The former name of :mod:`dtsne.report`, with the former names of what it has."""

from dtsne.report import GroupTable, PointTable, RatioTable, Report, report_of
from dtsne.report import Report as Account
from dtsne.report import report_of as account_of

__all__ = [
    "Account",
    "GroupTable",
    "PointTable",
    "RatioTable",
    "Report",
    "account_of",
    "report_of",
]

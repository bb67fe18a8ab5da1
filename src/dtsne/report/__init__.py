"""The report on a map: how faithful it is, point by point and group by group.

:func:`report_of` takes the data and any map of it, by :class:`dtsne.DTSNE` or by another tool. It
compares the local radius of every point, and the spread of every labelled group, in data and map,
and grades how reliable densities, spreads, neighbours and distances in the map are. Print the
result to read it; :meth:`Report.to_pandas` and others return the tables.

>>> from dtsne.report import report_of
>>> from dtsne.datasets import load
>>> X, labels, _ = load("2D-density")
>>> report = report_of(X, X, labels=labels)
>>> report.ratios.sentences[0]
'1 is 1.93 (1.78–2.09) times as wide as 0 in the data, 1.93 (1.78–2.09) in the map.'
"""

from dtsne.report._build import report_of, report_of_embedding
from dtsne.report._report import Report
from dtsne.report._tables import GroupTable, PointTable, RatioTable

__all__ = ["GroupTable", "PointTable", "RatioTable", "Report", "report_of", "report_of_embedding"]

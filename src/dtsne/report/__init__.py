"""The honest account of a map: how faithful it is, point by point and group by group.

:func:`account_of` takes the data and any map of it, be it by :class:`dtsne.DTSNE` or by another
tool, and says of every point whether the room it is given in the map is that which it has in the
data, of every labelled group how wide it is in both, with intervals, and of the whole what can be
read from it. Print the result for a page to read; :meth:`Account.to_pandas` and the others hand on
the tables.

>>> from dtsne.report import account_of
>>> from dtsne.datasets import load
>>> X, labels, _ = load("2D-density")
>>> account = account_of(X, X, labels=labels)
>>> account.ratios.sentences[0]
'1 is 1.93 (1.78–2.09) times as wide as 0 in the data, 1.93 (1.78–2.09) in the map.'
"""

from dtsne.report._build import account_of
from dtsne.report._report import Account
from dtsne.report._tables import GroupTable, PointTable, RatioTable

__all__ = ["Account", "GroupTable", "PointTable", "RatioTable", "account_of"]

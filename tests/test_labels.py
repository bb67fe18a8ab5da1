"""Labels of any kind that people have them in, as groups."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from dtsne._labels import group_by

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("labels", "names", "codes"),
    [
        ([3, 1, 2, 3], [1, 2, 3], [2, 0, 1, 2]),
        (["c10", "c9", None, "C1"], ["C1", "c9", "c10"], [2, 1, -1, 0]),
        ([1.0, np.nan, 2.0, 1.0], [1, 2], [0, -1, 1, 0]),
        ([1.5, 2.0, 2.0, 1.5], [1.5, 2.0], [0, 1, 1, 0]),
        ([True, None, False, True], [False, True], [1, -1, 0, 1]),
        (np.array(["2020-02", "2020-01", "NaT", "2020-01"], "M8[ns]"),
         ["2020-01-01", "2020-02-01"], [1, 0, -1, 0]),
        ([dt.date(2020, 1, 2), None, dt.date(2020, 1, 1), None],
         ["2020-01-01", "2020-01-02"], [1, -1, 0, -1]),
        (pd.Categorical(["b", "a", None, "b"], ["z", "b", "a"]), ["b", "a"], [0, 1, -1, 0]),
        (pd.Categorical([2.0, 1.0, np.nan, 2.0]), [1, 2], [1, 0, -1, 1]),
        (pd.Series([1, 2, None, 1], dtype="Int64"), [1, 2], [0, 1, -1, 0]),
        (pd.Series(["a", None, "b", "a"], dtype="string"), ["a", "b"], [0, -1, 1, 0]),
    ],
)  # fmt: skip
def test_groups_of_labels(labels, names, codes):
    groups = group_by(labels, 4)
    assert groups.names.tolist() == names
    assert [type(name) for name in groups.names.tolist()] == [type(name) for name in names]
    assert groups.codes.tolist() == codes
    for g, members in enumerate(groups.members):
        assert members.tolist() == np.flatnonzero(np.array(codes) == g).tolist()
    assert groups.sizes.tolist() == [codes.count(g) for g in range(len(names))]
    of_points = [None if code < 0 else names[code] for code in codes]
    assert groups.labels.tolist() == of_points


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([1, "a", 2, "b"], object), "mix kinds that have no order"),
        (np.array([1, "a", None, "b"], object), "mix kinds that have no order"),
        ([None] * 4, "missing values only"),
        (["a"] * 3, r"shape \(3,\) for 4 points"),
        (pd.Categorical(["a"] * 3), r"shape \(3,\) for 4 points"),
    ],
)
def test_what_are_no_labels_is_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        group_by(labels, 4)

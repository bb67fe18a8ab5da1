"""Labels of any kind that people have them in, as groups."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from dtsne.labels._groups import Groups, categories_of, group_by, names_array
from dtsne.runtime._errors import DataError

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
        ([np.int64(1), None, np.int64(2), 1], [1, 2], [0, -1, 1, 0]),
        (["a", float("nan"), "b", None], ["a", "b"], [0, -1, 1, -1]),
        (np.array([0.1, 3.0, np.nan, 3.0], np.float32), [0.1, 3.0], [0, 1, -1, 1]),
        ([np.float32(0.5), np.nan, np.float32(0.1), None], [0.1, 0.5], [1, -1, 0, -1]),
        (np.array([b"b", b"a", b"a", b"b"]), ["a", "b"], [1, 0, 0, 1]),
        ([Decimal("1.5"), Decimal("1.25"), None, Decimal(2)], [1.25, 1.5, 2.0], [1, 0, -1, 2]),
        (pd.Series(pd.to_datetime(["2020-02-01", None, "2020-01-01", None])),
         ["2020-01-01", "2020-02-01"], [1, -1, 0, -1]),
        ([pd.Timestamp("2020-02-01"), pd.NaT, dt.date(2020, 1, 1), None],
         ["2020-01-01", "2020-02-01"], [1, -1, 0, -1]),
        (np.array(["2020-01-01T10:00:30", "2020-01-01"] * 2, "M8[ns]"),
         ["2020-01-01T00:00:00", "2020-01-01T10:00:30"], [1, 0, 1, 0]),
        (pd.Categorical(pd.to_datetime(["2020-02-01", None, "2020-01-01", None])),
         ["2020-01-01", "2020-02-01"], [1, -1, 0, -1]),
        (["c" + "9" * 5000, "c10", None, "c10"], ["c10", "c" + "9" * 5000], [1, 0, -1, 0]),
        ([-1, -2, 1, -1], [-2, -1, 1], [1, 0, 2, 1]),
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
        (np.array([1, "a", 2, "b"], object), "mixes numbers and text"),
        (np.array([1, "a", None, "b"], object), "mixes numbers and text"),
        (pd.Series([np.int64(1), "x", None, "x"], dtype=object), "mixes numbers and text"),
        (["a", 10, float("nan"), 9], "mixes numbers and text"),
        ([None] * 4, "only missing values"),
        (np.array([[1], None, [2], None], object), "lists or arrays as values"),
        (["a"] * 3, r"shape \(3,\) for 4 points"),
        (pd.Categorical(["a"] * 3), r"shape \(3,\) for 4 points"),
    ],
)
def test_what_are_no_labels_is_rejected(labels, message):
    with pytest.raises(DataError, match=message) as error:
        group_by(labels, 4)
    assert error.value.argument == "labels"
    assert error.value.message.fix


def categorical_columns():
    """The labels b, a, missing, b with the categories z, b, a, of several libraries."""
    labels, categories = ["b", "a", None, "b"], ["z", "b", "a"]
    yield pytest.param(lambda: pd.Series(pd.Categorical(labels, categories)), id="pandas Series")
    yield pytest.param(lambda: pd.CategoricalIndex(labels, categories), id="pandas Index")

    def enum():
        polars = pytest.importorskip("polars")
        return polars.Series(labels, dtype=polars.Enum(categories))

    def arrow(codes=(1, 2, None, 1)):
        pa = pytest.importorskip("pyarrow")
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(categories))

    def chunked():
        pa = pytest.importorskip("pyarrow")
        return pa.chunked_array([arrow([1, 2, None]), arrow([1])])

    yield pytest.param(enum, id="polars Enum")
    yield pytest.param(lambda: enum().to_arrow(), id="polars Enum in Arrow")
    yield pytest.param(arrow, id="DictionaryArray")
    yield pytest.param(chunked, id="ChunkedArray")


@pytest.mark.parametrize("column", [*categorical_columns()])
def test_the_order_of_categories_is_kept(column):
    labels = column()
    assert categories_of(labels).tolist() == ["z", "b", "a"]
    shown = group_by(labels, 4, to_show=True)
    assert shown.names.tolist() == ["z", "b", "a"]
    assert shown.codes.tolist() == [1, 2, -1, 1]
    groups = group_by(labels, 4)
    assert groups.names.tolist() == ["b", "a"]
    assert groups.labels.tolist() == ["b", "a", None, "b"]


def test_chunks_may_have_other_dictionaries():
    pa = pytest.importorskip("pyarrow")
    parts = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", None, "a"])]
    groups = group_by(pa.chunked_array(parts), 5)
    assert groups.names.tolist() == ["b", "a", "c"]
    assert groups.codes.tolist() == [0, 1, 2, -1, 1]


def test_categories_without_an_order_are_in_natural_order():
    polars = pytest.importorskip("polars")
    polars.Series(["zz", "c9"], dtype=polars.Categorical)  # whose categories they share
    labels = polars.Series(["c10", "c9", None, "C1"], dtype=polars.Categorical)
    assert categories_of(labels) is None
    assert group_by(labels, 4).names.tolist() == ["C1", "c9", "c10"]


@pytest.mark.parametrize("labels", [[1, 2], np.array(["a"]), "text", None, 3])
def test_other_values_have_no_categories(labels):
    assert categories_of(labels) is None


def test_columns_of_polars_and_arrow_are_labels():
    polars = pytest.importorskip("polars")
    for values in (
        [3, None, 1],
        ["b", None, "a"],
        [dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)],
    ):
        column = polars.Series(values)
        for labels in (column, column.to_arrow()):
            assert group_by(labels, 3).codes.tolist() == [1, -1, 0]


def test_dates_of_categories_have_as_many_digits_as_all_of_them_need():
    dates = pd.to_datetime(["2020-01-01 10:00", "2020-01-02 00:00"])
    labels = pd.Categorical(dates[[1, 1]], dates)
    assert group_by(labels, 2).names.tolist() == ["2020-01-02T00:00:00"]


def test_groups_to_show_may_be_unused_mixed_or_none():
    groups = Groups.in_order(["lo", "mid", "hi"], ["hi", None, "lo", "hi"])
    assert group_by(groups, 4, to_show=True) is groups
    used = group_by(groups, 4)
    assert used.names.tolist() == ["lo", "hi"]
    assert used.codes.tolist() == [1, -1, 0, 1]
    with pytest.raises(ValueError, match="for 5 points"):
        group_by(groups, 5)
    mixed = group_by(["a", 10, float("nan"), np.int64(9)], 4, to_show=True)
    assert mixed.labels.tolist() == ["a", 10, None, 9]
    assert mixed.names.tolist() == [9, 10, "a"]
    none = group_by([None, np.nan], 2, to_show=True)
    assert (len(none.names), none.codes.tolist()) == (0, [-1, -1])


def test_tensors_are_labels():
    torch = pytest.importorskip("torch")
    groups = group_by(torch.tensor([1.0, float("nan"), 2.0], requires_grad=True), 3)
    assert groups.labels.tolist() == [1, None, 2]


def test_dates_have_as_many_digits_as_they_need():
    halves = np.array(["2024-01-01T10:00:00.5", "2024-01-02"], "datetime64[ns]")
    assert group_by(halves, 2).names.tolist() == [
        "2024-01-01T10:00:00.500",
        "2024-01-02T00:00:00.000",
    ]


def test_numbers_of_several_kinds_stay_what_they_are():
    assert list(map(type, names_array([2, 3.5]).tolist())) == [int, float]

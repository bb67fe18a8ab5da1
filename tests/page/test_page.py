"""The page as a file: what is in it, what is refused, and that nothing users write is markup."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make_palette import min_distance
from page_support import header_of, texts_of, unpacked

from dtsne.labels._groups import Groups, group_by
from dtsne.page import Page, make_page, write_page
from dtsne.page._header import aligned
from dtsne.plots import _palette as _colors
from dtsne.runtime._errors import DataError

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '<img src=x onerror="window.hacked = 1">',
    "<!--<script>",
    "\"'&amp;{{data}}`${1}\\u003c",
    "Ünïcödé 漢字 🧬 \u2028 \ud800 \x00",
]


class Scripts(HTMLParser):
    """The script elements of a page as a browser delimits them, and how many of each tag."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "script":
            self.texts.append("")

    def handle_data(self, data):
        if self.lasttag == "script" and data.strip():
            self.texts[-1] += data


def a_page(n=5, columns=None, **options) -> str:
    maps = {"map": np.random.default_rng(0).normal(size=(n, 2))}
    return make_page(maps, columns or {}, **options).html


def column_of(values) -> dict:
    n = len(values.codes if isinstance(values, Groups) else values)
    return header_of(a_page(n, {"x": values}))["columns"][0]


# What is in the file


def test_one_file_that_asks_for_nothing_else(tmp_path):
    path = write_page(tmp_path / "map.html", {"map": np.eye(2)}, {"label": ["a", "b"]})
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    assert re.findall(r'(?:src|href)="([^"]*)"', markup) == ["data:,"]
    assert "default-src 'none'" in page


def test_positions_are_those_given_but_for_their_centre():
    Y = np.random.default_rng(1).normal(size=(50, 2)) * [3.0, 1.0] + [100.0, -7.0]
    header = header_of(make_page({"map": Y}, {}).html)
    found = np.column_stack([unpacked(header["maps"][0][axis]) for axis in "xy"])
    np.testing.assert_allclose(found, Y - Y.mean(axis=0), atol=1e-5)
    assert header["half"] == pytest.approx(np.abs(Y - Y.mean(axis=0)).max())


def test_the_same_input_gives_the_same_bytes():
    assert a_page(9, {"x": np.arange(9.0)}) == a_page(9, {"x": np.arange(9.0)})


def test_every_script_that_runs_is_in_the_policy():
    page = a_page()
    running = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(running) == 2
    for script in running:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page


def test_the_library_is_the_build_that_its_readme_names():
    vendor = files("dtsne.page") / "vendor"
    digest = hashlib.sha256((vendor / "regl-scatterplot.min.js").read_bytes()).hexdigest()
    assert digest in (vendor / "README.md").read_text(encoding="utf-8")
    assert (vendor / "LICENSES.txt").read_text(encoding="utf-8") in a_page()


def test_a_hundred_thousand_points_are_below_15_mb(tmp_path):
    n, rng = 100_000, np.random.default_rng(0)
    numbers = {f"number {k}": rng.normal(size=n) for k in range(4)}
    labels = {"label": rng.integers(0, 10, n), "flag": rng.random(n) < 0.1}
    maps = {"one": rng.normal(size=(n, 2)), "two": rng.normal(size=(n, 2))}
    path = write_page(
        tmp_path / "map.html", maps, labels | numbers, ids=[f"point-{i:06d}" for i in range(n)]
    )
    assert path.stat().st_size < 15e6


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "map.html"
    path.write_text("before")

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    page = make_page({"map": np.eye(2)}, {})
    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="No space left"):
        page.save(path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["map.html"]


@pytest.mark.integration
def test_import_needs_numpy_alone():
    script = "import sys, dtsne.page; print(*{m.split('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    heavy = {"numba", "sklearn", "scipy", "pandas", "matplotlib", "playwright"}
    assert heavy.isdisjoint(done.stdout.split())


# Safety

texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20))


@settings(max_examples=40)
@given(st.lists(texts, min_size=3, max_size=3, unique=True), texts, texts)
def test_no_text_leaves_its_place(ids, title, label):
    vendor = (files("dtsne.page") / "vendor" / "regl-scatterplot.min.js").read_text()
    plain = Scripts(a_page(3, {"label": ["x"] * 3}).replace(vendor, ""))
    page = a_page(
        3, {label: [label] * 3}, ids=ids, title=title, report={label: title}, notes=[label, title]
    )
    scripts = Scripts(page.replace(vendor, ""))  # which would take long to parse
    assert scripts.tags == plain.tags
    assert len(scripts.texts) == len(plain.texts)
    header = header_of(page)
    assert header["title"] == title
    assert header["notes"] == [label, title]
    assert header["report"] == [[label, title]]
    assert header["columns"][0]["name"] == label
    assert texts_of(header["columns"][0]) == [label if label.strip() else "(empty)"] * 3
    assert unpacked(header["ids"]) == ids
    assert page.encode("utf-8")


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(tmp_path):
    page = make_page({"map": np.eye(2)}, {"label": HOSTILE[:2]}, title=HOSTILE[0])
    shown = page._repr_html_()
    match = re.fullmatch(r'<iframe sandbox="([^"]*)"[^>]* srcdoc="([^"]*)"></iframe>', shown, re.S)
    assert unescape(match[2]) == page.html
    assert "allow-same-origin" not in match[1]
    assert page.save(tmp_path / "map.html").read_text(encoding="utf-8") == page.html
    assert len(repr(page)) < 100
    assert isinstance(page, Page)


# Columns


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", "b"], ["b", "a", "b"]),
        ([10, 9, 10], ["10", "9", "10"]),
        ([True, False, True], ["yes", "no", "yes"]),
        (["b", float("nan")], ["b", "missing"]),
        (["b", None, float("nan")], ["b", "missing", "missing"]),
        (np.array([True, None, False], object), ["yes", "missing", "no"]),
        (np.array(["2020-01-02", "NaT"], "datetime64[D]"), ["2020-01-02", "missing"]),
        (["1", 2, "x"], ["1", "2", "x"]),
        ([b"gene", b"\xff"], ["gene", "�"]),
        (group_by([1.0, np.nan, 2.0], 3), ["1", "missing", "2"]),
        (Groups.in_order(["lo", "hi"], ["hi", None, "lo"]), ["hi", "missing", "lo"]),
    ],
)
def test_categories(values, expected):
    column = column_of(values)
    assert column["kind"] == "category"
    assert texts_of(column) == expected


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "object"])
def test_numbers(dtype):
    values = np.arange(100).astype(dtype)
    column = column_of(values)
    assert column["kind"] == "number"
    np.testing.assert_array_equal(unpacked(column["values"]), np.arange(100))
    assert column["range"] == [0, 99]


def test_pandas_columns():
    pd = pytest.importorskip("pandas")
    integers = column_of(pd.Series([1, None, 3], dtype="Int64"))
    np.testing.assert_array_equal(unpacked(integers["values"]), [1, np.nan, 3])
    category = column_of(pd.Series(["a", None, "b"], dtype="category"))
    assert texts_of(category) == ["a", "missing", "b"]
    assert texts_of(column_of(pd.Series(["a", pd.NA]))) == ["a", "missing"]
    ordered = pd.Categorical(["low", "high", None, "mid"], ["low", "mid", "high", "none"])
    for values in (ordered, pd.Series(ordered)):
        column = column_of(values)
        assert unpacked(column["categories"]) == ["low", "mid", "high"]
        assert texts_of(column) == ["low", "high", "missing", "mid"]
    zoned = pd.Series(pd.date_range("2024-01-01", periods=30, freq="h", tz="UTC"))
    assert column_of(zoned)["date"] == "second"


def test_dates_are_numbers_where_they_are_many():
    days = np.datetime64("2020-01-01") + np.arange(400)
    column = column_of([*days[1:].astype(object), None])
    assert (column["kind"], column["date"]) == ("number", "day")
    milliseconds = unpacked(column["values"])
    assert milliseconds[0] == 1000 * datetime(2020, 1, 2, tzinfo=UTC).timestamp()
    assert np.isnan(milliseconds[-1])
    hours = np.datetime64("2020-01-01T00") + np.arange(400)
    assert column_of(hours)["date"] == "second"
    few = np.array(["2020-01-01T10:00:00", "NaT", "2020-01-01T11:00:30"], "datetime64[s]")
    assert texts_of(column_of(few)) == ["2020-01-01T10:00:00", "missing", "2020-01-01T11:00:30"]
    spans = column_of(np.array([90, "NaT"], "timedelta64[s]"))
    assert spans["name"] == "x (s)"
    np.testing.assert_array_equal(unpacked(spans["values"]), [90, np.nan])


def test_decimals_are_numbers():
    column = column_of([Decimal("1.5"), None, Decimal(2)])
    np.testing.assert_array_equal(unpacked(column["values"]), [1.5, np.nan, 2])


def test_a_list_of_categories_tells_them_apart():
    names = [f"a long name that many begin with, {i}" for i in range(3)]
    listed = column_of(names)["listed"]
    assert len(set(listed)) == 3
    assert max(map(len, listed)) <= 28
    assert column_of(["", " ", "a"])["listed"] == ["(empty)", "a"]
    digits = ["c" + "9" * 5000, "c10", "c9"]
    assert unpacked(column_of(digits)["categories"]) == ["c9", "c10", digits[0]]


def test_numbers_that_float32_cannot_tell_apart_are_float64():
    seconds = 1.7e9 + np.arange(100) / 3
    np.testing.assert_array_equal(unpacked(column_of(seconds)["values"]), seconds)
    huge = np.geomspace(1, 1e300, 30)
    np.testing.assert_array_equal(unpacked(column_of(huge)["values"]), huge)
    many = np.arange(30) + 2**40
    np.testing.assert_array_equal(unpacked(column_of(many)["values"]), many)


def test_missing_and_infinite_numbers_take_no_part_in_the_range():
    column = column_of([1.0, np.nan, -np.inf, 5.0])
    assert column["range"] == [1, 5]
    np.testing.assert_array_equal(unpacked(column["values"]), [1.0, np.nan, -np.inf, 5.0])
    assert column_of([np.nan, np.nan])["domain"] == [0, 1]
    assert column_of([2.5, 2.5])["domain"] == [2, 3]


def test_residuals_are_coloured_around_zero():
    values = np.linspace(-1, 3, 1000)
    columns = header_of(a_page(1000, {"Density residual": values, "radius": values}))["columns"]
    assert [column["diverging"] for column in columns] == [True, False]
    assert [column["domain"] for column in columns] == [[-3, 3], [-1, 3]]


def test_values_that_are_mostly_the_same_span_all_colours():
    assert column_of(np.r_[np.zeros(4980), np.arange(1.0, 21)])["domain"] == [0, 20]
    low, high = column_of(np.full(30, 1e20))["domain"]
    assert low < 1e20 < high


def test_a_far_value_does_not_take_the_colours_of_all_others():
    column = column_of(np.r_[np.linspace(0, 1, 999), 1e6])
    assert column["domain"][1] < 1.01
    assert column["range"][1] == 1e6


def test_categories_are_in_natural_order_and_the_frequent_first_where_there_are_too_many():
    few = column_of([f"c{i}" for i in range(50)])
    assert unpacked(few["categories"]) == [f"c{i}" for i in range(50)]
    many = [f"c{i}" for i in range(80)] + ["c79"] * 3 + ["c5"] * 2
    column = column_of(many)
    assert unpacked(column["categories"])[:3] == ["c79", "c5", "c0"]
    assert column["coloured"] == 50
    assert texts_of(column) == many


# Maps beside one another


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.floats(0.1, 10))
def test_maps_are_turned_onto_the_first_and_never_scaled(seed, mirrored, scale):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(30, 2)) * [2.0, 1.0]
    angle = rng.uniform(0, 2 * np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    if mirrored:
        turn = turn * [1, -1]
    maps = aligned({"first": first, "second": scale * first @ turn + rng.normal(size=2)})
    centred = first - first.mean(axis=0)
    np.testing.assert_allclose(maps["first"], centred)
    np.testing.assert_allclose(maps["second"], scale * centred, atol=1e-9)


# What is refused

TWO = np.zeros((2, 2))
ARRAYS = np.empty(2, dtype=object)
ARRAYS[:] = [np.arange(2), np.arange(3)]


@pytest.mark.parametrize(
    ("arguments", "argument", "message"),
    [
        ({"maps": {}}, "maps", r"empty; pass at least one"),
        ({"maps": {"m": np.zeros((2, 3))}}, "maps['m']", r"has shape \(2, 3\).*\[:, :2\]"),
        ({"maps": {"m": np.zeros((0, 2))}}, "maps['m']", r"has no points"),
        ({"maps": {"m": [[0, 1], [np.nan, 1]]}}, "maps['m']", r"NaN.* 1 of 2 rows.*row 1"),
        (
            {"maps": {"a": TWO, "b": np.zeros((3, 2))}},
            "maps",
            r"different numbers of points.*'b': 3",
        ),
        ({"maps": {"1": TWO, 1: TWO}}, "maps", r"two maps have the same name"),
        ({"columns": {"x": [1, 2, 3]}}, "columns", r"column 'x' has shape \(3,\).*2 points"),
        ({"columns": {"x": [[1, 2], [3, 4]]}}, "columns", r"column 'x' has shape \(2, 2\)"),
        ({"columns": {"x": [1j, 2]}}, "columns", r"column 'x' is complex"),
        ({"columns": {"x": [[1], [1, 2]]}}, "columns", r"'x' has lists or arrays.*for each point"),
        ({"columns": {"x": ARRAYS}}, "columns", r"column 'x' has lists or arrays.*for each point"),
        ({"columns": {"x": {"other": [1, 2]}}}, "columns", r"'x' .* 'other', which is not .*'m'"),
        ({"columns": {"1": [1, 2], 1: [3, 4]}}, "columns", r"two columns are called '1'"),
        ({"ids": [[1], [1, 2]]}, "ids", r"ids has lists or arrays"),
        ({"ids": ["a"]}, "ids", r"ids has shape \(1,\).*2 points"),
        ({"ids": ["a", "a"]}, "ids", r"the ID 'a' stands for 2 points.*ids=None"),
        ({"report": {"unit": -1.0}}, "report", r"report\['unit'\] is -1.0.*above 0"),
        ({"report": {"unit": "mm"}}, "report", r"report\['unit'\] is 'mm'"),
        ({"report": {"unit": {"other": 1.0}}}, "report", r"'other', which is not .*'m'"),
    ],
)
def test_bad_input_is_answered_with_the_fix(arguments, argument, message):
    with pytest.raises(DataError, match=message) as error:
        make_page(**({"maps": {"m": TWO}, "columns": {}} | arguments))
    assert error.value.argument == argument


def test_the_unit_belongs_to_the_map_or_to_those_named():
    one, two = {"a": np.eye(2)}, {"a": np.eye(2), "b": np.eye(2)}
    for maps, unit, expected in [
        (one, 2, [2]),
        (two, {"b": 3.5}, [None, 3.5]),
        (two, None, [None, None]),
    ]:
        header = header_of(make_page(maps, {}, report={"unit": unit, "r": 0.91234}).html)
        assert [map_["unit"] for map_ in header["maps"]] == expected
        assert header["report"] == [["r", "0.9123"]]
    with pytest.raises(DataError, match=r"unit.* is 2 for 2 maps.*by the name.*\{'b': 2\}"):
        make_page(two, {}, report={"unit": 2})


def test_what_is_of_a_map_is_kept_with_it():
    maps = {"a": np.eye(2), "b": np.eye(2)}
    report = {"a": {"unit": 2.0, "r": 0.5, "notes": ["of a"]}, "b": {"r": 0.25}}
    columns = {"residual": {"a": [1.0, 2], "b": [3.0, 4]}, "label": ["x", "y"]}
    header = header_of(make_page(maps, columns, report=report).html)
    assert header["report"] == []
    assert [map_["unit"] for map_ in header["maps"]] == [2.0, None]
    assert [map_["report"] for map_ in header["maps"]] == [
        {"rows": [["r", "0.5"]], "notes": ["of a"]},
        {"rows": [["r", "0.25"]], "notes": []},
    ]
    found = [(c["name"], c.get("map"), c.get("base")) for c in header["columns"]]
    assert found[:2] == [("residual in a", "a", "residual"), ("residual in b", "b", "residual")]
    assert found[2] == ("label", None, None)
    alone = header_of(make_page({"a": np.eye(2)}, {"residual": {"a": [1.0, 2]}}).html)
    assert alone["columns"][0]["name"] == "residual"


# Colours


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("n", "vision", "least"),
    [
        (12, "normal", 20),
        (12, "deuteranopia", 15),
        (20, "deuteranopia", 12),
        (20, "protanopia", 12),
    ],
)
def test_the_colours_that_the_page_gets_stay_apart_for_everyone(theme, n, vision, least):
    colours = header_of(a_page())["colours"][theme]
    shown = colours["categories"][:n]
    assert min_distance(shown, vision) > least
    for grey in (colours["other"], colours["missing"], colours["ground"]):
        for colour in shown:
            assert min_distance([grey, colour], vision) > 5
    assert min_distance(list(colours["flag"].values()), vision) > 15


def test_the_page_has_the_colours_of_pictures():
    colours = header_of(a_page())["colours"]
    assert colours["light"]["categories"] == _colors.categorical_colors(50)
    assert colours["dark"]["categories"] == _colors.categorical_colors(50, dark=True)
    assert colours["light"]["diverging"] == list(_colors.LIGHT.diverging)


def test_values_of_many_parts_are_texts():
    assert texts_of(column_of([{1}, {2}, None, {1}])) == texts_of(
        column_of(["{1}", "{2}", None, "{1}"])
    )

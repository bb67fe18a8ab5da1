"""Pictures: names, legends and what is missing."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from plot_support import blobs, least_distance, legend_texts, names_of, overlaps, pixels

from dtsne import plots
from dtsne.labels._format import shortened
from dtsne.labels._groups import group_by
from dtsne.plots import _palette as _colors
from dtsne.plots._coloring import ColorOptions, by_labels
from dtsne.plots._inputs import check_names
from dtsne.plots._names import Names, free_boxes, group_places, spread_boxes
from dtsne.runtime._errors import DataError

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(("k", "figsize"), [(10, (5, 5)), (10, (7, 4)), (25, (7, 7))])
def test_long_names_do_not_overlap(k, figsize):
    Y, labels = blobs(50 * k, k)
    Y *= [0.3, 1]  # so close that names would overlap where they belong
    names = [f"classical monocytes of kind {i}" for i in range(k)]
    ax = plots.scatter_map(Y, labels=labels, names=names, figsize=figsize)
    image = pixels(ax)
    assert image.std() > 0
    boxes, anchors = names_of(ax).arrange(ax.figure.canvas.get_renderer())
    assert overlaps(boxes) == []
    for box in boxes:
        assert ax.bbox.x0 <= box.x0
        assert box.x1 <= ax.bbox.x1
    # They were in one another's way before.
    sizes = np.array([(box.width, box.height) for box in boxes])
    moved = anchors - [(box.x0 + box.width / 2, box.y0 + box.height / 2) for box in boxes]
    assert (np.abs(moved) > 1).any()
    assert len(sizes) == k


@given(seeds, st.integers(1, 12))
def test_boxes_move_apart_where_there_is_room(seed, n):
    rng = np.random.default_rng(seed)
    anchors = rng.uniform(300, 500, size=(n, 2))
    sizes = np.column_stack([rng.uniform(20, 100, n), rng.uniform(8, 30, n)])
    low, high = np.zeros(2), np.full(2, 800.0)
    centers = spread_boxes(anchors, sizes, low, high)
    gaps = np.abs(centers[:, None] - centers[None]) - (sizes[:, None] + sizes[None]) / 2
    apart = (gaps >= 0).any(axis=-1) | np.eye(n, dtype=bool)
    assert apart.all()
    assert (centers - sizes / 2 >= low).all()
    assert (centers + sizes / 2 <= high).all()


def test_boxes_that_do_not_overlap_stay():
    anchors = np.array([[100.0, 100.0], [300.0, 100.0], [100.0, 300.0]])
    sizes = np.full((3, 2), 50.0)
    found = spread_boxes(anchors, sizes, np.zeros(2), np.full(2, 400.0))
    np.testing.assert_array_equal(found, anchors)


def test_boxes_in_one_place_part():
    found = spread_boxes(
        np.full((4, 2), 200.0), np.full((4, 2), 30.0), np.zeros(2), np.full(2, 400)
    )
    gaps = np.abs(found[:, None] - found[None]).max(axis=-1)[~np.eye(4, dtype=bool)]
    assert gaps.min() >= 30


def test_a_group_in_pieces_is_named_at_its_main_one():
    rng = np.random.default_rng(0)
    main, small = rng.normal(size=(600, 2)), 20 + rng.normal(size=(300, 2))
    places = group_places(np.vstack([main, small]), np.zeros(900, dtype=int), 2)
    assert np.linalg.norm(places.centers[0]) < 1.5
    assert np.isnan(places.centers[1]).all()


def test_a_group_in_two_pieces_is_named_in_the_midst_of_one():
    rng = np.random.default_rng(0)
    main, other = rng.normal(size=(1100, 2)), rng.normal((9, 0), 1, size=(800, 2))
    places = group_places(np.vstack([main, other]), np.zeros(1900, dtype=int), 1)
    assert np.linalg.norm(places.centers[0]) < 0.6
    assert places.reaches[0] < 3


def test_a_name_stands_above_a_group_that_it_would_cover():
    rng = np.random.default_rng(0)
    wide, tiny = 5 * rng.normal(size=(100, 2)), [40, 0] + 0.1 * rng.normal(size=(100, 2))
    ax = plots.scatter_map(np.vstack([wide, tiny]), labels=np.repeat([0, 1], 100), figsize=(8, 4))
    pixels(ax)
    boxes, _ = names_of(ax).arrange(ax.figure.canvas.get_renderer())
    top = ax.transData.transform((40, 0.1))[1]
    assert boxes[1].y0 > top
    middle = ax.transData.transform(np.median(wide, axis=0))[1]
    assert abs((boxes[0].y0 + boxes[0].y1) / 2 - middle) < 0.2 * ax.bbox.height


def test_names_on_the_map_need_no_legend():
    Y, labels = blobs()
    ax = plots.scatter_map(Y, labels=labels)
    assert [text.get_text() for text in names_of(ax).texts] == ["0", "1", "2"]
    assert legend_texts(ax) == []
    ax = plots.scatter_map(Y, labels=labels, legend=True)
    assert legend_texts(ax) == ["0", "1", "2"]
    ax = plots.scatter_map(Y, labels=labels, annotate=False)
    assert legend_texts(ax) == ["0", "1", "2"]
    assert not any(isinstance(artist, Names) for artist in ax.get_children())
    assert legend_texts(plots.scatter_map(Y, labels=labels, annotate=False, legend=False)) == []


def test_of_many_groups_the_largest_are_named_and_all_listed():
    Y, labels = blobs(400, 40)
    labels[:100] = 39
    ax = plots.scatter_map(Y, labels=labels)
    assert len(names_of(ax).texts) == 30
    assert "39" in [text.get_text() for text in names_of(ax).texts]
    assert len(legend_texts(ax)) == 40


LONG = "a population of cells with a long name, number {}"


@pytest.mark.parametrize("k", [36, 200])
@pytest.mark.parametrize("name", ["{}", LONG])
@pytest.mark.parametrize("given", ["new", None, "constrained"])
def test_a_long_legend_leaves_the_map_its_room(k, name, given):
    Y, labels = blobs(10 * k, k)
    names = [name.format(i) for i in range(k)]
    new = Figure(figsize=(6, 6), layout=given if given != "new" else None).add_subplot()
    wanted = 6.0 if given == "new" else 6.0 * new.get_position().width
    ax = plots.scatter_map(Y, labels=labels, names=names, ax=None if given == "new" else new)
    pixels(ax)
    assert ax.bbox.width / ax.figure.dpi > 0.6 * wanted - 0.1
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.bbox.x1
    assert legend.x1 <= ax.figure.bbox.x1 + 1
    shown = legend_texts(ax)
    assert len(set(shown)) == len(shown) <= 60
    if len(shown) < k:
        assert shown[-1] == f"… and {k - len(shown) + 1} more"


def test_of_many_groups_the_legend_lists_the_largest():
    Y, labels = blobs(2000, 100)
    labels[:300] = 99
    ax = plots.scatter_map(Y, labels=labels)
    assert len(legend_texts(ax)) == 60
    assert legend_texts(ax)[-2:] == ["99", "… and 41 more"]


def test_names_beside_a_legend_do_not_overlap_nor_hide_the_map():
    Y, labels = blobs(400, 40)
    figure = Figure(figsize=(5, 4))
    names = [LONG.format(i) for i in range(40)]
    ax = plots.scatter_map(Y, labels=labels, names=names, ax=figure.add_subplot())
    pixels(ax)
    placed = names_of(ax)
    boxes, _ = placed.arrange(figure.canvas.get_renderer())
    room = ax.bbox.width * ax.bbox.height
    drawn = free_boxes(np.array([b.extents for b in boxes]), placed.places.sizes, 0.1 * room)
    assert 0 < len(drawn) < 30
    assert overlaps([boxes[i] for i in drawn]) == []
    assert sum(boxes[i].width * boxes[i].height for i in drawn) < 0.1 * room


def test_panels_keep_their_size_beside_a_long_legend():
    Y, labels = blobs(600, 60)
    names = [LONG.format(i) for i in range(60)]
    figure = plots.side_by_side({"a": Y, "b": Y}, labels=labels, names=names)
    pixels(figure.axes[0])
    for ax in figure.axes:
        assert ax.bbox.width / figure.dpi > 0.9 * 4.0
    assert figure.legends[0].get_window_extent().x0 >= figure.axes[-1].bbox.x1


def test_radii_keep_their_room_beside_a_long_legend():
    Y, labels = blobs(600, 60)
    ax = plots.radius_plot(*Y.T, labels=labels, names=[LONG.format(i) for i in range(60)])
    pixels(ax)
    assert ax.bbox.width / ax.figure.dpi > 0.6 * 5.0


def test_names_that_differ_at_the_end_still_do_when_they_are_cut():
    Y, labels = blobs()
    names = ["x" * 50 + end for end in "abc"]
    ax = plots.scatter_map(Y, labels=labels, names=names, legend=True)
    assert len(set(legend_texts(ax))) == 3
    assert max(map(len, legend_texts(ax))) <= 36
    assert len({text.get_text() for text in names_of(ax).texts}) == 3
    assert shortened(["a" * 40, "b"], 10) == ["a" * 9 + "…", "b"]


def test_labels_that_are_empty_are_written_so():
    assert check_names(None, ("", "  ", "a")) == ("(empty)", "(empty)", "a")


def test_labels_with_very_many_digits_have_an_order():
    long = "9" * 5000
    names = group_by([f"c{long}", "c10", "c9", "c007"], 4).names
    assert names.tolist() == ["c007", "c9", "c10", f"c{long}"]


@pytest.mark.parametrize(
    "labels",
    [
        [0.0, 1.0, np.nan] * 20,
        ["a", "b", None] * 20,
        pytest.param("pandas", id="pandas.NA"),
    ],
)
def test_missing_labels_are_grey_beneath_and_listed(labels):
    if isinstance(labels, str):
        pd = pytest.importorskip("pandas")
        labels = pd.Series(["a", "b", pd.NA] * 20, dtype="object")
    ax = plots.scatter_map(blobs(60)[0], labels=labels)
    assert legend_texts(ax) == ["missing"]
    colors = [to_hex(color).upper() for color in ax.collections[0].get_facecolors()]
    assert set(colors[:20]) == {_colors.LIGHT.missing}
    assert _colors.LIGHT.missing not in colors[20:]
    ax = plots.scatter_map(blobs(60)[0], labels=labels, annotate=False)
    assert legend_texts(ax)[-1] == "missing"
    assert len(legend_texts(ax)) == 3


def test_missing_values_are_grey_and_listed():
    Y, _ = blobs(60)
    values = np.where(np.arange(60) < 5, np.nan, Y[:, 0])
    ax = plots.scatter_map(Y, values=values)
    assert legend_texts(ax) == ["missing"]
    colors = [to_hex(color).upper() for color in ax.collections[0].get_facecolors()]
    assert colors.count(_colors.LIGHT.missing) == 5
    assert set(colors[:5]) == {_colors.LIGHT.missing}
    assert legend_texts(plots.scatter_map(Y, values=Y[:, 0])) == []


def test_integers_stay_integers_where_some_are_missing():
    Y, labels = blobs()
    ax = plots.scatter_map(Y, labels=np.where(np.arange(300) < 9, np.nan, labels))
    assert [text.get_text() for text in names_of(ax).texts] == ["0", "1", "2"]


@pytest.mark.parametrize("width", [6, 1.5])
def test_a_legend_is_seen_on_axes_that_nothing_lays_out(width):
    Y, labels = blobs()
    ax = Figure(figsize=(width, 4)).add_subplot()
    plots.scatter_map(Y, labels=labels, names=["a long name"] * 3, legend=True, ax=ax)
    pixels(ax)
    room, box = ax.figure.bbox, ax.get_legend().get_window_extent()
    assert box.x1 <= room.x1 + 1
    # Beside the map if there is room for both.
    assert (box.x0 > ax.bbox.x1) == (width == 6)


def inks(ax):
    """Colours of all that is written or drawn over the points, and where: on or beside axes."""
    from matplotlib.text import Text

    on = [text.get_color() for text in names_of(ax).texts] if annotated(ax) else []
    on += [ax.collections[-1].get_edgecolor()[0]] if len(ax.collections) > 1 else []
    on += [line.get_color() for line in ax.lines]
    beside = [ax.title.get_color(), *(t.get_color() for t in ax.get_legend().get_texts())]
    for other in ax.figure.axes:
        ticks = [*other.get_xticklabels(), *other.get_yticklabels()]
        written = [t for t in [*ticks, other.title, other.yaxis.label] if t.get_text()]
        beside += [text.get_color() for text in written]
    for artist in ax.get_children():
        if type(artist).__name__ == "AnchoredOffsetbox":
            beside += [text.get_color() for text in artist.findobj(Text)]
    return on, beside


def annotated(ax):
    return any(isinstance(artist, Names) for artist in ax.get_children())


@pytest.mark.parametrize(("axes", "figure"), [("black", "black"), ("black", "white")])
def test_everything_is_seen_on_a_dark_ground(axes, figure):
    Y, labels = blobs()
    values = np.where(np.arange(300) < 9, np.nan, Y[:, 0])
    with mpl.rc_context({"axes.facecolor": axes, "figure.facecolor": figure}):
        drawn = [
            plots.scatter_map(Y, labels=labels, legend=True, unit=1.0, title="a"),
            plots.residual_map(Y, values, unit=1.0, title="b"),
            plots.radius_plot(*Y.T, labels=labels, title="c"),
        ]
        plots.iso_radius_glyphs(drawn[0], Y, np.ones(300), unit=1.0)
    for ax in drawn:
        on, beside = inks(ax)
        assert on or ax is drawn[1]
        for colors, ground in ((on, axes), (beside, figure)):
            for color in colors:
                assert least_distance([color, ground]) > 50


def test_odd_names_are_written_as_they_are():
    Y, labels = blobs()
    names = ["_hidden", "cost $1 or $2", "x" * 80]
    ax = plots.scatter_map(Y, labels=labels, names=names, legend=True)
    pixels(ax)
    shown = legend_texts(ax)
    assert [text.strip() for text in shown] == ["_hidden", "cost $1 or $2", "x" * 35 + "…"]


def test_the_order_of_labels_is_natural_or_that_of_their_categories():
    def legend_of(labels):
        return legend_texts(plots.scatter_map(blobs(3)[0], labels=labels, legend=True))

    assert legend_of(["c10", "c9", "c1"]) == ["c1", "c9", "c10"]
    assert legend_of([3, 1, 2]) == ["1", "2", "3"]
    assert legend_of(np.array([True, False, True])) == ["False", "True"]
    assert legend_of(["b", float("nan"), "a"]) == ["a", "b", "missing"]
    days = np.array(["2020-02-01", "NaT", "2020-01-01"], "datetime64[ns]")
    assert legend_of(days) == ["2020-01-01", "2020-02-01", "missing"]
    mixed = group_by(np.array(["a", 2, None, 1], dtype=object), 4, to_show=True)
    assert mixed.names.tolist() == [1, 2, "a"]
    assert mixed.codes.tolist() == [2, 1, -1, 0]
    assert legend_of(np.array(["a", 2, 1], dtype=object)) == ["1", "2", "a"]
    pd = pytest.importorskip("pandas")
    column = pd.Categorical(["x", None, "z"], categories=["z", "y", "x"])
    for labels in (column, pd.Series(column)):
        groups = group_by(labels, 3, to_show=True)
        assert groups.names.tolist() == ["z", "y", "x"]
        assert groups.codes.tolist() == [2, -1, 0]
        assert legend_of(labels) == ["z", "x", "missing"]


def test_names_by_label_or_by_index():
    assert check_names({"a": "Anna"}, ("a", "b")) == ("Anna", "b")
    assert check_names(None, (3.0, 1234567.0, 1234568.5)) == ("3", "1234567", "1234568.5")
    assert check_names(["Anna", "Berta"], (1,)) == ("Berta",)
    for labels in (("a",), (7,)):
        with pytest.raises(DataError, match="dict from label to name") as error:
            check_names(["Anna"], labels)
        assert error.value.argument == "names"


def test_colours_by_label_or_in_order():
    Y, labels = blobs()
    for colors in ({0: "red", 1: "lime", 2: "blue"}, ["red", "lime", "blue"]):
        ax = plots.scatter_map(Y, labels=labels, colors=colors)
        drawn = {to_hex(color) for color in ax.collections[0].get_facecolors()}
        assert drawn == {"#ff0000", "#00ff00", "#0000ff"}
    for colors in (["red"], {0: "red"}):
        with pytest.raises(DataError, match="one colour for each label") as error:
            plots.scatter_map(Y, labels=labels, colors=colors)
        assert error.value.argument == "colors"


def test_color_is_one_colour_labels_or_values():
    Y, labels = blobs()
    assert {to_hex(c) for c in plots.scatter_map(Y, "red").collections[0].get_facecolors()} == {
        "#ff0000"
    }
    assert len(names_of(plots.scatter_map(Y, labels)).texts) == 3
    assert len(plots.scatter_map(Y, Y[:, 0]).figure.axes) == 2  # with a bar
    assert len(plots.scatter_map(Y).figure.axes) == 1


@pytest.mark.parametrize("kind", ["days", "times", "numpy", "intervals", "numbers"])
def test_colours_and_names_are_given_by_labels_of_any_kind(kind):
    pandas = pytest.importorskip("pandas")
    codes = np.arange(60) % 3
    different = {
        "days": [date(2024, 1, 5), date(2023, 12, 1), date(2024, 10, 2)],
        "times": [pandas.Timestamp(f"2024-01-0{i} 10:00") for i in (3, 1, 2)],
        "numpy": list(np.array(["2024-01-05", "2023-12-01", "2024-10-02"], "datetime64[ns]")),
        "intervals": list(pandas.cut([1.0, 2.0, 3.0], 3)),
        "numbers": [np.int64(3), np.float32(1.5), 2],
    }[kind]
    labels = np.empty(60, dtype=object)
    labels[:] = [different[code] for code in codes]
    reds, written = ["#110000", "#220000", "#330000"], ["a", "b", "c"]
    options = ColorOptions(
        colors=dict(zip(different, reds, strict=True)),
        names=dict(zip(different, written, strict=True)),
    )
    found = by_labels(labels, 60, options)
    shown = [(found.names[code], to_hex(found.palette[code])) for code in found.groups.codes]
    assert shown == [(written[code], reds[code]) for code in codes]

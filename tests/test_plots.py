"""Pictures: what is on the axes, and what the pixels show."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from dtsne import _colors, plots
from dtsne._labels import group_by
from dtsne._naming import shortened
from dtsne.plots import _raster
from dtsne.plots._coloring import ColorOptions, by_labels, by_values
from dtsne.plots._colormaps import diverging_colormap, rgb
from dtsne.plots._density import spread_points
from dtsne.plots._inputs import check_names
from dtsne.plots._names import Names
from dtsne.plots._places import free_boxes, group_places, spread_boxes
from dtsne.plots._style import local_density, point_style
from dtsne.plots._ticks import factor_ticks, radius_ticks, round_down

seeds = st.integers(0, 2**32 - 1)
VISIONS = ["normal", "deuteranopia", "protanopia"]


def blobs(n=300, k=3, seed=0):
    """Groups around the corners of a wide grid, and the group of each point."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    side = int(np.ceil(np.sqrt(k)))
    centres = 10.0 * np.column_stack([np.arange(k) % side, np.arange(k) // side])
    return centres[labels] + rng.normal(size=(n, 2)), labels


def pixels(ax):
    """Draw the figure; return its pixels, rows from the bottom."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(ax.figure.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[::-1, :, :3]


def pixel_at(ax, place):
    image = pixels(ax)
    column, row = ax.transData.transform(place).astype(int)
    return to_hex(image[row, column] / 255).upper()


def names_of(ax):
    return next(artist for artist in ax.get_children() if isinstance(artist, Names))


def least_distance(colors, vision="normal"):
    return _colors.least_distance([to_hex(color) for color in colors], vision)


def legend_texts(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


# Colours


def test_lab_of_known_colours():
    found = _colors.lab(rgb(["#FFFFFF", "#000000", "red", "#0000FF"]))
    expected = [[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20], [32.30, 79.19, -107.86]]
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_light_there_and_back():
    grey = np.linspace(0, 1, 50)
    np.testing.assert_allclose(_colors.to_srgb(_colors.to_linear(grey)), grey, atol=1e-6)


def test_up_to_eight_colours_are_those_of_okabe_and_ito():
    known = {"#000000", "#E69F00", "#56B4E9", "#009E73"}
    known |= {"#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert set(plots.categorical_colors(8)) == known


def test_a_list_of_colours_begins_every_longer_one():
    longest = plots.categorical_colors(40)
    assert len(set(longest)) == 40
    for n in (0, 3, 8, 9, 25):
        assert plots.categorical_colors(n) == longest[:n]


@pytest.mark.parametrize("n", [-1, 201])
def test_impossible_numbers_of_colours_are_refused(n):
    with pytest.raises(ValueError, match="from 0 to 200"):
        plots.categorical_colors(n)


@pytest.mark.parametrize(
    ("n", "vision", "least"),
    [
        (10, "normal", 26),
        (10, "deuteranopia", 17),
        (20, "normal", 26),
        (20, "deuteranopia", 13.5),
        (20, "protanopia", 14),
        (25, "normal", 19.5),
        (25, "deuteranopia", 11),
        (25, "protanopia", 13),
    ],
)
def test_colours_stay_apart_for_everyone(n, vision, least):
    assert least_distance(plots.categorical_colors(n), vision) > least


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_farther_apart_than_those_of_tab20(vision):
    ours = least_distance(plots.categorical_colors(20), vision)
    theirs = least_distance(mpl.colormaps["tab20"].colors, vision)
    assert ours > theirs
    if vision != "normal":
        assert ours > 4 * theirs


@pytest.mark.parametrize("vision", VISIONS)
def test_no_group_has_the_grey_of_what_is_missing(vision):
    for color in plots.categorical_colors(25):
        assert least_distance([color, _colors.LIGHT.missing], vision) > 11
        assert least_distance([color, "white"], vision) > 12


def test_diverging_colours_are_seen_on_white_and_differ_from_missing():
    shades = diverging_colormap()(np.linspace(0, 1, 101))[:, :3]
    for color in shades:
        assert least_distance([color, "white"]) > 20
    assert least_distance([shades[50], _colors.LIGHT.missing]) > 15
    lightness = _colors.lab(shades)[:, 0]
    assert (np.diff(lightness[:51]) > 0).all()
    assert (np.diff(lightness[50:]) < 0).all()


# Size and opacity


def test_more_points_are_smaller_and_then_fainter():
    styles = [point_style(blobs(n)[0], 350, 350) for n in (100, 2_000, 20_000, 100_000)]
    diameters = [style.diameter for style in styles]
    alphas = [style.alpha for style in styles]
    assert diameters == sorted(diameters, reverse=True)
    assert alphas == sorted(alphas, reverse=True)
    assert diameters[0] > 4
    assert diameters[-1] >= 1.2
    assert 0.12 <= alphas[-1] < 0.5 < 0.8 < alphas[0] < 1


def test_a_larger_figure_has_larger_points():
    Y, _ = blobs(5_000)
    assert point_style(Y, 700, 700).diameter > 1.5 * point_style(Y, 350, 350).diameter


@given(seeds, st.floats(1e-3, 1e3))
def test_style_depends_on_neither_place_nor_unit(seed, unit):
    Y, _ = blobs(200, seed=seed)
    style, moved = point_style(Y, 300, 300), point_style(unit * (Y + 7), 300, 300)
    assert moved.diameter == pytest.approx(style.diameter, rel=0.05)
    assert moved.alpha == pytest.approx(style.alpha, rel=0.1)


def test_density_is_that_of_the_paper():
    rng = np.random.default_rng(0)
    density = local_density(rng.uniform(size=(40_000, 2)), 200, 200)
    assert np.median(density) == pytest.approx(1, rel=0.5)  # 40,000 on 200 × 200


# Pixels


@pytest.fixture(scope="module")
def million():
    return blobs(1_000_000, 4)


def test_pixels_count_a_million_points(million):
    Y, _ = million
    grid = _raster.make_grid(Y, 4.0, 4.0)
    counts = _raster.count_pixels(Y, grid)
    left, right, bottom, top = grid.extent
    rows, columns = grid.shape
    edges = np.linspace(bottom, top, rows + 1), np.linspace(left, right, columns + 1)
    expected, *_ = np.histogram2d(Y[:, 1], Y[:, 0], bins=edges)
    assert counts.sum() == 1_000_000
    # Rounding at the very edge of a pixel may put a point next door.
    assert np.abs(counts - expected).sum() <= 4
    assert max(rows, columns) == pytest.approx(4 * _raster.PIXELS_PER_INCH, abs=4)
    assert left < Y[:, 0].min()
    assert top > Y[:, 1].max()


def test_a_million_points_are_drawn_as_an_image(million):
    Y, labels = million
    ax = plots.scatter_map(Y, labels=labels, figsize=(3, 3), annotate=False)
    assert len(ax.images) == 1
    assert len(ax.collections) == 0
    # In the midst of each group there is nothing but its colour.
    for group, color in enumerate(plots.categorical_colors(4)):
        middle = np.median(Y[labels == group], axis=0)
        shown = pixel_at(ax, middle)
        assert least_distance([shown, color]) < 12
    assert pixel_at(ax, (5, 5)) == "#FFFFFF"


def test_few_points_are_drawn_as_points():
    ax = plots.scatter_map(blobs()[0])
    assert len(ax.images) == 0
    assert len(ax.collections[0].get_offsets()) == 300


def test_colours_mix_by_numbers_as_light():
    Y = np.vstack([np.zeros((4, 2)), [[30, 30]]])
    coloring = by_labels(
        ["red", "red", "red", "blue", "far"],
        5,
        ColorOptions(colors={"red": "#FF0000", "blue": "#0000FF", "far": "black"}),
    )
    grid = _raster.make_grid(Y, 1, 1)
    image = coloring.of_pixels(Y, grid).reshape(-1, 3)
    mixed = image[grid.pixels(Y)[0]]
    np.testing.assert_allclose(_colors.to_linear(mixed), [0.75, 0, 0.25], atol=1e-6)


def test_values_are_averaged_in_a_pixel():
    Y = np.vstack([np.zeros((2, 2)), [[30, 30]]])
    quantity = by_values([1.0, 3.0, np.nan], 3, ColorOptions(limits=(0, 4)))
    grid = _raster.make_grid(Y, 1, 1)
    image = quantity.of_pixels(Y, grid).reshape(-1, 3)
    middle = mpl.colormaps["viridis"](0.5)[:3]
    np.testing.assert_allclose(image[grid.pixels(Y)[0]], middle)
    assert np.isnan(_raster.mean_per_pixel(Y[:2], np.ones((2, 1)), grid)).any()


def test_missing_points_do_not_tint_pixels():
    Y = np.vstack([np.zeros((10, 2)), [[30, 30]] * 10])
    labels = [0.0] + [np.nan] * 19
    ax = plots.scatter_map(Y, labels=labels, rasterize=True, annotate=False)
    image = np.asarray(ax.images[0].get_array())
    drawn = image[image[..., 3] > 0][:, :3]
    colors = {to_hex(color).upper() for color in drawn}
    assert colors == {plots.categorical_colors(1)[0], _colors.LIGHT.missing}


@pytest.mark.parametrize("scale", ["log", "equalize"])
@given(counts=st.lists(st.integers(0, 10_000), min_size=2, max_size=60))
def test_opacity_grows_with_the_count(scale, counts):
    counts = np.array(counts, dtype=float)
    alpha = _raster.opacity(counts, scale)
    order = np.argsort(counts)
    assert (np.diff(alpha[order]) >= 0).all()
    assert (alpha[counts == 0] == 0).all()
    assert ((alpha[counts > 0] > 0.3) & (alpha <= 1)[counts > 0]).all()


def test_one_place_and_one_point_are_drawn():
    for Y in ([[1.0, 2.0]], [[1.0, 2.0]] * 5):
        for rasterize in (True, False):
            ax = plots.scatter_map(Y, rasterize=rasterize)
            assert (pixels(ax) != 255).any()
            assert (pixels(ax)[50:-50, 50:-50] != 255).any(axis=2).mean() < 0.01


# The axes of a map


@pytest.mark.parametrize("figsize", [(6, 3), (3, 6), (4, 4)])
@pytest.mark.parametrize("rasterize", [True, False])
@pytest.mark.parametrize("values", [True, False])
def test_units_are_as_long_in_x_as_in_y(figsize, rasterize, values):
    Y, labels = blobs()
    what = {"values": Y[:, 0]} if values else {"labels": labels}
    ax = plots.scatter_map(Y * [3, 1], figsize=figsize, rasterize=rasterize, unit=1.0, **what)
    pixels(ax)
    origin, right, up = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
    assert right[0] - origin[0] == pytest.approx(up[1] - origin[1], rel=1e-3)
    (left, end), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < 3 * Y[:, 0].min()
    assert end > 3 * Y[:, 0].max()
    assert bottom < Y[:, 1].min()
    assert top > Y[:, 1].max()
    assert len(ax.get_xticks()) == len(ax.get_yticks()) == 0


def test_axes_that_share_limits_are_equal_too():
    figure = Figure(figsize=(6, 3))
    first, second = figure.subplots(1, 2, sharex=True, sharey=True)
    Y, _ = blobs()
    plots.scatter_map(Y, ax=first)
    plots.scatter_map(2 * Y, ax=second)
    pixels(first)
    for ax in (first, second):
        origin, right, up = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
        assert right[0] - origin[0] == pytest.approx(up[1] - origin[1])


def test_groups_have_their_colours_on_the_paper():
    Y, labels = blobs(60)
    Y = np.where(np.arange(60)[:, None] < 3, np.round(Y / 10) * 10, Y)  # one in each middle
    ax = plots.scatter_map(Y, labels=labels, alpha=1.0, point_size=60, annotate=False)
    for group, color in enumerate(plots.categorical_colors(3)):
        members = np.flatnonzero(labels == group)
        assert pixel_at(ax, Y[members[0]]) == color


def test_given_axes_are_drawn_on_and_returned():
    ax = Figure().add_subplot()
    assert plots.scatter_map(blobs()[0], ax=ax, title="a map") is ax
    assert ax.get_title() == "a map"


def test_the_order_is_random_and_seeded():
    Y, labels = blobs(400)
    labels = np.sort(labels)

    def drawn(seed):
        ax = plots.scatter_map(Y, labels=labels, random_state=seed)
        return np.asarray(ax.collections[0].get_offsets()), ax.collections[0].get_facecolors()

    first, colors = drawn(0)
    np.testing.assert_array_equal(first, drawn(0)[0])
    assert (first != drawn(1)[0]).any()
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(Y, axis=0))
    # Groups take turns: about two thirds of all neighbours in the order are of different ones.
    changes = (np.diff(colors[:, :3], axis=0) != 0).any(axis=1).mean()
    assert 0.55 < changes < 0.8
    # And every point keeps its own colour.
    palette = dict(enumerate(plots.categorical_colors(3)))
    group_at = {tuple(place): group for place, group in zip(Y, labels, strict=True)}
    for place, color in zip(first, colors, strict=True):
        assert to_hex(color[:3]).upper() == palette[group_at[tuple(place)]]


def test_nothing_global_changes():
    before = dict(mpl.rcParams)  # the backend is one of them
    Y, labels = blobs()
    pixels(plots.scatter_map(Y, labels=labels, unit=2.0))
    plots.residual_map(Y, Y[:, 0])
    plots.side_by_side({"a": Y, "b": Y}, labels=labels)
    plots.radius_plot(Y[:, 0], Y[:, 1])
    assert dict(mpl.rcParams) == before
    assert "backend" in before


def run(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_matplotlib_is_loaded_only_to_draw_and_pyplot_never():
    script = (
        "import sys, numpy as np; from dtsne import plots;"
        "print('matplotlib' in sys.modules, 'scipy' in sys.modules);"
        "ax = plots.scatter_map(np.eye(2), labels=[0, 1], unit=1.0);"
        "import io; ax.figure.savefig(io.BytesIO());"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    assert run(script) == ["False", "False", "False"]


def test_without_matplotlib_the_fix_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "dtsne\[plot\]"'):
        plots.scatter_map(np.eye(2))


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_vector_files_hold_names_as_texts(kind):
    Y, labels = blobs()
    ax = plots.scatter_map(Y, labels=labels, names={0: "the first"}, unit=1.0)
    file = io.BytesIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        ax.figure.savefig(file, format=kind)
    assert len(file.getvalue()) > 1000
    if kind == "svg":
        assert b"the first" in file.getvalue()


# Names and legends


def overlaps(boxes):
    return [
        (i, j)
        for i in range(len(boxes))
        for j in range(i)
        if boxes[i].x0 < boxes[j].x1
        and boxes[j].x0 < boxes[i].x1
        and boxes[i].y0 < boxes[j].y1
        and boxes[j].y0 < boxes[i].y1
    ]


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


def test_no_group_is_black_on_black():
    Y, labels = blobs(80, 8)
    with mpl.rc_context({"axes.facecolor": "black"}):
        ax = plots.scatter_map(Y, labels=labels)
    drawn = {to_hex(color).upper() for color in ax.collections[0].get_facecolors()}
    assert drawn == {*plots.categorical_colors(7), "#FFFFFF"}


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_for_a_dark_ground_are_seen_there_and_stay_apart(vision):
    ground = _colors.DARK
    colors = plots.categorical_colors(20, dark=True)
    assert least_distance(colors, vision) > 12
    for color in colors:
        assert least_distance([color, ground.color], vision) > 30
        assert least_distance([color, ground.missing], vision) > 5
    for shade in (*ground.sequential, *ground.diverging):
        assert least_distance([shade, ground.color]) > 25
        assert least_distance([shade, ground.missing]) > 15


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
        with pytest.raises(ValueError, match="dict from label to name"):
            check_names(["Anna"], labels)


def test_colours_by_label_or_in_order():
    Y, labels = blobs()
    for colors in ({0: "red", 1: "lime", 2: "blue"}, ["red", "lime", "blue"]):
        ax = plots.scatter_map(Y, labels=labels, colors=colors)
        drawn = {to_hex(color) for color in ax.collections[0].get_facecolors()}
        assert drawn == {"#ff0000", "#00ff00", "#0000ff"}
    with pytest.raises(ValueError, match="one for each"):
        plots.scatter_map(Y, labels=labels, colors=["red"])


def test_color_is_one_colour_labels_or_values():
    Y, labels = blobs()
    assert {to_hex(c) for c in plots.scatter_map(Y, "red").collections[0].get_facecolors()} == {
        "#ff0000"
    }
    assert len(names_of(plots.scatter_map(Y, labels)).texts) == 3
    assert len(plots.scatter_map(Y, Y[:, 0]).figure.axes) == 2  # with a bar
    assert len(plots.scatter_map(Y).figure.axes) == 1


# Distances of the data


@pytest.mark.parametrize("unit", [0.01, 1.0, 7.3, 1e4])
def test_the_bar_is_as_long_as_it_says(unit):
    ax = plots.scatter_map(blobs()[0], color="white", unit=unit, figsize=(5, 5))
    from matplotlib.offsetbox import AnchoredOffsetbox, TextArea

    box = next(artist for artist in ax.get_children() if isinstance(artist, AnchoredOffsetbox))
    text = next(child for child in box.findobj(TextArea)).get_text()
    assert text.startswith("radius ")
    assert text.endswith(" in the data")
    length = text.split()[1]
    image = pixels(ax)
    dark = (image.max(axis=2) < 30).sum(axis=1)
    per_unit = np.diff(ax.transData.transform([(0, 0), (1, 0)])[:, 0])[0]
    # The bar is the longest run of black in its rows.
    assert dark.max() == pytest.approx(float(length) / unit * per_unit, abs=60)
    rows = image[: int(ax.bbox.y0)]
    runs = (rows.max(axis=2) < 30).astype(int)
    longest = max(len(run) for row in runs for run in "".join(map(str, row)).split("0"))
    assert longest == pytest.approx(float(length) / unit * per_unit, abs=3)


def test_a_unit_is_the_factor_between_radii():
    rng = np.random.default_rng(0)
    in_map = rng.normal(size=50)
    in_data = in_map + np.log(7.0) + 0.1 * np.sign(np.arange(50) - 24.5)
    in_data[24] = in_map[24] + np.log(7.0)  # and 23 on either side of it
    in_data[25], in_map[3], in_map[30] = np.inf, np.nan, np.nan
    assert plots.radius_unit(in_data, in_map) == pytest.approx(7.0)
    with pytest.raises(ValueError, match="nothing to compare"):
        plots.radius_unit([np.nan], [1.0])


def test_the_bar_of_a_tall_map_is_as_wide_as_others():
    Y, _ = blobs()
    ax = plots.scatter_map(Y * [0.01, 1], unit=1.0)
    pixels(ax)
    box = next(a for a in ax.get_children() if type(a).__name__ == "AnchoredOffsetbox")
    line = next(iter(box.findobj(mpl.lines.Line2D)))
    length = np.ptp(line.get_xdata()) / np.diff(ax.get_xlim())[0]
    assert 0.05 < length < 0.15


def test_the_bar_and_what_is_missing_stand_apart():
    Y, _ = blobs()
    values = np.where(np.arange(300) < 9, np.nan, Y[:, 0])
    ax = plots.residual_map(Y, values, unit=1.0, figsize=(3, 3))
    pixels(ax)
    box = next(a for a in ax.get_children() if type(a).__name__ == "AnchoredOffsetbox")
    bar = ax.figure.axes[1]
    assert (bar.get_xlabel(), bar.get_title()) == ("drawn\ntoo tight", "drawn\ntoo wide")
    placed = [box.get_window_extent(), ax.get_legend().get_window_extent()]
    assert overlaps([*placed, bar.xaxis.label.get_window_extent()]) == []


def test_a_bar_of_a_given_length_and_text():
    ax = plots.scatter_map(blobs()[0])
    assert plots.density_scale_bar(ax, 2.0, length=3.0, text="{length} mm", loc="lower left") is ax
    assert (pixels(ax) != 255).any()
    with pytest.raises(ValueError, match="positive distance"):
        plots.density_scale_bar(ax, 2.0, length=0)


@pytest.mark.parametrize("unit", [0, -1, np.nan, [1, 2]])
def test_a_unit_has_to_be_a_length(unit):
    with pytest.raises(ValueError, match=r"dtsne\.plots\.radius_unit"):
        plots.scatter_map(blobs()[0], unit=unit)


@given(st.floats(1e-6, 1e6))
def test_round_lengths_are_round_and_not_above(value):
    found = round_down(value)
    assert value / 2.51 < found <= value * (1 + 1e-8)
    assert f"{found:.0e}"[0] in "125"


def test_ticks_of_radii_and_factors():
    assert list(radius_ticks(0.9, 11).values()) == ["1", "2", "5", "10"]
    assert next(iter(radius_ticks(1e-4, 1e4).values())) == "0.0001"
    assert len(radius_ticks(1e-50, 1e50)) <= 9
    narrow = radius_ticks(10.2, 11.9)
    assert 2 <= len(narrow) <= 5
    assert list(factor_ticks(2.2).values()) == [
        "÷ 2",
        "÷ 1.5",
        "÷ 1.2",
        "1",
        "× 1.2",
        "× 1.5",
        "× 2",
    ]
    for position, text in {**radius_ticks(0.9, 11), **narrow}.items():
        assert np.exp(position) == pytest.approx(float(text))


def test_a_map_of_radii_is_labelled_with_radii():
    Y, _ = blobs()
    radius = np.exp(Y[:, 0] / 10)
    ax = plots.radius_map(Y, np.log(radius))
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "radius in the data"
    for tick in bar.get_yticklabels():
        assert np.log(float(tick.get_text())) == pytest.approx(tick.get_position()[1])
    # Dense is dark.
    places = np.asarray(ax.collections[0].get_offsets())
    light = _colors.lab(ax.collections[0].get_facecolors()[:, :3])[:, 0]
    assert np.corrcoef(places[:, 0], light)[0, 1] > 0.9


def test_a_map_of_residuals_is_blue_where_too_tight_and_red_where_too_wide():
    Y, _ = blobs()
    residual = np.where(np.arange(300) < 100, -0.5, 0.25)
    ax = plots.residual_map(Y, residual)
    group = {tuple(place): r for place, r in zip(Y, residual, strict=True)}
    offsets = np.asarray(ax.collections[0].get_offsets())
    for place, color in zip(offsets, ax.collections[0].get_facecolors(), strict=True):
        red, _, blue = color[:3]
        assert (blue > red) == (group[tuple(place)] < 0)
    low, high = ax.figure.axes[1].get_ylim()
    assert low == pytest.approx(-high)


def test_a_few_far_values_do_not_take_all_colours():
    quantity = by_values([*np.linspace(0, 1, 999), 1e6], 1000)
    assert quantity.limits[1] < 1.01
    assert quantity.exceeds == (True, True)
    assert by_values([2.0, 2.0], 2).limits == (1.5, 2.5)
    assert by_values([np.nan, np.nan], 2).limits == (0.0, 1.0)
    low, high = by_values(np.full(9, 1e20), 9).limits
    assert low < 1e20 < high
    counts = np.r_[np.zeros(4980), np.arange(1.0, 21)]
    assert by_values(counts, 5000).limits == (0, 20)
    assert by_values(counts, 5000, ColorOptions(center=0.0)).limits == (-20, 20)
    centred = by_values([-1.0, 3.0], 2, ColorOptions(center=0.0)).limits
    assert centred[0] == -centred[1]


def test_circles_have_the_radii_of_the_data():
    Y, labels = blobs(600)
    radius = np.array([0.5, 1.0, 2.0])[labels]
    ax = plots.scatter_map(Y, labels=labels)
    assert plots.iso_radius_glyphs(ax, Y, radius, unit=2.0, n=25) is ax
    circles = ax.collections[-1]
    places = np.asarray(circles.get_offsets())
    assert 5 <= len(places) <= 25
    radius_at = {tuple(place): r for place, r in zip(Y, radius, strict=True)}
    expected = np.array([radius_at[tuple(place)] / 2.0 for place in places])
    np.testing.assert_allclose(2 * circles._widths, 2 * expected)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    reach = expected[:, None] + expected[None]
    assert (apart >= reach)[~np.eye(len(places), dtype=bool)].all()


def test_circles_are_as_large_on_the_paper():
    Y = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    ax = plots.scatter_map(Y, color="white", figsize=(4, 4))
    plots.iso_radius_glyphs(ax, Y, [np.nan, np.nan, np.nan, 4.0], unit=2.0, color="red")
    image = pixels(ax).astype(int)
    rows, columns = np.nonzero((image[..., 0] > 200) & (image[..., 1] < 80))
    per_unit = np.diff(ax.transData.transform([(0, 0), (1, 0)])[:, 0])[0]
    assert np.ptp(columns) == pytest.approx(4 * per_unit, abs=3)
    assert np.ptp(rows) == pytest.approx(4 * per_unit, abs=3)


def test_circles_come_with_a_map_if_there_is_none():
    Y, _ = blobs()
    ax = plots.iso_radius_glyphs(None, Y, np.ones(300), unit=1.0)
    assert len(ax.collections) == 2
    assert len(spread_points(Y, np.full(300, np.nan), 5)) == 0
    with pytest.raises(ValueError, match="not their logarithms"):
        plots.iso_radius_glyphs(None, Y, -np.ones(300), unit=1.0)


# Several maps, and radii against radii


def test_panels_share_colours_and_have_windows_of_their_own():
    Y, labels = blobs()
    maps = {"t-SNE": Y, "dtSNE": 100 * Y[:, ::-1], "other": Y + 1000}
    figure = plots.side_by_side(maps, labels=labels, annotate=False, title="three")
    panels = figure.axes
    assert [ax.get_title() for ax in panels] == list(maps)
    for ax, drawn in zip(panels, maps.values(), strict=True):
        group = {tuple(place): label for place, label in zip(drawn, labels, strict=True)}
        points = ax.collections[0]
        for place, color in zip(points.get_offsets(), points.get_facecolors(), strict=True):
            expected = plots.categorical_colors(3)[group[tuple(place)]]
            assert to_hex(color).upper() == expected
        low, high = ax.get_xlim()
        assert low < drawn[:, 0].min()
        assert high > drawn[:, 0].max()
    assert [legend_texts(ax) for ax in panels] == [[], [], []]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "1", "2"]
    pixels(panels[0])
    widths = [ax.bbox.width for ax in panels]
    assert max(widths) == pytest.approx(min(widths))


def test_panels_share_the_bar_of_a_quantity():
    Y, _ = blobs()
    figure = plots.side_by_side({"a": Y, "b": -Y}, values=np.r_[np.nan, Y[1:, 0]], value_name="v")
    assert len(figure.axes) == 3
    assert figure.axes[-1].get_ylabel() == "v"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["missing"]
    figure = plots.side_by_side({"a": Y, "b": Y}, values=Y[:, 0], legend=False)
    assert len(figure.axes) == 2
    assert figure.legends == []


def test_panels_by_color_have_the_legend_of_what_it_is():
    Y, labels = blobs()
    figure = plots.side_by_side({"a": Y, "b": Y}, labels, annotate=False)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0", "1", "2"]
    assert len(plots.side_by_side({"a": Y, "b": Y}, color=Y[:, 0]).axes) == 3
    assert plots.side_by_side({"a": Y, "b": Y}, "red").legends == []


def test_panels_tell_the_radii_of_groups():
    rng = np.random.default_rng(0)
    small = rng.normal(size=(50, 2))
    Y = np.vstack([small, 2 * small + 30, [[100, 100]]])
    labels = [0.0] * 50 + [1.0] * 50 + [np.nan]
    figure = plots.side_by_side({"a": Y}, labels=labels, radius_ratios=True)
    assert figure.axes[0].get_title() == "a\nradii 1.00 : 2.00"
    many = np.arange(100) % 10
    figure = plots.side_by_side({"a": Y[:100]}, labels=many, radius_ratios=True)
    assert "to" in figure.axes[0].get_title()


def test_panels_on_given_axes_and_in_rows():
    Y, _ = blobs()
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plots.side_by_side({"a": Y, "b": Y}, axes=axes, units={"b": 2.0}) is figure
    five = plots.side_by_side(dict.fromkeys("abcde", Y))
    assert five.axes[-1].get_subplotspec().get_geometry()[:2] == (2, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"maps": {}}, "at least one map"),
        ({"maps": {"a": np.eye(2), "b": np.zeros((3, 2))}}, "different numbers"),
        ({"maps": {"a": np.eye(2)}, "radius_ratios": True}, "give labels="),
        ({"maps": {"a": np.eye(2), "b": np.eye(2)}, "axes": [None]}, "too few"),
        ({"maps": {"a": np.eye(2)}, "units": {"b": 1.0}}, "'b', which is no map.*'a'"),
    ],
)
def test_impossible_panels_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plots.side_by_side(**arguments)


def test_radii_against_radii():
    rng = np.random.default_rng(0)
    data = rng.normal(size=400)
    map_ = data + 0.3 * rng.normal(size=400) + 5
    data[:3] = np.nan
    labels = np.arange(400) % 2
    ax = plots.radius_plot(data, map_, labels=labels, title="radii")
    r = np.corrcoef(data[3:], map_[3:])[0, 1]
    assert ax.texts[0].get_text() == f"correlation {r:.3f}\n397 points"
    assert ax.get_aspect() == 1
    points = np.asarray(ax.collections[0].get_offsets())
    assert len(points) == 397
    np.testing.assert_allclose(np.median(points, axis=0), 0, atol=1e-12)
    line = ax.lines[0]
    assert line.get_slope() == 1
    assert line.get_xy1() == (0, 0)
    assert legend_texts(ax) == ["0", "1"]
    ax = plots.radius_plot(data, map_, unit=np.exp(2))
    points = np.asarray(ax.collections[0].get_offsets())
    np.testing.assert_allclose(np.sort(points[:, 1]), np.sort(map_[3:] + 2))


def test_many_radii_are_counted_in_hexagons():
    rng = np.random.default_rng(0)
    data = rng.normal(size=6_000)
    ax = plots.radius_plot(data, 2 * data)
    counts = ax.collections[0].get_array()
    assert counts.sum() == 6_000
    assert "correlation 1.000" in ax.texts[0].get_text()
    assert plots.radius_plot(np.ones(5), np.arange(5)).texts[0].get_text().startswith("no corr")
    with pytest.raises(ValueError, match="fewer than two"):
        plots.radius_plot([1.0, np.nan], [1.0, 2.0])


# Bad input


@pytest.mark.parametrize(
    ("Y", "error", "message"),
    [
        (np.zeros(5), ValueError, r"n_components=2, or draw it as a histogram"),
        (np.zeros((5, 1)), ValueError, "one coordinate"),
        (np.zeros((5, 3)), ValueError, r"Y\[:, :2\]"),
        (np.zeros((0, 2)), ValueError, "no rows"),
        ([[0, 0], [np.nan, 1]], ValueError, "1 of 2 rows with NaN"),
        ([[0, 0], [np.inf, 1]], ValueError, r"np\.isfinite\(Y\)"),
        ([["a", "b"]], TypeError, "real numbers"),
    ],
)
def test_what_is_no_map_is_refused(Y, error, message):
    with pytest.raises(error, match=message):
        plots.scatter_map(Y)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"labels": [1, 2]}, ValueError, "labels has shape .* for 300 points"),
        ({"values": np.zeros((300, 2))}, ValueError, "one value for each point"),
        ({"values": ["a"] * 300}, TypeError, "labels="),
        ({"labels": np.arange(300)}, ValueError, "values="),
        ({"color": "nonsense"}, ValueError, "no colour"),
        ({"labels": [0] * 300, "values": [0.0] * 300}, ValueError, "only one of"),
        ({"values": np.zeros(300), "limits": (1, 0)}, ValueError, "smaller one first"),
    ],
)
def test_what_does_not_fit_the_map_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        plots.scatter_map(blobs()[0], **options)


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_no_text_of_the_user_is_a_formula(suffix):
    """Two "$" make matplotlib parse what is between them, and fail where it is none."""
    Y, _ = blobs()
    n, text = len(Y), r"costs $x_{ $ \frac{ $"
    labels = np.where(np.arange(n) % 2, text, "other")
    log_radius = Y[:, 0]
    for drawn in (
        plots.scatter_map(Y, labels=labels, title=text, legend=True, unit=2.0),
        plots.scatter_map(
            Y, values=log_radius, title=text, value_name=text, value_ticks={0.0: text}
        ),
        plots.radius_map(Y, log_radius, value_name=text),
        plots.residual_map(Y, log_radius, value_name=text),
        plots.radius_plot(log_radius, Y[:, 1], labels=labels, title=text),
        plots.side_by_side({text: Y, "b": Y}, labels=labels, title=text, radius_ratios=True),
        plots.side_by_side({text: Y, "b": Y}, values=log_radius, value_name=text),
        plots.density_scale_bar(plots.scatter_map(Y), 2.0, text="$x_{{ $ {length}"),
    ):
        getattr(drawn, "figure", drawn).savefig(io.BytesIO(), format=suffix)

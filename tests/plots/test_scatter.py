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
from plot_support import blobs, least_distance, legend_texts, pixel_at, pixels

from dtsne import plots
from dtsne.plots import _palette as _colors
from dtsne.plots import _points
from dtsne.plots._coloring import ColorOptions, by_labels, by_values
from dtsne.plots._points import local_density, point_style
from dtsne.runtime._errors import DataError, DataTypeError, ParameterError

seeds = st.integers(0, 2**32 - 1)


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
    grid = _points.make_grid(Y, 4.0, 4.0)
    counts = _points.count_pixels(Y, grid)
    left, right, bottom, top = grid.extent
    rows, columns = grid.shape
    edges = np.linspace(bottom, top, rows + 1), np.linspace(left, right, columns + 1)
    expected, *_ = np.histogram2d(Y[:, 1], Y[:, 0], bins=edges)
    assert counts.sum() == 1_000_000
    # Rounding at the very edge of a pixel may put a point next door.
    assert np.abs(counts - expected).sum() <= 4
    assert max(rows, columns) == pytest.approx(4 * _points.PIXELS_PER_INCH, abs=4)
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
    grid = _points.make_grid(Y, 1, 1)
    image = coloring.of_pixels(Y, grid).reshape(-1, 3)
    mixed = image[grid.pixels(Y)[0]]
    np.testing.assert_allclose(_colors.to_linear(mixed), [0.75, 0, 0.25], atol=1e-6)


def test_values_are_averaged_in_a_pixel():
    Y = np.vstack([np.zeros((2, 2)), [[30, 30]]])
    quantity = by_values([1.0, 3.0, np.nan], 3, ColorOptions(limits=(0, 4)))
    grid = _points.make_grid(Y, 1, 1)
    image = quantity.of_pixels(Y, grid).reshape(-1, 3)
    middle = mpl.colormaps["viridis"](0.5)[:3]
    np.testing.assert_allclose(image[grid.pixels(Y)[0]], middle)
    assert np.isnan(_points.mean_per_pixel(Y[:2], np.ones((2, 1)), grid)).any()


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
    alpha = _points.opacity(counts, scale)
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
    ("arguments", "argument", "message"),
    [
        ({"maps": {}}, "maps", "at least one map"),
        ({"maps": {"a": np.eye(2), "b": np.zeros((3, 2))}}, "maps", "different numbers"),
        ({"maps": {"a": np.eye(2), 1: np.eye(2), "1": np.eye(2)}}, "maps", "the same name"),
        ({"maps": {"a": np.eye(2)}, "radius_ratios": True}, "labels", "pass labels"),
        ({"maps": {"a": np.eye(2), "b": np.eye(2)}, "axes": [None]}, "axes", "too few"),
        ({"maps": {"a": np.eye(2)}, "units": {"b": 1.0}}, "units", "'b', which is not .*'a'"),
    ],
)
def test_impossible_panels_are_rejected(arguments, argument, message):
    with pytest.raises(DataError, match=message) as error:
        plots.side_by_side(**arguments)
    assert error.value.argument == argument


# Bad input


@pytest.mark.parametrize(
    ("Y", "kind", "message"),
    [
        (np.zeros(5), DataError, r"n_components=2, or draw a histogram"),
        (np.zeros((5, 1)), DataError, r"shape \(5, 1\)"),
        (np.zeros((5, 3)), DataError, r"Y\[:, :2\]"),
        (np.zeros((0, 2)), DataError, "no points"),
        ([[0, 0], [np.nan, 1]], DataError, "NaN .* 1 of 2 rows"),
        ([[0, 0], [np.inf, 1]], DataError, r"np\.isfinite\(Y\)"),
        ([["a", "b"]], DataTypeError, "real numbers"),
    ],
)
def test_what_is_not_a_map_is_rejected(Y, kind, message):
    with pytest.raises(kind, match=message) as error:
        plots.scatter_map(Y)
    assert error.value.argument == "Y"


@pytest.mark.parametrize(
    ("options", "argument", "kind", "message"),
    [
        ({"values": np.zeros((300, 2))}, "values", DataError, "one value for each point"),
        ({"values": ["a"] * 300}, "values", DataTypeError, "as labels"),
        ({"labels": np.arange(300)}, "labels", DataError, "as values"),
        ({"labels": [0] * 300, "values": [0.0] * 300}, "color", DataError, "only one of"),
    ],
)
def test_what_does_not_fit_the_map_is_rejected(options, argument, kind, message):
    with pytest.raises(kind, match=message) as error:
        plots.scatter_map(blobs()[0], **options)
    assert error.value.argument == argument


def test_labels_of_other_points_are_rejected():
    with pytest.raises(ValueError, match=r"labels has shape .* for 300 points"):
        plots.scatter_map(blobs()[0], labels=[1, 2])


@pytest.mark.parametrize(
    ("name", "value", "allowed", "options"),
    [
        ("color", "nonsense", "a colour of matplotlib", {}),
        ("limits", (1, 0), "the smaller one first", {"values": np.zeros(300)}),
    ],
)
def test_impossible_options_are_rejected(name, value, allowed, options):
    with pytest.raises(ParameterError) as error:
        plots.scatter_map(blobs()[0], **options, **{name: value})
    assert (error.value.parameter, error.value.value) == (name, value)
    assert allowed in error.value.allowed


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

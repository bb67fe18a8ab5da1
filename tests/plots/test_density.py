"""Pictures: radii, residuals and lengths in the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib")

import matplotlib as mpl
from make_palette import lab
from plot_support import blobs, legend_texts, overlaps, pixels

from dtsne import plots
from dtsne.plots._axes import factor_ticks, radius_ticks, round_down
from dtsne.plots._coloring import ColorOptions, by_values
from dtsne.plots._density import spread_points
from dtsne.runtime._errors import DataError, ParameterError

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
    with pytest.raises(DataError, match="nothing to compare"):
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
    with pytest.raises(ParameterError) as error:
        plots.density_scale_bar(ax, 2.0, length=0)
    assert (error.value.parameter, error.value.value) == ("length", 0)
    assert error.value.allowed == "a positive distance in the data"


@pytest.mark.parametrize("unit", [0, -1, np.nan, [1, 2]])
def test_a_unit_must_be_a_length(unit):
    with pytest.raises(ParameterError) as error:
        plots.scatter_map(blobs()[0], unit=unit)
    assert error.value.parameter == "unit"
    assert error.value.value is unit
    assert error.value.message.in_python.startswith("dtsne.plots.radius_unit(")


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
    light = lab(ax.collections[0].get_facecolors()[:, :3])[:, 0]
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
    with pytest.raises(DataError, match="not their logarithms") as error:
        plots.iso_radius_glyphs(None, Y, -np.ones(300), unit=1.0)
    assert error.value.argument == "radius"
    with pytest.raises(ParameterError) as error:
        plots.iso_radius_glyphs(None, Y, np.ones(300), unit=1.0, n=0)
    assert error.value.parameter == "n"


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
    with pytest.raises(DataError, match="fewer than two"):
        plots.radius_plot([1.0, np.nan], [1.0, 2.0])

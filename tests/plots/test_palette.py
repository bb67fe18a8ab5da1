"""Pictures: colours that everyone can tell apart, on light and on dark ground."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import matplotlib as mpl
from make_palette import lab, make_palette
from matplotlib.colors import to_hex
from plot_support import blobs, least_distance

from dtsne import plots
from dtsne.plots import _palette as _colors
from dtsne.plots._coloring import diverging_colormap, rgb
from dtsne.runtime._errors import ParameterError

VISIONS = ["normal", "deuteranopia", "protanopia"]


# Colours


def test_lab_of_known_colours():
    found = lab(rgb(["#FFFFFF", "#000000", "red", "#0000FF"]))
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
    with pytest.raises(ParameterError) as error:
        plots.categorical_colors(n)
    assert (error.value.parameter, error.value.value) == ("n", n)
    assert error.value.allowed == "from 0 to 200"


@pytest.mark.parametrize("ground", [_colors.LIGHT, _colors.DARK], ids=["light", "dark"])
def test_the_table_is_what_the_tool_finds(ground):
    assert ground.colors == make_palette(ground)
    assert len(ground.colors) == len(set(ground.colors)) == _colors.MAX_GROUPS


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
    lightness = lab(shades)[:, 0]
    assert (np.diff(lightness[:51]) > 0).all()
    assert (np.diff(lightness[50:]) < 0).all()


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

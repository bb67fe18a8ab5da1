"""Colours of pictures and pages: of groups, and of values, on a light and on a dark ground.

Needs numpy alone, as the page does. ``tools/make_palette.py`` found the colours of the groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dtsne.runtime._errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dtsne.runtime._typing import FloatArray

# Nobody can tell more colours apart; more labels are a sign of a quantity.
MAX_GROUPS = 200
# A few far values would leave one colour for the rest: where the range of all is that much wider
# than these quantiles, the colours span the quantiles.
_QUANTILES = (0.005, 0.995)
_FAR = 1.5

# fmt: off
_VIRIDIS = ("#440154", "#482475", "#414487", "#355F8D", "#2A788E", "#21918C", "#22A884", "#44BF70",
            "#7AD151", "#BDDF26", "#FDE725")
# fmt: on
_ON_LIGHT = """
    #0072B2 #E69F00 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442 #000000 #773322 #5522AA #AA0077 #AA77FF
    #77EE99 #FF4466 #0066FF #00DDEE #BB3322 #334455 #CC22BB #BBCC66 #556644 #770088 #88BB88 #6688DD
    #668844 #336600 #005544 #886677 #AA44DD #CC8833 #FF77CC #11AABB #AADDBB #665588 #9999FF #FFAADD
    #0044CC #DD9966 #EEBB00 #557799 #FFCC55 #BB7766 #774499 #0077DD #EE6688 #FF9988 #882244 #4477FF
    #BB3355 #22AA33 #FFBBFF #337733 #663399 #EEBB88 #9955BB #FF9955 #BB1166 #FF6611 #BB5599 #CCAAAA
    #EE99FF #2255AA #AA1100 #EE77FF #66BB44 #880077 #773366 #DD2266 #449988 #8888CC #77DD99 #BB99CC
    #BBDDDD #005500 #5555CC #774455 #DD2233 #88EE66 #337788 #004488 #55BB99 #887777 #9922BB #9977AA
    #CCDD88 #AA5566 #661199 #444433 #DD55AA #1199BB #664488 #7766CC #77DD33 #774433 #7777CC #FF1188
    #7799DD #EE7777 #555577 #DDAA66 #880055 #66CCDD #4455EE #EE55BB #6622BB #999911 #99BB22 #885555
    #BB6644 #99BBEE #BBBB99 #AA44AA #AA22AA #776622 #DDAACC #884466 #CC6688 #00CCAA #44EECC #881100
    #8822AA #77DDFF #888855 #008833 #44DDAA #DDBBEE #DD55EE #DD6655 #990066 #EE55DD #EECCCC #880033
    #7744DD #EE9977 #EEBB55 #CC7777 #EE2277 #BBCCBB #AAAABB #EE77DD #888899 #BB99AA #CC1188 #CC3311
    #994499 #DDCC77 #AA77BB #4488EE #CC2233 #BB4499 #44CC77 #FF8855 #EE2233 #9955EE #22BBFF #553377
    #77AACC #00EEAA #772288 #33BBBB #663355 #55DDDD #66AAEE #DDCC44 #665544 #66CC99 #77AA44 #AAAA66
    #5599AA #11AAFF #5599EE #993322 #990022 #AA55DD #CC9999 #22BBDD #33BB77 #EE44CC #33BB55 #447777
    #AADDEE #CCCCFF #BB7799 #DD5555 #AA7700 #4488AA #DDBBCC #7788FF #EE8844 #005577 #007722 #999966
    #BB0011 #BBDDAA #446655 #DDDD00 #880044 #FF3344 #886688 #AA2244
"""
_ON_DARK = """
    #0072B2 #E69F00 #009E73 #CC79A7 #56B4E9 #D55E00 #F0E442 #FFFFFF #8866FF #33FFAA #00EEFF #99CC77
    #CC00AA #FF5577 #AADDCC #886644 #7788DD #BB4488 #888844 #CC3322 #CCBBDD #AA88FF #66DD44 #5566DD
    #447788 #44DDAA #BB9944 #99EE77 #11AABB #FF88FF #FFDDAA #EE77CC #77BB88 #88AA99 #FFBB44 #CC55CC
    #AA33CC #EECCFF #EEBBAA #77FFCC #CCEEEE #FF8866 #DD8811 #BB7766 #009999 #88FF66 #BB5566 #667766
    #AAAA66 #9977FF #887744 #AAAAFF #DDCC66 #5555EE #FF2288 #BB8855 #8855AA #FF88CC #559988 #CCCCDD
    #00EE88 #9966DD #117777 #AA66AA #6699DD #AA5533 #BBBB99 #FFAA77 #CC7722 #0088BB #CCBBFF #FF8888
    #447755 #666699 #5599AA #77BBDD #99BB22 #3366CC #EEAACC #DDEE88 #995577 #BB77CC #996699 #886611
    #DDCCBB #FFCC99 #AA4499 #8888BB #88EEDD #0088EE #0099EE #EE55BB #CC33BB #66DDEE #668877 #AA5555
    #BB7788 #CCDD55 #8877CC #FFBB88 #CC5533 #CCCC00 #33CCCC #EE55DD #DDAA55 #DD5544 #88CCBB #AABBEE
    #DD3300 #DD9977 #2277EE #EEBBEE #DDEEBB #88EE99 #AA7799 #55FFEE #EE88AA #BBCC99 #DDDDDD #DD9955
    #55DD88 #55CC99 #FFDDCC #FF6699 #0066FF #EEEE22 #77AACC #44BBFF #FF5533 #CC88BB #55AA33 #66AAEE
    #AA88DD #77FF88 #00EEBB #999999 #CC66AA #EECCCC #EE88EE #CCBB66 #CC1177 #33BBAA #997755 #FFAA44
    #CCDD00 #77CCDD #DD7766 #8888EE #DD7788 #7766BB #BB8877 #889955 #EE3377 #6699FF #88AADD #5588FF
    #BBDDEE #DD0088 #BBEEFF #CC66EE #EE9944 #AA44DD #119933 #CCBBBB #EE6655 #99DD66 #BBDDAA #AABBAA
    #557733 #FF7766 #4466EE #7755CC #BBAA88 #66FFBB #DDEE66 #BBAADD #FF7744 #998855 #BBEEAA #CC6699
    #AA9933 #996666 #EEEE77 #CCEE99 #99BBFF #EE77BB #CCDDBB #CC99AA #DDAA33 #9966BB #CCEE55 #DD0033
    #DDBB22 #55AA66 #CCCC55 #77AAFF #DD4422 #CCEEDD #886655 #55CC66
"""


@dataclass(frozen=True)
class Ground:
    """What points are drawn on, and the colours that are seen there.

    Attributes
    ----------
    color, missing, other : str
        The ground itself; points without a value; groups beyond those with a colour of their own.
    colors : tuple of str
        Colours of groups.
    sequential, diverging : tuple of str
        From the smallest to the largest value (viridis, or as much of it as is seen), and from blue
        to red, through what is quiet on the ground and not the grey of missing values.
    """

    color: str
    missing: str
    other: str
    colors: tuple[str, ...]
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]


LIGHT = Ground(
    color="#FFFFFF",
    missing="#BFBFBF",
    other="#999999",
    colors=tuple(_ON_LIGHT.split()),
    sequential=_VIRIDIS,
    diverging=("#08519C", "#4292C6", "#DDD2B0", "#E0604A", "#99000D"),
)
DARK = Ground(
    color="#14171A",
    missing="#565C62",
    other="#A8AEB4",
    colors=tuple(_ON_DARK.split()),
    sequential=_VIRIDIS[3:],
    diverging=("#8CC8FF", "#3F8FD0", "#5C5138", "#D0604C", "#FFA08C"),
)
SINGLE = LIGHT.colors[0]


def categorical_colors(n: int, *, dark: bool = False) -> list[str]:
    """Return n colours that stay apart, also for the colour-blind.

    Up to 8 they are those of Okabe and Ito. Each further one is the colour farthest, in CIE Lab and
    Oklab, from all before it, the ground and the grey of missing values, as seen with normal
    vision, deuteranopia and protanopia. So a list is the beginning of any longer one.

    Parameters
    ----------
    n : int
        Number of colours, at most 200.
    dark : bool, default False
        Whether they are for a dark ground: white instead of black, and none that is too dark.

    Returns
    -------
    list of str
        Colours as "#RRGGBB".

    Examples
    --------
    >>> from dtsne.plots import categorical_colors
    >>> categorical_colors(3)
    ['#0072B2', '#E69F00', '#009E73']
    """
    if not 0 <= n <= MAX_GROUPS:
        raise ParameterError("n", n, f"from 0 to {MAX_GROUPS}")
    return list((DARK if dark else LIGHT).colors[:n])


def color_limits(values: FloatArray, center: float | None = None) -> tuple[float, float]:
    """Return the values of the first and the last colour; around a centre, as far to either side.

    They span all values; nearly all of them where a few lie far out, and others are not the same.
    """
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 1.0
    if center is not None:
        apart = np.abs(known - center)
        # Distances have one tail, which holds what is cut off at both ends otherwise.
        reach, farthest = (float(q) for q in np.quantile(apart, [2 * _QUANTILES[1] - 1, 1]))
        if farthest <= _FAR * reach or reach == 0:
            reach = farthest or 1.0
        return center - reach, center + reach
    least, low, high, most = (float(q) for q in np.quantile(known, [0, *_QUANTILES, 1]))
    if most - least <= _FAR * (high - low) or low == high:
        low, high = least, most
    if low == high:
        # As much as makes a difference, whatever the size.
        pad = max(0.5, 1e-3 * abs(low))
        low, high = low - pad, high + pad
    return low, high


def hex_to_rgb(colors: Iterable[str]) -> FloatArray:
    """Turn colours "#RRGGBB" into an array (n, 3) of red, green and blue from 0 to 1."""
    rows = [[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def to_linear(srgb: FloatArray) -> FloatArray:
    """Turn sRGB into amounts of light, which can be added."""
    linear: FloatArray = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return linear


def to_srgb(linear: FloatArray) -> FloatArray:
    """Turn amounts of light into sRGB."""
    light = np.clip(linear, 0, 1)
    srgb: FloatArray = np.where(
        light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055
    )
    return srgb

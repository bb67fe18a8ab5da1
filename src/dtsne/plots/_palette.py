"""Colours of pictures and pages: of groups, that stay apart for everyone, and of values.

Each comes for a light and for a dark ground. What is here needs numpy alone, as the page does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dtsne.runtime._typing import FloatArray

# Of Okabe and Ito, in an order in which the first few are farthest apart and the pale and the black
# one come last.
OKABE_ITO = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#000000",
)
SINGLE = OKABE_ITO[0]
# More than these are told apart by nobody; it is a sign of quantities given as labels.
MOST_GROUPS = 200
# A few far values would leave one colour for the rest: where the range of all is that much wider
# than these quantiles, the colours span the quantiles.
_QUANTILES = (0.005, 0.995)
_FAR = 1.5


@dataclass(frozen=True)
class Ground:
    """What points are drawn on, and the colours that are seen there.

    Attributes
    ----------
    color, missing, other : str
        The ground itself; points without a value; groups beyond those with a colour of their own.
    first : tuple of str
        Those of Okabe and Ito.
    lightness : (float, float)
        Of groups beyond the eight of Okabe and Ito, in CIE Lab: visible, and not glaring.
    sequential, diverging : tuple of str
        From the smallest to the largest value (viridis, or as much of it as is seen), and from blue
        to red, through what is quiet on the ground and not the grey of what is missing.
    """

    color: str
    missing: str
    other: str
    first: tuple[str, ...]
    lightness: tuple[float, float]
    sequential: tuple[str, ...]
    diverging: tuple[str, ...]


_VIRIDIS = ("#440154", "#482475", "#414487", "#355F8D", "#2A788E", "#21918C", "#22A884", "#44BF70",
            "#7AD151", "#BDDF26", "#FDE725")  # fmt: skip
LIGHT = Ground(
    color="#FFFFFF",
    missing="#BFBFBF",
    other="#999999",
    first=OKABE_ITO,
    lightness=(28.0, 86.0),
    sequential=_VIRIDIS,
    diverging=("#08519C", "#4292C6", "#DDD2B0", "#E0604A", "#99000D"),
)
DARK = Ground(
    color="#14171A",
    missing="#565C62",
    other="#A8AEB4",
    first=(*OKABE_ITO[:-1], "#FFFFFF"),  # the black one would not be seen
    lightness=(45.0, 92.0),
    sequential=_VIRIDIS[3:],
    diverging=("#8CC8FF", "#3F8FD0", "#5C5138", "#D0604C", "#FFA08C"),
)

# What those without one kind of cone see of linear RGB (Machado, Oliveira and Fernandes, 2009).
_DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)
_PROTANOPIA = np.array(
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ]
)
_VISIONS = {"normal": np.eye(3), "deuteranopia": _DEUTERANOPIA, "protanopia": _PROTANOPIA}
_XYZ_OF_LINEAR_RGB = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
# To Oklab (Ottosson, 2020), in which blues are as far apart as they look; in CIE Lab they are less.
_CONES_OF_LINEAR_RGB = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_OKLAB_OF_CONES = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_OKLAB_SCALE = 220.0  # which makes its distances about as long as those of CIE Lab
# Of the colours added to the eight: what is more glares.
_MOST_CHROMA = 90.0
# A distance seen without one kind of cone counts as longer, as the space of such colours has one
# dimension less: asking for the same there would leave no room for anyone else.
_WEIGHTS = {"normal": 1.0, "deuteranopia": 1 / 0.6, "protanopia": 1 / 0.6}


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
    """
    if not 0 <= n <= MOST_GROUPS:
        raise ValueError(f"n={n} is no number of colours; choose it from 0 to {MOST_GROUPS}.")
    ground = DARK if dark else LIGHT
    return list(ground.first[:n]) if n <= len(ground.first) else list(_extended(n, ground))


@lru_cache(maxsize=16)
def _extended(n: int, ground: Ground) -> tuple[str, ...]:
    levels = np.arange(0, 256, 17) / 255
    candidates = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    lightness, *ab = lab(candidates).T
    least, most = ground.lightness
    suitable = (lightness >= least) & (lightness <= most)
    candidates = candidates[suitable & (np.hypot(*ab) <= _MOST_CHROMA)]
    seen = _appearances(candidates)

    def distances(color: FloatArray) -> FloatArray:
        nearest: FloatArray = np.linalg.norm(seen - _appearances(color[None]), axis=-1).min(axis=0)
        return nearest

    chosen = list(ground.first)
    avoided = rgb([*chosen, ground.missing, ground.other, ground.color])
    nearest = np.min([distances(c) for c in avoided], axis=0)
    while len(chosen) < n:
        best = candidates[nearest.argmax()]
        chosen.append("#{:02X}{:02X}{:02X}".format(*np.rint(255 * best).astype(int)))
        nearest = np.minimum(nearest, distances(best))
    return tuple(chosen)


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


def _appearances(srgb: FloatArray) -> FloatArray:
    """Place colours (..., 3) in all spaces and visions (6, ..., 3) in which they have to differ."""
    return np.stack(
        [
            weight * space(srgb, vision)
            for vision, weight in _WEIGHTS.items()
            for space in (lab, _oklab)
        ]
    )


def rgb(colors: Iterable[str]) -> FloatArray:
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


def lab(srgb: FloatArray, vision: str = "normal") -> FloatArray:
    """Turn sRGB into CIE Lab (white D65), as seen with some vision."""
    t = _seen_light(srgb, vision) @ _XYZ_OF_LINEAR_RGB.T / _XYZ_OF_LINEAR_RGB.sum(axis=1)
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def _oklab(srgb: FloatArray, vision: str) -> FloatArray:
    cones = np.cbrt(_seen_light(srgb, vision) @ _CONES_OF_LINEAR_RGB.T)
    scaled: FloatArray = _OKLAB_SCALE * cones @ _OKLAB_OF_CONES.T
    return scaled


def _seen_light(srgb: FloatArray, vision: str) -> FloatArray:
    light: FloatArray = np.clip(to_linear(np.asarray(srgb)) @ _VISIONS[vision].T, 0, 1)
    return light


def least_distance(colors: Iterable[str], vision: str = "normal") -> float:
    """Return the distance, in CIE Lab, of the two colours that are most alike."""
    points = lab(rgb(colors), vision)
    first, second = np.triu_indices(len(points), 1)
    return float(np.linalg.norm(points[first] - points[second], axis=1).min())

"""Print the colours of groups, the table in ``dtsne/plots/_palette.py``.

The first eight are those of Okabe and Ito. Each further colour is the one farthest from all before
it, the ground and the greys, in CIE Lab and Oklab, as seen with normal vision, deuteranopia and
protanopia. So a list of colours is the beginning of any longer one.

    python tools/make_palette.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dtsne.plots._palette import DARK, LIGHT, MAX_GROUPS, Ground, hex_to_rgb, to_linear

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
# The black one would not be seen on a dark ground.
_FIRST = {LIGHT: OKABE_ITO, DARK: (*OKABE_ITO[:-1], "#FFFFFF")}
# Lightness of the colours after these eight, in CIE Lab: visible, and not glaring.
_LIGHTNESS = {LIGHT: (28.0, 86.0), DARK: (45.0, 92.0)}
# More chroma than this glares.
_MAX_CHROMA = 90.0
# What people without one kind of cone see of linear RGB (Machado, Oliveira and Fernandes, 2009).
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
# A distance seen without one kind of cone counts as longer, as the space of such colours has one
# dimension less: asking for the same there would leave no room for anyone else.
_WEIGHTS = {"normal": 1.0, "deuteranopia": 1 / 0.6, "protanopia": 1 / 0.6}


def make_palette(ground: Ground, n: int = MAX_GROUPS) -> tuple[str, ...]:
    """Return n colours for points on a ground."""
    levels = np.arange(0, 256, 17) / 255
    candidates = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    lightness, *ab = lab(candidates).T
    low, high = _LIGHTNESS[ground]
    suitable = (lightness >= low) & (lightness <= high)
    candidates = candidates[suitable & (np.hypot(*ab) <= _MAX_CHROMA)]
    seen = _appearances(candidates)

    def distances(color: FloatArray) -> FloatArray:
        nearest: FloatArray = np.linalg.norm(seen - _appearances(color[None]), axis=-1).min(axis=0)
        return nearest

    chosen = list(_FIRST[ground])
    avoided = hex_to_rgb([*chosen, ground.missing, ground.other, ground.color])
    nearest = np.min([distances(c) for c in avoided], axis=0)
    while len(chosen) < n:
        best = candidates[nearest.argmax()]
        chosen.append("#{:02X}{:02X}{:02X}".format(*np.rint(255 * best).astype(int)))
        nearest = np.minimum(nearest, distances(best))
    return tuple(chosen[:n])


def min_distance(colors: Iterable[str], vision: str = "normal") -> float:
    """Return the distance, in CIE Lab, of the two colours that are most alike."""
    points = lab(hex_to_rgb(colors), vision)
    first, second = np.triu_indices(len(points), 1)
    return float(np.linalg.norm(points[first] - points[second], axis=1).min())


def lab(srgb: FloatArray, vision: str = "normal") -> FloatArray:
    """Convert sRGB to CIE Lab (white D65), as seen with some vision."""
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


def _appearances(srgb: FloatArray) -> FloatArray:
    """Place colours (..., 3) in all spaces and visions (6, ..., 3) in which they must differ."""
    return np.stack(
        [
            weight * space(srgb, vision)
            for vision, weight in _WEIGHTS.items()
            for space in (lab, _oklab)
        ]
    )


if __name__ == "__main__":
    for name, ground in (("LIGHT", LIGHT), ("DARK", DARK)):
        colors = make_palette(ground)
        print(name)
        for start in range(0, len(colors), 12):
            print("   ", *colors[start : start + 12])

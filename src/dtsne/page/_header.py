"""Everything that a page knows, as one object of JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from dtsne.page._arrays import packed, packed_texts
from dtsne.page._columns import MAX_CATEGORIES, as_array, encode_columns
from dtsne.page._report import as_notes, encode_report
from dtsne.plots._palette import DARK, LIGHT, SINGLE
from dtsne.runtime._checks import check_maps
from dtsne.runtime._errors import DataError, setting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from dtsne.page._columns import Columns
    from dtsne.plots._palette import Ground
    from dtsne.runtime._typing import FloatArray


def make_header(
    maps: Mapping[str, ArrayLike],
    columns: Columns,
    *,
    ids: ArrayLike | None,
    title: str,
    report: Mapping[str, object] | None,
    notes: str | Sequence[str],
) -> dict[str, object]:
    """Check and encode what a page is made of."""
    turned = aligned(check_maps(maps))
    n = len(next(iter(turned.values())))
    rows, by_map = encode_report(report, list(turned))
    half = max(float(np.abs(Y).max()) for Y in turned.values())
    return {
        "n": n,
        "title": str(title),
        "notes": as_notes(notes),
        "half": half or 1.0,
        "maps": [
            {"name": name, **by_map[name], "x": packed(Y[:, 0], "f4"), "y": packed(Y[:, 1], "f4")}
            for name, Y in turned.items()
        ],
        "ids": None if ids is None else packed_texts(_check_ids(ids, n)),
        "columns": encode_columns(columns, list(turned), n),
        "report": rows,
        "colours": {"light": _colors_on(LIGHT), "dark": _colors_on(DARK)},
    }


def aligned(maps: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Centre all maps, and turn and mirror each onto the first; their scales stay as they are."""
    centred = {name: Y - Y.mean(axis=0) for name, Y in maps.items()}
    first = next(iter(centred.values()))
    return {name: Y if Y is first else Y @ _rotation(Y, first) for name, Y in centred.items()}


def _rotation(Y: FloatArray, onto: FloatArray) -> FloatArray:
    """Return the orthogonal matrix that brings a centred map closest to another (Procrustes)."""
    left, _, right = np.linalg.svd(Y.T @ onto)
    rotation: FloatArray = left @ right
    return rotation


def _colors_on(ground: Ground) -> dict[str, object]:
    """Return all colours that the page draws with, the same as those of pictures."""
    return {
        "ground": ground.color,
        "single": SINGLE,
        "categories": ground.colors[:MAX_CATEGORIES],
        "other": ground.other,
        "missing": ground.missing,
        "flag": {"no": ground.other, "yes": ground.colors[5]},
        "sequential": ground.sequential,
        "diverging": ground.diverging,
    }


def _check_ids(ids: ArrayLike, n: int) -> list[str]:
    texts = [str(value) for value in as_array(ids, "ids", n, "ids").tolist()]
    name, count = Counter(texts).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"the ID {name!r} stands for {count} points, and must stand for one",
            f"pass these as a column, and {setting('ids', None)} for row numbers",
            argument="ids",
        )
    return texts

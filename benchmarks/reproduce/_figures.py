"""The figures of the paper: panels of all methods, at equal aspect and in the same colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.plots import categorical_colors
from dtsne.plots._axes import new_figure
from dtsne.plots._palette import LIGHT
from reproduce import _theory
from reproduce._measures import PAPER, SYMBOLS
from reproduce._run import drawn_set
from reproduce._sets import SETS
from reproduce._summary import cell
from reproduce.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dtsne.runtime._typing import FloatArray, IntArray
    from reproduce._run import Outcomes
    from reproduce._sets import DatasetSample

_DPI = 110
_PANEL_INCHES = 2.9
_MOST_COLUMNS = 4
_MAP_PIXELS, _DIGIT_PIXELS, _DIGIT_MARGIN = 900, 28, 0.03
# The paper's number is a black line, with white around it so that it is seen on a dark bar, too.
_PAPER_LINE = {"color": "k", "lw": 1.6}
_UNTYPED = "unassigned"  # what the published tables of cells call one without a type
_INK_FROM = 40  # of 255: what is paler is background, which the paper strips off


def draw_gallery(
    outcomes: Outcomes, set_name: str, methods: Sequence[str], path: Path, *, original: bool = False
) -> None:
    """Draw the maps of a set side by side, behind the data itself if that has two dimensions."""
    drawn = drawn_set(outcomes, set_name)
    panels: list[tuple[str, FloatArray | str]] = [("original", drawn.X)] if original else []
    panels += [_panel(outcomes, method, set_name) for method in methods]
    figure, axes = _grid(len(panels))
    colours = _colours_of(drawn.label_names)
    for ax, (title, found) in zip(axes, panels, strict=True):
        if isinstance(found, str):
            _say_missing(ax, title, found)
        else:
            _scatter(ax, found, drawn.labels, colours)
            ax.set_title(title, fontsize=10)
    shown = np.unique(drawn.labels)
    _legend(figure, [drawn.label_names[i] for i in shown], [colours[i] for i in shown])
    _save(figure, path)


def draw_digits(outcomes: Outcomes, methods: Sequence[str], path: Path) -> None:
    """Draw maps of MNIST with the images themselves, stripped of their background."""
    drawn = drawn_set(outcomes, "mnist")
    colours = categorical_colors(len(drawn.label_names))
    figure, axes = _grid(len(methods), inches=5.0, most_columns=3)
    for ax, method in zip(axes, methods, strict=True):
        title, found = _panel(outcomes, method, "mnist")
        if isinstance(found, str):
            _say_missing(ax, title, found)
            continue
        ax.imshow(_digits_at(found, drawn, colours), interpolation="none")
        ax.set_title(title, fontsize=10)
        ax.set_axis_off()
    _legend(figure, drawn.label_names, colours)
    _save(figure, path, dpi=180)


def draw_bars(outcomes: Outcomes, sets: Sequence[str], methods: Sequence[str], path: Path) -> None:
    """Draw the paper's three measures of all sets, with a line at what the paper prints."""
    figure = new_figure((13, 8.5))
    rows = figure.subplots(len(PAPER), 1, sharex=True)
    colours = categorical_colors(len(methods))
    width = 0.84 / len(methods)
    for ax, measure in zip(rows, PAPER, strict=True):
        for m, method in enumerate(methods):
            cells = [cell(outcomes, measure, method, name) for name in sets]
            at = np.arange(len(sets)) + (m - (len(methods) - 1) / 2) * width
            ax.bar(at, [found.mean for found in cells], width, color=colours[m],
                   yerr=[found.spread for found in cells], error_kw={"lw": 0.7, "alpha": 0.6},
                   label=METHODS[method].title)  # fmt: skip
            for x, found in zip(at, cells, strict=True):
                if found.paper is not None:
                    ends = x - width / 2, x + width / 2
                    ax.hlines(found.paper, *ends, color="w", lw=3.4)
                    ax.hlines(found.paper, *ends, **_PAPER_LINE)
                if not found.n_seeds:
                    ax.text(x, 0.01, "missing", rotation=90, fontsize=6, ha="center", va="bottom")
        ax.axhline(0, color="0.6", lw=0.6)
        ax.set_ylabel(SYMBOLS[measure], rotation=0, ha="right", fontsize=12)
        ax.spines[["top", "right"]].set_visible(False)
    rows[-1].set_xticks(range(len(sets)), [SETS[name].title for name in sets])
    handles, names = rows[0].get_legend_handles_labels()
    handles += [rows[0].hlines([], 0, 0, **_PAPER_LINE)]
    figure.legend(handles, [*names, "the paper's"], loc="outside right upper", frameon=False)
    _save(figure, path)


def draw_theory(outcomes: Outcomes, set_name: str, methods: Sequence[str], path: Path) -> None:
    """Draw ratios of close pairs in the map against those in the data."""
    drawn = drawn_set(outcomes, set_name)
    figure, axes = _grid(len(methods), inches=3.4)
    limit = 6.0
    for ax, method in zip(axes, methods, strict=True):
        title, found = _panel(outcomes, method, set_name)
        if isinstance(found, str):
            _say_missing(ax, title, found)
            continue
        ratios = _theory.compare_ratios(drawn.X, found, anywhere=True)
        ax.hexbin(ratios.data, ratios.map, gridsize=60, extent=(-limit, limit, -limit, limit),
                  bins="log", cmap="viridis", linewidths=0)  # fmt: skip
        ax.plot([-limit, limit], [-limit, limit], color="w", lw=2.5)
        ax.plot([-limit, limit], [-limit, limit], color="k", lw=1)
        ax.set_title(f"{title}: r = {ratios.correlation:.2f}", fontsize=10)
        ax.set_xlabel("log ratio in the data")
        ax.set_ylabel("log ratio in the map")
        ax.set_aspect("equal")
    _save(figure, path)


def _panel(outcomes: Outcomes, method: str, set_name: str) -> tuple[str, FloatArray | str]:
    """Return a panel's title and its map, or why there is none."""
    embedding = outcomes.embedding(method, set_name)
    found = (outcomes.reason(method, set_name) or "not run") if embedding is None else embedding
    return METHODS[method].title, found


def _grid(n: int, inches: float = _PANEL_INCHES, most_columns: int = _MOST_COLUMNS) -> Any:
    """Return a figure and n axes in rows."""
    n_columns = min(n, most_columns)
    n_rows = -(-n // n_columns)
    figure = new_figure((inches * n_columns, inches * n_rows))
    axes = np.atleast_1d(figure.subplots(n_rows, n_columns)).ravel()
    for left_over in axes[n:]:
        left_over.set_axis_off()
    return figure, axes[:n]


def _colours_of(names: Sequence[str]) -> list[Any]:
    """Return a colour of each group; grey of what belongs to none."""
    colours = iter(categorical_colors(sum(name != _UNTYPED for name in names)))
    return [LIGHT.missing if name == _UNTYPED else next(colours) for name in names]


def _scatter(ax: Any, points: FloatArray, labels: IntArray, colours: Sequence[Any]) -> None:
    size = float(np.clip(8000 / len(points), 1.2, 6))
    # In random order, so that no group lies on top.
    order = np.random.default_rng(0).permutation(len(points))
    x, y = points[order].T
    shown = [colours[i] for i in labels[order]]
    ax.scatter(x, y, s=size, c=shown, linewidths=0, alpha=0.8, rasterized=True)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])


def _say_missing(ax: Any, title: str, reason: str) -> None:
    ax.set_title(title, fontsize=10)
    ax.text(0.5, 0.5, f"missing:\n{reason}", ha="center", va="center", wrap=True, fontsize=7,
            transform=ax.transAxes, parse_math=False)  # fmt: skip
    ax.set_xticks([])
    ax.set_yticks([])


def _legend(figure: Any, names: Sequence[str], colours: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", ls="", color=colour) for colour in colours]
    figure.legend(handles, names, loc="outside lower center", fontsize=8, frameon=False,
                  ncols=min(len(names), 6))  # fmt: skip


def _digits_at(points: FloatArray, drawn: DatasetSample, colours: Sequence[Any]) -> FloatArray:
    """Lay the images of the digits over each other where their points are, on white."""
    from matplotlib.colors import to_rgb

    extent = (np.ptp(points, axis=0).max() or 1.0) * (1 + 2 * _DIGIT_MARGIN)
    centre = (points.max(axis=0) + points.min(axis=0)) / 2
    at = (points - centre) / extent + 0.5
    half = _DIGIT_PIXELS // 2
    canvas = np.ones((_MAP_PIXELS + 2 * half, _MAP_PIXELS + 2 * half, 3))
    # Every second row and column of the 28 × 28.
    images = drawn.raw.reshape(-1, 28, 28)[:, ::2, ::2]
    for (x, y), image, label in zip(at, images, drawn.labels, strict=True):
        top, left = round((1 - y) * _MAP_PIXELS), round(x * _MAP_PIXELS)
        ink = np.clip((image - _INK_FROM) / (255 - _INK_FROM), 0, 1)[..., np.newaxis]
        part = canvas[top : top + half, left : left + half]
        part += ink * (np.array(to_rgb(colours[label])) - part)
    return canvas


def _save(figure: Any, path: Path, dpi: int = _DPI) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=dpi)

"""``dtsne demo``: pictures and a page of dtSNE, and tables to try the other commands with."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dtsne.cli._options import Argument, command
from dtsne.cli._verbosity import Verbosity, print_result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dtsne.datasets import Dataset
    from dtsne.runtime._typing import FloatArray

_LOGGER = logging.getLogger(__name__)

# The second is also written as a table.
_SETS = ("2D-density", "G3-d")
_TYPES = ("tight", "medium", "wide")
_TSNE, _DTSNE = "t-SNE (density_scale=0)", "dtSNE"


@command(
    Argument("folder", "[FOLDER]", "Folder of all files.", default=Path("demo-output")),
    verbosity=Verbosity,
)
def demo(folder: Path, verbosity: Verbosity) -> None:
    """Map and draw three Gaussians and the digits.

    Prints how good the maps are, compared with t-SNE. The Gaussians are also written as a table
    (cells.csv), and their map by t-SNE (tsne.csv), to try the other commands with.
    """
    with verbosity.configured_logging():
        make_demo(folder)


def make_demo(folder: Path, *, n: int | None = None, max_iter: int = 1000) -> None:
    """Write all files and print all measures, of at most `n` points of each set."""
    from dtsne.cli import _outputs
    from dtsne.tables import check_output

    names = ("three-gaussians.png", "digits.png", "digits.html", "cells.csv", "tsne.csv")
    gaussians, digits, page, cells, tsne = files = [folder / name for name in names]
    _make_folder(folder)
    for path in files:
        check_output(path)
    _LOGGER.info("the first run compiles for some seconds; later ones do not")
    started = time.perf_counter()
    figure, data, Y = _three_gaussians(n, max_iter)
    _outputs.write_picture(gaussians, figure)
    ids = [f"cell-{i + 1}" for i in range(len(data.X))]
    _outputs.write_text(cells, _as_csv(data, ids))
    _outputs.write_points(tsne, Y, ids, {}, name="tsne")
    axes, html = _digits(n, max_iter)
    _outputs.write_picture(digits, axes)
    _outputs.write_text(page, html)
    seconds = time.perf_counter() - started
    print_result(f"\nSee {', '.join(map(str, files))} ({seconds:.0f} s).")


def _make_folder(folder: Path) -> None:
    from dtsne.plots._axes import new_figure

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; name a folder for the demo")
    new_figure((1, 1))  # raises an error where matplotlib is missing, before anything is made
    folder.mkdir(parents=True, exist_ok=True)


def _as_csv(data: Dataset, ids: list[str]) -> str:
    """Return a set as a table such as those that people have."""
    assert data.labels is not None
    header = ["cell", "type", *(f"marker_{i + 1}" for i in range(data.X.shape[1]))]
    rows = (
        [name, _TYPES[label], *(f"{x:.6g}" for x in row)]
        for name, label, row in zip(ids, data.labels, data.X, strict=True)
    )
    return "".join(f"{','.join(row)}\n" for row in (header, *rows))


def _three_gaussians(n: int | None, max_iter: int) -> tuple[Figure, Dataset, FloatArray]:
    """Draw three Gaussians in 2 dimensions and in 50; return the latter and its map by t-SNE."""
    from dtsne import DTSNE
    from dtsne.datasets import load
    from dtsne.plots._axes import new_figure

    figure = new_figure((10.5, 7.2))
    for row, name in enumerate(_SETS):
        data = load(name, n=n)
        maps = {
            title: DTSNE(density_scale=scale, max_iter=max_iter).fit_transform(data.X)
            for title, scale in ((_TSNE, 0.0), (_DTSNE, 1.0))
        }
        axes = [figure.add_subplot(len(_SETS), 3, 3 * row + column) for column in (1, 2, 3)]
        _draw_row(axes, data, maps)
    return figure, data, maps[_TSNE]


def _draw_row(axes: list[Axes], data: Dataset, maps: dict[str, FloatArray]) -> None:
    """Draw the data and its maps next to one another, and print how good the maps are."""
    from dtsne import plots
    from dtsne.quality import cluster_radius_ratios, evaluate

    X, labels = data.X, data.labels
    assert labels is not None
    shown = "the data" if X.shape[1] == 2 else f"two of the data's {X.shape[1]} dimensions"
    first = f"{data.name}: {shown}"
    ratios = {
        title: " : ".join(f"{ratio:.2f}" for ratio in cluster_radius_ratios(X, Y, labels).map)
        for title, Y in {first: X, **maps}.items()
    }
    panels = {first: X[:, :2], **maps}
    titled = {f"{title}\nradii {ratios[title]}": Y for title, Y in panels.items()}
    plots.side_by_side(titled, labels=labels, axes=axes, annotate=False, legend=False)
    found = f"radii of the clusters, relative to the first: {ratios[first]} in the data"
    print_result(f"\n{data.name}: {found}")
    for title in maps:
        print_result(f"  {title:<24} {ratios[title]}")
    print_result(str(evaluate(X, maps[_DTSNE], labels=labels)))


def _digits(n: int | None, max_iter: int) -> tuple[Axes, str]:
    """Draw the digits, and make their page."""
    from dtsne import DTSNE, plots
    from dtsne.datasets import load
    from dtsne.quality import evaluate

    X, labels, description = load("digits", n=n)
    model, tsne = (
        DTSNE(perplexity=50, density_scale=scale, max_iter=max_iter).fit(X) for scale in (1.0, 0.0)
    )
    names = [f"digit {label}" for label in labels]
    print_result(f"\n{description}")
    print_result(str(evaluate(X, model.embedding_, k=50, labels=labels)))
    title = "digits: dtSNE, perplexity 50"
    axes = plots.scatter_map(model.embedding_, labels=names, title=title)
    others = {"t-SNE": tsne.embedding_}
    page = model.explore(labels=names, others=others, title="Handwritten digits")
    return axes, page.html

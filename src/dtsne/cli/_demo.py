"""``dtsne demo``: pictures and a page of dtSNE, and tables to try the other commands with."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtsne.cli._errors import print_error
from dtsne.cli._options import Argument, command
from dtsne.cli._verbosity import Verbosity, print_result

if TYPE_CHECKING:
    from dtsne.datasets import Dataset
    from dtsne.io._table import TextArray
    from dtsne.runtime._typing import FloatArray

# The second is also written as a table.
_SETS = ("2D-density", "G3-d")
_TYPES = ("tight", "medium", "wide")
_TSNE, _DTSNE = "t-SNE (density_scale=0)", "dtSNE"


@command(
    Argument(
        "folder",
        "[FOLDER]",
        "Folder of the pictures, the page and the tables.  [default: demo-output]",
        default=Path("demo-output"),
        required=False,
    ),
    verbosity=Verbosity,
)
def demo(folder: Path, verbosity: Verbosity) -> None:
    """Map and draw three Gaussians and the digits.

    Prints how good the maps are, compared with t-SNE. The Gaussians are also written as a table
    (cells.csv), and their map by t-SNE (tsne.csv), to try the other commands with.
    """
    with verbosity.configured_logging():
        from dtsne.cli import _outputs
        from dtsne.io._table import as_text
        from dtsne.tables import check_output

        names = ("three-gaussians.png", "digits.png", "digits.html", "cells.csv", "tsne.csv")
        gaussians, digits, page, cells, tsne = paths = [folder / name for name in names]
        _make_folder(folder)
        for path in paths:
            check_output(path)
        started = time.perf_counter()
        if verbosity.level:
            print_error("the first run compiles for some seconds; later ones do not.")
        drawn, data, Y = _three_gaussians()
        _outputs.write_picture(gaussians, drawn)
        ids = as_text([f"cell-{i + 1}" for i in range(len(data.X))])
        _outputs.write_text(cells, _as_csv(data, ids))
        _outputs.write_points(tsne, Y, ids, {}, name="tsne")
        drawn, html = _digits()
        _outputs.write_picture(digits, drawn)
        _outputs.write_text(page, html)
        seconds = time.perf_counter() - started
        print_result(f"\nSee {', '.join(map(str, paths))} ({seconds:.0f} s).")


def _make_folder(folder: Path) -> None:
    """Make the folder, once it is clear that there will be something in it."""
    from dtsne.plots._axes import new_figure

    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; name a folder for the demo")
    new_figure((1, 1))  # the absence of matplotlib is an error before anything is made
    folder.mkdir(parents=True, exist_ok=True)


def _as_csv(data: Dataset, ids: TextArray) -> str:
    """Write a set as a table such as those that people have."""
    assert data.labels is not None
    markers = [f"marker_{i + 1}" for i in range(data.X.shape[1])]
    rows = (
        [name, _TYPES[label], *(f"{x:.6g}" for x in row)]
        for name, label, row in zip(ids, data.labels, data.X, strict=True)
    )
    return "".join(f"{','.join(row)}\n" for row in (["cell", "type", *markers], *rows))


def _three_gaussians() -> tuple[Any, Dataset, FloatArray]:
    """Draw three Gaussians in 2 dimensions and in 50; return these, and their map by t-SNE, too."""
    from dtsne import DTSNE
    from dtsne.datasets import load
    from dtsne.plots._axes import new_figure

    figure = new_figure((10.5, 7.2))
    for row, name in enumerate(_SETS):
        data = load(name)
        maps = {
            _TSNE: DTSNE(density_scale=0).fit_transform(data.X),
            _DTSNE: DTSNE().fit_transform(data.X),
        }
        _draw_row(figure, row, data, maps)
    return figure, data, maps[_TSNE]


def _draw_row(figure: Any, row: int, data: Dataset, maps: dict[str, FloatArray]) -> None:
    """Draw the data and its maps beside one another, and print how good they are."""
    from dtsne import plots
    from dtsne.quality import evaluate

    X, labels = data.X, data.labels
    seen = "the data" if X.shape[1] == 2 else f"two of the data's {X.shape[1]} dimensions"
    ratios = {f"{data.name}: {seen}": _ratios(X, X, labels)}
    ratios |= {title: _ratios(X, Y, labels) for title, Y in maps.items()}
    panels = {f"{data.name}: {seen}": X[:, :2], **maps}
    for column, (title, Y) in enumerate(panels.items()):
        plots.scatter_map(
            Y,
            labels=labels,
            title=f"{title}\nradii {ratios[title]}",
            ax=figure.add_subplot(len(_SETS), len(panels), row * len(panels) + column + 1),
            annotate=False,
            legend=False,
        )
    true, *others = ratios.items()
    print_result(
        f"\n{data.name}: radii of the clusters, relative to the first: {true[1]} in the data"
    )
    for title, ratio in others:
        print_result(f"  {title:<24} {ratio}")
    print_result(str(evaluate(X, maps[_DTSNE], labels=labels)))


def _digits() -> tuple[Any, str]:
    """Draw the digits, and make their page."""
    from dtsne import DTSNE, plots
    from dtsne.datasets import load
    from dtsne.quality import evaluate

    X, labels, description = load("digits")
    models = {
        name: DTSNE(perplexity=50, density_scale=scale).fit(X)
        for name, scale in (("dtSNE", 1.0), ("t-SNE", 0.0))
    }
    Y = models["dtSNE"].embedding_
    names = [f"digit {label}" for label in labels]
    print_result(f"\n{description}")
    print_result(str(evaluate(X, Y, k=50, labels=labels)))
    drawn = plots.scatter_map(Y, labels=names, title="digits: dtSNE, perplexity 50")
    page = models["dtSNE"].explore(
        labels=names, others={"t-SNE": models["t-SNE"].embedding_}, title="Handwritten digits"
    )
    return drawn, page.html


def _ratios(X: FloatArray, Y: FloatArray, labels: Any) -> str:
    from dtsne.quality import cluster_radius_ratios

    found = cluster_radius_ratios(X, Y, labels)
    return " : ".join(f"{ratio:.2f}" for ratio in found.map)

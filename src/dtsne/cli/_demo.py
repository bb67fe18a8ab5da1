"""``dtsne demo``: what dtSNE is about, in two pictures and a page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtsne.cli._running import stops

if TYPE_CHECKING:
    from dtsne._typing import FloatArray

_SETS = ("2D-density", "G3-d")
_TSNE, _DTSNE = "t-SNE (density_scale=0)", "dtSNE"


@stops
def demo(
    folder: Annotated[Path, typer.Argument(help="Where pictures and page go.")] = Path(
        "demo-output"
    ),
) -> None:
    """Map and draw three Gaussians and the digits.

    Prints how good the maps are, beside those of t-SNE.
    """
    from dtsne.cli import _outputs

    pictures = [folder / name for name in ("three-gaussians.png", "digits.png")]
    page = folder / "digits.html"
    folder.mkdir(parents=True, exist_ok=True)
    for path in pictures:
        _outputs.check_picture(path, None)
    _outputs.check_page(page, None)
    started = time.perf_counter()
    typer.echo("dtsne: the first run compiles for some seconds; later ones do not.", err=True)
    _outputs.write_picture(pictures[0], _three_gaussians())
    drawn, html = _digits()
    _outputs.write_picture(pictures[1], drawn)
    _outputs.write_text(page, html)
    seconds = time.perf_counter() - started
    typer.echo(f"\nSee {', '.join(map(str, (*pictures, page)))} ({seconds:.0f} s).")


def _three_gaussians() -> Any:
    """Draw the data, t-SNE and dtSNE of three Gaussians, in 2 dimensions and in 50."""
    from dtsne import DTSNE, plots
    from dtsne.datasets import load
    from dtsne.plots._axes import new_figure
    from dtsne.quality import evaluate

    figure = new_figure((10.5, 7.2))
    for row, name in enumerate(_SETS):
        X, labels, _ = load(name)
        seen = "the data" if X.shape[1] == 2 else f"two of the data's {X.shape[1]} dimensions"
        maps = {
            _TSNE: DTSNE(density_scale=0).fit_transform(X),
            _DTSNE: DTSNE().fit_transform(X),
        }
        ratios = {f"{name}: {seen}": _ratios(X, X, labels)}
        ratios |= {title: _ratios(X, Y, labels) for title, Y in maps.items()}
        panels = {f"{name}: {seen}": X[:, :2], **maps}
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
        typer.echo(f"\n{name}: radii of the clusters, relative to the first: {true[1]} in the data")
        for title, ratio in others:
            typer.echo(f"  {title:<24} {ratio}")
        typer.echo(evaluate(X, maps[_DTSNE], labels=labels))
    return figure


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
    typer.echo(f"\n{description}")
    typer.echo(evaluate(X, Y, k=50, labels=labels))
    drawn = plots.scatter_map(Y, labels=names, title="digits: dtSNE, perplexity 50")
    page = models["dtSNE"].explore(
        labels=names, others={"t-SNE": models["t-SNE"].embedding_}, title="Handwritten digits"
    )
    return drawn, page.html


def _ratios(X: FloatArray, Y: FloatArray, labels: Any) -> str:
    from dtsne.quality import cluster_radius_ratios

    found = cluster_radius_ratios(X, Y, labels)
    return " : ".join(f"{ratio:.2f}" for ratio in found.map)

"""``dtsne reproduce``: the comparison of the paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtsne.cli._signals import stop_code, stoppable
from dtsne.cli._verbosity import print_result

if TYPE_CHECKING:
    from collections.abc import Sequence


def reproduce(
    output: Annotated[Path, typer.Argument(help="Folder of the report and the results.")] = Path(
        "reproduction"
    ),
    *,
    quick: Annotated[
        bool, typer.Option("--quick", help="One seed and at most 1000 points of a set: minutes.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(help="A set; may be given again.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Methods, separated by commas; all by default.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Draws of each set; 3 by default.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Run the paper's comparison: every method on every set, as report.html and report.md.

    What is done is kept: after Ctrl-C the same command goes on, and a second run does only what
    changed. Real sets are read from the folder in DTSNE_DATA, or downloaded. The report has what is
    asked for: give a part of it another folder than the whole.
    """
    from dtsne.reproduce import N_QUICK, N_SEEDS, method_names, set_names
    from dtsne.reproduce import reproduce as run

    chosen = methods.split(",") if methods is not None else None
    _check_names("--only", only, set_names())
    _check_names("--methods", chosen, method_names())
    try:
        with stoppable():  # which ends the peers' processes, too
            _, page = run(
                output,
                sets=only or None,
                methods=chosen,
                seeds=seeds if seeds is not None else (1 if quick else N_SEEDS),
                n=N_QUICK if quick else None,
                quiet=quiet,
            )
    except KeyboardInterrupt as stop:
        typer.echo(f"stopped; {output} has what is done, and the same command goes on", err=True)
        raise typer.Exit(stop_code(stop)) from None
    print_result(f"see {page}")


def _check_names(option: str, asked: Sequence[str] | None, known: Sequence[str]) -> None:
    for name in asked or ():
        if name not in known:
            raise typer.BadParameter(
                f"{name!r} is not known; choose from {', '.join(known)}.", param_hint=option
            )

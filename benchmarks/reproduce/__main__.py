"""``make reproduce``, or ``PYTHONPATH=benchmarks python -m reproduce``: the paper's comparison."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import reproduce
from _arguments import positive, several_of

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """
Run the paper's comparison: every method on every set, as report.html and report.md. Finished maps
are kept: after Ctrl-C the same command resumes, and a second run does only what changed. Real sets
are read from the folder in DTSNE_DATA, or downloaded. The report has what is asked for: give a part
of it another folder than the whole.
"""


class Terminated(KeyboardInterrupt):
    """The end of a batch job (SIGTERM), treated as Ctrl-C, which ends the peers' processes, too."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and return the exit code: 130 after Ctrl-C, 143 after SIGTERM."""
    asked = _parser().parse_args(arguments)
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        _, page = reproduce.reproduce(
            asked.output,
            sets=asked.only,
            methods=asked.methods,
            seeds=asked.seeds or (1 if asked.quick else reproduce.N_SEEDS),
            n=reproduce.N_QUICK if asked.quick else None,
            quiet=asked.quiet,
        )
    except KeyboardInterrupt as stop:
        print(f"stopped; {asked.output} has the finished maps, and the same command resumes",
              file=sys.stderr)  # fmt: skip
        return 143 if isinstance(stop, Terminated) else 130
    finally:
        signal.signal(signal.SIGTERM, before)
    print(f"see {page}")
    return 0


def _terminate(*_: object) -> None:
    raise Terminated


def _parser() -> argparse.ArgumentParser:
    sets, methods = reproduce.set_names(), reproduce.method_names()
    parser = argparse.ArgumentParser("reproduce", description=DESCRIPTION)
    add = parser.add_argument
    add("output", nargs="?", type=Path, default=Path("reproduction"),
        help="folder of the report and the results (default: reproduction)")  # fmt: skip
    add("--quick", action="store_true",
        help=f"one seed and at most {reproduce.N_QUICK} points of a set: minutes")  # fmt: skip
    add("--only", action="append", choices=sets, metavar="SET",
        help=f"a set; may be given again: {', '.join(sets)}")  # fmt: skip
    add("--methods", type=several_of(methods),
        help=f"methods, separated by commas (default: {','.join(methods)})")  # fmt: skip
    add("--seeds", type=positive, help=f"draws of each set (default: {reproduce.N_SEEDS})")
    add("--quiet", "-q", action="store_true", help="show no progress")
    return parser


if __name__ == "__main__":
    sys.exit(main())

"""What the tests of the command line share."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from dtsne.cli import app

SOURCE = Path(__file__).parents[2] / "src"
# The functions that `dtsne embed` calls, to be replaced in tests.
EMBED, REPORT = (f"dtsne.cli._embed_run.{name}" for name in ("embed", "report_of_embedding"))
# Points of the shared data.
N = 90
# As little as makes a map.
QUICK = ["--perplexity", "8", "--max-iter", "20", "--tol", "0"]


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments):
    """Run a command that has to succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result


def rejected(*arguments, code=1):
    """Run a command that has to fail, and return the one line that it says."""
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    on_the_way = (
        "dtsne: warning:",
        "numbers from",
        "dtsne: the map is",
        "points are matched by their order",
    )
    lines = [
        line for line in result.stderr.splitlines() if not any(text in line for text in on_the_way)
    ]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("dtsne: ")
    return lines[0]


def quick_demo(monkeypatch):
    """Have `dtsne demo` make poor maps of few points."""
    from dtsne.cli import _demo

    monkeypatch.setattr(_demo, "make_demo", partial(_demo.make_demo, n=150, max_iter=1))


def start(*arguments, **options):
    """Start a command as a process of its own."""
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "dtsne", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path, **options.pop("env", {})}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, text=True, encoding="utf-8", env=environment, **streams)


def three_groups(n=N, d=4, seed=0):
    """Three groups of different spread, one after the other by turns, and their names."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    X = 15.0 * group[:, None] + (1.0 + group[:, None]) * rng.normal(size=(n, d))
    return X, np.array(["B", "T", "NK"], dtype=object)[group]


def write_csv(path, X, types=None, ids=None):
    """Write a table as anybody would."""
    header = [f"m{i}" for i in range(X.shape[1])]
    columns = [[repr(float(x)) for x in column] for column in X.T]
    if ids is not None:
        header, columns = ["cell", *header], [ids, *columns]
    if types is not None:
        header, columns = [*header, "type"], [*columns, types]
    rows = [",".join(header), *(",".join(row) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path

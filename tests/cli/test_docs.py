"""The commands of docs/cli.md and of the README run, and say what the pages have them say."""

from __future__ import annotations

import gzip
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from cli_support import quick_demo, run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
README = (ROOT / "README.md").read_text(encoding="utf-8")
N = 120


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write the files that the page speaks of, by the libraries that people write them with."""
    monkeypatch.chdir(tmp_path)
    anndata, flowio = pytest.importorskip("anndata"), pytest.importorskip("flowio")
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("matplotlib")
    from scipy import io, sparse

    rng = np.random.default_rng(0)
    group = np.arange(N) % 3
    X = group[:, None] + rng.gamma(2.0, size=(N, 4))
    ids = pandas.Index([f"cell-{i}" for i in range(N)], name="cell")
    cells = pandas.DataFrame(X, ids, ["CD3", "CD4", "batch", "age"])
    cells["type"] = np.array(["B", "T", "NK"])[group]
    cells.to_csv("cells.csv")
    umap = pandas.DataFrame(X[::-1, :2], ids[::-1], ["UMAP1", "UMAP2"])
    umap.to_csv("umap.csv")
    obsm = {"X_pca": X, "X_umap": X[:, :2]}
    anndata.AnnData(X, cells[["type"]], obsm=obsm).write_h5ad("cells.h5ad")
    counts = sparse.csr_matrix(rng.poisson(2.0, size=(30, N)))
    io.mmwrite("counts.mtx", counts)
    Path("counts.mtx.gz").write_bytes(gzip.compress(Path("counts.mtx").read_bytes()))
    Path("barcodes.tsv").write_text("\n".join(ids) + "\n")
    with Path("sample.fcs").open("wb") as file:
        flowio.create_fcs(file, X.ravel().tolist(), ["FSC", "CD3", "CD4", "Time"])
    np.save("large.npy", X)


def commands(block):
    """Yield the commands of a block, and what each is said to print."""
    for entry in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, printed = entry.partition("\n")
        yield shlex.split(command, comments=True), printed


def test_the_commands_run_one_after_the_other(files):
    count = 0
    for block in BLOCKS:
        for (program, *arguments), printed in commands(block):
            assert program == "dtsne"
            result = run(*arguments)
            if printed:
                assert result.stderr.endswith(printed)
            else:
                assert result.exit_code == 0, (arguments, result.output)
            count += 1
    assert count >= 12
    for name in ("map.csv", "map.html", "account.md", "mapped.h5ad", "residual.png", "umap.html"):
        assert Path(name).stat().st_size > 1000


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    """All of them, from an empty folder; the demo in short."""
    monkeypatch.chdir(tmp_path)
    for package in ("pyarrow", "matplotlib"):
        pytest.importorskip(package)
    blocks = "\n".join(re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL))
    ran = []
    for (program, *arguments), _ in commands(blocks):
        if program != "dtsne":
            continue
        with monkeypatch.context() as patch:
            if arguments[0] == "demo":
                quick_demo(patch)
            result = run(*arguments)
        assert result.exit_code == 0, (arguments, result.output)
        ran.append(arguments[0])
    assert ran == ["demo", "embed", "quality"]
    assert Path("map.html").stat().st_size > 1000


def test_options_of_the_page_exist():
    shown = "".join(run(command, "--help").stdout for command in ("embed", "quality", "plot"))
    for flag in set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", PAGE)) - {"--install-completion"}:
        assert re.search(rf"{flag}\b", shown), flag

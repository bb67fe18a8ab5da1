"""The adapters of the comparison: those that install are run, programs are stood in for."""

from __future__ import annotations

import sys
import textwrap
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reproduce.methods import METHODS, Missing

if TYPE_CHECKING:
    from pathlib import Path

LIBRARIES = [
    "tsne", "umap", "densmap", "lle", "pacmap", "largevis", "dtsne", "dtsne-plain", "dtsne-paper",
]  # fmt: skip


@pytest.fixture(scope="module")
def blobs() -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = 10 * rng.normal(size=(3, 8))
    return centres[np.arange(330) % 3] + rng.normal(size=(330, 8))


def script(path: Path, text: str) -> Path:
    """Write a program in Python."""
    path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
    path.chmod(0o755)
    return path


@pytest.mark.filterwarnings("default")  # the peers' own
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_keeps_clusters_apart_and_repeats_itself(name, blobs):
    method = METHODS[name]
    try:
        assert method.version()
    except Missing as why:
        pytest.skip(str(why))
    X = blobs.copy()
    first, second = method.embed(X, 3), method.embed(X, 3)
    assert first.shape == (330, 2)
    np.testing.assert_array_equal(X, blobs)
    np.testing.assert_array_equal(first, second)
    if name != "lle":  # whose clusters collapse to points, or not
        centres = np.array([first[i::3].mean(axis=0) for i in range(3)])
        nearest = np.linalg.norm(first[:, np.newaxis] - centres, axis=2).argmin(axis=1)
        assert (nearest == np.arange(330) % 3).mean() > 0.95


def test_a_library_that_is_not_installed_is_missing(monkeypatch):
    def none_of(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr(metadata, "version", none_of)
    with pytest.raises(Missing, match=r'pacmap is not installed: pip install "dtsne\[bench\]"'):
        METHODS["pacmap"].version()


@pytest.mark.parametrize(
    ("name", "variable"),
    [("ncvis", "NCVIS_PYTHON"), ("densne", "DENSNE"), ("largevis", "LARGEVIS")],
)
def test_a_program_that_cannot_be_run_is_missing(name, variable, monkeypatch, tmp_path):
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    with pytest.raises(Missing, match=f"{variable} names .*nowhere"):
        METHODS[name].version()


@pytest.mark.parametrize(("name", "variable"), [("ncvis", "NCVIS_PYTHON"), ("densne", "DENSNE")])
def test_a_program_that_is_not_named_is_missing(name, variable, monkeypatch):
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(Missing, match=f"{variable} is not set"):
        METHODS[name].version()


def test_ncvis_runs_in_an_environment_of_its_own(monkeypatch, tmp_path, blobs):
    (tmp_path / "ncvis.py").write_text(
        textwrap.dedent("""
        class NCVis:
            def __init__(self, d, n_threads, random_seed):
                assert (d, n_threads) == (2, 1)
                self.seed = random_seed
            def fit_transform(self, X):
                assert X.dtype == "float32"
                return X[:, :2] + self.seed
        """)
    )
    information = tmp_path / "ncvis-9.8.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: ncvis\nVersion: 9.8\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("NCVIS_PYTHON", sys.executable)
    assert METHODS["ncvis"].version() == "ncvis 9.8"
    found = METHODS["ncvis"].embed(blobs, 5)
    np.testing.assert_array_equal(found, blobs[:, :2].astype(np.float32) + 5)


def test_a_python_without_ncvis_is_missing(monkeypatch):
    monkeypatch.setenv("NCVIS_PYTHON", sys.executable)
    with pytest.raises(Missing, match="without ncvis"):
        METHODS["ncvis"].version()


def test_largevis_reads_and_writes_the_programs_files(monkeypatch, tmp_path, blobs):
    program = script(
        tmp_path / "LargeVis",
        """
        import sys
        given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
        assert given["-outdim"] == "2" and given["-perp"] == "50"
        lines = open(given["-input"]).read().splitlines()
        n, d = map(int, lines[0].split())
        rows = [line.split() for line in lines[1:]]
        assert len(rows) == n and all(len(row) == d for row in rows)
        with open(given["-output"], "w") as file:
            print(n, 2, file=file)
            for row in rows:
                print(*row[:2], file=file)
        """,
    )
    monkeypatch.setenv("LARGEVIS", str(program))
    assert METHODS["largevis"].version().startswith("the authors' (LargeVis ")
    np.testing.assert_allclose(METHODS["largevis"].embed(blobs, 0), blobs[:, :2], rtol=1e-5)


def test_a_program_that_fails_says_why(monkeypatch, tmp_path, blobs):
    program = script(tmp_path / "LargeVis", "import sys; sys.exit('no room')")
    monkeypatch.setenv("LARGEVIS", str(program))
    with pytest.raises(RuntimeError, match="LargeVis ended with 1: no room"):
        METHODS["largevis"].embed(blobs, 0)


def test_densne_reads_and_writes_the_programs_files(monkeypatch, tmp_path, blobs):
    program = script(
        tmp_path / "den_sne",
        """
        import struct
        raw = open("data.dat", "rb").read()
        n, d, *given = struct.unpack_from("<iiddiiddbb", raw)
        assert given == [.5, 50, 2, 1000, .3, .1, 0, 0]
        assert len(raw) == 50 + 8 * n * d
        rows = struct.unpack(f"<{n * d}d", raw[50:])
        firsts = [value for i in range(n) for value in rows[i * d : i * d + 2]]
        with open("result.dat", "wb") as file:
            file.write(struct.pack(f"<ii?{2 * n}d", n, 2, False, *firsts) + bytes(12 * n))
        """,
    )
    monkeypatch.setenv("DENSNE", str(program))
    assert METHODS["densne"].version().startswith("the authors' (den_sne ")
    np.testing.assert_array_equal(METHODS["densne"].embed(blobs, 0), blobs[:, :2])


def test_densne_without_a_result_is_an_error(monkeypatch, tmp_path, blobs):
    program = script(tmp_path / "den_sne", "print('perplexity too large')")
    monkeypatch.setenv("DENSNE", str(program))
    with pytest.raises(RuntimeError, match="no result: perplexity too large"):
        METHODS["densne"].embed(blobs, 0)

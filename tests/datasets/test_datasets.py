"""Data sets: the true spreads of the synthetic ones, and each way to a real one."""

import gzip
import os
import struct
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from dtsne.datasets import Dataset, _convert, load, names
from dtsne.datasets._download import HIMC, RemoteFile, fetch
from dtsne.runtime._errors import DataError, MissingPackageError, ParameterError

# Sizes and spreads of the clusters, and the dimension, as the paper's appendix gives them.
SYNTHETIC = {
    "2D-density": ([300, 300, 300], [1, 2, 4], 2),
    "2D-samples": ([100, 200, 500], [1, 1, 1], 2),
    "G3-s": ([200, 400, 600], [2, 2, 2], 50),
    "G3-d": ([300, 300, 300], [2, 4, 8], 50),
    "G10-d": ([200] * 10, list(range(1, 11)), 50),
    "U5-d": ([200] * 5, list(range(1, 6)), 150),
    "U10-d": ([200] * 10, list(range(1, 11)), 150),
}
REAL = {
    "mnist": ((70000, 784), 10),
    "samusik": ((10000, 39), 25),
    "amazon": ((5000, 384), 8),
    "newsgroups": ((4000, 384), 20),
    "pbmc4k": ((4271, 50), 8),
    "himc": ((80415, 37), 28),
}
UNPUBLISHED = ["amazon", "newsgroups"]


def test_names_lists_every_set_once():
    assert sorted(names()) == sorted([*SYNTHETIC, "digits", *REAL])


def test_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ParameterError) as error:
        load("minst")
    assert (error.value.parameter, error.value.value) == ("name", "minst")
    assert error.value.allowed == f"one of {', '.join(names())}"


def test_a_dataset_unpacks_and_is_frozen():
    data = load("2D-density")
    X, labels, description = data
    assert X is data.X
    assert labels is data.labels
    assert description is data.description
    with pytest.raises(FrozenInstanceError):
        data.name = "other"


def test_digits():
    data = load("digits")
    check_consistent(data, (1797, 64), 10)
    assert data.X.dtype == np.float64


@pytest.mark.integration
def test_import_is_light():
    code = (
        "import sys, dtsne.datasets as d; d.load('G3-d'); "
        "print(*{'pooch', 'h5py', 'rdata', 'flowio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_subset_takes_distinct_rows_with_their_labels():
    whole, part = load("digits"), load("digits", n=500, seed=3)
    assert part.X.shape == (500, 64)
    rows = [np.flatnonzero((x == whole.X).all(axis=1)) for x in part.X]
    assert all(len(row) == 1 for row in rows)  # no image occurs twice in digits
    rows = np.concatenate(rows)
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(part.labels, whole.labels[rows])
    assert "500 rows (seed 3)" in part.description


def test_subset_depends_on_the_seed_only():
    first, again, other = (load("digits", n=50, seed=seed).X for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("n", [0, -1, 1798])
def test_subset_of_an_impossible_size(n):
    with pytest.raises(ParameterError) as error:
        load("digits", n=n)
    assert (error.value.parameter, error.value.value) == ("n", n)
    assert error.value.allowed.startswith("from 1 to 1797,")


def check_consistent(data: Dataset, shape: tuple[int, int], n_labels: int) -> None:
    assert data.X.shape == shape
    assert np.isfinite(data.X).all()
    assert data.labels.shape == shape[:1]
    assert data.labels.dtype == np.int64
    assert len(data.label_names) == n_labels
    np.testing.assert_array_equal(np.unique(data.labels), np.arange(n_labels))
    assert f"{shape[0]} × {shape[1]}" in data.description


@pytest.mark.parametrize("name", SYNTHETIC)
@pytest.mark.parametrize("seed", [0, 7])
def test_clusters_have_the_sizes_and_spreads_of_the_paper(name, seed):
    sizes, spreads, d = SYNTHETIC[name]
    data = load(name, seed=seed)
    check_consistent(data, (sum(sizes), d), len(sizes))
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(np.bincount(data.labels), sizes)
    for label, (size, spread) in enumerate(zip(sizes, spreads, strict=True)):
        cluster = data.X[data.labels == label]
        radius = np.sqrt(((cluster - cluster.mean(axis=0)) ** 2).sum(axis=1).mean())
        # The relative standard error of a Gaussian's radius; a uniform's is smaller.
        error = 1 / np.sqrt(2 * size * d)
        assert radius / (spread * np.sqrt(d)) == pytest.approx(1, abs=4 * error + 1 / size)


@pytest.mark.parametrize("name", ["2D-density", "2D-samples"])
def test_centres_in_the_plane(name):
    data = load(name)
    centres = [data.X[data.labels == label].mean(axis=0) for label in range(3)]
    np.testing.assert_allclose(centres, [(10, 0), (0, 15), (-10, 0)], atol=1)


@pytest.mark.parametrize("name", ["G10-d", "U10-d"])
def test_centres_in_high_dimensions_fill_their_range(name):
    data = load(name)
    centres = np.array([data.X[data.labels == label].mean(axis=0) for label in range(10)])
    assert centres.min() == pytest.approx(0, abs=3)
    assert centres.max() == pytest.approx(50, abs=3)
    assert centres.mean() == pytest.approx(25, abs=3)


def test_uniform_clusters_are_bounded():
    data = load("U5-d")
    for label, scale in enumerate(range(1, 6)):
        cluster = data.X[data.labels == label]
        ranges = np.ptp(cluster, axis=0) / (2 * np.sqrt(3) * scale)
        assert ranges.max() <= 1
        assert ranges.min() > 0.9


@pytest.mark.parametrize("name", SYNTHETIC)
def test_draws_depend_on_the_seed_only(name):
    state = np.random.get_state()[1].copy()  # noqa: NPY002 (to see that nobody uses it)
    first, again, other = (load(name, seed=seed).X for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("name", REAL)
def test_real_sets_from_the_folder(name):
    if not os.environ.get("DTSNE_DATA"):
        pytest.skip("DTSNE_DATA does not name a folder with the real sets")
    shape, n_labels = REAL[name]
    data = load(name)
    check_consistent(data, shape, n_labels)
    assert data.X.dtype == np.float32


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DTSNE_DATA", str(tmp_path))
    return tmp_path


def test_a_file_of_the_folder_becomes_float32(folder):
    X = np.arange(6, dtype=np.float16).reshape(3, 2)
    np.savez(folder / "amazon_5k.npz", X=X, y=np.array([1, 0, 1], np.int8), label_names=["a", "b"])
    data = load("amazon")
    np.testing.assert_array_equal(data.X, X)
    assert data.X.dtype == np.float32
    assert data.labels.dtype == np.int64
    assert data.label_names == ("a", "b")


@pytest.mark.parametrize("name", UNPUBLISHED)
def test_an_unpublished_set_is_missing_with_advice(name, folder):
    with pytest.raises(FileNotFoundError, match=r"published nowhere: set DTSNE_DATA .*\.npz"):
        load(name)


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Return a folder from which files are "downloaded" by their names."""
    pooch = pytest.importorskip("pooch")
    monkeypatch.delenv("DTSNE_DATA", raising=False)
    monkeypatch.setattr(
        pooch, "retrieve", lambda url, known_hash, fname, path: str(tmp_path / fname)
    )
    return tmp_path


def write_idx(path: Path, values: np.ndarray) -> None:
    header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    path.write_bytes(gzip.compress(header + values.astype(np.uint8).tobytes()))


def test_mnist_from_its_files(published):
    images = np.arange(5 * 28 * 28).reshape(5, 28, 28) % 256
    labels = np.array([3, 1, 4, 1, 5])
    write_idx(published / "train-images-idx3-ubyte.gz", images[:3])
    write_idx(published / "train-labels-idx1-ubyte.gz", labels[:3])
    write_idx(published / "t10k-images-idx3-ubyte.gz", images[3:])
    write_idx(published / "t10k-labels-idx1-ubyte.gz", labels[3:])
    data = load("mnist")
    np.testing.assert_array_equal(data.X, images.reshape(5, 784))
    np.testing.assert_array_equal(data.labels, labels)
    assert data.X.dtype == np.float32


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an IDX file"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x01a", "not an IDX file"),  # floats
        (b"\x00\x00\x08\x03\x00\x00\x00\x01", "not an IDX file"),  # three dimensions
        (b"\x00\x00\x08\x01\x00\x00", "not an IDX file"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x03ab", "corrupt: 2 bytes instead of 3"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x01ab", "corrupt: 2 bytes instead of 1"),
    ],
)
def test_a_wrong_idx_file_is_refused(tmp_path, content, message):
    path = tmp_path / "labels.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match=f"labels.gz is {message}"):
        _convert.read_idx(path, ndim=1)


def test_mnist_needs_a_label_for_each_image(tmp_path):
    paths = [tmp_path / part for part in ("images", "labels", "more images", "more labels")]
    for path, shape in zip(paths, [(2, 4, 4), (2,), (1, 4, 4), (2,)], strict=True):
        write_idx(path, np.zeros(shape))
    with pytest.raises(DataError, match="3 images and 4 labels"):
        _convert.mnist(paths)


def write_rda(path: Path, frame, r_class: list[str]) -> None:
    rdata = pytest.importorskip("rdata")
    from rdata.conversion import to_r

    def data_frame_of_class(data, converter):
        class Renaming:
            convert_to_r_object = converter.convert_to_r_object

            def convert_to_r_attributes(self, attributes):
                return converter.convert_to_r_attributes({**attributes, "class": np.array(r_class)})

        return to_r.dataframe_constructor(data, Renaming())

    constructors = {**to_r.DEFAULT_CLASS_MAP, type(frame): data_frame_of_class}
    rdata.write_rda(path, {path.stem: frame}, constructor_dict=constructors)


@pytest.mark.parametrize("r_class", [["tbl_df", "tbl", "data.frame"], ["data.frame"]])
def test_samusik_from_its_file(published, r_class):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        rng.normal(size=(4, 6)), columns=["Time", "Ter119", "CD3", "MHCII", "DNA1", "label"]
    )
    frame["label"] = [24.0, np.nan, 1.0, np.nan]
    write_rda(published / "samusik_cells.rda", frame, r_class)
    data = load("samusik")
    np.testing.assert_array_equal(data.X, frame[["Ter119", "CD3", "MHCII"]].astype(np.float32))
    np.testing.assert_array_equal(data.labels, [24, 0, 1, 0])
    assert data.label_names[0] == "unassigned"
    assert data.label_names[24] == "Plasma Cells"


def test_pbmc4k_from_its_file(published):
    h5py = pytest.importorskip("h5py")
    counts = np.random.default_rng(0).poisson(2, (80, 60)).astype(np.float32)
    clusters = np.arange(80) % 8 + 1
    with h5py.File(published / "10X_PBMC_top2000.h5", "w") as file:
        file["X"], file["Y"] = counts, clusters.astype(np.int32)
    data = load("pbmc4k")
    assert data.X.shape == (80, 50)
    np.testing.assert_array_equal(data.labels, clusters - 1)
    assert data.label_names == tuple("12345678")
    # The components are the leading left singular vectors, scaled, up to sign.
    logs = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    values = np.linalg.svd(logs - logs.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=0)[:40], values[:40], rtol=1e-3)


def write_fcs(path: Path, cells: np.ndarray, channels: list[str], original_name: str) -> None:
    flowio = pytest.importorskip("flowio")
    with path.open("wb") as file:
        flowio.create_fcs(
            file,
            cells.ravel().tolist(),
            [f"channel{i}" for i in range(len(channels))],
            opt_channel_names=channels,
            metadata_dict={"fil": original_name},
        )


def test_himc_from_its_files(published):
    rng = np.random.default_rng(0)
    channels = [f"1Xx_{marker}" for marker in reversed(_convert.HIMC_MARKERS)] + ["Time"]
    prefix = "02Feb18_Helios2_Plate3_Sample1_HIMCctrl_"
    counts = {}
    for file in (remote.url.rpartition("/")[2] for remote in HIMC):
        size = int(rng.integers(1, 4))
        cell_type = file.removeprefix(prefix).removesuffix(".fcs")
        counts[cell_type] = rng.integers(0, 50, (size, 38))
        noise = rng.uniform(0.01, 0.99, (size, 38)) * (counts[cell_type] > 0)
        write_fcs(published / file, counts[cell_type] - noise, channels, f"{prefix}{cell_type}.fcs")
    data = load("himc")
    expected = np.concatenate(list(counts.values()))[:, 36::-1]
    np.testing.assert_allclose(data.X, np.arcsinh(expected / 5), rtol=1e-6)
    assert data.label_names == tuple(sorted(counts))
    expected_types = [cell_type for cell_type, cells in counts.items() for _ in cells]
    assert [data.label_names[label] for label in data.labels] == expected_types


@pytest.mark.parametrize("name", sorted(set(REAL) - set(UNPUBLISHED)))
def test_a_missing_package_is_named(name, monkeypatch):
    monkeypatch.delenv("DTSNE_DATA", raising=False)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingPackageError, match=r'pip install "dtsne\[data\]"') as error:
        load(name)
    assert error.value.package == "pooch"


@pytest.mark.parametrize(
    ("converter", "module"), [("samusik", "rdata"), ("pbmc4k", "h5py"), ("himc", "flowio")]
)
def test_a_missing_reader_is_named(converter, module, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match=r'pip install "dtsne\[data\]"') as error:
        getattr(_convert, converter)([tmp_path / "file"])
    assert error.value.package == module


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve a folder to the real pooch; return it and its address. The cache lies beside it."""
    pooch = pytest.importorskip("pooch")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "served").mkdir()

    class Silent(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = partial(Silent, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield tmp_path / "served", f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


HELLO_MD5 = "md5:5d41402abc4b2a76b9719d911017c592"


def test_a_download_is_cached(server):
    served, address = server
    (served / "greeting").write_bytes(b"hello")
    remote = RemoteFile(f"{address}/greeting", HELLO_MD5)
    assert fetch(remote, remedy="").read_bytes() == b"hello"
    (served / "greeting").unlink()
    assert fetch(remote, remedy="").read_bytes() == b"hello"


def test_a_wrong_checksum_is_refused(server):
    served, address = server
    (served / "greeting").write_bytes(b"goodbye")
    with pytest.raises(DataError, match=r"greeting does not have the expected checksum; set X"):
        fetch(RemoteFile(f"{address}/greeting", HELLO_MD5), remedy="set X")
    assert not (served.parent / "cache" / "greeting").exists()


def test_a_failed_download_says_what_to_do(server):
    _, address = server
    with pytest.raises(OSError, match=r"cannot download .*/nothing \(404.*\); set X"):
        fetch(RemoteFile(f"{address}/nothing", HELLO_MD5), remedy="set X")


def test_without_a_network_the_folder_is_named(monkeypatch):
    pooch = pytest.importorskip("pooch")

    def unreachable(*args, **kwargs):
        raise ConnectionError("no route to host")

    monkeypatch.delenv("DTSNE_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", unreachable)
    with pytest.raises(OSError, match=r"cannot download .*no route.*set DTSNE_DATA .* mnist\.npz"):
        load("mnist")

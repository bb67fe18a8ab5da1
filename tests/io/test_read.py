"""Files of every format, written by the libraries that people write them with, read back."""

from __future__ import annotations

import dataclasses
import gzip
import logging
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io, sparse

from dtsne.io._options import MAP_OPTIONS, READ_OPTIONS, ReadKeywords
from dtsne.runtime._errors import DataError, ParameterError
from dtsne.tables import (
    ReadOptions,
    TableError,
    align,
    arcsinh,
    log1p,
    read_embedding,
    read_table,
)

TYPES = ["B cell", "T cell", "NK, rare", 'say "hi"', "B cell", "Übergang"]


@pytest.fixture(name="X")
def six_points(rng):
    return rng.normal(size=(6, 3))


@pytest.fixture
def frame(X):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame.insert(0, "cell", [f"00{i}" for i in range(6)])
    frame["type"] = TYPES
    return frame


@pytest.fixture
def write_text(tmp_path):
    pytest.importorskip("pyarrow")

    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def sparse_points(rng, n, d):
    return sparse.csr_matrix(rng.random((n, d)) * (rng.random((n, d)) < 0.5))


def check_frame(table, X):
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names == ("a", "b", "c")
    assert list(table.ids) == [f"00{i}" for i in range(6)]
    assert all(type(name) is str for name in table.ids)
    assert list(table.labels) == TYPES
    assert table.labels is table.fields["type"]
    assert "cell" not in table.fields


TO_FILE = {
    "data.csv": lambda frame, path: frame.to_csv(path, index=False),
    "data.CSV": lambda frame, path: frame.to_csv(path, index=False),
    "data.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "data.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "data.tsv.gz": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "data.parquet": lambda frame, path: frame.to_parquet(path),
    "data.feather": lambda frame, path: frame.to_feather(path),
    "data.arrow": lambda frame, path: frame.to_feather(path),
}


@pytest.mark.parametrize("name", TO_FILE)
def test_frames(frame, X, tmp_path, name):
    path = tmp_path / name
    TO_FILE[name](frame, path)
    table = read_table(path, id_column="cell", label_column="type")
    check_frame(table, X)
    assert table.X.dtype == np.float64
    expected = f"6 rows × 3 numbers from {name}; columns 'cell', 'type' left out of the numbers"
    assert table.source == expected


def test_format_can_be_named(frame, X, tmp_path):
    frame.to_csv(tmp_path / "data.txt", index=False)
    check_frame(
        read_table(tmp_path / "data.txt", format="csv", id_column="cell", label_column="type"), X
    )


def test_index_of_a_frame_names_the_rows(frame, X, tmp_path):
    indexed = frame.set_index("cell").rename_axis(None)
    indexed.to_csv(tmp_path / "data.csv")
    indexed.to_parquet(tmp_path / "data.parquet")
    frame.set_index("cell").to_parquet(tmp_path / "named.parquet")
    for name in ("data.csv", "data.parquet", "named.parquet"):
        table = read_table(tmp_path / name, label_column="type")
        np.testing.assert_array_equal(table.X, X)
        assert list(table.ids) == list(frame["cell"])
    assert "IDs from its first column" in read_table(tmp_path / "data.csv").source


def test_numbers_as_index_are_no_measurements(frame, X, tmp_path):
    frame[["a", "b", "c"]].to_csv(tmp_path / "data.csv")
    table = read_table(tmp_path / "data.csv")
    np.testing.assert_array_equal(table.X, X)
    assert list(table.ids) == list("012345")


def test_row_names_of_r(write_text):
    path = write_text('"a" "b"\n"r1" 1 2\n"r2" 3 4\n', "data.tsv")
    table = read_table(path, delimiter=" ")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.feature_names == ("a", "b")
    assert list(table.ids) == ["r1", "r2"]


def test_columns_and_exclude(frame, X, tmp_path):
    for name in ("data.csv", "data.parquet", "data.feather"):
        path = tmp_path / name
        TO_FILE[name](frame, path)
        table = read_table(path, columns=["c", "a"], exclude=["cell"])
        np.testing.assert_array_equal(table.X, X[:, [2, 0]])
        assert table.feature_names == ("c", "a")
        assert set(table.fields) == {"cell", "type"}  # not b, a number that nobody asked for
        table = read_table(path, id_column="cell", exclude="b")
        np.testing.assert_array_equal(table.X, X[:, [0, 2]])
        np.testing.assert_array_equal(table.fields["b"], X[:, 1])
        assert read_table(path, columns=["[ab]"]).feature_names == ("a", "b")
        np.testing.assert_array_equal(
            read_table(path, label_column="b", exclude="cell").X, X[:, [0, 2]]
        )


def test_kinds_of_fields(frame, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame["good"] = [True, False] * 3
    frame["kind"] = pandas.Categorical([*"abcab", None])
    frame["count"] = np.arange(6)
    frame["some"] = pandas.array([1, None, 3, 4, 5, 6], dtype="Int64")
    frame["day"] = pandas.to_datetime(["2024-01-02"] * 6)
    frame["many"] = [[1, 2]] * 6
    frame["nothing"] = pandas.array([None] * 6, dtype=object)
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    table = read_table(path, exclude=["count", "some"])
    assert table.feature_names == ("a", "b", "c")
    assert table.fields["good"].dtype == bool
    assert list(table.fields["kind"]) == [*"abcab", ""]
    assert table.fields["count"].dtype == np.int64
    np.testing.assert_array_equal(table.fields["some"], [1, np.nan, 3, 4, 5, 6])
    assert table.fields["day"][0].startswith("2024-01-02")
    assert not {"many", "nothing"} & set(table.fields)
    assert "'many' and 1 more left out" in read_table(path, columns=["[abc]"]).source


LEVELS = ("low", "mid", "high")


def arrow_categories():
    pyarrow = pytest.importorskip("pyarrow")
    codes = pyarrow.array([1, 0, 1, None], pyarrow.int8())
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(LEVELS))


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_categories_of_arrow_keep_their_order(tmp_path, suffix):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    write = {"parquet": parquet.write_table, "feather": feather.write_feather}[suffix]
    write(
        pyarrow.table({"a": [1.0, 2, 3, 4], "level": arrow_categories()}), tmp_path / f"t.{suffix}"
    )
    table = read_table(tmp_path / f"t.{suffix}", label_column="level")
    assert table.categories == {"level": LEVELS}
    assert list(table.labels) == ["mid", "low", "mid", ""]


@pytest.mark.parametrize(
    ("suffix", "write"), [("parquet", "write_parquet"), ("arrow", "write_ipc")]
)
def test_categories_of_polars_keep_the_order_of_an_enum(tmp_path, suffix, write):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    values = ["mid", "low", "mid", None]
    frame = polars.DataFrame(
        {
            "a": [1.0, 2, 3, 4],
            "level": polars.Series(values, dtype=polars.Enum(LEVELS)),
            "kind": polars.Series(values, dtype=polars.Categorical),
            "text": values,
        }
    )
    getattr(frame, write)(tmp_path / f"t.{suffix}")
    table = read_table(tmp_path / f"t.{suffix}")
    assert table.categories == {"level": LEVELS}  # a Categorical has no order of its own
    for name in ("level", "kind", "text"):
        assert list(table.fields[name]) == ["mid", "low", "mid", ""]


def test_float32_stays(frame, X, tmp_path):
    small = frame.astype({"a": np.float32, "b": np.float32, "c": np.int16})
    small.to_parquet(tmp_path / "data.parquet")
    assert read_table(tmp_path / "data.parquet").X.dtype == np.float32
    np.save(tmp_path / "data.npy", X.astype(np.float32))
    assert read_table(tmp_path / "data.npy").X.dtype == np.float32
    np.save(tmp_path / "data.npy", X.astype(np.int32))
    assert read_table(tmp_path / "data.npy").X.dtype == np.float64


def test_stream_of_arrow(X, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1]})
    with pyarrow.ipc.new_file(tmp_path / "data.arrow", table.schema) as writer:
        writer.write_table(table)
    np.testing.assert_array_equal(read_table(tmp_path / "data.arrow").X, X[:, :2])
    with pyarrow.ipc.new_stream(tmp_path / "data.arrow", table.schema) as writer:
        writer.write_table(table)
    np.testing.assert_array_equal(read_table(tmp_path / "data.arrow").X, X[:, :2])


# The first line and what it is taken for.
@pytest.mark.parametrize(
    ("text", "names", "n"),
    [
        ("1,2\n3,4\n5,6\n", ("column_1", "column_2"), 3),
        ("1.5,2\n3,4\n5,6", ("column_1", "column_2"), 3),
        ("0,1,2\n3,4,5\n6,7,9\n", ("0", "1", "2"), 2),  # as pandas names columns
        ("x,1,2\na,4,5\nb,7,9\n", ("column_2", "column_3"), 3),
        ("x,y,2\na,4,5\nb,7,9\n", ("y", "2"), 2),
        ("gene,2001,2002,2003\nx,4,5,6\n", ("2001", "2002", "2003"), 1),
        ("a,b\r\n1,2\r\n3,4\r\n", ("a", "b"), 2),
        ("a,b\r1,2\r3,4\r", ("a", "b"), 2),
        ("\ufeffa,b\n1,2\n", ("a", "b"), 1),
        ("\n\na,b\n\n1,2\n\n3,4\n\n", ("a", "b"), 2),
        ("# by hand\n# a,b\n1,2\n3,4\n", ("a", "b"), 2),  # as numpy.savetxt writes it
        ("# by hand\na,b\n1,2\n3,4\n", ("a", "b"), 2),
        ("a,a,b\n1,2,3\n", ("a", "a.1", "b"), 1),
        ("a, b ,\n1, 2 ,\n3,4,\n", ("a", "b"), 2),
        ('"a\nb",c\n1,2\n', ("a\nb", "c"), 1),
        ("a\n1\n2\n", ("a",), 2),
    ],
)
def test_layouts_of_text(write_text, text, names, n):
    table = read_table(write_text(text))
    assert table.feature_names == names
    assert table.X.shape == (n, len(names))


def test_header_can_be_said(write_text):
    path = write_text("1,2\n3,4\n")
    assert read_table(path, header=True).feature_names == ("1", "2")
    path = write_text("0,1,2\n3,4,5\n")
    np.testing.assert_array_equal(read_table(path, header=False).X, [[0, 1, 2], [3, 4, 5]])


def test_delimiter_and_decimal_can_be_said(write_text):
    path = write_text("a;b\n1,5;2\n3;4,25\n")
    np.testing.assert_array_equal(
        read_table(path, delimiter=";", decimal=",").X, [[1.5, 2], [3, 4.25]]
    )


@pytest.mark.parametrize(
    "options",
    [{"delimiter": "ab"}, {"delimiter": ""}, {"delimiter": "\n"}, {"delimiter": "§"},
     {"decimal": "ab"}, {"decimal": "7"}, {"decimal": " "}],
)  # fmt: skip
def test_delimiter_and_decimal_are_single_characters(write_text, options):
    ((name, value),) = options.items()
    with pytest.raises(ParameterError) as caught:
        read_table(write_text("a;b\n1,5;2\n3;4,25\n"), **options)
    assert (caught.value.parameter, caught.value.value) == (name, value)
    assert "one ASCII character" in caught.value.allowed


def test_options_are_one_object_or_keywords(write_text):
    path = write_text("a;b;c\n1;2;3\n4;5;6\n")
    options = ReadOptions(delimiter="semicolon", columns="a")
    assert options == ReadOptions(delimiter=";", columns=["a"])
    np.testing.assert_array_equal(read_table(path, options).X, [[1], [4]])
    np.testing.assert_array_equal(read_table(path, options, columns=["c", "b"]).X, [[3, 2], [6, 5]])
    np.testing.assert_array_equal(read_embedding(path, options)[0], [[1], [4]])
    with pytest.raises(TypeError, match="delimeter"):
        read_table(path, delimeter=";")


def test_every_option_is_described_and_documented():
    fields = {field.name: field for field in dataclasses.fields(ReadOptions)}
    assert [*fields] == [*READ_OPTIONS] == [*ReadKeywords.__annotations__]
    for name, option in READ_OPTIONS.items():
        assert option.default == fields[name].default
        assert f"    {name} : {option.type}" in ReadOptions.__doc__
    assert MAP_OPTIONS.keys() < READ_OPTIONS.keys()


@pytest.mark.parametrize("name", sorted(READ_OPTIONS.keys() - MAP_OPTIONS.keys()))
def test_options_that_maps_do_not_have(tmp_path, name):
    with pytest.raises(ParameterError) as caught:
        read_embedding(tmp_path / "map.csv", **{name: "x"})
    assert caught.value.parameter == name


def test_text_with_delimiters_and_lines(write_text):
    path = write_text('a,note\n1,"one, two\nthree ""four"""\n2,plain\n')
    assert list(read_table(path).fields["note"]) == ['one, two\nthree "four"', "plain"]


def test_compression_is_seen_whatever_the_name(write_text, tmp_path):
    np.testing.assert_array_equal(read_table(write_text("a,b\n1,2\n", "a.csv.gz")).X, [[1, 2]])
    joined = gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n")
    np.testing.assert_array_equal(read_table(write_text(joined)).X, [[1, 2], [3, 4]])


def test_numbers_that_change_kind_late(write_text):
    lines = ["a,b", *(f"{i},{i}" for i in range(200_000)), "0.5,7"]
    table = read_table(write_text("\n".join(lines)))
    assert table.X.shape == (200_001, 2)
    assert table.X[-1, 0] == 0.5


def test_wide_text(write_text):
    row = ",".join(["0.25" + "0" * 600] * 2000)  # a line of more than 1 MiB
    table = read_table(write_text(f"{row}\n{row}\n{row}"))
    np.testing.assert_array_equal(table.X, np.full((3, 2000), 0.25))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_all_digits_of_text_are_read(tmp_path_factory, values):
    pytest.importorskip("pyarrow")
    path = tmp_path_factory.getbasetemp() / "digits.csv"
    path.write_text("\n".join(["a,b", *(f"{value!r},1" for value in values)]))
    np.testing.assert_array_equal(read_table(path).X[:, 0], values)


def test_npy(X, tmp_path):
    for array in (X, np.asfortranarray(X), X.astype(">f4"), (X > 0)):
        np.save(tmp_path / "data.npy", array)
        table = read_table(tmp_path / "data.npy")
        np.testing.assert_array_equal(table.X, array)
        assert table.X.dtype.isnative
        assert table.X.flags.c_contiguous
    assert table.source == "6 rows × 3 numbers from data.npy"
    assert table.feature_names == ("column_1", "column_2", "column_3")
    assert (table.ids, table.labels, table.fields) == (None, None, {})


def test_columns_of_a_matrix_are_in_the_order_asked_for(X, tmp_path):
    np.save(tmp_path / "data.npy", X)
    table = read_table(tmp_path / "data.npy", columns=["column_3", "column_1", "column_2"])
    np.testing.assert_array_equal(table.X, X[:, [2, 0, 1]])
    assert table.feature_names == ("column_3", "column_1", "column_2")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(X, tmp_path, save):
    path = tmp_path / "data.npz"
    save(
        path,
        X=X,
        other=X[:, :2],
        y=[0, 1, 2, 0, 1, 2],
        label_names=["red", "green", "blue"],
        batch=np.arange(6.0),
        ids=[b"p0", b"p1", b"p2", b"p3", b"p4", b"p5"],
        feature_names=["u", "v", "w"],
        seed=7,
    )
    table = read_table(path, label_column="y")
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names == ("u", "v", "w")
    assert list(table.labels) == ["red", "green", "blue"] * 2
    assert list(table.ids) == [f"p{i}" for i in range(6)]
    assert set(table.fields) == {"y", "batch"}
    assert table.source == "6 rows × 3 numbers from X of data.npz"
    np.testing.assert_array_equal(read_table(path, key="other").X, X[:, :2])


def test_npz_with_one_matrix(X, tmp_path):
    np.savez(tmp_path / "data.npz", points=X, labels=list("abcabc"))
    table = read_table(tmp_path / "data.npz", label_column="labels")
    np.testing.assert_array_equal(table.X, X)
    assert list(table.labels) == list("abcabc")


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_npz_of_a_sparse_matrix(tmp_path, form, rng):
    matrix = sparse_points(rng, 8, 5).asformat(form)
    sparse.save_npz(tmp_path / "data.npz", matrix)
    X = read_table(tmp_path / "data.npz").X
    assert X.format == "csr"
    np.testing.assert_array_equal(X.toarray(), matrix.toarray())


@pytest.fixture
def h5ad(X, tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame(
        {
            "type": pandas.Categorical([*"abcab", None]),
            "n_counts": np.arange(6),
            "note": [f"n{i}" for i in range(6)],
            "good": [True, False] * 3,
            "some": pandas.array([1, None, 3, 4, 5, 6], dtype="Int64"),
        },
        index=[f"cell{i}" for i in range(6)],
    )
    counts = sparse.csr_matrix(np.arange(18).reshape(6, 3) % 4)
    data = anndata.AnnData(
        X.astype(np.float32),
        obs,
        pandas.DataFrame(index=["g1", "g2", "g3"]),
        obsm={"X_pca": X[:, :2], "X_umap": X[:, 1:]},
        layers={"counts": counts, "csc": counts.tocsc()},
    )
    path = tmp_path / "data.h5ad"
    data.write_h5ad(path)
    return path


def test_h5ad(h5ad, X):
    table = read_table(h5ad, label_column="type")
    np.testing.assert_array_equal(table.X, X.astype(np.float32))
    assert table.X.dtype == np.float32
    assert table.feature_names == ("g1", "g2", "g3")
    assert list(table.ids) == [f"cell{i}" for i in range(6)]
    assert list(table.labels) == [*"abcab", ""]
    assert list(table.fields["note"]) == [f"n{i}" for i in range(6)]
    assert table.fields["n_counts"].dtype == np.int64
    assert table.fields["good"].dtype == bool
    np.testing.assert_array_equal(table.fields["some"], [1, np.nan, 3, 4, 5, 6])
    assert table.source == "6 rows × 3 numbers from X of data.h5ad"
    table = read_table(h5ad, use_rep="X_pca", id_column="note", exclude="X_pca_2")
    np.testing.assert_array_equal(table.X, X[:, :1])
    assert table.feature_names == ("X_pca_1",)
    assert list(table.ids) == [f"n{i}" for i in range(6)]
    assert "column 'X_pca_2' left out" in table.source


@pytest.mark.parametrize("layer", ["counts", "csc"])
def test_sparse_layer_of_h5ad(h5ad, layer):
    table = read_table(h5ad, layer=layer, columns=["g3", "g1"])
    assert table.X.format == "csr"
    np.testing.assert_array_equal(table.X.toarray(), (np.arange(18).reshape(6, 3) % 4)[:, [2, 0]])
    assert table.source.startswith(f"6 rows × 2 numbers from layers/{layer} of data.h5ad")


@pytest.fixture
def fcs(X, tmp_path):
    flowio = pytest.importorskip("flowio")
    with (tmp_path / "data.fcs").open("wb") as file:
        flowio.create_fcs(
            file,
            np.hstack([X, np.arange(6)[:, None]]).astype(np.float32).ravel().tolist(),
            channel_names=["FSC-A", "FL1", "FL2", "Time"],
            opt_channel_names=["", "CD3", "CD3", ""],
            metadata_dict={"p2g": "2.0"},
        )
    return tmp_path / "data.fcs"


def test_fcs(fcs, X):
    table = read_table(fcs)
    np.testing.assert_allclose(table.X, X / [1, 2, 1], rtol=1e-6)  # the second has a gain of 2
    assert table.feature_names == ("FSC-A", "CD3", "CD3.1")
    np.testing.assert_array_equal(table.fields["Time"], np.arange(6))
    assert table.source.endswith("column 'Time' left out of the numbers")
    assert read_table(fcs, columns=["CD3", "Time"]).feature_names == ("CD3", "Time")


def test_fcs_whose_two_ends_differ(fcs, X):
    # The header says where the data end, and the text says so again.
    content = bytearray(fcs.read_bytes())
    end = int(content[34:42])
    content[34:42] = f"{end + 1:8d}".encode()
    fcs.write_bytes(bytes(content))
    np.testing.assert_allclose(read_table(fcs).X, X / [1, 2, 1], rtol=1e-6)


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_mtx(tmp_path, rng, suffix):
    matrix = sparse_points(rng, 7, 4)
    plain, path = tmp_path / "plain.mtx", tmp_path / f"data{suffix}"
    io.mmwrite(plain, matrix)
    content = plain.read_bytes()
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    table = read_table(path)
    assert table.X.format == "csr"
    np.testing.assert_allclose(table.X.toarray(), matrix.toarray(), rtol=1e-14)
    table = read_table(path, transpose=True)
    np.testing.assert_allclose(table.X.toarray(), matrix.toarray().T, rtol=1e-14)
    assert "transposed" in table.source


def test_mtx_of_other_kinds(tmp_path, X):
    io.mmwrite(tmp_path / "dense.mtx", X)
    table = read_table(tmp_path / "dense.mtx")
    assert isinstance(table.X, np.ndarray)
    np.testing.assert_allclose(table.X, X, rtol=1e-14)
    io.mmwrite(tmp_path / "symmetric.mtx", X @ X.T)
    np.testing.assert_allclose(read_table(tmp_path / "symmetric.mtx").X, X @ X.T, rtol=1e-14)
    io.mmwrite(tmp_path / "pattern.mtx", sparse.coo_matrix(np.eye(4)), field="pattern")
    np.testing.assert_array_equal(read_table(tmp_path / "pattern.mtx").X.toarray(), np.eye(4))


@pytest.mark.parametrize(
    ("matrix", "barcodes", "features"),
    [
        ("matrix.mtx", "barcodes.tsv", "genes.tsv"),
        ("matrix.mtx.gz", "barcodes.tsv.gz", "features.tsv.gz"),
        ("GSM1_matrix.mtx.gz", "GSM1_barcodes.tsv.gz", "GSM1_features.tsv.gz"),
        ("pbmc.mtx", "pbmc_barcodes.tsv", "pbmc_features.tsv"),
    ],
)
def test_mtx_of_10x(tmp_path, rng, matrix, barcodes, features):
    counts = sparse_points(rng, 3, 5)  # genes × cells
    io.mmwrite(tmp_path / "plain.mtx", counts)
    texts = {
        matrix: (tmp_path / "plain.mtx").read_bytes(),
        barcodes: b"".join(b"AAAC-%d\n" % i for i in range(5)),
        features: b"ENSG1\tCD3\tGene Expression\nENSG2\tCD4\tx\nENSG3\tCD4\tx\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    table = read_table(tmp_path / matrix)
    np.testing.assert_allclose(table.X.toarray(), counts.toarray().T, rtol=1e-14)
    assert list(table.ids) == [f"AAAC-{i}" for i in range(5)]
    assert table.feature_names == ("CD3", "CD4", "CD4.1")


def test_suspicious_columns_are_said(write_text):
    path = write_text("a,label,id\n1,2,3\n4,5,6\n")
    with pytest.warns(UserWarning, match=r"'label', 'id' will be mapped.*label_column"):
        read_table(path)
    table = read_table(path, label_column="label", id_column="id")
    assert table.labels.tolist() == [2, 5]
    assert table.ids.tolist() == ["3", "6"]


# Maps read back


def test_maps_of_text(write_text):
    Y = [[1.5, 2], [3, 4]]
    for text in (
        "id,dtsne_1,dtsne_2,log_radius\n7,1.5,2,9\n8,3,4,9\n",
        "cell,UMAP1,UMAP2,a,b\n7,1.5,2,9,9\n8,3,4,9,9\n",
        "x,y,id,a\n1.5,2,7,9\n3,4,8,9\n",
        "id,one,two\n7,1.5,2\n8,3,4\n",
        ",tSNE_1,tSNE_2\n7,1.5,2\n8,3,4\n",
        "index,V1,V2\n7,1.5,2\n8,3,4\n",
    ):
        found, ids = read_embedding(write_text(text))
        np.testing.assert_array_equal(found, Y)
        assert list(ids) == ["7", "8"]
    found, ids = read_embedding(write_text("1.5,2\n3,4\n"))
    np.testing.assert_array_equal(found, Y)
    assert ids is None


def test_ids_of_a_map_stay_as_written_and_other_columns_do_not_matter(write_text):
    path = write_text("id,dtsne_1,dtsne_2,batch\n007,1,2,1\n08,3,4,2\n9,5,6,2b\n10,7,8,\n")
    Y, ids = read_embedding(path)
    np.testing.assert_array_equal(Y, np.arange(1, 9).reshape(4, 2))
    assert list(ids) == ["007", "08", "9", "10"]


def test_columns_of_a_map_can_be_named(write_text):
    path = write_text("a,b,c,d,key\n1,2,3,4,u\n5,6,7,8,v\n")
    with pytest.raises(
        TableError, match=r"4 columns of numbers \('a', 'b', 'c', 'd'\).*choose them with columns"
    ):
        read_embedding(path)
    found, ids = read_embedding(path, columns=["d", "b"], id_column="key")
    np.testing.assert_array_equal(found, [[4, 2], [8, 6]])
    assert list(ids) == ["u", "v"]
    with pytest.raises(TableError, match="one to three columns, not 4"):
        read_embedding(path, columns=["[abcd]"])


def test_maps_of_one_dimension(write_text, tmp_path, caplog):
    for text in ("id,dtsne_1,sigma,type\na,1,3,u\nb,2,4,v\n", "id,z\na,1\nb,2\n", "z\n1\n2\n"):
        np.testing.assert_array_equal(read_embedding(write_text(text))[0], [[1], [2]])
    with pytest.raises(TableError, match="not clear which"):
        read_embedding(write_text("z,type\n1,u\n2,v\n"))
    np.savez(tmp_path / "map.npz", dtsne=np.eye(3)[:, :1], other=np.eye(3)[:, :2])
    caplog.set_level(logging.INFO, "dtsne")
    np.testing.assert_array_equal(read_embedding(tmp_path / "map.npz")[0], [[1], [0], [0]])
    assert "the map is 'dtsne' of map.npz, which also has 'other'" in caplog.text
    np.savez(tmp_path / "map.npz", column=np.eye(3)[:, :1])
    with pytest.raises(TableError, match="is it a map"):
        read_embedding(tmp_path / "map.npz")


def test_maps_of_numpy(X, tmp_path):
    np.save(tmp_path / "map.npy", X)
    np.testing.assert_array_equal(read_embedding(tmp_path / "map.npy")[0], X)
    np.savez(tmp_path / "map.npz", embedding=X, wide=np.hstack([X, X]))
    np.testing.assert_array_equal(read_embedding(tmp_path / "map.npz")[0], X)
    np.savez(tmp_path / "map.npz", one=X, two=X + 1)
    with pytest.raises(TableError, match=r"several maps: 'one', 'two'; choose one with key\."):
        read_embedding(tmp_path / "map.npz")
    np.testing.assert_array_equal(read_embedding(tmp_path / "map.npz", key="two")[0], X + 1)
    np.save(tmp_path / "map.npy", np.hstack([X, X]))
    with pytest.raises(TableError, match="which two or three are the map"):
        read_embedding(tmp_path / "map.npy")


def test_ids_of_a_format_may_be_named(h5ad):
    for name in ("obs_names", read_index_name(h5ad)):
        assert list(read_table(h5ad, id_column=name).ids) == [f"cell{i}" for i in range(6)]
        found = read_embedding(h5ad, key="X_umap", id_column=name)[1]
        assert list(found) == [f"cell{i}" for i in range(6)]


def read_index_name(path):
    with pytest.importorskip("h5py").File(path) as file:
        return str(file["obs"].attrs["_index"])


def test_maps_of_anndata(h5ad, X):
    with pytest.raises(TableError, match="several maps: 'X_pca', 'X_umap'"):
        read_embedding(h5ad)
    Y, ids = read_embedding(h5ad, key="X_umap")
    np.testing.assert_array_equal(Y, X[:, 1:])
    assert list(ids) == [f"cell{i}" for i in range(6)]
    with pytest.raises(TableError, match=r"'X_unap'; the nearest: 'X_umap'"):
        read_embedding(h5ad, key="X_unap")


@given(st.lists(st.text(max_size=5), unique=True, max_size=12), st.randoms())
def test_align_brings_maps_to_their_data(ids, random):
    shuffled = random.sample(ids, len(ids))
    order = align(ids, shuffled)
    assert [shuffled[i] for i in order] == ids


def test_align_refuses_what_does_not_match():
    assert align([1, 2], np.array(["2", "1"])).tolist() == [1, 0]
    with pytest.raises(TableError, match=r"2 IDs of the data are not in the map \('c', 'd'\)"):
        align(["a", "b", "c", "d"], ["b", "a"])
    with pytest.raises(TableError, match=r"1 ID of the map is not in the data \('z'\)"):
        align(["a"], ["a", "z"])
    with pytest.raises(TableError, match="'a' occurs more than once in the map"):
        align(["a", "b"], ["a", "a"])
    with pytest.raises(TableError, match="'b' occurs more than once in the data"):
        align(["b", "b"], ["a", "b"])


# Transforms


def test_transforms_dense_and_sparse(rng):
    counts = rng.poisson(1.0, size=(20, 4))
    for transform, expected in (
        (log1p, np.log1p(counts)),
        (arcsinh, np.arcsinh(counts / 5)),
        (lambda X: arcsinh(X, cofactor=150), np.arcsinh(counts / 150)),
    ):
        before = counts.copy()
        np.testing.assert_allclose(transform(counts), expected, rtol=1e-12)
        found = transform(sparse.coo_matrix(counts))
        assert found.format == "csr"
        np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12)
        np.testing.assert_array_equal(counts, before)
        assert transform(counts.astype(np.float32)).dtype == np.float32
        assert transform(sparse.csr_matrix(counts.astype(np.float32))).dtype == np.float32


def test_entries_stored_twice_are_added_first():
    twice = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])))
    assert log1p(twice).toarray()[0, 0] == pytest.approx(np.log(4))
    assert twice.nnz == 2


def test_transforms_refuse_what_they_cannot_take():
    with pytest.raises(DataError, match=r"2 are negative \(the least -3\).*arcsinh"):
        log1p(np.array([[1.0, -3.0], [-0.5, 0.0]]))
    with pytest.raises(DataError, match="1 are negative"):
        log1p(sparse.csr_matrix([[0.0, -1.0]]))
    for cofactor in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ParameterError) as caught:
            arcsinh(np.ones((2, 2)), cofactor)
        assert caught.value.parameter == "cofactor"
    assert arcsinh(np.array([[-5.0]]))[0, 0] == pytest.approx(-np.arcsinh(1))


@pytest.mark.integration
def test_import_is_light():
    code = (
        "import sys, dtsne.tables; "
        "print(*{'pandas', 'pyarrow', 'anndata', 'h5py', 'flowio', 'scipy', 'sklearn', 'numba'} "
        "& set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("module", "name", "extra"),
    [
        ("pyarrow", "data.csv", "tables"),
        ("pyarrow", "data.parquet", "tables"),
        ("pyarrow", "data.feather", "tables"),
        ("h5py", "data.h5ad", "anndata"),
        ("anndata", "data.h5ad", "anndata"),
        ("flowio", "data.fcs", "fcs"),
    ],
)
def test_missing_packages_are_named(tmp_path, monkeypatch, module, name, extra):
    (tmp_path / name).write_text("a,b\n1,2\n")
    for loaded in [key for key in sys.modules if key.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, loaded, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'pip install "dtsne\[{extra}\]"'):
        read_table(tmp_path / name)

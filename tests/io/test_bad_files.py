"""Files that cannot be used: one clear message each, that names the file and the fix, at once."""

from __future__ import annotations

import gzip
import io
import os
import struct
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dtsne.runtime._errors import ParameterError, ParameterTypeError
from dtsne.tables import SUFFIXES, TableError, _files, _numpy, read_table


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.csv"):
        if SUFFIXES.get(f".{name.split('.')[1]}") in ("csv", "tsv", "parquet", "feather"):
            pytest.importorskip("pyarrow")
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(_files, "available_memory", lambda: 2**20)


def rejected(path, **options):
    """Return the error, which must name the file in one line."""
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    error = caught.value
    assert error.path == Path(path)
    assert str(error).startswith(str(path))
    assert "\n" not in str(error)
    return error


def refused(path, **options):
    """Return the message of the error."""
    return str(rejected(path, **options))


# Any file


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.csv; check its name"):
        read_table(tmp_path / "none.csv")


def test_folder(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; pass a file in it"):
        read_table(tmp_path)
    (tmp_path / "matrix.mtx.gz").touch()
    (tmp_path / "barcodes.tsv.gz").touch()
    with pytest.raises(IsADirectoryError, match=r"such as matrix\.mtx\.gz"):
        read_table(tmp_path)
    with pytest.raises(IsADirectoryError, match="an empty name stand for this folder"):
        read_table("")
    with pytest.raises(FileNotFoundError, match=r"standard input \(-\) is not read; write it to"):
        read_table("-")


def test_device():
    with pytest.raises(OSError, match="pipe or device"):
        read_table("/dev/null", format="csv")


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX users")
def test_no_permission():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder) / "data.csv"
        path.write_text("a,b\n1,2\n")
        path.chmod(0)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(PermissionError, match=r"permission denied; run chmod \+r"):
                read_table(path)
        finally:
            os.seteuid(user)


def test_unknown_suffix(write):
    for name in ("data.xlsx", "data.parquet.gz", "data.gz", "data."):
        message = refused(write("a,b\n1,2\n", name))
        assert all(suffix in message for suffix in (*SUFFIXES, ".csv.gz", ".mtx.gz"))
    with pytest.raises(ParameterError) as caught:
        read_table(write("a"), format="excel")
    assert (caught.value.parameter, caught.value.value) == ("format", "excel")
    assert all(name in caught.value.allowed for name in SUFFIXES.values())


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv.gz", ".mtx.gz"])
def test_empty_file(write, suffix):
    assert "is empty (0 bytes)" in refused(write(b"", f"data{suffix}"))


def test_options_of_other_formats(write):
    with pytest.raises(ParameterError, match="not an option of csv files") as caught:
        read_table(write("a\n1\n"), layer="counts")
    assert (caught.value.parameter, caught.value.value) == ("layer", "counts")
    with pytest.raises(ParameterTypeError) as caught:
        read_table(write("a\n1\n"), exclude=[1])
    assert (caught.value.parameter, caught.value.value) == ("exclude", [1])


PACKAGES = {"csv": "pyarrow", "tsv": "pyarrow", "parquet": "pyarrow", "feather": "pyarrow",
            "h5ad": "anndata", "fcs": "flowio"}  # fmt: skip


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv.gz", ".mtx.gz"])
@given(content=st.binary(min_size=1, max_size=300), magic=st.booleans())
def test_any_bytes_give_a_table_or_a_table_error(tmp_path_factory, suffix, content, magic):
    kind = SUFFIXES[suffix.removesuffix(".gz")]
    pytest.importorskip(PACKAGES.get(kind, "numpy"))
    beginnings = {
        "npy": b"\x93NUMPY\x01\x00", "npz": b"PK\x03\x04", "parquet": b"PAR1", "feather": b"ARROW1",
        "fcs": b"FCS3.1    ", "mtx": b"%%MatrixMarket matrix ", "h5ad": b"\x89HDF\r\n\x1a\n",
    }  # fmt: skip
    path = tmp_path_factory.getbasetemp() / f"any{suffix}"
    path.write_bytes(beginnings.get(kind, b"\x1f\x8b\x08") + content if magic else content)
    message = None
    try:
        assert read_table(path).X.size
    except TableError as error:
        message = str(error)
    assert message is None or path.name in message


# Text


def test_header_only(write):
    assert "has a header and no rows below it" in refused(write("a,b,c\n"))
    assert "has a header and no rows" in refused(write("a,b,c\n\n\n"))


def test_blank(write):
    assert "is blank" in refused(write("\n \n\n"))
    assert "only comments" in refused(write("# a\n# b\n"))


@pytest.mark.parametrize(
    ("text", "line", "n_cells"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 3, 2),
        ("a,b,c\n1,2,3\n\n4,5,6\n6,7,8,9\n", 5, 4),
        ('a,b,c\n"x\ny",2,3\n4\n', 4, 1),
        ("# made by hand\n1,2,3\n4,5\n", 3, 2),
        ("1,2,3\n" * 300_000 + "1,2\n", 300_001, 2),
    ],
)
def test_ragged_rows(write, text, line, n_cells):
    error = rejected(write(text))
    assert error.line == line
    assert f"line {line:,}: the row has {n_cells} cells where the first has 3" in str(error)
    assert rejected(write(gzip.compress(text.encode()), "a.csv.gz")).line == line


def test_quote_that_is_not_closed(write):
    error = rejected(write('a,b\n1,x\n2,"y\n3,z\n4,z\n'))
    assert error.line == 2
    assert "the row after this line cannot be read" in error.message.reason
    assert "not closed" in error.message.fix


def test_binary_under_the_name_of_text(write, rng):
    assert "is not text but binary" in refused(write(b"a,b\n1,2\n" + bytes(rng.bytes(5000))))
    for content, what in (
        (b"PK\x03\x04" + bytes(50), "zip archive"),
        (b"PAR1" + bytes(50), "Parquet"),
        (b"\x93NUMPY" + bytes(50), "NumPy"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (b"BZh91AY" + bytes(50), "bzip2"),
    ):
        assert what in refused(write(content))


def test_other_encodings(write):
    assert "UTF-16" in refused(write("a,b\n1,2\n".encode("utf-16")))
    error = rejected(write("a,name\n1,Zoë\n".encode("latin-1")))
    assert error.line == 2
    assert "is not in UTF-8" in error.message.reason
    assert "iconv" in error.message.fix
    late = "a,name\n" + "1,Zoe\n" * 300_000
    error = rejected(write(late.encode() + "2,Zoë\n".encode("latin-1")))
    assert (error.line, error.column) == (300_002, "name")
    assert "is not in UTF-8" in error.message.reason


def test_missing_columns_are_answered_with_the_nearest(write):
    path = write("Cell_ID,CD3,CD4,type\nx,1,2,a\n")
    message = refused(path, id_column="cell_id")
    assert "has no column 'cell_id'; the nearest: 'Cell_ID'" in message
    assert "'type'" in refused(path, label_column="typ")
    assert "there are 'Cell_ID', 'CD3', 'CD4', 'type'" in refused(path, label_column="zzzzzz")
    assert "'CD3'" in refused(path, exclude=["CD33"])
    assert "has no column 'PC_*'" in refused(path, columns=["PC_*"])


@pytest.mark.parametrize(
    ("text", "name", "found", "delimiter"),
    [
        ("a;b\n1;2\n", "data.csv", "semicolons", "';'"),
        ("a\tb\n1\t2\n", "data.csv", "tabs", r"'\t'"),
        ("1.5|2\n1|2\n", "data.csv", "bars", "'|'"),
        ("a,b\n1,2\n", "data.tsv", "commas", "','"),
        ("a;b\n1,5;2,5\n", "data.csv", "semicolons", "';'"),
        ("a b c\n1 2 3\n", "data.csv", "spaces", "' '"),
    ],
)
def test_wrong_delimiter(write, text, name, found, delimiter):
    message = refused(write(text, name))
    assert f"but by {found}; set delimiter={delimiter}." in message


def test_decimal_commas(write):
    error = rejected(write("a;b\n1,5;2,5\n3;4,5\n"), delimiter=";")
    assert error.column == "a"
    assert "decimal commas; set decimal=','." in str(error)


@pytest.mark.parametrize(
    ("cells", "delimiter"),
    [
        (["123,456", "999", "1,000"], ","),
        (["1,234,567", "12", "1"], ","),
        (["1,234.5", "999.25", "1"], ","),
        (["1,234,567", "12", "1"], ";"),
        (["1,234.5", "12", "1"], ";"),
    ],
)
def test_thousands_separators_are_no_decimal_commas(write, cells, delimiter):
    rows = "".join(f'"{cell}"{delimiter}1\n' for cell in cells)
    error = rejected(write(f"a{delimiter}b\n{rows}"), delimiter=delimiter)
    assert (error.column, error.line) == ("a", 2)
    assert f"thousands separators ({cells[0]!r}); export the file without them" in str(error)


@pytest.mark.parametrize("cells", [["0,123", "0,5"], ["1,5", "2"], ["1,234", "0,500", "12"]])
def test_commas_that_are_decimal(write, cells):
    rows = "".join(f"{cell};1\n" for cell in cells)
    assert "decimal commas" in refused(write(f"a;b\n{rows}"), delimiter=";")


@pytest.mark.parametrize(
    ("cells", "line", "said"),
    [
        (["<0.1", "1", "2", "3"], 2, "1 cell is not a number, the first is '<0.1'; fix it, or"),
        (["1", "> 5", "2", "<3"], 3, "2 cells are not numbers, the first is '> 5'; fix them, or"),
        ([f"{i}%" for i in range(30)], 2, "numbers are written as '0%'; fix them, or"),
        (["1,5", "2,5", "n.d.", "3"], 4, "1 cell is not a number, the first is 'n.d.'"),
        (["1,5", "2.5", "3"], 2, "1 cell is not a number, the first is '1,5'"),
    ],
)
def test_what_is_nearly_a_number(write, cells, line, said):
    path = write("a;b\n" + "".join(f"{cell};1\n" for cell in cells))
    error = rejected(path, delimiter=";")
    assert (error.column, error.line) == ("a", line)
    assert said in str(error)
    assert "exclude='a'" in str(error)
    assert read_table(path, delimiter=";", exclude="a").feature_names == ("b",)


@pytest.mark.parametrize("text", ["<LOD", "high"])
def test_a_column_that_is_partly_numbers_is_warned_of(write, text):
    cells = [str(i) if i % 3 == 0 else text for i in range(30)]
    path = write("a,b\n" + "".join(f"{cell},1\n" for cell in cells))
    said = f"column 'a', line 3: the column is not mapped, though 33% .* cell is '{text}'"
    with pytest.warns(UserWarning, match=said):
        assert read_table(path).feature_names == ("b",)
    assert read_table(path, exclude="a").feature_names == ("b",)
    rare = ["7", *[text] * 29]
    path = write("a,b\n" + "".join(f"{cell},1\n" for cell in rare))
    assert read_table(path).feature_names == ("b",)


def test_groups_that_look_like_limits_are_groups(write):
    ages = ["?", *("<60" if i % 2 else ">60" for i in range(29))]
    path = write("a,b\n" + "".join(f"{age},{i * i}\n" for i, age in enumerate(ages)))
    assert set(read_table(path).fields["a"]) == {"<60", ">60", "?"}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("cell_id", [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]),
        ("barcode", [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]),
        ("leiden", [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]),
        ("n", range(1, 12)),
        ("n", range(11, 0, -1)),
        ("n", [2**60 + i * i for i in range(11)]),
    ],
)
def test_names_of_rows_are_warned_of(write, name, values):
    path = write(f"{name},b\n" + "".join(f"{v},{i % 3}\n" for i, v in enumerate(values)))
    with pytest.warns(UserWarning, match=f"'{name}' will be mapped as measurements"):
        read_table(path)
    read_table(path, label_column=name)
    read_table(path, exclude=name)


@pytest.mark.parametrize("values", [range(0, 22, 2), [1, 2, 3], [0.5 + i for i in range(11)]])
def test_measurements_are_not(write, values):
    read_table(write("n,b\n" + "".join(f"{v},{i % 3}\n" for i, v in enumerate(values))))


def test_no_numbers(write):
    message = refused(write("name,type\nx,a\ny,b\n"))
    assert "no column of numbers is left to map; the columns are 'name', 'type'" in message
    assert "no column of numbers" in refused(write("a\n1\n"), exclude="a")
    message = refused(write("p,q\ntrue,false\nfalse,false\n"))
    assert "write columns of true and false as 1 and 0" in message
    assert "no column of numbers" in refused(write("some words\nmore\n"))
    error = rejected(write("a,type\n1,\n2,b\n"), columns=["a", "type"])
    assert (error.column, error.line) == ("type", 3)
    assert "the column does not hold numbers but 'b'" in str(error)


def test_text_among_numbers(write):
    text = "a,b\n1,2\n3,4\n5,n.d.\n\n7,NA\n8,oops\n9,10\n"
    error = rejected(write(text))
    assert (error.column, error.line) == ("b", 4)
    assert "2 cells are not numbers, the first is 'n.d.'" in str(error)
    assert read_table(write(text), exclude="b").feature_names == ("a",)
    assert read_table(write(text), label_column="b").feature_names == ("a",)
    assert read_table(write(text), columns=["a"]).feature_names == ("a",)


def test_missing_values(write):
    error = rejected(write("a,b,c\n1,2,3\n4,,6\n7,NA,inf\n\n1,nan,2\n"))
    assert (error.column, error.line) == ("b", 3)
    assert "4 cells are empty, NaN or infinite, in 2 columns, most in this (3 of 4)" in str(error)
    assert "exclude" in str(error)


def test_missing_values_of_other_formats(tmp_path):
    X = np.ones((5, 3))
    X[3, 1] = np.nan
    np.save(tmp_path / "data.npy", X)
    sparse.save_npz(tmp_path / "data.npz", sparse.csr_matrix(X))
    for name in ("data.npy", "data.npz"):
        error = rejected(tmp_path / name)
        assert (error.column, error.row) == ("column_2", 4)
        assert "1 cell is empty, NaN or infinite (1 of 5)" in str(error)


def test_ids_that_occur_twice(write):
    path = write("name,a\nx,1\ny,2\nx,3\nx,4\n")
    with pytest.warns(UserWarning, match=r"data\.csv, line 4: 2 IDs occur more than once.*'x'"):
        read_table(path, id_column="name")


# Compressed


def test_cut_off_gzip(write):
    rows = b"".join(b"%d,%d\n" % (i, i * i) for i in range(5000))
    banner = b"%%MatrixMarket matrix array real general\n5000 2\n"
    for name, first in (("data.mtx.gz", banner), ("data.csv.gz", b"a,b\n")):
        whole = gzip.compress(first + rows)
        assert "is cut off or corrupt" in refused(write(whole[: len(whole) // 2], name))
    broken = bytearray(whole)
    broken[-6] ^= 255  # of the checksum
    assert "is cut off or corrupt" in refused(write(bytes(broken), "data.csv.gz"))


def bomb(line: bytes, n_megabytes: int) -> bytes:
    """Return a compressed text of many equal lines."""
    block = line * (2**20 // len(line))
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        for _ in range(n_megabytes):
            file.write(block)
    return out.getvalue()


def peak_of(call) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_gzip_that_inflates_without_end(write, monkeypatch):
    path = write(bomb(b"1,2,3\n", 64), "data.csv.gz")
    assert path.stat().st_size < 2**20
    monkeypatch.setattr(_files, "available_memory", lambda: 2**24)
    message = []
    assert peak_of(lambda: message.append(refused(path))) < 2**24
    assert "holds more than fits" in message[0]
    n_read = int(message[0].partition("read as far as ")[2].partition(" lines")[0].replace(",", ""))
    assert n_read < 2 * 2**24 // (16 * 3)  # and not all 64 MiB


def test_one_line_that_inflates_without_end(write, monkeypatch):
    path = write(bomb(b"1234567,", 70), "data.csv.gz")
    assert "no line is shorter than 64 MiB" in refused(path)
    path = write(bomb(b"%%MatrixMarket matrix array real general\n", 3), "data.mtx.gz")
    monkeypatch.setattr(_files, "available_memory", lambda: 2**20)
    refused(path)


# NumPy


def npy_header(shape, dtype="<f8"):
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


@pytest.mark.parametrize("shape", [(10**5, 12_500), (10**12, 10**12), (-1, 3), (2**62, 4)])
def test_npy_that_lies_about_its_size(write, shape):
    path = write(npy_header(shape) + bytes(1000), "data.npy")
    message = []
    assert peak_of(lambda: message.append(refused(path))) < 2**22
    assert "corrupt or cut off: its header declares the shape" in message[0]


def test_npz_that_lies_about_its_size(tmp_path):
    path = tmp_path / "data.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy_header((10**5, 12_500)) + bytes(1000))
    assert "'X' is corrupt or cut off" in refused(path)


def test_npz_bomb(tmp_path, little_memory):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.zeros((1000, 500)))
    assert path.stat().st_size < 2**14
    message = []
    assert peak_of(lambda: message.append(refused(path))) < 2**20
    assert "the array 'X' needs" in message[0]


def test_npz_whose_directory_lies(tmp_path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.zeros((10, 3)))
    content = bytearray(path.read_bytes())
    directory = content.rfind(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = struct.pack("<I", 2**31)  # uncompressed size
    path.write_bytes(bytes(content))
    assert "the archive declares 2,147,483,648 bytes, its header 368" in refused(path)


def test_pickles_are_never_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "was here",))

    objects = np.empty((2, 2), dtype=object)
    objects[:] = Evil()
    np.save(tmp_path / "data.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "data.npz", X=objects)
    np.savez(tmp_path / "key.npz", a=np.eye(2), X=objects)
    for name, options in (("data.npy", {}), ("data.npz", {}), ("key.npz", {"key": "X"})):
        message = refused(tmp_path / name, **options)
        assert "holds Python objects" in message
        assert "X.astype(float)" in message
    with (tmp_path / "pickle.npy").open("wb") as file:
        __import__("pickle").dump(Evil(), file)
    assert "is not a NumPy array" in refused(tmp_path / "pickle.npy")
    assert not (tmp_path / "was here").exists()


def test_arrays_that_are_no_table(tmp_path):
    np.save(tmp_path / "data.npy", np.zeros(5))
    assert "has 1 dimension (shape (5,))" in refused(tmp_path / "data.npy")
    np.save(tmp_path / "data.npy", np.zeros((5, 2), complex))
    message = refused(tmp_path / "data.npy")
    assert "holds complex numbers" in message
    assert "numpy.hstack([X.real, X.imag])" in message
    np.save(tmp_path / "data.npy", np.full((5, 2), "a"))
    assert "holds text" in refused(tmp_path / "data.npy")
    np.save(tmp_path / "data.npy", np.zeros((5, 2), [("a", float)]))
    assert "structured" in refused(tmp_path / "data.npy")
    np.save(tmp_path / "data.npy", np.zeros(5, [("a", float), ("b", int), ("c", "U3")]))
    message = refused(tmp_path / "data.npy")
    assert "fields 'a', 'b', 'c'" in message
    assert "numpy.column_stack([X['a'], X['b'], …])" in message
    assert "csv" in message
    np.save(tmp_path / "data.npy", np.zeros((0, 2)))
    assert "has no rows" in refused(tmp_path / "data.npy")


def test_npz_without_a_clear_matrix(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, a=np.eye(2), b=np.eye(2))
    assert "several arrays of two dimensions: 'a', 'b'; choose one with key." in refused(path)
    assert "has no array 'c'; there are 'a', 'b'" in refused(path, key="c")
    np.savez(path, a=np.zeros(3))
    assert "no array of two dimensions, rows × columns, but 'a'" in refused(path)
    path.write_bytes(path.read_bytes()[:-30])
    assert "cannot be read as a NumPy archive" in refused(path)


def test_sparse_npz_that_points_outside(tmp_path):
    path = tmp_path / "data.npz"
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices[1] = 10**6
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    np.savez(path, **parts, shape=(3, 3), format=b"csr")
    refused(path)


def test_npz_arrays_beside_the_matrix(tmp_path, caplog, monkeypatch):
    path = tmp_path / "data.npz"
    names = np.array(["a", "b", "c"], dtype=object)
    np.savez(path, X=np.eye(3), labels=names)
    for option in ("label_column", "id_column"):
        message = refused(path, **{option: "labels"})
        assert "'labels' holds Python objects" in message
        assert "labels.astype(str)" in message
    assert read_table(path).fields == {}
    np.savez(path, X=np.eye(3), ids=names.astype(str), note=np.array(["x" * 2000, "y", "z"]))
    caplog.set_level("INFO", "dtsne")
    for options in ({}, {"id_column": "ids"}):
        found = read_table(path, **options)
        assert list(found.ids) == ["a", "b", "c"]
        assert found.fields == {}
    assert "the array 'note' is left out, as it is large" in caplog.text
    assert read_table(path, label_column="note").labels[1] == "y"
    monkeypatch.setattr(_numpy, "_MAX_EXTRA", 30)
    np.savez(path, X=np.eye(3), one=np.arange(3.0), two=np.arange(3.0))
    assert list(read_table(path).fields) == ["one"]


@pytest.mark.parametrize(
    ("text", "what"),
    [("<!DOCTYPE html>\n<html>404, gone</html>\n", "a web page"), ('[{"a": 1}]\n', "JSON")],
)
def test_text_that_is_no_table(write, text, what):
    message = refused(write(text))
    assert f"is {what}" in message
    assert "get or export it as a table" in message


# Binary formats


@pytest.fixture
def frame():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    return pandas.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_cut_off_arrow(frame, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    getattr(frame, f"to_{kind}")(path)
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.95):
        path.write_bytes(whole[: int(share * len(whole))])
        assert "corrupt, cut off" in refused(path)


def test_feather_whose_texts_lie_outside_of_it(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / "data.feather"
    table = pyarrow.table({"a": [1.0, 2.0, 3.0], "t": ["u", "v", "w"]})
    feather.write_feather(table, str(path), compression="uncompressed")
    offsets, far = struct.pack("<4i", 0, 1, 2, 3), struct.pack("<4i", 0, 1, 2, 2**30)
    assert path.read_bytes().count(offsets) == 1
    path.write_bytes(path.read_bytes().replace(offsets, far))
    assert "corrupt, cut off" in refused(path)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_columns_of_arrow(frame, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    getattr(frame, f"to_{kind}")(path)
    assert "has no column 'e'" in refused(path, id_column="e")
    assert "has no column 'E*'" in refused(path, columns=["E*"])
    frame["a"] = frame["a"].mask(frame["a"] > 2)
    getattr(frame, f"to_{kind}")(path)
    error = rejected(path)
    assert (error.column, error.row) == ("a", int(np.argmax(frame["a"].isna())) + 1)
    assert "cells are empty, NaN or infinite" in str(error)
    getattr(frame[["a"]].iloc[:0], f"to_{kind}")(path)
    assert "has no rows" in refused(path)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_arrow_that_does_not_fit(tmp_path, kind, monkeypatch):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / f"data.{kind}"
    frame = pandas.DataFrame({"a": np.zeros(10**6), "b": np.zeros(10**6)})
    getattr(frame, f"to_{kind}")(path, compression="zstd")
    del frame
    monkeypatch.setattr(_files, "available_memory", lambda: 2**22)
    before = pyarrow.default_memory_pool().bytes_allocated()
    assert "needs 0.0 GiB" in refused(path)
    assert pyarrow.default_memory_pool().bytes_allocated() - before < 2**20


def test_h5ad(tmp_path, little_memory):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    path = tmp_path / "data.h5ad"
    data = anndata.AnnData(np.eye(5, dtype=np.float32), obsm={"X_pca": np.ones((5, 2))})
    data.layers["counts"] = sparse.csr_matrix(np.eye(5))
    data.write_h5ad(path)
    assert "the nearest: 'X_pca'" in refused(path, use_rep="X_pca2")
    assert "the nearest: 'counts'" in refused(path, layer="count")
    with pytest.raises(ParameterError, match="layer and use_rep exclude each other"):
        read_table(path, layer="counts", use_rep="X_pca")
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.95):
        path.write_bytes(whole[: int(share * len(whole))])
        assert "corrupt, cut off" in refused(path)
    path.write_bytes(whole)
    with h5py.File(path, "r+") as file:  # chunks that were never written take no place
        del file["X"]
        file.create_dataset("X", (10**9, 5), "f4", chunks=(1000, 5))
    assert "needs 37.3 GiB" in refused(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
    message = refused(path)
    assert "has no X; set layer (there is counts), or use_rep (there is X_pca)" in message
    with h5py.File(path, "w") as file:
        file["data"] = np.eye(3)
    message = refused(path)
    assert "is HDF5, but not an AnnData file (.h5ad): it has no 'obs'" in message
    assert "or save the matrix as .npy" in message


@pytest.fixture
def fcs(tmp_path):
    flowio = pytest.importorskip("flowio")
    with (tmp_path / "data.fcs").open("wb") as file:
        flowio.create_fcs(file, [float(i) for i in range(300)], ["a", "b", "c"])
    return tmp_path / "data.fcs"


def test_cut_off_fcs(fcs):
    whole = fcs.read_bytes()
    for share in (0.02, 0.1, 0.5, 0.95):
        fcs.write_bytes(whole[: int(share * len(whole))])
        assert "corrupt, cut off" in refused(fcs)


def test_fcs_with_another_number_of_events(fcs):
    fcs.write_bytes(fcs.read_bytes().replace(b"$TOT/100/", b"$TOT/999/"))
    assert "declares 999 events and holds 100" in refused(fcs)


def test_fcs_of_several_sets(fcs):
    whole = fcs.read_bytes()
    fcs.write_bytes(whole.replace(b"$NEXTDATA/0/", b"$NEXTDATA/9/"))
    assert "several data sets" in refused(fcs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "%%MatrixMarket matrix coordinate real general\n10 10 50\n1 1 1\n",
            "declares 50 entries",
        ),
        ("%%MatrixMarket matrix array real general\n100000 100000\n1\n", "header declares"),
        ("%%MatrixMarket matrix coordinate real general\n999999999999 2 1\n1 1 1\n", "GiB"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n5 5 1\n", "cannot be read"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\na b c\n", "it holds b'b'"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\0\n", r"b'\x00' where"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", "it holds b'x'"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 e\n", "cannot be read"),
        ("%%MatrixMarket matrix coordinate real general\n-2 2 1\n1 1 1\n", "negative"),
        ("%%MatrixMarket matrix coordinate real general\n", "cannot be read"),
        ("%%MatrixMarket vector coordinate real general\n2 2 1\n1 1 1\n", "holds a vector"),
        ("1 1 1\n", "begins with %%MatrixMarket"),
    ],
)
def test_bad_mtx(write, text, message):
    assert message in refused(write(text, "data.mtx"))


def test_mtx_with_names_of_another(write):
    path = write("%%MatrixMarket matrix coordinate real general\n3 2 1\n1 1 1\n", "matrix.mtx")
    (path.parent / "barcodes.tsv").write_text("a\nb\nc\nd\n")
    message = refused(path)
    assert "has 3 rows and 2 columns, and the files next to it have 4 barcodes" in message
    (path.parent / "barcodes.tsv").write_text("a\nb\nc\n")
    assert list(read_table(path).ids) == list("abc")
    refused(path, transpose=True)

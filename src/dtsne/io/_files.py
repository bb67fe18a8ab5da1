"""Files and their formats: what a file is, whether it can be read, and whether it fits."""

from __future__ import annotations

import gzip
import stat
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dtsne.io._errors import TableError
from dtsne.runtime._errors import ParameterError, setting
from dtsne.runtime._memory import available_memory

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Iterator

# suffix → format; those of _COMPRESSIBLE may have .gz behind.
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".feather": "feather",
    ".arrow": "feather", ".npy": "npy", ".npz": "npz", ".h5ad": "h5ad", ".fcs": "fcs",
    ".mtx": "mtx",
}  # fmt: skip
_COMPRESSIBLE = frozenset({"csv", "tsv", "mtx"})
# Formats of tables; of maps; those that are written (an h5ad is a copy of another); of these, those
# that have a place for more than the map.
READ = tuple(dict.fromkeys(SUFFIXES.values()))
MAPS = tuple(name for name in READ if name not in ("fcs", "mtx"))
WRITTEN = tuple(name for name in MAPS if name != "h5ad")
WITH_COLUMNS = tuple(name for name in WRITTEN if name != "npy")

_ASSUMED_MEMORY = 16 * 2**30  # where the system does not tell it (Windows)
_CHUNK = 2**20
_GZIP = b"\x1f\x8b"
_MAGIC = {
    b"PAR1": "a Parquet file", b"ARROW1": "a Feather (Arrow) file",
    b"\x93NUMPY": "a NumPy array (.npy)", b"%PDF": "a PDF", b"FCS": "an FCS file",
    b"PK\x03\x04": "a zip archive, as .npz and Excel's .xlsx are",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file, as .h5ad is", b"\xd0\xcf\x11\xe0": "an old Excel file",
    _GZIP: "compressed with gzip", b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz", b"\x28\xb5\x2f\xfd": "compressed with zstd",
}  # fmt: skip
_PAGE = "a web page, such as a site sends instead of a file"
_MARKUP = {b"<!doctype html": _PAGE, b"<html": _PAGE, b"<?xml": "XML", b"{": "JSON", b"[{": "JSON"}


def suffixes_of(formats: Iterable[str]) -> list[str]:
    """Return all suffixes of some formats, compressed ones last."""
    known = set(formats)
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in known]
    return [*suffixes, *(f"{s}.gz" for s in suffixes if SUFFIXES[s] in _COMPRESSIBLE)]


def in_words(formats: Iterable[str]) -> str:
    """Write formats as .csv, .tsv or .npz."""
    *others, last = (f".{name}" for name in formats)
    return f"{', '.join(others)} or {last}"


def format_of(path: Path, given: str | None, known: Collection[str]) -> str:
    """Return the format: the one given, or that of the suffix."""
    if given is not None:
        if given not in known:
            raise ParameterError("format", given, f"one of {', '.join(sorted(known))}")
        return given
    name, supported = path.name.lower(), suffixes_of(known)
    for suffix in sorted(supported, key=len, reverse=True):
        if name.endswith(suffix):
            return SUFFIXES[suffix.removesuffix(".gz")]
    reason = f"the suffix does not tell the file format (supported are {', '.join(supported)})"
    raise TableError(reason, f"rename the file, or set {setting('format')}", path=path)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be opened and is not empty."""
    path = Path(path)
    if str(path) == "-":
        raise FileNotFoundError("standard input (-) is not read; write it to a file first.")
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(_message_for_folder(path))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"{path} is not a file but a pipe or device; write it to a file first.")
        path.open("rb").close()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}; check its name and folder.") from None
    except PermissionError:
        fix = "run chmod +r on the file, or ask its owner"
        raise PermissionError(f"{path}: permission denied; {fix}.") from None
    if not status.st_size:
        raise TableError("the file is empty (0 bytes)", "export or copy it again", path=path)
    return path


def _message_for_folder(path: Path) -> str:
    known = (p.name for p in path.iterdir() if SUFFIXES.keys() & set(p.suffixes[-2:]))
    # The tables next to a matrix hold its names.
    inside = sorted(known, key=lambda name: (".mtx" not in name, name))
    what = "'.' and an empty name stand for this" if str(path) == "." else f"{path} is a"
    return f"{what} folder; pass a file in it{f', such as {inside[0]}' if inside else ''}."


def free_memory() -> int:
    """Bytes that are available."""
    free = available_memory()
    return _ASSUMED_MEMORY if free is None else free


def check_room(n_bytes: int, what: str = "its content") -> None:
    """Reject what does not fit into memory, before any of it is read."""
    free = free_memory()
    if n_bytes > free:
        raise TableError(
            f"{what} needs {n_bytes / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free",
            "read only some of its rows or columns, or use a machine with more memory",
        )


def is_gzip(path: Path) -> bool:
    """Whether the content is compressed, whatever the name of the file."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


@contextmanager
def open_text(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, and inflate it if it is compressed."""
    try:
        with gzip.open(path) if is_gzip(path) else path.open("rb") as file:
            yield file  # type: ignore[misc]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = "the file is cut off or corrupt (gzip cannot inflate it)"
        raise TableError(reason, "copy it again") from error


def count_lines(
    path: Path, bytes_per_line: int, *, begin: int = 0, allowed: bytes | None = None
) -> int:
    """Return the lines of a text from some byte on, inflated in passing if it is compressed.

    A few kilobytes can inflate to any length. So the length is found first, keeping nothing, and
    rejected as soon as it is more than memory holds, where each line takes `bytes_per_line`. Where
    `allowed` is given, other bytes are rejected as well.
    """
    free = free_memory()
    n_bytes = n_lines = 0
    with open_text(path) as file:
        file.seek(begin)
        while chunk := file.read(_CHUNK):
            stray = b"" if allowed is None else chunk.translate(None, allowed)
            if stray:
                reason = f"the file is corrupt: it holds {stray[:1]!r} where numbers should be"
                raise TableError(reason, "copy or export it again")
            n_bytes += len(chunk)
            n_lines += chunk.count(b"\n")
            if max(n_bytes, bytes_per_line * n_lines) > free:
                raise TableError(
                    f"the file holds more than fits into the {free / 2**30:.1f} GiB of memory that "
                    f"are free (read as far as {n_lines:,} lines, {n_bytes / 2**20:,.0f} MiB)",
                    "read only a part of it",
                )
    return n_lines


def check_magic(beginning: bytes, magic: bytes, kind: str) -> None:
    """Reject a file that does not begin as its format does."""
    if not beginning.lower().startswith(magic.lower()):
        what = looks_like(beginning) or "something else"
        raise TableError(f"the file is not {kind} but {what}", f"set {setting('format')}")


def looks_like(beginning: bytes) -> str | None:
    """Tell what a binary file is, by its first bytes."""
    return next((what for magic, what in _MAGIC.items() if beginning.startswith(magic)), None)


def looks_like_markup(beginning: bytes) -> str | None:
    """Tell what a text is that is not a table."""
    text = beginning[:100].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((what for mark, what in _MARKUP.items() if text.startswith(mark)), None)

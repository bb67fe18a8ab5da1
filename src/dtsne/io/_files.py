"""Files and their formats: what a file is, whether it can be read, and whether it fits."""

from __future__ import annotations

import gzip
import stat
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dtsne.io._errors import TableError
from dtsne.runtime._errors import ParameterError, setting
from dtsne.runtime._memory import available_memory

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable

# suffix → format; those of COMPRESSIBLE may have .gz behind.
SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".feather": "feather",
    ".arrow": "feather", ".npy": "npy", ".npz": "npz", ".h5ad": "h5ad", ".fcs": "fcs",
    ".mtx": "mtx",
}  # fmt: skip
COMPRESSIBLE = frozenset({"csv", "tsv", "mtx"})
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
    b"PAR1": "a Parquet file",
    b"ARROW1": "a Feather (Arrow) file",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK\x03\x04": "a zip archive, as .npz and Excel's .xlsx are",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file, as .h5ad is",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    _GZIP: "compressed with gzip",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"%PDF": "a PDF",
    b"FCS": "an FCS file",
}
_PAGE = "a web page, such as a site sends instead of a file"
_MARKUP = {b"<!doctype html": _PAGE, b"<html": _PAGE, b"<?xml": "XML", b"{": "JSON", b"[{": "JSON"}


def suffixes_of(formats: Iterable[str]) -> list[str]:
    """Return all suffixes of some formats, compressed ones last."""
    known = set(formats)
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in known]
    return [*suffixes, *(f"{suffix}.gz" for suffix in suffixes if SUFFIXES[suffix] in COMPRESSIBLE)]


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
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compressed = suffixes[-1:] == [".gz"]
    last = suffixes[-2:-1] if compressed else suffixes[-1:]
    found = SUFFIXES.get(last[0]) if last else None
    if found is None or found not in known or (compressed and found not in COMPRESSIBLE):
        raise TableError(
            "the suffix does not tell the file format (supported are "
            f"{', '.join(suffixes_of(known))})",
            f"rename the file, or set {setting('format')}",
            path=path,
        )
    return found


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
        raise PermissionError(
            f"{path}: permission denied; run chmod +r on the file, or ask its owner."
        ) from None
    if not status.st_size:
        raise TableError("the file is empty (0 bytes)", "export or copy it again", path=path)
    return path


def _message_for_folder(path: Path) -> str:
    known = (p.name for p in path.iterdir() if SUFFIXES.keys() & set(p.suffixes[-2:]))
    # The tables next to a matrix hold its names.
    inside = sorted(known, key=lambda name: (".mtx" not in name, name))
    hint = f", such as {inside[0]}" if inside else ""
    if str(path) == ".":
        return f"'.' and an empty name stand for this folder; pass a file in it{hint}."
    return f"{path} is a folder; pass a file in it{hint}."


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


def open_text(path: Path) -> IO[bytes]:
    """Open a file, and inflate it if it is compressed."""
    return gzip.open(path) if is_gzip(path) else path.open("rb")  # type: ignore[return-value]


def head(path: Path, n_bytes: int) -> bytes:
    """Return the beginning, inflated if it is compressed."""
    with open_text(path) as file:
        try:
            return file.read(n_bytes)
        except (EOFError, OSError, zlib.error) as error:
            raise _cut_off() from error


def count_lines(
    path: Path, n_that_fit: Callable[[int], int], *, begin: int = 0, allowed: bytes | None = None
) -> int:
    """Return the lines of a text from some byte on, inflated in passing if it is compressed.

    A few kilobytes can inflate to any length. So the length is found first, keeping nothing, and
    rejected as soon as it is more than memory holds: `n_that_fit` tells how many lines do, given
    the free memory. Where `allowed` is given, other bytes are rejected as well.
    """
    free = free_memory()
    max_lines = n_that_fit(free)
    n_bytes = n_lines = 0
    with open_text(path) as file:
        try:
            file.seek(begin)
            while chunk := file.read(_CHUNK):
                stray = b"" if allowed is None else chunk.translate(None, allowed)
                if stray:
                    raise TableError(
                        f"the file is corrupt: it holds {stray[:1]!r} where numbers should be",
                        "copy or export it again",
                    )
                n_bytes += len(chunk)
                n_lines += chunk.count(b"\n")
                if n_bytes > free or n_lines > max_lines:
                    raise TableError(
                        f"the file holds more than fits into the {free / 2**30:.1f} GiB of memory "
                        f"that are free (read as far as {n_lines:,} lines, "
                        f"{n_bytes / 2**20:,.0f} MiB)",
                        "read only a part of it",
                    )
        except (EOFError, OSError, zlib.error) as error:
            raise _cut_off() from error
    return n_lines


def _cut_off() -> TableError:
    return TableError("the file is cut off or corrupt (gzip cannot inflate it)", "copy it again")


def check_magic(beginning: bytes, magic: bytes, kind: str) -> None:
    """Reject a file that does not begin as its format does."""
    if not beginning.lower().startswith(magic.lower()):
        raise TableError(
            f"the file is not {kind} but {looks_like(beginning) or 'something else'}",
            f"set {setting('format')}",
        )


def looks_like(beginning: bytes) -> str | None:
    """Tell what a binary file is, by its first bytes."""
    return next((what for magic, what in _MAGIC.items() if beginning.startswith(magic)), None)


def looks_like_markup(beginning: bytes) -> str | None:
    """Tell what a text is that is not a table."""
    text = beginning[:100].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((what for mark, what in _MARKUP.items() if text.startswith(mark)), None)

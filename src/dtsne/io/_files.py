"""Before a file is read: whether it can be, what it is, and whether there is room for it."""

from __future__ import annotations

import gzip
import stat
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING

from dtsne.io._errors import TableError
from dtsne.io._formats import COMPRESSIBLE, SUFFIXES, suffixes_of
from dtsne.runtime._memory import available_memory

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection

# What is assumed where the system does not say (Windows).
_ASSUMED_MEMORY = 16 * 2**30
_CHUNK = 2**20
_GZIP_MAGIC = b"\x1f\x8b"

_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "a Feather (Arrow) file",
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK\x03\x04": "a zip archive, as .npz and Excel's .xlsx are",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file, as .h5ad is",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"\x1f\x8b": "compressed with gzip",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"%PDF": "a PDF",
    b"FCS": "an FCS file",
}
# Of text, in any case.
_MARKUP = {
    b"<!doctype html": "a web page, such as a site sends instead of a file",
    b"<html": "a web page, such as a site sends instead of a file",
    b"<?xml": "XML",
    b"{": "JSON",
    b"[{": "JSON",
}


def format_of(path: Path, given: str | None, known: Collection[str]) -> str:
    """Return the format: the one given, or that of the suffix."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    compressed = suffixes[-1:] == [".gz"]
    if given is not None:
        if given not in known:
            raise TableError(f"unknown format {given!r}; known are {', '.join(sorted(known))}.")
        return given
    last = suffixes[-2:-1] if compressed else suffixes[-1:]
    found = SUFFIXES.get(last[0]) if last else None
    if found is None or found not in known or (compressed and found not in COMPRESSIBLE):
        there = ", ".join(suffixes_of(known))
        raise TableError(
            f"{path}: the suffix says nothing of the format. Known are {there}; rename the file, "
            "or name its format (format)."
        )
    return found


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be opened and is not empty."""
    path = Path(path)
    if str(path) == "-":
        raise FileNotFoundError(
            "standard input (-) is not read; write it to a file, and name that."
        )
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
            f"{path} may not be read by you; ask its owner, or change that (chmod +r)."
        ) from None
    if not status.st_size:
        raise TableError(f"{path} is empty (0 bytes); export or copy it again.")
    return path


def _message_for_folder(path: Path) -> str:
    known = (p.name for p in path.iterdir() if SUFFIXES.keys() & set(p.suffixes[-2:]))
    # The tables beside a matrix hold its names.
    inside = sorted(known, key=lambda name: (".mtx" not in name, name))
    hint = f", such as {inside[0]}" if inside else ""
    if str(path) == ".":
        return f"'.' and an empty name stand for this folder; name a file in it{hint}."
    return f"{path} is a folder; name a file in it{hint}."


def free_memory() -> int:
    """Bytes that can be had."""
    free = available_memory()
    return _ASSUMED_MEMORY if free is None else free


def check_room(path: Path, n_bytes: int, what: str = "what it holds") -> None:
    """Refuse what does not fit into memory, before any of it is read."""
    free = free_memory()
    if n_bytes > free:
        raise TableError(
            f"{path}: {what} needs {n_bytes / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free; "
            "take a part of its rows or columns, or a machine with more memory."
        )


def is_gzip(path: Path) -> bool:
    """Whether the content is compressed, whatever the name says."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP_MAGIC


def open_text(path: Path) -> IO[bytes]:
    """Open a file that may be compressed; what is read is not."""
    return gzip.open(path) if is_gzip(path) else path.open("rb")  # type: ignore[return-value]


def head(path: Path, n_bytes: int) -> bytes:
    """Return the beginning, inflated if it is compressed."""
    with open_text(path) as file:
        try:
            return file.read(n_bytes)
        except (EOFError, OSError, zlib.error) as error:
            raise _cut_off(path) from error


def count_lines(
    path: Path,
    n_that_fit: Callable[[int], int],
    *,
    begin: int = 0,
    allowed: bytes | None = None,
) -> int:
    """Return the lines of a text from some byte on, inflated in passing if it is compressed.

    A few kilobytes can inflate to any length. So the length is found first, keeping nothing, and
    refused as soon as it is more than memory holds: `n_that_fit` says how many lines do, given the
    free memory. Where `allowed` is given, bytes that are not among them are refused as well.
    """
    free = free_memory()
    most_lines = n_that_fit(free)
    n_bytes = n_lines = 0
    with open_text(path) as file:
        try:
            file.seek(begin)
            while chunk := file.read(_CHUNK):
                stray = b"" if allowed is None else chunk.translate(None, allowed)
                if stray:
                    raise TableError(
                        f"{path} is damaged: it holds {stray[:1]!r} where numbers should be; copy "
                        "or export it again."
                    )
                n_bytes += len(chunk)
                n_lines += chunk.count(b"\n")
                if n_bytes > free or n_lines > most_lines:
                    raise TableError(
                        f"{path} holds more than fits into the {free / 2**30:.1f} GiB of memory "
                        f"that are free (it was read as far as {n_lines:,} lines, "
                        f"{n_bytes / 2**20:,.0f} MiB); take a part of it."
                    )
        except (EOFError, OSError, zlib.error) as error:
            raise _cut_off(path) from error
    return n_lines


def _cut_off(path: Path) -> TableError:
    return TableError(f"{path} is cut off or damaged (gzip cannot inflate it); copy it again.")


def looks_like(beginning: bytes) -> str | None:
    """Say what a file is that is not what its name says."""
    for magic, what in _MAGIC.items():
        if beginning.startswith(magic):
            return what
    return None


def looks_like_markup(beginning: bytes) -> str | None:
    """Say what a text is that is not a table."""
    text = beginning[:100].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return next((what for mark, what in _MARKUP.items() if text.startswith(mark)), None)

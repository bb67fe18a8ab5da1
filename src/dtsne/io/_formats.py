"""The formats of files: the one list of them, which takes no time to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# suffix → format; those of text may have .gz behind.
SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".npy": "npy",
    ".npz": "npz",
    ".h5ad": "h5ad",
    ".fcs": "fcs",
    ".mtx": "mtx",
}
COMPRESSIBLE = frozenset({"csv", "tsv", "mtx"})

READ = tuple(dict.fromkeys(SUFFIXES.values()))
# Those that maps are read from.
MAPS = tuple(name for name in READ if name not in ("fcs", "mtx"))
# Those that tables are written to; an h5ad is a copy of another.
WRITTEN = tuple(name for name in MAPS if name != "h5ad")
# Those that have a place for more than the map.
WITH_COLUMNS = tuple(name for name in WRITTEN if name != "npy")


def suffixes_of(formats: Iterable[str]) -> list[str]:
    """Return all suffixes of some formats, compressed ones last."""
    known = set(formats)
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in known]
    return [*suffixes, *(f"{suffix}.gz" for suffix in suffixes if SUFFIXES[suffix] in COMPRESSIBLE)]


def in_words(formats: Iterable[str]) -> str:
    """Write formats as .csv, .tsv or .npz."""
    *others, last = (f".{name}" for name in formats)
    return f"{', '.join(others)} or {last}"

"""Results of the comparison, kept in files that are named by what they are made of.

A map depends on the data, the method's code and settings, and the seed; its measures on the map
and the code of the measures. Each is stored under a digest of these, so that a second run finds
what has not changed and computes the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dtsne.runtime._typing import FloatArray


@dataclass(frozen=True)
class Job:
    """One map: a method on a set, by the names of both, with a seed for both."""

    method: str
    set_name: str
    seed: int


@dataclass(frozen=True, eq=False)
class Embedded:
    """A map and what it took, start of the library and compilation aside."""

    embedding: FloatArray
    cpu_seconds: float


@dataclass(frozen=True)
class Failed:
    """Why there is no map."""

    reason: str


class Store:
    """A folder of results. A file is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def map_of(self, key: dict[str, Any]) -> Embedded | None:
        """Return the map with this key, if it was made before and can still be read."""
        try:
            with (
                self._path("map", key, ".npz").open("rb") as file,
                np.load(file, allow_pickle=False) as stored,
            ):
                return Embedded(stored["embedding"], float(stored["cpu_seconds"]))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None

    def keep_map(self, key: dict[str, Any], found: Embedded) -> None:
        """Write a map and what it took."""

        def write(path: Path) -> None:
            with path.open("wb") as file:
                np.savez(file, embedding=found.embedding, cpu_seconds=found.cpu_seconds)

        self._write(self._path("map", key, ".npz"), write)

    def measures_of(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """Return the measures with this key, if they were taken before."""
        try:
            text = self._path("measures", key, ".json").read_text(encoding="utf-8")
            found: dict[str, Any] = json.loads(text)
        except (OSError, ValueError):
            return None
        return found

    def keep_measures(self, key: dict[str, Any], measures: dict[str, Any]) -> None:
        """Write measures."""
        text = json.dumps(measures, indent=1).encode()
        self._write(self._path("measures", key, ".json"), lambda path: path.write_bytes(text))

    def _path(self, kind: str, key: dict[str, Any], suffix: str) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
        return self.folder / f"{kind}-{digest}{suffix}"

    def _write(self, path: Path, write: Callable[[Path], object]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=path.suffix)
        os.close(handle)
        beside = Path(name)
        try:
            write(beside)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)


def digest_of(*arrays: np.ndarray[Any, Any]) -> str:
    """Name the content of arrays."""
    content = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return hashlib.sha256(content).hexdigest()[:24]


def digest_of_files(paths: Iterable[Path]) -> str:
    """Name the content of files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def as_key(job: Job, **more: Any) -> dict[str, Any]:
    """Return all that a result is made of."""
    return asdict(job) | more

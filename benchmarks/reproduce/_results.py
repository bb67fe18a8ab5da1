"""Results of the comparison, kept in files that are named by what they are made of.

A map depends on the data, the method's code and settings, and the seed; its measures on the map
and the code of the measures. Each is stored under a digest of these, so that a second run finds
what has not changed and computes the rest.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dtsne.runtime._atomic import atomic_write

if TYPE_CHECKING:
    from pathlib import Path

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
    """A folder of results, whose files are written atomically."""

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

        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(self._path("map", key, ".npz")) as path, path.open("wb") as file:
            np.savez(file, embedding=found.embedding, cpu_seconds=found.cpu_seconds)

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
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(self._path("measures", key, ".json")) as path:
            path.write_text(json.dumps(measures, indent=1), encoding="utf-8")

    def _path(self, kind: str, key: dict[str, Any], suffix: str) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:24]
        return self.folder / f"{kind}-{digest}{suffix}"


def as_key(job: Job, **more: Any) -> dict[str, Any]:
    """Return all that a result is made of."""
    return asdict(job) | more

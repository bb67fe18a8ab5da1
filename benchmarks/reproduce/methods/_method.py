"""What a method of the comparison is."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtsne.runtime._typing import FloatArray


class Missing(Exception):  # noqa: N818 - a finding to report, not an error
    """A method that cannot be run here; the message says why, and what would help."""


class Method(Protocol):
    """A method; it imports its library, or looks for its program, only when it is asked to embed.

    Attributes
    ----------
    title : str
        Its name in tables and figures.
    settings : dict
        What it is run with, to be reported, and part of what its results are cached by.
    n_rehearsed : int
        Points of the rehearsal, before anything is timed, that makes it compile all of itself.
    """

    @property
    def title(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def n_rehearsed(self) -> int: ...

    def version(self) -> str:
        """Return which code would run; raise `Missing` where there is none."""

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""


@dataclass(frozen=True)
class LibraryMethod:
    """A method of a Python library: a function of the data, the seed and the settings."""

    title: str
    packages: Sequence[str]
    function: Callable[..., FloatArray]
    settings: dict[str, Any] = field(default_factory=dict)
    n_rehearsed: int = 400

    def version(self) -> str:
        """Return the versions of its packages."""
        return versions(self.packages)

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""
        return self.function(X, seed, **self.settings)


def digest_of_adapter(method: Method) -> str:
    """Name the content of the code that calls a method."""
    code = inspect.getsource(type(method))
    if isinstance(method, LibraryMethod):
        code += inspect.getsource(method.function)
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def versions(packages: Sequence[str]) -> str:
    """Return the versions of packages; raise `Missing` for the first that is not installed."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            raise Missing(f'{package} is not installed: pip install "dtsne[bench]"') from None
    return ", ".join(found)

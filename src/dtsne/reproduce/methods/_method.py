"""What a method of the comparison is."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dtsne._typing import FloatArray


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
    """

    @property
    def title(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...

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

    def version(self) -> str:
        """Return the versions of its packages."""
        return versions(self.packages)

    def embed(self, X: FloatArray, seed: int) -> FloatArray:
        """Map points to two dimensions."""
        return self.function(X, seed, **self.settings)


def versions(packages: Sequence[str]) -> str:
    """Return the versions of packages; raise `Missing` for the first that is not installed."""
    found = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            raise Missing(f'{package} is not installed: pip install "dtsne[bench]"') from None
    return ", ".join(found)

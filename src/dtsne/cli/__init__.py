"""The command line: ``dtsne COMMAND``. Each command has a file of its own."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from dtsne.cli._app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run a command."""
    sys.stdout = _buffered(sys.stdout)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # "σ" is more than some terminals can write
            stream.reconfigure(errors="backslashreplace")
    try:
        from dtsne.cli._app import app

        app()
    except KeyboardInterrupt:  # while that was loaded, or at the very end
        sys.stderr.write("dtsne: stopped.\n")
        sys.exit(130)


def _buffered(stream: TextIO) -> TextIO:
    """Return standard output with a buffer, also under PYTHONUNBUFFERED.

    Without one, text that a closed pipe did not take is lost without an error.
    """
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, stream.errors)


def __getattr__(name: str) -> object:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from dtsne.cli._app import app

    return app

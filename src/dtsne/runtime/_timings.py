"""How long each phase of a fit takes."""

from __future__ import annotations

from contextlib import contextmanager
from time import process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Timings:
    """Seconds of all processors together, by name of the phase.

    A phase may come more than once, which adds up, and may lie within another, which counts in
    both. Measuring takes a few microseconds.
    """

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what is done within."""
        # Named at once, so that a phase stands before those within it.
        self.cpu.setdefault(name, 0.0)
        cpu = process_time()
        try:
            yield
        finally:
            self.cpu[name] += process_time() - cpu

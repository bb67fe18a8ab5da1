"""How long each phase of a fit takes."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter, process_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Timings:
    """Seconds by name of the phase: of the clock, and of all processors together.

    A phase may come more than once, which adds up, and may lie within another, which counts in
    both. Measuring takes a few microseconds.
    """

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.cpu: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measure what is done within."""
        # Named at once, so that a phase stands before those within it.
        self.wall.setdefault(name, 0.0)
        self.cpu.setdefault(name, 0.0)
        wall, cpu = perf_counter(), process_time()
        try:
            yield
        finally:
            self.wall[name] += perf_counter() - wall
            self.cpu[name] += process_time() - cpu

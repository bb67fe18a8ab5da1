"""How much memory can still be had, on this machine and within the limits set on this process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dtsne.runtime._errors import OutOfMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where a control group says how much it may use, how much it does, and (in memory.stat) how much of
# that is files that make way: in version 2 of control groups, and in version 1.
_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Raise MemoryError before the work rather than be killed during it."""
    free = available_memory()
    if free is not None and n_bytes > free:
        raise shortage(n_bytes, free, what, remedy)


def shortage(n_bytes: float, free: int, what: str, remedy: str) -> OutOfMemoryError:
    """Return the error for what does not fit."""
    reason = f"{what} needs {n_bytes / 2**30:.1f} GiB and {free / 2**30:.1f} GiB are free"
    return OutOfMemoryError(reason, remedy, needed=int(n_bytes), available=free)


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes that can still be had, or those of the whole machine where only these are known.

    Containers and batch systems set limits below what the machine has, of which it says nothing.
    """
    machine = _free_on_machine(root)
    limits = list(_free_in_groups(root))
    return min([machine, *limits]) if machine is not None else min(limits, default=None)


def _free_on_machine(root: Path) -> int | None:
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
        kibibytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable"))
        return 1024 * int(kibibytes)
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows
        return None


def _free_in_groups(root: Path) -> Iterator[int]:
    """Bytes left to each limited control group that this process is in."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return
    mount = root / "sys/fs/cgroup"
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, names = mount, _VERSION_2
        elif "memory" in controllers.split(","):
            top, names = mount / "memory", _VERSION_1
        else:
            continue
        # A group shares the limits of those around it. Within a container its path may be the one
        # it has outside; there only the top can be read, and it is the container's own.
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            free = _free_in(folder, *names)
            if free is not None:
                yield free
            if folder == top:
                break


def _free_in(folder: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    try:
        most, used = (int((folder / name).read_text()) for name in (limit, usage))
        counts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return max(0, most - used + int(counts.get(reclaimable, 0)))
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return None

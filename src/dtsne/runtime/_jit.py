"""How kernels are compiled: for any thread, with a cache on disk, and the same sums on every run.

Numba's cache of a kernel is valid as long as the file it stands in does not change, whatever others
do: so a kernel calls no kernel of another file, and after a change of the options here the cached
ones (`*.nbi`, `*.nbc`) have to be deleted by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

# Reassociation lets a sum use vector registers; its order is still the same for every run. NaN and
# infinities keep their meaning.
_FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})


def compiled(*, inline: str = "never", exact: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Compile a kernel at its first call; `exact` keeps to the order of operations as written."""
    # A check for division by 0 would leave a loop no vector registers.
    options: dict[str, Any] = {
        "nogil": True, "inline": inline, "error_model": "numpy",
    }  # fmt: skip
    if not exact:
        options["fastmath"] = set(_FASTMATH)

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # nowhere to write the cache: compile in every process
            return njit(**options)(function)

    return decorate

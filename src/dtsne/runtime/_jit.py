"""How kernels are compiled: for any thread, with a cache on disk, and the same sums on every run.

Numba's cache of a kernel is valid as long as the file it stands in does not change, whatever others
do: so a kernel calls no kernel of another file, and after a change of the options here the cached
ones (`*.nbi`, `*.nbc`) must be deleted by hand.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable


class Kernel(Protocol):
    """A compiled function, which numba gives its types at the first call."""

    def __call__(self, *arguments: Any) -> Any: ...


# Reassociation lets a sum use vector registers; its order is still the same for every run. NaN and
# infinities keep their meaning.
_FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})


def compiled(
    *, inline: Literal["never", "always"] = "never", exact: bool = False
) -> Callable[[Kernel], Kernel]:
    """Compile a kernel at its first call; `exact` keeps to the order of operations as written."""
    # A check for division by 0 would leave a loop no vector registers.
    compile_ = partial(
        njit,
        nogil=True,
        inline=inline,
        error_model="numpy",
        fastmath=False if exact else set(_FASTMATH),
    )

    def decorate(function: Kernel) -> Kernel:
        kernel: Kernel
        try:
            kernel = compile_(cache=True)(function)
        except RuntimeError:  # nowhere to write the cache: compile in every process
            kernel = compile_()(function)
        return kernel

    return decorate

"""Kernels in Triton, and their twins in plain PyTorch: where each of them is used."""

from __future__ import annotations

from functools import cache, wraps
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

P = ParamSpec("P")
T = TypeVar("T")

_MIN_CAPABILITY = (7, 0)


def dispatch(
    kernels: str, *, when: Callable[..., bool] | None = None
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Hand the calls of a function in plain PyTorch to its twin in Triton, where that can run.

    The twin has the same name and parameters, in the module `kernels` of the same package. The
    docstring of the decorated function is the contract of both::

        @dispatch("_near_triton")
        def sum_near(y, s, cells, cutoff): ...

    The first tensor among the arguments decides (:func:`runs_triton`). `when` gets all arguments
    and excludes those that the kernels cannot work on. ``sum_near.__wrapped__`` is the function in
    plain PyTorch.
    """

    def decorate(plain: Callable[P, T]) -> Callable[P, T]:
        module = f"{plain.__module__.rpartition('.')[0]}.{kernels}"

        @cache
        def twin() -> Callable[P, T]:
            found: Callable[P, T] = getattr(import_module(module), plain.__name__)
            return found

        @wraps(plain)
        def dispatched(*args: P.args, **named: P.kwargs) -> T:
            if _is_for(module, _first_tensor(args)) and (when is None or when(*args, **named)):
                return twin()(*args, **named)
            return plain(*args, **named)

        return dispatched

    return decorate


def _is_for(kernels: str, tensor: Tensor) -> bool:  # noqa: ARG001
    """Whether to use the kernels of a module; tests replace it to have them interpreted."""
    return runs_triton(tensor)


def runs_triton(tensor: Tensor) -> bool:
    """Whether kernels in Triton can work on a tensor."""
    return tensor.is_cuda and has_triton() and _knows_instructions(tensor.device.index)


@cache
def has_triton() -> bool:
    """Whether Triton is installed; it comes with PyTorch for CUDA on Linux."""
    return find_spec("triton") is not None


def _first_tensor(args: tuple[object, ...]) -> Tensor:
    from torch import Tensor

    return next(value for value in args if isinstance(value, Tensor))


@cache
def _knows_instructions(index: int) -> bool:
    """Whether a GPU is of a kind that Triton compiles for, and of NVIDIA, as some are named."""
    import torch

    is_nvidia = getattr(torch.version, "hip", None) is None
    return is_nvidia and torch.cuda.get_device_capability(index) >= _MIN_CAPABILITY

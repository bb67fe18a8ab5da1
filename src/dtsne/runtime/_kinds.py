"""To be removed: the former place of :mod:`dtsne.runtime._arrays`."""

from dtsne.runtime._arrays import is_on_device, is_tensor, on_host

__all__ = ["is_on_device", "is_tensor", "on_host"]

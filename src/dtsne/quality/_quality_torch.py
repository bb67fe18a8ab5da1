"""The loops over points of :mod:`dtsne.quality` on a device; results are on the host.

Points are in float64, and so are distances. Only which of two points is the nearer one is decided
in float32, as everywhere on a device.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from dtsne.neighbors._ivf_torch import keys_of_all, nearest_of_all, one_cell
from dtsne.neighbors._search_torch import nearest
from dtsne.quality._inputs import Spaces
from dtsne.runtime._arrays import to_host
from dtsne.runtime._devices import on_its_device, working_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from dtsne.runtime._typing import FloatArray, IntArray

# Bytes that intermediate results may take at a time.
MAX_SCRATCH = 2**30
# Of a smaller share of the rows than this, each is compared with all points.
_LARGE_SHARE = 0.25
# What is found where all pairs of points would take too long, and all rows are asked for.
_RECALL = 0.999
# Points that a middle is found from; any that is not far out will do.
_N_SAMPLED = 1024


def spaces_on(device: torch.device, spaces: Spaces) -> Spaces:
    """Bring data and map to a device."""
    both = (spaces.data, spaces.map)
    with working_on(device):
        return Spaces(*(torch.as_tensor(points, device=device) for points in both))


@on_its_device
def neighbors(points: Tensor, k: int, queries: IntArray | None) -> tuple[IntArray, FloatArray]:
    """Find the k nearest others of some rows; see `dtsne.neighbors._exact`."""
    n, single = len(points), _in_single(points)
    rows = torch.arange(n, device=points.device) if queries is None else _on(points, queries)
    if len(rows) < _LARGE_SHARE * n:
        indices, _ = nearest_of_all(one_cell(single), rows, k, scratch=MAX_SCRATCH)
    else:
        indices = nearest(single, k, recall=_RECALL)[0][rows]
    indices = indices.long().sort(dim=1).values
    parts = [
        torch.linalg.vector_norm(points[others] - points[some, None], dim=2)
        for some, others in _split((rows, indices), 16 * k * points.shape[1])
    ]
    # Stable, so that those equally far stay in the order of their index.
    distances, order = torch.cat(parts).sort(dim=1, stable=True)
    return to_host(indices.gather(1, order).int()), to_host(distances)


@on_its_device
def ranks(points: Tensor, rows: IntArray, others: IntArray) -> IntArray:
    """Rank others[r] among all points, from rows[r]; see :func:`dtsne.quality._kernels.ranks`."""
    lists = one_cell(_in_single(points))
    asked = _on(points, others).long()
    found: list[Tensor] = []
    for part, keys in keys_of_all(lists, _on(points, rows), scratch=MAX_SCRATCH):
        limits = keys.gather(1, asked[part])
        closer = [(keys < limit[:, None]).sum(dim=1) for limit in limits.T]
        found.append(torch.stack(closer, dim=1))
    counts: IntArray = to_host(torch.cat(found))
    return counts + 1


@on_its_device
def pair_sums(X: Tensor, Y: Tensor, n_offsets: int, shift_x: float, shift_y: float) -> FloatArray:
    """Sum over pairs of each point; see :func:`dtsne.quality._kernels.pair_sums`."""
    n = len(X)
    # Pairs of opposite points of the circle are met from the first half of it alone.
    counts = torch.ones(n, dtype=torch.float64, device=X.device)
    if 2 * n_offsets == n:
        counts[n_offsets:] = 0.0
    spaces = (X, _following(X, n_offsets), Y, _following(Y, n_offsets), counts)
    n_numbers = n_offsets * (X.shape[1] + Y.shape[1] + 5)
    sums: list[Tensor] = []
    for x, other_x, y, other_y, counts_last in _split(spaces, 16 * n_numbers):
        a = torch.linalg.vector_norm(other_x - x[..., None], dim=1) - shift_x
        b = torch.linalg.vector_norm(other_y - y[..., None], dim=1) - shift_y
        a[:, -1] *= counts_last
        b[:, -1] *= counts_last
        sums.append(torch.stack([a, b, a * a, b * b, a * b]).sum(dim=2).T)
    found: FloatArray = to_host(torch.cat(sums))
    return found


def _following(points: Tensor, n_offsets: int) -> Tensor:
    """View of the points that follow each on the circle, of shape (n, d, n_offsets)."""
    return torch.cat([points[1:], points[:n_offsets]]).unfold(0, n_offsets, 1)


def _in_single(points: Tensor) -> Tensor:
    """Return points in float32, around one of them and in a unit that is a power of two.

    Whole numbers so stay whole, and points that are equally far stay so.
    """
    some = points[:: -(-len(points) // _N_SAMPLED)].sort(dim=0).values
    around = points - some[len(some) // 2]
    largest = float(around.abs().max())
    return (around / 2.0 ** math.floor(math.log2(largest)) if largest else around).float()


def _split(tensors: tuple[Tensor, ...], bytes_per_row: int) -> Iterator[tuple[Tensor, ...]]:
    """Go through the rows of tensors together, some at a time."""
    step = max(1, MAX_SCRATCH // bytes_per_row)
    return zip(*(torch.split(tensor, step) for tensor in tensors), strict=True)


def _on(points: Tensor, rows: IntArray) -> Tensor:
    return torch.as_tensor(rows, device=points.device)

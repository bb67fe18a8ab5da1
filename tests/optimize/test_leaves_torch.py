"""Leaves of a tree on the device, and lists of those that are close to each other."""

from __future__ import annotations

import numpy as np
from gpu_ways import both_ways, going, torch
from radii_support import uneven

from dtsne.optimize._leaves_torch import GROUP, LEAF, make_leaves
from dtsne.optimize._radii_torch import count_close, list_close


@both_ways
def test_lists_have_all_leaves_that_are_close(rng, way):
    """Of two groups, against the boxes of the leaves' points, from some leaf on."""
    n, first = GROUP * LEAF + 100, 50
    y = rng.normal(size=(n, 2)).astype(np.float32)
    with going(way) as device:
        leaves = make_leaves(torch.tensor(y, device=device))
        squared = torch.full_like(leaves.points[:, 0], torch.inf)  # also of what is no point
        squared[:n] = torch.tensor(rng.uniform(0, 0.1, size=n))
        counts = count_close(leaves, squared).cpu()
        starts = torch.zeros(leaves.n_leaves - first + 1, dtype=torch.int64)
        starts[1:] = counts[first:].cumsum(dim=0)
        members = list_close(leaves, squared, starts.to(device), first).cpu()
    y = y[leaves.order.cpu()]
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in np.split(y, range(LEAF, n, LEAF))]
    gaps = np.array([np.maximum(0, np.maximum(low - y, y - high)) for low, high in boxes])
    is_close = (gaps**2).sum(axis=2) < squared[:n].cpu().numpy()  # (leaves, points)
    is_close = np.logical_or.reduceat(is_close, range(0, n, LEAF), axis=1).T
    np.testing.assert_array_equal(counts, is_close.sum(axis=1))
    np.testing.assert_array_equal(members, np.nonzero(is_close[first:])[1])


def test_leaves_are_compact(rng):
    """Whatever the densities: boxes of leaves hardly overlap, so that few are close to one."""
    y = torch.tensor(uneven(rng, 4000, 2)[500:])
    leaves = make_leaves(y)
    assert sorted(leaves.order.tolist()) == list(range(len(y)))
    squared = torch.zeros_like(leaves.points[:, 0])
    squared[: len(y)] = 1e-30  # a radius of hardly anything
    counts = count_close(leaves, squared)
    assert counts.double().mean() < 2.0

"""Kernels are compiled for a GPU, which needs none: the interpreter takes more than the compiler.

Those of the search are in neighbors/test_search_torch.py; all others are called by their wrappers,
on small tensors, with a launch that compiles instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_ways import needs_triton

import dtsne

# Tried in neighbors/test_search_torch.py.
IN_THE_SEARCH = {"_compare", "_choose_bounds", "_collect", "_make_keys", "_keep_nearest"}


def launched_kernels():
    """Names of all kernels: what a file launches, `_kernel[grid](…)`."""
    folder = Path(dtsne.__file__).parent
    sources = (path.read_text(encoding="utf-8") for path in folder.rglob("_*_triton.py"))
    return {name for source in sources for name in re.findall(r"(_\w+)\[\(?[^\]]*\]\(", source)}


COMPILE_WHAT_IS_LAUNCHED = """
import sys
from types import SimpleNamespace

import torch
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from triton.runtime.jit import JITFunction

POINTERS = {
    torch.float32: "*fp32", torch.float64: "*fp64", torch.int16: "*i16", torch.int32: "*i32",
    torch.int64: "*i64", torch.bool: "*i1",
}
compiled = set()


def type_of(value):
    if isinstance(value, torch.Tensor):
        return POINTERS[value.dtype]
    return "fp32" if isinstance(value, float) else "i32" if abs(value) < 2**31 else "i64"


def compile_instead(self, *args, grid, warmup, **named):
    names = self.arg_names
    options = {name: value for name, value in named.items() if name not in names}
    given = dict(zip(names, args, strict=False)) | named
    constants = {p.name: given[p.name] for p in self.params if p.is_constexpr}
    signature = {n: "constexpr" if n in constants else type_of(given[n]) for n in names}
    places = {(names.index(name),): value for name, value in constants.items()}
    target = GPUTarget("cuda", int(sys.argv[1]), 32)
    compile(ASTSource(self, signature, places), target=target, options=options)
    compiled.add(self.__name__)
    if "lengths" in given:  # the host goes on with them
        given["lengths"].zero_()


JITFunction.run = compile_instead

from dtsne.affinity import _sparse_torch as _affinities
from dtsne.forces.fft import _cells_torch as _cells
from dtsne.optimize import _leaves_torch as _leaves
from dtsne.affinity._sparse_triton import put_affinities, union
from dtsne.forces._attraction_triton import attraction
from dtsne.forces.fft._cells_triton import arrange, find_cells, join
from dtsne.forces.fft._grid_triton import add_shares, gather, multiply_spectra
from dtsne.optimize._radii_triton import count_close, list_close, lower_to_rank
from dtsne.forces.fft._near_triton import sum_near
from dtsne.forces._exact_triton import exact_repulsion
from dtsne.affinity._sigmas_triton import find_sigmas
from dtsne._config import SCALED
from dtsne.forces._step import Motion, StepSettings
from dtsne.forces._step_triton import gradient_step

N = 64
for n_axes in (2, 3):
    y, scales = torch.randn(N, n_axes), torch.rand(N)
    origin, shape = y.amin(dim=0), (32,) * n_axes
    counts = _cells.count_cells([4.0] * n_axes, 1.0)
    find_cells(y, origin, 1.0, counts, torch.int16)
    cells = _cells.sort_into_cells(y, origin, 1.0, counts)
    weights, fixed = torch.rand(N, 5), torch.zeros(5, *shape, dtype=torch.int64)
    plan = SimpleNamespace(weights=weights, spacing=0.5, grid_shape=shape)
    arrange(y, scales, cells.order, origin, plan)
    add_shares(y, weights, 2.0**50, fixed)
    gather(y, weights, fixed.float())
    sum_near(y, scales, cells, 2.0)
    leaves = _leaves.make_leaves(y)
    squared, starts = leaves.points[:, 0], torch.arange(leaves.n_leaves + 1)
    count_close(leaves, squared)
    list_close(leaves, squared, starts, 0)
    lower_to_rank(leaves, starts, starts.int(), 3, squared)
    double = [torch.rand(N, n_axes, dtype=torch.float64) for _ in range(3)]
    settings = StepSettings(SCALED, momentum=0.9, learning_rate=1.0)
    gradient_step(Motion(*double), scales.double(), double[0], settings)
spectra, charges = torch.rand(15, 8, 5), torch.rand(5, 8, 5, dtype=torch.complex64)
multiply_spectra(spectra, charges, 1.0)
for near in (None, torch.rand(N, 4)):
    join(torch.rand(N, 4), near, scales, cells.order, 2.0, 0.5)
points, squared = torch.rand(N, 4), torch.rand(N, 30)
for rows in (None, torch.arange(5)):
    exact_repulsion(points, rows, n_axes=2)
indices = torch.stack([torch.randperm(N - 1)[:30] for _ in range(N)]).int()
sparse = _affinities.sparse_affinities(indices, squared, torch.rand(N))
put_affinities(sparse, torch.rand(N, dtype=torch.float64))
starts = torch.arange(N + 1)
union(indices, squared, starts, torch.zeros(N, dtype=torch.int32), torch.rand(N))
hub = torch.cat((torch.zeros(1, dtype=torch.int64), 5000 + starts[:N]))  # a row that is cut
n = int(hub[-1])
with_hub = _affinities.SparseAffinities(hub, torch.zeros(n, dtype=torch.int32), torch.rand(n))
attraction(with_hub, points, n_axes=2)
find_sigmas(squared, 5.0)
dense = _affinities.DenseAffinities(torch.rand(N, N))
for with_cost in (False, True):
    attraction(sparse, points, n_axes=2, with_cost=with_cost)
    attraction(dense, points, n_axes=2, with_cost=with_cost)
print(*sorted(compiled))
"""


@pytest.mark.integration
@needs_triton
@pytest.mark.parametrize("capability", ["80", "90"])
def test_kernels_compile_for_a_gpu(tmp_path, capability):
    environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMPILE_WHAT_IS_LAUNCHED, capability]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == launched_kernels() - IN_THE_SEARCH

"""The search of `_search_torch` in Triton, without the matrix of distances in memory.

For a batch of rows, with the columns (points) that each block of them is compared with:

1. squared distances to a sample of the columns (`_compare`);
2. from these a bound for each row, which somewhat more points than wanted are expected to be within
   (`_choose_bounds`);
3. distances to all columns, of which only one bit is kept: whether it is within (`_compare`);
4. the positions of these bits (`_collect`);
5. exact distances of the points there, as keys (`_make_keys`), sorted (`_keep_nearest`).

The matrix would be 20 GB for 70,000 points, and selecting from it would read it many times; the
bits are .6 GB, the sample 1.2 GB. Each row of a step is the work of one program, so that there is
no order in which results come, and nothing that depends on it.

Rows with too few or too many points within their bound (less than one in a thousand, and rows with
many duplicates at the same distance) are returned as not sure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from dtsne.neighbors._batches_torch import COLUMNS, N_FIELDS, batches, capacity_for
from dtsne.neighbors._ivf_torch import surely_nearest

if TYPE_CHECKING:
    from torch import Tensor

    from dtsne.neighbors._batches_torch import Batch
    from dtsne.neighbors._ivf_torch import Lists

# Tensor cores at nearly the precision of float32: three products of parts of 11 bits. Without them
# ("ieee") the factors do not fit into the registers.
_PRECISION = "tf32x3"
# One warp group of Hopper, 4 warps, multiplies 64 rows at a time. A tile of 128 columns then takes
# 64 registers a thread. Its factors, each in two parts of float32, and those loaded ahead are
# 160 KB of shared memory for 128 rows and 64 features, of 227 KB.
_ROWS_PER_WARP, _STAGES = 16, 2
# Tiles that a program goes through with the same rows, which it need not read again.
_TILES = 16
# Rows that a program works on in each of the other steps. One is best on a GPU, as rows are long.
_ROWS_AT_ONCE = 1
# 32 candidates × 64 features are 16 numbers in float64 for each of 128 threads.
_KEYS_AT_ONCE = 32
_FIELDS = tl.constexpr(N_FIELDS)


def search(
    lists: Lists, visited: Tensor, indices: Tensor, distances: Tensor, scratch: int
) -> Tensor:
    """See :func:`dtsne.neighbors._search_torch.search`."""
    n, width = lists.points.shape
    capacity = capacity_for(indices.shape[1])
    sure = torch.empty(n, dtype=torch.bool, device=indices.device)
    for batch in batches(lists, visited, capacity, scratch):
        some = slice(batch.first, batch.first + batch.n_rows)
        bounds = _bounds(lists, batch)
        positions, counts = _within(lists, batch, bounds, capacity.kept)
        rows = torch.arange(some.start, some.stop, device=indices.device)
        keys = keys_of(lists, rows, positions, counts)
        _write_nearest(lists, batch, keys, indices, distances)
        own = lists.points[some] - lists.centres[batch.cell_of_row]
        farthest = distances[lists.order[some].long(), -1]
        # Of too many, some were left out; if all found are its duplicates, it does not matter.
        bounds.masked_fill_(counts > capacity.kept, -torch.inf)
        sure[some] = (farthest == 0) | surely_nearest(
            farthest, bounds, own.square().sum(dim=1).sqrt(), width
        )
    return sure


def keys_of(lists: Lists, rows: Tensor, candidates: Tensor, counts: Tensor) -> Tensor:
    """Return keys by exact distances; see :func:`dtsne.neighbors._ivf_torch.keys_of`."""
    n_rows, n_candidates = candidates.shape
    width = lists.points.shape[1]
    keys = torch.empty((n_rows, n_candidates), dtype=torch.int64, device=rows.device)
    n_blocks = triton.cdiv(n_candidates, _KEYS_AT_ONCE)
    _make_keys[(triton.cdiv(n_rows, _ROWS_AT_ONCE) * n_blocks,)](
        lists.points, lists.order, rows, candidates, candidates.stride(0), counts, keys,
        n_rows, n_candidates, n_blocks, WIDTH=width, FEATURES=width if width <= 64 else 32,
        ROWS=_ROWS_AT_ONCE, BLOCK=_KEYS_AT_ONCE, num_warps=4,
    )  # fmt: skip
    return keys


def _features(points: Tensor) -> int:
    """Features that are multiplied at once.

    Hopper reads the factors from shared memory, and can take 64, so that those of the rows stay
    there. Others have them in registers, where 32 leave room for the rest.
    """
    width = points.shape[1]
    is_hopper = points.is_cuda and torch.cuda.get_device_capability(points.device)[0] == 9
    return width if width <= (64 if is_hopper else 32) else 32


def _bounds(lists: Lists, batch: Batch) -> Tensor:
    """Squared distance within which each row has somewhat more points than wanted."""
    device = lists.points.device
    samples = torch.empty(batch.n_samples, dtype=torch.float32, device=device)
    bounds = torch.empty(batch.n_rows, dtype=torch.float32, device=device)
    _launch_compare(lists, batch, bounds, samples, batch.max_sampled, sampled=True)
    size = max(32, triton.next_power_of_2(batch.max_sampled))
    _choose_bounds[(triton.cdiv(batch.n_rows, _ROWS_AT_ONCE),)](
        batch.table, batch.block_of_row, samples, bounds, batch.first, batch.n_rows,
        SIZE=size, ROWS=_ROWS_AT_ONCE, num_warps=min(8, max(1, size // 512)),
    )  # fmt: skip
    return bounds


def _within(lists: Lists, batch: Batch, bounds: Tensor, n_kept: int) -> tuple[Tensor, Tensor]:
    """Positions of the points within the bound of each row, and how many there are."""
    device = lists.points.device
    words = torch.empty(batch.n_words, dtype=torch.int32, device=device)
    _launch_compare(lists, batch, bounds, words, batch.max_columns, sampled=False)
    positions = torch.empty((batch.n_rows, n_kept), dtype=torch.int32, device=device)
    counts = torch.empty(batch.n_rows, dtype=torch.int32, device=device)
    # One warp for a row: its sums need no shared memory, and 32 such programs hide the latency.
    _collect[(triton.cdiv(batch.n_rows, _ROWS_AT_ONCE),)](
        batch.table, batch.block_of_row, batch.columns, words, positions, counts,
        batch.first, batch.n_rows, KEPT=n_kept, ROWS=_ROWS_AT_ONCE, WORDS=128, COLUMNS=COLUMNS,
        num_warps=1,
    )  # fmt: skip
    return positions, counts


def _launch_compare(
    lists: Lists, batch: Batch, bounds: Tensor, output: Tensor, most: int, *, sampled: bool
) -> None:
    width = lists.points.shape[1]
    grid = (len(batch.table), triton.cdiv(most, COLUMNS * _TILES))
    _compare[grid](
        lists.points, lists.centres, batch.table, batch.columns, bounds, output, batch.first,
        WIDTH=width, FEATURES=_features(lists.points), SAMPLED=sampled, PRECISION=_PRECISION,
        ROWS=batch.rows_of_block, COLUMNS=COLUMNS, TILES=_TILES,
        num_warps=batch.rows_of_block // _ROWS_PER_WARP, num_stages=_STAGES,
    )  # fmt: skip


def _write_nearest(
    lists: Lists, batch: Batch, keys: Tensor, indices: Tensor, distances: Tensor
) -> None:
    n_kept, k = keys.shape[1], indices.shape[1]
    # 8 keys a thread. Fewer warps need less shared memory, but as many more instructions: the loop
    # is unrolled, and 1024 keys in one warp are more code than the cache for it holds.
    warps = max(1, n_kept // 256)
    _keep_nearest[(triton.cdiv(batch.n_rows, _ROWS_AT_ONCE),)](
        keys, lists.order, indices, distances, batch.first, batch.n_rows, k,
        KEPT=n_kept, ROWS=_ROWS_AT_ONCE, num_warps=warps,
    )  # fmt: skip


@triton.jit(do_not_specialize=["first_row"])  # type: ignore[untyped-decorator]
def _compare(  # type: ignore[no-untyped-def]
    points, centres, table, columns, bounds, output, first_row,
    WIDTH: tl.constexpr, FEATURES: tl.constexpr, SAMPLED: tl.constexpr, PRECISION: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """Squared distances of a block of rows to some tiles of its columns: values or bits.

    Around the centre of the rows' cell: what is squared is then of the size of the distances.
    """
    block = table + tl.program_id(0) * _FIELDS
    cell = tl.load(block)
    first = tl.load(block + 1)
    n_rows = tl.load(block + 2)
    list_start = tl.load(block + 3)
    n_columns = tl.load(block + 4).to(tl.int32)
    every = tl.load(block + 5).to(tl.int32)
    n_compared = n_columns
    if SAMPLED:
        n_compared = tl.cdiv(n_columns, every)
        start = tl.load(block + 7)
    else:
        start = tl.load(block + 8)
    n_tiles = tl.cdiv(n_compared, COLUMNS)
    begin = tl.program_id(1) * TILES
    if begin >= n_tiles:
        return

    r = tl.arange(0, ROWS)
    in_block = r < n_rows
    features = tl.arange(0, FEATURES)
    own = points + (first + r)[:, None] * WIDTH + features[None, :]
    centre = centres + cell * WIDTH + features
    c = tl.arange(0, COLUMNS)
    if not SAMPLED:
        bound = tl.load(bounds + (first - first_row) + r, mask=in_block, other=-1.0)
        start_of_row = start + r * (n_tiles * (COLUMNS // 32))
    else:
        start_of_row = start + r * n_compared.to(tl.int64)
    if FEATURES == WIDTH:
        middle = tl.load(centre)
        a = tl.load(own, mask=in_block[:, None], other=0.0) - middle[None, :]
        a_squared = tl.sum(a * a, axis=1)

    # Of a known number, so that the compiler can load ahead; those beyond the last are empty.
    for i in range(TILES):
        tile = begin + i
        column = tile * COLUMNS + c
        at = column
        if SAMPLED:
            # One of each group, not always the same, as points may come in a rhythm.
            at = column * every + ((column.to(tl.uint32) * 2654435769) >> 16).to(tl.int32) % every
            at = tl.minimum(at, n_columns - 1)
        in_tile = column < n_compared
        other = tl.load(columns + list_start + at, mask=in_tile, other=0).to(tl.int64)
        others = points + other[:, None] * WIDTH + features[None, :]
        if FEATURES == WIDTH:
            b = tl.load(others) - middle[None, :]
            products = tl.dot(a, tl.trans(b), input_precision=PRECISION)
            b_squared = tl.sum(b * b, axis=1)
        else:
            products = tl.zeros((ROWS, COLUMNS), tl.float32)
            a_squared = tl.zeros((ROWS,), tl.float32)
            b_squared = tl.zeros((COLUMNS,), tl.float32)
            for f in range(0, WIDTH, FEATURES):
                middle = tl.load(centre + f)
                a = tl.load(own + f, mask=in_block[:, None], other=0.0) - middle[None, :]
                b = tl.load(others + f) - middle[None, :]
                products = tl.dot(a, tl.trans(b), products, input_precision=PRECISION)
                a_squared += tl.sum(a * a, axis=1)
                b_squared += tl.sum(b * b, axis=1)
        squared = (b_squared[None, :] - 2.0 * products) + a_squared[:, None]
        if SAMPLED:
            at_output = output + start_of_row[:, None] + column[None, :]
            tl.store(at_output, squared, mask=in_block[:, None] & in_tile[None, :])
        else:
            within = (squared <= bound[:, None]) & in_tile[None, :]
            bits = tl.reshape(within.to(tl.int32), (ROWS, COLUMNS // 32, 32))
            words = tl.sum(bits << tl.arange(0, 32)[None, None, :], axis=2)
            w = tile * (COLUMNS // 32) + tl.arange(0, COLUMNS // 32)
            at_output = output + start_of_row[:, None] + w[None, :]
            # Compared as a block: the interpreter knows no mask that a single number made.
            is_tile = (tl.zeros_like(r) + tile < n_tiles)[:, None]
            tl.store(at_output, words, mask=in_block[:, None] & is_tile)


@triton.jit(do_not_specialize=["first_row", "n_rows"])  # type: ignore[untyped-decorator]
def _choose_bounds(  # type: ignore[no-untyped-def]
    table, block_of_row, samples, bounds, first_row, n_rows, SIZE: tl.constexpr, ROWS: tl.constexpr
):
    """Find the value of a rank in each row of the sample, to 9 bits behind the first.

    The bits of numbers that are not negative, as whole numbers, are in the order of the numbers:
    the largest of these with fewer than `rank` values below it is found bit by bit.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    is_row = row < n_rows
    block = table + tl.load(block_of_row + row, mask=is_row, other=0).to(tl.int64) * _FIELDS
    in_block = first_row + row - tl.load(block + 1)
    n_sampled = tl.cdiv(tl.load(block + 4), tl.load(block + 5))
    rank = tl.load(block + 6).to(tl.int32)
    start = tl.load(block + 7) + in_block * n_sampled
    s = tl.arange(0, SIZE)
    values = tl.load(
        samples + start[:, None] + s[None, :],
        mask=is_row[:, None] & (s[None, :] < n_sampled[:, None]),
        other=float("inf"),
    )
    bits = tl.maximum(values, 0.0).to(tl.int32, bitcast=True)
    low = tl.zeros((ROWS,), tl.int32)
    for i in range(17):
        trial = low + (1 << (30 - i))
        below = tl.sum((bits < trial[:, None]).to(tl.int32), axis=1)
        low = tl.where(below < rank, trial, low)
    # The end of the interval, and infinity (which is 0x7F800000) where there are too few values.
    high = tl.minimum(low | 0x3FFF, 0x7F800000)
    tl.store(bounds + row, high.to(tl.float32, bitcast=True), mask=is_row)


@triton.jit
def _count_bits(word):  # type: ignore[no-untyped-def]
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word * 0x01010101) >> 24).to(tl.int32)


@triton.jit(do_not_specialize=["first_row", "n_rows"])  # type: ignore[untyped-decorator]
def _collect(  # type: ignore[no-untyped-def]
    table, block_of_row, columns, words, positions, counts, first_row, n_rows,
    KEPT: tl.constexpr, ROWS: tl.constexpr, WORDS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Write the positions of the set bits of each row, in order, as far as there is capacity."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    is_row = row < n_rows
    block = table + tl.load(block_of_row + row, mask=is_row, other=0).to(tl.int64) * _FIELDS
    list_start = tl.load(block + 3)
    n_words = (tl.cdiv(tl.load(block + 4), COLUMNS) * (COLUMNS // 32)).to(tl.int32)
    start = tl.load(block + 8) + (first_row + row - tl.load(block + 1)) * n_words
    output = positions + row.to(tl.int64) * KEPT
    found = tl.zeros((ROWS,), tl.int32)
    max_words = tl.max(n_words, axis=0)
    begin = 0
    while begin < max_words:
        w = begin + tl.arange(0, WORDS)
        word = tl.load(
            words + start[:, None] + w[None, :],
            mask=is_row[:, None] & (w[None, :] < n_words[:, None]),
            other=0,
        ).to(tl.uint32, bitcast=True)
        n_bits = _count_bits(word)
        slot = found[:, None] + tl.cumsum(n_bits, axis=1) - n_bits
        found += tl.sum(n_bits, axis=1)
        # One bit of each word at a time; few words have more than some.
        while tl.max(tl.max((word != 0).to(tl.int32), axis=1), axis=0) > 0:
            rest = word & (word - 1)
            bit = _count_bits((word ^ rest) - 1)
            kept = (word != 0) & (slot < KEPT)
            at = columns + list_start[:, None] + (w[None, :] * 32 + bit)
            tl.store(output[:, None] + slot, tl.load(at, mask=kept, other=0), mask=kept)
            word = rest
            slot += 1
        begin += WORDS
    tl.store(counts + row, found, mask=is_row)


@triton.jit  # type: ignore[untyped-decorator]
def _make_keys(  # type: ignore[no-untyped-def]
    points, order, rows, candidates, stride, counts, keys, n_rows, n_candidates, n_blocks,
    WIDTH: tl.constexpr, FEATURES: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Exact distances of rows to some candidates, by differences in float64, with indices."""
    program = tl.program_id(0)
    r = (program // n_blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    is_row = r < n_rows
    slot = (program % n_blocks) * BLOCK + tl.arange(0, BLOCK)
    count = tl.load(counts + r, mask=is_row, other=0)
    is_candidate = slot[None, :] < tl.minimum(count, n_candidates)[:, None]
    row = tl.load(rows + r, mask=is_row, other=0)
    at = r[:, None] * stride + slot[None, :]
    candidate = tl.load(candidates + at, mask=is_candidate, other=0).to(tl.int64)
    own = points + row[:, None] * WIDTH
    others = points + candidate[:, :, None] * WIDTH
    squared = tl.zeros((ROWS, BLOCK), tl.float64)
    for f in range(0, WIDTH, FEATURES):
        features = f + tl.arange(0, FEATURES)
        a = tl.load(own + features[None, :]).to(tl.float64)
        b = tl.load(others + features[None, None, :], mask=is_candidate[:, :, None], other=0.0)
        difference = a[:, None, :] - b.to(tl.float64)
        squared += tl.sum(difference * difference, axis=2)
    distance = tl.sqrt(squared).to(tl.float32).to(tl.int32, bitcast=True).to(tl.int64)
    index = tl.load(order + candidate, mask=is_candidate, other=0).to(tl.int64)
    is_other = is_candidate & (candidate != row[:, None])
    key = tl.where(is_other, (distance << 32) | index, 0x7FFFFFFFFFFFFFFF)
    in_room = is_row[:, None] & (slot[None, :] < n_candidates)
    tl.store(keys + r[:, None] * n_candidates + slot[None, :], key, mask=in_room)


@triton.jit(do_not_specialize=["first_row", "n_rows", "k"])  # type: ignore[untyped-decorator]
def _keep_nearest(  # type: ignore[no-untyped-def]
    keys, order, indices, distances, first_row, n_rows, k, KEPT: tl.constexpr, ROWS: tl.constexpr
):
    """Sort the keys of a row; write the first as indices and distances, where the row belongs."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    is_row = r < n_rows
    slot = tl.arange(0, KEPT)
    key = tl.load(
        keys + r.to(tl.int64)[:, None] * KEPT + slot[None, :],
        mask=is_row[:, None],
        other=0x7FFFFFFFFFFFFFFF,
    )
    key = tl.sort(key, dim=1)
    to = tl.load(order + first_row + r, mask=is_row, other=0).to(tl.int64) * k
    at = to[:, None] + slot[None, :]
    kept = is_row[:, None] & (slot[None, :] < k)
    tl.store(indices + at, key.to(tl.int32), mask=kept)
    tl.store(distances + at, (key >> 32).to(tl.int32).to(tl.float32, bitcast=True), mask=kept)

"""The loops of the FFT repulsion: points to the grid, the grid to points, and near pairs.

A grid has three axes of space, of which the last is the first of the map; an axis that the map does
not use has length 1 and a stencil of a single node. Its fourth axis runs over the scale nodes, four
at a time, as vector registers do. Points come in order of their cells (`_cells`): what
they touch then lies close together.
"""

from __future__ import annotations

import numpy as np

from dtsne.runtime._jit import compiled

# Nodes of a cubic B-spline around a point, along each axis.
STENCIL = 4
# Scale nodes that are dealt with at once; grids and weights have a multiple of it.
LANES = 4
# Frequencies that stay in the cache while all nodes are added up.
BLOCK = 4096
# Far outside of any cutoff, with a square that float32 can hold.
_ELSEWHERE = np.float32(1e15)


@compiled(inline="always")
def _spline(f):  # type: ignore[no-untyped-def]
    """Weights of the cubic B-spline at the four nodes around a point, f behind the second."""
    g = np.float32(1.0) - f
    sixth, four, six, three = np.float32(1 / 6), np.float32(4), np.float32(6), np.float32(3)
    return (
        sixth * g * g * g,
        sixth * (four - six * f * f + three * f * f * f),
        sixth * (four - six * g * g + three * g * g * g),
        sixth * f * f * f,
    )


@compiled(inline="always")
def _spline_slope(f):  # type: ignore[no-untyped-def]
    g = np.float32(1.0) - f
    half, two, three_halves = np.float32(0.5), np.float32(2), np.float32(1.5)
    return (
        -half * g * g,
        -two * f + three_halves * f * f,
        two * g - three_halves * g * g,
        half * f * f,
    )


@compiled(inline="always")
def _axis_weights(position, length):  # type: ignore[no-untyped-def]
    """First node, weights and slopes along one axis; an axis of length 1 has a single node."""
    if length == 1:
        zero = np.float32(0)
        single = (np.float32(1), zero, zero, zero)
        return 0, single, (zero, zero, zero, zero)
    first = int(position)
    fraction = np.float32(position - first)  # taken in float64: long grids leave float32 no digits
    return first - 1, _spline(fraction), _spline_slope(fraction)


@compiled()
def spread(begin, end, third, positions, lengths, weights, band_starts, grid):  # type: ignore[no-untyped-def]
    """Add the weights of the points of every third band of cells to the grid.

    Bands that are three apart touch no node in common: one third of them at a time can be shared
    among threads, and every node still has its sum in the same order.
    """
    for step in range(begin, end):
        band = third + 3 * step
        for i in range(band_starts[band], band_starts[band + 1]):
            _spread_one(positions, lengths, weights, grid, i)


@compiled(inline="always")
def _spread_one(positions, lengths, weights, grid, i):  # type: ignore[no-untyped-def]
    i0, w0, _ = _axis_weights(positions[0, i], lengths[0])
    i1, w1, _ = _axis_weights(positions[1, i], lengths[1])
    i2, w2, _ = _axis_weights(positions[2, i], lengths[2])
    own = weights[i]
    for q0 in range(lengths[0]):
        for q1 in range(lengths[1]):
            for q2 in range(STENCIL):
                node = grid[i0 + q0, i1 + q1, i2 + q2]
                share = w0[q0] * w1[q1] * w2[q2]
                for a in range(0, len(own), LANES):
                    # Stored together: a store might, for all the compiler knows, change `own`.
                    node[a], node[a + 1], node[a + 2], node[a + 3] = (
                        node[a] + share * own[a],
                        node[a + 1] + share * own[a + 1],
                        node[a + 2] + share * own[a + 2],
                        node[a + 3] + share * own[a + 3],
                    )


@compiled()
def gather(begin, end, positions, lengths, weights, potentials, found):  # type: ignore[no-untyped-def]
    """Gradient (three axes of the grid) and value of the potential that each point feels."""
    for i in range(begin, end):
        i0, w0, d0 = _axis_weights(positions[0, i], lengths[0])
        i1, w1, d1 = _axis_weights(positions[1, i], lengths[1])
        i2, w2, d2 = _axis_weights(positions[2, i], lengths[2])
        own = weights[i]
        zero = np.float32(0)
        g0, g1, g2, value = zero, zero, zero, zero
        for q0 in range(lengths[0]):
            for q1 in range(lengths[1]):
                along, slope = zero, zero
                for q2 in range(STENCIL):
                    node = potentials[i0 + q0, i1 + q1, i2 + q2]
                    felt = zero
                    for a in range(0, len(own), LANES):
                        felt += (
                            own[a] * node[a]
                            + own[a + 1] * node[a + 1]
                            + own[a + 2] * node[a + 2]
                            + own[a + 3] * node[a + 3]
                        )
                    along += w2[q2] * felt
                    slope += d2[q2] * felt
                g0 += d0[q0] * w1[q1] * along
                g1 += w0[q0] * d1[q1] * along
                g2 += w0[q0] * w1[q1] * slope
                value += w0[q0] * w1[q1] * along
        found[0, i], found[1, i], found[2, i], found[3, i] = g0, g1, g2, value


@compiled()
def multiply(begin, end, spectra, charges, felt):  # type: ignore[no-untyped-def]
    """felt_a = Σ_b K_ab · charge_b at every frequency; K is symmetric and given once a pair."""
    n_nodes, size = charges.shape
    for block in range(begin, end):
        low, high = block * BLOCK, min((block + 1) * BLOCK, size)
        felt[:, low:high] = 0
        pair = 0
        for a in range(n_nodes):
            for b in range(a, n_nodes):
                for k in range(low, high):
                    felt[a, k] += spectra[pair, k] * charges[b, k]
                if a != b:
                    for k in range(low, high):
                        felt[b, k] += spectra[pair, k] * charges[a, k]
                pair += 1


@compiled()
def sum_near(begin, end, y, s, cell_starts, steps, border, found):  # type: ignore[no-untyped-def]
    """Sum forces and w u³ over the points of the same and the surrounding cells, cutoff 1.

    The border is an argument: numba's cache would not notice a change of a constant elsewhere.
    """
    for cell in range(begin, end):
        if cell_starts[cell] < cell_starts[cell + 1]:
            _sum_near_cell(y, s, cell_starts, cell, steps, border, found)


@compiled(inline="always")
def _sum_near_cell(y, s, cell_starts, cell, steps, border, found):  # type: ignore[no-untyped-def]
    low, high = cell_starts[cell], cell_starts[cell + 1]
    size = 0
    for step in steps:
        size += cell_starts[cell + step + border + 1] - cell_starts[cell + step - border]
    y0, y1 = np.empty(size, np.float32), np.empty(size, np.float32)
    y2, scale = np.empty(size, np.float32), np.empty(size, np.float32)
    end, own = 0, 0
    for step in steps:
        if step == 0:
            own = end + low - cell_starts[cell - border]
        for j in range(cell_starts[cell + step - border], cell_starts[cell + step + border + 1]):
            # Relative to a point of the cell: far from the origin, float32 has no digits for it.
            y0[end], y1[end], y2[end] = (
                y[0, j] - y[0, low],
                y[1, j] - y[1, low],
                y[2, j] - y[2, low],
            )
            scale[end] = s[j]
            end += 1
    for i in range(low, high):
        found[0, i], found[1, i], found[2, i], found[3, i] = _sum_near_one(
            y0, y1, y2, scale, own + i - low
        )


@compiled(inline="always")
def _sum_near_one(y0, y1, y2, s, own):  # type: ignore[no-untyped-def]
    zero, one, four, twelve = np.float32(0), np.float32(1), np.float32(4), np.float32(12)
    x0, x1, x2, own_scale = y0[own], y1[own], y2[own], s[own]
    y0[own] = _ELSEWHERE  # its own w of 1 would drown the others'
    f0, f1, f2, total = zero, zero, zero, zero
    for j in range(len(s)):
        d0, d1, d2 = x0 - y0[j], x1 - y1[j], x2 - y2[j]
        squared = d0 * d0 + d1 * d1 + d2 * d2
        scale = own_scale + s[j]
        scale2 = scale * scale
        here, there = scale2 + four * squared, scale2 + four
        inverse = one / (here * there)  # one division for both
        v, c = there * inverse, here * inverse
        u = four * max(one - squared, zero) * c
        w_u2 = scale2 * v * u * u
        total += w_u2 * u
        # −d(w u³)/d(d²), as w' = −4 v w and u' = −4 c.
        push = w_u2 * (four * v * u + twelve * c)
        f0 += push * d0
        f1 += push * d1
        f2 += push * d2
    y0[own] = x0
    return f0, f1, f2, total

"""The loops of the FFT repulsion: points to the grid, the grid to points, and near pairs.

A grid has three axes, of which the last is the first of the map; an axis that the map does not use
has length 1 and a stencil of a single node.
"""

from __future__ import annotations

import numpy as np

from dtsne._compile import compiled, prange

# Nodes of a cubic B-spline around a point, along each axis.
STENCIL = 4


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


@compiled(parallel=True)
def spread(positions, lengths, weights, grids):  # type: ignore[no-untyped-def]
    """Add the points' weights to the grid of each node: one thread for each, in order of points."""
    for a in prange(len(grids)):
        grid = grids[a]
        for i in range(positions.shape[1]):
            i0, w0, _ = _axis_weights(positions[0, i], lengths[0])
            i1, w1, _ = _axis_weights(positions[1, i], lengths[1])
            i2, w2, _ = _axis_weights(positions[2, i], lengths[2])
            for q0 in range(lengths[0]):
                for q1 in range(lengths[1]):
                    weight = weights[a, i] * w0[q0] * w1[q1]
                    row = grid[i0 + q0, i1 + q1]
                    for q2 in range(STENCIL):
                        row[i2 + q2] += weight * w2[q2]


@compiled(parallel=True)
def gather(positions, lengths, weights, potentials, found):  # type: ignore[no-untyped-def]
    """Gradient (three axes of the grid) and value of the potential that each point feels."""
    for i in prange(positions.shape[1]):
        i0, w0, d0 = _axis_weights(positions[0, i], lengths[0])
        i1, w1, d1 = _axis_weights(positions[1, i], lengths[1])
        i2, w2, d2 = _axis_weights(positions[2, i], lengths[2])
        g0, g1, g2, value = 0.0, 0.0, 0.0, 0.0
        for a in range(len(potentials)):
            for q0 in range(lengths[0]):
                for q1 in range(lengths[1]):
                    row = potentials[a, i0 + q0, i1 + q1]
                    along, slope = np.float32(0), np.float32(0)
                    for q2 in range(STENCIL):
                        along += w2[q2] * row[i2 + q2]
                        slope += d2[q2] * row[i2 + q2]
                    weight = weights[a, i]
                    g0 += weight * d0[q0] * w1[q1] * along
                    g1 += weight * w0[q0] * d1[q1] * along
                    g2 += weight * w0[q0] * w1[q1] * slope
                    value += weight * w0[q0] * w1[q1] * along
        found[0, i], found[1, i], found[2, i], found[3, i] = g0, g1, g2, value


@compiled(parallel=True)
def multiply(spectra, charges, felt):  # type: ignore[no-untyped-def]
    """felt_a = Σ_b K_ab · charge_b at every frequency; K is symmetric and given once a pair."""
    n_nodes, size = charges.shape
    block = 4096
    for part in prange((size + block - 1) // block):
        low, high = part * block, min((part + 1) * block, size)
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


@compiled(parallel=True)
def sum_near(y, s, cells, starts, steps, inverse_cutoff2, found):  # type: ignore[no-untyped-def]
    zero, one, three, four, twelve = (
        np.float32(0), np.float32(1), np.float32(3), np.float32(4), np.float32(12),
    )  # fmt: skip
    for i in prange(len(s)):
        own = np.int64(i)  # numba counts without a sign, which does not mix with other integers
        f0, f1, f2, total = zero, zero, zero, zero
        for step in steps:
            start, end = starts[cells[i] + step - 1], starts[cells[i] + step + 2]
            # In two parts, before and behind the point itself, whose own w would drown the others'.
            for low, high in ((start, min(max(own, start), end)), (max(own + 1, start), end)):
                y0, y1, y2, s_other = y[0, low:high], y[1, low:high], y[2, low:high], s[low:high]
                for j in range(high - low):
                    d0 = np.float32(y[0, i] - y0[j])
                    d1 = np.float32(y[1, i] - y1[j])
                    d2 = np.float32(y[2, i] - y2[j])
                    squared = d0 * d0 + d1 * d1 + d2 * d2
                    scale = s[i] + s_other[j]
                    inverse = one / (scale * scale + four * squared)
                    w = scale * scale * inverse
                    t = squared * inverse_cutoff2
                    g = max(one - t, zero)
                    chi = g * g * g * (one + three * t)
                    # −d(wχ)/d(d²), as w' = −4 w/(S² + 4d²) and χ' = −12 t (1 − t)²/R².
                    push = four * w * inverse * chi + w * twelve * t * g * g * inverse_cutoff2
                    total += w * chi
                    f0 += push * d0
                    f1 += push * d1
                    f2 += push * d2
        found[0, i], found[1, i], found[2, i] = f0, f1, f2
        found[3, i] = total

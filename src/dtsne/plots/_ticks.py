"""Round numbers for lengths that are seen on a logarithmic scale."""

from __future__ import annotations

import numpy as np

# Factors one reads easily, and a few small ones for maps that are nearly right.
_FACTORS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0, 1000.0)

_MOST_TICKS = 9


def round_down(value: float) -> float:
    """Return the largest of 1, 2, 5, 10, … (times powers of ten) that is not above a value."""
    power = 10.0 ** np.floor(np.log10(value))
    # A little slack, as 5 may come as 4.999….
    mantissa = max(m for m in (1, 2, 5) if m <= value / power * (1 + 1e-9))
    return float(mantissa * power)


def radius_ticks(low: float, high: float) -> dict[float, str]:
    """Choose round radii between two, by their logarithms."""
    least, most = low * (1 - 1e-9), high * (1 + 1e-9)  # the ends are logarithms, and back
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    chosen = [m * p for p in powers for m in (1, 2, 5) if least <= m * p <= most]
    if len(chosen) > 7:
        chosen = [p for p in powers if least <= p <= most]
    if len(chosen) < 3 and high > low:
        step = round_down((high - low) / 3)
        chosen = [step * i for i in range(int(np.ceil(least / step)), int(most // step) + 1)]
    if len(chosen) > _MOST_TICKS:  # over very many powers of ten
        chosen = chosen[:: int(np.ceil(len(chosen) / _MOST_TICKS))]
    return {float(np.log(radius)): f"{radius:.4g}" for radius in chosen}


def factor_ticks(largest: float) -> dict[float, str]:
    """Choose round factors, by their logarithms, from 1/largest to largest around 1."""
    within = [f for f in _FACTORS if f <= largest * (1 + 1e-9)][-3:]
    ticks = {float(-np.log(f)): f"÷ {f:g}" for f in reversed(within)}
    return ticks | {0.0: "1"} | {float(np.log(f)): f"× {f:g}" for f in within}

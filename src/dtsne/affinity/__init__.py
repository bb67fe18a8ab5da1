"""From distances to σ and P."""

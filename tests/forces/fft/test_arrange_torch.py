"""Points into the order of their cells and back: kernels and twins."""

from types import SimpleNamespace

import numpy as np
import pytest
from gpu_ways import both_ways, going

torch = pytest.importorskip("torch")

N = 300


def drawn(n_axes, device, dtype=torch.float32):
    rng = np.random.default_rng(n_axes)

    def tensor(*shape):
        return torch.tensor(rng.normal(size=shape), dtype=dtype, device=device)

    return rng, tensor


@both_ways
@pytest.mark.parametrize("n_axes", [1, 2, 3])
def test_points_are_taken_in_order(way, n_axes):
    from dtsne.forces.fft import _cells_torch as _arrange

    with going(way) as device:
        rng, tensor = drawn(n_axes, device)
        y, scales, weights = tensor(n_axes, N).T, tensor(N).abs(), tensor(5, N).T
        order = torch.tensor(rng.permutation(N), device=device)
        lengths = (18, 100, 100)[:n_axes]  # too short along the first axis
        plan = SimpleNamespace(weights=weights, spacing=0.25, grid_shape=lengths)
        found = _arrange.arrange(y, scales, order, y.amin(dim=0), plan)
        relative = y.cpu().numpy()[order.cpu()] - y.cpu().numpy().min(axis=0)
        np.testing.assert_allclose(found.relative.cpu(), relative, rtol=1e-6)
        positions = np.minimum(relative / 0.25 + 1.0, np.array(lengths) - 2.01)
        assert (positions[:, 0] == 15.99).any()
        np.testing.assert_allclose(found.positions.cpu(), positions, rtol=1e-5)
        assert torch.equal(found.scales, scales[order])
        assert torch.equal(found.weights, weights[order])


@both_ways
@pytest.mark.parametrize("has_near", [True, False])
def test_parts_are_joined_in_the_order_of_the_map(way, has_near):
    from dtsne.forces.fft import _cells_torch as _arrange
    from dtsne.forces.fft._plan import far_kernel

    with going(way) as device:
        rng, tensor = drawn(2, device)
        far, near, scales = tensor(N, 4), tensor(N, 4), tensor(N).abs() + 0.1
        order = torch.tensor(rng.permutation(N), device=device)
        cutoff = 1.5 if has_near else 0.0
        found = _arrange.join(far, near if has_near else None, scales, order, cutoff, 0.25)
        expected = far.cpu().numpy().astype(float)
        expected[:, :3] *= -2.0
        if has_near:
            expected += near.cpu().numpy()
            expected[:, 3] -= far_kernel(0.0, 2.0 * scales.cpu().numpy(), cutoff)
        else:
            expected[:, 3] -= 1.0
        np.testing.assert_allclose(found.cpu()[order.cpu()], expected, rtol=1e-4, atol=1e-5)

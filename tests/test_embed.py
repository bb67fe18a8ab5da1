"""The functional core: data and a Config in, a frozen Embedding out."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from dtsne import DTSNE, Config, Embedding, embed
from dtsne._config import SCALED, CalibrationPlan
from dtsne._embed import NotConverged
from dtsne._embedding import FitInterrupted, Result
from dtsne.runtime._errors import ParameterTypeError

QUICK = {"perplexity": 10.0, "max_iter": 60, "tol": 0.0}


def test_the_estimator_shows_the_embedding(two_clusters):
    model = DTSNE(**QUICK).fit(two_clusters)
    found = embed(two_clusters, Config(**QUICK))
    assert isinstance(found, Embedding)
    np.testing.assert_array_equal(found.coordinates, model.embedding_)
    np.testing.assert_array_equal(found.sigma, model.sigma_)
    np.testing.assert_array_equal(found.kernel_scales.values, model.kernel_scale_)
    np.testing.assert_array_equal(found.history, model.history_)
    assert found.kernel_scales.unit == model.kernel_unit_
    assert (found.kl_divergence, found.n_iter) == (model.kl_divergence_, model.n_iter_)
    assert found.result is Result.MAX_ITER
    assert set(found.timings) >= {"preparing", "neighbours", "affinities", "start", "descent"}


def test_an_embedding_is_frozen_and_can_be_pickled(two_clusters):
    found = embed(two_clusters, Config(**QUICK))
    with pytest.raises(FrozenInstanceError):
        found.coordinates = None
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.coordinates, found.coordinates)
    assert again.result is found.result
    assert again.artifacts.data is None
    assert again.artifacts.preparation == found.artifacts.preparation


@pytest.mark.parametrize("density_scale", [0.5, 1.0])
@pytest.mark.parametrize("optimizer", ["scaled", "paper"])
def test_scales_and_their_unit_belong_together(two_clusters, optimizer, density_scale):
    """A kernel scale of 1 is that of a point whose σ is the unit, whatever the optimiser."""
    config = Config(optimizer=optimizer, calibration=False, density_scale=density_scale, **QUICK)
    found = embed(two_clusters, config)
    scales, unit = found.kernel_scales
    np.testing.assert_allclose(scales, (found.sigma / unit) ** density_scale)
    chosen = found.sigma.min() if optimizer == "paper" else np.median(found.sigma)
    assert unit == pytest.approx(chosen)


def test_the_report_has_the_unit_of_the_paper_s_kernel(two_clusters):
    """Radii in the data are compared in the unit that the map is in."""
    model = DTSNE(optimizer="paper", **QUICK).fit(two_clusters)
    radii = np.exp(model.report().points.log_radius_data) * model.sigma_.min()
    nearest = np.sort(np.linalg.norm(two_clusters[:, None] - two_clusters, axis=2), axis=1)[:, 10]
    np.testing.assert_allclose(radii, nearest)


def test_how_a_fit_ended(two_clusters):
    config = Config(perplexity=15.0)
    assert embed(two_clusters, config).result is Result.CONVERGED
    stopped = embed(two_clusters, config, callback=lambda *_: True)
    assert (stopped.result, stopped.n_iter) == (Result.STOPPED, 0)
    with pytest.warns(NotConverged, match="max_iter=20") as caught:
        assert embed(two_clusters, replace(config, max_iter=20)).result is Result.MAX_ITER
    assert "raise max_iter" in caught[0].message.message.text()


def test_an_interrupt_has_the_best_map_so_far(two_clusters):
    def interrupt(iteration, kl, embedding):
        if iteration == 30:
            raise KeyboardInterrupt

    with pytest.raises(FitInterrupted) as interrupted:
        embed(two_clusters, Config(**QUICK), callback=interrupt)
    best = interrupted.value.embedding
    assert best.result is Result.INTERRUPTED
    assert best.kl_divergence == best.history[:, 1].min()


def test_experiments_change_a_config(two_clusters):
    config = Config(**QUICK)
    still = embed(two_clusters, replace(config, rule=replace(SCALED, step_share=1e-12)))
    start = embed(two_clusters, config, callback=lambda *_: True)
    np.testing.assert_allclose(still.coordinates, start.coordinates, atol=1e-6)
    once = replace(config, calibration_plan=CalibrationPlan(n_rounds=1, start_below=np.inf))
    assert embed(two_clusters, once).n_calibrations == 1
    sparse = embed(two_clusters, replace(config, max_dense=0))
    assert not np.array_equal(sparse.sigma, start.sigma)


def test_bad_arguments_are_rejected_at_once(two_clusters):
    with pytest.raises(ParameterTypeError) as error:
        embed(two_clusters, callback="stop")
    assert error.value.parameter == "callback"

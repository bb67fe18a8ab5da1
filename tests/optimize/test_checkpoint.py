"""A fit that was killed goes on from its checkpoint, and comes to the same map."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from fit_support import fitted

from dtsne import DTSNE, Config
from dtsne._config import SCALED
from dtsne.data._prepare import prepare
from dtsne.forces._engine import CpuEngine
from dtsne.optimize._checkpoint import CheckpointFile, identity_of
from dtsne.optimize._descent import Schedule, State, descend
from dtsne.runtime._errors import ParameterError

PARAMETERS = {"perplexity": 15.0}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.npz"


AT_EVERY_CHECK = {"checkpoint_every": 0.0}


class KilledError(Exception):
    pass


def kill_at(iteration: int, kind: type[BaseException] = KilledError):
    def callback(i, kl, embedding):
        if i == iteration:
            raise kind

    return callback


def leave_checkpoint(X, path, *, at: int = 60, **parameters) -> None:
    settings = {**AT_EVERY_CHECK, **PARAMETERS, **parameters}
    with pytest.raises(KilledError):
        fitted(X, **settings, checkpoint=path, callback=kill_at(at))
    assert path.exists()


def resumed(X, path, **parameters) -> tuple[DTSNE, int]:
    """Fit again; return the model, and the first iteration of this time."""
    seen = []
    model = DTSNE(
        **{**PARAMETERS, **parameters}, checkpoint=path, callback=lambda i, kl, y: seen.append(i)
    )
    return model.fit(X), seen[0]


def assert_same_fit(one: DTSNE, other: DTSNE) -> None:
    for name in ("embedding_", "kernel_scale_", "history_", "sigma_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("kl_divergence_", "n_iter_", "n_calibrations_", "converged_"):
        assert getattr(one, name) == getattr(other, name)


# --- going on ---


@pytest.mark.parametrize("at", [10, 50, 60, 80, 100])
def test_same_bits_as_without_interruption(two_clusters, path, at):
    """Before, while and after the rounds of calibration are made."""
    whole = DTSNE(**PARAMETERS).fit(two_clusters)
    assert whole.n_iter_ >= 100
    leave_checkpoint(two_clusters, path, at=at)
    again, first = resumed(two_clusters, path)
    assert first == at
    assert_same_fit(whole, again)


@pytest.mark.parametrize(
    "parameters",
    [
        {"calibration": False, "tol": 0.0, "max_iter": 95},
        {"optimizer": "paper", "max_iter": 95},
        {"n_components": 3},
        {"n_components": 1, "init": "spectral"},
        {"init": "random", "random_state": 3},
        {"init": np.random.default_rng(1).normal(size=(120, 2))},
        {"init": np.random.default_rng(1).normal(size=(120, 2)).tolist()},
        {"density_scale": 0.5, "metric": "cosine"},
    ],
)
def test_same_bits_for_other_parameters(two_clusters, path, parameters):
    whole = DTSNE(**{**PARAMETERS, **parameters}).fit(two_clusters)
    leave_checkpoint(two_clusters, path, **parameters)
    again, first = resumed(two_clusters, path, **parameters)
    assert first == 60
    assert_same_fit(whole, again)


def test_fft_comes_to_a_map_as_good(two_clusters, path):
    whole = DTSNE(method="fft", **PARAMETERS).fit(two_clusters)
    leave_checkpoint(two_clusters, path, method="fft")
    again, first = resumed(two_clusters, path, method="fft")
    assert first == 60
    assert again.kl_divergence_ == pytest.approx(whole.kl_divergence_, rel=0.01)


def test_interrupted_twice(two_clusters, path):
    leave_checkpoint(two_clusters, path, at=30)
    leave_checkpoint(two_clusters, path, at=80)
    again, first = resumed(two_clusters, path)
    assert first == 80
    assert_same_fit(DTSNE(**PARAMETERS).fit(two_clusters), again)


def test_what_changes_no_bit_may_change(two_clusters, path, caplog):
    leave_checkpoint(two_clusters, path, perplexity=15, n_jobs=2)
    again, first = resumed(two_clusters, path, perplexity=np.float64(15), n_jobs=1, verbose=1)
    assert first == 60
    assert_same_fit(DTSNE(**PARAMETERS).fit(two_clusters), again)
    assert f"resuming from iteration 60, found in {path}" in caplog.messages


SCRIPT = """
import os, signal, sys
import numpy as np
from dtsne import Config, embed

def die(iteration, kl, embedding):
    if iteration == 70:
        os.kill(os.getpid(), signal.SIGKILL)

config = Config(perplexity=15.0, checkpoint_every=0.0)
embed(np.load(sys.argv[1]), config, checkpoint=sys.argv[2], callback=die)
"""


@pytest.mark.integration
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_killed_for_good(two_clusters, path, tmp_path):
    np.save(tmp_path / "X.npy", two_clusters)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "X.npy"), str(path)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    again, first = resumed(two_clusters, path)
    assert first == 70
    assert_same_fit(DTSNE(**PARAMETERS).fit(two_clusters), again)


def test_ctrl_c_writes_at_once(two_clusters, path):
    model = DTSNE(**PARAMETERS, checkpoint=path, callback=kill_at(40, KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        model.fit(two_clusters)
    again, first = resumed(two_clusters, path)
    assert first == 40
    assert_same_fit(DTSNE(**PARAMETERS).fit(two_clusters), again)


def test_nothing_is_written_before_its_time(two_clusters, path):
    with pytest.raises(KilledError):
        DTSNE(**PARAMETERS, checkpoint=path, callback=kill_at(60)).fit(two_clusters)
    assert list(path.parent.iterdir()) == []


def test_written_at_most_once_in_so_many_seconds(path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("dtsne.optimize._checkpoint.monotonic", lambda: now[0])
    file = CheckpointFile(path, {}, 30.0)
    state = State.at_start(np.ones((4, 2)), np.ones(4))
    written = []
    for now[0] in range(100, 200, 10):
        file.keep(state, [])
        if path.exists():
            written.append(now[0])
            path.unlink()
    assert written == [130, 160, 190]


def test_removed_after_success(two_clusters, path):
    leave_checkpoint(two_clusters, path)
    resumed(two_clusters, path)
    assert list(path.parent.iterdir()) == []
    DTSNE(**PARAMETERS, checkpoint=path, callback=lambda i, kl, y: i == 50).fit(two_clusters)
    assert list(path.parent.iterdir()) == []


def test_path_as_text_of_any_name(two_clusters, tmp_path):
    path = tmp_path / "no suffix"
    leave_checkpoint(two_clusters, path)
    assert list(tmp_path.iterdir()) == [path]
    assert resumed(two_clusters, str(path))[1] == 60


def test_descent_goes_on_from_any_checkpoint(two_clusters):
    """Whatever the state holds is all that the descent goes on from."""
    from dtsne.affinity._affinities import dense_affinities, find_sigmas
    from dtsne.data._distances import pairwise_squared_distances

    squared = pairwise_squared_distances(two_clusters)
    sigmas = find_sigmas(squared, 15.0, skip_diagonal=True)
    engine = CpuEngine(dense_affinities(squared, sigmas))
    start = State.at_start(two_clusters[:, :2].copy(), sigmas / np.median(sigmas))
    schedule = Schedule(learning_rate=60.0, exaggeration=1.5, max_iter=75, tol=0.0)
    whole = list(descend(engine, start, SCALED, schedule))
    for index, checkpoint in enumerate(whole):
        rest = list(descend(engine, checkpoint.state, SCALED, schedule))
        assert [c.kl for c in rest] == [c.kl for c in whole[index:]]


# --- what is stored ---


def test_state_is_stored_whole(two_clusters, path):
    """Every field of the state is in the file, or the same in each fit."""
    leave_checkpoint(two_clusters, path, at=80)
    with np.load(path, allow_pickle=False) as stored:
        names = set(stored.files)
        assert stored["iteration"] == 80
        np.testing.assert_array_equal(stored["history"][:, 0], np.arange(0, 80, 10))
    assert {field.name for field in fields(State)} - {"calibration"} <= names
    assert "log_radii" in names


def test_order_of_memory_is_kept(path):
    """Sums along another one would round differently."""
    state = replace(
        State.at_start(np.ones((4, 2)), np.ones(4)), velocity=np.asfortranarray(np.ones((4, 2)))
    )
    CheckpointFile(path, {}, 0.0).write(state, [])
    again, _ = CheckpointFile(path, {}, 0.0).resume(state)
    assert again.embedding.flags.c_contiguous
    assert again.velocity.flags.f_contiguous


def test_identity_tells_data_and_starts_apart(two_clusters):
    def identity(X, **parameters):
        return identity_of(prepare(X, metric="euclidean", n_pcs=None), Config(**parameters))

    one = identity(two_clusters, init="pca", random_state=np.random.RandomState(1))
    assert one == identity(two_clusters, init="pca", random_state=np.random.RandomState(1))
    changed = two_clusters.copy()
    changed[7, 2] += 1e-9
    for other in (
        identity(changed, init="pca", random_state=np.random.RandomState(1)),
        identity(two_clusters, init="spectral", random_state=np.random.RandomState(1)),
        identity(two_clusters, init=np.zeros((120, 2)), random_state=np.random.RandomState(1)),
        identity(two_clusters, init="pca", random_state=np.random.RandomState(2)),
        identity(two_clusters, init="pca", random_state=None),
    ):
        assert sum(one[name] != other[name] for name in one) == 1


# --- what is refused ---


def test_checkpoint_of_another_fit(two_clusters, path, monkeypatch):
    leave_checkpoint(two_clusters, path)
    before = path.read_bytes()
    fix = r"another fit: {} differ; delete it or name another file to start again"
    with pytest.raises(ParameterError, match=fix.format("max_iter, perplexity")) as error:
        resumed(two_clusters, path, perplexity=20.0, max_iter=500)
    assert error.value.parameter == "checkpoint"
    with pytest.raises(ParameterError, match=fix.format("data")):
        resumed(two_clusters + np.eye(120, 5), path)
    monkeypatch.setattr("dtsne.optimize._checkpoint.__version__", "0.0")
    with pytest.raises(ParameterError, match=fix.format("version of dtsne")):
        resumed(two_clusters, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content.replace(b"embedding", b"EMBEDDING"),
        lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
        lambda content: b"",
        lambda content: b"my notes",
    ],
)
def test_damaged_checkpoint(two_clusters, path, spoil):
    leave_checkpoint(two_clusters, path)
    path.write_bytes(spoil(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(
        ParameterError, match=r"not a checkpoint of dtsne, or is corrupt.*; name another file"
    ):
        resumed(two_clusters, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("save", [np.save, np.savez])
def test_other_files_of_arrays(two_clusters, path, save):
    with path.open("wb") as file:
        save(file, np.ones(3))
    with pytest.raises(ParameterError, match="not a checkpoint of dtsne"):
        resumed(two_clusters, path)


def test_refused_before_the_long_work(two_clusters, tmp_path, monkeypatch):
    def fail(*args):
        raise AssertionError

    monkeypatch.setattr("dtsne.neighbors._exact.ExactIndex.neighbors", fail)
    with pytest.raises(OSError, match="a folder that exists, can be written to"):
        DTSNE(**PARAMETERS, checkpoint=tmp_path / "missing" / "fit.npz").fit(two_clusters)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="a folder that exists, can be written to"):
        DTSNE(**PARAMETERS, checkpoint=tmp_path / "file" / "fit.npz").fit(two_clusters)
    with pytest.raises(ValueError, match=r"directory.*name another file"):
        DTSNE(**PARAMETERS, checkpoint=tmp_path).fit(two_clusters)
    with pytest.raises(TypeError, match="checkpoint=17 must be the path of a file"):
        DTSNE(**PARAMETERS, checkpoint=17).fit(two_clusters)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_folder_that_cannot_be_written_to(two_clusters, path):
    path.parent.chmod(0o500)
    with pytest.raises(OSError, match="can be written to"):
        DTSNE(**PARAMETERS, checkpoint=path).fit(two_clusters)


def test_full_disk_does_not_end_the_fit(two_clusters, path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dtsne.optimize._checkpoint.np.savez", full)
    with pytest.warns(UserWarning, match=r"was not written .*No space left.*goes on without"):
        model = fitted(two_clusters, **PARAMETERS, **AT_EVERY_CHECK, checkpoint=path)
    assert model.converged_
    assert list(path.parent.iterdir()) == []

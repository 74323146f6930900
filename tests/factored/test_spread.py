"""Tall factors on a Dask cluster: products are those of this machine, and little travels."""

from __future__ import annotations

import time

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import InputError
from fewpairs.factored import spread
from fewpairs.files import scratch

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

N = 700


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def symmetric(left, right):
    return np.exp(-np.abs(np.subtract.outer(left[:, 0], right[:, 0])))


def lopsided(left, right):
    return symmetric(left, right) * (1 + left[:, :1])


def approximated(function, *, others=None, **how):
    rng = np.random.default_rng(0)
    given = fp.similarity(function, kind="block", symmetric=function is symmetric)
    second = None if others is None else rng.random((others, 2))
    return fp.approximate(
        rng.random((N, 2)), given, others=second, landmarks=20, random_state=0, **how
    )


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("function", "how"),
    [
        (symmetric, {}),
        (symmetric, {"method": "nystrom"}),
        (lopsided, {}),
        (lopsided, {"method": "sicur", "known": "exact"}),
        (lopsided, {"others": 300}),
    ],
)
def test_products_are_those_of_this_machine(client, monkeypatch, function, how, small):
    if small:  # blocks of a few rows: some end in the middle of a landmark's neighbourhood
        monkeypatch.setattr(spread, "_BLOCK", 20_000)
    K = approximated(function, **how)
    D = K.to_dask(client)
    assert (D.left.numblocks[0] > 1) == small
    X = np.random.default_rng(1).normal(size=(K.shape[1], 3))
    for x in (X, X[:, 0]):
        here = K @ x
        np.testing.assert_allclose(D @ x, here, atol=1e-10 * np.abs(here).max())
    gram = K.left.T @ K.left
    np.testing.assert_allclose(D.gram(), gram, atol=1e-10 * np.abs(gram).max())


def test_factors_on_disk_are_sent_as_they_are_kept_and_once(client, monkeypatch, tmp_path):
    monkeypatch.setattr(scratch, "LARGE", 0.0)
    K = approximated(symmetric, scratch=tmp_path)
    sent = []
    monkeypatch.setattr(client, "scatter", lambda block, **how: sent.append(block) or block)
    D = K.to_dask(client)
    assert [(block.shape, block.dtype) for block in sent] == [((N, 20), np.float32)]
    assert D.left is D.right is D.columns
    assert D.left.dtype == np.float64


def test_nothing_stays_with_the_workers(client):
    D = approximated(symmetric).to_dask(client)
    assert any(client.has_what().values())
    del D
    deadline = time.monotonic() + 60
    while any(client.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(client.has_what().values())


def test_what_cannot_be_multiplied_is_refused(client):
    K = approximated(symmetric)
    with pytest.raises(InputError, match="inner dimensions"):
        K.to_dask(client) @ np.ones(N + 1)
    with pytest.raises(InputError, match="client is 'tcp"):
        K.to_dask("tcp://127.0.0.1:8786")

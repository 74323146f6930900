"""What stands on transport: Sinkhorn's iteration, and distances between documents."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transport_strategies import Kinds, kinds

import fewpairs as fp


@given(kinds(), st.sampled_from([1e-20, 1e-3, 0.05, 1.0, 1e5]), st.booleans())
def test_sinkhorn_answers_warns_or_refuses(made: Kinds, reg: float, by_kernel: bool):
    a, b, cost = made.problem()
    top = np.abs(cost).max() or 1.0
    with np.errstate(all="ignore"):
        chosen = {"kernel": np.exp(-cost / top / reg)} if by_kernel else {"reg": reg * top}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = fp.sinkhorn(a, b, cost, max_iterations=40, tolerance=1e-6, **chosen)
        except fp.errors.InputError:
            return
    assert all(isinstance(w.message, fp.errors.FewpairsWarning) for w in told)
    assert np.isfinite(found.plan).all()
    assert np.isfinite(found.cost)
    unit = a.max()
    off = np.abs((found.plan / unit).sum(axis=1) - a / unit).sum()
    assert told or off <= 1.01e-6 * (a / unit).sum()


@given(
    n_words=st.integers(2, 10),
    dimensions=st.integers(1, 3),
    span=st.sampled_from([0, 3, 8, 15, 200]),
    power=st.sampled_from([0, 0, -300, -160, 160, 290]),
    metric=st.sampled_from(["euclidean", "cosine"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_documents_of_any_vectors_are_as_far_as_emd_says(
    n_words: int, dimensions: int, span: int, power: int, metric: str, seed: int
):
    rng = np.random.default_rng(seed)
    sizes = 10.0 ** rng.uniform(-span if power >= 0 or span < 20 else 0, 0, (n_words, 1))
    places = rng.normal(size=(n_words, dimensions)) * sizes
    places[rng.random(n_words) < 0.1] = 0.0
    places[0] = places[-1]
    table = fp.WordVectors([f"w{k}" for k in range(n_words)], places * 10.0**power)
    texts = [[f"w{k}" for k in rng.integers(0, n_words, rng.integers(1, 8))] for _ in range(3)]
    documents = fp.Documents.of(texts, table)
    whole = fp.wmd(documents, metric=metric)
    block = fp.wmd(documents, documents, metric=metric)
    one = np.repeat(np.arange(3), 3)
    mover = fp.WordMover(
        table, gamma=1e-3 / 10.0 ** (0 if metric == "cosine" else power), metric=metric
    )
    similar = mover.aligned(documents[one], documents[np.tile(np.arange(3), 3)]).reshape(3, 3)
    for i, j in np.ndindex(3, 3):
        cost = _distances(places[documents[i].words], places[documents[j].words], metric)
        exact = fp.emd(documents[i].weights, documents[j].weights, cost)
        unit = 1.0 if metric == "cosine" else 10.0**power
        # Vectors of 1e-315 have few digits.
        rounding = 1e-14 if metric == "cosine" else 1e-15 * exact + 4e-323 / unit
        near = 1e-9 * exact + rounding
        assert whole[i, j] / unit == pytest.approx(exact, rel=0, abs=near)
        assert block[i, j] / unit == pytest.approx(exact, rel=0, abs=near)
        assert similar[i, j] == pytest.approx(np.exp(-1e-3 * exact), rel=1e-9)


def _distances(left: np.ndarray, right: np.ndarray, metric: str) -> np.ndarray:
    """Return distances one by one, in a way that neither over- nor underflows."""
    left, right = left.astype(np.longdouble), right.astype(np.longdouble)
    if metric == "euclidean":
        return np.sqrt(((left[:, None] - right) ** 2).sum(axis=2)).astype(float)
    lengths = (np.sqrt((x**2).sum(axis=1, keepdims=True)) for x in (left, right))
    left, right = (x / np.where(k > 0, k, 1) for x, k in zip((left, right), lengths, strict=True))
    zero = ~left.any(axis=1)[:, None] & ~right.any(axis=1)
    return np.where(zero, 0, np.maximum(1 - left @ right.T, 0)).astype(float)

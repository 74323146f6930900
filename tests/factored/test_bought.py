"""What a call has bought before a fault ended it: counted, and where possible kept."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, asymmetric_matrix, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import FailedCallError

N, NEW = 60, 12


class Faulty(Counter):
    """Fails in one of its calls, whose pairs are asked for and not answered."""

    calls, fails_at = 0, None

    def pairs(self, pairs):
        self.calls += 1
        if self.calls == self.fails_at:
            self.asked.extend((int(a), int(b)) for a, b in pairs)
            raise RuntimeError("down")
        return super().pairs(pairs)


def made(*, symmetric=True):
    matrix = (symmetric_matrix if symmetric else asymmetric_matrix)(N + NEW, rank=6)
    counter = Faulty(matrix)
    similarity = counter.similarity("pairs", symmetric=symmetric, block_size=16)
    K = fp.approximate(range(N), similarity, landmarks=8, error_pairs=0, random_state=0)
    counter.asked.clear()
    return K, counter


CALLS = {
    "search": lambda K: K.search(range(N, N + NEW), 4, budget=17),
    "nearest": lambda K: K.nearest(item=N, k=4, budget=40),
    "rerank": lambda K: K.nearest(7, 4, rerank=40),
    "extend": lambda K: K.extend(range(N, N + NEW)),
    "judged": lambda K: K.extend(range(N, N + NEW), error_pairs=60, random_state=1),
    "vectors": lambda K: K.query_vectors(items=range(N, N + NEW)),
    "check": lambda K: K.check(k=3, rows=3, random_state=0),
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("nth", [1, 3])
def test_what_was_bought_before_a_fault_counts(call, nth, symmetric):
    K, counter = made(symmetric=symmetric)
    before, counter.fails_at = K.evaluations, counter.calls + nth
    with pytest.raises(FailedCallError):
        CALLS[call](K)
    assert K.evaluations - before == len(counter.asked) > 0


def test_the_error_of_an_extension_counts_although_the_extension_is_lost():
    K, counter = made()
    K.extend(range(N, N + NEW))
    calls = counter.calls
    counter.asked.clear()
    before, counter.fails_at = K.evaluations, calls + NEW * 8 // 16 + 2
    with pytest.raises(FailedCallError):
        K.extend(range(N, N + NEW), error_pairs=60, random_state=1)
    assert K.evaluations - before == len(counter.asked) > NEW * 8


def test_an_items_neighbours_asked_for_again_after_a_fault_cost_only_the_rest():
    whole, counter = made()
    expected = whole.nearest(7, 4, budget=45)
    bought = len(counter.asked)
    K, counter = made()
    # Calls of at most 16 pairs; the fault is in the second round.
    counter.fails_at = counter.calls + 2
    with pytest.raises(FailedCallError):
        K.nearest(7, 4, budget=45)
    answered = bought // 5
    assert np.isfinite(K.paid_in_row(7, np.arange(N))).sum() >= answered
    counter.asked.clear()
    near = K.nearest(7, 4, budget=45 - answered)
    assert len(counter.asked) == len(set(counter.asked)) == bought - answered
    assert near.similarities.tolist() == expected.similarities.tolist()

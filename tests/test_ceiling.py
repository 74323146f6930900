"""One ceiling for memory: what would pass it is refused, with its size and another way."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from examples import Counter, symmetric_matrix

import fewpairs as fp
from fewpairs import parallel
from fewpairs.errors import InputError, MemoryCeilingError, TargetMissedWarning
from fewpairs.parallel import MEMORY_VARIABLE, memory_ceiling, parse_bytes

VECTORS = {f"w{i}": [float(i), 1.0] for i in range(50)}


def smallest() -> fp.Similarity:
    return fp.similarity(min, kind="pair", symmetric=True)


def big(n: int = 10**6) -> fp.FactoredMatrix:
    return fp.FactoredMatrix(np.ones((n, 1)), np.ones((1, 1)))


@pytest.mark.parametrize(
    ("size", "count"),
    [(1000, 1000), ("4 GB", 4 * 10**9), ("0.5MiB", 2**19), ("12", 12), ("1.5 kb", 1500)],
)
def test_sizes_are_bytes_or_texts(size, count):
    assert parse_bytes(size) == count


@pytest.mark.parametrize("size", [0, -1, True, "much", "4 GX", np.nan, None, [], "GB"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(InputError, match="max_memory"):
        parse_bytes(size)


@pytest.mark.parametrize(
    "call",
    [
        lambda: big().to_dense(),
        lambda: big()[:],
        lambda: fp.wmd(["w1"] * 2000, None, VECTORS),
        lambda: fp.wmd_neighbors(["w1 w2"] * 2000, vectors=VECTORS, k=1000),
        lambda: fp.Oracle(range(2000), smallest()).columns(range(1000)),
        lambda: fp.elementwise(np.exp, np.ones((500, 3)), columns=10**6, coefficients="coreset"),
        lambda: fp.elementwise(np.exp, np.ones((3000, 3)), columns=2000),
        lambda: (
            fp.PolynomialSketch(np.exp, 901, degree=3)
            .fit(np.ones((300, 3)))
            .transform(np.ones((300_000, 3)))
        ),
        lambda: fp.find_nearest(np.ones((5000, 3)), fp.VectorSimilarity("rbf"), k=400),
        lambda: fp.approximate(np.ones((10**5, 2)), fp.VectorSimilarity("rbf"), landmarks=50),
        lambda: fp.plan(range(10**6), smallest(), landmarks=5, timed=False),
    ],
)
def test_whatever_would_pass_the_ceiling_is_refused_with_its_size(call):
    # Promise 41.
    with (
        fp.max_memory("2 MB"),
        pytest.raises(MemoryCeilingError, match=r"the ceiling is 2 MB") as e,
    ):
        call()
    assert "B; the ceiling" in str(e.value)
    assert len(str(e.value).splitlines()) == 3


def test_a_million_by_a_million_is_terabytes():
    with pytest.raises(MemoryCeilingError, match="take 8 TB"):
        big().to_dense()


def test_a_run_is_refused_before_the_first_evaluation():
    counter = Counter(symmetric_matrix(500))
    for run in (fp.approximate, fp.plan):
        with pytest.raises(MemoryCeilingError, match="fewer landmarks"):
            run(range(500), counter.similarity("pair"), landmarks=100, max_memory="100 kB")
    assert counter.asked == []
    fp.approximate(range(500), counter.similarity("pair"), landmarks=20, max_memory="20 MB")


def test_the_innermost_ceiling_counts_and_ends_with_its_context(monkeypatch):
    before = memory_ceiling()
    with fp.max_memory("1 MB"):
        assert memory_ceiling() == 10**6
        with fp.max_memory(5):
            assert memory_ceiling(convenience=True) == 5
        with fp.max_memory(None):
            assert memory_ceiling() == 10**6
    assert memory_ceiling() == before > memory_ceiling(convenience=True)
    monkeypatch.setenv(MEMORY_VARIABLE, "3 kB")
    assert memory_ceiling() == memory_ceiling(convenience=True) == 3000
    monkeypatch.setenv(MEMORY_VARIABLE, "lots")
    with pytest.raises(InputError, match=MEMORY_VARIABLE):
        memory_ceiling()


@pytest.mark.parametrize(("limit", "most"), [("123456\n", 123456), ("max\n", None)])
def test_a_container_may_have_less_memory_than_its_machine(tmp_path, monkeypatch, limit, most):
    (tmp_path / "memory.max").write_text(limit)
    machine = parallel._machine_memory.__wrapped__
    monkeypatch.setattr(parallel, "Path", lambda _: tmp_path / "nothing")
    whole = machine()
    monkeypatch.setattr(parallel, "Path", lambda _: tmp_path / "memory.max")
    assert machine() == (most or whole) > 0


def test_more_columns_than_rows_are_not_needed():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    found = fp.elementwise(np.exp, rows, columns=10**6, random_state=0)
    assert found.left.shape[1] <= 40
    np.testing.assert_allclose(found.to_dense(), np.exp(rows @ rows.T), rtol=1e-8)


def test_a_target_ends_where_no_more_columns_fit():
    vectors = np.random.default_rng(0).normal(size=(2000, 8))
    similarity = fp.VectorSimilarity("rbf", gamma=0.1)
    first = fp.plan(vectors, similarity, target_error=1e-3).memory
    ceiling = first + 10**7
    fp.approximate(
        vectors[:200], similarity, landmarks=20, random_state=0, error_pairs=0
    )  # compiled by now
    tracemalloc.start()
    try:
        with pytest.warns(TargetMissedWarning, match="memory ceiling"):
            matrix = fp.approximate(
                vectors, similarity, target_error=1e-3, random_state=0, max_memory=ceiling
            )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert matrix.stopped_because == "no more columns fit under the memory ceiling"
    assert matrix.curve[-1].landmarks > matrix.curve[0].landmarks
    assert peak < 1.15 * ceiling


def test_a_search_that_would_pass_the_ceiling_is_refused_before_it_pays():
    matrix = symmetric_matrix(1000)
    for run in (fp.find_pairs, fp.recall_of):
        counter = Counter(matrix)
        more = {"candidates": [(0, 1)]} if run is fp.recall_of else {}
        with pytest.raises(MemoryCeilingError, match=r"pairs that are (ranked|drawn) take"):
            run(
                items=range(1000),
                similarity=counter.similarity("pair"),
                above=99.0,
                random_state=0,
                max_memory="5 MB",
                **more,
            )
        # Of an audit the candidate, and a few in both orders.
        assert len(counter.asked) < (20 if more else 1)


@pytest.mark.parametrize("symmetric", [True, False])
def test_lists_of_neighbours_keep_below_the_ceiling(symmetric):
    points = np.random.default_rng(0).normal(size=(2000, 8))
    similarity = fp.VectorSimilarity("rbf", gamma=0.1)
    if not symmetric:
        similarity = fp.similarity(
            similarity.block, kind="block", symmetric=False, block_size=(64, 512)
        )
    guide = points[:, :6] + 0.3 * np.random.default_rng(1).normal(size=(2000, 6))
    options = {"k": 5, "guide": guide, "random_state": 0, "all_pairs": False}
    fp.find_nearest(points[:300], similarity, **options | {"guide": guide[:300]})  # compiled
    peaks, recalls = [], []
    for ceiling in (None, "20 MB"):
        tracemalloc.start()
        try:
            found = fp.find_nearest(points, similarity, budget=0.1, max_memory=ceiling, **options)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        recalls.append(found.recall.value)
        del found
    assert peaks[1] < 20e6
    assert peaks[0] > 30e6
    assert 0.2 < recalls[1] < recalls[0]
    asked = []

    def counted(a, b):
        asked.append(1)
        return 0.0

    plain = fp.similarity(counted, kind="pair", symmetric=symmetric)
    with pytest.raises(MemoryCeilingError, match="5 candidates of each of 2,000 items"):
        fp.find_nearest(points, plain, budget=0.1, max_memory="2 MB", **options)
    assert len(asked) < 20  # a few in both orders

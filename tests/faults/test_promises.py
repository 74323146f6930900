"""Promises of docs/reliability.md that have no test elsewhere; and that each of them has one."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import threading
import time
import tomllib
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
from examples import Counter, symmetric_matrix
from faulty import FaultySimilarity

import fewpairs as fp
from fewpairs.errors import SimilarityError
from fewpairs.notebook.card import card
from fewpairs.oracle.planner import Planner

ROOT = Path(__file__).resolve().parents[2]
N = 40
MATRIX = symmetric_matrix(N)


def test_items_from_a_generator_are_read_once():
    # Promise 6.
    read = []

    def items():
        for i in range(N):
            read.append(i)
            yield i

    matrix = fp.approximate(items(), fp.Precomputed(MATRIX), landmarks=5, random_state=0)
    assert read == list(range(N))
    listed = fp.approximate(range(N), fp.Precomputed(MATRIX), landmarks=5, random_state=0)
    np.testing.assert_array_equal(matrix.to_dense(), listed.to_dense())


def test_a_batch_that_comes_back_in_another_order_is_noticed():
    # Promise 12.
    shuffled = FaultySimilarity(MATRIX, lambda call: lambda answer: answer[::-1])
    assert fp.inspect(range(N), shuffled.similarity("pairs")).repeatability > 0.01
    assert fp.inspect(range(N), FaultySimilarity(MATRIX).similarity("pairs")).repeatability == 0


def test_a_batch_that_lacks_an_answer_is_refused(kind):
    # Promise 12.
    short = FaultySimilarity(MATRIX, {2: lambda answer: np.asarray(answer).ravel()[:-1]})
    with pytest.raises(SimilarityError, match="shape") as caught:
        fp.approximate(range(N), short.similarity(kind, block_size=8), landmarks=6, random_state=0)
    assert caught.value.oracle.evaluations > 0


def test_by_default_a_function_is_called_by_one_thread_only_the_callers():
    # Promise 19: what is stateful or not thread-safe may be a similarity.
    seen = set()
    state = iter(range(10**6))  # cannot be pickled, and counts

    def stateful(a, b):
        seen.add(threading.get_ident())
        next(state)
        return MATRIX[a, b]

    fp.approximate(range(N), fp.similarity(stateful, kind="pair", symmetric=True), landmarks=5)
    assert seen == {threading.get_ident()}


def test_a_similarity_that_writes_into_its_arguments_harms_nobody():
    # Promise 22.
    rows = np.random.default_rng(0).random((N, 3))
    before = rows.copy()

    def block(left, right):
        values = left @ right.T
        left[:] = right[:] = np.nan
        return values

    similarity = fp.similarity(block, kind="block", symmetric=True)
    matrix = fp.approximate(rows, similarity, landmarks=8, random_state=0)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_allclose(matrix.to_dense(), before @ before.T, rtol=1e-6)


@pytest.mark.parametrize("target", [None, 1e-9])
def test_a_budget_that_runs_out_gives_the_best_that_it_allowed_and_can_be_raised(target):
    # Promise 28.
    counter = Counter(symmetric_matrix(120))
    oracle = fp.Oracle(range(120), counter.similarity("pair"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.errors.TargetMissedWarning)
        poor = fp.approximate(oracle, budget=2000, target_error=target, random_state=0)
        assert poor.evaluations == len(counter.asked) <= 2000
        assert poor.error.value > 0
        if target is not None:
            assert poor.stopped_because == "the budget is spent"
        rich = fp.approximate(oracle, budget=4000, target_error=target, random_state=0)
    # What the first has paid for is not paid for again.
    twice = len(counter.asked) - len(counter.unordered)
    assert twice <= 3 * 2 * 8  # a few pairs of each run are asked for in both orders
    assert len(counter.asked) < 0.8 * (poor.evaluations + rich.evaluations)
    assert rich.error.value < poor.error.value


def blas_threads() -> set[int]:
    pools = threadpoolctl.threadpool_info()
    return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_more_threads_than_allowed(n_jobs):
    # Promise 33.
    under_way, most, blas, lock = 0, 0, set(), threading.Lock()

    def block(left, right):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
            blas.update(blas_threads())
        time.sleep(0.001)
        with lock:
            under_way -= 1
        return MATRIX[np.ix_(left, right)]

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        similarity = fp.similarity(block, kind="block", symmetric=True, block_size=8)
        fp.approximate(range(N), similarity, landmarks=10, n_jobs=n_jobs)
        after = blas_threads()
    assert most == n_jobs
    assert blas == {1}
    assert after == before
    assert before != {1}  # or nothing would be seen here


def test_compiled_code_starts_no_threads_of_its_own():
    # Promise 33: numba's own pool is never used, whatever its size.
    source = ROOT / "src" / "fewpairs"
    for path in source.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"parallel=True|\bprange\b|set_num_threads", text), path


def test_answers_in_single_precision_lead_to_the_algebra_of_double():
    # Promise 36.
    def single(both):
        return np.array([MATRIX[p] for p in both], dtype=np.float32)

    def double(both):
        return single(both).astype(np.float64)

    for method in ("fitted", "nystrom", "sicur"):
        one, two = (
            fp.approximate(
                range(N),
                fp.similarity(function, kind="pairs", symmetric=True),
                landmarks=10,
                method=method,
                random_state=0,
            )
            for function in (single, double)
        )
        assert one.core.dtype == one.left.dtype == np.float64
        np.testing.assert_array_equal(one.to_dense(), two.to_dense())


@pytest.mark.parametrize("method", ["fitted", "nystrom", "sms", "sicur"])
def test_peak_memory_is_what_the_plan_says(method):
    # Promise 42; benchmarks/reliability/memory.py measures it for sizes that matter.
    n, s = 6_000, 150

    def block(left, right):
        return np.cos(1e-3 * (np.asarray(left)[:, None] - np.asarray(right)[None]))

    similarity = fp.similarity(block, kind="block", symmetric=True, name="waves")
    arguments = {"landmarks": s, "method": method, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.errors.FewpairsWarning)
        fp.approximate(range(500), similarity, **(arguments | {"landmarks": 20}))
        planned = fp.plan(range(n), similarity, landmarks=s, method=method, timed=False).memory
        tracemalloc.start()
        try:
            fp.approximate(np.arange(n), similarity, **arguments)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert 0.7 * planned < peak < 1.25 * planned  # small arrays count for something at this size


def test_counts_do_not_overflow():
    # Promise 43.
    n = 5 * 10**9
    planner = Planner(
        n, n, square=True, symmetric=True, block_size=1, by_block_only=False,
        by_pairs_only=True, diagonal_known=False,
    )  # fmt: skip
    assert planner.price_of_everything == n * (n + 1) // 2
    assert planner.price_of_columns(10**6) == (n - 10**6) * 10**6 + 10**6 * (10**6 + 1) // 2
    i = np.array([3 * 10**6])
    known = fp.FactoredMatrix(np.ones((4 * 10**6, 1)), np.ones((1, 1))).known
    assert known.places_of(known.keys_of(i, i + 5))[1].tolist() == [3 * 10**6 + 5]


def test_no_dependency_has_an_upper_bound():
    # Promise 49.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project.get("optional-dependencies", {})
    for line in itertools.chain(project["dependencies"], *extras.values()):
        assert "<" not in line, line


def test_a_forked_process_makes_threads_of_its_own():
    # Promise 50.
    code = """
import os, warnings
warnings.simplefilter("ignore")
import fewpairs as fp
async def score(a, b):
    return float(a + b)
later = fp.similarity(score, kind="pair", symmetric=True, timeout=30)
plain = fp.similarity(lambda a, b: float(a + b), kind="pair", symmetric=True, timeout=30)
assert fp.score_pairs(later, [1], [2])[0] == fp.score_pairs(plain, [1], [2], n_jobs=2)[0] == 3
child = os.fork()
if not child:
    right = fp.score_pairs(later, [3], [4])[0] == fp.score_pairs(plain, [3], [4], n_jobs=2)[0] == 7
    os._exit(0 if right else 1)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "0\n"


def test_html_is_made_in_two_rooms_and_escaped():
    # Pages of report/ are tested in tests/report; all else is a card, whose words are escaped.
    for path in (ROOT / "src").rglob("*.py"):
        room = path.relative_to(ROOT / "src" / "fewpairs").parts[0]
        tags = re.findall(r"<(?:div|span|table|td|p|b|script|style)[ >]", path.read_text("utf-8"))
        assert room in {"notebook", "report"} or not tags, path
    name = "<img src=x onerror=alert(1)>"
    assert name not in card(name, [(name, name)], "", name)
    similarity = fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True, name=name)
    shown = fp.SimilarityFeatures(similarity)._repr_html_()
    assert name not in shown
    assert "&lt;img src=x" in shown


def promises() -> dict[int, str]:
    """Number of each promise on the page, and the cells that follow it."""
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    page = page[page.index("## Fifty promises") : page.index("## A machine that looks")]
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == len({number for number, _ in rows})
    return {int(number): text for number, text in rows}


def test_every_test_that_the_docs_name_exists():
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    tests = set(re.findall(r"^def (test_\w+)\(", "\n".join(sources), re.MULTILINE))
    for page in (ROOT / "docs").glob("*.md"):
        named = re.findall(r"`(?:[\w/]+\.py::)?(test_\w+)`", page.read_text(encoding="utf-8"))
        assert not set(named) - tests, page


def test_every_promise_has_a_test_or_a_reason():
    listed = promises()
    assert set(listed) == set(range(1, 51))
    for number, text in listed.items():
        _, proof = text.split(" | ")
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", proof)
        assert named or proof.startswith("Reason:"), number
        for file, test in named:
            source = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert re.search(rf"^def {test}\(", source, re.MULTILINE), (number, test)

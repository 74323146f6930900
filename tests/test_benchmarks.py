"""Benchmarks stay runnable: they import, their list is complete, and quick runs publish nothing."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

import fewpairs as fp
from benchmarks.__main__ import benchmarks, subjects
from benchmarks.reliability import fuzz
from benchmarks.shared import (
    classification_report,
    corpora,
    earlier,
    fuzz_process,
    glove_training,
    kept,
    matching_runs,
    tables,
    text_cnn,
    time_by_part,
)
from benchmarks.shared.document_features import Distances
from benchmarks.shared.fourier_features import fourier_features
from benchmarks.shared.linear_svm import LinearSVM
from benchmarks.sketches import poly_figure1
from benchmarks.word_mover import document_baselines, wmd_classification, wmd_ranks
from benchmarks.word_vectors import cnn, speed
from fewpairs.text.corpus import EncodedCorpus

ROOT = Path(__file__).resolve().parent.parent
NAMES = [f"benchmarks.{s.name}.{path.stem}" for s in subjects() for path in benchmarks(s)]


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_imported_and_run(name):
    assert callable(importlib.import_module(name).main)


def test_all_benchmarks_are_listed():
    command = [sys.executable, "-m", "benchmarks"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert [word for word in done.stdout.split() if word.startswith("benchmarks.")] == NAMES


def test_a_quick_run_publishes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_DOCS", tmp_path)
    (tmp_path / "tables").mkdir()
    tables.publish("some", "| a |", quick=True)
    assert not list((tmp_path / "tables").iterdir())
    tables.publish("some", "| a |", quick=False)
    assert (tmp_path / "tables" / "some.md").read_text(encoding="utf-8") == "| a |\n"


@pytest.fixture
def little_code(tmp_path, monkeypatch):
    """Let benchmarks take a few lines for the code of fewpairs: all of it takes seconds to read."""
    for room in ("methods", "text"):
        (tmp_path / "code" / room).mkdir(parents=True)
        (tmp_path / "code" / room / "some.py").write_text(f"x = {room!r}\n")
    monkeypatch.setattr(kept.fewpairs, "__file__", str(tmp_path / "code" / "__init__.py"))


@pytest.mark.usefixtures("little_code")
def test_a_stopped_benchmark_goes_on_unless_the_code_has_changed(tmp_path, monkeypatch):
    path = tmp_path / "parts"
    kept.Kept(path).add("one", [0.5, None, "text"])
    kept.Kept(path).add("two", {"a": 1})
    again = kept.Kept(path)
    assert "one" in again
    assert again["one"] == [0.5, None, "text"]
    assert again["two"] == {"a": 1}
    assert "three" not in again
    monkeypatch.setattr(kept, "code", lambda: "other")
    assert "one" not in kept.Kept(path)
    nothing = kept.Kept(None)
    nothing.add("one", 1)
    assert nothing["one"] == 1


@pytest.mark.usefixtures("little_code")
def test_a_part_is_worked_out_once(tmp_path):
    asked = []

    def make() -> list[int]:
        asked.append(1)
        return [1, 2]

    parts = kept.Kept(tmp_path / "parts")
    assert parts.part("one", make) == parts.part("one", make) == [1, 2]
    assert kept.Kept(tmp_path / "parts").part("one", make) == [1, 2]
    assert len(asked) == 1


def test_the_time_of_a_part_is_without_that_of_the_parts_inside_it(monkeypatch):
    now = [0.0]
    clock = SimpleNamespace(process_time=lambda: now[0])
    monkeypatch.setattr(time_by_part, "time", clock)

    def spend(seconds: float) -> None:
        now[0] += seconds

    def outer() -> None:
        spend(2)
        work.inner()
        spend(3)

    work = SimpleNamespace(inner=lambda: spend(5), outer=outer, never=None)

    def run() -> None:
        spend(1)
        work.outer()
        work.inner()
        spend(4)

    parts = {"out": [(work, "outer")], "in": [(work, "inner")], "none": [(work, "never")]}
    found = time_by_part.time_by_part(run, parts, "rest")
    assert found == {"out": 5, "in": 10, "none": 0, "rest": 5}
    assert work.outer is outer


@pytest.mark.usefixtures("little_code")
def test_parts_outlast_changes_of_rooms_that_they_do_not_use(tmp_path):
    path = tmp_path / "parts"
    kept.Kept(path, "methods").add("one", 1)
    assert kept.Kept(path, "methods")["one"] == 1
    assert "one" not in kept.Kept(path, "text")
    assert "one" not in kept.Kept(path)


def test_a_method_that_stands_apart_changes_its_own_parts_alone(tmp_path, monkeypatch):
    own = tmp_path / "methods" / "fitted" / "ours.py"
    own.parent.mkdir(parents=True)
    own.write_text("x = 1\n")
    (own.parents[1] / "theirs.py").write_text("y = 1\n")
    monkeypatch.setattr(kept.fewpairs, "__file__", str(tmp_path / "__init__.py"))

    def parts():
        return kept.Kept(tmp_path / "parts", "methods", apart="fitted")

    for name in ("R8|sms|0", "R8|fitted|0"):
        parts().add(name, 1)
    assert "R8|sms|0" in parts()
    assert "R8|fitted|0" in parts()
    own.write_text("x = 2\n")
    assert "R8|sms|0" in parts()
    assert "R8|fitted|0" not in parts()
    (own.parents[1] / "theirs.py").write_text("y = 2\n")
    assert "R8|sms|0" not in parts()


@pytest.mark.parametrize("cost", [0.1, 10.0, 1e4])
def test_the_linear_svm_is_that_of_liblinear(cost):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 400)
    rows = rng.normal(size=(4, 30))[labels] + 6 * rng.normal(size=(400, 30))
    rows -= rows.mean(axis=0)
    rows /= np.sqrt((rows**2).sum(axis=1).mean())
    ours = LinearSVM(rows, labels)
    weights = ours.fit(cost)
    theirs = LinearSVC(C=cost, dual=False, tol=1e-6, max_iter=10_000).fit(rows, labels)
    best = np.vstack([ours.axes.T @ theirs.coef_.T, theirs.intercept_])

    def loss(weights):
        slack = np.maximum(1 - ours.signs * (ours.rows @ weights), 0)
        return (weights**2).sum() / 2 + cost * (slack**2).sum()

    assert loss(weights) == pytest.approx(loss(best), rel=1e-3)
    same = ours.score(weights, rows, theirs.predict(rows))
    assert same > 0.98


def test_distances_of_whole_sets_are_computed_once(tmp_path):
    words = [f"w{k}" for k in range(30)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 4)) for _ in range(40)]
    table = fp.WordVectors(words, rng.normal(size=(30, 3)))
    whole = corpora.Corpus("TINY", texts, np.arange(40) % 2, None, tmp_path)
    vars(whole)["documents"] = fp.Documents.of(texts, table)
    vars(whole)["fingerprint"] = "here"
    columns, _ = whole.landmark_columns(10)
    exact = fp.wmd(whole.documents, whole.documents[whole.pool[:10]])
    np.testing.assert_allclose(columns, exact, rtol=1e-6)
    (path,) = tmp_path.glob("*.npz")
    before = path.stat().st_mtime_ns
    np.testing.assert_array_equal(whole.landmark_columns(10)[0], columns)
    assert path.stat().st_mtime_ns == before
    train, test = whole.split(3)
    assert sorted([*train, *test]) == list(range(40))
    assert len(train) == 28
    assert set(whole.pool[:10]) <= set(train)
    # Known columns are looked up, others are computed, and both make one block.
    distances = Distances(whole, 10)
    left, right = whole.pool[5:20], whole.pool[8:30]
    expected = fp.wmd(whole.documents[left], whole.documents[right])
    np.testing.assert_allclose(distances.block(left, right), expected, rtol=1e-5, atol=1e-6)
    # What they took is known, so that it is not counted as arithmetic; a second look is free.
    spent = distances.spent
    assert spent > 0
    distances.block(left, right)
    assert distances.spent == spent


def test_fourier_features_approach_the_gaussian_kernel():
    x = np.random.default_rng(0).normal(size=(50, 4))
    features = fourier_features(x, 100_000, 0.3, 0)
    # Each entry is a mean of 50,000 cosines: 5 standard deviations at most.
    np.testing.assert_allclose(features @ features.T, rbf_kernel(x, gamma=0.3), atol=0.025)


def test_the_fuzzer_counts_what_ran_and_reports_the_smallest_example(tmp_path, monkeypatch):
    @given(st.integers(0, 10**6))
    def test_holds(number):
        assume(number % 2)
        ran.append(number)

    @given(st.integers(0, 10**6))
    def test_breaks(number):
        assert number < 1000

    ran: list[int] = []
    tests = SimpleNamespace(test_holds=test_holds, test_breaks=test_breaks)
    monkeypatch.setattr(fuzz_process, "load", lambda _: tests)
    held = fuzz_process.run_here("any", "test_holds", 1, 30, tmp_path / "last")
    assert held["examples"] == len(ran) == 30
    assert held["findings"] == []
    broken = fuzz_process.run_here("any", "test_breaks", 1, 30, tmp_path / "last")
    assert broken["examples"] < 30
    (finding,) = broken["findings"]
    assert "number=1000," in finding
    assert "number" in (tmp_path / "last").read_text(encoding="utf-8")  # should the process die


def run_fuzz(monkeypatch, *told):
    """Run the command on families whose examples all hold, and return what it publishes."""
    outcome = {"findings": [], "held": {"noise\theld": 2}}
    monkeypatch.setattr(fuzz, "names", lambda: ["files", "runs"])
    monkeypatch.setattr(fuzz_process, "tests_of", lambda name: [f"test_{name}", "test_more"])
    monkeypatch.setattr(
        fuzz_process, "run_apart", lambda f, t, s, examples: outcome | {"examples": examples}
    )
    published = {}
    monkeypatch.setattr(fuzz, "publish", lambda _, text, quick: published.update({quick: text}))
    monkeypatch.setattr(sys, "argv", ["fuzz", "--seed", "5", *told])
    fuzz.main()
    return published


def test_the_fuzzer_joins_families_that_were_run_one_after_the_other(tmp_path, monkeypatch):
    kept = ["--join", str(tmp_path / "kept")]
    first = run_fuzz(monkeypatch, "--family", "runs", "--count", "3000", *kept)
    assert list(first) == [True]  # one family alone is not for readers
    both = run_fuzz(monkeypatch, "--family", "files", "--count", "40", *kept)
    assert "| **runs** |  |  | **3,000** | 0 |" in both[False]
    assert "| **files** |  |  | **40** | 0 |" in both[False]
    again = run_fuzz(monkeypatch, "--family", "runs", "--count", "7", *kept)
    assert "| **runs** |  |  | **7** | 0 |" in again[False]
    assert "| **files** |  |  | **40** | 0 |" in again[False]
    assert "| noise | 8 | 0 | 0 |" in again[False]  # two for each process


def test_the_fuzzer_takes_a_count_for_each_family(monkeypatch):
    found = run_fuzz(monkeypatch, "--count", "50", "files=2500")
    assert "| **runs** |  |  | **50** | 0 |" in found[False]
    assert "| files | more | 5 | 1,250 | 0 |" in found[False]
    with pytest.raises(SystemExit, match="no family filse; there are files, runs"):
        run_fuzz(monkeypatch, "--count", "filse=1")


@pytest.mark.usefixtures("little_code")
def test_a_watched_run_is_made_anew_by_other_code(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(matching_runs, "KEPT", tmp_path / "runs")
    monkeypatch.setattr(matching_runs, "watched", lambda _, seed: made.append(seed) or {"n": seed})
    case = SimpleNamespace(name="some")
    assert [matching_runs.kept_run(case, seed)["n"] for seed in (1, 1, 2)] == [1, 1, 2]
    assert made == [1, 2]
    monkeypatch.setattr(kept, "code", lambda: "other")
    assert matching_runs.kept_run(case, 1) == {"n": 1}
    assert made == [1, 2, 1]


def test_the_network_of_texts_is_a_convolution_with_its_gradients():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    array = np.vstack([np.zeros(7), rng.normal(size=(49, 7))])
    torch.manual_seed(0)
    net = text_cnn.network(array, 3).eval()
    convolutions = []
    for width, part, bias in zip(text_cnn.WIDTHS, net.parts, net.biases, strict=True):
        made = torch.nn.Conv1d(7, text_cnn.FILTERS, width, padding=text_cnn.GAP)
        weights = part.detach().reshape(7, width, -1).permute(2, 0, 1)
        made.load_state_dict({"weight": weights, "bias": bias.detach()})
        convolutions.append(made)
    texts = [rng.integers(1, 50, length) for length in (1, 2, 5, 40, 300)]
    rows = []
    for text in texts:
        words = net.words[torch.tensor(text)].T[None]
        rows.append(torch.cat([torch.relu(c(words)).amax(dim=2)[0] for c in convolutions]))
    expected, found = net.out(torch.stack(rows)), net(texts)
    torch.testing.assert_close(found, expected)
    targets = torch.tensor([0, 1, 2, 0, 1])
    for scores in (expected, found):
        torch.nn.functional.cross_entropy(scores, targets).backward()
    for width, part, made in zip(text_cnn.WIDTHS, net.parts, convolutions, strict=True):
        gradient = part.grad.reshape(7, width, -1).permute(2, 0, 1)
        assert gradient.abs().max() > 1e-3
        torch.testing.assert_close(gradient, made.weight.grad)
    assert net([np.empty(0, dtype=np.int64)]).isfinite().all()  # a text of unknown words


def test_a_pass_of_glove_moves_both_vectors_down_the_gradient_of_its_loss():
    rng = np.random.default_rng(0)
    rows, columns = np.array([0, 3, 1]), np.array([1, 2, 0])
    logs, weights = rng.normal(size=3), np.array([1.0, 0.5, 0.0])
    vectors = rng.normal(size=(2, 4, 6)).astype(np.float32)  # five dimensions and a bias
    squares = rng.uniform(1, 2, size=(2, 4, 6)).astype(np.float32)
    words, neighbours = vectors.astype(float)  # its own copy, which moves as the formula says
    rates = squares.astype(float)
    for row, column, log, weight in zip(rows, columns, logs, weights, strict=True):
        word, neighbour = words[row].copy(), neighbours[column].copy()
        gap = word[:5] @ neighbour[:5] + word[5] + neighbour[5] - log
        by_word = 0.1 * weight * gap * np.append(neighbour[:5], 1)
        by_neighbour = 0.1 * weight * gap * np.append(word[:5], 1)
        words[row] -= by_word / np.sqrt(rates[0, row])
        neighbours[column] -= by_neighbour / np.sqrt(rates[1, column])
        rates[0, row] += by_word**2
        rates[1, column] += by_neighbour**2
    glove_training.one_pass(rows, columns, logs, weights, vectors, squares, np.float32(0.1))
    np.testing.assert_allclose(vectors, [words, neighbours], atol=1e-5)
    np.testing.assert_allclose(squares, rates, atol=1e-5)


def test_glove_counts_by_nearness_and_adds_both_vectors_of_a_word(monkeypatch):
    texts = [[f"w{k % 20}" for k in range(n)] for n in (40, 7)]
    corpus = EncodedCorpus.of(texts, min_count=1)
    place = {word: k for k, word in enumerate(corpus.words)}
    counts = np.zeros((20, 20))
    for words in texts:
        for i, word in enumerate(words):
            for j in range(max(0, i - 15), i):
                counts[place[word], place[words[j]]] += 1 / (i - j)
                counts[place[words[j]], place[word]] += 1 / (i - j)
    seen = []
    monkeypatch.setattr(glove_training, "one_pass", lambda *given: seen.append(given))
    vectors = glove_training.train_glove(corpus, 3)
    assert len(seen) == 15
    rows, columns, logs, weights, both, squares, _ = seen[0]
    np.testing.assert_allclose(np.exp(logs), counts[rows, columns], rtol=1e-5)
    assert len(rows) == (counts > 0).sum()
    np.testing.assert_allclose(weights, np.minimum(np.exp(logs) / 10, 1) ** 0.75, rtol=1e-5)
    assert both.shape == squares.shape == (2, 20, 4)
    assert (squares == 1).all()
    assert np.abs(both).max() <= 0.5 / 3
    np.testing.assert_allclose(vectors.array, (both[0] + both[1])[:, :3], rtol=1e-6)


def test_glove_comes_to_know_how_often_words_are_neighbours():
    rng = np.random.default_rng(0)
    topics = [[f"{letter}{k}" for k in range(6)] for letter in "ab"]
    texts = [list(rng.choice(topics[i % 2], 12)) for i in range(200)]
    vectors = glove_training.train_glove(EncodedCorpus.of(texts, min_count=1), 4)
    cosines = vectors.normalized().array @ vectors.normalized().array.T
    first = np.array([word[0] == "a" for word in vectors.words])
    assert cosines[np.ix_(first, first)].min() > cosines[np.ix_(first, ~first)].max()


def test_columns_that_take_half_of_the_distances_are_those_that_take_all(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    vectors = fp.WordVectors(words, rng.normal(size=(30, 4)))
    texts = [" ".join(rng.choice(words, rng.integers(1, 6))) for _ in range(23)]
    monkeypatch.setattr(corpora, "STEP", 4)
    monkeypatch.setattr(corpora, "stop_words", tuple)
    labels = np.zeros(23)
    for published in (None, 14):  # without a split, and with landmarks from its training part first
        whole = corpora.Corpus(f"some {published}", texts, labels, published, tmp_path, vectors)
        exact = fp.wmd(texts, vectors=vectors)[:, whole.order]
        for count in (6, 23):  # the second run goes on from the files of the first
            columns, _ = whole.landmark_columns(count)
            np.testing.assert_allclose(columns, exact[:, :count], atol=1e-5)
        # All of them are looked up, also those of documents that are only tested on.
        every = np.arange(23)
        np.testing.assert_array_equal(Distances(whole, 23).place[whole.order], every)
        np.testing.assert_allclose(
            Distances(whole, 23).block(every, every), exact[:, whole.order.argsort()], atol=1e-5
        )


def test_seconds_of_a_distance_are_of_those_that_were_computed(tmp_path, monkeypatch):
    now = [0.0]
    clock = SimpleNamespace(process_time=lambda: now[0])
    monkeypatch.setattr(corpora, "time", clock)
    whole = corpora.Corpus("some", ["a"] * 20, np.zeros(20), None, tmp_path)
    vars(whole)["fingerprint"] = "here"

    def compute(begin, _):  # a quarter of them; the others were known
        now[0] += 10
        return np.full((20, corpora.STEP), float(begin)), 20 * corpora.STEP // 4

    for _ in range(2):  # computed, and read again
        _, each = whole._kept("columns", 2 * corpora.STEP, compute)
        assert each == pytest.approx(10 / (20 * corpora.STEP // 4))
    assert now == [20]


EARLIER = """## One

| method | columns | A | B |
| --- | --- | --- | --- |
| WME | 512 | 1.0 ± 0.1 (9) | 2.0 (8) |
| SMS | 512 | 2.5 | 2.6 |
| WME | 1024 | 3.0 | 4.0° (7) |
| none | 512 | – | – (6) |

## Two

| method | A | B |
| --- | --- | --- |
| WME | 0.05; 1 | 0.1; 1 |
"""


def filled(monkeypatch, now, *, signed_by="none"):
    before = f"{EARLIER}\n<!-- made by code {signed_by} -->\n"
    monkeypatch.setattr(earlier, "published", {"page": before}.get)
    return earlier.Earlier.of("page", "abc").fill(now)


SIGNED = "\n<!-- made by code abc -->\n"


def test_cells_that_other_code_has_made_are_shown_with_a_mark(monkeypatch):
    now = EARLIER.replace("1.0 ± 0.1 (9)", "–").replace("2.0 (8)", "5.0 (8)")
    now = now.replace("3.0 | 4.0°", "– | –").replace("0.1; 1", "–")
    wanted = EARLIER.replace("1.0 ± 0.1 (9)", "1.0 ± 0.1° (9)").replace("2.0 (8)", "5.0 (8)")
    wanted = wanted.replace("3.0 |", "3.0° |").replace("0.1; 1", "0.1; 1°")
    assert filled(monkeypatch, now) == wanted + earlier.LEGEND + SIGNED
    now = EARLIER.replace("4.0° (7)", "4.0 (7)")
    assert filled(monkeypatch, now) == now + SIGNED  # nothing is marked, and nothing told of marks


def test_cells_that_the_same_code_has_made_stay_as_they_are(monkeypatch):
    now = EARLIER.replace("1.0 ± 0.1 (9)", "–").replace("4.0°", "4.0")
    assert filled(monkeypatch, now, signed_by="abc") == EARLIER.replace("4.0°", "4.0") + SIGNED


def test_rows_that_were_not_run_stay_where_they_were(monkeypatch):
    kept_out = "| SMS | 512 | 2.5 | 2.6 |\n"
    now = EARLIER.replace(kept_out, "").replace("4.0°", "4.0")
    assert filled(monkeypatch, now, signed_by="abc") == EARLIER.replace("4.0°", "4.0") + SIGNED
    marked = kept_out.replace("2.5", "2.5°").replace("2.6", "2.6°")
    assert marked in filled(monkeypatch, now)
    printed = now.replace(" B |", " paper |")  # no run makes what a paper prints
    monkeypatch.setattr(earlier, "published", {"page": EARLIER.replace(" B |", " paper |")}.get)
    assert marked.replace("2.6°", "2.6") in earlier.Earlier.of("page", "abc").fill(printed)


def test_hours_of_an_earlier_page_keep_their_mark():
    page = (
        "all pairs would take\nA 1.0°, B and C 2.5 hours of one core. kNN would take A 9.9 minutes"
    )
    same, other = earlier.Earlier(page + SIGNED, "abc"), earlier.Earlier(page, "abc")
    for before, mark in ((same, ""), (other, "°")):
        assert classification_report.hours_before(before, "A") == "A 1.0°"
        assert classification_report.hours_before(before, "B and C") == f"B and C 2.5{mark}"
    assert not classification_report.hours_before(same, "D")


@pytest.mark.parametrize("heading", ["columns", "γ", "method", "vectors"])
def test_a_row_is_known_by_its_second_cell_too_where_that_is_no_result(monkeypatch, heading):
    rows = f"| K | {heading} | F1 |\n| --- | --- | --- |\n| 1 | a | 5 |\n| 1 | b | {{}} |\n"
    monkeypatch.setattr(earlier, "published", {"page": rows.format(7)}.get)
    assert "| 1 | b | 7° |" in earlier.Earlier.of("page", "abc").fill(rows.format("–"))


@pytest.mark.parametrize("double", ["now", "before"])
def test_rows_of_one_name_are_refused(monkeypatch, double):
    once = "| K | option | F1 |\n| --- | --- | --- |\n| 1 | a | 5 |\n"
    twice = once + "| 1 | b | 6 |\n"
    before, now = (once, twice) if double == "now" else (twice, once)
    monkeypatch.setattr(earlier, "published", {"page": before}.get)
    with pytest.raises(ValueError, match="named 1: all but one would be lost"):
        earlier.Earlier.of("page", "abc").fill(now)


def test_rows_that_are_missing_side_by_side_keep_their_order(monkeypatch):
    now = EARLIER.replace("4.0°", "4.0")
    first = "| WME | 512 | 1.0 ± 0.1 (9) | 2.0 (8) |\n| SMS | 512 | 2.5 | 2.6 |\n"
    assert filled(monkeypatch, now.replace(first, ""), signed_by="abc") == now + SIGNED
    last = "| WME | 1024 | 3.0 | 4.0 (7) |\n| none | 512 | – | – (6) |\n"
    wanted = EARLIER + earlier.LEGEND + SIGNED
    assert filled(monkeypatch, now.replace(last, ""), signed_by="abc") == wanted


SIGNATURE = re.compile(r"\n<!-- made by code (\S+) -->\n$")
PAGES = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs" / "tables").glob("*.md")}


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if SIGNATURE.search(page)])
def test_every_signed_page_comes_back_as_it_is(name):
    page = PAGES[name]
    before = earlier.Earlier.of(name, SIGNATURE.search(page)[1])
    text = SIGNATURE.sub("", page).removesuffix(earlier.LEGEND)
    assert before.fill(text) == page
    # So it does when nothing was run: of every table there are only the headings.
    bare = re.sub(r"(?m)(^\|( --- \|)+\n)(^\|.*\n?)+", r"\1", text)
    assert bare.count("\n| ") < text.count("\n| ") / 2
    assert before.fill(bare) == page


def test_the_synthetic_rows_of_figure_1_are_scaled_once():
    kernel = poly_figure1.Kernel(poly_figure1.unscaled("synthetic"))
    assert (kernel.u**2).sum(axis=1).mean() == pytest.approx(0.1, rel=0.02)


def test_words_and_their_rarity_are_learned_from_training_documents(monkeypatch):
    monkeypatch.setattr(document_baselines, "stop_words", tuple)
    texts = ["melon melon pear", "pear melon", "grape melon", "grape grape"]
    known = np.array([0, 1])
    found = document_baselines.counted(SimpleNamespace(texts=texts), known)
    np.testing.assert_array_equal(found.plain.toarray(), [[2, 1], [1, 1], [1, 0], [0, 0]])
    np.testing.assert_allclose(found.tfidf.toarray()[1], np.sqrt([0.5, 0.5]))  # equally frequent


@pytest.mark.parametrize("rows", [120, 300])
def test_the_leading_part_of_a_kernel_is_found_in_both_ways(monkeypatch, rows):
    x = np.random.default_rng(0).normal(size=(rows, 4))
    kernel = rbf_kernel(x, gamma=0.05).astype(np.float32)
    monkeypatch.setattr(wmd_classification, "MOST_DECOMPOSED", 200)
    monkeypatch.setattr(wmd_classification, "LINES", 70)
    values, basis = wmd_classification.leading(lambda lines: kernel[lines], rows, 20)
    exact = np.linalg.eigvalsh(kernel.astype(float))[-20:]
    np.testing.assert_allclose(values[5:], exact[5:], rtol=1e-4)
    assert values.sum() > 0.999 * exact.sum()  # the last few are told apart slowly
    np.testing.assert_allclose(basis.T @ basis, np.eye(20), atol=1e-5)
    np.testing.assert_allclose(kernel @ basis[:, 5:], basis[:, 5:] * values[5:], atol=0.02)


def test_the_price_of_neighbours_is_told_where_they_were_not_looked_for():
    parts = kept.Kept(None)
    assert not classification_report.priced(parts, ["A", "B"])
    for name in ("A", "B"):
        parts.add(f"{name}|price of kNN-WMD", 90.0)
    parts.add("A|kNN-WMD|0", {"test": 50.0})
    assert "kNN-WMD would take B 1.5 minutes" in classification_report.priced(parts, ["A", "B"])


#: What a run keeps of one method on one split.
FOUND = {"test": 70.0, "cost": 1.0, "gamma": 0.05, "D": 6, "distances": 10.0, "arithmetic": 1.0}


def classified(monkeypatch, before, *parts, facts=(100, 70, 8.0, 1e-6)):
    """The row of seconds after a run of these parts of TWITTER, by other code than the page's."""
    monkeypatch.setattr(earlier, "published", {"page": before}.get)
    known = kept.Kept(None)
    known.add("TWITTER|facts", list(facts))
    for part in parts:
        known.add(f"TWITTER|{part}|0", FOUND)
    page = earlier.Earlier.of("page", "abc")
    times = page.fill(classification_report.written(known, page)).partition("## Time and speed")[2]
    return next(line for line in times.splitlines() if line.startswith("| TWITTER |"))


HEAD = """## Time and speed-up: Table 2 of the WME paper, Table 6 of the SMS paper

| data | words | µs a distance | kNN-WMD | WME, 512 | SMS, 512 | fitted, 512 | speed-up |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


def test_seconds_of_a_row_are_of_one_run(monkeypatch):
    before = HEAD + "| TWITTER | 9 | 2.0 | – (4) | 20 + 2 (2) | 30 + 3 | – | – (2) |\n"
    # This run lacks SMS: all that was timed before stays.
    row = "| TWITTER | 9° | 2.0° | – (4) | 20 + 2° (2) | 30 + 3° | – | – (2) |"
    assert classified(monkeypatch, before, "512|WME", "kNN-WMD") == row
    # It has all that was timed before, though not all that is timed elsewhere.
    row = "| TWITTER | 8 | 1.0 | – (4) | 10 + 1 (2) | 10 + 1 | – | – (2) |"
    assert classified(monkeypatch, before, "512|WME", "512|SMS-Nyström") == row
    assert classified(monkeypatch, "", "512|WME", "512|SMS-Nyström") == row


def test_of_one_large_size_the_best_is_not_told():
    def line(sizes):
        parts = kept.Kept(None)
        for size in sizes:
            parts.add(f"TWITTER|rank {size}|WME", 60.0 + size / 100)
        rows = wmd_ranks.written(parts).splitlines()
        return next(row for row in rows if row.startswith("| TWITTER | WME |"))

    assert line((64, 128, 256, 384, 512, 1024)).endswith("| 512 (128) | – (896) |")
    assert line((64, 128, 256, 384, 512, 1024, 1536)).endswith("| 512 (128) | 1536 (896) |")
    assert line((64, 512, 1024, 1536)).endswith("| – (128) | 1536 (896) |")


def trained(seconds: dict[str, float]) -> speed.Trained:
    return speed.Trained(["a", "b"], np.eye(2), seconds, seconds, 0)


def test_ratios_say_how_many_times_longer_rivals_take():
    ours = trained({"counting": 1.0, "vectors": 1.0})
    found = {"eigs": ours, "GloVe": trained({"reading": 20.0, "vectors": 40.0})}
    assert list(speed.ratios(100, found)) == [["100", "eigs", "–", "–", "30 (40)"]]


@pytest.mark.parametrize("quick", [False, True])
def test_vectors_of_a_part_of_the_corpus_are_kept_apart(tmp_path, monkeypatch, quick):
    monkeypatch.setattr(speed, "need_data", lambda: None)
    monkeypatch.setattr(speed, "code", lambda room: f"code of {room}")
    monkeypatch.setattr(speed, "in_its_own_process", lambda *_: trained({"vectors": 1.0}))
    monkeypatch.setattr(speed, "row", lambda title, size, _: [str(size), title, *["1"] * 14])
    monkeypatch.setattr(speed, "covered", lambda _: "all")
    published = []
    monkeypatch.setattr(speed, "publish", lambda *_, quick: published.append(quick))
    told = ["--quick"] if quick else ["--dimensions", "100"]
    monkeypatch.setattr(sys, "argv", ["speed", "--only", "random", "--keep", str(tmp_path), *told])
    speed.main()
    folder = tmp_path / "quick" if quick else tmp_path
    assert list(tmp_path.rglob("*.npz")) == [folder / "random-100.npz"]
    assert published == [quick]


def run_network(monkeypatch, folder, *told):
    """Run the command without a network; return what was trained, and whether it was published."""
    trainings, published = [], []
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(set_num_threads=lambda _: None))
    monkeypatch.setattr(cnn, "need_data", lambda: None)
    monkeypatch.setattr(cnn, "make_missing", lambda *_: None)
    monkeypatch.setattr(cnn, "glove", lambda: fp.WordVectors(["a"], np.ones((1, 3))))
    monkeypatch.setattr(cnn, "score", lambda _, *given: trainings.append(given) or 50.0)
    monkeypatch.setattr(cnn, "publish", lambda *_, quick: published.append(not quick))
    command = ["cnn", str(folder), "--dimensions", "2", *told]
    monkeypatch.setattr(sys, "argv", command)
    cnn.main()
    return len(trainings), published


@pytest.mark.usefixtures("little_code")
def test_results_of_other_vectors_are_not_taken(tmp_path, monkeypatch):
    def save(array):
        fp.WordVectors(["a", "b"], array).save(tmp_path / "eigs-2.npz")

    save(np.eye(2))
    assert run_network(monkeypatch, tmp_path) == (6, [True])
    assert run_network(monkeypatch, tmp_path) == (0, [True])
    save(np.eye(2)[::-1])
    assert run_network(monkeypatch, tmp_path) == (6, [True])
    # Lines of another number of seeds are not for the page that tells of two.
    assert run_network(monkeypatch, tmp_path, "--seeds", "3") == (3, [False])
    assert run_network(monkeypatch, tmp_path, "--seeds", "1") == (0, [False])


@pytest.fixture
def sorted_by_class(tmp_path, monkeypatch):
    """Documents that stand by class, with words for each."""
    monkeypatch.setattr(document_baselines, "stop_words", tuple)
    texts = [f"all {'left' if k < 20 else 'right'} w{k % 7}" for k in range(40)]
    words = sorted({word for text in texts for word in text.split()})
    vectors = fp.WordVectors(words, np.eye(len(words)))
    return corpora.Corpus("some", texts, np.arange(40) // 20, None, tmp_path, vectors)


def test_paragraph_vectors_are_learned_in_random_order(sorted_by_class, monkeypatch):
    orders = []

    def learn(told, **_):
        orders.append([document.tags[0] for document in told])
        return SimpleNamespace(dv={k: [float(k)] for k in orders[-1]})

    gensim = SimpleNamespace(
        Doc2Vec=learn, TaggedDocument=lambda _, tags: SimpleNamespace(tags=tags)
    )
    monkeypatch.setitem(sys.modules, "gensim", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "gensim.models", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "gensim.models.doc2vec", gensim)
    rows = document_baselines.paragraphs(sorted_by_class, memory=False)
    assert orders == [document_baselines.shuffled(sorted_by_class)]
    assert orders[0] != sorted(orders[0]) == list(range(40))
    np.testing.assert_array_equal(rows[:, 0], np.arange(40))  # each where its document stands


def test_topics_are_learned_in_random_order(sorted_by_class, monkeypatch):
    seen = []

    class Topics:
        def __init__(self, *_, **__):
            pass

        def fit(self, counts):
            seen.append(counts.toarray())
            return self

        def transform(self, counts):
            seen.append(counts.toarray())
            return counts

    monkeypatch.setattr(document_baselines, "LatentDirichletAllocation", Topics)
    methods = document_baselines.methods(sorted_by_class, 0, with_paragraphs=False)
    assert methods["kNN, LDA"]() == 100
    learned, asked = seen
    np.testing.assert_array_equal(learned, asked[document_baselines.shuffled(sorted_by_class)])
    assert (learned != asked).any()


@pytest.mark.parametrize("room", ["methods", "sketches", "text", "transport"])
def test_results_of_documents_are_made_anew_by_other_code(tmp_path, monkeypatch, room):
    for name in ("methods", "sketches", "text", "transport"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "some.py").write_text("x = 1\n")
    monkeypatch.setattr(kept.fewpairs, "__file__", str(tmp_path / "__init__.py"))
    wmd_classification.results(tmp_path).add("R8|WME|0", 1)
    assert "R8|WME|0" in wmd_classification.results(tmp_path)
    (tmp_path / room / "some.py").write_text("x = 2\n")
    assert "R8|WME|0" not in wmd_classification.results(tmp_path)

"""Coreference metrics: the official scorer's own cases, plain definitions, and what must hold."""

from __future__ import annotations

import collections
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import fewpairs as fp
from fewpairs import datasets
from fewpairs.errors import InputError

METRICS = {
    "muc": "muc",
    "bcub": "b_cubed",
    "ceafm": "ceaf_m",
    "ceafe": "ceaf_e",
    "blanc": "blanc",
}
NAMES = (*METRICS.values(), "lea")

#: Cases of the official scorer: gold, predicted, and recall and precision as its notes give them.
SMALL = [
    ("a bc def", "a bc def", {"muc": (1, 1), "b_cubed": (1, 1), "blanc": (1, 1)}),
    (
        "a bc def",
        "a de",
        {
            "muc": (1 / 3, 1),
            "b_cubed": (7 / 18, 1),
            "ceaf_m": (1 / 2, 1),
            "ceaf_e": (1.8 / 3, 1.8 / 2),
            "blanc": ((1 / 4 + 2 / 11) / 2, 1),
        },
    ),
    (
        "a bc def",
        "a bcx defy z",
        {
            "muc": (1, 3 / 5),
            "b_cubed": (1, 55 / 108),
            "ceaf_m": (1, 6 / 9),
            "ceaf_e": ((1 + 4 / 5 + 6 / 7) / 3, (1 + 4 / 5 + 6 / 7) / 4),
            "blanc": (1, (4 / 9 + 11 / 27) / 2),
        },
    ),
    (
        "a bc def",
        "a bcxB dy z",
        {
            "muc": (1 / 3, 1 / 4),
            "b_cubed": (5 / 9, 5 / 16),
            "ceaf_m": (4 / 6, 1 / 2),
            "blanc": ((1 / 4 + 5 / 11) / 2, (1 / 7 + 5 / 21) / 2),
        },
    ),
    (
        "a bc def",
        "a b c d e f",
        {"muc": (0, 0), "b_cubed": (1 / 2, 1), "blanc": (1 / 2, 11 / 30)},
    ),
    ("a bc def", "abcdef", {"muc": (1, 3 / 5), "b_cubed": (1, 7 / 18), "blanc": (1 / 2, 2 / 15)}),
    ("a bc def", "a x y c d e z", {"muc": (0, 0), "b_cubed": (13 / 36, 4 / 7)}),
    ("a bc def", "axycdez", {"muc": (1 / 3, 1 / 6), "b_cubed": (17 / 36, 6 / 49)}),
    ("ab cde", "bcx de", {"blanc": (7 / 24, 7 / 24)}),
    ("ab cde fg", "bcx de fg", {"blanc": ((2 / 5 + 10 / 16) / 2, (2 / 5 + 10 / 16) / 2)}),
    ("12345 67 89ABC", "12345 6789ABC", {"muc": (1, 9 / 10), "b_cubed": (1, 16 / 21)}),
    ("BCDEGHJ", "ABC DEF GHI", {"muc": (3 / 6, 3 / 6)}),
    ("ABC DEFG", "AB CD FGH", {"muc": (2 / 5, 2 / 4)}),
    ("abcdef", "ab cxy z", {"blanc": (1 / 15, 1 / 4)}),
    ("abcdef", "a b c d e f", {"muc": (0, 0), "blanc": (0, 0)}),
    ("a b c d e f", "a b c d e f", {"muc": (0, 0), "ceaf_e": (1, 1), "blanc": (1, 1)}),
    ("a b c d e f", "ab cxy z", {"blanc": (2 / 15, 2 / 11)}),
]


def clusters(text):
    return [list(word) for word in text.split()]


@pytest.mark.parametrize(("gold", "predicted", "expected"), SMALL)
def test_cases_of_the_official_scorer(gold, predicted, expected):
    found = fp.coreference_scores(clusters(gold), clusters(predicted))
    for name, numbers in expected.items():
        np.testing.assert_allclose(getattr(found, name)[:2], numbers, err_msg=name)


def test_every_case_of_the_official_scorer():
    try:
        folder = datasets.benchmark_folder() / "conll_scorer_cases"
    except datasets.DataNotFoundError as error:
        pytest.skip(str(error))
    cases = json.loads((folder / "expected.json").read_text())["cases"]
    checked = dict.fromkeys(METRICS, 0)
    for case in cases:
        gold, predicted = (
            fp.read_conll(folder / case[name]) for name in ("key_file", "response_file")
        )
        found = fp.coreference_scores(gold, predicted)
        for name, expected in case["expected"].items():
            np.testing.assert_allclose(
                getattr(found, METRICS[name]), expected, atol=6e-6, err_msg=f"{case['id']} {name}"
            )
            checked[name] += 1
    assert checked == {"muc": 28, "bcub": 16, "ceafm": 10, "ceafe": 10, "blanc": 27}


labels = st.lists(st.integers(0, 5), min_size=1, max_size=25)
both = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 6), min_size=n, max_size=n).map(np.array) for _ in range(2)]
    )
)


def as_clusters(values, keep=None):
    return [
        [int(i) for i in np.flatnonzero(values == c) if keep is None or keep[i]]
        for c in np.unique(values)
    ]


@settings(deadline=None)
@given(both, st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(values, random):
    gold, predicted = values
    found = fp.coreference_scores(gold, predicted)
    order = list(range(len(gold)))
    random.shuffle(order)
    names = [f"c{k}" for k in range(7)]
    random.shuffle(names)
    again = fp.coreference_scores(gold[order], [names[k] for k in predicted[order]])
    listed = [as_clusters(side) for side in (gold, predicted)]
    for side in listed:
        random.shuffle(side)
    for other in (again, fp.coreference_scores(*listed)):
        for name in NAMES:
            np.testing.assert_allclose(getattr(found, name), getattr(other, name), atol=1e-12)


@settings(deadline=None)
@given(labels)
def test_a_clustering_agrees_with_itself(values):
    found = fp.coreference_scores(values, values)
    joined = len(set(values)) < len(values)
    for name in NAMES:
        wanted = {"muc": joined, "blanc": len(values) > 1}.get(name, True)
        np.testing.assert_allclose(getattr(found, name), float(wanted), err_msg=name)


@settings(deadline=None)
@given(both, st.data())
def test_exchanged_sides_exchange_recall_and_precision(values, data):
    kept = [
        data.draw(st.lists(st.booleans(), min_size=len(values[0]), max_size=len(values[0])))
        for _ in range(2)
    ]
    gold, predicted = (as_clusters(side, keep) for side, keep in zip(values, kept, strict=True))
    one, other = fp.coreference_scores(gold, predicted), fp.coreference_scores(predicted, gold)
    mixed = [
        len([c for c in side if c]) > 1 and any(len(c) > 1 for c in side)
        for side in (gold, predicted)
    ]
    for name in NAMES:
        if name == "blanc" and not all(mixed):
            continue
        recall, precision, f1 = getattr(other, name)
        np.testing.assert_allclose(getattr(one, name), (precision, recall, f1), atol=1e-12)
    assert 0 <= one.conll <= 1


@settings(deadline=None)
@given(both, st.data())
def test_metrics_are_what_their_definitions_say(values, data):
    """All by loops over sets; CEAF by a dense assignment."""
    keep = data.draw(st.lists(st.booleans(), min_size=len(values[0]), max_size=len(values[0])))
    gold = [set(c) for c in as_clusters(values[0])]
    predicted = [set(c) for c in as_clusters(values[1], keep) if c]
    found = fp.coreference_scores([list(c) for c in gold], [list(c) for c in predicted])
    mentions = sum(map(len, gold))

    def lea(own, others):
        total = 0.0
        for c in own:
            if len(c) == 1:
                total += any(c == o for o in others)
            else:
                right = sum(len(c & o) * (len(c & o) - 1) / 2 for o in others)
                total += len(c) * right / (len(c) * (len(c) - 1) / 2)
        return total / max(sum(map(len, own)), 1)

    def muc(own, others):
        wanted = sum(len(c) - 1 for c in own)
        right = sum(
            len(c) - sum(bool(c & o) for o in others) - len(c - set().union(*others)) for c in own
        )
        return right / wanted if wanted else 0

    cubed = sum(len(c & o) ** 2 / len(c) for c in gold for o in predicted) / mentions
    assert found.b_cubed.recall == pytest.approx(cubed)
    assert found.lea.recall == pytest.approx(lea(gold, predicted))
    assert found.lea.precision == pytest.approx(lea(predicted, gold))
    assert found.muc.recall == pytest.approx(muc(gold, predicted))
    assert found.muc.precision == pytest.approx(muc(predicted, gold))
    if predicted:
        shared = np.array([[len(c & o) for o in predicted] for c in gold], dtype=float)
        sums = np.array([[len(c) + len(o) for o in predicted] for c in gold])
        for weight, recall, total in (
            (shared, found.ceaf_m.recall, mentions),
            (2 * shared / sums, found.ceaf_e.recall, len(gold)),
        ):
            best = weight[linear_sum_assignment(weight, maximize=True)].sum()
            assert recall == pytest.approx(best / total)


def test_links_of_blanc_by_counting_pairs():
    rng = np.random.default_rng(3)
    gold, predicted = rng.integers(0, 8, (2, 40))
    pairs = list(itertools.combinations(range(40), 2))
    g = np.array([gold[i] == gold[j] for i, j in pairs])
    p = np.array([predicted[i] == predicted[j] for i, j in pairs])
    recall = ((g & p).sum() / g.sum() + (~g & ~p).sum() / (~g).sum()) / 2
    assert fp.coreference_scores(gold, predicted).blanc.recall == pytest.approx(recall)


def test_documents_add_up_and_mentions_of_two_are_not_the_same():
    one = {"x": [[0, 1], [2]], "y": [[0], [1, 2]]}
    other = {"x": [[0, 1, 2]], "z": [[5]]}
    found = fp.coreference_scores(one, other)
    # As if mentions had other names, but for BLANC, whose pairs stay in a document.
    flat = fp.coreference_scores(
        [["x0", "x1"], ["x2"], ["y0"], ["y1", "y2"]], [["x0", "x1", "x2"], ["z5"]]
    )
    for name in NAMES:
        if name != "blanc":
            np.testing.assert_allclose(getattr(found, name), getattr(flat, name))
    # Gold: one link in each, 2 apart in each; predicted: 3 links in x; 1 in common.
    np.testing.assert_allclose(found.blanc[:2], [(1 / 2 + 0 / 4) / 2, (1 / 3 + 0) / 2])


def test_the_table():
    told = str(fp.coreference_scores([0, 0, 1], [0, 0, 1]))
    assert [line.split()[0] for line in told.splitlines()] == [
        *("recall", "MUC", "B³", "CEAF-m", "CEAF-e", "BLANC", "LEA", "CoNLL")
    ]
    assert "1.0000" in told.splitlines()[-1]


def test_the_table_of_a_notebook():
    scores = fp.coreference_scores([0, 1, 1, 2, 2, 2], [0, 1, 1, 2, 2, 3])
    shown = scores._repr_html_()
    assert "CoNLL 0.8250" in shown
    assert "F1 0.8000, recall 0.6667, precision 1.0000" in shown  # MUC
    assert "F1 0.8000, recall 0.9333, precision 0.7000" in shown  # CEAF-e


@pytest.mark.parametrize("one_side", [True, False])
def test_a_data_frame_lists_its_columns_and_is_refused(one_side):
    frame = pd.DataFrame({"cluster": [0, 0, 1]})
    with pytest.raises(InputError, match="gold is a data frame"):
        fp.coreference_scores(frame, [0, 0, 1] if one_side else frame)
    with pytest.raises(InputError, match="predicted of 'a' is a data frame"):
        fp.coreference_scores({"a": [0, 0, 1]}, {"a": frame})
    assert fp.coreference_scores(frame["cluster"], [0, 0, 1]).conll == 1


def test_degenerate_clusterings():
    one = fp.coreference_scores([["a"]], [["a"]])
    assert (one.b_cubed.f1, one.ceaf_e.f1, one.lea.f1) == (1, 1, 1)
    assert (one.muc.f1, one.blanc.f1) == (0, 0)  # no pair of mentions, as in the official scorer
    nothing = fp.coreference_scores([], [])
    assert all(getattr(nothing, name) == (0, 0, 0) for name in NAMES)
    missed = fp.coreference_scores([["a", "b"]], [])
    assert all(getattr(missed, name) == (0, 0, 0) for name in NAMES)
    with_empty = fp.coreference_scores([["a", "b"], []], [["a", "b"], [], []])
    assert all(getattr(with_empty, name) == (1, 1, 1) for name in NAMES)
    n = 1000
    giant, alone = [0] * n, list(range(n))
    found = fp.coreference_scores(giant, alone)
    assert found.b_cubed == pytest.approx((1 / n, 1, 2 / (n + 1)))
    assert found.muc == found.lea == (0, 0, 0)
    assert found.ceaf_e.recall == pytest.approx(2 / (n + 1))
    assert fp.coreference_scores(giant, giant).conll == 1
    twice = fp.coreference_scores([["a", "b", "a"]], [["a", "b"]])
    assert twice.muc == twice.b_cubed == (1, 1, 1)


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([["a", "b"], ["a"]], [["a"]], "'a' in two clusters"),
        ([["a"]], [["b", "a"], ["b"]], "predicted has the mention 'b' in two"),
        ([0, 1], [0, 1, 2], "2 labels and predicted 3"),
        ([0, 1], [["a"]], "2 labels and predicted 1 clusters"),
        ([0, pd.NA], [0, 1], "position 1 a label that is <NA>"),
        ([0, pd.NaT], [0, 1], "position 1 a label that is NaT"),
        ([["a", float("nan")]], [["a"]], "gold has a mention that is nan"),
        ([["a"]], [["a", pd.NA]], "predicted has a mention that is <NA>"),
        ([["a"], "b"], [["a"], ["b"]], "list at position 0 and a str at position 1"),
        ([0, 1], [0, range(2)], "int at position 0 and a range at position 1"),
        (np.array(3), np.array(3), "gold is a ndarray"),
        ([0, float("nan")], [0, 1], "position 1 a label that is nan"),
        ([0, None], [0, 1], "position 1 a label that is None"),
        ([[["a"]]], [["a"]], "mention that is a list"),
        ("abc", "abc", "gold is a str"),
        (3, [0], "gold is a int"),
        ({"x": [["a"]]}, [["a"]], "documents of the same names"),
        ({"x": [["a"], ["a"]]}, {"x": [["a"]]}, "gold of 'x' has the mention 'a'"),
        (np.ma.masked_equal([0, 1], 1), [0, 1], "masked"),
    ],
)
def test_what_cannot_be_scored_is_refused(gold, predicted, message):
    with pytest.raises(InputError, match=message):
        fp.coreference_scores(gold, predicted)


@pytest.mark.parametrize(
    "kind",
    [
        *(list, tuple, set, frozenset, iter, np.array, collections.deque, pd.Series, pd.Index),
        lambda cluster: dict.fromkeys(cluster).keys(),
        lambda cluster: range(cluster[0], cluster[-1] + 1),
    ],
)
def test_clusters_may_be_any_collection(kind):
    gold, said = [[0, 1, 2], [3, 4]], [[0, 1], [2, 3, 4]]
    found = fp.coreference_scores([kind(c) for c in gold], tuple(kind(c) for c in said))
    assert found == fp.coreference_scores(gold, said)
    assert found.b_cubed.recall == pytest.approx((2 * 2 / 3 + 1 / 3 + 2) / 5)


@pytest.mark.parametrize("kind", [pd.Series, iter, np.array, lambda x: [np.array(k) for k in x]])
def test_labels_may_be_any_collection(kind):
    gold, said = [0, 0, 0, 1, 1], [7, 7, 8, 8, 8]
    assert fp.coreference_scores(kind(gold), kind(said)) == fp.coreference_scores(gold, said)


def test_labels_and_clusters_of_tensors_are_their_numbers():
    torch = pytest.importorskip("torch", reason="tensors are PyTorch's")
    gold, said = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([7, 7, 8, 8, 8])
    wanted = fp.coreference_scores(gold.tolist(), said.tolist())
    assert fp.coreference_scores(gold, said) == wanted
    one = [torch.tensor([0, 1, 2]), torch.tensor([3, 4])]
    assert fp.coreference_scores(one, [[0, 1], [2, 3, 4]]) == wanted


def test_many_mentions():
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 15_000, 50_000)
    predicted = np.where(rng.random(50_000) < 0.5, gold, rng.integers(0, 15_000, 50_000))
    found = fp.coreference_scores(gold, predicted)
    assert 0.3 < found.conll < 0.9
    assert found.ceaf_m.recall == pytest.approx(found.ceaf_m.precision)

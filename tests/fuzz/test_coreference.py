"""Coreference: six metrics by their definitions, and files that come back or are refused."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import fewpairs as fp
from fewpairs.errors import FewpairsError, InputError

#: The cluster of each of some mentions; None where a side does not have it.
sides = st.integers(0, 12).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=n, max_size=n)] * 2
    )
)


def clusters_of(labels, prefix=0):
    """Return sets of mentions."""
    names = sorted({label for label in labels if label is not None})
    return [{(prefix, k) for k, label in enumerate(labels) if label == name} for name in names]


def ratio(a, b):
    return a / b if b else 0.0


def f1(recall, precision):
    return ratio(2 * recall * precision, recall + precision)


def links(clusters):
    return {frozenset(pair) for cluster in clusters for pair in combinations(sorted(cluster), 2)}


def muc(one, other):
    """Return what is found and wanted, as recall has it."""
    covered = set().union(*other)
    found = sum(len(k) - len([r for r in other if r & k]) - len(k - covered) for k in one)
    return found, sum(len(k) - 1 for k in one)


def b_cubed(one, other):
    shared = sum(len(k & r) ** 2 / len(k) for k in one for r in other)
    return shared, sum(map(len, one))


def lea(one, other):
    found = 0.0
    for k in one:
        if len(k) == 1:
            found += any(r == k for r in other)
        else:
            right = sum(len(k & r) * (len(k & r) - 1) / 2 for r in other)
            found += len(k) * right / (len(k) * (len(k) - 1) / 2)
    return found, sum(map(len, one))


def aligned(one, other, weight):
    if not one or not other:
        return 0.0
    weights = np.array([[weight(k, r) for r in other] for k in one])
    return float(weights[linear_sum_assignment(-weights)].sum())


def blanc(gold, predicted):
    pairs = [(links(side), links([set().union(*side)]) - links(side)) for side in (gold, predicted)]
    scores = []
    for theirs, ours in zip(*pairs, strict=True):
        recall, precision = (
            ratio(len(theirs & ours), len(theirs)),
            ratio(len(theirs & ours), len(ours)),
        )
        scores.append((recall, precision, f1(recall, precision)))
    together, apart = pairs[0]
    if together and apart:
        return tuple(np.mean(scores, axis=0))
    return scores[0] if together else scores[1]


def expected(gold, predicted):
    """Return recall, precision and F1 of each metric, from sets of mentions."""
    found = {}
    for name, metric in (("muc", muc), ("b_cubed", b_cubed), ("lea", lea)):
        recall, precision = ratio(*metric(gold, predicted)), ratio(*metric(predicted, gold))
        found[name] = recall, precision, f1(recall, precision)
    by_mentions = aligned(gold, predicted, lambda k, r: len(k & r))
    by_shares = aligned(gold, predicted, lambda k, r: 2 * len(k & r) / (len(k) + len(r)))
    totals = [(sum(map(len, side)), len(side)) for side in (gold, predicted)]
    for name, same, which in (("ceaf_m", by_mentions, 0), ("ceaf_e", by_shares, 1)):
        recall, precision = ratio(same, totals[0][which]), ratio(same, totals[1][which])
        found[name] = recall, precision, f1(recall, precision)
    found["blanc"] = blanc(gold, predicted)
    return found


@given(both=sides, forms=st.sampled_from([list, set, tuple, frozenset]))
def test_metrics_are_those_of_their_definitions(both, forms):
    gold, predicted = map(clusters_of, both)
    scores = fp.coreference_scores([forms(c) for c in gold], [forms(c) for c in predicted])
    for name, values in expected(gold, predicted).items():
        np.testing.assert_allclose(getattr(scores, name), values, atol=1e-12, err_msg=name)
    if None not in both[0] + both[1]:
        by_labels = fp.coreference_scores(*both)
        for name in ("muc", "b_cubed", "ceaf_m", "ceaf_e", "blanc", "lea"):
            np.testing.assert_allclose(getattr(by_labels, name), getattr(scores, name), atol=1e-12)


@given(documents=st.lists(sides, max_size=4))
def test_documents_are_counted_one_by_one(documents):
    gold, predicted = (
        {f"d{k}": clusters_of(both[side], k) for k, both in enumerate(documents)} for side in (0, 1)
    )
    scores = fp.coreference_scores(gold, predicted)
    joined = [[c for clusters in side.values() for c in clusters] for side in (gold, predicted)]
    wanted = expected(*joined)
    for name in ("muc", "b_cubed", "ceaf_m", "ceaf_e", "lea"):  # BLANC has no pairs across them
        np.testing.assert_allclose(getattr(scores, name), wanted[name], atol=1e-12, err_msg=name)


spans = st.tuples(st.integers(0, 15), st.integers(1, 5)).map(lambda one: (one[0], sum(one)))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
words = st.text(st.characters(codec="utf-8"), max_size=5)
clusterings = st.lists(st.lists(spans, min_size=1, max_size=4), max_size=4)


@given(
    documents=st.dictionaries(names, clusterings, max_size=3),
    tokens=st.one_of(st.none(), st.lists(words, min_size=20, max_size=20)),
)  # fmt: skip
def test_what_is_written_comes_back_or_is_refused(documents, tokens):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.conll"
        told = None if tokens is None else dict.fromkeys(documents, tokens)
        try:
            fp.write_conll(path, documents, tokens=told)
        except InputError:
            assert not path.exists()
            return
        back = fp.read_conll(path)
    assert list(back) == list(documents)
    for name, clusters in documents.items():
        assert {frozenset(c) for c in clusters} == {frozenset(c) for c in back[name]}


PLAIN = "#begin document (a); part 000\na 0 The (0\na 1 ape 0)(1)\na 2 it (0)|2)\n\n#end document\n"


@given(
    text=st.lists(st.sampled_from([*PLAIN.splitlines(keepends=True), "# a\n", "x\n"]), max_size=12),
    place=st.integers(0, 200), bytes_=st.binary(max_size=4),
)  # fmt: skip
def test_a_damaged_file_is_refused_or_read(text, place, bytes_):
    whole = "".join(text).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.conll"
        path.write_bytes(whole[:place] + bytes_ + whole[place + len(bytes_) :])
        try:
            documents = fp.read_conll(path)
        except FewpairsError:
            return
        for clusters in documents.values():
            mentions = [mention for cluster in clusters for mention in cluster]
            assert len(set(mentions)) == len(mentions)
            assert all(0 <= start < end for start, end in mentions)
        fp.coreference_scores(documents, documents)

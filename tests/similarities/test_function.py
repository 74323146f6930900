"""A user's own similarity: functions, objects of any class, and what they declare."""

from __future__ import annotations

import numpy as np
import pytest
from examples import Counter, symmetric_matrix

import fewpairs as fp
from fewpairs.errors import InputError, SimilarityError, UnknownNameError
from fewpairs.items.items import Items, as_items
from fewpairs.similarities import base
from fewpairs.similarities.cost import Cost
from fewpairs.similarities.function import FACTS, METHODS, as_similarity
from fewpairs.similarities.patience import Patience
from fewpairs.similarities.protocol import Similarity


class Declared:
    """An object of no class of ours that declares everything, and records what is called."""

    name = "declared"
    symmetric = True
    version = "3"
    parameters = {"version": 3}  # noqa: RUF012
    block_size = (7, 5)
    diagonal = 2.0
    takes_vectors = True
    takes_records = True
    value_range = (0.0, 2.0)
    evaluations_per_entry = 4
    symmetry_proven = True
    cheap = True
    fingerprint = "declared, third edition"
    patience, cost = Patience(retry=2), Cost(0.5, "USD")

    def __init__(self):
        self.called = []

    def prepare(self, items):
        self.called.append("prepare")
        return Items([f"prepared {value}" for value in items.values])

    def known_diagonal(self, items):
        return np.array([float(len(text)) for text in items.values])

    def pair(self, a, b):
        self.called.append("pair")
        return 1.0

    def pairs(self, pairs):
        self.called.append("pairs")
        assert all(text.startswith("prepared") for pair in pairs for text in pair)
        return [1.0] * len(pairs)

    def block(self, left, right):
        self.called.append("block")
        assert all(text.startswith("prepared") for text in [*left, *right])
        return np.ones((len(left), len(right)))

    def aligned(self, left, right):
        self.called.append("aligned")
        return np.ones(len(left))


def test_an_object_of_any_class_keeps_all_that_it_declares():
    theirs = Declared()
    ours = as_similarity(theirs)
    assert isinstance(ours, fp.Similarity)
    for fact in FACTS:
        assert getattr(ours, fact) == getattr(theirs, fact), fact
    for method in METHODS:
        assert getattr(ours, method) == getattr(theirs, method), method


def test_nothing_that_the_protocol_declares_is_left_out():
    derived = {"kinds", "with_diagonal", "symmetrized", "with_patience", "with_cost"}
    # Only a class of ours can say more about itself than its fingerprint.
    derived |= {"identity", "content", "underlying", "from_underlying", "get_params", "set_params"}
    derived |= {"incomparable_pair"}
    declared = {*Similarity.__annotations__, *vars(Similarity)}
    public = {name for name in declared if not name.startswith("_")}
    assert {*FACTS, *METHODS} == public - derived


def test_a_run_prepares_the_items_and_prefers_aligned_of_an_object_of_any_class():
    theirs = Declared()
    oracle = fp.Oracle(["a", "bb", "ccc"], theirs)
    assert theirs.called == ["prepare"]
    assert oracle.diagonal().tolist() == [10.0, 11.0, 12.0]
    assert oracle.evaluations == 0
    oracle.entries([0, 1], [1, 2])
    assert theirs.called == ["prepare", "aligned"]
    assert oracle.evaluations == 2 * 4


def test_an_object_that_declares_the_least_gets_the_defaults():
    class Least:
        symmetric = False

        def pair(self, a, b):
            return 1.0

    ours = as_similarity(Least())
    assert ours.fingerprint == "Least{}"
    assert ours.kinds == ("pair",)
    assert ours.known_diagonal(as_items(["a"])) is None
    assert (ours.block_size, ours.evaluations_per_entry, ours.symmetry_proven) == (None, 1, False)


def test_attributes_of_another_kind_are_not_taken_for_methods_or_facts():
    class WithData:
        symmetric = True
        pairs = ()
        prepare = None

        def pair(self, a, b):
            return 1.0

        def parameters(self):
            """What PyTorch's modules have."""

    assert as_similarity(WithData()).kinds == ("pair",)
    assert as_similarity(WithData()).fingerprint == "WithData{}"
    assert fp.Oracle(["a", "b"], WithData()).columns([0]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize(
    ("candidate", "says"),
    [
        (lambda a, b: 1.0, r"fewpairs\.similarity"),
        (np.eye(3), "Precomputed"),
        (fp.StringSimilarity, r"StringSimilarity\(…\)"),
        (Declared, r"Declared\(…\)"),
        (type("Undecided", (), {"pair": print})(), "symmetric"),
        (type("Empty", (fp.Similarity,), {"symmetric": True})(), "pair, pairs or block"),
        (type("Large", (Declared,), {"block_size": 0})(), "block_size"),
    ],
)
def test_what_is_no_similarity_is_refused_before_the_first_evaluation(candidate, says):
    with pytest.raises(InputError, match=says):
        fp.Oracle(["a", "b"], candidate)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "matrix", "symmetric": True},
        {"kind": "pair", "symmetric": None},
        {"kind": "pair", "symmetric": True, "block_size": 0},
        {"kind": "pair", "symmetric": True, "block_size": (5,)},
        {"kind": "pair", "symmetric": True, "block_size": (1, 2, 3)},
    ],
)
def test_declarations_are_checked(arguments):
    with pytest.raises(InputError):
        fp.similarity(lambda a, b: 1.0, **arguments)
    with pytest.raises(InputError, match="Precomputed"):
        fp.similarity(np.eye(3), kind="block", symmetric=True)


def test_the_old_places_lead_to_the_same_names():
    assert base.similarity is fp.similarity
    assert base.Similarity is fp.Similarity
    assert base.as_similarity is as_similarity


def test_a_declared_diagonal_replaces_the_one_of_the_class():
    strings = fp.StringSimilarity("token_set_ratio").with_diagonal(0.5)
    assert strings.known_diagonal(as_items(["a", ""])).tolist() == [0.5, 0.5]
    counter = Counter(symmetric_matrix(4)).similarity("pair", diagonal=1.0)
    assert counter.with_diagonal(3.0).known_diagonal(as_items(range(2))).tolist() == [3.0, 3.0]
    assert counter.known_diagonal(as_items(range(2))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("diagonal", [float("nan"), float("inf"), np.ma.masked, "one"])
def test_a_declared_diagonal_is_a_finite_number(diagonal):
    with pytest.raises(InputError, match="diagonal"):
        fp.similarity(lambda a, b: 1.0, kind="pair", symmetric=True, diagonal=diagonal)

    class Declares(Asked):
        pass

    Declares.diagonal = diagonal
    similarity = Declares()
    with pytest.raises(InputError, match="diagonal"):
        fp.approximate(range(20), similarity, landmarks=5)
    assert similarity.calls == 0


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (lambda items: np.where(np.arange(len(items)) == 3, np.nan, 1.0), "nan for 1 of 20"),
        (lambda items: np.full(len(items), np.inf), "inf for 20 of 20"),
        (lambda items: np.ma.masked_equal(np.arange(len(items)), 3), "masked value"),
        (lambda items: np.ones(len(items) - 1), "shape"),
        (lambda items: ["one"] * len(items), "real numbers"),
    ],
)
def test_a_known_diagonal_is_checked_before_anything_is_evaluated(known, words):
    class Knows(Asked):
        def known_diagonal(self, items):
            return known(items)

    similarity = Knows()
    with pytest.raises(SimilarityError, match=words) as caught:
        fp.approximate(range(20), similarity, landmarks=5)
    assert "declared" in caught.value.__notes__[0]
    assert similarity.calls == 0


class Asked(fp.Similarity):
    """Counts the pairs that it is asked for."""

    name, symmetric = "asked", True

    def __init__(self):
        self.calls = 0

    def pair(self, a, b):
        self.calls += 1
        return float(a == b)


def test_a_ready_similarity_by_its_name():
    found = fp.find_pairs(["Ann", "Anne", "Bob"], "jaro_winkler", above=0.9)
    assert found.left.tolist() == [0]
    assert fp.score_pairs("cosine", [[1.0, 0.0]], [[1.0, 1.0]]).round(3).tolist() == [0.707]
    assert fp.approximate(["a", "b"], "levenshtein", landmarks=1).shape == (2, 2)
    with pytest.raises(UnknownNameError, match='Did you mean "levenshtein"'):
        fp.find_pairs(["a", "b"], "levenstein", above=0.9)


@pytest.mark.parametrize(
    "ends", [1.0, (1.0, 0.0), (0.0, "1"), "01", (0.0, 0.5, 1.0), (float("nan"), 1.0), (0, 10**400)]
)
def test_a_range_that_is_none_is_refused(ends):
    class Ranged(fp.Similarity):
        name, symmetric, value_range = "ranged", True, ends

        def pair(self, a, b):
            return 1.0

    with pytest.raises(InputError, match="value_range is"):
        fp.find_pairs(range(5), Ranged(), above=0.5)


@pytest.mark.parametrize("ends", [(0.0, float("inf")), np.array([0.0, np.inf]), [0, np.inf]])
def test_a_range_may_be_open(ends):
    class Ranged(fp.Similarity):
        name, symmetric, value_range = "ranged", True, ends

        def pair(self, a, b):
            return float(a == b)

    with pytest.raises(InputError, match="lies between 0 and inf"):
        fp.find_pairs(range(5), Ranged(), above=-0.5)

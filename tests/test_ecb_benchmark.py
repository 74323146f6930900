"""What the benchmark on ECB+ makes of mentions: spans, facts, and whose encoder reads whom."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.coreference import losses
from benchmarks.coreference.ecb import Topic
from benchmarks.shared import ecb, ecb_encoders, ecb_marks


def mention(words: str, span: str, *, topic=1, document="d", before="", cluster="c", lemma=""):
    """A mention of the words of a sentence, in a window that begins with words before it."""
    tokens, wanted, earlier = words.split(), span.split(), before.split()
    size = len(wanted)
    start = next(k for k in range(len(tokens)) if tokens[k : k + size] == wanted) + len(earlier)
    return ecb.Mention(
        topic,
        cluster,
        earlier + tokens,
        start,
        start + size,
        start + size - 1,
        lemma or wanted[-1].lower(),
        len(earlier),
        words,
        document,
    )


def cosines(part: np.ndarray) -> np.ndarray:
    part = part / np.linalg.norm(part, axis=1, keepdims=True)
    return part @ part.T


# ------------------------------------------------------------------ facts of pairs


def facts(mentions) -> np.ndarray:
    """Of each fact and pair, whether their directions are the same."""
    return np.array([cosines(part) > 0.999 for part in ecb_marks.marks(mentions)])


def test_facts_of_pairs_are_the_same_directions_and_only_they():
    words = "He met the mayor of Oslo in 2010 near Oslo with him"
    mentions = [
        mention(words, "He"),
        mention(words, "the mayor of Oslo"),
        mention(words, "him"),
        mention("She saw a mayor", "a mayor"),
        mention("She saw 12 dogs", "She", document="e"),
        mention("He left", "He", document="e"),
        mention("He met the mayor of Oslo in 2010 near Oslo with him", "2010", document="e"),
    ]
    document, sentence, phrase, pronoun, *flags = facts(mentions)
    same = np.array([0, 0, 0, 0, 1, 1, 1])
    assert (document == (same[:, None] == same)).all()
    # The same words in two documents are two sentences.
    same = np.array([0, 0, 0, 1, 2, 3, 4])
    assert (sentence == (same[:, None] == same)).all()
    assert phrase[1, 3]  # mayor
    assert phrase[0, 5]  # he
    assert not phrase[0, 2]
    assert pronoun[0, 2]  # he, him: the same pronoun
    assert pronoun[0, 5]
    assert not pronoun[0, 4]  # she is another
    assert not pronoun[1, 3]  # no pronoun at all is nothing in common
    assert (np.diagonal(facts(mentions), axis1=1, axis2=2)).all()
    both_pronouns, neither = flags[:2]
    is_pronoun = np.array([1, 0, 1, 0, 1, 1, 0], dtype=bool)
    alone = np.eye(7, dtype=bool)
    assert (both_pronouns == (np.logical_and.outer(is_pronoun, is_pronoun) | alone)).all()
    assert (neither == (np.logical_and.outer(~is_pronoun, ~is_pronoun) | alone)).all()


def test_marks_have_the_parts_that_they_declare_and_are_made_the_same_again():
    mentions = [mention("It rained in Oslo", span) for span in ("It", "rained", "Oslo")]
    made = ecb_marks.marks(mentions)
    assert tuple(part.shape for part in made) == tuple((3, width) for width in ecb_marks.PARTS)
    for part, again in zip(made, ecb_marks.marks(mentions), strict=True):
        np.testing.assert_array_equal(part, again)
    # Directions of two facts have nothing to do with each other.
    assert not np.array_equal(made[0], made[1])


def test_a_fact_has_the_same_direction_in_every_split():
    train = [mention("It rained in Oslo", span) for span in ("It", "Oslo")]
    test = [mention("The mayor met him", span, document="e") for span in ("him", "The mayor")]
    parts = [
        np.concatenate(both) for both in zip(*map(ecb_marks.marks, (train, test)), strict=True)
    ]
    pronouns, neither = (cosines(part) > 0.999 for part in parts[4:6])
    assert (
        pronouns.tolist()
        == np.array([[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]).tolist()
    )
    assert neither[1].tolist() == neither[3].tolist() == [False, True, False, True]
    # What nobody shares is nobody's in another split either.
    assert not (cosines(parts[0]) > 0.999)[:2, 2:].any()


@pytest.mark.parametrize(
    ("span", "head"),
    [
        ("the mayor of Oslo", "mayor"),
        ("Oslo 's mayor", "oslo"),
        ("of the mayor", "mayor"),
        ("the", "the"),
    ],
)
def test_a_phrase_ends_before_a_preposition_once_it_has_begun(span, head):
    assert mention(f"Then {span} spoke", span).phrase == head


def test_hashed_words_are_weighted_by_the_training_mentions_alone():
    width = sum(ecb.PARTS)
    train, test = np.zeros((8, width)), np.ones((3, width))
    first = ecb.STATES * ecb.WIDTH
    train[:, first] = 1.0  # a word that all have
    train[0, first + 1] = 1.0  # and one that is rare
    ours, theirs = ecb.weighted(train, test)
    np.testing.assert_array_equal(theirs[:, :first], 1.0)
    assert (theirs[:, first] < theirs[:, first + 1]).all()
    assert ours[0, first + 1] == pytest.approx(np.sqrt(np.log(8 / 2)))


# ------------------------------------------------------------------ encoders


def test_sentences_are_read_once_and_spans_count_from_their_beginning():
    words = "The mayor spoke"
    mentions = [
        mention(words, "The mayor", before="It rained ."),
        mention("All left", "left"),
        mention(words, "spoke"),
    ]
    read = ecb_encoders.Sentences(mentions)
    assert read.contexts == [words.split(), ["All", "left"]]
    assert read.places == [(0, 0, 2), (1, 1, 2), (0, 2, 3)]
    assert read.heads == [1, 1, 2]
    for (k, start, end), m in zip(read.places, mentions, strict=True):
        assert " ".join(read.contexts[k][start:end]) == m.text


def test_halves_take_every_other_topic_whole():
    topics = np.array([7, 3, 9, 3, 12, 7])
    np.testing.assert_array_equal(
        ecb_encoders.halves(topics), [False, True, True, True, False, False]
    )


def test_nobody_is_read_by_an_encoder_that_was_taught_by_it(tmp_path, monkeypatch):
    """A made encoder says which topics have taught it, in place of states."""
    by: dict[Path, set[int]] = {}

    def taught(kinds, dev, folder):
        assert {m.topic for some in dev.values() for m in some} == {20, 21}  # judges alone
        by[folder] = {m.topic for some in kinds.values() for m in some}
        return folder

    def vectors(self, folder):
        return np.array([[topic in by[folder] for topic in range(30)]] * len(self.places))

    monkeypatch.setattr(ecb_encoders, "taught", taught)
    monkeypatch.setattr(ecb_encoders.Sentences, "vectors", vectors)

    def some(*topics):
        return {
            kind: [mention("A dog ran", span, topic=t) for t in order]
            for kind, span, order in (("event", "ran", topics), ("entity", "A dog", topics[::-1]))
        }

    splits = {"train": some(1, 2, 2, 5, 8), "dev": some(20, 21), "test": some(25, 26)}
    made = ecb_encoders.states(splits, tmp_path)
    for kind, mentions in splits["train"].items():
        for m, states in zip(mentions, made["train"][kind], strict=True):
            teachers = set(np.flatnonzero(states))
            assert m.topic not in teachers
            assert teachers in ({1, 5}, {2, 8})
    for split in ("dev", "test"):
        for states in made[split].values():
            assert all(set(np.flatnonzero(row)) == {1, 2, 5, 8} for row in states)
    monkeypatch.setattr(ecb_encoders, "taught", None)  # what is kept is not made again
    again = ecb_encoders.states(splits, tmp_path)
    for split, kinds in made.items():
        for kind, states in kinds.items():
            np.testing.assert_array_equal(again[split][kind], states)


# ------------------------------------------------------------------ where points are lost


def test_displaced_errors_are_as_large_and_stay_off_what_is_known():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 12))
    scores = 1 / (1 + np.exp(-x @ x.T + 0.3 * rng.normal(size=(60, 60))))
    topic = Topic(np.arange(60), x, scores)
    plain = losses.WAYS["default"](topic, share=0.25, seed=3).to_dense() - topic.mean
    moved = losses.displaced(topic, share=0.25, seed=3) - topic.mean
    np.testing.assert_allclose(moved, moved.T, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(moved), np.linalg.norm(plain), rtol=1e-6)
    assert np.abs(moved[np.abs(plain) < 1e-10]).max() < 1e-9
    assert np.abs(moved - plain).max() > 0.01


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(0).normal(size=12)
    without = (values.sum() - values) / 11
    assert losses.jackknife(without) == pytest.approx(values.std(ddof=1) / np.sqrt(12))


def test_the_middle_of_equally_good_thresholds_and_a_band_that_ends_with_them():
    assert losses.best(np.array([1.0, 3, 3, 3, 2])) == 2
    curve = np.arange(6.0)
    assert losses.band(curve, 0) == pytest.approx(1.5)
    assert losses.band(curve, 5) == pytest.approx(3.5)

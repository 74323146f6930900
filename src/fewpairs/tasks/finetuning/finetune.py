"""finetune_cross_encoder(): labelled pairs and a local encoder → a cross-encoder in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewpairs.arrays import RandomState, generator, is_number, is_whole
from fewpairs.errors import InputError, NothingLearntWarning, warn
from fewpairs.oracle.progress import ProgressOption
from fewpairs.similarities.transformers.joining import PairTokenizer, longest
from fewpairs.tasks.finetuning.base import (
    freeze,
    need_libraries,
    read_base,
    refuse_existing,
    save,
)
from fewpairs.tasks.finetuning.examples import (
    Examples,
    check_judges,
    check_varied,
    divided,
    range_of,
    read_examples,
)
from fewpairs.tasks.pairs import PairScores

if TYPE_CHECKING:
    from fewpairs.tasks.finetuning.epochs import Epoch


#: Deviations of a rank correlation that chance alone exceeds one time in twenty; of fewer pairs
#: nobody can tell.
_BY_CHANCE, _FEWEST_JUDGES = 1.645, 10


@dataclass(frozen=True)
class Finetuned:
    """A cross-encoder that was made, and how it came to be.

    Attributes
    ----------
    folder : Path
        For ``fp.CrossEncoder(folder)``.
    epochs : tuple of Epoch
        Of each its `loss`, and `scores` on the pairs that were put aside.
    best : int
        The epoch that was kept, counted from 0.
    score_range : tuple of float
        The scores that the model calls 0 and 1.
    """

    folder: Path
    epochs: tuple[Epoch, ...]
    best: int
    score_range: tuple[float, float]

    @property
    def scores(self) -> PairScores | None:
        """Agreement of the epoch that was kept with the pairs that were put aside."""
        return self.epochs[self.best].scores

    def __str__(self) -> str:
        kept = f"epoch {self.best + 1} of {len(self.epochs)} kept"
        return f"{self.folder}: {kept}" + ("" if self.scores is None else f"; {self.scores}")


def finetune_cross_encoder(
    pairs: Any,
    scores: Any,
    *,
    base: Any,
    output: str | Path,
    tokenizer: Any = None,
    score_range: tuple[float, float] | None = None,
    validation: Any = 0.1,
    epochs: int = 3,
    learning_rate: float = 5e-5,
    batch_size: int = 32,
    max_length: int | None = None,
    frozen_layers: int = 0,
    patience: int | None = 2,
    device: Any = None,
    progress: ProgressOption = None,
    random_state: RandomState = None,
) -> Finetuned:
    """Make a cross-encoder of a local encoder and labelled pairs.

    A plain fine-tuning: all weights, cross-entropy of a sigmoid, AdamW, a learning rate that rises
    over the first tenth of the steps and then falls. Every epoch is judged by pairs that were put
    aside, and the best one is kept. Nothing is downloaded, and no code that comes with a model is
    run. Needs the extra `transformers`.

    Parameters
    ----------
    pairs : sequence of (str, str)
    scores : sequence of numbers
        One for each pair: degrees of similarity in a range, or labels that are 0 or 1.
    base : str, Path or model
        The folder of an encoder, or a sequence-classification model of Hugging Face with one
        output, which is copied, and `tokenizer`.
    output : str or Path
        The folder to write, which is new or empty. It appears as a whole, with its weights as
        safetensors, when the training is over.
    tokenizer : tokenizer of Hugging Face, optional
        That belongs to the model.
    score_range : tuple of two numbers, optional
        The scores that become 0 and 1. By default 0 and 1 if all scores lie between, otherwise the
        smallest and the largest one.
    validation : float, (pairs, scores) or None, default=0.1
        The share of the pairs that are put aside, or others, to judge each epoch by: F1 at 0.5 of
        labels, Spearman's coefficient of degrees. None trains on all, and keeps the last epoch.
    epochs : int, default=3
    learning_rate : float, default=5e-5
    batch_size : int, default=32
    max_length : int, optional
        Tokens of both texts together; the folder remembers it. By default what the model can read.
    frozen_layers : int, default=0
        So many of the lowest layers, and the embeddings below them, stay as they are: faster, and
        often better where pairs are few. 0 trains everything.
    patience : int or None, default=2
        The training ends after so many epochs in a row that are not better than the best.
    device : str or device of PyTorch, optional
        By default a graphics card if there is one; a model that was passed stays where it is.
    progress : bool, callable or None, default=None
        None shows a bar in a terminal; a callable gets (steps done, steps planned), and stops the
        training by returning False.
    random_state : int, Generator, RandomState or None
        The head, which pairs are put aside, their order, and what drops out. The same integer gives
        the same model, on the same machine with as many threads.

    Returns
    -------
    Finetuned

    Examples
    --------
    >>> import fewpairs as fp
    >>> made = fp.finetune_cross_encoder(
    ...     [("a red ape", "an ape"), ("two cats", "a spoon")], [5, 0], base="MiniLM", output="mine"
    ... )  # doctest: +SKIP
    >>> similarity = fp.CrossEncoder(made.folder)  # doctest: +SKIP
    """
    rng = generator(random_state)
    for name, value in (("epochs", epochs), ("batch_size", batch_size)):
        _check_count(name, value)
    if patience is not None:
        _check_count("patience", patience)
    if not is_number(learning_rate) or learning_rate <= 0:
        raise InputError(
            f"learning_rate is {learning_rate!r}.",
            "It is the length of a step.",
            "Pass a positive number, for example 2e-5.",
        )
    train, held, ends = _examples(_listed(pairs), scores, score_range, validation, rng)
    folder = _folder(output)
    refuse_existing(folder)
    need_libraries()
    from fewpairs.tasks.finetuning import epochs as taught  # noqa: PLC0415 - PyTorch is optional

    with taught.own_randomness(int(rng.integers(2**62))):
        network, own = read_base(base, tokenizer)
        most = longest(own, network.config, max_length)
        joining = PairTokenizer(own, most)
        freeze(network, frozen_layers)
        placed = _placed(network, _device(base, device))
        schedule = taught.Schedule(int(epochs), int(batch_size), float(learning_rate), patience)
        done, best = taught.Training(placed, joining, schedule, train, held).run(rng, progress)
    save(network, own, folder, most)
    made = Finetuned(folder, tuple(done), best, ends)
    if held is not None and made.scores is not None:
        _warn_of_chance(made.scores.spearman, len(held))
    return made


def _warn_of_chance(spearman: float, count: int) -> None:
    """Say so if chance alone would rank so many pairs as well, one time in twenty or more."""
    if count >= _FEWEST_JUDGES and not spearman * (count - 1) ** 0.5 > _BY_CHANCE:
        warn(
            NothingLearntWarning(
                f"the model ranks the {count:,} pairs that were put aside no better than chance: "
                f"Spearman's coefficient is {spearman:.2f}. It was written all the same. Train for "
                "more epochs, with another learning_rate or more pairs, or look at the labels."
            )
        )


def _examples(
    pairs: list[Any], scores: Any, score_range: Any, validation: Any, rng: Any
) -> tuple[Examples, Examples | None, tuple[float, float]]:
    """Check everything that is to be learned, and divide it."""
    ends = range_of(scores, score_range)
    train, held = read_examples(pairs, scores, ends), None
    check_varied(train, f"{len(train):,} pairs")
    if isinstance(validation, (tuple, list)) and len(validation) == 2:  # noqa: PLR2004 - pairs, scores
        held = read_examples(list(validation[0]), validation[1], ends, "validation")
        check_judges(held, train)
    elif validation is not None:
        train, held = divided(train, validation, rng)
    return train, held, ends


def _listed(pairs: Any) -> list[Any]:
    """Return pairs as a list; a table of two columns is read row by row."""
    if hasattr(pairs, "columns") and hasattr(pairs, "to_numpy"):
        return list(pairs.to_numpy().tolist())
    if not hasattr(pairs, "__iter__") or isinstance(pairs, str):
        raise InputError(
            f"pairs is a {type(pairs).__name__}.",
            "A cross-encoder reads two texts.",
            "Pass a sequence of (text, text).",
        )
    return list(pairs)


def _folder(output: Any) -> Path:
    if not isinstance(output, (str, Path)) or not str(output) or "\0" in str(output):
        raise InputError(
            f"output is {output!r}.", "A model is written there.", "Pass the name of a new folder."
        )
    return Path(output)


def _placed(network: Any, device: Any) -> Any:
    try:
        return network.to(device)
    except (RuntimeError, TypeError, ValueError, AssertionError) as error:
        raise InputError(
            f"device is {device!r}, and a model cannot go there: {str(error).splitlines()[0]}",
            "It is trained there.",
            'Pass "cpu", "cuda", or None.',
        ) from error


def _device(base: Any, device: Any) -> Any:
    import torch  # noqa: PLC0415 - optional

    if device is None and not isinstance(base, (str, Path)):
        return next(base.parameters()).device
    return device or ("cuda" if torch.cuda.is_available() else "cpu")


def _check_count(name: str, value: Any) -> None:
    if not is_whole(value) or value < 1:
        raise InputError(
            f"{name} is {value!r}.", "It is a whole number, from 1 on.", "Pass at least 1."
        )

"""mention_vectors(): what an encoder makes of mentions in their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewpairs.arrays import BoolArray, IntArray, SingleArray, is_whole
from fewpairs.errors import InputError, MentionsCutWarning, MissingExtraError, warn
from fewpairs.similarities.transformers.folders import (
    quiet,
    refuse_unlearned,
    refuse_wordless,
    unreadable,
)

#: Contexts of like length that the encoder reads at once.
_BATCH = 16


def mention_vectors(
    contexts: Sequence[Sequence[str]],
    mentions: Sequence[tuple[int, int, int]],
    model: str | Path,
    *,
    heads: Sequence[int] | None = None,
    head_words: Sequence[str] | None = None,
) -> SingleArray:
    """Make a vector of each mention, for `MentionScorer`; needs PyTorch and transformers.

    Parameters
    ----------
    contexts : sequence of sequences of str
        Texts in tokens: sentences, or windows of documents. What the encoder cannot read at the end
        of a longer one is cut off; mentions there have no states but zeros, and a warning says so.
    mentions : sequence of (context, first token, token after the last)
    model : str or Path
        The folder of an encoder, such as MiniLM. Nothing is downloaded, and no code that comes with
        a model is run.
    heads : sequence of int, optional
        The token of each mention's context that is its head; by default its last one.
    head_words : sequence of str, optional
        The head of each mention in another form, such as its lemma.

    Returns
    -------
    float32 array of shape (mentions, 4·d)
        Four parts of length one: the mean of the encoder's last states over the mention, the state
        of its head, the head's word on its own (without any context), and the mean over the whole
        context.

    Warns
    -----
    MentionsCutWarning
        Some heads lie beyond what the encoder reads.
    """
    tokenizer, network = read_encoder(model, "mention_vectors")
    import torch  # noqa: PLC0415 - optional

    contexts = as_contexts(contexts)
    head_words = None if head_words is None else _as_words(head_words, "head_words")
    checked = checked_mentions(contexts, mentions, heads, head_words)
    words = network.get_input_embeddings().weight.detach().numpy()
    d = words.shape[1]
    found = np.zeros((len(checked), 4, d), dtype=np.float32)
    seen = np.zeros(len(checked), dtype=bool)
    limit = longest(tokenizer, network)
    for some in _batches(contexts, checked[:, 0]):
        read = tokenizer(
            [list(contexts[k]) for k in some],
            is_split_into_words=True,
            truncation=True,
            max_length=limit,
            padding=True,
            return_tensors="pt",
        )
        with torch.inference_mode():
            states = network(**read).last_hidden_state.numpy()
        for row, k in enumerate(some):
            token = np.array([-1 if t is None else t for t in read.word_ids(row)])
            whole = int(read["attention_mask"][row].sum()) < limit
            for m in np.flatnonzero(checked[:, 0] == k):
                _, start, end, head = checked[m]
                found[m, 0] = _mean(states[row], (token >= start) & (token < end))
                found[m, 1] = _mean(states[row], token == head)
                found[m, 3] = _mean(states[row], token >= 0)
                seen[m] = whole or head <= token.max()
    if not seen.all():
        warn_of_cut(seen, limit, "Their vectors say what their words are, and zeros of the rest.")
    for number, (context, _, _, place) in enumerate(checked.tolist()):
        word = contexts[context][place] if head_words is None else head_words[number]
        pieces = tokenizer(str(word), add_special_tokens=False)["input_ids"]
        found[number, 2] = _mean(words[pieces], np.ones(len(pieces), dtype=bool))
    length = np.linalg.norm(found, axis=2, keepdims=True)
    found /= np.where(length > 0, length, np.float32(1))
    return found.reshape(len(checked), 4 * d)


def read_encoder(model: str | Path, feature: str) -> tuple[Any, Any]:
    """Return the tokenizer and the network of a folder, as it is used; nothing is downloaded."""
    try:
        import torch  # noqa: F401, PLC0415 - optional
        import transformers  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("transformers", "transformers", feature) from error
    try:
        with quiet(transformers):
            tokenizer = transformers.AutoTokenizer.from_pretrained(model, local_files_only=True)
            network, told = transformers.AutoModel.from_pretrained(
                model, local_files_only=True, output_loading_info=True
            )
    except Exception as error:  # whatever damaged files make of the libraries that read them
        raise unreadable(model) from error
    refuse_wordless(tokenizer, model)
    # What comes after the last states is not used.
    refuse_unlearned((k for k in told["missing_keys"] if not k.startswith("pooler.")), model)
    return tokenizer, network.float().eval()  # some are stored in half precision


def longest(tokenizer: Any, network: Any) -> int:
    """Return how many tokens the encoder reads; the rest of a context is cut off."""
    return int(min(tokenizer.model_max_length, network.config.max_position_embeddings))


def heads_read(
    tokenizer: Any, limit: int, contexts: Sequence[Sequence[str]], places: IntArray
) -> BoolArray:
    """Say of which mentions the encoder reads the head, and so a part at least."""
    found = np.zeros(len(places), dtype=bool)
    for k in np.unique(places[:, 0]):
        read = tokenizer(
            list(contexts[k]), is_split_into_words=True, truncation=True, max_length=limit
        )
        token = np.array([-1 if t is None else t for t in read.word_ids()])
        here = places[:, 0] == k
        # An empty word has no pieces, and is not cut off for that.
        found[here] = (places[here, 3] <= token.max()) | (len(token) < limit)
    return found


def warn_of_cut(seen: BoolArray, limit: int, so: str) -> None:
    """Tell how many mentions lie beyond the pieces of words that an encoder reads of a context."""
    warn(
        MentionsCutWarning(
            f"the encoder reads {limit} pieces of words of a context, and not the heads of "
            f"{int((~seen).sum()):,} of {len(seen):,} mentions. {so} Pass shorter contexts."
        )
    )


def _mean(states: SingleArray, chosen: Any) -> Any:
    """Return the mean of some states; of none, cut off or of an empty word, zeros."""
    return states[chosen].mean(axis=0) if chosen.any() else np.zeros(states.shape[1])


def _batches(contexts: Sequence[Sequence[str]], wanted: IntArray) -> Iterator[list[int]]:
    """Yield contexts with mentions, those of like length together."""
    order = sorted(np.unique(wanted).tolist(), key=lambda k: len(contexts[k]))
    for start in range(0, len(order), _BATCH):
        yield order[start : start + _BATCH]


def checked_mentions(
    contexts: Any, mentions: Any, heads: Any = None, head_words: Any = None
) -> IntArray:
    """Return context, first token, token after the last, and head of each mention."""
    mentions = as_list(mentions, "mentions")
    heads = None if heads is None else as_list(heads, "heads")
    for name, given in (("heads", heads), ("head_words", head_words)):
        if given is not None and len(given) != len(mentions):
            raise InputError(
                f"there are {len(mentions)} mentions and {len(given)} {name}.",
                "Each mention has one.",
                "Pass as many.",
            )
    found = np.empty((len(mentions), 4), dtype=np.int64)
    for m, mention in enumerate(mentions):
        try:
            context, start, end = mention
        except (TypeError, ValueError):
            context = start = end = -1
        head = end - 1 if heads is None else heads[m]
        fits = all(is_whole(place) for place in (context, start, end, head))
        fits = fits and 0 <= context < len(contexts)
        if not fits or not 0 <= start <= head < end <= len(contexts[context]):
            raise InputError(
                f"mention {m} is {mention!r}, with the head {head!r}.",
                f"There are {len(contexts)} contexts, and a mention is in one of them, with its "
                "head.",
                "Pass (context, first token, token after the last), counted from 0.",
            )
        found[m] = context, start, end, head
    return found


def as_list(given: Any, name: str) -> list[Any]:
    """Return what was given in its order: a column of a data frame is read by position."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(
            f"{name} is a {type(given).__name__}.",
            "One after the other is read, and counted from 0.",
            "Pass a list.",
        )
    return list(given)


def _as_words(given: Any, name: str) -> list[str]:
    """Return one text each; anything else would be read as what it prints as."""
    words = as_list(given, name)
    for k, word in enumerate(words):
        if not _is_text(word):
            raise InputError(
                f"{name} holds {word!r} at position {k}.", "It is read as a word.", "Pass texts."
            )
    return words


def _is_text(word: Any) -> bool:
    """Whether a word can be written: half of a character, as damaged files have, cannot."""
    try:
        word.encode()
    except (AttributeError, UnicodeEncodeError):
        return False
    return isinstance(word, str)


def as_contexts(given: Any) -> list[list[str]]:
    """Return texts in words; refuse strings, whose letters would be read as such."""
    contexts = as_list(given, "contexts")
    for k, context in enumerate(contexts):
        unsplit = isinstance(context, (str, bytes, Mapping)) or not isinstance(context, Iterable)
        words = [] if unsplit else list(context)
        if unsplit or not all(map(_is_text, words)):
            raise InputError(
                f"context {k} is {str(context)[:60]!r}, not a list of words.",
                "A mention names the first token and the one after its last.",
                "Split it into words, for example text.split().",
            )
        contexts[k] = words
    return contexts
